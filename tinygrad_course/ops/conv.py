"""Convolution as matrix products: im2col.

Every window of the input becomes a column, and one matrix product with the flattened kernels gives
all outputs at once. The three maps of a convolution (to the output, back to the input, back to the
weight) are operations of their own and each other's derivatives, so gradients of any order are
convolutions again. Knows NCHW arrays only, layers are in nn. Lesson 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..device import backend_of
from ..shape import as_int
from .arguments import pair, require_tensors
from .registry import FUNCTIONS, Op

# Inside a kernel the memory order is C, H, W, N: then every copy and every product runs over (width
# × images) contiguous floats instead of one row of one image. Columns are made for a few output
# rows at a time, as many as stay in the second-level cache, and made again for the weight's
# gradient: cheaper than to keep 25 times the input.
_COLUMN_BYTES = 600_000
# On the way back each row block costs kh × kw additions whatever its size, so blocks are larger.
_INPUT_GRAD_BYTES = 4_000_000

Pair = tuple[int, int]
Padding = tuple[Pair, Pair]  # (top, bottom), (left, right)


class Geometry(NamedTuple):
    """How the kernels lie on the images: steps, zeros around, gaps, and separate bundles of
    channels."""

    stride: Pair = (1, 1)
    padding: Padding = ((0, 0), (0, 0))
    dilation: Pair = (1, 1)
    groups: int = 1


PLAIN = Geometry()


# --- the kernels ---------------------------------------------------------------------------------


def _images_last(xp, x, padding=PLAIN.padding):
    """(N, C, H, W) as contiguous (C, H, W, N), with zeros around each image."""
    (top, bottom), (left, right) = padding
    n, c, h, w = x.shape
    if not (top or bottom or left or right):
        return xp.ascontiguousarray(x.transpose(1, 2, 3, 0))
    padded = xp.zeros((c, h + top + bottom, w + left + right, n), x.dtype)
    padded[:, top : top + h, left : left + w] = x.transpose(1, 2, 3, 0)
    return padded


def _windows(x, kernel, size, geometry):
    """The windows of a contiguous (C, H, W, N) array as a view (C, kh, kw, P, Q, N): no copy."""
    (down, right), (gap_down, gap_right) = geometry.stride, geometry.dilation
    c, _, _, n = x.shape
    sc, sh, sw, sn = x.strides
    strides = (sc, sh * gap_down, sw * gap_right, sh * down, sw * right, sn)
    return backend_of(x).window(x, (c, *kernel, *size, n), strides, 0)


def _row_blocks(xp, rows, row_bytes, budget):
    """Slices of output rows whose columns take `budget` bytes; on a GPU all rows, in one launch."""
    step = max(1, min(rows, budget // max(row_bytes, 1))) if xp is np else max(rows, 1)
    return [slice(i, min(i + step, rows)) for i in range(0, rows, step)]


def _matrices(x, groups):
    """(C, …) as one matrix (C / groups, all the rest) per group."""
    return x.reshape(groups, len(x) // groups, math.prod(x.shape[1:]))


def _columns(xp, windows, rows, groups):
    """The windows in some output rows, a column each: (groups, C / groups · kh · kw, P Q N)."""
    columns = xp.ascontiguousarray(windows[:, :, :, rows])
    depth = math.prod(columns.shape[:3])
    return columns.reshape(groups, depth // groups, math.prod(columns.shape[3:]))


def _row_major(xp, x):
    """x in row-major memory, with the strides of such an array in dims of size 1 as well."""
    return xp.ascontiguousarray(x).reshape(-1).reshape(x.shape)


def _output(xp, x, w, b, geometry):
    o, c, *kernel = w.shape
    groups = geometry.groups
    x = _images_last(xp, x, geometry.padding)
    n = x.shape[3]
    p, q = size = output_size(x.shape[1:3], kernel, geometry)
    windows = _windows(x, kernel, size, geometry)
    depth = c * math.prod(kernel)
    kernels = w.reshape(groups, o // groups, depth)
    y = xp.empty((n, o, p, q), x.dtype)
    for rows in _row_blocks(xp, p, groups * depth * q * n * x.itemsize, _COLUMN_BYTES):
        product = kernels @ _columns(xp, windows, rows, groups)
        # Back in N, C, H, W order while the block is still in the cache.
        product = product.reshape(o, rows.stop - rows.start, q, n).transpose(3, 0, 1, 2)
        if b is None:
            y[:, :, rows] = product
        else:
            xp.add(product, b.reshape(-1, 1, 1), out=y[:, :, rows])
    return y


def _input_gradient(xp, g, w, size, geometry):
    o, c, kh, kw = w.shape
    n, _, p, q = g.shape
    h, width = size
    (top, bottom), (left, right) = geometry.padding
    groups = geometry.groups
    depth = c * kh * kw
    g = _images_last(xp, g)
    kernels = w.reshape(groups, o // groups, depth).transpose(0, 2, 1)
    x = xp.zeros((c * groups, h + top + bottom, width + left + right, n), g.dtype)
    windows = _windows(x, (kh, kw), (p, q), geometry)
    for rows in _row_blocks(xp, p, groups * depth * q * n * g.itemsize, _INPUT_GRAD_BYTES):
        columns = kernels @ _matrices(g[:, rows], groups)
        columns = columns.reshape(windows[:, :, :, rows].shape)
        # Windows overlap, so a cell may be in many columns; for one (i, j) it is in one at most.
        for i in range(kh):
            for j in range(kw):
                windows[:, i, j, rows] += columns[:, i, j]
    inside = x[:, top : top + h, left : left + width]
    return _row_major(xp, inside.transpose(3, 0, 1, 2))


def _weight_gradient(xp, x, g, kernel, geometry):
    o, p, q = g.shape[1:]
    groups = geometry.groups
    x = _images_last(xp, x, geometry.padding)
    g = _images_last(xp, g)
    c, _, _, n = x.shape
    windows = _windows(x, kernel, (p, q), geometry)
    depth = c // groups * math.prod(kernel)
    # Made transposed: BLAS is twice as fast with the long side first.
    w = xp.zeros((groups, depth, o // groups), g.dtype)
    for rows in _row_blocks(xp, p, groups * depth * q * n * x.itemsize, _COLUMN_BYTES):
        columns = _columns(xp, windows, rows, groups)
        w += columns @ _matrices(g[:, rows], groups).transpose(0, 2, 1)
    return _row_major(xp, w.transpose(0, 2, 1)).reshape(o, c // groups, *kernel)


def reference_conv2d(xp, x, w, geometry=PLAIN):
    """The definition: y[n, o, p, q] = Σ_{c, i, j} w[o, c, i, j] x[n, c, p s + i d, q s + j d].

    Twice as slow as the kernel that is used; there to be read, and for the tests to compare with.
    """
    o, c, *kernel = w.shape
    (down, right), (gap_down, gap_right) = geometry.stride, geometry.dilation
    x = xp.pad(x, ((0, 0), (0, 0), *geometry.padding))
    p, q = output_size(x.shape[2:], kernel, geometry)
    y = xp.zeros((x.shape[0], o, p, q), x.dtype)
    per_group = o // geometry.groups
    for group in range(geometry.groups):
        channels = slice(group * c, (group + 1) * c)
        outputs = slice(group * per_group, (group + 1) * per_group)
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                # What kernel cell (i, j) sees, in every window.
                rows = slice(i * gap_down, i * gap_down + (p - 1) * down + 1, down)
                columns = slice(j * gap_right, j * gap_right + (q - 1) * right + 1, right)
                seen = x[:, channels, rows, columns]
                product = xp.tensordot(seen, w[outputs, :, i, j], ((1,), (1,)))
                y[:, outputs] += product.transpose(0, 3, 1, 2)
    return y


# --- the operations: each is the derivative of the other two -------------------------------------


class Conv2d(Op, fn="", node="ConvolutionBackward0"):
    """y = x ⋆ w + b: (N, C, H, W), (O, C/groups, kh, kw), (O,) → (N, O, P, Q)."""

    __slots__ = ()

    def forward(ctx, xp, x, w, b=None, /, geometry=PLAIN):
        ctx.save(x, w, geometry)
        return _output(xp, x, w, b, geometry)

    def backward(ctx, g):
        x, w, geometry = ctx.saved
        gx = conv_input(g, w, x.shape[2:], geometry) if ctx.needs[0] else None
        gw = conv_weight(x, g, w.shape[2:], geometry) if ctx.needs[1] else None
        gb = g.sum((0, 2, 3)) if ctx.needs[2] else None
        return gx, gw, gb


class ConvInput(Op, fn="", node="ConvolutionBackwardBackward0"):
    """x = wᵀ g, the adjoint of x → x ⋆ w (a transposed convolution): (N, O, P, Q) → (N, C, H,
    W)."""

    __slots__ = ()

    def forward(ctx, xp, g, w, /, size, geometry):
        ctx.save(g, w, geometry)
        return _input_gradient(xp, g, w, size, geometry)

    def backward(ctx, h):
        g, w, geometry = ctx.saved
        gg = convolution(h, w, None, geometry) if ctx.needs[0] else None
        gw = conv_weight(h, g, w.shape[2:], geometry) if ctx.needs[1] else None
        return gg, gw


class ConvWeight(Op, fn="", node="ConvolutionBackwardBackward0"):
    """w = Σ x g over windows, the adjoint of w → x ⋆ w: (N, C, H, W), (N, O, P, Q) → w's shape."""

    __slots__ = ()

    def forward(ctx, xp, x, g, /, kernel, geometry):
        ctx.save(x, g, geometry)
        return _weight_gradient(xp, x, g, kernel, geometry)

    def backward(ctx, h):
        x, g, geometry = ctx.saved
        gx = conv_input(g, h, x.shape[2:], geometry) if ctx.needs[0] else None
        gg = convolution(x, h, None, geometry) if ctx.needs[1] else None
        return gx, gg


