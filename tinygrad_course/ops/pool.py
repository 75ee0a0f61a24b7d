"""Max pooling: the largest value of each window, and where it was.

All windows move together: for each cell (i, j) of the window one strided slice holds what every
window sees there, and a running maximum over these slices gives the output. The place of the
maximum is kept as the number of its cell; backward sends the gradient there. Knows NCHW arrays
only, layers are in nn. Lesson 11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .conv import Pair, pair
from .registry import FUNCTIONS, Op


def _cell(x: Any, i: int, j: int, stride: Pair, dilation: Pair, size: Pair) -> Any:
    """What cell (i, j) of every window sees: a view (N, C, P, Q) of x (N, C, H, W)."""
    top, left = i * dilation[0], j * dilation[1]
    bottom, right = top + (size[0] - 1) * stride[0] + 1, left + (size[1] - 1) * stride[1] + 1
    return x[:, :, top : bottom : stride[0], left : right : stride[1]]


def _spans(kernel: Pair, stride: Pair, dilation: Pair, size: Pair) -> tuple[int, int]:
    """Rows and columns from the first window's first cell to the last window's last."""
    rows, columns = (
        (n - 1) * s + d * (k - 1) + 1
        for k, s, d, n in zip(kernel, stride, dilation, size, strict=True)
    )
    return rows, columns


def _framed(xp, x, padding: Pair, spans: tuple[int, int], value: Any):
    """x with `value` around it, as far as the windows reach."""
    n, c, h, w = x.shape
    rows, columns = max(spans[0], h + padding[0]), max(spans[1], w + padding[1])
    if (rows, columns) == (h, w):
        return x
    framed = xp.full((n, c, rows, columns), value, x.dtype)
    framed[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w] = x
    return framed


def _first_cells(xp, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, size: Pair):
    """(P, Q): the first cell of each window that lies on the image and not on its frame."""
    rows, columns = (
        xp.maximum(p - xp.arange(n) * s, 0) + d - 1
        for p, s, d, n in zip(padding, stride, dilation, size, strict=True)
    )
    return rows[:, None] // dilation[0] * kernel[1] + columns // dilation[1]


def _maxima(
    xp, x, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, size: Pair, nans: bool
):
    """The maxima and the numbers of their cells: the first cell on ties; with `nans`, the last nan
    of a window."""
    small = np.uint8 if kernel[0] * kernel[1] <= 256 else np.int32
    places = xp.zeros((*x.shape[:2], *size), small)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    x = _framed(xp, x, padding, _spans(kernel, stride, dilation, size), lowest)
    if padding != (0, 0):
        # A window that holds nothing above the frame's value must still name a cell on the image.
        places[...] = _first_cells(xp, kernel, stride, padding, dilation, size)
    best = _cell(x, 0, 0, stride, dilation, size)
    for cell in range(1, kernel[0] * kernel[1]):
        seen = _cell(x, *divmod(cell, kernel[1]), stride, dilation, size)
        better = seen > best
        if nans:
            better |= xp.isnan(seen)
        best = xp.maximum(best, seen)
        # Cell numbers only grow, so `maximum` writes one over an older one; a masked write would be
        # ten times slower.
        xp.maximum(places, better * small(cell), out=places)
    return best, places


def _max_pool(xp, x, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, size: Pair):
    geometry = (kernel, stride, padding, dilation, size)
    floats = x.dtype.kind == "f"
    if xp is not np:  # to look for a nan on the host would make the device wait
        y, places = _maxima(xp, x, *geometry, nans=floats)
    else:
        y, places = _maxima(xp, x, *geometry, nans=False)
        if floats and y.size and np.isnan(y.max()):
            y, places = _maxima(xp, x, *geometry, nans=True)
    # A window of one cell: the maximum is the view itself.
    return (xp.ascontiguousarray(y) if kernel != (1, 1) else y.copy()), places


def _plane_indices(
    xp, places, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, width: int
):
    """Where the maxima are in the flattened H × W plane of their image."""
    places = places.astype(np.int64)
    p, q = places.shape[2:]
    rows = places // kernel[1] * dilation[0] + xp.arange(p)[:, None] * stride[0] - padding[0]
    columns = places % kernel[1] * dilation[1] + xp.arange(q) * stride[1] - padding[1]
    return rows * width + columns


def _scatter(xp, g, places, image: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair):
    """(N, C, P, Q) → (N, C, H, W): each gradient goes to the cell its maximum came from."""
    size = g.shape[2:]
    spans = _spans(kernel, stride, dilation, size)
    rows, columns = max(spans[0], image[0] + padding[0]), max(spans[1], image[1] + padding[1])
    framed = xp.zeros((*g.shape[:2], rows, columns), g.dtype)
    # A product costs a twentieth of a masked copy on the CPU, but makes nan of infinity times 0.
    product = xp is np and bool(np.isfinite(g).all())
    apart = stride[0] >= kernel[0] and stride[1] >= kernel[1] and dilation == (1, 1)
    for cell in range(kernel[0] * kernel[1]):
        chosen = places == cell
        there = _cell(framed, *divmod(cell, kernel[1]), stride, dilation, size)
        if product and apart:  # the usual case: nothing to add to
            xp.multiply(g, chosen, out=there)
        else:
            there += g * chosen if product else xp.where(chosen, g, g.dtype.type(0))
    inside = framed[:, :, padding[0] : padding[0] + image[0], padding[1] : padding[1] + image[1]]
    return xp.ascontiguousarray(inside)


def _gather(xp, x, places, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair):
    """(N, C, H, W) → (N, C, P, Q): the value at the cell each maximum came from; the adjoint of
    `_scatter`."""
    size = places.shape[2:]
    x = _framed(xp, x, padding, _spans(kernel, stride, dilation, size), x.dtype.type(0))
    y = xp.zeros(places.shape, x.dtype)
    for cell in range(kernel[0] * kernel[1]):
        seen = _cell(x, *divmod(cell, kernel[1]), stride, dilation, size)
        y += xp.where(places == cell, seen, x.dtype.type(0))
    return y


# --- the operations ------------------------------------------------------------------------------


class MaxPool2d(Op, fn="", node="MaxPool2DWithIndicesBackward0"):
    """y[n, c, p, q] = max over the window at (p, q) of x[n, c]; dx = g at the cell of the maximum,
    else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, kernel, stride, padding, dilation, size, return_indices):
        geometry = (kernel, stride, padding, dilation)
        y, places = _max_pool(xp, x, *geometry, size)
        ctx.save(places, tuple(x.shape[2:]), *geometry)
        if not return_indices:
            return y
        return y, _plane_indices(xp, places, *geometry, x.shape[3])

    def backward(ctx, g, _=None):
        places, *geometry = ctx.saved
        return max_pool_scatter(g, places, *geometry)


