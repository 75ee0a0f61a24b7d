"""Indexing: picking elements out by place, and putting gradients (or values) back there.

`x[...]` with ints, slices, None and Ellipsis is a view; with bool masks, tensors or lists of ints
it copies. When a place is picked several times its gradients add up. Lesson 03.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.node import FREED, unbroadcast
from ..autograd.variable import Tensor
from ..device import backend_of, move, xp_of
from ..dtype import bool_, number_for
from ..shape import broadcast_shapes, wrap_dim
from .convert import memory_order
from .elementwise import where
from .inplace import change, refuse_overlap
from .registry import Op, function, method
from .views import Select, _Index, basic_index, expand, select


class _Indexing(Op):
    """An operation that keeps an index: a second backward finds it freed, like saved tensors."""

    __slots__ = ()

    def release(self):
        self.saved, self.guards = FREED, []


class _TakeIndex(_Indexing, fn="", node="IndexBackward0"):
    """x[index] for an index with masks or arrays of places; dx = zeros with g added at those
    places."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        if ctx.needs[0]:
            ctx.save(x.shape, _own(index))
        y = x[index]
        return y if memory_order(x) == "K" else xp.array(y, order="C")

    def backward(ctx, g):
        shape, index = ctx.saved
        return AddIndex.fn(g, shape, index)


def _own(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy of the index, whose places somebody may overwrite before backward."""
    return tuple(part.copy() if hasattr(part, "strides") else part for part in index)


class AddIndex(Op, fn=""):
    """Zeros of `shape` with x added at [index]; dx = g[index]."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape, index):
        ctx.save(index)
        out = xp.zeros(shape, x.dtype)
        backend_of(out).scatter_add(out, index, x)
        return out

    def backward(ctx, g):
        (index,) = ctx.saved
        return _TakeIndex.fn(g, index)


class _SetIndex(_Indexing, fn="", node="IndexPutBackward0"):
    """x with y written at [index], for x[index] = y; dx = g without those places, dy = g[index]."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, index):
        ctx.save(_own(index), y.shape)
        out = x.copy()
        out[index] = y
        return out

    def backward(ctx, g):
        index, shape = ctx.saved
        gx = _BlankIndex.fn(g, index) if ctx.needs[0] else None
        return gx, _sum_to(_TakeIndex.fn(g, index), shape) if ctx.needs[1] else None


class _BlankIndex(Op, fn=""):
    """x with zeros at [index]; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(index)
        out = x.copy()
        out[index] = 0
        return out

    def backward(ctx, g):
        (index,) = ctx.saved
        return _BlankIndex.fn(g, index)


def _sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    return unbroadcast(g, shape) if tuple(g.shape) != tuple(shape) else g


def _normalise(x: Tensor, index: Any) -> tuple[tuple[Any, ...], bool]:
    """The index as a tuple for the array, one dim or more per entry, and whether it is basic (a
    view)."""
    parts = index if isinstance(index, tuple) else (index,)
    found: list[Any] = []
    basic, dims = True, 0
    for part in parts:
        if isinstance(part, Tensor):
            kind = part._array.dtype.kind
            if kind == "f":
                raise IndexError(
                    "tensors used as indices must be long, int, byte or bool tensors, not "
                    f"{part.dtype!r}"
                )
            if kind != "b" and part.ndim == 0:
                part = int(part.item())
            else:
                if part._array.dtype == np.uint8:  # before there was a bool type, masks were bytes
                    part = part.to(bool_)
                part = move(part._array, x.device)
        elif isinstance(part, list | np.ndarray | range):
            host = np.asarray(part)
            if host.size == 0:
                host = host.astype(np.int64)
            if host.dtype.kind not in "iub":
                raise IndexError(f"indices must be ints or bools, not {host.dtype}")
            part = move(host, x.device)
        elif isinstance(part, np.integer | np.bool_):
            part = part.item()
        elif isinstance(part, slice):
            part = slice(*(v if v is None else int(v) for v in (part.start, part.stop, part.step)))
            if part.step is not None and part.step <= 0:
                raise ValueError(
                    "step must be greater than zero: a tensor has no negative strides, use flip()"
                )
        elif not (part is None or part is Ellipsis or isinstance(part, bool | int)):
            raise TypeError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or bool Variables "
                "are valid indices (got "
                f"{type(part).__name__})"
            )
        if hasattr(part, "strides"):
            basic = False
            dims += part.ndim if part.dtype == bool else 1
        elif isinstance(part, bool):
            basic = False
        elif part is not None and part is not Ellipsis:
            dims += 1
        found.append(part)
    if dims > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}: {dims} were given")
    _check_ints(x, found, dims)
    if Ellipsis not in [p for p in found if not hasattr(p, "strides")]:
        found.append(Ellipsis)  # also keeps NumPy from turning a fully indexed array into a scalar
    return tuple(found), basic


