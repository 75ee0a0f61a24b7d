"""The text of a tensor, character for character against PyTorch's."""

import warnings

import numpy as np
import pytest

import tinygrad_course as tg

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


@pytest.fixture(autouse=True)
def default_options():
    yield
    tg.set_printoptions(profile="default")


def random_array(rng):
    """An array of any dtype and up to four dimensions, often of awkward numbers."""
    dtype = rng.choice([*FLOATS, *INTEGERS, "bool"])
    ndim = int(rng.integers(5))
    most = [1, 2000, 45, 11, 6][ndim] if rng.random() < 0.4 else 7
    shape = tuple(rng.integers(0 if rng.random() < 0.3 else 1, most + 1, ndim))
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        high = min(limits.max, 10 ** int(rng.integers(1, 19)))
        return np.asarray(rng.integers(max(limits.min, -high), high, shape)).astype(dtype)
    odd = [0, -0.0, 1, -1000, 1e-4, 9.9999e-5, 1e8, 1.001e8, 0.99995, 65504, 6e-8, 1e300, 1e-300]
    kinds = [
        lambda: rng.normal(size=shape),
        lambda: rng.normal(size=shape) * 10.0 ** rng.integers(-6, 10),
        lambda: rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape),
        lambda: np.round(rng.normal(size=shape) * 10.0 ** rng.integers(0, 10)),
        lambda: rng.choice(odd, shape),
        lambda: rng.choice([0.0, 1.5, 2.0, np.nan, np.inf, -np.inf], shape),
        lambda: np.zeros(shape),
    ]
    with np.errstate(over="ignore"):
        return np.asarray(kinds[rng.integers(len(kinds))]()).astype(dtype)


def random_options(rng):
    if rng.random() < 0.6:
        return {}
    options = {
        "precision": int(rng.integers(8)),
        "threshold": int(rng.integers(50)),
        "edgeitems": int(rng.integers(5)),
        "linewidth": int(rng.integers(150)),
        "profile": str(rng.choice(["default", "short", "full"])),
        "sci_mode": bool(rng.integers(2)),
    }
    return {name: value for name, value in options.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", range(12))
def test_any_array_prints_as_in_pytorch(torch, seed):
    rng = np.random.default_rng(seed)
    try:
        for _ in range(25):
            array, options = random_array(rng), random_options(rng)
            torch.set_printoptions(profile="default")
            tg.set_printoptions(profile="default")
            torch.set_printoptions(**options)
            tg.set_printoptions(**options)
            expected = repr(torch.from_numpy(array))
            assert repr(tg.from_numpy(array)) == expected, (options, array)
    finally:
        torch.set_printoptions(profile="default")


# Each builds the same thing from either library.
GRAPHS = [
    lambda t: t.tensor([1.0, 2.0], requires_grad=True),
    lambda t: t.tensor([1.0, 2.0], requires_grad=True) * 2,
    lambda t: t.tensor([[1.5]], requires_grad=True).sum(),
    lambda t: t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True).exp(),
    lambda t: (t.arange(7.0) / 3).requires_grad_().exp(),
    lambda t: (t.arange(8.0) / 3).requires_grad_().exp(),  # the suffix just fits, or just doesn't
    lambda t: (t.arange(9.0) / 3).requires_grad_().exp(),
    lambda t: t.zeros(3, 0, dtype=t.float64, requires_grad=True),
    lambda t: t.zeros(0, dtype=t.int64),
    lambda t: t.tensor([1.0], requires_grad=True).detach(),
    lambda t: t.zeros(2, 3).t(),
    lambda t: t.ones(1).expand(3, 2),
]


@pytest.mark.parametrize("build", GRAPHS)
def test_suffixes_print_as_in_pytorch(torch, build):
    assert repr(build(tg)) == repr(build(torch))
    assert str(build(tg)) == str(build(torch))


