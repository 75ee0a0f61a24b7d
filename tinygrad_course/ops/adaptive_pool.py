"""Adaptive pooling: windows that divide an image of any size into a given number of parts.

Along a dim of n places the i-th of o windows goes from ⌊i n / o⌋ to ⌈(i + 1) n / o⌉, so windows may
differ in size and overlap. They are products of intervals: means and maxima are taken along one dim
after the other. Knows images of 2 and 3 dims; a sequence is an image of one row. Lesson 11.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..device import constant, device_of
from .arguments import per_dim, require_tensors
from .maxima import PlacedMaxima, largest
from .pointwise import in_single
from .registry import Op, function
from .resample import Taps, resampled
from .windows import Sizes


def intervals(n: int, count: int) -> Taps:
    """The places of each of `count` intervals of 0, …, n - 1; a shorter one repeats its last place,
    with weight 0.

    >>> intervals(5, 2).places.tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    i = np.arange(count)
    start, stop = i * n // count, -(-(i + 1) * n // count)
    places = start[:, None] + np.arange((stop - start).max(initial=1))
    weights = (places < stop[:, None]).astype(np.float64)
    return Taps(np.minimum(places, stop[:, None] - 1), weights, n, ragged=True)


# --- means ----------------------------------------------------------------------------------------


class AdaptiveAvgPool2d(Op, fn="", node="AdaptiveAvgPool2DBackward0"):
    """y = Σ over the window of x / its number of cells; dx = to each cell the g / number of its
    windows."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        image = x.shape[-len(size) :]
        ctx.save(image)
        taps = tuple(map(intervals, image, size))
        return in_single(xp, lambda xp, x: _divided(xp, resampled(xp, x, taps), taps), x)

    def backward(ctx, g):
        (image,) = ctx.saved
        return AdaptiveAvgSpread.fn(g, image)


class AdaptiveAvgPool3d(AdaptiveAvgPool2d, fn="", node="AdaptiveAvgPool3DBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = AdaptiveAvgPool2d.forward


class AdaptiveAvgSpread(Op, fn="", node="AdaptiveAvgPool2DBackwardBackward0"):
    """Each g / number to all cells of its window: the adjoint of adaptive average pooling."""

    __slots__ = ()

    def forward(ctx, xp, g, /, image):
        size = g.shape[-len(image) :]
        ctx.save(size)
        taps = tuple(map(intervals, image, size))
        back = tuple([t.transposed() for t in taps])
        return in_single(xp, lambda xp, g: resampled(xp, _divided(xp, g, taps), back), g)

    def backward(ctx, h):
        (size,) = ctx.saved
        return AdaptiveAvgPool2d.fn(h, size)


def _divided(xp, x, taps):
    """x / the number of cells of each window."""
    for dim, t in enumerate(taps, x.ndim - len(taps)):
        cells = t.weights.sum(1).astype(x.dtype).reshape((-1,) + (1,) * (x.ndim - dim - 1))
        x = (x / constant(cells, device_of(x))).astype(x.dtype, copy=False)
    return x


# --- maxima ---------------------------------------------------------------------------------------


class AdaptiveMaxPool2d(PlacedMaxima, fn="", node="AdaptiveMaxPool2DBackward0"):
    """(y, places): the maximum of each window, and where it was in the flattened image."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        image = x.shape[-len(size) :]
        places = xp.arange(math.prod(image)).reshape(image)  # of one image till they differ
        # Rows before columns: the first maximum of the first row that has it is the first of all.
        for dim in range(-1, -len(size) - 1, -1):
            cells = intervals(image[dim], size[dim]).places.T
            cells = constant(np.ascontiguousarray(cells), device_of(x))
            x, places = largest(xp, [(x.take(c, dim), places.take(c, dim)) for c in cells])
        places = xp.array(xp.broadcast_to(places, x.shape), order="C")
        ctx.save(places, image)
        return x, places


