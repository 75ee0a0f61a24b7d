"""conv2d, max_pool2d, linear, softmax and the losses against PyTorch: values, first and second
derivatives, errors."""

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.nn import functional as F
from tinygrad_course.ops.columns import Geometry, plain, window_count
from tinygrad_course.ops.convolution import convolution, reference_convolution

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    return rng().standard_normal(shape)


def compare(function, reference, *arrays: np.ndarray) -> None:
    """Equal values; equal gradients for a random g, for the arrays; equal gradients of those, for
    the arrays and g."""
    xs = [tg.tensor(a, requires_grad=True) for a in arrays]
    ts = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, t = function(*xs), reference(*ts)
    assert tuple(y.shape) == tuple(t.shape) and y.is_contiguous() and t.is_contiguous()
    np.testing.assert_allclose(y.detach().numpy(), t.detach().numpy(), rtol=1e-9, atol=1e-12)

    g = np.asarray(np.random.default_rng(1).standard_normal(tuple(t.shape)))
    xs.append(tg.tensor(g, requires_grad=True))
    ts.append(torch.tensor(g, requires_grad=True))
    first = tg.autograd.grad(y, xs[:-1], xs[-1], create_graph=True)
    expected = torch.autograd.grad(t, ts[:-1], ts[-1], create_graph=True)
    for a, b in zip(first, expected, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)

    # Weights that are no constants, so that a forgotten factor shows.
    def score(grads):
        return sum(((grad * grad).sum() * (i + 1) for i, grad in enumerate(grads)), 0)

    second = tg.autograd.grad(score(first), xs, allow_unused=True)
    expected = torch.autograd.grad(score(expected), ts, allow_unused=True)
    for a, b in zip(second, expected, strict=True):
        if a is None or b is None:  # either side may say None for a derivative that is zero
            assert a is None or not a.numpy().any()
            assert b is None or not b.numpy().any()
        else:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-8, atol=1e-10)


def both(call):
    """What a call makes of either library, an exception included."""
    results = []
    for lib in (tg, torch):
        try:
            results.append(call(lib))
        except Exception as error:
            results.append(error)
    return results


# --- conv2d --------------------------------------------------------------------------------------

CONVOLUTIONS = [
    # x, w, stride, padding, dilation, groups
    pytest.param((2, 3, 8, 8), (4, 3, 3, 3), 1, 0, 1, 1, id="plain"),
    pytest.param((3, 4, 9, 7), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), 2, id="everything"),
    pytest.param((1, 2, 6, 6), (2, 1, 3, 3), 1, 1, 1, 2, id="depthwise"),
    pytest.param((2, 3, 5, 5), (2, 3, 5, 5), 1, 2, 1, 1, id="kernel as large as the image"),
    pytest.param((2, 3, 8, 8), (4, 3, 3, 3), 3, 0, 2, 1, id="stride that leaves a rest"),
    pytest.param((2, 3, 8, 9), (4, 3, 3, 3), 1, "same", 2, 1, id="same"),
    pytest.param((2, 3, 8, 8), (4, 3, 2, 4), 1, "valid", 1, 1, id="valid"),
    pytest.param((3, 6, 6), (4, 3, 3, 3), 1, 1, 1, 2, id="unbatched"),
    pytest.param((1, 1, 1, 1), (1, 1, 1, 1), 1, 0, 1, 1, id="one number"),
]


@pytest.mark.parametrize("x, w, stride, padding, dilation, groups", CONVOLUTIONS)
def test_conv2d_and_its_derivatives(x, w, stride, padding, dilation, groups) -> None:
    arrays = draw(*(x if len(x) == 4 else (6, 6, 6))), draw(*w), draw(w[0])
    options = (stride, padding, dilation, groups)
    compare(
        lambda x, w, b: tg.conv2d(x, w, b, *options),
        lambda x, w, b: torch.conv2d(x, w, b, *options),
        *arrays,
    )
    compare(
        lambda x, w: F.conv2d(x, w, None, *options),
        lambda x, w: torch.conv2d(x, w, None, *options),
        *arrays[:2],
    )


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
def test_same_padding_of_an_even_kernel_puts_the_odd_one_at_the_end() -> None:
    x, w = draw(2, 1, 5, 6), draw(1, 1, 2, 4)
    compare(
        lambda x, w: F.conv2d(x, w, padding="same"),
        lambda x, w: torch.nn.functional.conv2d(x, w, padding="same"),
        x,
        w,
    )


