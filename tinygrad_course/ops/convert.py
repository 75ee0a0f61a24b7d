"""Conversions: to another dtype, device or memory order, and copies.

`to` returns the tensor itself when nothing has to change. Gradients travel back through the same
conversion the other way. Lesson 01.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.mode import mode
from ..autograd.node import blank, unbroadcast
from ..autograd.variable import Tensor
from ..device import Device, backend_of, device_of, move, with_index, xp_of
from ..dtype import (
    DType,
    as_dtype,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    number_for,
    uint8,
)
from ..layout import MemoryFormat, contiguous_format, preserve_format, strides_for
from ..shape import broadcast_shapes
from .inplace import change, overlaps, require_changeable
from .registry import Op, function, method
from .window import Geometry


def memory_order(x: Any) -> str:
    """The order of a copy's elements, for NumPy: the array's own, or row-major where it overlaps
    itself and has none."""
    return "C" if any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True)) else "K"


def new_array(xp: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """An empty array with those strides, in elements, on memory of its own."""
    buffer = xp.empty(Geometry(shape, strides, 0).end(), dtype)
    steps = tuple(s * buffer.itemsize for s in strides)
    return backend_of(buffer).window(buffer, shape, steps, 0)


def copied(xp: Any, x: Any, dtype: Any, memory_format: MemoryFormat) -> Any:
    """A copy of the array `x` in `dtype`, in the memory order of `x` or another one."""
    if memory_format is contiguous_format:
        return x.astype(dtype, order="C", copy=True)
    if memory_format is preserve_format and x.flags.forc:
        return x.astype(dtype, order="K", copy=True)
    strides = strides_for(x.shape, tuple(s // x.itemsize for s in x.strides), memory_format)
    copy = new_array(xp, dtype, x.shape, strides)
    copy[...] = x
    return copy


class ToCopy(Op, fn=""):
    """x in another dtype, on another device, in another memory order; dx = g, converted back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dtype, device, memory_format=preserve_format):
        ctx.save(x.dtype, device_of(x))
        moved = move(x, device)
        if moved is x or moved.dtype != dtype:
            return copied(xp_of(moved), moved, dtype, memory_format)
        return moved

    def backward(ctx, g):
        dtype, device = ctx.saved
        return ToCopy.fn(g, dtype, device)


class Clone(Op, method=True):
    """A copy of x in memory of its own, in the same order or in `memory_format`; dx = g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, *, memory_format=preserve_format):
        return copied(xp, x, x.dtype, memory_format)

    def backward(ctx, g):
        return g


class Contiguous(Op, fn="", node="CloneBackward0"):
    """A copy of x in row-major order; dx = g."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.array(x, order="C")

    def backward(ctx, g):
        return g


class Copy(Op, fn="", node="CopyBackwards"):
    """y in the shape and dtype of x, for x.copy_(y); dx = 0, dy = g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(y.shape, y.dtype)
        return xp.broadcast_to(y, x.shape).astype(x.dtype)

    def backward(ctx, g):
        shape, dtype = ctx.saved
        gy = to_dtype(g if tuple(g.shape) == shape else unbroadcast(g, shape), dtype)
        return blank(g) if ctx.needs[0] else None, gy


def to_dtype(x: Any, dtype: Any) -> Any:
    """An array or Tensor in a dtype, NumPy's or ours; itself when it has it."""
    dtype = getattr(dtype, "numpy", dtype)
    if isinstance(x, Tensor):
        return x if x._array.dtype == dtype else ToCopy.fn(x, np.dtype(dtype), x.device)
    return x if x.dtype == dtype else x.astype(dtype)


def what_to(
    args: tuple[Any, ...], dtype: Any, device: Any, non_blocking: bool, copy: bool
) -> tuple[Any, Any, bool]:
    """dtype, device and `copy` of the forms to(dtype, …), to(device, dtype, …) and to(other, …),
    where … is non_blocking, copy."""
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        dtype, device = other.dtype, other.device
    else:
        if rest and (rest[0] is None or _is_device(rest[0])):
            device = rest.pop(0)
        if rest and (isinstance(rest[0], DType) or rest[0] in (None, float, int, bool)):
            dtype = rest.pop(0)
    flags = [non_blocking, copy]
    if len(rest) > 2 or any(not isinstance(v, bool) for v in rest):
        shown = ", ".join(type(v).__name__ for v in args)
        raise TypeError(f"to() takes a dtype, a device and a dtype, or a tensor, not ({shown})")
    flags[: len(rest)] = rest
    return None if dtype is None else as_dtype(dtype), device, flags[1]