class AdaptiveMaxPool3d(PlacedMaxima, fn="", node="AdaptiveMaxPool3DBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = AdaptiveMaxPool2d.forward


# --- the public functions ------------------------------------------------------------------------


def _sizes(name: str, x: Any, output_size: Any, dims: int) -> Sizes:
    """The sizes of the output; None stands for the input's own."""
    require_tensors(name, input=x)
    shape = tuple(x.shape)
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(shape)}"
        )
    if isinstance(output_size, tuple | list):
        if dims > 1 and len(output_size) >= len(shape):
            raise ValueError(
                f"{name}: Input dimension should be at least {len(output_size) + 1}, but the input "
                f"is {list(shape)} and output_size={output_size}"
            )
        if len(output_size) != dims:
            raise RuntimeError(f"{name}: output_size must be {dims} ints, got {output_size}")
        pairs = zip(output_size, shape[-dims:], strict=True)
        output_size = [n if v is None and dims > 1 else v for v, n in pairs]
    size = per_dim(output_size, dims, "output_size", name)
    if min(size) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be >= 0, got {list(size)}")
    return size


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means of `output_size` windows that cover a sequence: (N, C, L) → (N, C, P).

    >>> import tinygrad_course as tg
    >>> tg.adaptive_avg_pool1d(tg.tensor([[1., 2., 3., 4.]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    size = _sizes("adaptive_avg_pool1d", input, output_size, 1)
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, *size)).squeeze(-2)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of P × Q windows that cover an image: (N, C, H, W) or (C, H, W) → (N, C, P, Q).

    `output_size` is (P, Q) or one int for both; None leaves a size as it is. RuntimeError for an
    image of no elements, NotImplementedError for a type that is no float.

    >>> import tinygrad_course as tg
    >>> adaptive_avg_pool2d(tg.arange(12.).reshape(1, 3, 4), (1, 2))
    tensor([[[4.5000, 6.5000]]])
    """
    size = _sizes("adaptive_avg_pool2d", input, output_size, 2)
    return _averaged("adaptive_avg_pool2d", AdaptiveAvgPool2d, input, size, -2)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The means of O × P × Q windows that cover a volume: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> adaptive_avg_pool3d(tg.arange(8.).reshape(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    size = _sizes("adaptive_avg_pool3d", input, output_size, 3)
    return _averaged("adaptive_avg_pool3d", AdaptiveAvgPool3d, input, size, 1)


def _averaged(name: str, op: Any, x: Any, size: Sizes, first: int) -> Any:
    if set(size) == {1}:  # a single window: the plain mean
        return x.mean(tuple(range(-len(size), 0)), keepdim=True)
    return _applied(name, op, x, size, first)


def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """The maxima of `output_size` windows that cover a sequence, and their places: (N, C, L) →
    twice (N, C, P).

    >>> import tinygrad_course as tg
    >>> tg.adaptive_max_pool1d(tg.tensor([[1., 2., 4., 3.]]), 2)
    (tensor([[2., 4.]]), tensor([[1, 2]]))
    """
    size = _sizes("adaptive_max_pool1d", input, output_size, 1)
    pooled = adaptive_max_pool2d(input.unsqueeze(-2), (1, *size))
    return tuple([p.squeeze(-2) for p in pooled])


def adaptive_max_pool2d(input: Any, output_size: Any) -> Any:
    """The maxima of P × Q windows that cover an image, and their places in the flattened H × W
    plane (int64): (N, C, H, W) or (C, H, W) → twice (N, C, P, Q).

    `output_size` as for `adaptive_avg_pool2d`.

    >>> import tinygrad_course as tg
    >>> adaptive_max_pool2d(tg.arange(12.).reshape(1, 3, 4), (1, 2))
    (tensor([[[ 9., 11.]]]), tensor([[[ 9, 11]]]))
    """
    return _largest("adaptive_max_pool2d", AdaptiveMaxPool2d, input, output_size, 2)


def adaptive_max_pool3d(input: Any, output_size: Any) -> Any:
    """The maxima of O × P × Q windows that cover a volume, and their places in the flattened D × H
    × W volume: (N, C, D, H, W) → twice (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> adaptive_max_pool3d(tg.arange(8.).reshape(1, 2, 2, 2), 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _largest("adaptive_max_pool3d", AdaptiveMaxPool3d, input, output_size, 3)


def _largest(name: str, op: Any, x: Any, output_size: Any, dims: int) -> Any:
    return _applied(name, op, x, _sizes(name, x, output_size, dims), 1)


def _applied(name: str, op: Any, x: Any, size: Sizes, first: int) -> Any:
    """The operation on an input of which no dim from the `first` on is empty."""
    if 0 in x.shape[first:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(x.shape)}"
        )
    if not x.is_floating_point() and x.numel():
        raise NotImplementedError(
            f"adaptive pooling is not implemented for {x.dtype!r}: convert with .float()"
        )
    return op.fn(x, size)


function(adaptive_avg_pool1d, adaptive_max_pool1d)
