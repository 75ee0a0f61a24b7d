"""gather and scatter: reading and writing at places along one dim, position by position.

out[i][j] = x[i][places[i][j]] for dim 1, and likewise for each dim; scatter goes the other way and
says what happens where several values meet. Each one's derivative is another of them, or of their
kin at flat places, `Take` and `AddFlat`. Lesson 03.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..autograd.mode import mode
from ..autograd.variable import Tensor
from ..device import xp_of
from ..dtype import number_for
from ..shape import wrap_dim
from .convert import to_dtype
from .inplace import change, refuse_overlap
from .places import addresses_along, change_flat, require_places, scatter_flat
from .registry import Op, function, method, with_out
from .slices import Slice


class Gather(Op, fn=""):
    """out[i, j] = x[i, places[i, j]] along dim 1, likewise for others; dx = zeros with g added
    there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim):
        flat = addresses_along(xp, x.shape, places, dim)
        ctx.save(x.shape, flat, places)  # the places only so that a change of them is noticed
        return x.reshape(-1).take(flat)  # four times as fast as take_along_axis

    def backward(ctx, g):
        shape, flat, _ = ctx.saved
        return AddFlat.fn(g, flat, shape), None


class Take(Op, fn=""):
    """The elements of x at flat places; dx = zeros with g added there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /):
        ctx.save(x.shape, places)
        return x.reshape(-1).take(places)

    def backward(ctx, g):
        shape, places = ctx.saved
        return AddFlat.fn(g, places, shape), None


class AddFlat(Op, fn=""):
    """Zeros of `shape` with x added at flat places; dx = take(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, shape):
        ctx.save(places)
        return scatter_flat(xp.zeros(shape, x.dtype), places, x)

    def backward(ctx, g):
        return Take.fn(g, *ctx.saved), None


def put_along(x: Any, places: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Zeros of `shape` to which `x` is added at `places` along `dim`: the adjoint of gather."""
    array = getattr(places, "_array", places)
    return AddFlat.fn(x, addresses_along(xp_of(array), shape, array, dim), tuple(shape))


def _checked(input: Tensor, dim: int, index: Tensor, name: str, src: Any = None) -> int:
    """The dim counted from the front, after all that can be wrong with an index along it."""
    dim = wrap_dim(dim, input.ndim)
    places = index._array
    if places.dtype.kind != "i" or places.itemsize < 4:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index, not {index.dtype!r}: convert with "
            ".long()"
        )
    if places.size == 0:
        return dim
    for what, other in (("input", input), ("src", src)):
        if isinstance(other, Tensor) and max(other.ndim, 1) != max(index.ndim, 1):
            error = IndexError if 0 < other.ndim < index.ndim and other is src else RuntimeError
            raise error(
                "Index tensor must have the same number of dimensions as "
                f"{what} tensor: {index.ndim} and {other.ndim}"
            )
    for d, n in enumerate(index.shape if index.ndim == input.ndim else ()):
        if d != dim and n > input.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d}: expected index {list(index.shape)} to be "
                f"no larger than input {list(input.shape)} apart from dimension {dim}"
            )
    require_places(places, input.shape[dim] if input.ndim else 1, name)
    return dim


@with_out
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """out[i][j] = input[i][index[i][j]] for dim 1 (and likewise for each dim); index may be smaller
    than input.

    `sparse_grad` changes nothing here: gradients are dense.

    >>> import tinygrad_course as tg
    >>> gather(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    return Gather.fn(input, index, _checked(input, dim, index, "gather"))


# --- writing --------------------------------------------------------------------------------------


class _Scatter(Op, fn="", node="ScatterBackward0"):
    """x with y at the places along `dim`; dx = g with zeros there, dy = gather(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, inplace=False):
        ctx.save(places, dim)
        flat = addresses_along(xp, x.shape, places, dim)
        return _write(x if inplace else xp.array(x, order="C"), flat, y)

    def backward(ctx, g):
        places, dim = ctx.saved
        gx = _ScatterValue.fn(g, places, dim, 0) if ctx.needs[0] else None
        return gx, None, Gather.fn(g, places, dim) if ctx.needs[2] else None


class _ScatterValue(Op, fn="", node="ScatterBackward1"):
    """x with a number at the places along `dim`; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim, value, inplace=False):
        ctx.save(places, dim)
        flat = addresses_along(xp, x.shape, places, dim)
        return _write(x if inplace else xp.array(x, order="C"), flat, xp.full((), value, x.dtype))

    def backward(ctx, g):
        places, dim = ctx.saved
        return _ScatterValue.fn(g, places, dim, 0), None


def _write(out: Any, flat: Any, values: Any) -> Any:
    def act(vector: Any) -> None:
        vector[flat] = values

    return change_flat(out, act)


class ScatterAdd(Op, fn=""):
    """x with y added at the places along `dim`; dx = g, dy = gather(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, inplace=False):
        flat = addresses_along(xp, x.shape, places, dim)
        ctx.save(flat, places)
        return scatter_flat(x if inplace else xp.array(x, order="C"), flat, y)

    def backward(ctx, g):
        flat, _ = ctx.saved
        return g, None, Take.fn(g, flat) if ctx.needs[2] else None


class _ScatterUnderivable(Op, fn="", node="NotImplemented"):
    """x with y added to or multiplied into the places along `dim`, for scatter(reduce=…), of which
    PyTorch has no derivative."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, how, inplace=False):
        flat = addresses_along(xp, x.shape, places, dim)
        y = xp.full(flat.shape, y, x.dtype)
        return scatter_flat(x if inplace else xp.array(x, order="C"), flat, y, how)

    def backward(ctx, g):
        raise RuntimeError(
            "derivative for scatter with reduce= is not implemented: use scatter_add or "
            "scatter_reduce"
        )


def _same_places(index: Tensor, src: Tensor, x: Tensor) -> Tensor:
    """The part of `src` that `index` has places for."""
    if src.dtype is not x.dtype:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype, and they are "
            f"{x.dtype!r} and {src.dtype!r}"
        )
    if index.shape == src.shape:
        return src
    if not index.numel() or index.ndim != src.ndim:  # one of the two may have no dims
        return src.reshape(index.shape) if index.numel() else src.new_zeros(index.shape)
    if any(n > m for n, m in zip(index.shape, src.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)} in any "
            "dimension"
        )
    return Slice.fn(src, tuple(slice(n) for n in index.shape))


