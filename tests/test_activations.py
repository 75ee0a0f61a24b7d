"""Activations in place, and far out, where exp overflows: what the rows of samples cannot say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.nn import functional as F
from tinygrad_course.ops import pieces

from .parity.both import attempt, both

# name: further arguments, with a flag `inplace`
FLAGGED: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "hardtanh"), ()),
    **dict.fromkeys(("hardsigmoid", "hardswish", "silu", "mish", "rrelu"), ()),
    "threshold": (0.2, 7.0),
}
# name: further arguments of the function name_
IN_PLACE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("relu", "selu"), ()),
    "leaky_relu": (0.3,),
    "elu": (0.5,),
    "celu": (2.0,),
    "hardtanh": (-0.5, 1.5),
    "threshold": (0.2, 7.0),
    "rrelu": (0.1, 0.4, True),
}


def start(lib: Any) -> tuple[Any, Any]:
    """A leaf, and a copy of it that can be changed."""
    leaf = lib.tensor([[1.5, -1.0, 0.3], [-2.0, 0.7, -0.2]], dtype=lib.float64, requires_grad=True)
    return leaf, leaf * 1


def after(lib: Any, leaf: Any, changed: Any) -> list[Any]:
    """The values, versions and gradients of the first and second order."""
    loss = (changed * changed).sum()
    (g,) = lib.autograd.grad(loss, leaf, create_graph=True, retain_graph=True)
    second = lib.autograd.grad((g * g).sum(), leaf, allow_unused=True)
    return [changed.detach(), changed._version, g.detach(), *second]


@pytest.mark.parametrize("name", [name for name in FLAGGED if name != "hardsigmoid"])
def test_inplace_flag(name: str) -> None:
    @both
    def program(lib):
        leaf, x = start(lib)
        y = getattr(lib.nn.functional, name)(x, *FLAGGED[name], inplace=True)
        return [y is x, *after(lib, leaf, x)]

    program()


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_function(name: str) -> None:
    @both
    def program(lib):
        lib.manual_seed(3)
        function = getattr(lib.nn.functional, f"{name}_")
        leaf, x = start(lib)
        y = function(x, *IN_PLACE[name])
        part = leaf * 2
        function(part[0], *IN_PLACE[name])
        refused = attempt(lambda: function(lib.ones(2, requires_grad=True), *IN_PLACE[name]))
        (g,) = lib.autograd.grad((part * part).sum(), leaf)
        return [y is x, *after(lib, leaf, x), part.detach(), g, refused]

    program()


# PyTorch's rrelu saves its input, too, for which there is no use.
@pytest.mark.parametrize("name", [name for name in FLAGGED if name != "rrelu"])
def test_what_may_be_changed_before_backward(name: str) -> None:
    """The input, the result, the result of the in-place form: each is saved or not, as there."""

    @both
    def program(lib):
        function, outcomes = getattr(lib.nn.functional, name), []
        for inplace, change_input in ((False, True), (False, False), (True, False)):
            leaf, x = start(lib)
            y = function(x, *FLAGGED[name], inplace=inplace)
            with lib.no_grad():
                (x if change_input else y).mul_(2)
            outcomes.append(attempt(lambda y=y, leaf=leaf: lib.autograd.grad(y.sum(), leaf)))
        return outcomes

    program()


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "celu"])
def test_in_place_with_a_negative_slope(name: str) -> None:
    """The sign of the result no longer says which piece it came from."""

    @both
    def program(lib):
        _, x = start(lib)
        y = getattr(lib.nn.functional, name)(x, -0.5, inplace=True)
        return [y.detach(), attempt(lambda: y.sum().backward())]

    program()


def test_layers_in_place() -> None:
    @both
    def program(lib):
        seen, lin = [], lib.nn
        for layer in (
            *(lin.ReLU(True), lin.ReLU6(True), lin.LeakyReLU(0.1, True), lin.ELU(0.5, True)),
            *(lin.CELU(0.5, True), lin.SELU(True), lin.SiLU(True), lin.Mish(True)),
            *(lin.Hardtanh(-1, 2, True), lin.Hardsigmoid(True), lin.Hardswish(True)),
            *(lin.Threshold(0.1, 2, True), lin.RReLU(0.1, 0.3, True)),
        ):
            lib.manual_seed(1)
            _, x = start(lib)
            seen += [repr(layer), layer(x) is x, x.detach()]
        return seen

    program()


EVERYWHERE = (
    *FLAGGED,
    *("gelu", "softplus", "softsign", "hardshrink", "softshrink", "tanhshrink", "logsigmoid"),
    *("sigmoid", "tanh"),
)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_tiny_sigmoid_has_all_its_digits(dtype: str) -> None:
    x = [-20.0, -16.0, -12.0, -1.0, 0.0, 12.0, 100.0]
    found = tg.tensor(x, dtype=getattr(tg, dtype)).sigmoid().numpy()
    expected = [1 / (1 + math.exp(-v)) for v in x]
    limits = np.finfo(dtype)
    np.testing.assert_allclose(found, expected, 4 * limits.eps, limits.smallest_subnormal)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_far_out(name: str, dtype: str) -> None:
    """Values, slopes and their slopes at ±1e4 are finite, and nothing is invalid on the way."""
    arguments = FLAGGED.get(name, ())
    x = tg.tensor([-1e4, -90.0, 90.0, 1e4], dtype=getattr(tg, dtype), requires_grad=True)
    # An infinity on the way is no harm: sigmoid(-1e4) = 1 / (1 + e^1e4) is 0 by way of one.
    with np.errstate(invalid="raise", divide="raise"):
        y = getattr(F, name)(x, *arguments)
        (slope,) = tg.autograd.grad(y.sum(), x, create_graph=True)
        again = tg.autograd.grad(slope.sum(), x)[0] if slope.requires_grad else x
    assert y.isfinite().all() and slope.isfinite().all()
    assert again.isfinite().all()
    assert slope.dtype is x.dtype
    assert ((slope - slope.round()).abs() < 0.02).all() or name in ("leaky_relu", "rrelu", "selu")


@pytest.mark.parametrize("name", ["gelu", "mish", "silu", "softplus", "elu", "hardswish"])
def test_gradients_in_half_precision(name: str) -> None:
    """float16 is computed in float32 and rounded once, as there."""

    @both
    def program(lib):
        x = lib.linspace(-6, 6, 40, dtype=lib.float64).half().requires_grad_()
        y = getattr(lib.nn.functional, name)(x)
        (g,) = lib.autograd.grad(y.sum(), x)
        return [str(y.dtype), str(g.dtype), (g.float() * 500).round().tolist()]

    program()


CURVES = ("sigmoid", "gelu", "silu", "mish", "softplus", "logsigmoid", "elu", "selu", "hardswish")


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten numbers count as large, and are computed eight at a time."""
    monkeypatch.setattr(pieces, "LARGE", 10)
    monkeypatch.setattr(pieces, "PIECE", 8)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", CURVES)