def test_the_default_dtype_needs_no_suffix(torch):
    try:
        torch.set_default_dtype(torch.float64)
        tg.set_default_dtype(tg.float64)
        for build in (
            lambda t: t.tensor([0.5]),
            lambda t: t.tensor([0.5], dtype=t.float32),
            lambda t: t.zeros(0),
            lambda t: t.zeros(0, dtype=t.float32),
        ):
            assert repr(build(tg)) == repr(build(torch))
    finally:
        torch.set_default_dtype(torch.float32)
        tg.set_default_dtype(tg.float32)


# By hand, so that the format is tested without PyTorch as well.
@pytest.mark.parametrize(
    "data, text",
    [
        (1.0, "tensor(1.)"),
        ([], "tensor([])"),
        ([[1, 2], [3, 40]], "tensor([[ 1,  2],\n        [ 3, 40]])"),
        ([0.5, -1.0], "tensor([ 0.5000, -1.0000])"),
        ([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])"),
        ([True, False], "tensor([ True, False])"),
        ([float("nan"), 1.5], "tensor([   nan, 1.5000])"),
        (list(range(1001)), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ],
)
def test_known_texts(data, text):
    assert repr(tg.tensor(data)) == text


def test_printing_records_nothing_and_changes_nothing():
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    node, version = y.grad_fn, y._version
    assert repr(y) == repr(y)
    assert y.grad_fn is node and y._version == version


def test_options_stay_until_changed():
    tg.set_printoptions(precision=2, sci_mode=True)
    assert repr(tg.tensor([1.5])) == "tensor([1.50e+00])"
    tg.set_printoptions(linewidth=200)  # every call lets go of sci_mode, as in PyTorch
    assert repr(tg.tensor([1.5])) == "tensor([1.50])"
    tg.set_printoptions(profile="full")
    assert "..." not in repr(tg.zeros(2000))


@pytest.mark.parametrize(
    "options",
    [
        *[{"precision": -1}, {"precision": 1.5}, {"edgeitems": -1}, {"linewidth": "80"}],
        {"profile": "fancy"},
    ],
)
def test_bad_options(options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        tg.set_printoptions(**options)
    assert repr(tg.tensor([1.5])) == "tensor([1.5000])"


# --- as it looked before 0.4 ----------------------------------------------------------------------

# Written after texts of that time: nothing that runs today prints them.
LEGACY = [
    (lambda: tg.FloatTensor([2, 2, 2]), "\n 2\n 2\n 2\n[torch.FloatTensor of size 3]\n"),
    (
        lambda: tg.FloatTensor([[0.5, 1], [2.25, -3]]),
        "\n 0.5000  1.0000\n 2.2500 -3.0000\n[torch.FloatTensor of size 2x2]\n",
    ),
    (
        lambda: tg.LongTensor([[1, 20], [300, 4]]),
        "\n   1   20\n 300    4\n[torch.LongTensor of size 2x2]\n",
    ),
    (
        lambda: tg.FloatTensor([[[1.5926e-37, 0, 0, 0]]]),
        "\n(0 ,.,.) = \n1.00000e-37 *\n   1.5926  0.0000  0.0000  0.0000\n"
        "[torch.FloatTensor of size 1x1x4]\n",
    ),
    (
        lambda: tg.DoubleTensor([[[1, 2]], [[3, 4]]]),
        "\n(0 ,.,.) = \n  1  2\n\n(1 ,.,.) = \n  3  4\n[torch.DoubleTensor of size 2x1x2]\n",
    ),
    (
        lambda: tg.DoubleTensor([1e-3, 100]),
        "\n 1.0000e-03\n 1.0000e+02\n[torch.DoubleTensor of size 2]\n",
    ),
    (
        lambda: tg.FloatTensor([123456.5, 1]),
        "\n 1.2346e+05\n 1.0000e+00\n[torch.FloatTensor of size 2]\n",
    ),
    (
        lambda: tg.FloatTensor([123456.5, 654321.5]),
        "\n1.00000e+05 *\n  1.2346\n  6.5432\n[torch.FloatTensor of size 2]\n",
    ),
    (lambda: tg.IntTensor([10**8]), "\n 1.0000e+08\n[torch.IntTensor of size 1]\n"),
    (lambda: tg.FloatTensor([float("nan"), 1]), "\nnan\n  1\n[torch.FloatTensor of size 2]\n"),
    (lambda: tg.ByteTensor([1, 0]), "\n 1\n 0\n[torch.ByteTensor of size 2]\n"),
    (lambda: tg.FloatTensor(), "[torch.FloatTensor with no dimension]\n"),
    (lambda: tg.FloatTensor([4, 6]).sum(), "\n 10\n[torch.FloatTensor of size 1]\n"),
    (lambda: tg.zeros(2, 0), "\n[torch.FloatTensor of size 2x0]\n"),
    (
        lambda: tg.zeros(1000),
        "\n 0\n 0\n 0\n\u22ee \n 0\n 0\n 0\n[torch.FloatTensor of size 1000]\n",
    ),
    (
        lambda: tg.zeros(2, 500),
        "\n    0     0     0  ...      0     0     0\n    0     0     0  ...      0     0     0\n"
        "[torch.FloatTensor of size 2x500]\n",
    ),
    (
        lambda: tg.zeros(1, 20),
        f"\n\nColumns 0 to 12 \n{' '.join(['    0'] * 13)}\n"
        f"\nColumns 13 to 19 \n{' '.join(['    0'] * 7)}\n[torch.FloatTensor of size 1x20]\n",
    ),
]


@pytest.mark.parametrize("make, text", LEGACY)
def test_the_legacy_profile(make, text):
    tg.set_printoptions(profile="legacy")
    assert repr(make()) == text


def test_a_large_matrix_and_a_large_stack_are_shortened_as_before():
    tg.set_printoptions(profile="legacy")
    row = "    0     0     0  ...      0     0     0\n"
    middle = "       ...          \u22f1          ...       \n"
    assert (
        repr(tg.zeros(40, 40)) == f"\n{row * 3}{middle}{row * 3}[torch.FloatTensor of size 40x40]\n"
    )
    text = repr(tg.zeros(10, 200, 1))
    assert text.count(",.,.) = ") == 6 and "\n... \n\n( 7 ,.,.) = \n" in text
    assert text.count("\u22ee") == 6


def test_variables_say_so_in_the_legacy_profile():
    tg.set_printoptions(profile="legacy")
    x = tg.autograd.Variable(tg.FloatTensor([1, 2]), requires_grad=True)
    y = x * 2
    y.backward(tg.FloatTensor([1, 1]))
    two = "\n 2\n 2\n[torch.FloatTensor of size 2]\n"
    assert repr(x.grad) == f"Variable containing:{two}" and repr(x.grad.data) == two
    assert repr(y) == "Variable containing:\n 2\n 4\n[torch.FloatTensor of size 2]\n"
    assert repr(y[1:]) == "Variable containing:\n 4\n[torch.FloatTensor of size 1]\n"
    assert repr(y.data) == "\n 2\n 4\n[torch.FloatTensor of size 2]\n"
    assert repr(tg.autograd.Variable(tg.zeros(1))).startswith("Variable")
    assert repr(tg.zeros(3)[1:]) == "\n 0\n 0\n[torch.FloatTensor of size 2]\n"
    for requires_grad in (True, False):
        parameter = tg.nn.Parameter(tg.ones(1), requires_grad)
        assert repr(parameter) == "Parameter containing:\n 1\n[torch.FloatTensor of size 1]\n"
    assert repr(tg.FloatStorage([1, 2])) == " 1.0\n 2.0\n[torch.FloatStorage of size 2]"
    tg.set_printoptions(profile="default")
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"


def test_precision_holds_in_the_legacy_profile():
    tg.set_printoptions(profile="legacy", precision=2)
    assert repr(tg.tensor([0.5])) == "\n   0.50\n[torch.FloatTensor of size 1]\n"


def test_storages_print_as_in_pytorch(torch):
    with warnings.catch_warnings():  # PyTorch says once in a process that they are deprecated
        warnings.simplefilter("ignore", UserWarning)
        theirs = torch.FloatStorage([1.5, 2])
        assert repr(tg.FloatStorage([1.5, 2])) == repr(theirs)
        assert repr(tg.FloatStorage([1.5]).untyped()) == repr(torch.FloatStorage([1.5]).untyped())