def _scatter(
    x: Tensor, dim: int, index: Tensor, src: Any, reduce: str | None, inplace: bool
) -> Tensor:
    """scatter and scatter_, with a tensor or a number, with or without reduce=."""
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply, not {reduce!r}")
    op: type[Op] = _ScatterValue
    others: tuple[Any, ...] = (index,)
    params: dict[str, Any] = {"dim": _checked(x, dim, index, "scatter", src)}
    y = _same_places(index, src, x) if isinstance(src, Tensor) else number_for(src, x.dtype)
    if reduce is not None:
        op, others, params["how"] = _ScatterUnderivable, (index, y), reduce
    elif isinstance(y, Tensor):
        op, others = _Scatter, (index, y)
    else:
        params["value"] = y
    return scatter_into(op, x, others, params) if inplace else op.fn(x, *others, **params)


def scatter_into(
    op: type[Op], x: Tensor, others: tuple[Any, ...], params: dict[str, Any]
) -> Tensor:
    """x := op(x, *others, **params), written right into the memory of x."""
    for other in others:
        if isinstance(other, Tensor):
            refuse_overlap(x, other, whole=True)
    return change(op, x, others, {**params, "inplace": True})


_NONE: Any = object()


def _source(src: Any, value: Any) -> Any:
    if (src is _NONE) == (value is _NONE):
        raise TypeError("scatter(): exactly one of src and value has to be given")
    return value if src is _NONE else src


@with_out
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = _NONE,
    *,
    value: Any = _NONE,
    reduce: str | None = None,
) -> Tensor:
    """A copy of input with out[i][index[i][j]] = src[i][j] for dim 1 (and likewise for each dim);
    src is a tensor or a number.

    Where several values go to one place, the last stays; with reduce="add" or "multiply" they are
    combined, without a derivative.

    >>> import tinygrad_course as tg
    >>> scatter(tg.zeros(2, 3), 1, tg.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    return _scatter(input, dim, index, _source(src, value), reduce, False)


def scatter_(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Any = _NONE,
    *,
    value: Any = _NONE,
    reduce: str | None = None,
) -> Tensor:
    """As `scatter`, into this tensor."""
    return _scatter(self, dim, index, _source(src, value), reduce, True)


@with_out
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of input with src[i][j] added to out[i][index[i][j]] for dim 1 (and likewise for each
    dim).

    >>> import tinygrad_course as tg
    >>> scatter_add(tg.zeros(3), 0, tg.tensor([0, 2, 0]), tg.tensor([1., 2., 3.]))
    tensor([4., 0., 2.])
    """
    dim, src = _add_checks(input, dim, index, src)
    return ScatterAdd.fn(input, index, src, dim)


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """As `scatter_add`, into this tensor."""
    dim, src = _add_checks(self, dim, index, src)
    return scatter_into(ScatterAdd, self, (index, src), {"dim": dim})


def _add_checks(
    x: Tensor, dim: int, index: Tensor, src: Tensor, name: str = "scatter_add"
) -> tuple[int, Tensor]:
    if not isinstance(src, Tensor):
        raise TypeError(f"{name}(): src must be a Tensor, not {type(src).__name__}")
    dim = _checked(x, dim, index, name, src)
    return dim, _same_places(index, src, x)