def _check_ints(x: Tensor, parts: list[Any], dims: int) -> None:
    dim = 0
    for part in parts:
        if part is Ellipsis:
            dim += x.ndim - dims
        elif part is None or isinstance(part, bool):
            continue
        elif hasattr(part, "strides"):
            if part.dtype == bool:
                shape = tuple(x.shape[dim : dim + part.ndim])
                if tuple(part.shape) != shape:
                    raise IndexError(
                        f"The shape of the mask {list(part.shape)} at index {dim} does not match "
                        "the shape of the indexed tensor "
                        f"{list(x.shape)} at index {dim}"
                    )
                dim += part.ndim
                continue
            n = x.shape[dim]
            if part.size and not bool(((part >= -n) & (part < n)).all()):
                bad = part[(part < -n) | (part >= n)].reshape(-1)[0]
                raise IndexError(
                    f"index {int(bad)} is out of bounds for dimension {dim} with size {n}"
                )
            dim += 1
        else:
            n = x.shape[dim]
            if isinstance(part, int) and not -n <= part < n:
                raise IndexError(f"index {part} is out of bounds for dimension {dim} with size {n}")
            dim += 1


def _is_plain(index: tuple[Any, ...]) -> bool:
    """Whether NumPy can take the index as it is: ints, slices without a step or with a positive
    one, None and Ellipsis."""
    for part in index:
        kind = type(part)
        if kind is slice:
            if part.step is not None and (type(part.step) is not int or part.step <= 0):
                return False
        elif kind is not int and part is not None and part is not Ellipsis:
            return False
    return True


def getitem(self: Tensor, index: Any) -> Tensor:
    """x[index]: a view for ints, slices, None and Ellipsis, a copy for masks and places."""
    plain = index if type(index) is tuple else (index,)
    if _is_plain(plain):
        op = Select if type(index) is int else _Index
        if Ellipsis not in plain:
            plain = (*plain, Ellipsis)  # keeps NumPy from turning a single element into a number
        try:
            return op.apply(self, plain)
        except IndexError:
            pass  # the long way says what is wrong in PyTorch's words
    parts, basic = _normalise(self, index)
    return _Index.apply(self, parts) if basic else _TakeIndex.apply(self, parts)


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, in place, with history: the value gets the gradient of the places it went
    to."""
    parts, basic = _normalise(self, index)
    if basic:
        _set_view(self if _is_whole(parts, self.shape) else basic_index(self, parts), value)
        return
    if not isinstance(value, Tensor):
        value = Tensor._wrap(move(np.asarray(value, self.dtype.numpy), self.device))
    else:
        refuse_overlap(self, value, whole=True)
        value = value.to(self.device)
    try:
        change(_SetIndex, self, (value.to(self.dtype),), {"index": parts})
    except ValueError as error:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to the "
            "places that the index of a tensor "
            f"of shape {list(self.shape)} selects"
        ) from error


def _is_whole(parts: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether the index takes everything as it is: x[...] and x[:] are x itself."""
    if parts[-1] is Ellipsis:
        parts = parts[:-1]
    return all(
        isinstance(part, slice) and part.indices(n) == (0, n, 1)
        for part, n in zip(parts, shape, strict=False)
    )


