"""Max pooling: the largest value of each window, and where it was.

A running maximum over the cells of all windows (`windows`) gives the output. The place of the
maximum is kept as the number of its cell; backward sends the gradient there. Sequences are images
of a single row. Knows images of 2 and 3 dims, layers are in nn. Lesson 11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import max_pool as fused
from ..kernels import usable
from .arguments import require_tensors
from .registry import Op, function
from .windows import windows_on

# --- the kernels ---------------------------------------------------------------------------------


def _first_cells(xp, windows):
    """(P, Q): the first cell of each window that lies on the image and not on its frame."""
    cells = xp.zeros((), np.int64)
    for k, s, p, d, count in zip(*windows[:5], strict=True):
        first = (xp.maximum(p - xp.arange(count) * s, 0) + d - 1) // d
        cells = cells[..., None] * k + first
    return cells


def _shape(x, sizes):
    return (*x.shape[: -len(sizes)], *sizes)


def _lowest(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _maxima(xp, x, windows):
    """The maximum of each window; nan wherever there is one.

    The largest of each window's rows, dim by dim: whole rows are read at once, and only what is
    left of them number by number.
    """
    x = windows.frame(xp, x, _lowest(x.dtype))
    for dim, (k, s, _, d, count, _) in enumerate(zip(*windows, strict=True)):
        along = (slice(None),) * (x.ndim - len(windows.size) + dim)
        x, *others = [x[(*along, slice(i * d, i * d + (count - 1) * s + 1, s))] for i in range(k)]
        if others:
            x = xp.maximum(x, others[0], out=xp.empty(x.shape, x.dtype))
        for other in others[1:]:
            xp.maximum(x, other, out=x)
    return x if x.flags.owndata else x.copy()  # a view where windows have one cell


def _maxima_and_places(xp, x, windows, nans):
    """The maxima and the numbers of their cells: the first on ties; with `nans` the last nan."""
    (_, first), *others = windows.cells
    small = np.uint8 if len(others) < 256 else np.int32
    places = xp.zeros(_shape(x, windows.size), small)
    if any(windows.padding):
        # A window that holds nothing above the frame's value must still name a cell on the image.
        places[...] = _first_cells(xp, windows)
    x = windows.frame(xp, x, _lowest(x.dtype))
    best = windows.seen_by(x, first).copy()
    for cell, place in others:
        seen = windows.seen_by(x, place).copy()  # every other number takes twice as long to read
        better = seen > best
        if nans:
            better |= xp.isnan(seen)
        xp.maximum(best, seen, out=best)
        # Cell numbers only grow, so `maximum` writes one over an older one; a masked write would
        # be ten times slower.
        xp.maximum(places, better * small(cell), out=places)
    return best, places


def _max_pool(xp, x, windows):
    if usable(x):
        return fused.maxima(x, windows)
    floats = x.dtype.kind == "f"
    if xp is not np:  # to look for a nan on the host would make the device wait
        return _maxima_and_places(xp, x, windows, nans=floats)
    y, places = _maxima_and_places(xp, x, windows, nans=False)
    if floats and y.size and np.isnan(y.max()):
        return _maxima_and_places(xp, x, windows, nans=True)
    return y, places


def _upright(vector, dim, dims):
    """A vector as an array that extends along `dim` of the last `dims`."""
    return vector.reshape((-1,) + (1,) * (dims - dim - 1))


def _plane_indices(xp, places, windows):
    """Where the maxima are in the flattened H × W plane of their image."""
    left, indices, step = places.astype(np.int64), 0, 1
    dims = len(windows.image)
    for dim, (k, s, p, d, count, n) in reversed(list(enumerate(zip(*windows, strict=True)))):
        left, cell = xp.divmod(left, k)
        indices = indices + (cell * d + _upright(xp.arange(count) * s - p, dim, dims)) * step
        step *= n
    return indices


def _scatter(xp, g, places, windows):
    """(N, C, P, Q) → (N, C, H, W): each gradient goes to the cell its maximum came from."""
    if usable(g) and places.dtype == "int32":
        return fused.scatter(g, places, windows)
    framed = xp.zeros(_shape(g, windows.framed), g.dtype)
    # A product costs a twentieth of a masked copy on the CPU, but makes nan of infinity times 0.
    product = xp is np and bool(np.isfinite(g).all())
    apart = all(
        s >= d * (k - 1) + 1
        for k, s, d in zip(windows.kernel, windows.stride, windows.dilation, strict=True)
    )
    for cell, place in windows.cells:
        chosen = places == cell
        there = windows.seen_by(framed, place)
        if product and apart:  # the usual case: nothing to add to
            xp.multiply(g, chosen, out=there)
        else:
            there += g * chosen if product else xp.where(chosen, g, g.dtype.type(0))
    return xp.ascontiguousarray(framed[windows.inside])


def _gather(xp, x, places, windows):
    """(N, C, H, W) → (N, C, P, Q): what is at the cell each maximum came from; undoes
    `_scatter`."""
    x = windows.frame(xp, x, 0)
    y = xp.zeros(places.shape, x.dtype)
    for cell, place in windows.cells:
        y += xp.where(places == cell, windows.seen_by(x, place), x.dtype.type(0))
    return y


# --- the operations ------------------------------------------------------------------------------


class MaxPool2d(Op, fn="", node="MaxPool2DWithIndicesBackward0"):
    """y[n, c, p, q] = max of x[n, c] over window (p, q); dx = g at the cell of the maximum."""

    __slots__ = ()

    def forward(ctx, xp, x, /, windows, return_indices=False):
        if not (return_indices or ctx.needs[0] or usable(x)):
            return _maxima(xp, x, windows)
        y, places = _max_pool(xp, x, windows)
        ctx.save(places, windows)
        return (y, _plane_indices(xp, places, windows)) if return_indices else y

    def backward(ctx, g, _=None):
        places, windows = ctx.saved
        return MaxPoolScatter.fn(g, places, windows)


class MaxPool3d(MaxPool2d, fn="", node="MaxPool3DWithIndicesBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = MaxPool2d.forward


class MaxPoolScatter(Op, fn="", node="MaxPool2DWithIndicesBackwardBackward0"):
    """Each g to the cell of its window that `places` names; the adjoint of `MaxPoolGather`."""

    __slots__ = ()

    def forward(ctx, xp, g, places, /, windows):
        ctx.save(places, windows)
        return _scatter(xp, g, places, windows)

    def backward(ctx, h):
        places, windows = ctx.saved
        return MaxPoolGather.fn(h, places, windows), None


class MaxPoolGather(Op, fn="", node="MaxPool2DGatherBackward0"):
    """From each window the value in the cell that `places` names; adjoint of `MaxPoolScatter`."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, windows):
        ctx.save(places, windows)
        return _gather(xp, x, places, windows)

    def backward(ctx, h):
        places, windows = ctx.saved
        return MaxPoolScatter.fn(h, places, windows), None


