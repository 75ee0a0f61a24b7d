"""Writer: a value as a pickle, without the pickle module.

A pickle is a program for a small stack machine; this writes the one that rebuilds a value, in the
words that PyTorch's own files use. It knows tensors and plain containers. Where the bytes of
storages are kept, it must not know: it numbers them. Lesson 18.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from ..autograd.variable import Tensor
from ..device import Device
from ..dtype import DType
from ..nn.parameter import Parameter
from ..ops.window import Geometry
from ..shape import Size
from ..storage import Storage
from .names import DEVICE, ENCODE, ORDERED_DICT, PARAMETER, SET, SIZE, TENSOR, Global


class Writer:
    """Writes one value as a pickle of protocol 2; `storages` are those under its tensors, in the
    order of their numbers."""

    def __init__(self) -> None:
        self.out = bytearray(b"\x80\x02")
        self.storages: list[Storage] = []
        self._numbers: dict[int, int] = {}  # of storages, by their ids
        self._memo: dict[int, tuple[int, Any]] = {}  # with the object, which so keeps its id

    def program(self, value: Any) -> bytes:
        """The pickle of `value`; TypeError for what only code could rebuild."""
        try:
            self._write(value, "the object")
        except RecursionError:
            raise ValueError("the object is nested too deeply to be saved") from None
        return bytes(self.out + b".")

    def _write(self, value: Any, where: str) -> None:
        if self._again(value):
            return
        kind = type(value)
        writer = self._WRITERS.get(kind)
        if writer is None:
            name = f"{kind.__module__}.{kind.__qualname__}"
            hint = ""
            if hasattr(value, "state_dict"):
                hint = "; save its state_dict() and load it into a new one"
            elif kind.__module__ == "numpy":
                hint = "; save tg.from_numpy(array), or a number's .item()"
            raise TypeError(
                f"{where} is a {name}, which could only be rebuilt by running code: tensors, "
                f"storages, numbers, strings and plain containers of them can be saved{hint}"
            )
        writer(self, value, where)

    def _again(self, value: Any) -> bool:
        """Writes a reference when `value` was written before."""
        if (known := self._memo.get(id(value))) is None:
            return False
        self.out += b"j" + struct.pack("<I", known[0])
        return True

    def _remember(self, value: Any) -> None:
        number = len(self._memo)
        self._memo[id(value)] = (number, value)
        self.out += b"r" + struct.pack("<I", number)

    def _none(self, value: None, where: str) -> None:
        self.out += b"N"

    def _bool(self, value: bool, where: str) -> None:
        self.out += b"\x88" if value else b"\x89"

    def _int(self, value: int, where: str) -> None:
        if -(2**31) <= value < 2**31:
            self.out += b"J" + struct.pack("<i", value)
            return
        size = value.bit_length() // 8 + 1
        if size > 255:
            raise ValueError(f"{where} is an integer of {size} bytes, and 255 is the most")
        self.out += b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)

    def _float(self, value: float, where: str) -> None:
        self.out += b"G" + struct.pack(">d", value)

    def _str(self, value: str, where: str = "") -> None:
        text = value.encode("utf-8", "surrogatepass")
        self.out += b"X" + struct.pack("<I", len(text)) + text

    def _bytes(self, value: bytes, where: str) -> None:
        self._global(ENCODE)
        self._str(value.decode("latin1"))
        self._str("latin1")
        self.out += b"\x86R"

    def _tuple(self, value: tuple[Any, ...], where: str) -> None:
        self.out += b"("
        for i, item in enumerate(value):
            self._write(item, f"{where}[{i}]")
        self.out += b"t"

    def _list(self, value: list[Any], where: str) -> None:
        self.out += b"]"
        self._remember(value)
        self.out += b"("
        for i, item in enumerate(value):
            self._write(item, f"{where}[{i}]")
        self.out += b"e"

    def _dict(self, value: dict[Any, Any], where: str) -> None:
        self.out += b"}"
        self._remember(value)
        self._items(value, where)

    def _items(self, value: dict[Any, Any], where: str) -> None:
        self.out += b"("
        for key, item in value.items():
            self._write(key, f"the key {key!r} of {where}")
            self._write(item, f"{where}[{key!r}]")
        self.out += b"u"

    def _ordered_dict(self, value: OrderedDict[Any, Any], where: str) -> None:
        self._global(ORDERED_DICT)
        self.out += b")R"
        self._remember(value)
        self._items(value, where)
        if vars(value):  # the `_metadata` of a state dict
            self._dict(vars(value), f"vars({where})")
            self.out += b"b"

    def _set(self, value: set[Any], where: str) -> None:
        self._global(SET)
        self._list(list(value), where)
        self.out += b"\x85R"

    def _size(self, value: Size, where: str) -> None:
        self._global(SIZE)
        self._tuple(tuple(value), where)
        self.out += b"\x85R"

    def _dtype(self, value: DType, where: str) -> None:
        self._global(Global("torch", value.name))

    def _device(self, value: Device, where: str) -> None:
        self._global(DEVICE)
        self._tuple((value.type,) if value.index is None else (value.type, value.index), where)
        self.out += b"R"

    def _tensor(self, value: Tensor, where: str) -> None:
        self._rebuilt_tensor(value, value.requires_grad)
        self._remember(value)

    def _parameter(self, value: Parameter, where: str) -> None:
        self._global(PARAMETER)
        self.out += b"("
        self._rebuilt_tensor(value, False)
        self._bool(value.requires_grad, where)
        self._no_hooks()
        self.out += b"tR"
        self._remember(value)

    def _rebuilt_tensor(self, value: Tensor, requires_grad: bool) -> None:
        window = Geometry.of(value)
        self._global(TENSOR)
        self.out += b"("
        self._storage(value.storage())
        self._int(window.offset, "")
        self._tuple(window.shape, "")
        self._tuple(window.stride, "")
        self._bool(requires_grad, "")
        self._no_hooks()
        self.out += b"tR"

    def _storage(self, value: Storage, where: str = "") -> None:
        number = self._numbers.setdefault(id(value), len(self.storages))
        if number == len(self.storages):
            self.storages.append(value)
        self.out += b"("
        self._str("storage")
        self._global(Global("torch", value.dtype.tensor_type.replace("Tensor", "Storage")))
        self._str(str(number))
        self._str(str(value.device))
        self._int(value.size(), "")
        self.out += b"tQ"

    def _no_hooks(self) -> None:
        self._global(ORDERED_DICT)
        self.out += b")R"

    def _global(self, name: Global) -> None:
        self.out += f"c{name.module}\n{name.name}\n".encode()

    _WRITERS: ClassVar[dict[type, Callable[..., None]]] = {
        type(None): _none,
        bool: _bool,
        int: _int,
        float: _float,
        str: _str,
        bytes: _bytes,
        tuple: _tuple,
        list: _list,
        dict: _dict,
        OrderedDict: _ordered_dict,
        set: _set,
        Size: _size,
        DType: _dtype,
        Device: _device,
        Tensor: _tensor,
        Parameter: _parameter,
        Storage: _storage,
    }
