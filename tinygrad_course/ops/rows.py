"""Whole slices of one dim by their places: index_select, index_add, index_copy, index_fill.

The places are a vector; each names one slice. Each one's derivative is another of them. Lesson 03.
"""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array
from ..dtype import number_for
from ..shape import wrap_dim
from .convert import memory_order
from .places import addresses, require_places, scatter_flat, scatter_rows, wrapped
from .registry import Op, function, method, with_out
from .scatter import scatter_into
from .slices import along


class IndexSelect(Op, fn=""):
    """The slices of x along `dim` that the places name; dx = zeros with g added to those."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim):
        ctx.save(x.shape, places, dim)
        return xp.take(x, places.reshape(-1), dim) if x.ndim else xp.array(x)

    def backward(ctx, g):
        shape, places, dim = ctx.saved
        return AddRows.fn(g, places, tuple(shape), dim), None


class AddRows(Op, fn=""):
    """Zeros of `shape` with the slices of x added at the places of `dim`; dx = index_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, shape, dim):
        ctx.save(places, dim)
        out = xp.zeros(shape, x.dtype)
        return scatter_rows(out, _rows(xp, places, shape, dim), x) if shape else out + x.sum()

    def backward(ctx, g):
        places, dim = ctx.saved
        return IndexSelect.fn(g, places, dim), None


def _rows(xp: Any, places: Array, shape: tuple[int, ...], dim: int) -> Array:
    """Which rows of the dims behind `dim` the places name."""
    return addresses(xp, shape[: dim + 1], [places.reshape(-1)], [dim])


def _flat(xp: Any, places: Array, shape: tuple[int, ...], dim: int) -> Array:
    """Which elements of all the places name."""
    return addresses(xp, shape or (1,), [places.reshape(-1)], [dim])


def _vector(index: Tensor, name: str, error: type[Exception] = IndexError) -> None:
    if index.ndim > 1:
        raise error(f"{name}(): Index is supposed to be a vector, not of shape {list(index.shape)}")


def require_long(index: Tensor, name: str, error: type[Exception] = RuntimeError) -> None:
    if index._array.dtype != "int64":
        raise error(f"{name}(): Expected a long tensor for index, but got {index.dtype!r}")


def _int_or_long(index: Tensor, name: str) -> None:
    if index._array.dtype not in ("int32", "int64"):
        raise RuntimeError(
            f"{name}(): Expected dtype int32 or int64 for index, got {index.dtype!r}"
        )


def _size(x: Tensor, dim: int) -> int:
    return x.shape[dim] if x.ndim else 1


@with_out
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `dim` that `index` (a vector of places) names, in that order.

    >>> import tinygrad_course as tg
    >>> index_select(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """
    dim = wrap_dim(dim, input.ndim)
    _vector(index, "index_select")
    _int_or_long(index, "index_select")
    if not input.ndim and index.numel() != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value")
    require_places(index._array, _size(input, dim), "index_select", IndexError)
    return IndexSelect.fn(input, index, dim)


# --- added, copied, filled ------------------------------------------------------------------------


class IndexAdd(Op, fn=""):
    """x with alpha · the slices of y added at the places of `dim`; dx = g, dy = alpha ·
    index_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, alpha, inplace=False):
        ctx.save(places, y.shape, dim, alpha)
        out = x if inplace else xp.array(x, order="C")
        y = y if alpha == 1 else (y * alpha).astype(x.dtype)
        if x.ndim and not inplace:
            return scatter_rows(out, _rows(xp, places, x.shape, dim), y)
        return scatter_flat(out, _flat(xp, places, x.shape, dim), y)

    def backward(ctx, g):
        places, shape, dim, alpha = ctx.saved
        gy = IndexSelect.fn(g, places, dim).reshape(shape) if ctx.needs[2] else None
        return g, None, gy if gy is None or alpha == 1 else gy * alpha


