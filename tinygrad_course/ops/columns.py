"""Windows of images as columns of a matrix: what turns a convolution into one matrix product.

The windows that a kernel sees lie over each other in the image: a view with the right strides shows
all of them without copying, for sequences, images and volumes alike. Written out one below the
other they are columns; added back to where they lay they are an image again. These two maps,
`unfold` and `fold`, are each other's adjoint. Knows nothing of weights. Lesson 10.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..device import backend_of
from ..kernels import columns as fused
from ..kernels import usable
from ..shape import as_int
from .arguments import require_tensors
from .dims import row_major
from .registry import Op

Sizes = tuple[int, ...]
Pair = tuple[int, int]  # before and after


class Geometry(NamedTuple):
    """How windows lie on the images, a number per spatial dim: their steps, the zeros (before,
    after) the image, the gaps within; and separate bundles of channels."""

    stride: Sizes
    padding: tuple[Pair, ...]
    dilation: Sizes
    groups: int = 1


def plain(dims: int) -> Geometry:
    """Windows at every place, without padding or gaps."""
    return Geometry((1,) * dims, ((0, 0),) * dims, (1,) * dims)


def padded_size(size: Sequence[int], geometry: Geometry) -> Sizes:
    """Sizes of an image together with what is around it."""
    return tuple(n + sum(p) for n, p in zip(size, geometry.padding, strict=True))


def window_count(size: Sequence[int], kernel: Sequence[int], geometry: Geometry) -> Sizes:
    """Places of a kernel on an image: ⌊(H + padding − d (k − 1) − 1) / s⌋ + 1 each way."""
    padded = padded_size(size, geometry)
    each = zip(padded, kernel, geometry.stride, geometry.dilation, strict=True)
    return tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in each)


# --- the windows ----------------------------------------------------------------------------------
#
# Inside a kernel the memory order is channels, space, images: then every copy and every product
# runs over (width × images) contiguous numbers instead of one row of one image.


def inside(size: Sequence[int], geometry: Geometry) -> tuple[slice, ...]:
    """Where the image lies in a padded array (C, H, W, N), as an index."""
    each = zip(size, geometry.padding, strict=True)
    return (slice(None), *(slice(before, before + n) for n, (before, _) in each))


def images_last(xp, x, geometry):
    """(N, C, H, W) as contiguous (C, H, W, N), with zeros around each image."""
    n, c, *size = x.shape
    turned = x.transpose(*range(1, x.ndim), 0)
    padded = any(map(any, geometry.padding))
    if not padded and turned.flags.c_contiguous:
        return turned
    shape = (c, *padded_size(size, geometry), n)
    last = xp.zeros(shape, x.dtype) if padded else xp.empty(shape, x.dtype)
    there = last[inside(size, geometry)]
    # Of few images one after the other, of many as many at once as do not push each other out of
    # the cache: up to five times as fast as all at once.
    step = max(n, 1) if xp is not np else 1 if n < 8 else _fitting(x.strides[0])
    for i in range(0, n, step):
        there[..., i : i + step] = turned[..., i : i + step]
    return last


def images_framed(x, geometry):
    """(N, C, H, W) with zeros around each image as a view (C, H, W, N): memory stays in the order
    N, C, H, W."""
    if any(map(any, geometry.padding)):
        x = np.pad(x, ((0, 0), (0, 0), *geometry.padding))
    return x.transpose(*range(1, x.ndim), 0)


def _fitting(step):
    """How many lines, so many bytes apart, fit in a first-level cache of 8 x 4096 bytes: at least
    8, but where the step is a multiple of 4096 no more, for they compete for the same places."""
    return 8 * 4096 // math.gcd(step, 4096)


def write_images(xp, x, b, y):
    """y = x + b, from (C, H, W, N) to (N, C, H, W), for a b (C) or None; changes x.

    An assignment goes through memory in the order of its target, an addition in that of x where the
    images are the last dim of `out`: twice as fast if a line of each image fits in the cache.
    """
    if b is not None:
        b = b.reshape(-1, *(1,) * (x.ndim - 1))
        if 16 <= len(y) <= _fitting(y.strides[0]) // 2:  # what is read needs room, too
            xp.add(x, b, out=y.transpose(*range(1, y.ndim), 0))
            return
        x += b
    y[...] = x.transpose(x.ndim - 1, *range(x.ndim - 1))


def images_first(x, size, geometry):
    """The other way round, without what is around the images: a view (N, C, H, W)."""
    return x[inside(size, geometry)].transpose(x.ndim - 1, *range(x.ndim - 1))


def windows(x, kernel, size, geometry):
    """The windows of a contiguous (C, H, W, N) array as a view (C, kh, kw, P, Q, N): no copy."""
    c, *_, n = x.shape
    first, *steps, last = x.strides
    gaps = (step * d for step, d in zip(steps, geometry.dilation, strict=True))
    moves = (step * s for step, s in zip(steps, geometry.stride, strict=True))
    strides = (first, *gaps, *moves, last)
    return backend_of(x).window(x, (c, *kernel, *size, n), strides, 0)


def add_windows(seen, columns, kernel):
    """Adds columns (C, kh, kw, P, Q, N) to where the windows `seen` lie."""
    # Windows overlap, so a pixel may be in many columns; for one place in the kernel it is in one
    # at most.
    for cell in itertools.product(*map(range, kernel)):
        seen[(slice(None), *cell)] += columns[(slice(None), *cell)]


# --- the operations -------------------------------------------------------------------------------


class Im2Col(Op, fn="", node="Im2ColBackward0"):
    """The windows of images as columns: (N, C, H, W) → (N, C · kh · kw, P · Q); dx = fold(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, kernel, geometry):
        n, c, *size = x.shape
        ctx.save(size, kernel, geometry)
        places = window_count(size, kernel, geometry)
        if usable(x):
            return fused.im2col(x, kernel, places, geometry, images_first=True)
        columns = windows(images_last(xp, x, geometry), kernel, places, geometry)
        columns = columns.transpose(columns.ndim - 1, *range(columns.ndim - 1))
        columns = xp.array(columns, order="C")  # a view of x till here
        return columns.reshape(n, c * math.prod(kernel), math.prod(places))

    def backward(ctx, g):
        return col2im(g, *ctx.saved)


