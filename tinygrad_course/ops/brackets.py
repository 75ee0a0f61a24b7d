"""What stands in the brackets of x[…]: from an index to a view and to places in that view.

Ints, slices, None and Ellipsis make a view, one after the other from the left; what is left are
places: tensors, lists and masks, one or more for some of the view's dims. Only the index is read
here, and no element. Lesson 03.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import move, xp_of
from .places import common_shape, picked_shape, wrapped
from .slices import Select, Slice, along
from .views import unsqueeze


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


def as_part(part: Any, x: Tensor) -> Any:
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


class Places:
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
            common = common_shape(arrays)
        except ValueError:
            raise IndexError(
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                f"{', '.join(str(list(a.shape)) for a in arrays)}"
            ) from None
        sizes: tuple[int, ...] = view._array.shape
        shape = picked_shape(sizes, common, self.at)
        # Where nothing is picked nobody looks at the places, unless there are none to be had.
        picks = 0 not in shape
        for i, dim in enumerate(self.at):
            n = sizes[dim]
            if picks or (n == 0 and 0 not in common):
                array = wrapped(arrays[i], n, f" for dimension {dim}")
                if array is not arrays[i]:
                    self.tensors[i] = Tensor._wrap(array)
        return shape


def resolve(x: Tensor, index: Any) -> tuple[Tensor, Places]:
    """The view that the ints, slices, … of an index make, and the places to pick in it."""
    parts = [as_part(part, x) for part in _parts(index)]
    used = sum(dims_of(part) for part in parts)
    if used > x.ndim:
        if x.ndim == 0 and len(parts) == 1 and not isinstance(parts[0], Tensor):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to "
                "a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}: {used} were given")
    view, places, dim = x, Places(), 0
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


def dims_of(part: Any) -> int:
    if isinstance(part, Tensor):
        return part.ndim if part._array.dtype == bool else 1
    return int(isinstance(part, slice) or type(part) is int)


_ALL = slice(None)


def plain_view(x: Tensor, parts: tuple[Any, ...]) -> Tensor | None:
    """x[parts] in one step when there are only ints and slices; None when it has to go the long
    way, which also knows what may be wrong."""
    op: type[Slice] | None = None  # named after what is done last
    shows_array = False
    for part in parts:
        kind = type(part)
        if kind is slice:
            step = part.step
            if step is not None and (type(step) is not int or step <= 0):
                return None
            if op is None or part != _ALL:
                op = Slice
            shows_array = True
        elif kind is int:
            op = Select
        elif part is Ellipsis:
            shows_array = True
        else:
            return None
    if op is None:
        return None
    if not shows_array:
        parts = (*parts, ...)  # keeps NumPy from turning a single element into a number
    try:
        return op.fn(x, parts)
    except IndexError:
        return None