@pytest.mark.parametrize("x, w, stride, padding, dilation, groups", CONVOLUTIONS[:5])
def test_the_fast_kernel_and_the_definition_agree(x, w, stride, padding, dilation, groups) -> None:
    def two(value):
        return value if isinstance(value, tuple) else (value, value)

    rows, columns = two(padding)
    padding = ((rows, rows), (columns, columns))
    geometry = Geometry(two(stride), padding, two(dilation), groups)
    x, w = draw(*x), draw(*w)
    fast = convolution(x, w, None, window_count(x.shape[2:], w.shape[2:], geometry), geometry)
    expected = reference_convolution(np, x, w, geometry)
    np.testing.assert_allclose(fast, expected, rtol=1e-10, atol=1e-12)


def test_conv2d_in_blocks_of_rows_agrees_with_the_definition() -> None:
    # Large enough that the columns of the whole image do not fit in one block, with a last block
    # that is smaller.
    x, w = draw(9, 8, 37, 35).astype("f4"), draw(8, 8, 3, 3).astype("f4")
    fast = convolution(x, w, None, (35, 33), plain(2))
    expected = reference_convolution(np, x, w, plain(2))
    np.testing.assert_allclose(fast, expected, rtol=1e-4, atol=1e-4)
    a = tg.tensor(x, requires_grad=True), tg.tensor(w, requires_grad=True)
    b = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    tg.conv2d(*a).pow(2).sum().backward()
    torch.conv2d(*b).pow(2).sum().backward()
    for ours, theirs in zip(a, b, strict=True):
        expected = theirs.grad.numpy()
        error = np.abs(ours.grad.numpy() - expected).max() / np.abs(expected).max()
        assert error < 1e-5


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "int32"])
def test_conv2d_keeps_the_dtype(dtype: str) -> None:
    x, w = (np.arange(-8, 8).reshape(1, 1, 4, 4), np.arange(4).reshape(1, 1, 2, 2))
    ours = tg.conv2d(tg.tensor(x.astype(dtype)), tg.tensor(w.astype(dtype)))
    theirs = torch.conv2d(torch.tensor(x.astype(dtype)), torch.tensor(w.astype(dtype)))
    assert ours.numpy().dtype == np.dtype(dtype)
    assert ours.tolist() == theirs.tolist()


def test_conv2d_of_a_transposed_input_and_of_no_images() -> None:
    x, w = draw(5, 4, 3, 2), draw(2, 3, 2, 2)
    ours = tg.conv2d(tg.tensor(x).permute(3, 2, 1, 0), tg.tensor(w))
    theirs = torch.conv2d(torch.tensor(x).permute(3, 2, 1, 0).contiguous(), torch.tensor(w))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy())
    assert ours.is_contiguous()
    assert tg.conv2d(tg.zeros(0, 3, 4, 5), tg.zeros(2, 3, 2, 2)).shape == (0, 2, 3, 4)


def test_convolution_computes_only_the_gradients_that_are_asked_for() -> None:
    x, w = tg.zeros(1, 1, 4, 4), tg.zeros(1, 1, 2, 2, requires_grad=True)
    node = tg.conv2d(x, w).grad_fn
    assert node.name() == "ConvolutionBackward0"
    gx, gw, gb = node(tg.ones(1, 1, 3, 3))
    assert gx is None and gw.shape == (1, 1, 2, 2) and gb is None


X, W, B = (2, 4, 8, 8), (6, 4, 3, 3), (6,)
BAD_CONVOLUTIONS = {
    "two dims": lambda t: t.conv2d(t.zeros(8, 8), t.zeros(*W)),
    "weight of three dims": lambda t: t.conv2d(t.zeros(*X), t.zeros(4, 3, 3)),
    "channels": lambda t: t.conv2d(t.zeros(2, 3, 8, 8), t.zeros(*W)),
    "groups that don't divide": lambda t: t.conv2d(t.zeros(*X), t.zeros(5, 2, 3, 3), groups=2),
    "groups 0": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), groups=0),
    "bias size": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), t.zeros(5)),
    "stride 0": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), stride=0),
    "three strides": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), stride=(1, 2, 3)),
    "stride no int": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), stride=1.5),
    "negative padding": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), padding=-1),
    "unknown padding": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), padding="foo"),
    "same with stride": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), stride=2, padding="same"),
    "dilation 0": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), dilation=0),
    "kernel too large": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), dilation=4),
    "dtypes": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W).double()),
    "bias dtype": lambda t: t.conv2d(t.zeros(*X), t.zeros(*W), t.zeros(6).double()),
    "bool": lambda t: t.conv2d(t.zeros(*X).bool(), t.zeros(*W).bool()),
    "no tensor": lambda t: t.conv2d([[1.0]], t.zeros(*W)),
    "weight no tensor": lambda t: t.conv2d(t.zeros(*X), [[1.0]]),
}


