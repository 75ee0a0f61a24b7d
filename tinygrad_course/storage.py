"""Storage: the flat, typed run of memory under one or many tensors.

A tensor is a window (shape, strides, offset) on a storage; views are several windows on the same
one. A storage knows its buffer and, weakly, the windows laid on it, so that `resize_` can move them
all when the buffer has to grow. It knows nothing of shapes or gradients. Lesson 02.
"""

from __future__ import annotations

import weakref
from typing import Any

from .device import Array, Device, backend_of, device_of
from .dtype import DType, from_numpy_dtype


class Storage:
    """A one-dimensional typed buffer on a device, as `x.storage()` gives it.

    >>> import tinygrad_course as tg
    >>> tg.tensor([[1., 2.], [3., 4.]]).t().storage().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

    __slots__ = ("__weakref__", "_buffer", "_limit", "_windows")

    def __init__(self, buffer: Array) -> None:
        self._buffer = buffer
        self._windows: list[weakref.ref[Any]] = []
        self._limit = 64

    @property
    def dtype(self) -> DType:
        return from_numpy_dtype(self._buffer.dtype)

    @property
    def device(self) -> Device:
        return device_of(self._buffer)

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
        return backend_of(self._buffer).pointer(self._buffer)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        values: list[Any] = backend_of(self._buffer).to_host(self._buffer).tolist()
        return values

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Storage(self._buffer[index])
        return backend_of(self._buffer).to_host(self._buffer[self._place(index)]).item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._buffer[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index: int) -> int:
        if not -self.size() <= index < self.size():
            raise IndexError(
                f"index {index} is out of range for a storage of {self.size()} elements"
            )
        return index

    def fill_(self, value: Any) -> Storage:
        """Sets every element to `value`."""
        self._buffer[...] = value
        return self

    def copy_(self, source: Storage) -> Storage:
        """Copies as many elements as there are from a storage of the same size."""
        if source.size() != self.size():
            raise RuntimeError(
                f"cannot copy {source.size()} elements into a storage of {self.size()}"
            )
        self._buffer[...] = source._buffer
        return self

    def add_window(self, tensor: Any) -> None:
        """Notes, weakly, that `tensor` is a window on this storage."""
        windows = self._windows
        if (
            len(windows) >= self._limit
        ):  # forget dead windows now and then, so that slicing in a loop stays cheap
            windows = self._windows = [ref for ref in windows if ref() is not None]
            self._limit = max(64, 2 * len(windows))
        windows.append(weakref.ref(tensor))

    def resize_(self, size: int) -> Storage:
        """Grows to `size` elements, moving every tensor on this storage along; never shrinks the
        memory.

        New elements hold whatever was in memory before.
        """
        if size <= self.size():
            return self
        old, backend = self._buffer, backend_of(self._buffer)
        start = backend.pointer(old)
        self._buffer = backend.xp.empty(size, old.dtype)
        self._buffer[: old.size] = old
        for ref in self._windows:
            tensor = ref()
            if tensor is not None:
                array = tensor._array
                offset = backend.pointer(array) - start if array.size else 0
                tensor._array = backend.window(self._buffer, array.shape, array.strides, offset)
        return self

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        kind = self.dtype.tensor_type.replace("Tensor", "Storage")
        return f"{lines}[torch.{kind} of size {self.size()}]"


def storage_of(array: Array) -> Storage:
    """A storage over the memory from the first to the last element of `array` (which has no
    negative strides)."""
    if array.size == 0:
        return Storage(array.reshape(-1))
    step = array.itemsize
    last = (
        sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)) // step
    )
    as_strided = backend_of(array).xp.lib.stride_tricks.as_strided
    return Storage(as_strided(array, (last + 1,), (step,)))
