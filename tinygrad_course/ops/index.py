"""Indexing: x[...] in all its forms, read and written.

What stands in the brackets makes a view and names places in it (`brackets`). Picking elements at
places copies; where one is picked several times its gradients add up. Lesson 03.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.node import unbroadcast
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..dtype import number_for
from .brackets import Places, as_part, dims_of, plain_view, resolve
from .convert import memory_order
from .dims import row_major
from .inplace import change, refuse_overlap, require_changeable
from .places import addresses, common_shape, picked_order, picked_shape, scatter_flat, scatter_rows
from .registry import Op, function, method
from .slices import Alias, select
from .views import unsqueeze


class Index(Op, fn="", node="IndexBackward0"):
    """x[…] with tensors of places for the dims `at`; dx = zeros with g added at those places."""

    __slots__ = ()

    def forward(ctx, xp, x, *places, at):
        ctx.save(x.shape, at, *places)
        if not x.size:  # where the places may be out of range
            return xp.empty(picked_shape(x.shape, common_shape(places), at), x.dtype)
        if 1 in x.shape or not all(a.flags.c_contiguous for a in (x, *places)):
            order = picked_order(x, places, at)[::-1]
            shape = picked_shape(x.shape, common_shape(places), at)
            out = xp.empty([shape[d] for d in order], x.dtype)
            out = out.transpose([order.index(d) for d in range(len(order))])
            out[...] = x[_index(x, places, at)]
            return out
        if len(at) == 1:
            return xp.take(x, places[0], at[0])  # three times as fast as x[:, places]
        return row_major(x[_index(x, places, at)])

    def backward(ctx, g):
        shape, at, *places = ctx.saved
        return AddIndex.fn(g, *places, shape=shape, at=at), *(None,) * len(places)


class AddIndex(Op, fn=""):
    """Zeros of `shape` with x added at the places of the dims `at`; dx = g[places]."""

    __slots__ = ()

    def forward(ctx, xp, x, *places, shape, at):
        ctx.save(at, *places)
        out = xp.zeros(shape, x.dtype)
        last = at[-1] + 1  # of the dims behind whole rows are added
        return scatter_rows(out, addresses(xp, shape[:last], places, at), x)

    def backward(ctx, g):
        at, *places = ctx.saved
        return Index.fn(g, *places, at=at), *(None,) * len(places)


class IndexPut(Op, fn="", node="IndexPutBackward0"):
    """x with y written (or added) at the places of the dims `at`; dx = g without them (or g),
    dy = g[places]."""

    __slots__ = ()

    def forward(ctx, xp, x, y, *places, at, accumulate=False, inplace=False):
        ctx.save(y.shape, at, accumulate, *places)
        out = x if inplace else xp.array(x, order=memory_order(x))
        if accumulate:
            flat = addresses(xp, x.shape, places, at)
            return scatter_flat(out, flat, xp.broadcast_to(y, flat.shape))
        if out.size:
            out[_index(x, places, at)] = y
        return out

    def backward(ctx, g):
        shape, at, accumulate, *places = ctx.saved
        gx = gy = None
        if ctx.needs[0]:
            gx = g if accumulate else BlankIndex.fn(g, *places, at=at)
        if ctx.needs[1]:
            gy = Index.fn(g, *places, at=at)
            gy = unbroadcast(gy, shape) if tuple(gy.shape) != tuple(shape) else gy
        return gx, gy, *(None,) * len(places)


class BlankIndex(Op, fn=""):
    """x with zeros at the places of the dims `at`; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, *places, at):
        ctx.save(at, *places)
        out = xp.array(x)
        if out.size:
            out[_index(x, places, at)] = xp.zeros((), x.dtype)
        return out

    def backward(ctx, g):
        at, *places = ctx.saved
        return BlankIndex.fn(g, *places, at=at), *(None,) * len(places)


def _index(x: Array, places: tuple[Array, ...], at: tuple[int, ...]) -> tuple[Any, ...]:
    """The index for NumPy."""
    index: list[Any] = [slice(None)] * x.ndim
    for dim, part in zip(at, places, strict=True):
        index[dim] = part
    return tuple(index)


# --- x[…] and its kin -----------------------------------------------------------------------------


