"""tg.cuda: whether a CUDA device can be used, and the tensor types that live there. Lesson 16."""

from __future__ import annotations

from typing import Any

from .device import Device, backend_for, unavailable_reason
from .ops.typed import CUDA_TYPED
from .storage import CUDA_STORAGES


def is_available() -> bool:
    """Whether CUDA tensors can be made; `unavailable_reason()` says why not."""
    return unavailable_reason() is None


def synchronize(device: Device | None = None) -> None:
    """Waits until all work given to the device is done; RuntimeError without a device."""
    backend_for("cuda").synchronize()


def __getattr__(name: str) -> Any:
    for types in (CUDA_TYPED, CUDA_STORAGES):
        if name in types:
            return types[name]
    raise AttributeError(
        f"tg.cuda has no {name!r}: there are is_available, synchronize, unavailable_reason, "
        f"{', '.join(CUDA_TYPED)}"
    )


__all__ = ["is_available", "synchronize", "unavailable_reason"]