# --- combining ------------------------------------------------------------------------------------

_HOW = {
    "sum": "add",
    "mean": "add",
    "prod": "multiply",
    "amax": "maximum",
    "amin": "minimum",
    "max": "maximum",
    "min": "minimum",
}


class ScatterReduce(Op, fn=""):
    """x combined with the values of y that go to each place along `dim`; without `include_self` x
    stays only where none go.

    sum: dx = g, dy = gather(g); mean: the same, divided by the counts; prod: g times the product of
    the others; amax, amin: g shared among those that are equal to the result.
    """

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, reduce, include_self):
        flat = addresses_along(xp, x.shape, places, dim)
        out = xp.array(x, order="C")
        counts = None
        if not include_self:
            _write(out, flat, xp.full((), _neutral(reduce, x.dtype), x.dtype))
        scatter_flat(out, flat, y, _HOW[reduce])
        if reduce == "mean":
            counts = xp.full(x.shape, int(include_self), x.dtype)
            scatter_flat(counts, flat, xp.ones(flat.shape, x.dtype))
            counts = xp.maximum(counts, 1)
            out = out / counts if x.dtype.kind == "f" else out // counts
        ctx.save(x, places, y, out, counts, dim, reduce, include_self)
        return out

    def backward(ctx, g):
        x, places, y, out, counts, dim, reduce, include_self = ctx.saved
        dtype = ctx.outputs[0][1]

        def total(values: Any) -> Any:
            """For every place, the sum of the values that go there."""
            return put_along(to_dtype(values, dtype), places, x.shape, dim)

        def spread(values: Any) -> Any:
            """For every value, what stands at the place it goes to."""
            return Gather.fn(values, places, dim)

        if reduce in ("sum", "mean"):
            g = g if counts is None else g / counts
            gx, gy = g, spread(g)
        elif reduce == "prod":
            product = partial(ScatterReduce.fn, dim=dim, reduce="prod", include_self=True)
            ones = to_dtype((x == x) | True, dtype)
            gx = g * product(ones, places, y)
            # To leave a value out of its product divide by it; where it is 0, put 1 in its place,
            # which gives 0 all the same when it is not the only zero.
            zero = to_dtype(y == 0, dtype)
            zeros, nonzero = spread(total(zero)), y * (1 - zero) + zero
            if isinstance(g, Tensor) and mode.enabled and bool((zeros > 1).any()):
                raise RuntimeError(
                    "scatter_reduce(): no second derivative of prod where several zeros go to one "
                    "place"
                )
            others = product(x if include_self else ones, places, nonzero)
            gy = spread(g * out) / nonzero * (1 - zero) + spread(g * others) * (zero * (zeros == 1))
        else:
            mine, its = x == out, y == spread(out)
            shares = total(its) + mine
            g = g / shares
            gx, gy = g * mine, spread(g) * its
        if not include_self:
            gx = _ScatterValue.fn(gx, places, dim, 0)
        return gx, None, gy


def _neutral(reduce: str, dtype: Any) -> Any:
    """The value that changes nothing when others are combined with it."""
    if reduce not in ("amax", "max", "amin", "min"):
        return int(reduce == "prod")
    if dtype.kind == "b":
        return reduce in ("amin", "min")
    limits = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return limits[reduce in ("amin", "min")]


def _reduce_checks(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> tuple[Tensor, dict[str, Any]]:
    """The part of `src` that takes part, and the parameters of the operation."""
    if reduce not in _HOW:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    dim, src = _add_checks(x, dim, index, src, "scatter_reduce")
    return src, {"dim": dim, "reduce": reduce, "include_self": bool(include_self)}


@with_out
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of input whose out[i][index[i][j]] is combined with src[i][j] for dim 1 (and likewise
    for each dim) by `reduce`: "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` the values of input count only at places to which nothing goes.

    >>> import tinygrad_course as tg
    >>> x, i = tg.tensor([1., 2., 3.]), tg.tensor([0, 0, 2])
    >>> scatter_reduce(tg.zeros(3), 0, i, x, "amax")
    tensor([2., 0., 3.])
    """
    src, params = _reduce_checks(input, dim, index, src, reduce, include_self)
    return ScatterReduce.fn(input, index, src, **params)


def scatter_reduce_(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """As `scatter_reduce`, into this tensor."""
    src, params = _reduce_checks(self, dim, index, src, reduce, include_self)
    for other in (index, src):
        refuse_overlap(self, other, whole=True)
    return change(ScatterReduce, self, (index, src), params)


function(gather, scatter, scatter_add, scatter_reduce)
method(gather, scatter, scatter_add, scatter_reduce, scatter_, scatter_add_, scatter_reduce_)
