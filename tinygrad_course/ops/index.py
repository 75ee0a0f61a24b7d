"""Indexing: x[...] in all its forms, read and written.

Ints, slices, None and Ellipsis make views, one after the other from the left; what is left are
places: tensors, lists and masks, which pick elements and copy. When a place is picked several times
its gradients add up. Lesson 03.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..autograd.node import unbroadcast
from ..autograd.variable import Tensor
from ..device import Array, move, xp_of
from ..dtype import number_for
from .convert import memory_order
from .dims import row_major
from .inplace import change, refuse_overlap, require_changeable
from .places import addresses, picked_order, picked_shape, scatter_flat, scatter_rows, wrapped
from .registry import Op, function, method
from .slices import Alias, Select, Slice, along, select
from .views import unsqueeze


class Index(Op, fn="", node="IndexBackward0"):
    """x[…] with tensors of places for the dims `at`; dx = zeros with g added at those places."""

    __slots__ = ()

    def forward(ctx, xp, x, *places, at):
        ctx.save(x.shape, at, *places)
        if not x.size:  # where the places may be out of range
            return xp.empty(picked_shape(x.shape, places, at), x.dtype)
        if 1 in x.shape or not all(a.flags.c_contiguous for a in (x, *places)):
            order = picked_order(x, places, at)[::-1]
            shape = picked_shape(x.shape, places, at)
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
            out[_index(x, places, at)] = 0
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


# --- from what stands in the brackets to a view and places ----------------------------------------


def _parts(index: Any) -> tuple[Any, ...]:
    """What stands in the brackets, part by part."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32:
        if any(
            part is None or part is Ellipsis or isinstance(part, Tensor | list | tuple | slice)
            for part in index
        ):
            warnings.warn(
                "a list with slices or sequences in it is taken for a tuple of indices, which is "
                "deprecated: write x[tuple(seq)], or x[tg.tensor(seq)]",
                UserWarning,
                stacklevel=4,
            )
            return tuple(index)
    return (index,)


def _settled(part: Any, x: Tensor) -> Any:
    """One part as an int, a bool, None, Ellipsis, a slice, or a Tensor of places or a mask."""
    if isinstance(part, list | tuple | range):
        array = np.array(part)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"an index is made of ints or bools, not of {array.dtype}: {part!r}")
        part = Tensor._wrap(array if array.dtype.kind == "b" else array.astype(np.int64))
    elif isinstance(part, np.ndarray):
        part = Tensor._wrap(part)
    if isinstance(part, Tensor):
        kind, width = part._array.dtype.kind, part._array.itemsize
        if kind == "f" or (kind == "i" and width < 4):
            raise IndexError(
                "tensors used as indices must be long, int, byte or bool tensors, not "
                f"{part.dtype!r}"
            )
        if kind == "u":
            if part.ndim:
                warnings.warn(
                    "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                    "torch.bool instead",
                    UserWarning,
                    stacklevel=5,
                )
            part = part.bool()
        elif kind == "i" and part.ndim == 0:
            return int(part)
        array = move(part._array, x.device)
        return part if array is part._array else Tensor._wrap(array)
    if isinstance(part, slice):
        bounds = (part.start, part.stop, part.step)
        part = slice(*(None if v is None else _bound(v) for v in bounds))
        if part.step is not None and part.step <= 0:
            raise ValueError(
                "step must be greater than zero: a tensor has no negative strides, use flip()"
            )
        return part
    if isinstance(part, np.integer):
        return int(part)
    if part is None or part is Ellipsis or isinstance(part, bool | int):
        return part
    error = TypeError if isinstance(part, str) else IndexError
    raise error(
        "only integers, slices (`:`), ellipsis (`...`), None and long or bool tensors are valid "
        f"indices (got {type(part).__name__})"
    )


def _bound(value: Any) -> int:
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method, not "
            f"{type(value).__name__}"
        ) from None


class _Places:
    """The tensors of places found in an index, and the dims they are for."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.at: tuple[int, ...] = ()
        self.masks = 0

    def add(self, view: Tensor, part: Tensor, dim: int) -> int:
        """Notes places for `dim`, or a mask for as many dims as it has; returns the next dim."""
        if part._array.dtype != bool:
            self.tensors.append(part)
            self.at += (dim,)
            return dim + 1
        shape = view.shape[dim : dim + part.ndim]
        if part.shape != shape:
            raise IndexError(
                f"The shape of the mask {list(part.shape)} at index {dim} does not match the shape "
                f"of the indexed tensor {list(view.shape)} at index {dim}"
            )
        self.masks += 1
        self.tensors += [Tensor._wrap(places) for places in part._array.nonzero()]
        self.at += tuple(range(dim, dim + part.ndim))
        return dim + part.ndim

    def settle(self, view: Tensor) -> tuple[int, ...]:
        """Checks the places against `view` and counts them from the front; returns the shape of
        what they pick. IndexError when they are out of range or don't broadcast."""
        arrays = [p._array for p in self.tensors]
        try:
            shape = picked_shape(view.shape, arrays, self.at)
            count = math.prod(np.broadcast_shapes(*(a.shape for a in arrays)))
        except ValueError:
            raise IndexError(
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                f"{', '.join(str(list(a.shape)) for a in arrays)}"
            ) from None
        for i, dim in enumerate(self.at):
            n = view.shape[dim]
            # Where nothing is picked nobody looks at the places, unless there are none to be had.
            if math.prod(shape) or (count and n == 0):
                array = wrapped(arrays[i], n, f" for dimension {dim}")
                if array is not arrays[i]:
                    self.tensors[i] = Tensor._wrap(array)
        return shape