convolution = Conv2d.fn
conv_input = ConvInput.fn
conv_weight = ConvWeight.fn


# --- the public function -------------------------------------------------------------------------


def output_size(size: Sequence[int], kernel: Sequence[int], geometry: Geometry) -> Pair:
    """Places of a kernel on an already padded image: ⌊(H − d (k − 1) − 1) / s⌋ + 1 each way."""
    rows, columns = (
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(size, kernel, geometry.stride, geometry.dilation, strict=True)
    )
    return rows, columns


def _padding(padding: Any, kernel: Pair, stride: Pair, dilation: Pair) -> Padding:
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise RuntimeError(
                "conv2d: padding='same' is not supported for strided convolutions "
                f"(stride={stride}), whose output is smaller than their input in any case; give "
                "the padding as a number"
            )
        rows, columns = (d * (k - 1) for k, d in zip(kernel, dilation, strict=True))
        return (rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)
    if isinstance(padding, str):
        raise RuntimeError(
            f"conv2d: padding={padding!r} is neither 'same' nor 'valid' nor a number"
        )
    rows, columns = pair(padding, "padding", "conv2d")
    if rows < 0 or columns < 0:
        raise RuntimeError(f"conv2d: negative padding is not supported, got {padding}")
    return (rows, rows), (columns, columns)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slides kernels over images: y[n, o, p, q] = bias[o] + Σ_{c, i, j} weight[o, c, i, j] ·
    input[n, c, p s + i d, q s + j d].

    `input` (N, C, H, W) or (C, H, W), `weight` (O, C / groups, kh, kw), `bias` (O) give (N, O, P,
    Q), with P = ⌊(H + 2 padding − dilation (kh − 1) − 1) / stride⌋ + 1. `padding` may be 'same' or
    'valid'. Channels in different groups do not meet. RuntimeError when the shapes or dtypes do not
    fit each other.

    >>> import tinygrad_course as tg
    >>> tg.conv2d(tg.ones(1, 1, 3, 3), tg.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    require_tensors("conv2d", input=input, weight=weight, bias=bias)
    shape, weights = tuple(input.shape), tuple(weight.shape)
    if len(weights) != 4:
        raise RuntimeError(
            "conv2d: expected a weight of 4 dims (out, in / groups, rows, columns), got "
            f"{list(weights)}"
        )
    if len(shape) == 3:
        batch = input.unsqueeze(0)
        return conv2d(batch, weight, bias, stride, padding, dilation, groups).squeeze(0)
    kernel = (weights[2], weights[3])
    stride = pair(stride, "stride", "conv2d")
    dilation = pair(dilation, "dilation", "conv2d")
    padding = _padding(padding, kernel, stride, dilation)
    geometry = Geometry(stride, padding, dilation, as_int(groups, "groups"))
    _check(input, weight, bias, geometry)
    return convolution(input, weight, bias, geometry)


def _check(x: Any, w: Any, b: Any, geometry: Geometry) -> None:
    shape, weights = list(x.shape), list(w.shape)
    stride, padding, dilation, groups = geometry
    if len(shape) != 4:
        raise RuntimeError(
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: "
            f"{shape}"
        )
    for name, value in (("stride", min(stride)), ("dilation", min(dilation)), ("groups", groups)):
        if value < 1:
            raise RuntimeError(f"conv2d: non-positive {name} is not supported, got {value}")
    if weights[0] < groups or weights[0] % groups:
        raise RuntimeError(
            f"conv2d: weight {weights} has {weights[0]} output channels, which groups={groups} "
            "does not divide"
        )
    if shape[1] != weights[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {weights}, expected input{shape} to have "
            f"{weights[1] * groups} channels, but got {shape[1]} channels instead"
        )
    if b is not None and list(b.shape) != weights[:1]:
        raise RuntimeError(
            f"Given weight of size {weights}, expected bias to be 1-dimensional with {weights[0]} "
            f"elements, but got bias of size {list(b.shape)} instead"
        )
    padded = [n + sum(p) for n, p in zip(shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(weights[2:], dilation, strict=True)]
    if min(weights[2:]) < 1 or padded[0] < reach[0] or padded[1] < reach[1]:
        raise RuntimeError(
            f"conv2d: a kernel of {weights[2]} x {weights[3]} that spans {reach[0]} x {reach[1]} "
            f"with dilation={dilation} does not fit in the padded input of {padded[0]} x "
            f"{padded[1]}"
        )
    if x.dtype.name == "bool":
        raise NotImplementedError("conv2d is not implemented for bool: convert with .float()")
    for name, other in (("weight", w), ("bias", b)):
        if other is not None and other.dtype != x.dtype:
            raise RuntimeError(
                f"Input type ({x.dtype}) and {name} type ({other.dtype}) should be the same: "
                "convert one with .to()"
            )


FUNCTIONS["conv2d"] = conv2d
