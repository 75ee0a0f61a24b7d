"""Sums and their like: one number out of many, over all dims or some.

`dim` is an int, several ints, or None for all; `keepdim=True` leaves reduced dims behind with size
1. Integers and bools are summed as int64. Lesson 03.
"""

from __future__ import annotations

from ..dtype import get_default_dtype
from ..shape import wrap_dim, wrap_dims
from .convert import to_dtype
from .dims import count, numpy_type, row_major, spread, sums
from .exponential import exp
from .permute import permute
from .registry import Op, function, method, write_out
from .scan import others


class Sum(Op, method=True):
    """Σ x over `dim`; dx = g, spread over the summed elements."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        dims = wrap_dims(dim, x.ndim)
        ctx.save(x.shape, x.dtype, dims, keepdim)
        return row_major(sums(xp, x, dims, keepdim, numpy_type(dtype, x)))

    def backward(ctx, g):
        shape, dtype, dims, keepdim = ctx.saved
        return to_dtype(spread(g, shape, dims, keepdim), dtype)


class Nansum(Op, method=True):
    """Σ x over `dim` without what is nan; dx = g where x is a number, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        dims = wrap_dims(dim, x.ndim)
        there = x == x
        ctx.save(there, x.dtype, dims, keepdim)
        x = xp.where(there, x, xp.zeros_like(x))
        return row_major(x.sum(dims, dtype=numpy_type(dtype, x), keepdims=keepdim))

    def backward(ctx, g):
        there, dtype, dims, keepdim = ctx.saved
        return to_dtype(spread(g, there.shape, dims, keepdim), dtype) * there


class Mean(Op, method=True):
    """Σ x / n over `dim`; dx = g / n, spread over the elements. RuntimeError for integers."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        if x.dtype.kind != "f" and dtype is None:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be a floating point "
                f"dtype, got {x.dtype}: convert "
                "with .float(), or pass dtype="
            )
        dims = wrap_dims(dim, x.ndim)
        n = count(x, dims)
        ctx.save(x.shape, x.dtype, dims, keepdim, n)
        total = sums(xp, x, dims, keepdim, numpy_type(dtype, x))
        return row_major(total / total.dtype.type(n))

    def backward(ctx, g):
        shape, dtype, dims, keepdim, n = ctx.saved
        return to_dtype(spread(g / n, shape, dims, keepdim), dtype)


def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The mean over `dim` of what is not nan. RuntimeError for integers.

    >>> import tinygrad_course as tg
    >>> nanmean(tg.tensor([1., float("nan"), 3.]))
    tensor(2.)
    """
    if not input.is_floating_point():
        raise RuntimeError(
            f"nanmean(): expected input to have floating point dtype but got {input.dtype!r}: "
            "convert with .float()"
        )
    there = total(input == input, dim, keepdim)
    return write_out(Nansum.fn(input, dim, keepdim, dtype=dtype) / there, out)


class Prod(Op, method=True):
    """Π x over one dim or all; dx = g · the product of the others."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        dims = wrap_dims(None if dim is None else wrap_dim(dim, x.ndim), x.ndim)
        ctx.save(x, dims, keepdim)
        return row_major(x.prod(dims, dtype=numpy_type(dtype, x), keepdims=keepdim))

    def backward(ctx, g):
        x, dims, keepdim = ctx.saved
        rest = to_dtype(_others(x, dims), g.dtype)
        return to_dtype(spread(g, x.shape, dims, keepdim) * rest, x.dtype)


def _others(x, dims):
    """For each element the product of the others along `dims`."""
    shape = tuple(x.shape)
    kept = tuple(i for i in range(len(shape)) if i not in dims)
    order = kept + tuple(dims)
    rows = permute(x, order).reshape((*(shape[i] for i in kept), count(x, dims)))
    products = others(rows, len(kept)).reshape(tuple(shape[i] for i in order))
    return permute(products, tuple(order.index(i) for i in range(len(shape))))


class LogSumExp(Op, fn="logsumexp", method=True, node="LogsumexpBackward0"):
    """ln Σ e^x over `dim`, shifted by the largest so that nothing overflows; dx = g·e^(x - y)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        if x.dtype.kind != "f":
            x = x.astype(get_default_dtype().numpy)
        top = x.max(dims, keepdims=True) if x.size else x.sum(dims, keepdims=True)
        top = xp.where(xp.isfinite(top), top, 0)
        out = xp.log(xp.exp(x - top).sum(dims, keepdims=True)) + top
        if not keepdim:
            out = out.reshape(tuple(n for i, n in enumerate(out.shape) if i not in dims))
        out = row_major(out)
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        x, out, dims, keepdim = ctx.saved
        return spread(g, x.shape, dims, keepdim) * exp(x - spread(out, x.shape, dims, keepdim))


class Trace(Op, method=True):
    """Σ x[i, i] of a matrix; dx = g on the diagonal, 0 elsewhere."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.ndim != 2:
            raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
        ctx.save(x.shape)
        return xp.asarray(xp.trace(x, dtype=numpy_type(None, x)))

    def backward(ctx, g):
        (shape,) = ctx.saved
        return OnDiagonal.fn(g, shape)


class OnDiagonal(Op, fn=""):
    """A matrix of `shape` with the number x on its diagonal; dx = trace(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape):
        out = xp.zeros(shape, x.dtype)
        places = xp.arange(min(shape))
        out[places, places] = x
        return out

    def backward(ctx, g):
        return Trace.fn(g)


# --- truth ----------------------------------------------------------------------------------------


class Any_(Op, fn="any", method=True, differentiable=False):
    """Whether any element over `dim` is nonzero."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _as_truth(x, (x != 0).any(wrap_dims(dim, x.ndim), keepdims=keepdim))


class All_(Op, fn="all", method=True, differentiable=False):
    """Whether all elements over `dim` are nonzero."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _as_truth(x, (x != 0).all(wrap_dims(dim, x.ndim), keepdims=keepdim))


def _as_truth(x, y):
    """bool, but uint8 for uint8, whose masks were bytes before there was a bool type."""
    y = row_major(y)
    return y.astype(x.dtype) if x.dtype == "uint8" else y


class CountNonzero(Op, fn="count_nonzero", method=True, differentiable=False):
    """How many elements over `dim` are nonzero."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None):
        return row_major((x != 0).sum(wrap_dims(dim, x.ndim), dtype="int64"))


mean, total = Mean.fn, Sum.fn

function(nanmean)
method(nanmean)