def _set_view(target: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        # Leading dims of size 1 may be dropped: x[0] = row also for a row of shape (1, n).
        while value.ndim > target.ndim and value.shape[0] == 1:
            value = select(value, 0, 0)
        if value.ndim > target.ndim or any(
            n not in (1, m)
            for n, m in zip(reversed(value.shape), reversed(target.shape), strict=False)
        ):
            raise RuntimeError(
                f"expand(v, size): the value of shape {list(value.shape)} cannot be written to a "
                f"place of shape {list(target.shape)}"
            )
        if value.ndim == 0:
            target.fill_(value)
        else:
            target.copy_(expand(value, target.shape))
    elif isinstance(value, int | float):
        target.fill_(value)
    else:
        target.copy_(Tensor._wrap(move(np.asarray(value, target.dtype.numpy), target.device)))


# --- along one dim --------------------------------------------------------------------------------


def _along(xp: Any, places: Any, dim: int) -> tuple[Any, ...]:
    """An index that picks, at every position, the place that `places` names along `dim`."""
    grid = [
        xp.arange(n).reshape((-1,) + (1,) * (places.ndim - i - 1))
        for i, n in enumerate(places.shape)
    ]
    grid[dim] = places
    return tuple(grid)


def _require_places(places: Any, n: int, name: str, error: type[Exception] = RuntimeError) -> None:
    if places.dtype.kind not in "iu" or places.dtype.itemsize not in (4, 8):
        raise RuntimeError(
            f"{name}(): Expected dtype int64 for index, got {places.dtype}: convert with .long()"
        )
    if places.size and not bool(((places >= 0) & (places < n)).all()):
        bad = places[(places < 0) | (places >= n)].reshape(-1)[0]
        raise error(f"{name}(): index {int(bad)} is out of bounds for dimension with size {n}")


class Gather(Op, fn=""):
    """out[i, j] = x[i, places[i, j]] along dim 1, likewise for others; dx = zeros with g added
    there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim):
        ctx.save(x.shape, places, dim)
        return xp.ascontiguousarray(x[_along(xp, places, dim)]) if x.ndim else x.copy()

    def backward(ctx, g):
        shape, places, dim = ctx.saved
        return put_along(g, places, shape, dim), None


class PutAlong(Op, fn=""):
    """Zeros of `shape` with x added at the places along `dim`: the adjoint of gather; dx =
    gather(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, shape, dim):
        ctx.save(places, dim)
        out = xp.zeros(shape, x.dtype)
        if not shape:
            return out + x
        backend_of(out).scatter_add(out, _along(xp, places, dim), x)
        return out

    def backward(ctx, g):
        places, dim = ctx.saved
        return Gather.fn(g, places, dim), None


def put_along(x: Any, places: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Zeros of `shape` to which `x` is added at `places` along `dim`."""
    return PutAlong.fn(x, places, tuple(shape), dim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """out[i][j] = input[i][index[i][j]] for dim 1 (and likewise for each dim); index may be smaller
    than input.

    >>> import tinygrad_course as tg
    >>> gather(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    dim = wrap_dim(dim, input.ndim)
    _require_ndim(input, index)
    for d in range(input.ndim if index.ndim == input.ndim else 0):
        if d != dim and index.shape[d] > input.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
                "larger than self "
                f"{list(input.shape)} apart from dimension {dim}"
            )
    _require_places(index._array, input.shape[dim] if input.ndim else 1, "gather")
    return Gather.fn(input, index, dim)


def _require_ndim(input: Tensor, index: Tensor) -> None:
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as input tensor: {index.ndim} "
            f"and {input.ndim}"
        )


class ScatterAdd(Op, fn=""):
    """x with y added at the places along `dim`; dx = g, dy = gather(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim):
        ctx.save(places, dim)
        out = x.copy()
        y = y[tuple(slice(n) for n in places.shape)]
        backend_of(out).scatter_add(out, _along(xp, places, dim), y)
        return out

    def backward(ctx, g):
        places, dim = ctx.saved
        return g, None, Gather.fn(g, places, dim) if ctx.needs[2] else None


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of input with src[i][j] added to out[i][index[i][j]] for dim 1 (and likewise for each
    dim).

    >>> import tinygrad_course as tg
    >>> scatter_add(tg.zeros(3), 0, tg.tensor([0, 2, 0]), tg.tensor([1., 2., 3.]))
    tensor([4., 0., 2.])
    """
    return ScatterAdd.fn(input, index, *_scatter_checks(input, dim, index, src))


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """As `scatter_add`, into this tensor."""
    src, dim = _scatter_checks(self, dim, index, src)
    return change(ScatterAdd, self, (index, src), {"dim": dim})


def _scatter_checks(input: Tensor, dim: int, index: Tensor, src: Tensor) -> tuple[Tensor, int]:
    """The part of `src` that `index` has places for, and the dim."""
    dim = wrap_dim(dim, input.ndim)
    _require_ndim(input, index)
    _require_places(index._array, input.shape[dim] if input.ndim else 1, "scatter_add")
    if index.ndim != src.ndim or any(n > m for n, m in zip(index.shape, src.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)} in any "
            "dimension"
        )
    if index.shape != src.shape:
        src = basic_index(src, tuple(slice(n) for n in index.shape))
    return src, dim


