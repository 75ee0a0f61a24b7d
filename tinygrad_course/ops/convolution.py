"""Convolution as matrix products: im2col.

Every window of the input becomes a column, and one matrix product with the flattened kernels gives
all outputs at once, for sequences, images and volumes alike. The three maps of a convolution (to
the output, back to the input, back to the weight) are operations of their own and each other's
derivatives, so gradients of any order are convolutions again. Knows batches of arrays only; what
users call is in `conv`. Lesson 10.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .. import kernels
from ..kernels import columns as fused
from .columns import (
    add_windows,
    images_first,
    images_framed,
    images_last,
    padded_size,
    plain,
    window_count,
    windows,
    write_images,
)
from .dims import row_major
from .registry import Op
from .tiles import in_tiles, summed, tall, tiles

# Columns are made for a few output rows at a time, as many as stay in the second-level cache, and
# made again for the weight's gradient: cheaper than to keep 25 times the input.
_COLUMN_BYTES = 600_000
# Rows so long are copied as they lie, image by image, where no image has too many. That makes the
# columns dearer and what becomes of them cheaper: a third of the time for 32 kernels of 3 x 3 on
# 28 x 28. Otherwise a row is one of all images at once.
_LONG_ROW, _MOST_DEPTH, _IMAGE_BYTES = 20, 6, 2_000_000
# On the way back each row block costs kh × kw additions whatever its size, so blocks are larger.
_INPUT_GRAD_BYTES = 4_000_000


# --- the kernels ---------------------------------------------------------------------------------
#
# Shapes are written for images; a sequence has one spatial dim, a volume three.


def _row_blocks(xp, seen, budget):
    """Slices of the rows of windows, or of their images, so that the columns of those in a slice
    take `budget` bytes; on a GPU all rows, in one launch."""
    rows = seen.shape[seen.ndim // 2]
    row_bytes = seen.size // max(rows, 1) * seen.itemsize
    step = max(1, min(rows, budget // max(row_bytes, 1))) if xp is np else max(rows, 1)
    return [slice(i, min(i + step, rows)) for i in range(0, rows, step)]


def _matrices(x, groups, dims=1):
    """An array as a matrix per group, whose rows are the first `dims` dims, a group's share."""
    rows = math.prod(x.shape[:dims]) // groups
    return x.reshape(groups, rows, math.prod(x.shape[dims:]))


def _outer_or_product(a, b):
    """a @ b, where channels that meet no other make it an outer product: BLAS takes ten times as
    long for that."""
    return a * b if a.shape[-1] == 1 else a @ b


def _by_images(rows_of_w, places, itemsize):
    """Whether to make the columns of one image after the other, in the order of its memory."""
    groups, outputs, depth = rows_of_w.shape
    image_bytes = groups * depth * math.prod(places) * itemsize
    shallow = depth <= _MOST_DEPTH * outputs
    return places[-1] >= _LONG_ROW and shallow and image_bytes <= _IMAGE_BYTES


