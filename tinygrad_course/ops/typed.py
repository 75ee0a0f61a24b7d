"""The typed constructors of the era: tg.Tensor, tg.FloatTensor, …, and their names.

`tg.FloatTensor(2, 3)` has that size and arbitrary contents, `tg.FloatTensor([2, 3])` those values;
given an ndarray, a tensor or a storage of its type, it is laid on their memory. Lesson 01.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import Device
from ..dtype import ALL, DType, get_default_dtype
from ..dtype import result_type as promoted
from ..shape import Size
from ..storage import Storage, UntypedStorage
from .creation import empty
from .data import array_of, from_numpy, placed
from .factory import sizes_in
from .memory import adopt, of_type
from .registry import function, method

# --- by size, by values, on memory ----------------------------------------------------------------


def legacy_tensor(cls: type[Tensor], *args: Any, **named: Any) -> Tensor:
    """tg.Tensor(2, 3): that size, contents arbitrary. tg.Tensor([2, 3]): those values.
    tg.Tensor(other): the same memory."""
    if cls is not Tensor:
        raise TypeError(
            f"{cls.__name__} has a constructor of its own and cannot be made like tg.Tensor(2, 3)"
        )
    if len(args) == 1 and isinstance(args[0], Tensor):
        return _alias(args[0])  # of whatever type
    return typed_tensor(get_default_dtype(), Device("cpu"), args, **named)


def typed_tensor(
    dtype: DType, place: Device, args: tuple[Any, ...], *, device: Any = None, **named: Any
) -> Tensor:
    """What tg.FloatTensor(*args) makes, for a dtype and a device; `data=` or `size=` may stand for
    the only argument."""
    name = f"torch.{'cuda.' if place.type == 'cuda' else ''}{dtype.tensor_type}"
    if device is not None and Device(device).type != place.type:
        raise RuntimeError(
            f"legacy constructor expects device type: {place.type} but device type: "
            f"{Device(device).type} was passed"
        )
    if named:
        (key, value), *more = named.items()
        if more or args or key not in ("data", "size"):
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        args = (Size(value),) if key == "size" else (value,)
    if not args:
        return empty(0, dtype=dtype, device=place)
    data = args[0]
    if isinstance(data, int | np.integer) and not isinstance(data, bool):
        return empty(sizes_in(name, args), dtype=dtype, device=place)
    if len(args) > 1:
        kinds = ", ".join(type(v).__name__ for v in args)
        raise TypeError(f"{name}() takes sizes, or one thing to be made of, not ({kinds})")
    if isinstance(data, Size):
        return empty(data, dtype=dtype, device=place)
    if isinstance(data, Storage | UntypedStorage):
        storage = of_type(data, dtype, place)
        return adopt(Tensor._wrap(storage._buffer[...]), storage)
    if isinstance(data, Tensor):
        if data.dtype is not dtype or data.device.type != place.type:
            raise TypeError(f"expected {name} (got {data.type()}): convert with .to(...)")
        return _alias(data)
    if isinstance(data, np.ndarray):
        host = from_numpy(data)
        return host.to(place, dtype)
    if isinstance(data, Sequence):
        return placed(array_of(data, dtype), place)
    raise TypeError(
        f"{name}(): data must be a sequence, an ndarray, a tensor or a storage (got "
        f"{type(data).__name__})"
    )


def _alias(x: Tensor) -> Tensor:
    """Another Tensor on the same memory, whose gradient flows back."""
    return x.view(x.shape) if x.requires_grad else x.detach()


def new(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """The typed constructor of this tensor's type: x.new(2, 3), x.new([1, 2])."""
    return typed_tensor(self.dtype, self.device, args, **named)


# --- tg.FloatTensor and its like ------------------------------------------------------------------


class TensorType(type):
    """The type of tg.FloatTensor and its like: calling one makes a Tensor, isinstance looks at
    dtype and device."""

    dtype: DType
    device_kind: str

    @property
    def is_cuda(cls) -> bool:
        return cls.device_kind == "cuda"

    def __call__(cls, *args: Any, **named: Any) -> Tensor:
        return typed_tensor(cls.dtype, Device(cls.device_kind), args, **named)

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is cls.dtype
            and instance.device.type == cls.device_kind
        )

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' if cls.is_cuda else ''}{cls.__name__}'>"


def _tensor_types(device_kind: str) -> dict[str, TensorType]:
    return {
        d.tensor_type: TensorType(d.tensor_type, (), {"dtype": d, "device_kind": device_kind})
        for d in ALL
    }


TYPED = _tensor_types("cpu")
CUDA_TYPED = _tensor_types("cuda")


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **named: Any) -> Any:
    """The name of the tensor's type, e.g. 'torch.FloatTensor'; with a dtype, a tensor type or its
    name, the tensor converted to it (itself when nothing changes).

    >>> import tinygrad_course as tg
    >>> tg.ones(1).type(), tg.ones(1).type("torch.LongTensor"), tg.ones(1).type(tg.int8).type()
    ('torch.FloatTensor', tensor([1]), 'torch.CharTensor')
    """
    if dtype is None:
        prefix = "torch.cuda." if self.device.type == "cuda" else "torch."
        return prefix + self.dtype.tensor_type
    if isinstance(dtype, DType):
        return self.to(dtype, **named)
    if not isinstance(dtype, str | type):
        raise TypeError(f"type(): a dtype, a tensor type or its name was expected, not {dtype!r}")
    if isinstance(dtype, TensorType):
        return self.to(dtype.dtype, device=dtype.device_kind, **named)
    if dtype in (Tensor, "torch.Tensor"):
        return self.to(get_default_dtype(), device="cpu", **named)
    name = dtype if isinstance(dtype, str) else dtype.__name__
    for kinds, prefix in ((TYPED, "torch."), (CUDA_TYPED, "torch.cuda.")):
        for kind in kinds.values():
            if name == prefix + kind.__name__:
                return type_(self, kind, **named)
    raise ValueError(
        f"invalid type: {name!r}; the names are 'torch.FloatTensor', 'torch.LongTensor', …"
    )


# --- questions about types ------------------------------------------------------------------------


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype in which an operation of two operands (tensors or numbers) computes.

    >>> import tinygrad_course as tg
    >>> result_type(tg.tensor([1]), 1.5)
    torch.float32
    """
    return promoted(*(x._array if isinstance(x, Tensor) else x for x in (tensor1, tensor2)))


def typename(obj: Any) -> str:
    """The name of a tensor's or storage's type, or of an object's class with its module."""
    if isinstance(obj, Tensor | Storage):
        name: str = obj.type()
        return name
    kind = obj if isinstance(obj, type) else type(obj)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def _asking(name: str) -> Any:
    """A function that asks a tensor by its method `name`."""

    def ask(input: Tensor) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): input must be a Tensor, not {type(input).__name__}")
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"The function to the method x.{name}()."
    return ask


for _name in ("numel", "is_floating_point", "is_complex", "is_signed", "is_nonzero", "detach"):
    function(_asking(_name))
method(new, type=type_)
