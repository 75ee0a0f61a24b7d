"""Views with strides of their own: diagonals, sliding windows, any window; and writing into views.

These are no slices: their strides are computed here. `look` stands for a view, a function that
shows part of an array or a Tensor without copying: `x.select_scatter(y, …)` and its kin write y
where it looks, into a copy of x. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from ..autograd.mode import mode
from ..autograd.variable import Tensor
from ..device import Array, backend_of
from ..shape import as_int, size_args, unfolded, wrap_dim
from .inplace import ViewThroughBase
from .registry import Op, function, method
from .slices import Put, along
from .viewing import View, as_view, looking_inplace
from .window import Geometry

Look = Callable[[Any], Any]

# --- diagonals, windows, any window ---------------------------------------------------------------


class Diagonal(View, fn=""):
    """The elements x[i, i + offset] of two dims, as a last dim; dx = zeros with g on the
    diagonal."""

    __slots__ = ()

    def forward(ctx, xp, x, /, where):
        offset, dim1, dim2 = where
        ctx.save(x.shape, *where)
        rows, columns = x.shape[dim1], x.shape[dim2]
        down, right = max(-offset, 0), max(offset, 0)
        length = max(min(rows - down, columns - right), 0)
        others = [d for d in range(x.ndim) if d not in (dim1, dim2)]
        shape = (*(x.shape[d] for d in others), length)
        strides = (*(x.strides[d] for d in others), x.strides[dim1] + x.strides[dim2])
        first = [slice(None)] * x.ndim
        if length:
            first[dim1], first[dim2] = slice(down, None), slice(right, None)
        return backend_of(x).window(x[tuple(first)], shape, strides)

    def backward(ctx, g):
        shape, *where = ctx.saved
        return Put.fn(g, shape, partial(diagonal_at, *where))


def diagonal_at(offset: int, dim1: int, dim2: int, x: Any) -> Any:
    return Diagonal.fn(x, (offset, dim1, dim2))


def diagonal_dims(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dims, as a last dim: above the main one for an `offset` > 0, below for
    < 0.

    >>> import tinygrad_course as tg
    >>> diagonal(tg.tensor([[1, 2], [3, 4]])), diagonal(tg.tensor([[1, 2], [3, 4]]), 1)
    (tensor([1, 4]), tensor([2]))
    """
    dims = diagonal_dims(dim1, dim2, input.ndim)
    return Diagonal.fn(input, (as_int(offset, "offset"), *dims))


class Unfold(View, fn=""):
    """Windows of x along one dim; dx = g added back where each window lay."""

    __slots__ = ()

    def forward(ctx, xp, x, /, where):
        dim, size, step = where
        shape = x.shape
        ctx.save(shape, dim, size, step)
        if not shape:
            return backend_of(x).window(x, (size,), (x.itemsize,))
        sizes, strides = unfolded(shape, x.strides, dim, size, step)
        return backend_of(x).window(x, sizes, strides)

    def backward(ctx, g):
        return Fold.fn(g, *ctx.saved)


