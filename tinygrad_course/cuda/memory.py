"""How much memory of a CUDA device is used: by arrays, and by the pool that keeps it for the next.

Freed memory stays in CuPy's pool, since asking the driver is slow; other programs see it as used
until `empty_cache`. The pool notes no peaks. Lesson 16.
"""

from __future__ import annotations

from typing import Any

from ..device import backend_for, unavailable_reason
from .devices import at, device_count


def _pool() -> Any:
    return backend_for("cuda").xp.get_default_memory_pool()


def memory_allocated(device: Any = None) -> int:
    """Bytes that the tensors on a device take, in the pool's multiples of 512; 0 without CUDA."""
    if unavailable_reason():
        return 0
    with at(device):
        return int(_pool().used_bytes())


def memory_reserved(device: Any = None) -> int:
    """Bytes that the pool holds on a device, for tensors that are there and that come; 0 without
    CUDA."""
    if unavailable_reason():
        return 0
    with at(device):
        return int(_pool().total_bytes())


def empty_cache() -> None:
    """Gives what the pool holds and no tensor takes back to the devices."""
    for number in range(device_count()):
        with at(number):
            _pool().free_all_blocks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a device, whoever uses it."""
    free, total = at(device).mem_info
    return free, total


def _no_peaks(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        "CuPy's memory pool notes no peaks: call tg.cuda.memory_allocated() where the most is used"
    )


max_memory_allocated = max_memory_reserved = reset_peak_memory_stats = _no_peaks
