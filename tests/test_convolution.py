"""What holds of convolutions whatever PyTorch says: the maps are each other's adjoint, and there
are as many outputs as places; and what rows of samples don't see: rounding, the names of nodes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.nn import functional as F
from tinygrad_course.ops import convolution as kernels
from tinygrad_course.ops.columns import Geometry, window_count
from tinygrad_course.ops.convolution import (
    conv_input,
    conv_weight,
    convolution,
    reference_convolution,
)
from tinygrad_course.ops.tiles import tiles

from .parity.both import attempt, both


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


GEOMETRIES = [
    # input, kernel, stride, padding, dilation, groups
    pytest.param((9,), (3,), (2,), ((1, 0),), (2,), 1, id="sequences"),
    pytest.param((5, 6), (2, 3), (1, 2), ((1, 2), (0, 0)), (2, 1), 2, id="images"),
    pytest.param((4, 3, 5), (2, 3, 1), (1, 1, 2), ((0, 1),) * 3, (1, 1, 3), 4, id="volumes"),
    # Whole pages of memory, which are copied in another order.
    pytest.param((8, 16), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 2, id="pages"),
    pytest.param((16, 8), (2, 3), (2, 1), ((0, 0), (0, 0)), (1, 1), 1, id="pages unpadded"),
    # Several rows at once: 4 of 4, and 3 of 6.
    pytest.param((6, 90), (5, 3), (1, 2), ((1, 1), (42, 43)), (1, 2), 2, id="tiles"),
    pytest.param((9, 9, 12), (4, 2, 1), (1, 1, 1), ((0, 0),) * 3, (1, 1, 1), 1, id="tall tiles"),
    # Steps of 1: with as many outputs as inputs, the way back is a convolution, too.
    pytest.param((7, 8), (2, 3), (1, 1), ((1, 0), (2, 1)), (1, 2), 2, id="turned"),
    pytest.param(
        (5, 4, 3), (1, 2, 3), (1, 1, 1), ((0, 0), (1, 1), (2, 2)), (3, 2, 1), 4, id="turned volumes"
    ),
    pytest.param((5, 6), (2, 1), (1, 1), ((2, 2), (0, 1)), (1, 1), 1, id="padded beyond"),
]


@pytest.mark.parametrize("by_images", [True, False])
@pytest.mark.parametrize("outputs", [4, 8])
@pytest.mark.parametrize("size, kernel, stride, padding, dilation, groups", GEOMETRIES)
def test_the_three_maps_of_a_convolution_are_adjoint(
    size, kernel, stride, padding, dilation, groups, outputs, by_images, monkeypatch
) -> None:
    monkeypatch.setattr(kernels, "_by_images", lambda *_: by_images)
    monkeypatch.setattr(kernels, "_COLUMN_BYTES", 5000)
    geometry = Geometry(stride, padding, dilation, groups)
    places = window_count(size, kernel, geometry)
    x, w = draw(3, 4, *size), draw(outputs, 4 // groups, *kernel, seed=1)
    g = draw(3, outputs, *places, seed=2)
    y = convolution(x, w, None, places, geometry)
    expected = reference_convolution(np, x, w, geometry)
    np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)
    b = draw(outputs, seed=3)
    shifted = expected + b.reshape(outputs, *[1] * len(size))
    np.testing.assert_allclose(convolution(x, w, b, places, geometry), shifted, rtol=1e-10)
    product = (y * g).sum()
    np.testing.assert_allclose((x * conv_input(g, w, None, size, geometry)).sum(), product)
    np.testing.assert_allclose((w * conv_weight(x, g, kernel, geometry)).sum(), product)


@pytest.mark.parametrize("padding", [0, 2])
def test_images_that_lie_otherwise_in_memory(padding, monkeypatch) -> None:
    monkeypatch.setattr(kernels, "_by_images", lambda *_: True)

    @both
    def program(lib):
        x = (lib.arange(2.0 * 4 * 24 * 26, dtype=lib.float64) * 37 % 101).reshape(2, 4, 24, 26)
        w = (lib.arange(6.0 * 2 * 5 * 3, dtype=lib.float64) * 11 % 13).reshape(6, 2, 5, 3)
        b = lib.arange(6.0, dtype=lib.float64)
        seen = []
        for images in (x, x.transpose(2, 3), x.flip(0)[:, :2], x[1:, ::2], x[0], x[:0]):
            kernel = w.requires_grad_()
            groups = images.shape[-3] // 2
            y = lib.conv2d(images, kernel, b, padding=padding, groups=groups)
            seen += [y, lib.autograd.grad((y * y).sum(), kernel)[0]]
        spread = x[:1, :1].expand(3, 2, 24, 26).contiguous(memory_format=lib.channels_last)
        return [*seen, lib.conv2d(spread, w, None, padding=padding).tolist()]

    program()


@pytest.mark.parametrize(
    "n, channels, kernel, places, rows",
    [
        (64, 6, (5, 5), (28, 28), 4),  # 4 divides 28, and 4 kernels of 5 rows fit in a tile of 8
        (64, 16, (5, 5), (10, 10), 2),  # 2 x 16 channels are enough
        (64, 33, (5, 5), (10, 10), 1),
        (64, 1, (7, 1), (13, 8), 1),  # only 13 divides 13
        (64, 1, (9, 1), (14, 8), 7),
        (64, 6, (3, 3), (28, 28), 1),  # 3 rows share too little
        (1, 6, (5, 5), (28, 28), 1),  # short rows
        (64, 6, (5,), (28,), 1),
    ],
)
def test_how_many_rows_are_a_tile(n, channels, kernel, places, rows) -> None:
    plain = Geometry((1,) * len(kernel), ((0, 0),) * len(kernel), (1,) * len(kernel))
    found = tiles(np, n, channels, kernel, places, plain)
    assert found.rows == rows
    assert found.kernel == (kernel[0] + rows - 1, *kernel[1:])
    assert found.geometry.stride[0] * found.places[0] == places[0]
    strided = plain._replace(stride=(2, *plain.stride[1:]))
    assert tiles(np, n, channels, kernel, places, strided)[1:] == (kernel, places, strided)


@pytest.mark.parametrize(
    "matrices, places, by_images",
    [
        ((1, 32, 9), (28, 28), True),
        ((1, 32, 9), (19, 19), False),  # short rows
        ((1, 16, 144), (28, 28), False),  # many numbers to copy for few outputs
        ((9, 1, 9), (28, 28), False),
        ((1, 64, 64), (200, 200), False),  # 10 MB of an image
    ],
)
def test_which_columns_are_made_image_by_image(matrices, places, by_images) -> None:
    assert kernels._by_images(np.empty(matrices), places, 4) is by_images


@pytest.mark.parametrize("kernel, stride, padding, dilation", [(2, 1, 0, 1), (3, 2, 1, 2)])
def test_fold_is_the_adjoint_of_unfold(kernel, stride, padding, dilation) -> None:
    options = (kernel, dilation, padding, stride)
    x = tg.tensor(draw(2, 3, 7, 6))
    columns = F.unfold(x, *options)
    c = tg.tensor(draw(*columns.shape, seed=1))
    folded = F.fold(c, (7, 6), *options)
    np.testing.assert_allclose((columns * c).sum().item(), (x * folded).sum().item())
    # Folded back, each number comes as often as there are windows that see it.
    seen = F.fold(F.unfold(tg.ones_like(x), *options), (7, 6), *options)
    np.testing.assert_allclose(F.fold(columns, (7, 6), *options).numpy(), (seen * x).numpy())


@pytest.mark.parametrize(
    "n, k, s, p, d", [*itertools.product((5, 6), (1, 3), (1, 2, 3), (0, 1), (1, 2))]
)
def test_as_many_outputs_as_there_are_places(n, k, s, p, d) -> None:
    places = len([i for i in range(-p, n + p, s) if i + d * (k - 1) < n + p])
    x, w = tg.zeros(1, 1, n), tg.zeros(1, 1, k)
    y = tg.conv1d(x, w, stride=s, padding=p, dilation=d)
    assert y.shape[2] == F.unfold(x[..., None], (k, 1), (d, 1), (p, 0), (s, 1)).shape[2] == places
    # The other way the size is one of those that have so many places.
    sizes = {
        tg.conv_transpose1d(y, w, None, s, p, more, 1, d).shape[2] for more in range(max(s, d))
    }
    assert n in sizes


def test_float16_is_rounded_once() -> None:
    x, w = draw(2, 64, 9).astype("f2"), draw(3, 64, 3, seed=1).astype("f2")
    exact = tg.conv1d(tg.tensor(x).double(), tg.tensor(w).double()).half()
    assert (tg.conv1d(tg.tensor(x), tg.tensor(w)) == exact).float().mean() > 0.99


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_nodes_have_pytorchs_names(dims) -> None:
    @both
    def program(lib):
        x = lib.ones((1, 2, *(3,) * dims), requires_grad=True)
        w = lib.ones((2, 2, *(2,) * dims), requires_grad=True)
        pads = (1,) * (2 * dims)
        pad, functions = lib.nn.functional.pad, lib.nn.functional
        outputs = [
            getattr(functions, f"conv{dims}d")(x, w, w.sum((*range(1, dims + 2),))),
            getattr(functions, f"conv_transpose{dims}d")(x, w),
            getattr(functions, f"conv{dims}d")(x[0], w),
            *(pad(x, pads, mode) for mode in ("constant", "reflect", "replicate")),
        ]
        nodes = [y.grad_fn for y in outputs]
        nodes.append(nodes[2].next_functions[0][0])  # of the batch that was made of one input
        return [node.name() for node in nodes], len(nodes[0].next_functions)

    program()


@pytest.mark.parametrize("shape", [(0, 2, 0), (0, 2, 3), (1, 2, 0), (2, 0)])
def test_images_without_elements_in_an_empty_batch(shape):
    @both
    def test(lib):
        x, w = lib.ones(*shape, requires_grad=True), lib.ones(2, 2, 3, requires_grad=True)
        seen = []
        for name, options in (("conv1d", {}), ("conv1d", {"padding": 2}), ("conv_transpose1d", {})):
            convolve = getattr(lib.nn.functional, name)
            seen.append(attempt(lambda c=convolve, o=options: c(x, w, **o)))
            if not isinstance(seen[-1], str):
                seen[-1].sum().backward()
        return [*seen, x.grad, w.grad]

    test()