class Fold(Op, fn=""):
    """Zeros of `shape` with windows along `dim` added where unfold saw them; dx = unfold(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape, dim, size, step):
        ctx.save(dim, size, step)
        out = xp.zeros(shape, x.dtype)
        if not shape:
            return out + x.sum()
        span = x.shape[dim] * step
        for i in range(size):  # the i-th elements of all windows are one slice with that step
            out[along(dim, slice(i, i + span, step))] += x[..., i]
        return out

    def backward(ctx, g):
        return Unfold.fn(g, ctx.saved)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` along `dimension`, `step` apart, as a view with a last dim of that
    size.

    >>> import tinygrad_course as tg
    >>> tg.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    shape = self._array.shape
    dim = wrap_dim(dimension, len(shape))
    size, step = as_int(size, "size"), as_int(step, "step")
    n = shape[dim] if shape else 1
    if size < 0 or size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return Unfold.fn(self, (dim, size, step))


def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Any window on the tensor's storage: sizes, strides and offset in elements.

    >>> import tinygrad_course as tg
    >>> as_strided(tg.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    offset = (
        input.storage_offset()
        if storage_offset is None
        else as_int(storage_offset, "storage_offset")
    )
    window = Geometry(size_args((size,)), size_args((stride,), "stride"), offset)
    buffer = input.storage()._buffer
    if len(window.shape) != len(window.stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {list(window.shape)} and "
            f"{list(window.stride)}"
        )
    if min((*window.shape, *window.stride, offset)) < 0:
        raise RuntimeError(
            "as_strided: sizes, strides and offset must not be negative: "
            f"{list(window.shape)}, {list(window.stride)}, {offset}"
        )
    if window.end() > buffer.size:
        raise RuntimeError(
            f"setStorage: sizes {list(window.shape)}, strides {list(window.stride)}, storage "
            f"offset {offset} need a storage of {window.end()} elements, and this one has "
            f"{buffer.size}"
        )
    step = buffer.itemsize
    array = backend_of(buffer).window(
        buffer, window.shape, tuple(s * step for s in window.stride), offset * step
    )
    origin = "" if mode.enabled else "no_grad"
    edge = input._grad_edge()
    if edge is None:
        return as_view(array, input, None, origin)
    node = ViewThroughBase().start((edge,))
    node.base, node.window = Geometry.of(input), window
    node.outputs = ((array.shape, array.dtype),)
    return as_view(array, input, (node, 0), origin)


# --- written there --------------------------------------------------------------------------------


class Written(Op, fn=""):
    """x with y written where `look` looks; dx = g with zeros there, dy = look(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, look):
        ctx.save(look)
        out = _copied(x)
        look(out)[...] = y
        return out

    def backward(ctx, g):
        (look,) = ctx.saved
        return Blanked.fn(g, look) if ctx.needs[0] else None, look(g) if ctx.needs[1] else None


class _SelectScatter(Written, fn="", node="SelectScatterBackward0"):
    """The same for one place of a dim."""

    __slots__ = ()
    forward = Written.forward


class _SliceScatter(Written, fn="", node="SliceScatterBackward0"):
    """The same for a slice of a dim."""

    __slots__ = ()
    forward = Written.forward


class _DiagonalScatter(Written, fn="", node="DiagonalScatterBackward0"):
    """The same for a diagonal."""

    __slots__ = ()
    forward = Written.forward


class Blanked(Op, fn=""):
    """x with zeros where `look` looks; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, look):
        ctx.save(look)
        out = xp.array(x)
        look(out)[...] = 0
        return out

    def backward(ctx, g):
        (look,) = ctx.saved
        return Blanked.fn(g, look)


def _copied(x: Array) -> Array:
    """A copy with the very strides of `x`, gaps included, unless its elements overlap."""
    backend = backend_of(x)
    if any(s == 0 and n > 1 for n, s in zip(x.shape, x.strides, strict=True)) or not x.size:
        return backend.xp.array(x, order="C")
    end = Geometry(x.shape, tuple(s // x.itemsize for s in x.strides), 0).end()
    out = backend.window(backend.xp.zeros(end, x.dtype), x.shape, x.strides)
    out[...] = x
    return out


def _written(op: type[Written], x: Tensor, y: Tensor, look: Look) -> Tensor:
    place = look(x._array)
    if place.shape != y.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(y.shape)}, "
            f"slice size = {list(place.shape)}"
        )
    return op.fn(x, y.to(x.dtype), look)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with `src` written at `index` of `dim`.

    >>> import tinygrad_course as tg
    >>> select_scatter(tg.zeros(2, 2), tg.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    dim = wrap_dim(dim, input.ndim)
    n, index = input.shape[dim], as_int(index, "index")
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    return _written(_SelectScatter, input, src, itemgetter(along(dim, index)))


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy with `src` written at the places start, start + step, … of `dim`.

    >>> import tinygrad_course as tg
    >>> slice_scatter(tg.zeros(4), tg.ones(2), 0, 0, 4, 2)
    tensor([1., 0., 1., 0.])
    """
    dim = wrap_dim(dim, input.ndim)
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, got {step}")
    return _written(_SliceScatter, input, src, itemgetter(along(dim, slice(start, end, step))))


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy with `src` written on a diagonal.

    >>> import tinygrad_course as tg
    >>> diagonal_scatter(tg.zeros(2, 2), tg.tensor([1., 2.]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    dims = diagonal_dims(dim1, dim2, input.ndim)
    return _written(_DiagonalScatter, input, src, partial(diagonal_at, offset, *dims))


function(diagonal, as_strided, select_scatter, slice_scatter, diagonal_scatter)
method(diagonal, as_strided, unfold, select_scatter, slice_scatter, diagonal_scatter)
method(as_strided_=looking_inplace(as_strided))