def getitem(self: Tensor, index: Any) -> Tensor:
    """x[index]: a view for ints, slices, None and Ellipsis, a copy for masks and places."""
    view = plain_view(self, index if type(index) is tuple else (index,))
    if view is not None:
        return view
    view, places = resolve(self, index)
    if places.at:
        places.settle(view)
        return Index.apply(view, *places.tensors, at=places.at)
    return Alias.fn(self) if view is self else view


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """x[index] = value, in place, with history: the value gets the gradient of the places it went
    to."""
    if not isinstance(value, Tensor | bool | int | float | np.integer):
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
    parts = index if type(index) is tuple else (index,)
    if index is False:
        return
    view, places = unsqueeze(self, 0) if index is True else plain_view(self, parts), None
    if view is None:
        view, places = resolve(self, index)
    elif view.shape == self.shape and all(
        part is ... or (type(part) is slice and not part.start) for part in parts
    ):
        view = self  # x[:] = value changes x itself, and not x through a view
    shape = places.settle(view) if places and places.at else view.shape
    if isinstance(value, Tensor):
        # Leading dims of size 1 may be dropped: x[0] = row also for a row of shape (1, n).
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = select(value, 0, 0)
    if places and places.at:
        _put(view, places, value, shape)
    elif isinstance(value, Tensor):
        view.copy_(value)
    else:
        require_changeable(view)
        view.fill_(value)


def _put(
    x: Tensor, places: Places, values: Any, shape: tuple[int, ...], accumulate: bool = False
) -> Tensor:
    """Writes `values` to the places of x, in place."""
    values = _fitting(x, places, values, shape, accumulate)
    refuse_overlap(x, values, whole=True)
    params = {"at": places.at, "accumulate": accumulate, "inplace": True}
    return change(IndexPut, x, (values, *places.tensors), params)


def _fitting(
    x: Tensor, places: Places, values: Any, shape: tuple[int, ...], accumulate: bool
) -> Tensor:
    """`values` as a Tensor that can be written to places of x of this shape."""
    if not isinstance(values, Tensor):
        xp = xp_of(x._array)
        return Tensor._wrap(xp.full((), number_for(values, x.dtype), x._array.dtype))
    # A single element under a mask is filled in, which converts; anything else is not converted.
    filled = values.numel() == 1 and places.masks == 1 and not accumulate
    if values.dtype is not x.dtype and not filled:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype!r} for the destination and {values.dtype!r} for the source"
        )
    if values.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(values.shape[::-1], shape[::-1], strict=False)
    ):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    return values.to(x.device).to(x.dtype)


def _given(input: Tensor, indices: Any, values: Any) -> tuple[Places, tuple[int, ...]]:
    """The places that index_put was given, one tensor or mask after the other, and their shape."""
    if not isinstance(values, Tensor):
        raise TypeError(f"index_put(): values must be a Tensor, not {type(values).__name__}")
    if not isinstance(indices, tuple | list):
        raise TypeError(
            f"index_put(): indices must be a tuple of Tensors, not {type(indices).__name__}"
        )
    if not indices:
        raise RuntimeError("index_put(): at least one tensor of indices is needed")
    for part in indices:
        if not isinstance(part, Tensor):
            raise TypeError(f"index_put(): an index is a Tensor, not a {type(part).__name__}")
    parts = [as_part(unsqueeze(p, 0) if p.ndim == 0 else p, input) for p in indices]
    used = sum(dims_of(part) for part in parts)
    if used > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got {used})")
    places, dim = Places(), 0
    for part in parts:
        dim = places.add(input, part, dim)
    return places, places.settle(input)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` written (or added) at the places that a tuple of index tensors names.

    >>> import tinygrad_course as tg
    >>> index_put(tg.zeros(3), (tg.tensor([0, 2]),), tg.tensor([5., 6.]))
    tensor([5., 0., 6.])
    """
    places, shape = _given(input, indices, values)
    values = _fitting(input, places, values, shape, accumulate)
    return IndexPut.fn(input, values, *places.tensors, at=places.at, accumulate=accumulate)


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """As `index_put`, into this tensor."""
    places, shape = _given(self, indices, values)
    return _put(self, places, values, shape, accumulate)


function(index_put)
method(index_put, index_put_, __getitem__=getitem, __setitem__=setitem)
