"""What all factories share: the options `dtype=`, `device=`, `out=`, … and the sizes they take.

A factory makes a `Plan` of its options, asks it for the array module and the type, and hands it the
array that it made. Knows no factory. Lesson 01.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from ..autograd.variable import Tensor
from ..device import Device, backend_for, chosen, defaults, move
from ..dtype import DType, as_dtype
from ..layout import Layout, strided
from ..shape import ints, require_sizes
from .registry import write_out


class Options(TypedDict, total=False):
    """The keyword arguments of every factory."""

    out: Tensor | None
    dtype: DType | None
    layout: Layout
    device: Any
    requires_grad: bool
    pin_memory: bool


class SizeOptions(Options, total=False):
    """Those of a factory whose sizes may come by keyword."""

    size: Any


class Plan:
    """How a factory makes its tensor.

    `xp` is the array module, `dtype` the element type (the given one, that of `out`, or the
    default), `numpy_type` the same for arrays. TypeError for options of a wrong type, or that
    nobody knows.
    """

    __slots__ = ("device", "dtype", "numpy_type", "out", "requires_grad", "xp")

    def __init__(self, name: str, options: Mapping[str, Any], default: DType) -> None:
        self.device: Device | None = defaults.device
        self.out: Tensor | None = None
        self.requires_grad = False
        self.dtype = default
        if options:
            self._read(name, options)
        self.numpy_type = self.dtype.numpy
        self.xp = np if self.device is None else backend_for(self.device.type).xp

    def _read(self, name: str, options: Mapping[str, Any]) -> None:
        if unknown := [key for key in options if key not in Options.__annotations__]:
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}")
        out, dtype = options.get("out"), options.get("dtype")
        if out is not None:
            if not isinstance(out, Tensor):
                raise TypeError(f"{name}(): out must be a Tensor, not {type(out).__name__}")
            if dtype is not None and as_dtype(dtype) is not out.dtype:
                raise RuntimeError(
                    f"{name}(): dtype {dtype!r} does not match dtype of out parameter "
                    f"({out.dtype!r})"
                )
            dtype = out.dtype
        self.out = out
        if dtype is not None:
            self.dtype = as_dtype(dtype)
        if not isinstance(options.get("layout", strided), Layout):
            raise TypeError(f"{name}(): layout must be tg.strided, not {options['layout']!r}")
        require_unpinned(options.get("pin_memory", False))
        self.requires_grad = require_flag(name, options.get("requires_grad", False))
        self.device = chosen(options.get("device"))

    def finish(self, array: Any) -> Tensor:
        """The tensor of an array that the factory has made: on its device, recorded if need be, or
        written into `out`."""
        result = Tensor._wrap(array if self.device is None else move(array, self.device))
        if self.out is not None:
            return write_out(result, self.out)
        if self.requires_grad:
            result.requires_grad_()
        return result


def require_flag(name: str, requires_grad: Any) -> bool:
    """`requires_grad` as it is; TypeError when it is no bool."""
    if not isinstance(requires_grad, bool):
        raise TypeError(f"{name}(): requires_grad must be a bool, not {requires_grad!r}")
    return requires_grad


def require_unpinned(pin_memory: bool) -> None:
    """RuntimeError for pinned memory, which this engine leaves out."""
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True is left out: there is no allocator of pinned memory here; leave the "
            "argument away"
        )


def sizes_of(name: str, size: tuple[Any, ...], options: dict[str, Any]) -> tuple[int, ...]:
    """The sizes of `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`, taken out of `options`."""
    if "size" in options:
        if size:
            raise TypeError(f"{name}() got multiple values for argument 'size'")
        size = (options.pop("size"),)
    elif not size:
        raise TypeError(f"{name}() missing 1 required positional argument: 'size'")
    if len(size) == 1 and type(size[0]) is not int and isinstance(size[0], Sequence):
        return sizes_in(name, size[0])
    return sizes_in(name, size)


def sizes_in(name: str, size: Any) -> tuple[int, ...]:
    """A sequence of sizes as a tuple of ints; TypeError for anything else, RuntimeError for
    negative ones."""
    if not isinstance(size, tuple | list) and (
        not isinstance(size, Sequence) or isinstance(size, str)
    ):
        raise TypeError(f"{name}(): size must be a tuple of ints, not {type(size).__name__}")
    for n in size:
        if type(n) is not int:
            size = ints(size, f"{name}(): each size")
            break
    for n in size:
        if n < 0:
            require_sizes(size)
    return tuple(size)