def _resolve(x: Tensor, index: Any) -> tuple[Tensor, _Places]:
    """The view that the ints, slices, … of an index make, and the places to pick in it."""
    parts = [_settled(part, x) for part in _parts(index)]
    used = sum(_dims_of(part) for part in parts)
    if used > x.ndim:
        if x.ndim == 0 and len(parts) == 1 and not isinstance(parts[0], Tensor):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to "
                "a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}: {used} were given")
    view, places, dim = x, _Places(), 0
    for part in parts:
        if isinstance(part, bool) or (isinstance(part, Tensor) and part.ndim == 0):
            view = unsqueeze(view, dim)  # a number's mask: of a new dim, whose only place is taken
            part = Tensor._wrap(xp_of(x._array).zeros(int(part), np.int64))
        if part is Ellipsis:
            dim += x.ndim - used
        elif part is None:
            view, dim = unsqueeze(view, dim), dim + 1
        elif isinstance(part, Tensor):
            dim = places.add(view, part, dim)
        elif isinstance(part, slice):
            view, dim = view if part == slice(None) else Slice.fn(view, along(dim, part)), dim + 1
        else:
            n = view.shape[dim]
            if not -n <= part < n:
                raise IndexError(f"index {part} is out of bounds for dimension {dim} with size {n}")
            view = Select.fn(view, along(dim, part))
    return view, places


def _dims_of(part: Any) -> int:
    if isinstance(part, Tensor):
        return part.ndim if part._array.dtype == bool else 1
    return int(isinstance(part, slice) or type(part) is int)


def _is_plain(index: tuple[Any, ...]) -> bool:
    """Whether NumPy can take the index as it is: ints, slices and one Ellipsis."""
    for part in index:
        kind = type(part)
        if kind is slice:
            if part.step is not None and (type(part.step) is not int or part.step <= 0):
                return False
        elif kind is not int and part is not Ellipsis:
            return False
    return True


_ALL = slice(None)


def _plain_view(x: Tensor, parts: tuple[Any, ...]) -> Tensor | None:
    """x[parts] in one step when there are only ints and slices; None when it has to go the long
    way, which also knows what may be wrong."""
    if not parts or not _is_plain(parts):
        return None
    op: type[Slice] | None = None  # named after what is done last
    for part in parts:
        if type(part) is int:
            op = Select
        elif part is not Ellipsis and (op is None or part != _ALL):
            op = Slice
    if op is None:
        return None
    if Ellipsis not in parts:
        parts = (*parts, ...)  # keeps NumPy from turning a single element into a number
    try:
        return op.apply(x, parts)
    except IndexError:
        return None


def getitem(self: Tensor, index: Any) -> Tensor:
    """x[index]: a view for ints, slices, None and Ellipsis, a copy for masks and places."""
    view = _plain_view(self, index if type(index) is tuple else (index,))
    if view is not None:
        return view
    view, places = _resolve(self, index)
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
    view, places = unsqueeze(self, 0) if index is True else _plain_view(self, parts), None
    if view is None:
        view, places = _resolve(self, index)
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
    x: Tensor, places: _Places, values: Any, shape: tuple[int, ...], accumulate: bool = False
) -> Tensor:
    """Writes `values` to the places of x, in place."""
    values = _fitting(x, places, values, shape, accumulate)
    refuse_overlap(x, values, whole=True)
    params = {"at": places.at, "accumulate": accumulate, "inplace": True}
    return change(IndexPut, x, (values, *places.tensors), params)


def _fitting(
    x: Tensor, places: _Places, values: Any, shape: tuple[int, ...], accumulate: bool
) -> Tensor:
    """`values` as a Tensor that can be written to places of x of this shape."""
    if not isinstance(values, Tensor):
        xp = xp_of(x._array)
        return Tensor._wrap(xp.asarray(number_for(values, x.dtype), x._array.dtype))
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


def _given(input: Tensor, indices: Any, values: Any) -> tuple[_Places, tuple[int, ...]]:
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
    parts = [_settled(unsqueeze(p, 0) if p.ndim == 0 else p, input) for p in indices]
    used = sum(_dims_of(part) for part in parts)
    if used > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got {used})")
    places, dim = _Places(), 0
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
