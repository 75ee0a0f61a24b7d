"""Sorting: rows in order, the largest k, the k-th.

Equal elements keep their order. nan counts as larger than everything. A gradient goes back to the
place its element came from. Lesson 03.
"""

from __future__ import annotations

from ..shape import as_int, wrap_dim
from . import return_types
from .convert import memory_order
from .dims import require_elements, row_major
from .extremes import Picked, pick
from .registry import Op, function, method, write_out
from .scatter import put_along


def _order(xp, x, dim, descending):
    """The places of the elements along `dim` in sorted order."""
    if not x.ndim:
        return xp.zeros((), "int64")
    if not descending:
        return xp.argsort(x, dim, kind="stable")
    # Sorted the other way round from the other end, equal elements keep their order.
    order = xp.argsort(xp.flip(x, dim), dim, kind="stable")
    return x.shape[dim] - 1 - xp.flip(order, dim)


class Sort(Op, fn=""):
    """The elements along `dim` in order, and their places; the gradient goes back to those."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, descending):
        places = _order(xp, x, dim, descending)
        values = xp.take_along_axis(x, places, dim) if x.ndim else x
        order = memory_order(x)  # both lie in memory as x does
        values, places = (_laid_out(xp, v, x, order) for v in (values, places))
        ctx.save(places, x.shape, dim)
        return values, places

    def backward(ctx, g, _):
        places, shape, dim = ctx.saved
        return put_along(g, places, shape, dim)


def _laid_out(xp, y, x, order):
    out = xp.empty_like(x, dtype=y.dtype, order=order)
    out[...] = y
    return out


def sort(input, dim=-1, descending=False, stable=False, *, out=None):
    """The elements along `dim` in ascending (or descending) order, and where each one was. Always
    stable: equal elements keep their order.

    >>> import tinygrad_course as tg
    >>> tg.sort(tg.tensor([3., 1., 2.])).indices
    tensor([1, 2, 0])
    """
    result = Sort.fn(input, wrap_dim(dim, input.ndim), descending)
    return write_out(return_types.sort(result), out)


def argsort(input, dim=-1, descending=False, stable=False):
    """Where the elements along `dim` are to be found in sorted order.

    >>> import tinygrad_course as tg
    >>> tg.argsort(tg.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    return sort(input, dim, descending)[1]


def msort(input, *, out=None):
    """The elements sorted along dim 0.

    >>> import tinygrad_course as tg
    >>> tg.msort(tg.tensor([3., 1., 2.]))
    tensor([1., 2., 3.])
    """
    return write_out(sort(input, 0)[0], out)


class Topk(Op, fn=""):
    """The k largest (or smallest) along `dim` in order, and their places; the gradient goes back to
    those."""

    __slots__ = ()

    def forward(ctx, xp, x, /, k, dim, largest):
        if not x.ndim:
            ctx.save(None, x.shape, dim)
            return x.copy(), xp.zeros((), "int64")
        n, window = x.shape[dim], (slice(None),) * dim
        if 0 < k < n:  # only those k are sorted
            chosen = xp.argpartition(x, n - k if largest else k - 1, dim)
            chosen = chosen[(*window, slice(n - k, None) if largest else slice(None, k))]
        else:
            chosen = _order(xp, x, dim, False)[(*window, slice(None, k))]
        order = _order(xp, xp.take_along_axis(x, chosen, dim), dim, largest)
        places = row_major(xp.take_along_axis(chosen, order, dim))
        ctx.save(places, x.shape, dim)
        return row_major(xp.take_along_axis(x, places, dim)), places

    def backward(ctx, g, _):
        places, shape, dim = ctx.saved
        return put_along(g, places, shape, dim) if shape else g


def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The `k` largest (or smallest) elements along `dim`, in order, and where they are.

    >>> import tinygrad_course as tg
    >>> tg.topk(tg.tensor([3., 9., 5.]), 2).indices
    tensor([1, 2])
    """
    k, dim = as_int(k, "k"), wrap_dim(dim, input.ndim)
    if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(
            f"selected index k out of range: {k} of {input.shape[dim] if input.ndim else 1} along "
            f"dim {dim}"
        )
    if input._array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU: convert with .int()")
    return write_out(return_types.topk(Topk.fn(input, k, dim, largest)), out)


class Kthvalue(Picked, fn=""):
    """The k-th smallest along `dim` and its place, where the gradient goes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, k, dim, keepdim):
        if not x.ndim:
            return pick(ctx, xp, x, xp.zeros((), "int64"), dim, keepdim)
        place = xp.argpartition(x, k - 1, dim)[(slice(None),) * dim + (slice(k - 1, k),)]
        return pick(ctx, xp, x, place, dim, keepdim)


def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """The `k`-th smallest element along `dim` (k = 1, 2, …), and where it is.

    >>> import tinygrad_course as tg
    >>> tg.kthvalue(tg.tensor([3., 9., 5.]), 2).values
    tensor(5.)
    """
    k, dim = as_int(k, "k"), wrap_dim(dim, input.ndim)
    if input.ndim:
        require_elements("kthvalue", input, dim, (dim,))
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: {k}")
    if input._array.dtype.kind == "b":
        raise NotImplementedError("kthvalue is not implemented for bool: convert with .int()")
    return write_out(return_types.kthvalue(Kthvalue.fn(input, k, dim, keepdim)), out)


function(sort, argsort, msort, topk, kthvalue)
method(sort, argsort, msort, topk, kthvalue)
