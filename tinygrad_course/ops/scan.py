"""Scans: running sums, products and extremes along one dim, each place holding the result so far.

A running sum's derivative is a running sum from the other end. Where an array library cannot
accumulate, it is done by doubling: after steps of 1, 2, 4, … places, each a single operation on the
whole array, every place has seen all before it. Lesson 03.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..shape import wrap_dim
from . import return_types
from .convert import to_dtype
from .dims import numpy_type, row_major
from .elementwise import where
from .exponential import exp, log
from .inplace import change
from .join import cat
from .pointwise import in_single
from .registry import Op, function, method, write_out
from .scatter import put_along
from .slices import along, narrow
from .views import unsqueeze

# The logarithm of what is nothing beside any number, but finite, so that it can be subtracted.
NOTHING = -3e4


def _in_type(x, dtype):
    """`x` in the type in which it is added up: `dtype`, or int64 for integers and bools."""
    return to_dtype(x, numpy_type(dtype, x._array))


def _from_end(xp, scan, x, dim, reverse):
    """scan(x, dim), with `reverse` from the last place to the first."""
    if not reverse:
        return scan(x, dim)
    return xp.ascontiguousarray(xp.flip(scan(xp.flip(x, dim), dim), dim))


def _dim_for_inplace(self, dim, dtype):
    if dtype is not None and dtype is not self.dtype:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {self.dtype!r} and output tensor dtype "
            f"{dtype!r} should match"
        )
    return wrap_dim(dim, self.ndim)


# --- sums -----------------------------------------------------------------------------------------


class Cumsum(Op, fn=""):
    """y[i] = x[0] + … + x[i] along `dim`, or x[i] + … + x[n - 1]; dx = the same of g from the other
    end."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, reverse=False):
        ctx.save(dim, reverse)
        if not x.ndim:
            return x.copy()
        y = _from_end(xp, lambda x, dim: xp.cumsum(x, dim, dtype=x.dtype), x, dim, reverse)
        return row_major(y)

    def backward(ctx, g):
        dim, reverse = ctx.saved
        return Cumsum.fn(g, dim, not reverse)


def cumsum(input, dim, *, dtype=None, out=None):
    """The running sum along `dim`: out[i] = input[0] + … + input[i]; integers as int64.

    >>> import tinygrad_course as tg
    >>> tg.cumsum(tg.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    return write_out(Cumsum.fn(_in_type(input, dtype), wrap_dim(dim, input.ndim)), out)


def cumsum_(self, dim, *, dtype=None):
    """As `cumsum`, into this tensor."""
    return change(Cumsum, self, (), {"dim": _dim_for_inplace(self, dim, dtype)})


# --- products -------------------------------------------------------------------------------------


class Cumprod(Op, fn=""):
    """y[i] = x[0]·…·x[i] along `dim`, or x[i]·…·x[n - 1]; dx = the sum, over all y that x is part
    of, of g·y / x."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, reverse=False):
        y = x.copy()
        if x.ndim:
            y = _from_end(xp, lambda x, dim: xp.cumprod(x, dim, dtype=x.dtype), x, dim, reverse)
        y = row_major(y)
        ctx.save(x, y, dim, reverse)
        return y

    def backward(ctx, g):
        x, y, dim, reverse = ctx.saved
        if not x.shape:
            return g
        if bool((x == 0).any()):
            return _without_division(g, x, dim, reverse)
        return Cumsum.fn(g * y, dim, not reverse) / x


def _without_division(g, x, dim, reverse):
    """The gradient of a running product where factors are 0: what stands before x[i] times the sum
    of g·(what stands after it), which from the far end grows by r := g[i] + x[i + 1]·r."""
    xs, gs = ([_place(v, dim, i) for i in range(x.shape[dim])] for v in (x, g))
    if reverse:
        xs, gs = xs[::-1], gs[::-1]
    before, product = [], xs[0] * 0 + 1
    for factor in xs:
        before.append(product)
        product = product * factor
    found, after = [], None
    for factor, ahead, gradient in zip(xs[::-1], before[::-1], gs[::-1], strict=True):
        after = gradient if after is None else gradient + after
        found.append(ahead * after)
        after = after * factor
    return cat([unsqueeze(v, dim) for v in (found if reverse else found[::-1])], dim)


def _place(x, dim, i):
    return x[along(dim, i)]


def others(x, dim):
    """For each element the product of the others along `dim`: of those before it times those after
    it, so that zeros do no harm."""
    n = x.shape[dim]
    if n == 0:
        return x
    one = x[along(dim, slice(1))] * 0 + 1
    if n == 1:
        return one
    before = Cumprod.fn(x[along(dim, slice(n - 1))], dim)
    after = Cumprod.fn(x[along(dim, slice(1, n))], dim, True)
    return cat([one, before], dim) * cat([after, one], dim)


