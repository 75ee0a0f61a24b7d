"""The memory under a tensor: another one (`set_`), another size (`resize_`), the storage as bytes,
and how long it is kept for a stream.

These change the window itself, not what is in it. Nothing of it is differentiated. Lesson 02.
"""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Device, backend_of
from ..dtype import DType
from ..layout import contiguous_format, preserve_format, row_major, strides_for
from ..storage import Storage, UntypedStorage
from .factory import sizes_in, sizes_of
from .inplace import require_changeable
from .registry import function, method
from .window import Geometry


def adopt(tensor: Tensor, storage: Storage) -> Tensor:
    """`tensor`, whose array lies in the memory of `storage`, as a window on it."""
    tensor._storage = storage
    storage.add_window(tensor)
    return tensor


def of_type(storage: Storage | UntypedStorage, dtype: DType, device: Device) -> Storage:
    """The typed storage; RuntimeError when it is not of `dtype`, or on another kind of device."""
    found = storage._typed if isinstance(storage, UntypedStorage) else storage
    if found.dtype is not dtype or found.device.type != device.type:
        raise RuntimeError(
            f"Expected a Storage of {dtype!r} on {device.type}, but got {found.type()}"
        )
    return found


def lay(tensor: Tensor, storage: Storage, window: Geometry) -> None:
    """Makes `tensor` that window on `storage`, which grows to hold it."""
    if window.end() > storage.size():
        storage.resize_(window.end())
    buffer, step = storage._buffer, storage.element_size()
    tensor._array = backend_of(buffer).window(
        buffer, window.shape, tuple(s * step for s in window.stride), window.offset * step
    )
    if tensor._storage is not storage:
        adopt(tensor, storage)
    tensor._bump()


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Lays this tensor on other memory of its type: nothing (size 0), another tensor's window, or a
    storage (all of it, or `size` and `stride` from `storage_offset` on, which it grows to hold).

    >>> import tinygrad_course as tg
    >>> x, y = tg.zeros(3), tg.ones(2)
    >>> y[0] = x.set_(y).numel(); x
    tensor([2., 1.])
    """
    require_changeable(self)
    if source is None:
        storage = Storage(backend_of(self._array).xp.empty(0, self._array.dtype))
        window = Geometry((0,), (1,), 0)
    elif isinstance(source, Tensor):
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype!r} to a tensor of type {self.dtype!r}"
            )
        storage, window = source.storage(), Geometry.of(source)
    elif isinstance(source, Storage | UntypedStorage):
        storage = of_type(source, self.dtype, self.device)
        window = Geometry((storage.size(),), (1,), 0)
    else:
        raise TypeError(
            f"set_() takes a tensor or a storage, not {type(source).__name__}: x.copy_() takes "
            "values"
        )
    if size is not None:
        shape = sizes_in("set_", size)
        window = Geometry(shape, row_major(shape) if stride is None else tuple(stride), 0)
    if size is not None or storage_offset:
        window = window._replace(offset=storage_offset)
    if len(window.stride) != len(window.shape) or min((*window.stride, window.offset)) < 0:
        raise RuntimeError(
            f"set_(): no window of size {list(window.shape)}, stride {list(window.stride)} and "
            f"offset {window.offset} can be laid on a storage"
        )
    lay(self, storage, window)
    return self


def resize_(self: Tensor, *size: Any, **options: Any) -> Tensor:
    """Gives the tensor another size, row-major (or in `memory_format`) from its first element on.

    A storage that is too small grows, under all its tensors; a smaller size keeps the storage, and
    so the data. RuntimeError for a tensor that requires grad, or memory that cannot grow.

    >>> import tinygrad_course as tg
    >>> x = tg.arange(6); x.resize_(2).resize_(3, 2)
    tensor([[0, 1],
            [2, 3],
            [4, 5]])
    """
    memory_format = options.pop("memory_format", None) or contiguous_format
    shape = sizes_of("resize_", size, options)
    if options:
        raise TypeError(f"resize_() got an unexpected keyword argument {sorted(options)[0]!r}")
    if self.requires_grad:
        raise RuntimeError(
            "cannot resize variables that require grad: take .data or .detach() first"
        )
    if memory_format is preserve_format:
        raise RuntimeError("Unsupported memory format preserve_format: sizes have no memory order")
    if shape == self.shape and memory_format is contiguous_format:
        return self
    strides = strides_for(shape, (), memory_format)
    lay(self, self.storage(), Geometry(shape, strides, self.storage_offset()))
    return self


def resize_as_(self: Tensor, the_template: Tensor, **options: Any) -> Tensor:
    """`resize_` to the size of another tensor."""
    if not isinstance(the_template, Tensor):
        raise TypeError(f"resize_as_() takes a Tensor, not {type(the_template).__name__}")
    return resize_(self, the_template.shape, **options)


def record_stream(self: Tensor, stream: Any) -> None:
    """Keeps the memory of a CUDA tensor from being used again before the present work of `stream`
    is done.

    CuPy hands memory on in the order of the stream it was made in; so that stream, taken to be the
    current one, waits here.
    """
    from ..cuda.streams import Stream, current_stream  # above this module

    if not isinstance(stream, Stream):
        raise RuntimeError(f"unknown parameter type: {type(stream).__name__} is no tg.cuda.Stream")
    if not self.is_cuda:
        raise NotImplementedError("record_stream() is for CUDA tensors, and this one is on the CPU")
    current_stream(self.get_device()).wait_stream(stream)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is a storage."""
    return isinstance(obj, Storage | UntypedStorage)


function(resize_as_)
method(set_, resize_, resize_as_, record_stream)