def _of_rows(seen, rows):
    """The windows (C, kh, kw, P, Q, N) that are in some output rows; of (C, kh, kw, N, P, Q) those
    in some images."""
    return seen[(*(slice(None),) * (seen.ndim // 2), rows)]


def _columns(xp, seen, rows, groups):
    """The windows in some output rows, a column each: (groups, C / groups · kh · kw, P Q N)."""
    columns = xp.ascontiguousarray(_of_rows(seen, rows))
    depth = math.prod(columns.shape[: columns.ndim // 2])
    return columns.reshape(groups, depth // groups, math.prod(columns.shape[columns.ndim // 2 :]))


def _in_single(kernel):
    """float16 in float32: 11 bits are too few for sums."""

    def compute(xp, x, y, *rest):
        if x.dtype == "float16":
            return kernel(xp, x.astype("float32"), y.astype("float32"), *rest).astype("float16")
        return kernel(xp, x, y, *rest)

    return compute


@_in_single
def _output(xp, x, w, b, places, geometry):
    if kernels.usable(x, w):
        return fused.output(x, w, b, places, geometry)
    n, o, groups = len(x), len(w), geometry.groups
    m, kernel, *there = tiles(xp, n, o // groups, w.shape[2:], places, geometry)
    rows_of_w = _matrices(tall(xp, w, m), groups, 2)
    y = xp.empty((n, o, *places), x.dtype)
    y_tiles = in_tiles(y, m)
    if xp is np and _by_images(rows_of_w, there[0], x.itemsize):
        seen = np.moveaxis(windows(images_framed(x, geometry), kernel, *there), -1, x.ndim - 1)
        by_row = None if b is None else np.repeat(b, m).reshape(groups, -1, 1)
        parts = y_tiles.transpose(1, 2, 0, *range(3, y_tiles.ndim))
        for images in _row_blocks(xp, seen, _COLUMN_BYTES):
            product = rows_of_w @ _columns(xp, seen, images, groups)
            if by_row is not None:
                product += by_row
            part = parts[:, :, images]
            part[...] = product.reshape(part.shape)
        return y
    seen = windows(images_last(xp, x, geometry), kernel, *there)
    for rows in _row_blocks(xp, seen, _COLUMN_BYTES):
        part = y_tiles[:, :, :, rows]
        product = rows_of_w @ _columns(xp, seen, rows, groups)
        # Back in N, C, H, W order while the block is still in the cache.
        write_images(xp, product.reshape(*part.shape[1:], n), b, part)
    return y


@_in_single
def _input_gradient(xp, g, w, b, size, geometry):
    if kernels.usable(g, w):
        return fused.input_gradient(g, w, b, size, geometry)
    padding = _turned_padding(w, size, g.shape[2:], geometry)
    if padding is not None:
        w = _turned(xp, w, geometry.groups)
        return _output(xp, g, w, b, size, geometry._replace(padding=padding))
    groups = geometry.groups
    n, o, *places = g.shape
    m, kernel, *there = tiles(xp, n, o // groups, w.shape[2:], places, geometry)
    g = images_last(xp, in_tiles(g, m), plain(g.ndim - 1))
    columns_of_w = _matrices(tall(xp, w, m), groups, 2).transpose(0, 2, 1)
    x = xp.zeros((w.shape[1] * groups, *padded_size(size, geometry), n), g.dtype)
    seen = windows(x, kernel, *there)
    for rows in _row_blocks(xp, seen, _INPUT_GRAD_BYTES):
        columns = _outer_or_product(columns_of_w, _matrices(g[:, :, rows], groups, 2))
        part = _of_rows(seen, rows)
        add_windows(part, columns.reshape(part.shape), kernel)
    x = row_major(images_first(x, size, geometry))
    if b is not None:
        x += _per_channel(b, x)
    return x


def _turned(xp, w, groups):
    """The kernels turned by 180°, from outputs to inputs: (O, C / groups, kh, kw) → (C, O / groups,
    kh, kw)."""
    o, c, *kernel = w.shape
    w = w.reshape(groups, o // groups, c, *kernel).swapaxes(1, 2)
    w = w.reshape(groups * c, o // groups, *kernel)
    # In memory, too: BLAS takes no matrices that run backwards.
    return xp.ascontiguousarray(xp.flip(w, tuple(range(2, w.ndim))))


def _turned_padding(w, size, places, geometry):
    """What must be around g for its convolution with the turned kernels to be the gradient of the
    input; None where there is nothing that would do, or it is dearer than to add up columns."""
    o, c, *kernel = w.shape
    stride, around, dilation, groups = geometry
    if max(stride) > 1 or o * math.prod(size) > 1.5 * c * groups * math.prod(places):
        return None
    each = zip(size, kernel, places, around, dilation, strict=True)
    padding = tuple([(d * (k - 1) - first, n - p + first) for n, k, p, (first, _), d in each])
    return padding if min(map(min, padding)) >= 0 else None


@_in_single
def _weight_gradient(xp, x, g, kernel, geometry):
    if kernels.usable(x, g):
        return fused.weight_gradient(x, g, kernel, geometry)
    groups = geometry.groups
    n, o, *places = g.shape
    m, tall_kernel, *there = tiles(xp, n, o // groups, kernel, places, geometry)
    x = images_last(xp, x, geometry)
    g = images_last(xp, in_tiles(g, m), plain(g.ndim - 1))
    seen = windows(x, tall_kernel, *there)
    depth = len(x) // groups * math.prod(tall_kernel)
    # Made transposed: BLAS is twice as fast with the long side first.
    w = xp.zeros((groups, depth, o // groups * m), g.dtype)
    for rows in _row_blocks(xp, seen, _COLUMN_BYTES):
        columns = _columns(xp, seen, rows, groups)
        w += columns @ _matrices(g[:, :, rows], groups, 2).transpose(0, 2, 1)
    w = w.transpose(0, 2, 1).reshape(o, m, len(x) // groups, *tall_kernel)
    return row_major(summed(w, kernel[0]))


def _per_channel(b, y):
    """A number per channel, so that it broadcasts to (N, C, H, W)."""
    return b.reshape(-1, *(1,) * (y.ndim - 2))


def reference_convolution(xp, x, w, geometry):
    """The definition: y[n, o, p, q] = Σ_{c, i, j} w[o, c, i, j] x[n, c, p s + i d, q s + j d].

    Twice as slow as the kernel that is used; there to be read, and for the tests to compare with.
    """
    o, c, *kernel = w.shape
    places = window_count(x.shape[2:], kernel, geometry)
    x = xp.pad(x, ((0, 0), (0, 0), *geometry.padding))
    y = xp.zeros((x.shape[0], o, *places), x.dtype)
    per_group = o // geometry.groups
    for group in range(geometry.groups):
        channels = slice(group * c, (group + 1) * c)
        outputs = slice(group * per_group, (group + 1) * per_group)
        for cell in itertools.product(*map(range, kernel)):
            # What this cell of the kernel sees, in every window.
            each = zip(cell, places, geometry.stride, geometry.dilation, strict=True)
            there = (slice(i * d, i * d + (p - 1) * s + 1, s) for i, p, s, d in each)
            seen = x[(slice(None), channels, *there)]
            product = xp.tensordot(w[(outputs, slice(None), *cell)], seen, ((1,), (1,)))
            y[:, outputs] += product.swapaxes(0, 1)
    return y


# --- the operations: each is the derivative of the other two -------------------------------------


class Convolution(Op, fn=""):
    """y = x ⋆ w + b: (N, C, H, W), (O, C/groups, kh, kw), (O,) → (N, O, P, Q), for P × Q =
    `places`."""

    __slots__ = ()

    def forward(ctx, xp, x, w, b, /, places, geometry):
        ctx.save(x, w, geometry)
        return _output(xp, x, w, b, places, geometry)

    def backward(ctx, g):
        x, w, geometry = ctx.saved
        gx = conv_input(g, w, None, x.shape[2:], geometry) if ctx.needs[0] else None
        gw = conv_weight(x, g, w.shape[2:], geometry) if ctx.needs[1] else None
        return gx, gw, _bias_gradient(g) if ctx.needs[2] else None


class ConvTranspose(Op, fn="", node="ConvolutionBackward0"):
    """x = wᵀ g + b, where wᵀ is the adjoint of x → x ⋆ w: (N, O, P, Q), (O, C/groups, kh, kw), (C,)
    → (N, C, H, W), for H × W = `size`."""

    __slots__ = ()

    def forward(ctx, xp, g, w, b, /, size, geometry):
        ctx.save(g, w, geometry)
        return _input_gradient(xp, g, w, b, size, geometry)

    def backward(ctx, h):
        g, w, geometry = ctx.saved
        gg = convolution(h, w, None, g.shape[2:], geometry) if ctx.needs[0] else None
        gw = conv_weight(h, g, w.shape[2:], geometry) if ctx.needs[1] else None
        return gg, gw, _bias_gradient(h) if ctx.needs[2] else None


class ConvInput(ConvTranspose, fn="", node="ConvolutionBackwardBackward0"):
    """The same as the gradient of the input of a convolution."""

    __slots__ = ()
    forward = ConvTranspose.forward


class ConvWeight(Op, fn="", node="ConvolutionBackwardBackward0"):
    """w = Σ x g over windows, the adjoint of w → x ⋆ w: (N, C, H, W), (N, O, P, Q) → (O, C/groups,
    kh, kw), for kh × kw = `kernel`."""

    __slots__ = ()

    def forward(ctx, xp, x, g, /, kernel, geometry):
        ctx.save(x, g, geometry)
        return _weight_gradient(xp, x, g, kernel, geometry)

    def backward(ctx, h):
        x, g, geometry = ctx.saved
        gx = conv_input(g, h, None, x.shape[2:], geometry) if ctx.needs[0] else None
        gg = convolution(x, h, None, g.shape[2:], geometry) if ctx.needs[1] else None
        return gx, gg


convolution = Convolution.fn
conv_transpose = ConvTranspose.fn
conv_input = ConvInput.fn
conv_weight = ConvWeight.fn


def _bias_gradient(g):
    return g.sum((0, *range(2, g.ndim)))
