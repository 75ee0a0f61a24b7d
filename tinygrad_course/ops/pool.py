"""Max pooling: the largest value of each window, and where it was.

All windows move together: for each cell (i, j) of the window one strided slice holds what every
window sees there, and a running maximum over these slices gives the output. The place of the
maximum is kept as the number of its cell; backward sends the gradient there. Knows NCHW arrays
only, layers are in nn. Lesson 11.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arguments import pair, require_tensors
from .conv import Pair
from .registry import FUNCTIONS, Op


class Windows(NamedTuple):
    """Windows on images (H, W): their cells (kh, kw), steps, frame, gaps, and how many there are
    (P, Q)."""

    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    size: Pair
    image: Pair

    @property
    def cells(self):
        """(number, (i, j)) of each cell of a window, row by row."""
        return [
            (cell, divmod(cell, self.kernel[1])) for cell in range(self.kernel[0] * self.kernel[1])
        ]

    @property
    def framed(self):
        """Rows and columns of an image with as much around it as the windows reach."""
        return tuple(
            max((count - 1) * s + d * (k - 1) + 1, n + p)
            for k, s, p, d, count, n in zip(*self, strict=True)
        )

    @property
    def inside(self):
        """The image's place in its frame, as an index."""
        (top, left), (h, w) = self.padding, self.image
        return slice(None), slice(None), slice(top, top + h), slice(left, left + w)

    def seen_by(self, x, i, j):
        """What cell (i, j) of every window sees: a view (N, C, P, Q) of the framed x."""
        (p, q), (down, right) = self.size, self.stride
        top, left = i * self.dilation[0], j * self.dilation[1]
        rows = slice(top, top + (p - 1) * down + 1, down)
        return x[:, :, rows, left : left + (q - 1) * right + 1 : right]


# --- the kernels ---------------------------------------------------------------------------------


def _framed(xp, x, windows, value):
    """x with `value` around it, as far as the windows reach."""
    if windows.framed == windows.image:
        return x
    framed = xp.full((*x.shape[:2], *windows.framed), value, x.dtype)
    framed[windows.inside] = x
    return framed


def _first_cells(xp, windows):
    """(P, Q): the first cell of each window that lies on the image and not on its frame."""
    rows, columns = (
        (xp.maximum(p - xp.arange(count) * s, 0) + d - 1) // d
        for s, p, d, count in zip(*windows[1:5], strict=True)
    )
    return rows[:, None] * windows.kernel[1] + columns