def test_large_arrays(name: str) -> None:
    """Whatever the memory order of it and of the gradient; twice."""

    @both
    def program(lib):
        x = lib.linspace(-30, 19.5, 35, dtype=lib.float64).reshape(5, 7).requires_grad_()
        seen = []
        for view in (x, x.t(), x[::2], x[:, 3], x[1:1], x[0, 0], x.reshape(5, 1, 7)):
            y = getattr(lib.nn.functional, name)(view)
            w = lib.arange(0.0, view.numel()).reshape(view.shape).to(lib.float64)
            (first,) = lib.autograd.grad(y, x, w, create_graph=True)
            (again,) = lib.autograd.grad(first.sum(), x, retain_graph=True)
            gradients = [first, again, *lib.autograd.grad(y.sum(), x)]
            seen += [y, *(g.tolist() for g in gradients)]
        return seen

    program()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CURVES)
def test_pieces_give_what_the_whole_gives(name: str, dtype: str, request: Any) -> None:
    ends = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1e-30, 1e4, -1e4]
    numbers = tg.tensor([*ends, *np.linspace(-120, 120, 995)]).to(getattr(tg, dtype))

    def results() -> list[np.ndarray]:
        x = numbers.clone().requires_grad_()
        y = getattr(F, name)(x)
        y.backward(numbers.flip(0))
        return [y.detach().numpy(), x.grad.numpy()]

    whole = results()
    request.getfixturevalue("small_pieces")
    for found, expected in zip(results(), whole, strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_what_is_taken_in_pieces(small_pieces: None) -> None:
    x = np.linspace(0, 1, 20).reshape(4, 5)
    sizes = []

    def steps(y: np.ndarray, x: np.ndarray, other: np.ndarray) -> None:
        sizes.append(y.size)
        np.multiply(x, other, out=y)

    assert pieces.large(x) and pieces.large(x, x + 1)
    np.testing.assert_array_equal(pieces.in_pieces(steps, x, x + 1), x * (x + 1))
    assert sizes == [8, 8, 4]
    halves, whole = x.astype("float16"), x.astype("int64")
    for arrays in ((x[0],), (x.T,), (halves,), (whole,), (tg.tensor(x),), (x, x.T.copy())):
        assert not pieces.large(*arrays)
    for other in (x.astype("float32"), x[0], np.broadcast_to(x[0], x.shape), tg.tensor(x)):
        assert not pieces.large(x, other)


def test_old_names_of_limits_warn() -> None:
    with pytest.warns(FutureWarning, match="renamed to `min_val`"):
        assert tg.nn.Hardtanh(min_value=-3).min_val == -3


def test_the_hard_sample_is_one_hot_with_the_soft_gradient() -> None:
    scores = tg.zeros(200, 3, requires_grad=True)
    tg.manual_seed(0)
    hard = F.gumbel_softmax(scores, hard=True)
    tg.manual_seed(0)
    soft = F.gumbel_softmax(scores)
    assert (hard.sum(1) - 1).abs().max() < 1e-6
    assert tg.equal(hard.argmax(1), soft.argmax(1))
    weights = tg.randn(200, 3)
    one, other = (tg.autograd.grad((y * weights).sum(), scores)[0] for y in (hard, soft))
    assert tg.equal(one, other)
    with pytest.warns(UserWarning, match="eps"):
        F.gumbel_softmax(scores, eps=0.1)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmin"):
        F.softmin(scores)


@pytest.mark.parametrize("name", ["logsigmoid", "elu", "selu", "celu", "softsign", "leaky_relu"])
def test_signs_of_zeros(name):
    @both
    def test(lib):
        y = getattr(lib.nn.functional, name)(lib.tensor([0.0, -0.0, 1e4, -1e4]))
        return lib.signbit(y)

    test()