@pytest.mark.parametrize("call", BAD_CONVOLUTIONS.values(), ids=BAD_CONVOLUTIONS)
def test_conv2d_refuses_what_pytorch_refuses(call) -> None:
    ours, theirs = both(call)
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


def test_conv2d_says_the_sizes_it_saw() -> None:
    with pytest.raises(RuntimeError, match=r"\[2, 3, 8, 8\].*4 channels, but got 3 channels"):
        tg.conv2d(tg.zeros(2, 3, 8, 8), tg.zeros(*W))
    with pytest.raises(RuntimeError, match=r"spans 9 x 9 .*does not fit .* 8 x 8"):
        tg.conv2d(tg.zeros(*X), tg.zeros(*W), dilation=4)


# --- max_pool2d ----------------------------------------------------------------------------------

POOLS = [
    # x, kernel, stride, padding, dilation, ceil_mode
    pytest.param((2, 3, 8, 8), 2, None, 0, 1, False, id="plain"),
    pytest.param((2, 3, 9, 7), 2, 2, 0, 1, False, id="a rest that no window covers"),
    pytest.param((2, 3, 9, 7), 3, 2, 1, 1, False, id="padding"),
    pytest.param((2, 3, 9, 7), 3, 2, 1, 1, True, id="ceil"),
    pytest.param((1, 2, 11, 12), (2, 3), (1, 2), (0, 1), 2, True, id="everything"),
    pytest.param((2, 3, 8, 8), 3, 1, 0, 1, False, id="overlap"),
    pytest.param((2, 2, 7, 7), 2, 3, 1, 1, True, id="gaps"),
    pytest.param((1, 1, 3, 3), 1, 1, 0, 1, False, id="windows of one"),
    pytest.param((1, 1, 20, 20), 17, 1, 0, 1, False, id="more cells than a byte counts"),
]


@pytest.mark.parametrize("shape, kernel, stride, padding, dilation, ceil", POOLS)
def test_max_pool2d_and_its_derivatives(shape, kernel, stride, padding, dilation, ceil) -> None:
    options = (kernel, stride, padding, dilation, ceil)
    # Few different values: with many ties the gradient must go to the first.
    x = rng().integers(-2, 3, shape).astype(float)
    compare(
        lambda x: F.max_pool2d(x, *options),
        lambda x: torch.nn.functional.max_pool2d(x, *options),
        x,
    )
    assert (
        F.max_pool2d(tg.tensor(x), *options)
        == F.max_pool2d(tg.tensor(x, requires_grad=True), *options)
    ).all()
    y, places = F.max_pool2d(tg.tensor(x), *options, return_indices=True)
    expected, expected_places = torch.nn.functional.max_pool2d(
        torch.tensor(x), *options, return_indices=True
    )
    assert y.tolist() == expected.tolist()
    assert places.dtype is tg.int64 and places.tolist() == expected_places.tolist()


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "x",
    [
        [[1.0, NAN, 2.0, NAN], [3.0, 1.0, INF, 0.0]],
        [[NAN, NAN, 1.0, 1.0], [NAN, 5.0, NAN, -INF]],
        [[-INF, -INF, -INF, -INF], [-INF, -INF, -INF, 0.0]],
        [[-INF, -INF, INF, -INF], [-INF, NAN, INF, 0.0]],
    ],
)
@pytest.mark.parametrize("options", [(2,), (2, 1, 1), (2, 1, 0), (1, 1, 0, 1, True)])
def test_max_pool2d_of_nan_and_infinity(x, options) -> None:
    ours, theirs = (
        lib.nn.functional.max_pool2d(lib.tensor([[x]]), *options, return_indices=True)
        for lib in (tg, torch)
    )
    np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy())
    np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())
    plain = F.max_pool2d(tg.tensor([[x]]), *options)
    np.testing.assert_array_equal(plain.numpy(), theirs[0].numpy())


