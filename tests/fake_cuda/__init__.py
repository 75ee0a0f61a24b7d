"""A stand-in for CuPy on NumPy: every operation runs as if on a GPU, on any machine.

`with pretended(2):` there are two CUDA devices within the block, and `with counting() as counts:`
tells which kernels were launched and what was copied to and from the host. What it cannot show:
kernels that CuPy lacks for a type, asynchronous errors, speed. So the same tests run on a real GPU
where there is one (`python -m tests.gpu`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tinygrad_course.autograd.follow import FollowDevices
from tinygrad_course.autograd.watch import unwatch, watching
from tinygrad_course.device import (
    Backend,
    _combine_distinct,
    defaults,
    register,
    unregister,
)

from ..kernel_shim import unavailable
from .array import ndarray, unwrapped
from .counts import Counts, counting, launched, sent_to_device
from .kernel import kernel
from .module import xp
from .runtime import Device, cuda, current, machine, pool

__all__ = ["Counts", "Device", "counting", "cuda", "ndarray", "pretended", "xp"]


def _from_host(array: np.ndarray, index: int) -> ndarray:
    Device(index).use()
    if array.ndim:
        sent_to_device("asarray")
    else:  # a single number is no more than an argument of `full`
        launched("full")
    return ndarray(np.array(array, order="K"))


def _window(buffer: ndarray, shape: Any, strides: Any, offset: int = 0) -> ndarray:
    flat = np.lib.stride_tricks.as_strided(buffer._a, (buffer.size,), (buffer.itemsize,))
    if buffer._a.flags.c_contiguous and buffer.size:
        return ndarray(np.ndarray(shape, buffer.dtype, flat, offset, strides), buffer._device)
    return ndarray(np.lib.stride_tricks.as_strided(buffer._a, shape, strides), buffer._device)


def _scatter(out: ndarray, places: ndarray, values: ndarray, how: str) -> None:
    if how == "multiply":  # as in the real backend, since CuPy's has no .at
        _combine_distinct(xp, out, places, values, how, rounds=-1)
    else:
        launched(f"{how}.at")
        getattr(np, how).at(unwrapped(out), unwrapped(places), unwrapped(values))


def _pointer(array: ndarray) -> int:
    address: int = array._a.__array_interface__["data"][0]
    return address


BACKEND = Backend(
    kind="cuda",
    xp=xp,
    array_type=ndarray,
    from_host=_from_host,
    to_host=ndarray.get,
    window=_window,
    pointer=_pointer,
    index_of=lambda array: array._device,
    scatter=_scatter,
    kernel=kernel if unavailable() is None else None,
)


@contextmanager
def pretended(devices: int = 1) -> Iterator[None]:
    """Within the block there are so many CUDA devices."""
    register(BACKEND)
    machine.devices = devices
    try:
        yield
    finally:
        for hook in [hook for hook in watching if isinstance(hook, FollowDevices)]:
            unwatch(hook)
        unregister("cuda")
        machine.devices, current.device, defaults.current = 0, 0, 0
        current.streams.clear()
