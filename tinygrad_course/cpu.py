"""tg.cpu: what programs ask of any device, for the CPU, where work is done when a call returns.

With `tg.get_device_module()` a program need not know where it runs. Lesson 16.
"""

from __future__ import annotations

from typing import Any

from . import cuda
from .device import Device


def is_available() -> bool:
    """Whether there is a CPU."""
    return True


def is_initialized() -> bool:
    """Whether it may be used at once."""
    return True


def device_count() -> int:
    """How many there are: 1."""
    return 1


def current_device() -> str:
    """The name of the device: "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Does nothing, as there is one alone."""


def synchronize(device: Any = None) -> None:
    """Does nothing, as there is nothing to wait for."""


def get_device_module(device: Any = None) -> Any:
    """The module of a device, `tg.cuda` or `tg.cpu`; unless given, that of CUDA where it can be
    used (tg.get_device_module).

    >>> get_device_module("cpu").device_count()
    1
    """
    from . import cpu

    if device is None:
        return cuda if cuda.is_available() else cpu
    if not isinstance(device, str | Device):
        raise RuntimeError(f"Invalid value of device '{device}', expect tg.device, str, or None")
    return {"cpu": cpu, "cuda": cuda}[Device(device).type]


__all__ = [
    "current_device",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "synchronize",
]