def _is_device(value: Any) -> bool:
    return isinstance(value, str | Device) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def to(
    self: Tensor,
    *args: Any,
    dtype: DType | None = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat = preserve_format,
) -> Tensor:
    """The tensor in a dtype, on a device, or in those of another tensor: x.to(tg.float64),
    x.to("cuda"), x.to("cuda", tg.float16), x.to(other).

    Itself when nothing changes and not `copy`. Copies to a GPU are ordered with its work either
    way, so `non_blocking` changes nothing here.

    >>> import tinygrad_course as tg
    >>> tg.tensor([1, 2]).to(tg.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    dtype, device, copy = what_to(args, dtype, device, non_blocking, copy)
    dtype = self.dtype if dtype is None else dtype
    here = self.device
    there = here if device is None else with_index(Device(device))
    if dtype is self.dtype and there == here and not copy:
        if memory_format in (preserve_format, contiguous_format) or self.is_contiguous(
            memory_format
        ):
            return self
    result: Tensor = ToCopy.fn(self, dtype.numpy, there, memory_format)
    return result


def contiguous(self: Tensor, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """The tensor in row-major memory (or in `memory_format`): itself when it is already.

    >>> import tinygrad_course as tg
    >>> tg.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if self.is_contiguous(memory_format):
        return self
    if memory_format is preserve_format:
        raise RuntimeError("contiguous() needs an order to make: preserve_format is none")
    if memory_format is contiguous_format:
        return Contiguous.fn(self)
    return Clone.fn(self, memory_format=memory_format)


def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Writes `other`, broadcast and converted, into this tensor's memory."""
    if isinstance(other, int | float):
        number = np.asarray(number_for(other, self.dtype), self.dtype.numpy)
        other = Tensor._wrap(move(number, self.device))
    if not isinstance(other, Tensor):
        raise TypeError(f"copy_(): a Tensor was expected, not {type(other).__name__}")
    shape = broadcast_shapes(self.shape, other.shape)
    if shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}"
        )
    if other.device != self.device:
        other = to(other, device=self.device)
    return change(Copy, self, (other,), {})


class _Fill(Op, fn="", node="FillBackward0"):
    """A tensor like x, all of one value; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, value):
        return xp.full(x.shape, value, x.dtype)

    def backward(ctx, g):
        return blank(g)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Sets every element to a number (or a 0-dim tensor, which then gets the gradients' sum)."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
                "dimensions."
            )
        # Its own memory may be among what is overwritten.
        return copy_(self, value.clone() if value._storage is self._storage else value)
    if overlaps(self):  # writing one value several times to one place is no ambiguity
        from .slices import Slice

        once = [slice(1 if s == 0 else None) for s in self.stride()]
        fill_(Slice.fn(self, (*once, ...)), value)
        return self
    return change(_Fill, self, (), {"value": number_for(value, self.dtype)})


def zero_(self: Tensor) -> Tensor:
    """Sets every element to 0."""
    return fill_(self, 0)


def overwrite(self: Tensor, values: Any) -> Tensor:
    """Puts an array of values without history (random numbers) into this tensor, in place."""
    require_changeable(self)
    if mode.enabled and self.requires_grad:
        return change(Copy, self, (Tensor._wrap(values),), {})
    self._array[...] = values
    self._bump()
    return self


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with a number (or a 0-dim tensor) everywhere."""
    return fill_(Clone.fn(input), value)


def _converting(dtype: DType) -> Any:
    def convert(self: Tensor, memory_format: MemoryFormat = preserve_format) -> Tensor:
        """The tensor in another dtype: itself when it has it."""
        if self.dtype is dtype and memory_format is preserve_format:
            return self
        return to(self, dtype, memory_format=memory_format)

    return convert


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of another one."""
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as() takes a Tensor, not {type(other).__name__}")
    return to(self, other)


def cpu(self: Tensor, memory_format: MemoryFormat = preserve_format) -> Tensor:
    """The tensor in the host's memory: itself when it is there already."""
    return to(self, device="cpu", memory_format=memory_format)


def cuda(
    self: Tensor,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: MemoryFormat = preserve_format,
) -> Tensor:
    """The tensor on a CUDA device, the current one unless given; RuntimeError says why where there
    is none."""
    there = Device("cuda" if device is None else device)
    if there.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device, not {there}: use .to({there})")
    return to(self, device=there, memory_format=memory_format)


function(fill, fill_, zero_)
method(to, contiguous, copy_, fill_, zero_, type_as, cpu, cuda)
method(half=_converting(float16), float=_converting(float32), double=_converting(float64))
method(bool=_converting(bool_), byte=_converting(uint8), char=_converting(int8))
method(short=_converting(int16), int=_converting(int32), long=_converting(int64))
