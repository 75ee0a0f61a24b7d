"""Values as sets: which ones there are, how often, and where one belongs in a sorted row.

Equal values become neighbours by sorting; a value begins where it differs from its neighbour.
Nothing here has a gradient. Lesson 03.
"""

from __future__ import annotations

import math

from ..autograd.variable import Tensor
from ..dtype import float32, float64, int32, result_type
from ..shape import as_int, wrap_dim
from .dims import row_major
from .registry import Op, function, method, write_out

# --- distinct values ------------------------------------------------------------------------------


def _groups(xp, rows, consecutive):
    """(first row of each group, group of each row, size of each group) for equal rows, (n, m): of
    neighbours alone, or of all, in sorted order."""
    n = len(rows)
    if consecutive:
        order = xp.arange(n)
    elif rows.shape[1] == 1:
        order = xp.argsort(rows[:, 0], kind="stable")
    else:
        order = xp.lexsort(rows.T[::-1])
    ordered = rows[order]
    begins = xp.concatenate([xp.ones(min(n, 1), bool), (ordered[1:] != ordered[:-1]).any(1)])
    firsts = begins.nonzero()[0]
    inverse = xp.empty(n, "int64")
    inverse[order] = xp.cumsum(begins, dtype="int64") - 1
    counts = xp.diff(xp.concatenate([firsts, xp.full(1, n)]))
    return order[firsts], inverse, counts


class Unique(Op, fn="", node="Unique2Backward0"):
    """The distinct elements, or slices along `dim`, where each element went, and how often each
    occurs. No derivative: asking for it is an error."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, consecutive):
        if dim is None:
            firsts, inverse, counts = _groups(xp, x.reshape(-1, 1), consecutive)
            return x.reshape(-1)[firsts], inverse.reshape(x.shape), counts
        rows = xp.moveaxis(x, dim, 0)
        flat = rows.reshape(len(rows), -1) if rows.size else rows.reshape(0, 1)
        firsts, inverse, counts = _groups(xp, flat, consecutive)
        return xp.moveaxis(row_major(rows[firsts]), 0, dim), inverse, counts

    def backward(ctx, *grads):
        raise RuntimeError("unique has no derivative: which values there are changes in jumps")


def _distinct(input, return_inverse, return_counts, dim, consecutive):
    if dim is not None:
        if not input.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        dim = wrap_dim(dim, input.ndim)
        if 0 in input.shape[:dim] + input.shape[dim + 1 :]:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                f"applied: shape {list(input.shape)}, dim {dim}"
            )
    values, inverse, counts = Unique.fn(input, dim, consecutive)
    found = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return found if len(found) > 1 else values


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along `dim`) in order; on request also where each element
    went, and how often each occurs. nan differs from nan.

    >>> import tinygrad_course as tg
    >>> tg.unique(tg.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if not isinstance(sorted, bool):
        raise TypeError(f"unique(): argument 'sorted' must be bool, not {type(sorted).__name__}")
    return _distinct(input, return_inverse, return_counts, dim, False)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """As `unique`, but only equal neighbours are made one, and the order stays.

    >>> import tinygrad_course as tg
    >>> tg.unique_consecutive(tg.tensor([3, 3, 1, 3]))
    tensor([3, 1, 3])
    """
    return _distinct(input, return_inverse, return_counts, dim, True)


# --- places in a sorted row -----------------------------------------------------------------------


class SearchSorted(Op, fn="", differentiable=False):
    """For each y the place before (or behind) its equals in the sorted row x: (n), (…) → (…), or
    (…, n), (…, m) → (…, m) row by row."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, side):
        if x.ndim == 1:
            return xp.asarray(xp.searchsorted(x, y.reshape(-1), side)).reshape(y.shape)
        rows, wanted = x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])
        found = [xp.searchsorted(row, those, side) for row, those in zip(rows, wanted, strict=True)]
        return xp.stack(found).reshape(y.shape) if found else xp.zeros(y.shape, "int64")