def test_the_gradient_of_max_pool2d_may_be_infinite() -> None:
    grads = []
    for lib in (tg, torch):
        x = lib.tensor([[[1.0, 2.0], [4.0, 3.0]]], requires_grad=True)
        lib.nn.functional.max_pool2d(x, 2).backward(lib.tensor([[[INF]]]))
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1] == [[[0.0, 0.0], [INF, 0.0]]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "int32", "uint8", "int8"])
def test_max_pool2d_keeps_the_dtype(dtype: str) -> None:
    x = np.arange(25).reshape(1, 5, 5)[:, ::-1].astype(dtype)
    lowest = np.zeros((1, 3, 3), dtype) if dtype == "uint8" else np.full((1, 3, 3), -100, dtype)
    for array in (x, lowest):
        ours, theirs = (
            lib.nn.functional.max_pool2d(lib.tensor(array.copy()), 2, 2, 1, return_indices=True)
            for lib in (tg, torch)
        )
        assert ours[0].numpy().dtype == np.dtype(dtype)
        assert ours[0].tolist() == theirs[0].tolist()
        assert ours[1].tolist() == theirs[1].tolist()


def test_max_pool2d_returns_new_memory() -> None:
    x = tg.zeros(1, 2, 2)
    y = F.max_pool2d(x, 1)
    y += 1
    assert x.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


BAD_POOLS = {
    "two dims": lambda t: t.nn.functional.max_pool2d(t.zeros(8, 8), 2),
    "no channels": lambda t: t.nn.functional.max_pool2d(t.zeros(2, 0, 8, 8), 2),
    "kernel 0": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 0),
    "stride 0": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 2, 0),
    "dilation 0": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 2, dilation=0),
    "negative padding": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 2, padding=-1),
    "too much padding": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 3, padding=2),
    "too large": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 9),
    "three sizes": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), (2, 3, 4)),
    "no int": lambda t: t.nn.functional.max_pool2d(t.zeros(*X), 2.5),
    "bool": lambda t: t.nn.functional.max_pool2d(t.zeros(*X).bool(), 2),
    "no tensor": lambda t: t.nn.functional.max_pool2d([[[1.0]]], 1),
}


@pytest.mark.parametrize("call", BAD_POOLS.values(), ids=BAD_POOLS)
def test_max_pool2d_refuses_what_pytorch_refuses(call) -> None:
    ours, theirs = both(call)
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


def test_max_pool2d_of_no_images() -> None:
    assert F.max_pool2d(tg.zeros(0, 2, 4, 4), 2).shape == (0, 2, 2, 2)


# --- linear --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3), (20, 3), (0, 3)])
def test_linear_and_its_derivatives(shape) -> None:
    x, w, b = draw(*shape), draw(4, 3), draw(4)
    reference = torch.nn.functional.linear
    if len(shape) != 1:
        compare(F.linear, reference, x, w, b)
    compare(F.linear, reference, x, w)
    compare(lambda x, w: F.linear(x, w[0]), lambda x, w: reference(x, w[0]), x, w)


@pytest.mark.parametrize("bias", [(1,), (), (5, 4), (1, 4)])
def test_linear_broadcasts_a_bias_of_another_shape(bias) -> None:
    compare(F.linear, torch.nn.functional.linear, draw(2, 5, 3), draw(4, 3), draw(*bias))


BAD_LINEARS = {
    "features": lambda t: t.nn.functional.linear(t.zeros(5, 3), t.zeros(4, 2)),
    "bias": lambda t: t.nn.functional.linear(t.zeros(5, 3), t.zeros(4, 3), t.zeros(5)),
    "dtypes": lambda t: t.nn.functional.linear(t.zeros(5, 3), t.zeros(4, 3).double()),
    "bias dtype": lambda t: t.nn.functional.linear(
        t.zeros(5, 3), t.zeros(4, 3), t.zeros(4).double()
    ),
    "no dims": lambda t: t.nn.functional.linear(t.tensor(1.0), t.zeros(4, 3)),
    "weight of three dims": lambda t: t.nn.functional.linear(t.zeros(5, 3), t.zeros(2, 4, 3)),
    "large bias": lambda t: t.nn.functional.linear(t.zeros(3), t.zeros(4, 3), t.zeros(5, 4)),
    "no tensor": lambda t: t.nn.functional.linear([1.0, 2.0, 3.0], t.zeros(4, 3)),
}