def _add_checks(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Any:
    """The dim, and alpha as a number of the tensor's type."""
    dim = wrap_dim(dim, self.ndim)
    _vector(index, "index_add")
    _int_or_long(index, "index_add")
    if source.dtype is not self.dtype:
        raise RuntimeError(
            f"index_add(): self ({self.dtype!r}) and source ({source.dtype!r}) must have the same "
            "scalar type"
        )
    if source.ndim == 0 and index.numel() != 1:
        raise IndexError(f"index_add(): {index.numel()} places for a source of a single element")
    expected = [index.numel() if d == dim else n for d, n in enumerate(self.shape)]
    if list(source.shape) != expected:
        raise RuntimeError(
            f"index_add(): source of shape {list(source.shape)} does not fit: for self "
            f"{list(self.shape)} and {index.numel()} places along dim {dim} it must be {expected}"
        )
    require_places(index._array, _size(self, dim), "index_add", IndexError)
    return {"dim": dim, "alpha": number_for(alpha, self.dtype)}


@with_out
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy of input with alpha · source[i] added to the slice of `dim` at index[i].

    >>> import tinygrad_course as tg
    >>> index_add(tg.zeros(3), 0, tg.tensor([0, 0]), tg.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    params = _add_checks(input, dim, index, source, alpha)
    return IndexAdd.fn(input, index, source, **params)


def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """As `index_add`, into this tensor."""
    params = _add_checks(self, dim, index, source, alpha)
    return scatter_into(IndexAdd, self, (index, source), params)


class IndexCopy(Op, fn=""):
    """x with the slices of y at the places of `dim`; dx = g with zeros there, dy =
    index_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, inplace=False):
        ctx.save(places, y.shape, dim)
        out = x if inplace else xp.array(x, order="C")
        slices, at = _slices(out), places.reshape(-1)
        sizes = (*slices.shape[:dim], at.size, *slices.shape[dim + 1 :])
        slices[along(dim, at)] = y.reshape(sizes)
        return out

    def backward(ctx, g):
        places, shape, dim = ctx.saved
        gx = _IndexFill.fn(g, places, dim, 0) if ctx.needs[0] else None
        gy = IndexSelect.fn(g, places, dim).reshape(shape) if ctx.needs[2] else None
        return gx, None, gy


def _slices(x: Array) -> Array:
    """`x`, in which a 0-dim array counts as a vector of one element."""
    return x if x.ndim else x.reshape(1)


def _copy_checks(self: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    dim = wrap_dim(dim, self.ndim)
    _vector(index, "index_copy")
    require_long(index, "index_copy")
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "index_copy(): self and source expected to have the same dtype, but got (self) "
            f"{self.dtype!r} and (source) {source.dtype!r}"
        )
    n = source.shape[dim] if source.ndim else 1
    slices = [[n for d, n in enumerate(v.shape) if d != dim] for v in (self, source)]
    if (source.ndim and self.ndim) and (source.ndim != self.ndim or slices[0] != slices[1]):
        error = IndexError if source.ndim != self.ndim else RuntimeError
        raise error(
            "index_copy(): Source/destination tensor must have same slice shapes. Destination "
            f"{list(self.shape)}, source {list(source.shape)}, along dim {dim}"
        )
    if index.numel() != n:
        raise IndexError(
            f"index_copy(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim) ({n})"
        )
    require_places(index._array, _size(self, dim), "index_copy", IndexError)
    return dim


@with_out
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of input with source[i] in the slice of `dim` at index[i].

    >>> import tinygrad_course as tg
    >>> index_copy(tg.zeros(3), 0, tg.tensor([2, 0]), tg.tensor([5., 6.]))
    tensor([6., 0., 5.])
    """
    return IndexCopy.fn(input, index, source, _copy_checks(input, dim, index, source))


def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """As `index_copy`, into this tensor."""
    return scatter_into(
        IndexCopy, self, (index, source), {"dim": _copy_checks(self, dim, index, source)}
    )


class _IndexFill(Op, fn="", node="IndexFillBackward0"):
    """x with a number in the slices of `dim` at the places; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim, value, inplace=False):
        ctx.save(places, dim)
        out = x if inplace else xp.array(x, order=memory_order(x))
        _slices(out)[along(dim, places.reshape(-1))] = xp.full((), value, x.dtype)
        return out

    def backward(ctx, g):
        places, dim = ctx.saved
        return _IndexFill.fn(g, places, dim, 0), None


class _IndexFillTensor(Op, fn="", node="IndexFillBackward1"):
    """x with a 0-dim y in the slices of `dim` at the places; dx = g with zeros there, dy = the sum
    of g there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, inplace=False):
        ctx.save(places, dim)
        out = x if inplace else xp.array(x, order=memory_order(x))
        _slices(out)[along(dim, places.reshape(-1))] = y
        return out

    def backward(ctx, g):
        places, dim = ctx.saved
        gx = _IndexFill.fn(g, places, dim, 0) if ctx.needs[0] else None
        return gx, None, IndexSelect.fn(g, places, dim).sum() if ctx.needs[2] else None


def _fill(self: Tensor, dim: int, index: Tensor, value: Any) -> tuple[type[Op], Any, Any]:
    """The operation for a fill with a number or a 0-dim tensor, its tensors and parameters."""
    dim = wrap_dim(dim, self.ndim)
    _vector(index, "index_fill", RuntimeError)
    require_long(index, "index_fill", IndexError)
    array = wrapped(index._array, _size(self, dim), f" for dimension {dim}")
    places = index if array is index._array else Tensor._wrap(array)
    if not isinstance(value, Tensor):
        return _IndexFill, (places,), {"dim": dim, "value": number_for(value, self.dtype)}
    if value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return _IndexFillTensor, (places, value.to(self.dtype)), {"dim": dim}


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of input with `value` (a number or 0-dim tensor) in the slices of `dim` at the places.

    >>> import tinygrad_course as tg
    >>> index_fill(tg.zeros(3), 0, tg.tensor([0, 2]), 7)
    tensor([7., 0., 7.])
    """
    op, others, params = _fill(input, dim, index, value)
    return op.fn(input, *others, **params)


def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """As `index_fill`, into this tensor."""
    op, others, params = _fill(self, dim, index, value)
    return scatter_into(op, self, others, params)


function(index_select, index_add, index_copy, index_fill)
method(index_select, index_add, index_copy, index_fill, index_add_, index_copy_, index_fill_)