class IndexSelect(Op, fn=""):
    """The rows of x (slices of `dim`) that the places name; dx = zeros with g added to those
    rows."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, dim):
        ctx.save(x.shape, places, dim)
        return xp.take(x, places.reshape(-1), dim) if x.ndim else x.copy()

    def backward(ctx, g):
        shape, places, dim = ctx.saved
        return AddRows.fn(g, places, tuple(shape), dim), None


class AddRows(Op, fn=""):
    """Zeros of `shape` with the rows of x added at the places of `dim`; dx = index_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, shape, dim):
        ctx.save(places, dim)
        out = xp.zeros(shape, x.dtype)
        if not shape:
            return out + x
        backend_of(out).scatter_add(out, (slice(None),) * dim + (places.reshape(-1),), x)
        return out

    def backward(ctx, g):
        places, dim = ctx.saved
        return IndexSelect.fn(g, places, dim), None


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `dim` that `index` (a vector of places) names, in that order.

    >>> import tinygrad_course as tg
    >>> index_select(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """
    dim = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_select(): Index is supposed to be a vector, not of shape {list(index.shape)}"
        )
    places, n = index._array, input.shape[dim] if input.ndim else 1
    if places.dtype.kind not in "iu" or places.dtype.itemsize < 4:
        raise RuntimeError(
            f"index_select(): Expected dtype int32 or int64 for index, got {index.dtype!r}"
        )
    if places.size and not bool(((places >= 0) & (places < n)).all()):
        raise IndexError(
            f"index out of range in self: dim {dim} has size {n}, index holds {index.tolist()}"
        )
    return IndexSelect.fn(input, index, dim)


class IndexAdd(Op, fn=""):
    """x with alpha · the rows of y added at the places of `dim`; dx = g, dy = alpha ·
    index_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, dim, alpha):
        ctx.save(places, dim, alpha)
        out = x.copy()
        y = y if alpha == 1 else y * alpha
        backend_of(out).scatter_add(out, (slice(None),) * dim + (places.reshape(-1),), y)
        return out

    def backward(ctx, g):
        places, dim, alpha = ctx.saved
        return g, None, IndexSelect.fn(g, places, dim) * alpha if ctx.needs[2] else None