@pytest.mark.parametrize("call", BAD_LINEARS.values(), ids=BAD_LINEARS)
def test_linear_refuses_what_pytorch_refuses(call) -> None:
    ours, theirs = both(call)
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


def test_linear_of_integers() -> None:
    x = tg.tensor([[1, 2], [3, 4]])
    assert F.linear(x, tg.tensor([[1, 10]]), tg.tensor([5])).tolist() == [[26], [48]]


# --- softmax -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    "shape, dim", [((4, 5), 1), ((4, 5), 0), ((2, 3, 4), -2), ((5,), 0), ((), 0), ((3, 0), 1)]
)
def test_softmax_and_its_derivatives(name: str, shape, dim: int) -> None:
    compare(
        lambda x: getattr(tg, name)(x, dim), lambda x: getattr(torch, name)(x, dim), draw(*shape)
    )


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_infinity_and_of_large_scores(name: str) -> None:
    x = [[1e4, -1e4], [INF, 1.0], [-INF, -INF], [NAN, 1.0], [-INF, 3.0], [88.8, 88.9]]
    ours = getattr(tg, name)(tg.tensor(x), 1)
    theirs = getattr(torch, name)(torch.tensor(x), 1)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_without_a_dim_guesses_it_as_pytorch_does(name: str) -> None:
    for shape in ((), (3,), (2, 3), (2, 3, 4), (2, 3, 4, 5)):
        with pytest.warns(UserWarning, match="Implicit dimension choice"):
            ours = getattr(F, name)(tg.tensor(draw(*shape)))
        with pytest.warns(UserWarning, match="Implicit dimension choice"):
            theirs = getattr(torch.nn.functional, name)(torch.tensor(draw(*shape)))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_the_dtypes_of_softmax(name: str) -> None:
    assert getattr(F, name)(tg.ones(2).half(), 0).dtype is tg.float16
    assert getattr(F, name)(tg.ones(2).long(), 0, dtype=tg.float64).dtype is tg.float64
    assert getattr(tg.ones(2), name)(-1).dtype is tg.float32
    for call in (
        lambda t: getattr(t, name)(t.ones(2).long(), 0),
        lambda t: getattr(t, name)(t.ones(2), 5),
    ):
        ours, theirs = both(call)
        assert type(ours) is type(theirs)


# --- losses --------------------------------------------------------------------------------------

