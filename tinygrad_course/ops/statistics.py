"""Statistics: variance, and the values in the middle of a sorted row.

The median and the other quantiles sort; the mode counts equal neighbours in a sorted row. Where
several elements would do, the indices say which one gave the value and gets the gradient.
Lesson 03.
"""

from __future__ import annotations

import math

from ..autograd.variable import Tensor
from ..dtype import float32, float64
from ..shape import wrap_dim, wrap_dims
from . import return_types
from .dims import count, require_elements, row_major, spread
from .elementwise import where
from .extremes import Picked, pick, share_of_all
from .permute import permute
from .pointwise import Lerp
from .reduce import mean, total
from .registry import Op, function, method, write_out
from .scan import accumulate
from .scatter import gather
from .slices import select
from .sort import sort
from .views import expand, unsqueeze

# --- spread about the mean ------------------------------------------------------------------------


def _variance(xp, x, dims, keepdim, correction):
    if x.dtype.kind != "f":
        raise RuntimeError(
            f"std and var only support floating point dtypes, not {x.dtype}: convert with .float()"
        )
    n = count(x, dims)
    centred = x - x.mean(dims, keepdims=True) if n else x
    total = (centred * centred).sum(dims, keepdims=keepdim)
    return row_major(total / total.dtype.type(max(n - correction, 0)))


def _variance_backward(g, x, dims, keepdim, correction):
    n = count(x, dims) - correction
    centred = x - mean(x, dims, True)
    return spread(g, x.shape, dims, keepdim) * (centred * (2 / n if n else math.nan))


class Var(Op, fn=""):
    """Σ (x - mean)² / (n - correction); dx = 2·g·(x - mean) / (n - correction)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, correction=1, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        ctx.save(x, dims, keepdim, correction)
        return _variance(xp, x, dims, keepdim, correction)

    def backward(ctx, g):
        return _variance_backward(g, *ctx.saved)


class Std(Op, fn=""):
    """The root of the variance; dx = that of the variance, times 1 / 2y, or 0 where y = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, correction=1, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        y = xp.sqrt(_variance(xp, x, dims, keepdim, correction))
        ctx.save(y, x, dims, keepdim, correction)
        return y

    def backward(ctx, g):
        y, *of_variance = ctx.saved
        return _variance_backward(where(y == 0, y * 0, g / (y * 2)), *of_variance)


def _correction(dim, unbiased, correction):
    """(dim, correction) of var and std, whose `unbiased` is the older spelling."""
    if isinstance(dim, bool):  # var(x, unbiased), as in old code
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return dim, correction


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    """The variance over `dim`: Σ (x - mean)² / (n - correction), correction 1 unless
    `unbiased=False`.

    >>> import tinygrad_course as tg
    >>> var(tg.tensor([1., 2., 3.]))
    tensor(1.)
    """
    return write_out(Var.fn(input, *_correction(dim, unbiased, correction), keepdim), out)


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    """The standard deviation over `dim`: the root of `var`.

    >>> import tinygrad_course as tg
    >>> std(tg.tensor([1., 2., 3.]))
    tensor(1.)
    """
    return write_out(Std.fn(input, *_correction(dim, unbiased, correction), keepdim), out)