def _index_add_checks(self: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_add(): Index is supposed to be a vector, not of shape {list(index.shape)}"
        )
    if source.dtype is not self.dtype:
        raise RuntimeError(
            f"index_add(): self ({self.dtype!r}) and source ({source.dtype!r}) must have the same "
            "scalar type"
        )
    expected = [index.numel() if d == dim else n for d, n in enumerate(self.shape)]
    if list(source.shape) != expected:
        raise RuntimeError(
            f"index_add(): source of shape {list(source.shape)} does not fit: for self "
            f"{list(self.shape)} and {index.numel()} places "
            f"along dim {dim} it must be {expected}"
        )
    _require_places(index._array, self.shape[dim], "index_add", IndexError)
    return dim


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy of input with alpha · source[i] added to the slice of `dim` at index[i].

    >>> import tinygrad_course as tg
    >>> index_add(tg.zeros(3), 0, tg.tensor([0, 0]), tg.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    return IndexAdd.fn(input, index, source, _index_add_checks(input, dim, index, source), alpha)


def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """As `index_add`, into this tensor."""
    dim = _index_add_checks(self, dim, index, source)
    return change(IndexAdd, self, (index, source), {"dim": dim, "alpha": alpha})


# --- masks ----------------------------------------------------------------------------------------


class _MaskedFill(Op, fn="", node="MaskedFillBackward0"):
    """x with `value` where the mask holds; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, /, value):
        ctx.save(mask)
        y = xp.array(x, order="C")
        y[mask] = value
        return y

    def backward(ctx, g):
        (mask,) = ctx.saved
        return _MaskedFill.fn(g, mask, 0), None


def _mask_for(self: Tensor, mask: Tensor) -> Tensor:
    if mask._array.dtype != bool:
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype!r}"
        )
    shape = broadcast_shapes(self.shape, mask.shape)
    return mask if mask.shape == shape else expand(mask, shape)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` (a number or a 0-dim tensor) where `mask` holds; both are broadcast.

    >>> import tinygrad_course as tg
    >>> masked_fill(tg.tensor([1., 2.]), tg.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    mask = _mask_for(input, mask)
    input = expand(input, mask.shape)
    if isinstance(value, Tensor):
        return where(mask, _filling(value).to(input.dtype), input)
    return _MaskedFill.fn(input, mask, number_for(value, input.dtype))


def _filling(value: Tensor) -> Tensor:
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return value


def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """As `masked_fill`, into this tensor."""
    mask = _mask_for(self, mask)
    if mask.shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape "
            f"{list(mask.shape)}"
        )
    if isinstance(value, Tensor):
        return self.copy_(where(mask, _filling(value).to(self.dtype), self))
    return change(_MaskedFill, self, (mask,), {"value": number_for(value, self.dtype)})


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` holds, as a vector.

    >>> import tinygrad_course as tg
    >>> masked_select(tg.tensor([1., 2.]), tg.tensor([False, True]))
    tensor([2.])
    """
    mask = _mask_for(input, mask)
    return getitem(expand(input, mask.shape), mask)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of the nonzero elements: one row each, or with `as_tuple` one vector per dim.

    >>> import tinygrad_course as tg
    >>> nonzero(tg.tensor([0, 3, 4]))
    tensor([[1],
            [2]])
    """
    a = input._array
    found = xp_of(a).stack(a.reshape(-1 if not a.ndim else a.shape).nonzero())
    if as_tuple:
        return tuple(Tensor._wrap(row) for row in found)
    return Tensor._wrap(found[: a.ndim].T)


function(gather, scatter_add, index_select, index_add, masked_fill, masked_select, nonzero)
method(gather, scatter_add, index_select, index_add, masked_fill, masked_select, nonzero)
method(scatter_add_, index_add_, masked_fill_)
method(__getitem__=getitem)
method(__setitem__=setitem)