class Col2Im(Op, fn="", node="Col2ImBackward0"):
    """Columns added up where the windows lie: (N, C · kh · kw, P · Q) → (N, C, H, W); dx =
    unfold(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size, kernel, geometry):
        ctx.save(kernel, geometry)
        n, depth, _ = x.shape
        c = depth // math.prod(kernel)
        places = window_count(size, kernel, geometry)
        if usable(x):
            return fused.col2im(x, size, kernel, places, geometry, images_first=True)
        out = xp.zeros((c, *padded_size(size, geometry), n), x.dtype)
        columns = x.transpose(1, 2, 0).reshape(c, *kernel, *places, n)
        add_windows(windows(out, kernel, places, geometry), columns, kernel)
        return row_major(images_first(out, size, geometry))

    def backward(ctx, g):
        return im2col(g, *ctx.saved)


im2col = Im2Col.fn
col2im = Col2Im.fn


# --- the public functions -------------------------------------------------------------------------


def _two(name: str, function: str, value: Any, least: int) -> Sizes:
    """An int or two of them, none below `least`."""
    values = value if isinstance(value, (tuple, list)) else (value, value)
    if len(values) != 2:
        raise RuntimeError(
            f"{function}: It is expected {name} equals to 2 sizes (rows, columns), but got size "
            f"{len(values)}: {value}"
        )
    sizes = tuple(as_int(v, name) for v in values)
    if min(sizes) < least:
        raise RuntimeError(f"{function}: {name} should be at least {least}, but got {value}")
    return sizes


def _window(
    function: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Sizes, Geometry]:
    kernel = _two("kernel_size", function, kernel_size, 1)
    rows, columns = _two("padding", function, padding, 0)
    geometry = Geometry(
        _two("stride", function, stride, 1),
        ((rows, rows), (columns, columns)),
        _two("dilation", function, dilation, 1),
    )
    return kernel, geometry


def _require_float(function: str, x: Any) -> None:
    if not x.is_floating_point() and x.dtype.name != "bool":
        raise NotImplementedError(
            f"{function} is not implemented for {x.dtype!r}: convert with .float()"
        )


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """The windows of images as columns: (N, C, H, W) → (N, C · kh · kw, P · Q), or without N.

    There are P · Q windows, P = ⌊(H + 2 padding − dilation (kh − 1) − 1) / stride⌋ + 1, taken row
    by row. RuntimeError where none fits.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.unfold(tg.arange(6.).view(1, 1, 2, 3), 2)
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """
    require_tensors("unfold", input=input)
    shape = list(input.shape)
    if input.ndim == 2:
        raise IndexError(f"unfold: expected images (N, C, H, W) or (C, H, W), got {shape}")
    kernel, geometry = _window("unfold", kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {shape}"
        )
    places = window_count(shape[-2:], kernel, geometry)
    if min(places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(shape[-2:])}, kernel_size={kernel}, dilation="
            f"{geometry.dilation}, padding={padding}, calculated shape of the array of sliding "
            f"blocks as {places}, but its components must be at least one"
        )
    _require_float("unfold", input)
    if input.ndim == 3:
        return im2col(input.unsqueeze(0), kernel, geometry).squeeze(0)
    return im2col(input, kernel, geometry)


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Columns added up where their windows lie in images of `output_size` (H, W): (N, C · kh · kw,
    P · Q) → (N, C, H, W), or without N; the adjoint of `unfold`.

    RuntimeError where the columns are not those of such windows.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.fold(tg.ones(1, 4, 2), (2, 3), 2)
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    require_tensors("fold", input=input)
    size = _two("output_size", "fold", output_size, 0)
    kernel, geometry = _window("fold", kernel_size, dilation, padding, stride)
    shape = list(input.shape)
    if input.ndim not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {shape}"
        )
    if shape[-2] % math.prod(kernel):
        raise RuntimeError(
            f"Expected size of input's dimension {input.ndim - 2} to be divisible by the product "
            f"of kernel_size, but got {shape[-2]} and kernel_size={kernel}"
        )
    places = window_count(size, kernel, geometry)
    if min(places) < 1 or shape[-1] != math.prod(places):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={geometry.dilation}, "
            f"padding={padding}, stride={geometry.stride}, expected size of input's dimension "
            f"{input.ndim - 1} to match the calculated number of sliding blocks {places[0]} * "
            f"{places[1]}, but got {shape[-1]}"
        )
    _require_float("fold", input)
    if input.ndim == 2:
        return col2im(input.unsqueeze(0), size, kernel, geometry).squeeze(0)
    return col2im(input, size, kernel, geometry)
