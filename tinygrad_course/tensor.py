"""TensorBase: a window (shape, strides, offset) on a Storage, and what can be asked of it.

The window is kept as a ready array of the device's library, so that a kernel is one call away.
Views share the storage; `_counter` counts in-place changes and is shared by everything that shares
the memory. This layer knows no operations (`ops` binds them) and no gradients
(`autograd.variable.Tensor` adds them). Lessons 01 and 02.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .device import Array, Device, backend_of, device_of
from .dtype import DType, from_numpy_dtype
from .layout import (
    Layout,
    MemoryFormat,
    contiguous_format,
    follows,
    preserve_format,
    strided,
)
from .shape import Size, wrap_dim
from .storage import Storage, UntypedStorage, storage_of

# Called with the tensor after each in-place change: by who draws graphs, and only while he looks.
written: list[Callable[[Any], None]] = []

_as_size = tuple.__new__  # a third of the time of Size(…), which looks at every item


class TensorBase:
    """The data half of a tensor. Made by `tg.tensor`, `tg.zeros`, … or by an operation, never
    directly.

    `_array` is the window, `_storage` the storage under it (made when asked for), `_counter` the
    shared count of in-place changes as a one-element list (None: never changed, never shared).
    """

    __slots__ = ("__weakref__", "_array", "_counter", "_storage")

    _array: Array
    _storage: Storage | None
    _counter: list[int] | None

    # Gradients alone can be sparse.
    is_sparse = False

    # --- the window -------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the dims."""
        return _as_size(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dim."""
        shape = self._array.shape
        return Size(shape) if dim is None else shape[_existing_dim(dim, len(shape))]

    def stride(self, dim: int | None = None) -> Any:
        """Elements to step over in memory for one step along each dim, or along `dim`.

        >>> import tinygrad_course as tg
        >>> tg.zeros(2, 3).stride(), tg.zeros(2, 3).t().stride()
        ((3, 1), (1, 3))
        """
        a = self._array
        if a.size == 0:
            # NumPy has strides of its own for arrays without elements; PyTorch counts a size of 0
            # as 1.
            strides, step = [], 1
            for n in reversed(a.shape):
                strides.append(step)
                step *= max(n, 1)
            found = tuple(reversed(strides))
        else:
            found = tuple(s // a.itemsize for s in a.strides)
        return found if dim is None else found[_existing_dim(dim, a.ndim)]

    def storage_offset(self) -> int:
        """Elements from the start of the storage to the first element."""
        if self._array.size == 0:
            return 0
        return (self._address() - self.storage()._address()) // int(self._array.itemsize)

    def data_ptr(self) -> int:
        """Address of the first element."""
        self.storage().show()
        return self._address()

    def _address(self) -> int:
        return backend_of(self._array).pointer(self._array)

    def storage(self) -> Storage:
        """The storage that this tensor is a window on; views of one tensor return the same
        object."""
        storage = self._storage
        if storage is None:
            storage = self._storage = storage_of(self._array)
            storage.add_window(self)
        return storage

    def untyped_storage(self) -> UntypedStorage:
        """The storage as bytes."""
        return UntypedStorage(self.storage())

    def is_contiguous(self, memory_format: MemoryFormat = contiguous_format) -> bool:
        """Whether the elements lie without gaps in row-major order, or that of `memory_format`."""
        if memory_format in (contiguous_format, preserve_format):
            return bool(self._array.flags.c_contiguous)
        return follows(self._array.shape, self.stride(), memory_format)

    def dim(self) -> int:
        """The number of dims."""
        return int(self._array.ndim)

    ndimension = dim

    @property
    def ndim(self) -> int:
        return int(self._array.ndim)

    def numel(self) -> int:
        """The number of elements."""
        return int(self._array.size)

    nelement = numel

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._array.itemsize)

    @property
    def itemsize(self) -> int:
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        return int(self._array.nbytes)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return from_numpy_dtype(self._array.dtype)

    @property
    def device(self) -> Device:
        """Where the elements live."""
        return device_of(self._array)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    def get_device(self) -> int:
        """The number of the CUDA device, -1 for the CPU."""
        return -1 if self.is_cpu else self.device.index or 0

    @property
    def layout(self) -> Layout:
        """How the tensor is kept: `tg.strided`."""
        return strided

    def is_floating_point(self) -> bool:
        """Whether the elements are floats."""
        return self.dtype.is_floating_point

    def is_signed(self) -> bool:
        """Whether the elements can be negative."""
        return self.dtype.is_signed

    def is_complex(self) -> bool:
        """Whether the elements are complex: never, there are no such tensors here."""
        return False

    def is_set_to(self, other: TensorBase) -> bool:
        """Whether `other` is the same window on the same storage."""
        if not isinstance(other, TensorBase):
            raise TypeError(f"is_set_to() takes a Tensor, not {type(other).__name__}")
        same_window = self.shape == other.shape and self.stride() == other.stride()
        return (
            self.storage() is other.storage()
            and same_window
            and self._address() == other._address()
        )

    def _bump(self) -> None:
        """Counts one in-place change of the memory."""
        if self._counter is None:
            self._counter = [1]
        else:
            self._counter[0] += 1
        for hook in written:
            hook(self)

    @property
    def _version(self) -> int:
        """How many in-place changes the memory has seen through tensors that share the counter."""
        return 0 if self._counter is None else self._counter[0]

    def _shared_counter(self) -> list[int]:
        """The counter, made if need be, to be shared with a view or a detached tensor."""
        if self._counter is None:
            self._counter = [0]
        return self._counter

    # --- out to Python ----------------------------------------------------------------------------

    def _host(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array; a copy only when they are on another device."""
        array: np.ndarray[Any, Any] = backend_of(self._array).to_host(self._array)
        return array

    def item(self) -> Any:
        """The only element, as a Python number.

        >>> import tinygrad_course as tg
        >>> tg.tensor([2.5]).item()
        2.5
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar; use "
                ".tolist()"
            )
        return self._host().item()

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python numbers."""
        return self._host().tolist()

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._array.shape[0])

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if not self._array.size else 'more than one value'} is "
                f"ambiguous (shape {list(self.shape)}): use .any() or .all()"
            )
        return bool(self._host().item())

    def is_nonzero(self) -> bool:
        """Whether the only element is not zero: bool(x)."""
        return bool(self)

    def _number(self) -> Any:
        if self._array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars, and this one has "
                f"shape {list(self.shape)}: use .tolist()"
            )
        return self._host().item()

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self._array.size != 1 or self.dtype.category > 1:
            raise TypeError(
                "only integer tensors of a single element can be converted to an index, not "
                f"{self.dtype!r} of shape "
                f"{list(self.shape)}"
            )
        return int(self.item())

    def __iter__(self) -> Iterator[Any]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, TensorBase | bool | int | float):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}: nothing of that type can be in a tensor"
            )
        return bool((element == self).any())  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self._array.ndim == 0 else object.__format__(self, spec)

    def __reversed__(self) -> Any:
        return self.flip(0) if self._array.ndim else self  # type: ignore[attr-defined]


def _existing_dim(dim: int, ndim: int) -> int:
    if ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)