def searchsorted(
    sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None
):
    """The places at which `input` would have to be inserted into `sorted_sequence` (along its last
    dim) to keep it sorted: before equal elements, behind them with `right` or side="right".

    `sorter` are the places of an unsorted sequence's elements in order (argsort).

    >>> import tinygrad_course as tg
    >>> tg.searchsorted(tg.tensor([1, 3, 5]), tg.tensor([3, 6]))
    tensor([1, 3])
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError(
            "searchsorted(): side and right can't be set to opposites, got side of left while "
            "right was True"
        )
    x = sorted_sequence
    y = input if isinstance(input, Tensor) else x.new_tensor(input, dtype=result_type(input))
    if x.ndim != 1:
        if not x.ndim or not y.ndim:
            raise RuntimeError(
                "searchsorted(): input value can be a scalar only when boundaries tensor dimension "
                f"is 1, but we got boundaries tensor dim({x.ndim}) and input value's dim({y.ndim})"
            )
        if x.shape[:-1] != y.shape[:-1]:
            raise RuntimeError(
                "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
                "dimensions of boundaries tensor and input value tensor must match, but we got "
                f"boundaries tensor {list(x.shape)} and input value tensor {list(y.shape)}"
            )
    if sorter is not None:
        if sorter.shape != x.shape:
            raise RuntimeError("searchsorted(): boundary and sorter must have the same size")
        if bool(((sorter < 0) | (sorter >= x.shape[-1])).any()):
            raise RuntimeError("searchsorted(): sorter index out of range")
        x = x.gather(-1, sorter)
    result = SearchSorted.fn(x, y, "right" if right or side == "right" else "left")
    return write_out(result.to(int32) if out_int32 else result, out)


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The number of the bucket, between sorted `boundaries`, in which each of `input` falls; a
    value on a boundary falls below it, above it with `right`.

    >>> import tinygrad_course as tg
    >>> tg.bucketize(tg.tensor([0, 3, 9]), tg.tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


# --- counts ---------------------------------------------------------------------------------------


class BinCount(Op, fn="", differentiable=False):
    """How often each of 0, 1, 2, … occurs in the vector x, or the sum of the weights y there."""

    __slots__ = ()

    def forward(ctx, xp, x, y=None, /, size=0):
        return xp.bincount(x, minlength=size) if y is None else xp.bincount(x, y, size)


def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, 2, … occurs in a vector of whole numbers, or the sum of the `weights`
    there; at least `minlength` of them.

    >>> import tinygrad_course as tg
    >>> tg.bincount(tg.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    if input._array.dtype.kind not in "iu":
        raise NotImplementedError(f"bincount is for integers, not for {input.dtype!r}")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, not {minlength}")
    if input.ndim != 1 or (input.numel() and bool((input < 0).any())):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return BinCount.fn(input, None, minlength)
    if weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind = float32 if weights.dtype is float32 else float64
    return BinCount.fn(input, weights.to(float64), minlength).to(kind)


class Histc(Op, fn="", differentiable=False):
    """How many elements fall into each of equal bins between `low` and `high`."""

    __slots__ = ()

    def forward(ctx, xp, x, /, bins, low, high):
        x = x.reshape(-1).astype(xp.result_type(x, "float32"))
        inside = (x >= low) & (x <= high)
        place = xp.where(inside, (x - low) * bins / (high - low), 0).astype("int64")
        return xp.bincount(xp.minimum(place, bins - 1), inside, bins)


def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements fall into each of `bins` equal bins between `min` and `max`, which are
    taken from the data where both are 0; what lies outside is left out.

    >>> import tinygrad_course as tg
    >>> tg.histc(tg.tensor([1., 2., 1., 3.]), bins=2)
    tensor([2., 2.])
    """
    bins = as_int(bins, "bins")
    if not input.is_floating_point():
        raise NotImplementedError(f"histc is for floats, not for {input.dtype!r}: use .float()")
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}")
    low, high = float(min), float(max)
    if low == high and input.numel():
        low, high = input.min().item(), input.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histc: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"histc: max must be larger than min, and {high} < {low}")
    if low == high:
        low, high = low - 1, high + 1
    return write_out(Histc.fn(input, bins, low, high).to(input.dtype), out)


function(unique, unique_consecutive, searchsorted, bucketize, bincount, histc)
method(unique, unique_consecutive, bincount, histc)