# --- the public functions ------------------------------------------------------------------------


def _refuse(function: str, x: Any) -> None:
    raise NotImplementedError(
        f"{function} is not implemented for {x.dtype!r}: convert with .float()"
    )


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """The maximum of each window of a sequence: y[n, c, p] = max_i input[n, c, p s + i d].

    `input` (N, C, L) or (C, L) of floats gives (N, C, P); the arguments are those of `max_pool2d`.

    >>> import tinygrad_course as tg
    >>> tg.max_pool1d(tg.tensor([[1., 5., 2., 0.]]), 2)
    tensor([[5., 2.]])
    """
    require_tensors("max_pool1d", input=input)
    if not input.is_floating_point():
        _refuse("max_pool1d", input)
    return _max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, False)


def max_pool1d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """The maxima of `max_pool1d`, and their places in the sequence (int64).

    >>> import tinygrad_course as tg
    >>> tg.max_pool1d_with_indices(tg.tensor([[1, 5, 2, 0]]), 2)
    (tensor([[5, 2]]), tensor([[1, 2]]))
    """
    return _max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _max_pool1d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """A sequence is an image of one row: its windows are 1 cell high."""
    windows = windows_on("max_pool1d", x, 1, kernel_size, stride, padding, dilation, ceil_mode)
    images = x.unsqueeze(-2)
    pooled = _pooled("max_pool1d", MaxPool2d, images, windows.in_a_row, return_indices)
    return tuple([p.squeeze(-2) for p in pooled]) if return_indices else pooled.squeeze(-2)


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
    arguments = (kernel_size, stride, padding, dilation, ceil_mode)
    windows = windows_on("max_pool2d", input, 2, *arguments)
    return _pooled("max_pool2d", MaxPool2d, input, windows, return_indices)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of a volume: (N, C, D, H, W) or (C, D, H, W) → (N, C, O, P, Q).

    The arguments are those of `max_pool2d`; the places count in the flattened D × H × W volume.

    >>> import tinygrad_course as tg
    >>> tg.max_pool3d(tg.arange(8).reshape(1, 2, 2, 2), 2)
    tensor([[[[7]]]])
    """
    arguments = (kernel_size, stride, padding, dilation, ceil_mode)
    windows = windows_on("max_pool3d", input, 3, *arguments)
    return _pooled("max_pool3d", MaxPool3d, input, windows, return_indices)


def _pooled(function, op, x, windows, return_indices):
    if x.dtype.name == "bool":
        _refuse(function, x)
    return op.fn(x, windows, return_indices)


function(max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool3d)