class MaxPoolScatter(Op, fn="", node="MaxPool2DScatterBackward0"):
    """Each g[n, c, p, q] to the cell of its window that `places` names; the adjoint of
    `MaxPoolGather`."""

    __slots__ = ()

    def forward(ctx, xp, g, places, /, image, kernel, stride, padding, dilation):
        geometry = (kernel, stride, padding, dilation)
        ctx.save(places, image, *geometry)
        return _scatter(xp, g, places, image, *geometry)

    def backward(ctx, h):
        places, image, *geometry = ctx.saved
        return max_pool_gather(h, places, image, *geometry), None


class MaxPoolGather(Op, fn="", node="MaxPool2DGatherBackward0"):
    """From each window the value in the cell that `places` names; the adjoint of
    `MaxPoolScatter`."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, image, kernel, stride, padding, dilation):
        geometry = (kernel, stride, padding, dilation)
        ctx.save(places, image, *geometry)
        return _gather(xp, x, places, *geometry)

    def backward(ctx, h):
        places, image, *geometry = ctx.saved
        return max_pool_scatter(h, places, image, *geometry), None


max_pool_scatter = MaxPoolScatter.fn
max_pool_gather = MaxPoolGather.fn


# --- the public function -------------------------------------------------------------------------


def _pooled(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Windows along one direction; with `ceil_mode` also a last one that hangs over the end, if it
    starts on the image."""
    left = n + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return left // stride + 1
    count = -(-left // stride) + 1
    return count - 1 if (count - 1) * stride >= n + padding else count


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window: y[n, c, p, q] = max_{i, j} input[n, c, p s + i d, q s + j d].

    `input` (N, C, H, W) or (C, H, W) gives (N, C, P, Q), with P = ⌊(H + 2 padding − dilation (k −
    1) − 1) / stride⌋ + 1, or ⌈…⌉ with `ceil_mode`. `stride` is `kernel_size` unless given; padding
    counts as −∞. With `return_indices` also the places of the maxima in the flattened H × W plane
    (int64). RuntimeError for sizes that do not fit.

    >>> import tinygrad_course as tg
    >>> tg.max_pool2d(tg.tensor([[[1., 5., 2., 0.], [3., 4., 1., 7.]]]), 2)
    tensor([[[5., 7.]]])
    """
    shape = tuple(input.shape)
    if len(shape) == 3:
        pooled = max_pool2d(
            input.unsqueeze(0), kernel_size, stride, padding, dilation, ceil_mode, return_indices
        )
        return tuple(p.squeeze(0) for p in pooled) if return_indices else pooled.squeeze(0)
    kernel = pair(kernel_size, "kernel_size", "max_pool2d")
    stride = kernel if stride is None or stride == [] else pair(stride, "stride", "max_pool2d")
    padding = pair(padding, "padding", "max_pool2d")
    dilation = pair(dilation, "dilation", "max_pool2d")
    _check(input, shape, kernel, stride, padding, dilation)
    rows, columns = (
        _pooled(*sizes, ceil_mode)
        for sizes in zip(shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    if rows < 1 or columns < 1:
        raise RuntimeError(
            f"max_pool2d: windows of {kernel} with dilation={dilation} do not fit in images of "
            f"{shape[2:]} with padding={padding}: the output size would be {(rows, columns)}"
        )
    size = (rows, columns)
    return _max_pool2d(input, kernel, stride, padding, dilation, size, return_indices)


_max_pool2d = MaxPool2d.fn


def _check(
    x: Any, shape: tuple[int, ...], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> None:
    if len(shape) != 4 or 0 in shape[1:]:
        raise RuntimeError(
            "max_pool2d: expected images (N, C, H, W) or (C, H, W) of at least one element, got "
            f"{list(shape)}"
        )
    if x.dtype.name == "bool":
        raise NotImplementedError(
            "max_pool2d is not implemented for bool: convert with .to(tg.uint8)"
        )
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if min(value) < 1:
            raise RuntimeError(f"max_pool2d: {name} should be greater than zero, got {value}")
    if min(padding) < 0:
        raise RuntimeError(f"max_pool2d: padding must be non-negative, got {padding}")
    for p, k, d in zip(padding, kernel, dilation, strict=True):
        if 2 * p > d * (k - 1) + 1:
            raise RuntimeError(
                "max_pool2d: padding should be at most half of the window's reach, but got "
                f"padding={p} for kernel_size={k} and dilation={d}"
            )


FUNCTIONS["max_pool2d"] = max_pool2d
