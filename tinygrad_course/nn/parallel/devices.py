"""Which devices a module is spread over. Lesson 16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autograd.follow import follow_devices
from ...device import Device, backend_for, unavailable_reason


def all_devices() -> list[Device]:
    """Every CUDA device, none where CUDA can't be used."""
    if unavailable_reason() is not None:
        return []
    count = backend_for("cuda").xp.cuda.runtime.getDeviceCount()
    return [Device("cuda", index) for index in range(count)]


def listed(devices: Sequence[Any]) -> list[Device]:
    """Devices from their numbers or names; 'cuda' alone is the first one. From now on operations
    run where their tensors are, if there are several."""
    named = [Device(device) for device in devices]
    found = [Device("cuda", 0) if d.type == "cuda" and d.index is None else d for d in named]
    if len({device for device in found if device.type == "cuda"}) > 1:
        follow_devices()
    return found