def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance and the mean over `dim`, as a tuple.

    >>> import tinygrad_course as tg
    >>> var_mean(tg.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = _correction(dim, unbiased, correction)
    return Var.fn(input, dim, correction, keepdim), mean(input, dim, keepdim)


def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation and the mean over `dim`, as a tuple.

    >>> import tinygrad_course as tg
    >>> std_mean(tg.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = _correction(dim, unbiased, correction)
    return Std.fn(input, dim, correction, keepdim), mean(input, dim, keepdim)


# --- the middle -----------------------------------------------------------------------------------


def _middle(xp, x, dim, skip_nan):
    """The place of the lower median along `dim`, kept with size 1: that of the first nan if there
    is one, or nan left out of account."""
    if not x.ndim:
        return xp.zeros((), "int64")
    nan, n = x != x, x.shape[dim]
    if not skip_nan:
        middle = (n - 1) // 2
        place = xp.argpartition(x, middle, dim)[(slice(None),) * dim + (slice(middle, middle + 1),)]
        return xp.where(nan.any(dim, keepdims=True), nan.argmax(dim, keepdims=True), place)
    order = xp.argsort(x, dim, kind="stable")  # nan last
    middle = xp.maximum(n - nan.sum(dim, keepdims=True) - 1, 0) // 2
    return xp.take_along_axis(order, middle, dim)


class Median(Picked, fn="", node="MedianBackward1"):
    """The element in the middle of those along `dim`, the lower of two, and its place, where the
    gradient goes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        require_elements("median", x, dim, (dim,))
        return pick(ctx, xp, x, _middle(xp, x, dim, False), dim, keepdim)


class Nanmedian(Picked, fn="", node="NanmedianBackward1"):
    """As the median, of what is not nan."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        require_elements("nanmedian", x, dim, (dim,))
        return pick(ctx, xp, x, _middle(xp, x, dim, True), dim, keepdim)


def _middle_of_all(ctx, xp, x, skip_nan):
    flat = x.reshape(-1)
    if flat.size:
        out = flat[_middle(xp, flat, 0, skip_nan)[0]]
    else:
        out = xp.zeros((), x.dtype) + x.dtype.type(math.nan)
    out = xp.asarray(out)
    ctx.save(x, out)
    return out


class MedianOfAll(Op, fn="", node="MedianBackward0"):
    """The element in the middle, the lower of two; the gradient is shared equally among those that
    equal it."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return _middle_of_all(ctx, xp, x, False)

    def backward(ctx, g):
        x, out = ctx.saved
        return share_of_all(g, x, out)


class NanmedianOfAll(MedianOfAll, fn="", node="NanmedianBackward0"):
    """As the median, of what is not nan."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return _middle_of_all(ctx, xp, x, True)


def _median(op, op_of_all, named, input, dim, keepdim, out):
    if input._array.dtype.kind == "b":
        raise NotImplementedError("the median is not implemented for bool: convert with .int()")
    if dim is None:
        return op_of_all.fn(input, out=out)
    return write_out(named(op.fn(input, wrap_dim(dim, input.ndim), keepdim)), out)


def median(input, dim=None, keepdim=False, *, out=None):
    """The lower median of all elements, or (values, indices) of those along `dim`; nan if there is
    one.

    >>> import tinygrad_course as tg
    >>> median(tg.tensor([4., 1., 3., 2.]))
    tensor(2.)
    """
    return _median(Median, MedianOfAll, return_types.median, input, dim, keepdim, out)


def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """As `median`, of what is not nan.

    >>> import tinygrad_course as tg
    >>> nanmedian(tg.tensor([1., float("nan"), 3.]))
    tensor(1.)
    """
    return _median(Nanmedian, NanmedianOfAll, return_types.nanmedian, input, dim, keepdim, out)


class Mode(Picked, fn=""):
    """The most frequent element along `dim`, the smallest of several, and its last place, where the
    gradient goes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        require_elements("mode", x, dim, (dim,))
        if not x.ndim:
            return pick(ctx, xp, x, xp.zeros((), "int64"), dim, keepdim)
        order = xp.argsort(x, dim, kind="stable")
        ordered = xp.take_along_axis(x, order, dim)
        shape = (-1,) + (1,) * (x.ndim - dim - 1)
        spots = xp.arange(x.shape[dim]).reshape(shape)
        before = xp.broadcast_to(xp.maximum(spots - 1, 0), x.shape)
        earlier = xp.take_along_axis(ordered, before, dim)
        begins = xp.where((ordered != earlier) | (spots == 0), spots, 0)
        # A run of equals that ends at a spot is as long as the last beginning is far away.
        begun = accumulate(xp, "maximum", begins, dim)
        end = (spots - begun).argmax(dim, keepdims=True)
        return pick(ctx, xp, x, xp.take_along_axis(order, end, dim), dim, keepdim)


def mode(input, dim=-1, keepdim=False, *, out=None):
    """The most frequent value along `dim`, the smallest of several, and where it last stands.

    >>> import tinygrad_course as tg
    >>> mode(tg.tensor([1, 2, 2, 3])).indices
    tensor(2)
    """
    result = Mode.fn(input, wrap_dim(dim, input.ndim), keepdim)
    return write_out(return_types.mode(result), out)


# --- quantiles ------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _require_quantile(input, q, interpolation):
    if not input.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if input.dtype not in (float32, float64):
        raise RuntimeError(
            f"quantile() input tensor must be either float or double dtype, not {input.dtype!r}"
        )
    if q.ndim > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, not {q.ndim}D")
    if q.dtype is not input.dtype:
        raise RuntimeError(
            f"quantile() q tensor must be same dtype as the input tensor: {q.dtype!r} is not "
            f"{input.dtype!r}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q.tolist()}")


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The values below which the fractions `q` (a number or a vector) of the elements along `dim`
    lie; between two elements as `interpolation` says: linear, lower, higher, midpoint, nearest.

    Several `q` give a first dim more. RuntimeError for types other than float32 and float64, for q
    outside [0, 1].

    >>> import tinygrad_course as tg
    >>> quantile(tg.tensor([0., 10., 20.]), tg.tensor([0.5, 0.75]))
    tensor([10., 15.])
    """
    if not isinstance(q, Tensor):
        q = input.new_tensor(q)
    _require_quantile(input, q, interpolation)
    x = input.reshape(-1) if dim is None or not input.ndim else input
    axis = wrap_dim(dim, input.ndim) if x is input else 0
    rows = permute(x, (*(d for d in range(x.ndim) if d != axis), axis))
    found = _between(sort(rows, -1).values, q.reshape(-1), interpolation)
    found = permute(found, (x.ndim - 1, *range(x.ndim - 1)))
    if keepdim and x is input:
        found = unsqueeze(found, axis + 1)
    elif keepdim:
        found = found.reshape((q.numel(), *(1,) * input.ndim))
    return write_out(found if q.ndim else select(found, 0, 0), out)


def _between(ordered, q, interpolation):
    """The quantiles `q` of sorted rows: (…, n), (k) → (…, k)."""
    last = ordered.shape[-1] - 1
    shape = (*ordered.shape[:-1], q.numel())
    place = expand(q * last, shape)
    broken = expand(unsqueeze(total(ordered != ordered, -1) > 0, -1), shape)
    place = where(broken, place * 0 + last, place)  # where nan has been sorted to
    if interpolation == "nearest":
        place = place.round()
    elif interpolation == "higher":
        place = place.ceil()
    below = place.floor()
    values = gather(ordered, -1, below.long())
    if interpolation == "linear":
        weight = place - below
    elif interpolation == "midpoint":
        weight = where(place == below, place * 0, place * 0 + 0.5)
    else:
        return values
    return Lerp.fn(values, gather(ordered, -1, place.ceil().long()), weight)


function(var, std, var_mean, std_mean, median, nanmedian, mode, quantile)
method(var, std, median, nanmedian, mode, quantile)
