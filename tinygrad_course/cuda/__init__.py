"""tg.cuda: the CUDA devices, which of them is the current one, their memory, streams and events.

All of it is a thin layer on CuPy's runtime, which the backend carries as `xp.cuda`. Without a
usable GPU `is_available()` is False and `device_count()` 0, what programs call on any machine
(seeding, emptying caches) does nothing, and the rest raises RuntimeError with the reason.
Lesson 16.
"""

from __future__ import annotations

from typing import Any

from ..device import loaded, unavailable_reason
from ..ops.typed import CUDA_TYPED
from ..storage import CUDA_STORAGES
from .devices import (
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    set_device,
    synchronize,
)
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)


def is_available() -> bool:
    """Whether CUDA tensors can be made; `unavailable_reason()` says why not."""
    return unavailable_reason() is None


def is_initialized() -> bool:
    """Whether a CUDA device has been used, or looked for with success."""
    return loaded("cuda")


def __getattr__(name: str) -> Any:
    for types in (CUDA_TYPED, CUDA_STORAGES):
        if name in types:
            return types[name]
    raise AttributeError(
        f"tg.cuda has no {name!r}. Where PyTorch has it, this engine leaves it out; dir(tg.cuda) "
        "lists what is there."
    )


__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    "unavailable_reason",
]
