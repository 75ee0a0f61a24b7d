"""Elementwise operations beyond their rows of samples: operators, special functions up close, out=,
spellings of old code, and named results."""

import operator
import warnings

import numpy as np
import pytest

import tinygrad_course as tg

torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")

BINARY = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor".split()
INPLACE = "iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor".split()
LEFT = {
    "float": np.array([1.5, -2.5, 4.0], "float32"),
    "int": np.array([5, -3, 2]),
    "small": np.array([5, 3, 2], "uint8"),
    "bool": np.array([True, False, True]),
    "number": np.array(3),
}
NUMBERS = (2, 3.5, True, -1)


def outcome(function, *operands):
    """(dtype, values), or the class of the exception."""
    try:
        found = function(*operands)
    except Exception as error:
        return type(error).__name__
    return str(found.dtype), np.asarray(found.tolist(), dtype=float)


def require_equal(ours, theirs):
    if theirs == "NotImplementedError":
        return  # PyTorch has no CPU kernel for this type, so it has no opinion
    if isinstance(theirs, str) or isinstance(ours, str):
        assert ours == theirs
    else:
        assert ours[0] == theirs[0]
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)


@pytest.mark.parametrize("kind", LEFT)
@pytest.mark.parametrize("symbol", BINARY)
def test_operators_with_numbers_on_either_side(symbol, kind):
    function, array = getattr(operator, symbol), LEFT[kind]
    for number in NUMBERS:
        for operands in (("x", number), (number, "x")):
            results = [
                outcome(function, *(lib.tensor(array) if v == "x" else v for v in operands))
                for lib in (tg, torch)
            ]
            require_equal(*results)


@pytest.mark.parametrize("kind", LEFT)
@pytest.mark.parametrize("symbol", INPLACE)
def test_operators_in_place(symbol, kind):
    function, array = getattr(operator, symbol), LEFT[kind]
    for other in (*NUMBERS, LEFT["int"], LEFT["bool"]):
        results = []
        for lib in (tg, torch):
            y = lib.tensor(other) if isinstance(other, np.ndarray) else other
            results.append(outcome(function, lib.tensor(array), y))
        require_equal(*results)


def test_a_foreign_operand_gets_its_turn():
    class Other:
        def __radd__(self, other):
            return "its own"

        __rlshift__ = __ror__ = __radd__

    x = tg.tensor([1, 2])
    assert x + Other() == x << Other() == (x | Other()) == "its own"


# --- special functions ----------------------------------------------------------------------------

GRIDS = {
    "erf": np.concatenate([np.linspace(-6, 6, 4001), np.logspace(-12, 0, 99)]),
    "erfc": np.concatenate([np.linspace(-6, 9, 4001), np.logspace(-12, 0, 99)]),
    "erfinv": np.concatenate([np.linspace(-1, 1, 4001)[1:-1], 1 - np.logspace(-12, -1, 99)]),
    "lgamma": np.concatenate([np.linspace(0.01, 30, 4001), np.logspace(2, 20, 99)]),
    "digamma": np.concatenate([np.linspace(0.01, 30, 4001), np.logspace(2, 20, 99)]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", GRIDS)
def test_special_functions_are_right_to_a_few_units_of_the_last_place(name, dtype):
    x = GRIDS[name].astype(dtype)
    ours = getattr(tg, name)(tg.from_numpy(x)).numpy()
    theirs = getattr(torch, name)(torch.from_numpy(x.astype("float64"))).numpy()
    unit = np.finfo(dtype).eps
    # Where a result is the difference of larger numbers, their rounding is all that can be asked.
    np.testing.assert_allclose(ours, theirs, rtol=8 * unit, atol=8 * unit)


def test_lgamma_keeps_its_digits_beside_its_zeros():
    near = np.array([1 + 1e-7, 1 - 1e-7, 2 + 1e-7, 2 - 1e-7])
    ours = tg.lgamma(tg.from_numpy(near)).numpy()
    np.testing.assert_allclose(ours, torch.lgamma(torch.from_numpy(near)).numpy(), rtol=1e-14)


def test_erfinv_inverts_erf():
    x = np.linspace(-3, 3, 301)
    back = tg.erfinv(tg.erf(tg.from_numpy(x))).numpy()
    np.testing.assert_allclose(back, x, atol=1e-11)


@pytest.mark.parametrize("x", [0.3, 2.5, 40.0, -0.3, -2.6, -7.1])
def test_higher_derivatives_of_lgamma_are_polygammas(x):
    value = tg.tensor(x, dtype=tg.float64, requires_grad=True)
    derivative = tg.lgamma(value)
    for order in range(5):
        (derivative,) = tg.autograd.grad(derivative, value, create_graph=True)
        expected = torch.polygamma(order, torch.tensor(x, dtype=torch.float64)).item()
        # PyTorch's own second derivative is right to 9 digits only.
        assert derivative.item() == pytest.approx(expected, rel=2e-9)


# --- gradients at corners -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clamp_by_tensors_passes_each_gradient_to_its_tensor(dtype):
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-3, 4, (4, 5)), rng.integers(-3, 4, 5), rng.integers(-3, 4, (4, 1))]
    grads = []
    for lib in (tg, torch):
        leaves = [lib.tensor(a.astype(dtype)).requires_grad_() for a in arrays]
        lib.clamp(*leaves).sum().backward()
        grads.append([leaf.grad.tolist() for leaf in leaves])
    assert grads[0] == grads[1]