TARGETS = {
    "(N, C)": ((5, 4), [0, 3, 1, 2, 0]),
    "(C)": ((4,), 0),
    "(N, C, d)": ((2, 4, 3), [[0, 1, 3], [2, 0, 1]]),
    "(N, C, d, e)": ((2, 4, 1, 2), [[[0, 1]], [[3, 0]]]),
}
OPTIONS = (
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"ignore_index": 1},
    {"ignore_index": 1, "reduction": "none"},
)
SMOOTH = (
    {"label_smoothing": 0.2},
    {"label_smoothing": 0.2, "ignore_index": 1},
    {"label_smoothing": 1.0, "ignore_index": 1, "reduction": "none"},
    {"label_smoothing": 0.2, "reduction": "sum"},
)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("shape, target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("options", (*OPTIONS, *SMOOTH), ids=str)
def test_losses_of_classes(options, shape, target, weighted) -> None:
    weight = [0.5, 2.0, 0.1, 1.0]

    def call(lib, name):
        arguments = lib.tensor(target), lib.tensor(weight).double() if weighted else None
        function = getattr(lib.nn.functional, name)
        return lambda x: function(x, *arguments, **options)

    names = ["cross_entropy"] if "label_smoothing" in options else ["nll_loss", "cross_entropy"]
    for name in names:
        compare(call(tg, name), call(torch, name), draw(*shape))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("shape", [(5, 4), (4,), (2, 4, 3)])
@pytest.mark.parametrize("options", [*OPTIONS[:3], SMOOTH[0], SMOOTH[3]], ids=str)
def test_cross_entropy_of_probabilities(options, shape, weighted) -> None:
    weight = [0.5, 2.0, 0.1, 1.0]

    def call(lib):
        w = lib.tensor(weight).double() if weighted else None
        return lambda x, p: lib.nn.functional.cross_entropy(x, p, w, **options)

    compare(call(tg), call(torch), draw(*shape), rng().random(shape))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_mse_loss(reduction: str) -> None:
    x, y, weight = draw(4, 3), draw(4, 3)[::-1].copy(), rng().random((4, 3))

    def call(lib, weighted):
        w = lib.tensor(weight) if weighted else None
        return lambda x, y: lib.nn.functional.mse_loss(x, y, reduction=reduction, weight=w)

    for weighted in (False, True):
        compare(call(tg, weighted), call(torch, weighted), x, y)


def test_mse_loss_warns_before_it_broadcasts() -> None:
    x, y = draw(5, 3), draw(5, 1)
    with pytest.warns(UserWarning, match=r"torch.Size\(\[5, 1\]\).*torch.Size\(\[5, 3\]\)"):
        ours = F.mse_loss(tg.tensor(x), tg.tensor(y))
    with pytest.warns(UserWarning, match="broadcast"):
        theirs = torch.nn.functional.mse_loss(torch.tensor(x), torch.tensor(y))
    assert ours.item() == pytest.approx(theirs.item())
    with pytest.raises(RuntimeError, match="must match"), pytest.warns(UserWarning):
        F.mse_loss(tg.zeros(3, 2), tg.zeros(2, 3))


def test_mse_loss_promotes() -> None:
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    loss = F.mse_loss(x, tg.tensor([1.0, 4.0], dtype=tg.float64))
    assert loss.dtype is tg.float64
    loss.backward()
    assert x.grad.dtype is tg.float32 and x.grad.tolist() == [0.0, -2.0]
    assert F.mse_loss(x, tg.tensor([1, 2])).dtype is tg.float32


@pytest.mark.parametrize("scores", [[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0], [1e30, -1e30, 0.0]])
def test_cross_entropy_of_large_scores(scores) -> None:
    found = []
    for lib in (tg, torch):
        x = lib.tensor([scores], requires_grad=True)
        loss = lib.nn.functional.cross_entropy(x, lib.tensor([1]))
        loss.backward()
        found.append((loss.item(), x.grad.tolist()))
    assert found[0] == found[1]
    assert np.isfinite(found[0][0])


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.functional.nll_loss(t.zeros(0, 3), t.zeros(0).long()),
        lambda t: t.nn.functional.nll_loss(t.zeros(2, 3), t.tensor([1, 1]), ignore_index=1),
        lambda t: t.nn.functional.nll_loss(
            t.tensor([[-INF, 0.0]]), t.tensor([0]), ignore_index=0, reduction="sum"
        ),
        lambda t: t.nn.functional.nll_loss(
            t.tensor([[-INF, 0.0]]), t.tensor([0]), t.tensor([0.0, 1.0])
        ),
        lambda t: t.nn.functional.cross_entropy(
            t.tensor([[1.0, -INF]]), t.tensor([0]), label_smoothing=0.1
        ),
        lambda t: t.nn.functional.cross_entropy(
            t.tensor([[1.0, -INF], [0.0, 1.0]]),
            t.tensor([1, 0]),
            ignore_index=1,
            label_smoothing=0.1,
        ),
        lambda t: t.nn.functional.cross_entropy(t.tensor([[1.0, -INF]]), t.tensor([[1.0, 0.0]])),
        lambda t: t.nn.functional.cross_entropy(
            t.zeros(2, 3), t.tensor([0, 1]), label_smoothing=-0.5
        ),
        lambda t: t.nn.functional.cross_entropy(t.zeros(2, 3), t.tensor([2, 1]).to(t.uint8)),
        lambda t: t.nn.functional.nll_loss(t.zeros(3), t.tensor([1]), reduction="none"),
        lambda t: t.nn.functional.mse_loss(t.zeros(0, 3), t.zeros(0, 3)),
    ],
)
def test_losses_at_the_edges(call) -> None:
    ours, theirs = both(call)
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_no_gradient_flows_where_every_target_is_ignored() -> None:
    grads = []
    for lib in (tg, torch):
        x = lib.zeros(2, 3, requires_grad=True)
        lib.nn.functional.nll_loss(x, lib.tensor([1, 1]), ignore_index=1).backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


