"""Interchange: tensors as other libraries' arrays, and copied or pickled by Python.

NumPy sees a tensor through `__array__` and gets one back from `__array_wrap__`; DLPack hands memory
to any library that speaks it. `copy` shares the storage, `deepcopy` and `pickle` copy it, once for
all the tensors that lie on it. Lesson 01.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import backend_for
from ..storage import Storage
from .data import borrowed, from_numpy
from .memory import lay
from .registry import function, method
from .window import Geometry

# The kinds of devices in DLPack: the host, memory of it that CUDA pinned, a CUDA device.
_CPU, _CUDA, _CUDA_HOST = 1, 2, 3

# --- NumPy ----------------------------------------------------------------------------------------


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray[Any, Any]:
    """The elements as a NumPy array on the same memory, which can no longer be resized;
    `force=True` detaches and copies as far as needed.

    RuntimeError when the tensor requires grad, TypeError when it is on another device.
    """
    if not force:
        if self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if self.device.type != "cpu":
            raise TypeError(
                f"can't convert a {self.device} tensor to numpy: copy it to the host with "
                ".cpu() first"
            )
    if self.device.type == "cpu":
        self.storage().lend()
    return self._host()[...]


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """What NumPy's functions compute on: the memory itself, unless a dtype asks for a copy."""
    return np.array(numpy(self), dtype=dtype, copy=copy)


def __array_wrap__(
    self: Tensor, array: np.ndarray[Any, Any], context: Any = None, return_scalar: bool = False
) -> Tensor:
    """The tensor of what NumPy made of this one: np.exp(x) is a Tensor.

    Booleans become bytes, as in PyTorch."""
    array = np.asarray(array)
    return from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


# --- DLPack ---------------------------------------------------------------------------------------


class _Capsule:
    """A capsule that some __dlpack__() returned, in the clothes of an array."""

    __slots__ = ("capsule",)

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of the capsule its `__dlpack__` gave.

    `copy=True` gives it memory of its own, `device` moves it. RuntimeError for what does not speak
    DLPack, TypeError for element types that tensors lack.

    >>> a = np.zeros(2); t = from_dlpack(a); a += 1; t
    tensor([1., 1.], dtype=torch.float64)
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            f"from_dlpack() takes an array with a __dlpack__ method, or a capsule, not a "
            f"{type(ext_tensor).__name__}"
        )
    kind, _ = ext_tensor.__dlpack_device__()
    if kind in (_CPU, _CUDA_HOST):
        array = np.from_dlpack(ext_tensor)
    elif kind == _CUDA:
        array = backend_for("cuda").xp.from_dlpack(ext_tensor)
    else:
        raise RuntimeError(f"from_dlpack(): memory of DLPack's device kind {kind} cannot be used")
    result = borrowed(array)
    if copy:
        result = result.clone()
    return result if device is None else result.to(device)


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule with this tensor's memory, for another library; BufferError for a tensor that
    requires grad."""
    if self.requires_grad:
        raise BufferError(
            "Can't export tensors that require gradient: what is done to them outside has none. "
            "Use tensor.detach()."
        )
    self.storage().show()
    wishes = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    return self._array.__dlpack__(**{k: v for k, v in wishes.items() if v is not None})


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """The kind and number of this tensor's device in DLPack."""
    kind, index = self._array.__dlpack_device__()
    return int(kind), int(index)


# --- copy, pickle ---------------------------------------------------------------------------------


def leaf_on(cls: type[Tensor], storage: Storage, window: Geometry, requires_grad: bool) -> Tensor:
    """A leaf of that class, a window on `storage`."""
    tensor = object.__new__(cls)
    tensor._storage = tensor._counter = tensor._edge = tensor._meta = None
    lay(tensor, storage, window)
    tensor._counter = None
    if requires_grad:
        tensor._make_meta().requires_grad = True
    return tensor


def __copy__(self: Tensor) -> Tensor:
    """Another leaf on the same memory."""
    return leaf_on(type(self), self.storage(), Geometry.of(self), self.requires_grad)


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf on a copy of the storage, with a copy of the gradient; RuntimeError for a computed
    tensor."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            f"protocol at the moment: this one was computed by {self.grad_fn}. Copy x.detach() "
            "instead."
        )
    if id(self) not in memo:
        storage = self.storage().__deepcopy__(memo)
        copy = leaf_on(type(self), storage, Geometry.of(self), self.requires_grad)
        memo[id(self)] = copy
        if self.volatile:
            copy._make_meta().volatile = True
        grad = None if self._meta is None else self._meta.grad
        if grad is not None:
            copy._make_meta().grad = __deepcopy__(grad, memo)
    result: Tensor = memo[id(self)]
    return result


def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    """How pickle takes a tensor apart: into its storage, which it writes once for all windows."""
    return leaf_on, (type(self), self.storage(), Geometry.of(self), self.requires_grad)


function(from_dlpack)
method(numpy, __array__, __array_wrap__, __dlpack__, __dlpack_device__)
method(__copy__, __deepcopy__, __reduce_ex__)
