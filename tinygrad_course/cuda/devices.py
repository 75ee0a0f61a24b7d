"""Which CUDA devices there are, which one is current, and what they can do.

The current device is where "cuda" without a number means, per thread. Operations run where their
tensors are, whichever is current. Lesson 16.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..device import (
    Device,
    backend_for,
    defaults,
    make_current,
    unavailable_reason,
    with_index,
)


def runtime() -> Any:
    """CuPy's module of CUDA's runtime; RuntimeError says why there is none."""
    return backend_for("cuda").xp.cuda


def init() -> None:
    """Looks for the devices, which otherwise happens when one is first used."""
    runtime()


def device_count() -> int:
    """How many CUDA devices there are: 0 where none can be used.

    >>> import tinygrad_course as tg
    >>> tg.cuda.device_count() > 0 or not tg.cuda.is_available()
    True
    """
    return int(runtime().runtime.getDeviceCount()) if unavailable_reason() is None else 0


def index_of(device: Any) -> int:
    """The number of a device given as a number, a name, a `tg.device`, or None for the current one.

    -1 for None where there are no devices, ValueError for the CPU.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if device is None:
        return -1 if unavailable_reason() else current_device()
    found = Device(device)
    if found.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {found}")
    return index_of(None) if found.index is None else found.index


def at(device: Any) -> Any:
    """CuPy's object for a device, as a context: RuntimeError for one that is not there."""
    runtime()
    number = index_of(device)
    if number < 0:
        raise RuntimeError(f"Invalid device id: {number}")
    return runtime().Device(with_index(Device("cuda", number)).index)


def current_device() -> int:
    """The number of this thread's current device."""
    init()
    return defaults.current


def set_device(device: Any) -> None:
    """Makes a device the current one; a negative number changes nothing."""
    if index_of(device) >= 0:
        make_current(at(device).id)


class device:
    """Within the block, a device is the current one: `with tg.cuda.device(1):`.

    None, and a negative number, change nothing.
    """

    def __init__(self, device: Any) -> None:
        self.idx = index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            there = at(self.idx)
            self.prev_idx = current_device()
            make_current(there.id)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx >= 0:
            make_current(self.prev_idx)


class device_of(device):
    """Within the block, the device of a tensor is the current one; a tensor of the CPU changes
    nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def synchronize(device: Any = None) -> None:
    """Waits until all work given to a device is done, in all its streams."""
    at(device).synchronize()


# --- what a device is -----------------------------------------------------------------------------


class DeviceProperties(NamedTuple):
    """What `get_device_properties` tells; memory in bytes."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_block: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, compute capability, memory and processors of a device."""
    found = runtime().runtime.getDeviceProperties(at(device).id)
    return DeviceProperties(
        found["name"].decode(),
        found["major"],
        found["minor"],
        found["totalGlobalMem"],
        found["multiProcessorCount"],
        found["warpSize"],
        found["maxThreadsPerBlock"],
    )


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The major and minor number of what a device can compute."""
    found = get_device_properties(device)
    return found.major, found.minor
