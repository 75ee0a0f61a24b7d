"""Conversions: to another dtype or device, and copies.

`to` returns the tensor itself when nothing has to change. Gradients travel back through the same
conversion the other way. Lesson 01.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.mode import mode
from ..autograd.node import blank, unbroadcast
from ..autograd.variable import Tensor
from ..device import Device, device_of, move
from ..dtype import (
    ALL,
    DType,
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
from ..shape import broadcast_shapes
from .inplace import change, overlaps, require_changeable
from .registry import Op, method


def memory_order(x: Any) -> str:
    """The order of a copy's elements, for NumPy: the array's own, or row-major where it overlaps
    itself and has none."""
    return "C" if any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True)) else "K"


class ToCopy(Op, fn=""):
    """x in another dtype and on another device; dx = g, converted back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dtype, device):
        ctx.save(x.dtype, device_of(x))
        moved = move(x, device)
        if moved is x or moved.dtype != dtype:
            return moved.astype(dtype, order=memory_order(x), copy=True)
        return moved

    def backward(ctx, g):
        dtype, device = ctx.saved
        return ToCopy.fn(g, dtype, device)


class Clone(Op, method=True):
    """A copy of x in memory of its own, in the same order; dx = g."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.array(x, order=memory_order(x))

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


def to(
    self: Tensor,
    *args: Any,
    dtype: DType | None = None,
    device: Any = None,
    copy: bool = False,
    non_blocking: bool = False,
) -> Tensor:
    """The tensor in a dtype, on a device, or in those of another tensor: x.to(tg.float64),
    x.to("cuda"), x.to(other).

    Itself when nothing changes and not `copy`. Copies to a GPU are ordered with its work either
    way, so `non_blocking` changes nothing here.

    >>> import tinygrad_course as tg
    >>> tg.tensor([1, 2]).to(tg.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    for arg in args:
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, str | Device) or (isinstance(arg, int) and not isinstance(arg, bool)):
            device = arg
        else:
            raise TypeError(
                f"to() takes a dtype, a device or a tensor, not {type(arg).__name__} {arg!r}"
            )
    dtype = self.dtype if dtype is None else dtype
    if not isinstance(dtype, DType):
        raise TypeError(f"dtype must be one of tg.float32, tg.int64, …, not {dtype!r}")
    here = self.device
    there = here if device is None else Device(device)
    if there.type == here.type and there.index is None:
        there = here
    if dtype is self.dtype and there == here and not copy:
        return self
    result: Tensor = ToCopy.fn(self, dtype.numpy, there)
    return result


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The name of the tensor's type, e.g. 'torch.FloatTensor'; with a dtype or such a name, the
    tensor converted to it."""
    if dtype is None:
        prefix = "torch.cuda." if self.device.type == "cuda" else "torch."
        return prefix + self.dtype.tensor_type
    if isinstance(dtype, DType):
        return to(self, dtype)
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", repr(dtype))
    device = "cuda" if ".cuda." in name or getattr(dtype, "device_kind", "cpu") == "cuda" else "cpu"
    for candidate in ALL:
        if candidate.tensor_type == name.rpartition(".")[2]:
            return to(self, candidate, device=device)
    raise ValueError(
        f"invalid type: {name!r}; the names are 'torch.FloatTensor', 'torch.LongTensor', …"
    )


def contiguous(self: Tensor) -> Tensor:
    """The tensor in row-major memory: itself when it is already.

    >>> import tinygrad_course as tg
    >>> tg.zeros(2, 3).t().contiguous().stride()
    (2, 1)
    """
    return self if self.is_contiguous() else Contiguous.fn(self)


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Writes `src`, broadcast and converted, into this tensor's memory."""
    if isinstance(src, int | float):
        number = np.asarray(number_for(src, self.dtype), self.dtype.numpy)
        src = Tensor._wrap(move(number, self.device))
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): a Tensor was expected, not {type(src).__name__}")
    shape = broadcast_shapes(self.shape, src.shape)
    if shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}"
        )
    if src.device != self.device:
        src = to(src, device=self.device)
    return change(Copy, self, (src,), {})


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


def _as(dtype: DType) -> Any:
    return lambda self: to(self, dtype)


method(to, contiguous, copy_, fill_, zero_, type=type_)
method(
    type_as=lambda self, other: to(self, other),
    cpu=lambda self: to(self, device="cpu"),
    cuda=lambda self, device="cuda", non_blocking=False: to(self, device=device),
)
method(half=_as(float16), float=_as(float32), double=_as(float64), bool=_as(bool_))
method(byte=_as(uint8), char=_as(int8), short=_as(int16), int=_as(int32), long=_as(int64))