def cumprod(input, dim, *, dtype=None, out=None):
    """The running product along `dim`: out[i] = input[0]·…·input[i]; integers as int64.

    >>> import tinygrad_course as tg
    >>> tg.cumprod(tg.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    return write_out(Cumprod.fn(_in_type(input, dtype), wrap_dim(dim, input.ndim)), out)


def cumprod_(self, dim, *, dtype=None):
    """As `cumprod`, into this tensor."""
    return change(Cumprod, self, (), {"dim": _dim_for_inplace(self, dim, dtype)})


# --- extremes, and sums of exponentials -----------------------------------------------------------


def accumulate(xp, name, x, dim):
    """The running xp.NAME, an associative operation of two arrays, along `dim`."""
    combine = getattr(xp, name)
    if xp is np:
        return combine.accumulate(x, dim)
    window, step = (slice(None),) * dim, 1
    while step < x.shape[dim]:
        merged = combine(x[(*window, slice(None, -step))], x[(*window, slice(step, None))])
        x = xp.concatenate([x[(*window, slice(None, step))], merged], dim)
        step *= 2
    return x


class _CumExtreme(Op):
    """The largest (or smallest) so far along `dim`, and where it last stood; g goes there."""

    __slots__ = ()

    def backward(ctx, g, _):
        indices, shape, dim = ctx.saved
        return put_along(g, indices, shape, dim) if shape else g


def _cum_extreme(ctx, xp, name, x, dim):
    if not x.ndim:
        ctx.save(None, x.shape, dim)
        return x.copy(), xp.zeros((), "int64")
    values = row_major(accumulate(xp, name, x, dim))
    spots = xp.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - dim - 1))
    newest = xp.where((x == values) | (x != x), spots, 0)
    indices = row_major(accumulate(xp, "maximum", newest, dim))
    ctx.save(indices, x.shape, dim)
    return values, indices


class Cummax(_CumExtreme, fn=""):
    """The largest so far along `dim`, and where it last stood; g goes there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        return _cum_extreme(ctx, xp, "maximum", x, dim)


class Cummin(_CumExtreme, fn=""):
    """The smallest so far along `dim`, and where it last stood; g goes there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        return _cum_extreme(ctx, xp, "minimum", x, dim)


def cummax(input, dim, *, out=None):
    """The largest element so far along `dim` and its place, the last one among equals; nan is
    larger than all.

    >>> import tinygrad_course as tg
    >>> tg.cummax(tg.tensor([1, 3, 2, 3]), 0).indices
    tensor([0, 1, 1, 3])
    """
    result = Cummax.fn(input, wrap_dim(dim, input.ndim))
    return write_out(return_types.cummax(result), out)


def cummin(input, dim, *, out=None):
    """The smallest element so far along `dim` and its place, the last one among equals; nan is
    smaller than all.

    >>> import tinygrad_course as tg
    >>> tg.cummin(tg.tensor([3, 1, 2]), 0).values
    tensor([3, 1, 1])
    """
    result = Cummin.fn(input, wrap_dim(dim, input.ndim))
    return write_out(return_types.cummin(result), out)


class Logcumsumexp(Op, fn=""):
    """y[i] = ln(e^x[0] + … + e^x[i]) along `dim`, or from the other end; dx[i] = e^x[i]·(the sum of
    g·e^-y over all y that x[i] is part of)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, reverse=False):
        def compute(xp, x):
            return _from_end(xp, partial(accumulate, xp, "logaddexp"), x, dim, reverse)

        y = row_major(in_single(xp, compute, x)) if x.ndim else x.copy()
        ctx.save(x, y, dim, reverse)
        return y

    def backward(ctx, g):
        x, y, dim, reverse = ctx.saved
        if not x.shape:
            return g
        # In logarithms, which know no overflow, but no signs either: first what is positive.
        parts = []
        for positive, part in ((g > 0, g), (g < 0, -g)):
            size = where(positive, log(where(positive, part, g * 0 + 1)), g * 0 + NOTHING)
            parts.append(exp(Logcumsumexp.fn(size - y, dim, not reverse) + x))
        return parts[0] - parts[1]


def logcumsumexp(input, dim, *, out=None):
    """ln of the running sum of e^input along `dim`, without overflow.

    >>> import tinygrad_course as tg
    >>> tg.logcumsumexp(tg.tensor([0., 0.]), 0)
    tensor([0.0000, 0.6931])
    """
    if not input.is_floating_point():
        raise NotImplementedError(f"logcumsumexp is for floats, not for {input.dtype!r}")
    return write_out(Logcumsumexp.fn(input, wrap_dim(dim, input.ndim)), out)


# --- differences ----------------------------------------------------------------------------------


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along `dim`, `n` times over, `prepend` and `append` first put at
    the ends; of bools, whether the two differ.

    >>> import tinygrad_course as tg
    >>> tg.diff(tg.tensor([1, 4, 9, 16])), tg.diff(tg.tensor([1, 4, 9, 16]), n=2)
    (tensor([3, 5, 7]), tensor([2, 2]))
    """
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, input.ndim)
    ends = [v for v in (prepend, append) if v is not None]
    if any(v.ndim != input.ndim for v in ends):
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input, "
            f"{input.ndim}: found {[v.ndim for v in ends]}"
        )
    x = input
    if n and ends:
        x = cat([v for v in (prepend, input, append) if v is not None], dim)
    for _ in range(min(n, x.shape[dim])):
        length = max(x.shape[dim] - 1, 0)
        after, before = narrow(x, dim, x.shape[dim] - length, length), narrow(x, dim, 0, length)
        x = after ^ before if str(x.dtype) == "torch.bool" else after - before
    return write_out(x if n else input.clone(), out)


function(cumsum, cumprod, cummax, cummin, logcumsumexp, diff)
method(cumsum, cumsum_, cumprod, cumprod_, cummax, cummin, logcumsumexp, diff)
