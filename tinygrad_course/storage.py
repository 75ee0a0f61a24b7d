"""Storage: the flat, typed run of memory under one or many tensors.

A tensor is a window (shape, strides, offset) on a storage; views are several windows on the same
one. A storage knows its buffer and, weakly, the windows laid on it, so that all can move together
when the buffer has to grow, or an optimizer wants its parameters side by side. Nobody sees such a
move but who holds the memory from outside, so the storage notes whom it was shown. It knows nothing
of shapes or gradients. Lesson 02.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .device import Array, Device, backend_for, backend_of, device_of, move
from .dtype import ALL, DType, from_numpy_dtype, number_for


class Storage:
    """A one-dimensional typed buffer on a device, as `x.storage()` gives it.

    `tg.FloatStorage(3)` and its like make one by hand. Slices share the memory.

    >>> import tinygrad_course as tg
    >>> tg.tensor([[1., 2.], [3., 4.]]).t().storage().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

    __slots__ = ("__weakref__", "_buffer", "_limit", "_resizable", "_shown", "_windows")

    def __init__(self, buffer: Array, resizable: bool = True) -> None:
        self._buffer = buffer
        self._resizable = resizable  # False once somebody outside has an array on the memory
        self._shown = False  # True once somebody outside knows the address
        self._windows: list[weakref.ref[Any]] = []
        self._limit = 64

    @property
    def dtype(self) -> DType:
        """The element type."""
        return from_numpy_dtype(self._buffer.dtype)

    @property
    def device(self) -> Device:
        """Where the elements live."""
        return device_of(self._buffer)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def type(self) -> str:
        """The name of the storage's type, e.g. 'torch.FloatStorage'."""
        return f"torch.{'cuda.' if self.is_cuda else ''}{_name(self.dtype)}"

    def size(self) -> int:
        """Number of elements."""
        return int(self._buffer.size)

    __len__ = size

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._buffer.itemsize)

    def nbytes(self) -> int:
        """Bytes of the whole buffer."""
        return int(self._buffer.nbytes)

    def data_ptr(self) -> int:
        """Address of the first element: two tensors share memory when it is the same."""
        self.show()
        return self._address()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self)

    # --- elements ---------------------------------------------------------------------------------

    def _address(self) -> int:
        return backend_of(self._buffer).pointer(self._buffer)

    def _host(self) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = backend_of(self._buffer).to_host(self._buffer)
        return array

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        values: list[Any] = self._host().tolist()
        return values

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            self.show()
            return Storage(self._buffer[index], resizable=False)
        return backend_of(self._buffer).to_host(self._buffer[self._place(index)]).item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._buffer[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index: Any) -> int:
        if not isinstance(index, int):
            raise RuntimeError(
                f"can't index a storage with {type(index).__name__} {index!r}: an int or a slice "
                "says which elements"
            )
        if not -self.size() <= index < self.size():
            raise IndexError(
                f"index {index} is out of range for a storage of {self.size()} elements"
            )
        return index

    def fill_(self, value: Any) -> Storage:
        """Sets every element to `value`."""
        self._buffer[...] = number_for(value, self.dtype)
        return self

    def copy_(self, source: Storage) -> Storage:
        """Copies the elements of a storage of the same size, converted to this one's type."""
        if source.size() != self.size():
            raise RuntimeError(
                f"size does not match: cannot copy {source.size()} elements into a storage of "
                f"{self.size()}"
            )
        self._buffer[...] = move(source._buffer, self.device)
        return self

    # --- copies -----------------------------------------------------------------------------------

    def clone(self) -> Storage:
        """A copy in memory of its own."""
        return Storage(self._buffer.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        # One copy for all the tensors that share this storage: they share the copy too.
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        copy: Storage = memo[id(self)]
        return copy

    def __reduce__(self) -> Any:
        return _rebuild, (self._host(), str(self.device))

    def cpu(self) -> Storage:
        """This storage, or a copy of it on the CPU."""
        return self if not self.is_cuda else Storage(self._host())

    def cuda(self, device: Any = "cuda") -> Storage:
        """A copy on a CUDA device; RuntimeError where there is none."""
        return Storage(move(self._buffer, Device(device)))

    def _as(self, dtype: DType) -> Storage:
        return self if dtype is self.dtype else Storage(self._buffer.astype(dtype.numpy))

    # --- size and place ---------------------------------------------------------------------------

    def add_window(self, tensor: Any) -> None:
        """Notes, weakly, that `tensor` is a window on this storage."""
        if len(self._windows) >= self._limit:
            self.forget()
        self._windows.append(weakref.ref(tensor))

    def forget(self) -> list[weakref.ref[Any]]:
        """Drops dead windows; now and then, so that slicing in a loop stays cheap."""
        self._windows = windows = [ref for ref in self._windows if ref() is not None]
        self._limit = max(64, 2 * len(windows))
        return windows

    def lend(self) -> None:
        """Notes that somebody outside has an array on the memory: it can neither grow nor move."""
        self._resizable = False

    def show(self) -> None:
        """Notes that somebody outside knows the address: the memory moves no more, but to grow."""
        self._shown = True

    def resizable(self) -> bool:
        """Whether `resize_` can do its work: no array outside lies on the memory.

        >>> import tinygrad_course as tg
        >>> x = tg.zeros(2); array = x.numpy(); x.storage().resizable()
        False
        """
        return self._resizable

    def movable(self) -> bool:
        """Whether nobody but the tensors on it knows where the memory is."""
        return self._resizable and not self._shown

    def move_to(self, buffer: Array) -> None:
        """Moves the elements, and every tensor on them, to `buffer`, a vector of the same type and
        at least the same size."""
        old, backend = self._buffer, backend_of(self._buffer)
        buffer[: old.size] = old
        for tensor, offset in self._placed():
            array = tensor._array
            tensor._array = backend.window(buffer, array.shape, array.strides, offset)
        self._buffer = buffer

    def resize_(self, size: int) -> Storage:
        """Makes room for `size` elements, moving every tensor on this storage along when it grows.

        New elements hold whatever was in memory before. A smaller storage stays where it is, since
        tensors may still lie on the rest of its memory. RuntimeError when the memory is somebody
        else's, too: that of an ndarray, or of one that `numpy()` gave.
        """
        if size == self.size():
            return self
        if not self._resizable:
            raise RuntimeError(
                "Trying to resize storage that is not resizable: its memory belongs to an array "
                "outside, too. Take clone() of the tensor first."
            )
        if size < self.size():
            self._buffer = self._buffer[:size]
            self.show()  # to the tensors beyond its end
            return self
        # After the storage was made smaller, a tensor may reach beyond its end.
        step = self.element_size()
        ends = [offset // step + _extent(tensor._array) for tensor, offset in self._placed()]
        self.move_to(backend_of(self._buffer).xp.empty(max([size, *ends]), self._buffer.dtype))
        self._buffer = self._buffer[:size]
        return self

    def _placed(self) -> list[tuple[Any, int]]:
        """The tensors on this storage, and how many bytes from its start each begins."""
        pointer, start = backend_of(self._buffer).pointer, self._address()
        tensors = [tensor for ref in self._windows if (tensor := ref()) is not None]
        tensors = [t for t in tensors if t._storage is self]  # `t.data = …` leaves a storage
        return [(t, pointer(t._array) - start if t._array.size else 0) for t in tensors]

    def __repr__(self) -> str:
        from .printing import storage_repr

        return storage_repr(self)


def _name(dtype: DType) -> str:
    return dtype.tensor_type.replace("Tensor", "Storage")


def _rebuild(array: np.ndarray[Any, Any], device: str) -> Storage:
    return Storage(move(array, Device(device)))


def _extent(array: Array) -> int:
    """Elements from the first of `array` to its last in memory (it has no negative strides)."""
    if array.size == 0:
        return 0
    steps = ((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True))
    return int(sum(steps) // array.itemsize + 1)


def storage_of(array: Array, resizable: bool = True) -> Storage:
    """A storage over the memory from the first to the last element of `array`."""
    if array.flags.c_contiguous or array.size == 0:
        return Storage(array.reshape(-1), resizable)
    as_strided = backend_of(array).xp.lib.stride_tricks.as_strided
    return Storage(as_strided(array, (_extent(array),), (array.itemsize,)), resizable)


# --- bytes ----------------------------------------------------------------------------------------


class UntypedStorage:
    """The memory of a storage as bytes, as `x.untyped_storage()` gives it.

    >>> import tinygrad_course as tg
    >>> tg.ones(1).untyped_storage().tolist()
    [0, 0, 128, 63]
    """

    __slots__ = ("_typed",)

    def __init__(self, typed: Storage) -> None:
        self._typed = typed

    @property
    def _bytes(self) -> Array:
        return self._typed._buffer.view(np.uint8)

    @property
    def device(self) -> Device:
        """Where the bytes are."""
        return self._typed.device

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._typed.nbytes()

    size = __len__ = nbytes

    def element_size(self) -> int:
        """Bytes of one element: 1."""
        return 1

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._typed.data_ptr()

    def tolist(self) -> list[int]:
        """The bytes as numbers from 0 to 255."""
        return Storage(self._bytes).tolist()

    def __getitem__(self, index: int | slice) -> Any:
        found = Storage(self._bytes)[index]
        if not isinstance(found, Storage):
            return found
        self._typed.show()
        return UntypedStorage(found)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        Storage(self._bytes)[index] = value

    def fill_(self, value: int) -> UntypedStorage:
        """Sets every byte to `value`."""
        Storage(self._bytes).fill_(value)
        return self

    def copy_(self, source: UntypedStorage) -> UntypedStorage:
        """Copies the bytes of another storage of the same length."""
        Storage(self._bytes).copy_(Storage(source._bytes))
        return self

    def clone(self) -> UntypedStorage:
        """A copy in memory of its own."""
        return UntypedStorage(self._typed.clone())

    def resizable(self) -> bool:
        """Whether `resize_` can do its work."""
        return self._typed.resizable()

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Makes room for `nbytes` bytes, which must be whole elements of the tensors' type."""
        count, rest = divmod(nbytes, self._typed.element_size())
        if rest:
            raise RuntimeError(
                f"{nbytes} bytes are no whole number of elements of {self._typed.dtype!r}"
            )
        self._typed.resize_(count)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._typed is other._typed

    def __hash__(self) -> int:
        return hash(self._typed)

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.size()}]"


# --- the typed constructors: tg.FloatStorage, … ---------------------------------------------------


class StorageType(type):
    """The type of tg.FloatStorage and its like: calling one makes a Storage, isinstance looks at
    dtype and device."""

    dtype: DType
    device_kind: str

    def __call__(cls, *args: Any) -> Storage:
        """An empty storage, one of some size with arbitrary contents, or one of these values."""
        if len(args) > 1:
            raise RuntimeError(f"{cls!r} takes a size or a sequence, not {len(args)} arguments")
        data = args[0] if args else 0
        xp, dtype = backend_for(cls.device_kind).xp, cls.dtype.numpy
        if isinstance(data, int):
            if data < 0:
                raise RuntimeError(f"{cls!r}: the size must not be negative: {data}")
            return Storage(xp.empty(data, dtype))
        if not isinstance(data, Sequence) or isinstance(data, str | bytes):
            raise TypeError(f"{cls!r} takes a size or a sequence, not {type(data).__name__}")
        return Storage(xp.array([number_for(v, cls.dtype) for v in data], dtype))

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Storage)
            and instance.dtype is cls.dtype
            and instance.device.type == cls.device_kind
        )

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' if cls.device_kind == 'cuda' else ''}{cls.__name__}'>"


def _storage_types(device_kind: str) -> dict[str, StorageType]:
    return {
        _name(d): StorageType(_name(d), (), {"dtype": d, "device_kind": device_kind}) for d in ALL
    }


STORAGES = _storage_types("cpu")
CUDA_STORAGES = _storage_types("cuda")


def _conversion(dtype: DType) -> Any:
    return lambda self: self._as(dtype)


for _dtype in ALL:  # x.float(), x.long(), …
    setattr(Storage, _dtype.tensor_type.removesuffix("Tensor").lower(), _conversion(_dtype))
