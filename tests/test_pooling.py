"""What rows cannot say of pooling and upsampling: names of nodes, warnings, what is never read."""

from __future__ import annotations

import pytest
import torch

import tinygrad_course as tg

from .parity.both import attempt, both

NODES = {
    "max_pool1d": ((1, 2, 6), (2,)),
    "max_pool2d": ((2, 4, 4), (2,)),
    "max_pool3d": ((1, 2, 4, 4, 4), (2,)),
    "avg_pool1d": ((2, 6), (2,)),
    "avg_pool2d": ((1, 2, 4, 4), (2,)),
    "avg_pool3d": ((2, 4, 4, 4), (2,)),
    "lp_pool2d": ((2, 4, 4), (2, 2)),
    "adaptive_max_pool1d": ((2, 6), (2,)),
    "adaptive_max_pool2d": ((1, 2, 4, 4), (2,)),
    "adaptive_max_pool3d": ((1, 2, 4, 4, 4), (2,)),
    "adaptive_avg_pool1d": ((2, 6), (2,)),
    "adaptive_avg_pool2d": ((1, 2, 4, 4), (2,)),
    "adaptive_avg_pool3d": ((1, 2, 4, 4, 4), (2,)),
    "fractional_max_pool2d": ((1, 2, 4, 4), (2, 2)),
    "fractional_max_pool3d": ((1, 2, 4, 4, 4), (2, 2)),
}
MODES = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_of_pooling(name):
    shape, arguments = NODES[name]

    @both
    def program(lib):
        x = lib.zeros(shape, requires_grad=True)
        node = getattr(lib.nn.functional, name)(x, *arguments).grad_fn
        return [n.name().rpartition("::")[2] for n in (node, node.next_functions[0][0])]

    program()


@pytest.mark.parametrize("mode", MODES)
def test_nodes_of_upsampling(mode):
    @both
    def program(lib):
        images = [lib.zeros((1, 1, *(3,) * dims), requires_grad=True) for dims in MODES[mode]]
        return [lib.nn.functional.interpolate(x, 4, mode=mode).grad_fn.name() for x in images]

    program()


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_nodes_of_upsampling_against_aliasing(mode):
    @both
    def program(lib):
        x = lib.zeros(1, 1, 5, 5, requires_grad=True)
        return lib.nn.functional.interpolate(x, 3, mode=mode, antialias=True).grad_fn.name()

    program()


@pytest.mark.parametrize("lib", [tg, torch], ids=["ours", "PyTorch's"])
@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_the_old_names_of_interpolate_warn(lib, name):
    with pytest.warns(UserWarning, match=f"`nn.functional.{name}` is deprecated"):
        getattr(lib.nn.functional, name)(lib.zeros(1, 1, 2, 2), 4)


@pytest.mark.parametrize(
    "options",
    [(1,), (1, 2), (2,), (3, 1), (3, 2, 1), (2, 2, 0, 2), (3, 2, 1, 1, True), (2, 3, 1, 3, True)],
)
@pytest.mark.parametrize(
    ("dims", "dtype"),
    [
        *((dims, dtype) for dims in (1, 2, 3) for dtype in ("float32", "float64", "float16")),
        *((dims, dtype) for dims in (2, 3) for dtype in ("int32", "uint8")),
    ],
)
def test_maxima_without_their_places(dims, options, dtype):
    """Where no gradient is asked for; also of images that lie otherwise in memory."""

    @both
    def program(lib):
        pool = getattr(lib.nn.functional, f"max_pool{dims}d")
        x = (lib.arange(2 * 3 * 7**dims) * 37 % 101).reshape(2, 3, *(7,) * dims)
        x = x.to(getattr(lib, dtype))
        if dtype.startswith("float"):
            x -= 50
        return [pool(v, *options) for v in (x, x[0], x.transpose(0, 1), x[..., ::2], x[:, :, 1:])]

    program()


def test_maxima_of_windows_of_their_own_size() -> None:
    x = tg.arange(24.0).reshape(1, 1, 4, 6)
    pool = tg.nn.functional.max_pool2d
    assert pool(x, (1, 2)).tolist() == x[..., 1::2].tolist()
    assert pool(x, (2, 1)).tolist() == x[:, :, 1::2].tolist()
    assert pool(x, (4, 3), (1, 3)).tolist() == [[[[20.0, 23.0]]]]
    for y in (pool(x, 1), pool(x, 1, 2), pool(x, (2, 1), (2, 2))):
        assert y.is_contiguous()
        y.zero_()
    assert x.tolist() == tg.arange(24.0).reshape(1, 1, 4, 6).tolist()


@pytest.mark.parametrize("name", ["adaptive_avg_pool1d", "interpolate"])
def test_an_infinite_gradient_stays_in_its_window(name):
    @both
    def program(lib):
        x = lib.zeros(1, 1, 5, requires_grad=True)
        y = getattr(lib.nn.functional, name)(x, 3)
        y.backward(lib.tensor([[[float("inf"), 1.0, 2.0]]]))
        return x.grad

    program()


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_whole_numbers_are_rounded_within_one_of_pytorchs(mode, antialias):
    pixels = [[[[(7 * i * j + 31 * i) % 256 for j in range(6)] for i in range(5)]]]
    ours, theirs = (
        lib.nn.functional.interpolate(
            lib.tensor(pixels, dtype=lib.uint8), (8, 4), mode=mode, antialias=antialias
        )
        for lib in (tg, torch)
    )
    assert ours.dtype is tg.uint8
    differences = torch.tensor(ours.tolist()) - theirs.long()
    assert differences.abs().max() <= 1


@pytest.mark.parametrize("name", ["avg_pool2d", "adaptive_avg_pool2d"])
def test_a_sum_of_halves_may_pass_their_range(name):
    @both
    def program(lib):
        x = lib.full((1, 1, 4, 4), 4e4, dtype=lib.float16)
        return getattr(lib.nn.functional, name)(x, 2)

    program()


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_which_dims_an_adaptive_pooling_lets_be_empty(kind, dims):
    """The first one alone, of one image as well; for means in 1 and 2 dims the channels, too, and
    for one mean all."""

    @both
    def test(lib):
        pool = getattr(lib.nn.functional, f"adaptive_{kind}_pool{dims}d")
        full = [2] * (dims + 2)
        shapes = [[*full[:i], 0, *full[i + 1 :]] for i in range(dims + 2)]
        shapes += [s[1:] for s in shapes[1:]]
        return [attempt(lambda s=s, n=n: pool(lib.ones(s), n)) for s in shapes for n in (1, 3)]

    test()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_gradient_of_no_means_is_zeros(dims):
    x = tg.ones([2] * (dims + 2), requires_grad=True)
    getattr(tg.nn.functional, f"adaptive_avg_pool{dims}d")(x, 0).sum().backward()
    assert x.grad.tolist() == tg.zeros(x.shape).tolist()


def test_places_of_a_single_image_are_memory_of_their_own() -> None:
    x = tg.arange(9.0).reshape(1, 3, 3)
    _, places = tg.nn.functional.adaptive_max_pool2d(x, 3, return_indices=True)
    places += 1
    assert places.flatten().tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