BAD_LOSSES = {
    "batches": lambda t, f: f.nll_loss(t.zeros(5, 3), t.zeros(4).long()),
    "class too large": lambda t, f: f.nll_loss(t.zeros(2, 3), t.tensor([0, 3])),
    "class negative": lambda t, f: f.cross_entropy(t.zeros(2, 3), t.tensor([0, -1])),
    "int32": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2).int()),
    "float classes": lambda t, f: f.cross_entropy(t.zeros(2, 3), t.zeros(2)),
    "bool classes": lambda t, f: f.cross_entropy(t.zeros(2, 3), t.zeros(2).bool()),
    "several targets": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2, 1).long()),
    "wrong rest": lambda t, f: f.nll_loss(t.zeros(2, 3, 4), t.zeros(2, 5).long()),
    "no dims": lambda t, f: f.nll_loss(t.tensor(1.0), t.tensor(0)),
    "two for one": lambda t, f: f.nll_loss(t.zeros(3), t.zeros(2).long()),
    "scalar target": lambda t, f: f.nll_loss(t.zeros(2, 3), t.tensor(0)),
    "weight size": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2).long(), t.ones(2)),
    "weight dims": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2).long(), t.ones(3, 1)),
    "weight dtype": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2).long(), t.ones(3).double()),
    "weight wants a gradient": lambda t, f: f.nll_loss(
        t.zeros(2, 3, requires_grad=True), t.zeros(2).long(), t.ones(3, requires_grad=True)
    ),
    "reduction": lambda t, f: f.nll_loss(t.zeros(2, 3), t.zeros(2).long(), reduction="foo"),
    "integers": lambda t, f: f.nll_loss(t.zeros(2, 3).long(), t.zeros(2).long()),
    "smoothing": lambda t, f: f.cross_entropy(
        t.zeros(2, 3), t.zeros(2).long(), label_smoothing=2.0
    ),
    "integer probabilities": lambda t, f: f.cross_entropy(t.zeros(2, 3), t.ones(2, 3).long()),
    "ignored probability": lambda t, f: f.cross_entropy(
        t.zeros(2, 3), t.ones(2, 3), ignore_index=0
    ),
    "soft weight": lambda t, f: f.cross_entropy(t.zeros(2, 3), t.ones(2, 3), t.ones(2)),
    "soft sizes": lambda t, f: f.cross_entropy(t.zeros(2, 3, 4), t.ones(2, 4, 3)),
    "mse integers": lambda t, f: f.mse_loss(t.ones(2).long(), t.ones(2).long()),
    "mse reduction": lambda t, f: f.mse_loss(t.ones(2), t.ones(2), reduction="foo"),
    "mse weight": lambda t, f: f.mse_loss(t.ones(2, 3), t.ones(2, 3), weight=t.ones(3)),
}


@pytest.mark.parametrize("call", BAD_LOSSES.values(), ids=BAD_LOSSES)
def test_losses_refuse_what_pytorch_refuses(call) -> None:
    ours, theirs = both(lambda lib: call(lib, lib.nn.functional))
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


def test_the_graph_of_cross_entropy_is_pytorchs() -> None:
    x = tg.zeros(2, 3, requires_grad=True)
    node = F.cross_entropy(x, tg.tensor([0, 1])).grad_fn
    names = [node.name(), node.next_functions[0][0].name()]
    assert names == ["NllLossBackward0", "LogSoftmaxBackward0"]


@pytest.mark.parametrize(
    "flags, reduction",
    [
        ((None, None), "mean"),
        ((True, None), "mean"),
        ((False, None), "sum"),
        ((None, False), "none"),
        ((None, True), "mean"),
        ((False, True), "sum"),
        ((True, False), "none"),
    ],
)
def test_the_flags_of_old(flags, reduction) -> None:
    size_average, reduce = flags
    x, y = tg.tensor(draw(3, 2)), tg.tensor(draw(3, 2) * 2)
    if flags == (None, None):
        old = F.mse_loss(x, y, size_average, reduce)
    else:
        with pytest.warns(UserWarning, match=f"reduction='{reduction}'"):
            old = F.mse_loss(x, y, size_average, reduce)
    assert old.tolist() == F.mse_loss(x, y, reduction=reduction).tolist()