def _lowest(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _maxima(xp, x, windows):
    """The maximum of each window; nan wherever there is one."""
    x = _framed(xp, x, windows, _lowest(x.dtype))
    best = windows.seen_by(x, 0, 0).copy()
    for _, (i, j) in windows.cells[1:]:
        xp.maximum(best, windows.seen_by(x, i, j), out=best)
    return best


def _maxima_and_places(xp, x, windows, nans):
    """The maxima and the numbers of their cells: the first on ties; with `nans` the last nan."""
    small = np.uint8 if len(windows.cells) <= 256 else np.int32
    places = xp.zeros((*x.shape[:2], *windows.size), small)
    if windows.padding != (0, 0):
        # A window that holds nothing above the frame's value must still name a cell on the image.
        places[...] = _first_cells(xp, windows)
    x = _framed(xp, x, windows, _lowest(x.dtype))
    best = windows.seen_by(x, 0, 0).copy()
    for cell, (i, j) in windows.cells[1:]:
        seen = windows.seen_by(x, i, j)
        better = seen > best
        if nans:
            better |= xp.isnan(seen)
        xp.maximum(best, seen, out=best)
        # Cell numbers only grow, so `maximum` writes one over an older one; a masked write would
        # be ten times slower.
        xp.maximum(places, better * small(cell), out=places)
    return best, places


def _max_pool(xp, x, windows):
    floats = x.dtype.kind == "f"
    if xp is not np:  # to look for a nan on the host would make the device wait
        return _maxima_and_places(xp, x, windows, nans=floats)
    y, places = _maxima_and_places(xp, x, windows, nans=False)
    if floats and y.size and np.isnan(y.max()):
        return _maxima_and_places(xp, x, windows, nans=True)
    return y, places


def _plane_indices(xp, places, windows):
    """Where the maxima are in the flattened H × W plane of their image."""
    (p, q), (down, right) = windows.size, windows.stride
    places = places.astype(np.int64)
    i, j = places // windows.kernel[1], places % windows.kernel[1]
    rows = i * windows.dilation[0] + xp.arange(p)[:, None] * down - windows.padding[0]
    columns = j * windows.dilation[1] + xp.arange(q) * right - windows.padding[1]
    return rows * windows.image[1] + columns


def _scatter(xp, g, places, windows):
    """(N, C, P, Q) → (N, C, H, W): each gradient goes to the cell its maximum came from."""
    framed = xp.zeros((*g.shape[:2], *windows.framed), g.dtype)
    # A product costs a twentieth of a masked copy on the CPU, but makes nan of infinity times 0.
    product = xp is np and bool(np.isfinite(g).all())
    apart = all(
        s >= d * (k - 1) + 1
        for k, s, d in zip(windows.kernel, windows.stride, windows.dilation, strict=True)
    )
    for cell, (i, j) in windows.cells:
        chosen = places == cell
        there = windows.seen_by(framed, i, j)
        if product and apart:  # the usual case: nothing to add to
            xp.multiply(g, chosen, out=there)
        else:
            there += g * chosen if product else xp.where(chosen, g, g.dtype.type(0))
    return xp.ascontiguousarray(framed[windows.inside])


def _gather(xp, x, places, windows):
    """(N, C, H, W) → (N, C, P, Q): what is at the cell each maximum came from; undoes
    `_scatter`."""
    x = _framed(xp, x, windows, 0)
    y = xp.zeros(places.shape, x.dtype)
    for cell, (i, j) in windows.cells:
        y += xp.where(places == cell, windows.seen_by(x, i, j), x.dtype.type(0))
    return y


# --- the operations ------------------------------------------------------------------------------


class MaxPool2d(Op, fn="", node="MaxPool2DWithIndicesBackward0"):
    """y[n, c, p, q] = max of x[n, c] over window (p, q); dx = g at the cell of the maximum."""

    __slots__ = ()

    def forward(ctx, xp, x, /, windows, return_indices):
        if not (return_indices or ctx.needs[0]):
            return _maxima(xp, x, windows)
        y, places = _max_pool(xp, x, windows)
        ctx.save(places, windows)
        return (y, _plane_indices(xp, places, windows)) if return_indices else y

    def backward(ctx, g, _=None):
        places, windows = ctx.saved
        return max_pool_scatter(g, places, windows)


class MaxPoolScatter(Op, fn="", node="MaxPool2DWithIndicesBackwardBackward0"):
    """Each g to the cell of its window that `places` names; the adjoint of `MaxPoolGather`."""

    __slots__ = ()

    def forward(ctx, xp, g, places, /, windows):
        ctx.save(places, windows)
        return _scatter(xp, g, places, windows)

    def backward(ctx, h):
        places, windows = ctx.saved
        return max_pool_gather(h, places, windows), None


class MaxPoolGather(Op, fn="", node="MaxPool2DGatherBackward0"):
    """From each window the value in the cell that `places` names; adjoint of `MaxPoolScatter`."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, windows):
        ctx.save(places, windows)
        return _gather(xp, x, places, windows)

    def backward(ctx, h):
        places, windows = ctx.saved
        return max_pool_scatter(h, places, windows), None


max_pool = MaxPool2d.fn
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
    require_tensors("max_pool2d", input=input)
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
    windows = Windows(kernel, stride, padding, dilation, (rows, columns), (shape[2], shape[3]))
    return max_pool(input, windows, return_indices)


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