# --- out=, old spellings, named results -----------------------------------------------------------


def test_out_is_filled_resized_and_returned():
    x = tg.tensor([1.0, 4.0])
    out = tg.empty(0)
    assert tg.clamp(x, max=2, out=out) is out
    assert out.tolist() == [1.0, 2.0]
    values, indices = tg.empty(0), tg.empty(0, dtype=tg.int64)
    result = tg.max(tg.tensor([[1.0, 4.0]]), 1, out=(values, indices))
    assert result.values is values and result.indices is indices
    assert values.tolist() == [4.0] and indices.tolist() == [1]


def test_out_refuses_gradients_and_types_without_room():
    x = tg.tensor([1.0, 4.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        tg.exp(x, out=tg.empty(2))
    with pytest.raises(RuntimeError, match="can't be cast"):
        tg.exp(x.detach(), out=tg.empty(2, dtype=tg.int64))


@pytest.mark.parametrize("name", ["add", "sub", "addcmul", "addcdiv"])
def test_the_factor_may_come_second_as_in_old_code(name):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    args = (0.5, "y") if name in ("add", "sub") else (0.5, "y", "y")
    results = []
    for lib in (tg, torch):
        given = [lib.tensor(y) if a == "y" else a for a in args]
        method = lib.tensor(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of its age, once in a process
            function = getattr(lib, name)(lib.tensor(x), *given).tolist()
            getattr(method, f"{name}_")(*given)
        results += [function, method.tolist()]
    assert results[0] == results[1] == results[2] == results[3]


def test_in_place_forms_refuse_what_they_cannot_use():
    x = tg.ones(2)
    with pytest.raises(TypeError):
        x.add_(x, x, x)
    with pytest.raises(TypeError):
        x.exp_(1)
    assert x.tolist() == [1.0, 1.0]
    assert x.mul_(other=3) is x and x.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "name, args",
    [
        ("max", (1,)),
        ("min", (0, True)),
        ("median", (1,)),
        ("nanmedian", (1,)),
        ("mode", ()),
        ("sort", ()),
        ("topk", (2,)),
        ("kthvalue", (1,)),
        ("cummax", (1,)),
        ("cummin", (0,)),
        ("aminmax", ()),
    ],
)
def test_named_results_print_as_pytorch_prints_them(name, args):
    array = np.array([[1.0, 5.0, 2.0], [4.0, 3.0, 9.0]], "float32")
    ours, theirs = (getattr(lib, name)(lib.tensor(array), *args) for lib in (tg, torch))
    assert repr(ours) == repr(theirs)
    kind = getattr(tg.return_types, name)
    assert type(ours) is kind and isinstance(ours, tuple)
    assert kind(tuple(ours)) == tuple(ours)
    with pytest.raises(TypeError):
        kind((1, 2, 3))
    with pytest.raises(AttributeError):
        ours[0].no_such_name  # noqa: B018
