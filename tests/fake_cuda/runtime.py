"""`cupy.cuda` on the pretended devices: their number, the current one, memory, streams, events.

Nothing runs behind the host's back here: work is done when its call returns, so streams and events
only keep their order and the rules of when they may be used.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections import Counter, defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np

BLOCK = 512  # CuPy's pool hands out multiples of so many bytes
TOTAL = 2**33  # the memory of each device


class CUDARuntimeError(RuntimeError):
    """`cupy.cuda.runtime.CUDARuntimeError`."""


class _Machine:
    """How many devices there are."""

    devices = 0


class _Current(threading.local):
    """The number of the device on which a thread's kernels run and its arrays are made, and the
    stream of each."""

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, Any] = {}


machine, current = _Machine(), _Current()


class Device:
    """`cupy.cuda.Device`: makes itself the current one, for good or for a block."""

    def __init__(self, number: int | None = None) -> None:
        number = current.device if number is None else number
        if not 0 <= number < machine.devices:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number
        self._former: list[int] = []

    def use(self) -> None:
        current.device = self.id

    def synchronize(self) -> None:
        pass

    @property
    def compute_capability(self) -> str:
        return "90"

    @property
    def mem_info(self) -> tuple[int, int]:
        return TOTAL - pool.held[self.id], TOTAL

    def __enter__(self) -> Device:
        self._former.append(current.device)
        self.use()
        return self

    def __exit__(self, *exc_info: object) -> None:
        current.device = self._former.pop()

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id


# --- memory ---------------------------------------------------------------------------------------


class Pool:
    """`cupy.get_default_memory_pool()`: what each device's arrays use, and what it keeps for the
    next ones. Methods answer for the current device."""

    def __init__(self) -> None:
        self.used: Counter[int] = Counter()
        self.held: Counter[int] = Counter()
        self._owners: dict[int, Any] = {}

    def note(self, array: np.ndarray, device: int) -> None:
        """Counts the memory under `array`, once, until it is freed."""
        owner: Any = array
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        if not isinstance(owner, np.ndarray) or id(owner) in self._owners or not owner.nbytes:
            return
        key, size = id(owner), -(-owner.nbytes // BLOCK) * BLOCK

        def freed(reference: Any) -> None:
            del self._owners[key]
            self.used[device] -= size

        self._owners[key] = weakref.ref(owner, freed)
        self.used[device] += size
        self.held[device] = max(self.held[device], self.used[device])

    def used_bytes(self) -> int:
        return self.used[current.device]

    def total_bytes(self) -> int:
        return self.held[current.device]

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self, stream: Any = None) -> None:
        self.held[current.device] = self.used[current.device]


pool = Pool()


# --- streams and events ---------------------------------------------------------------------------


class Event:
    """`cupy.cuda.Event`."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.timed, self.device, self.at = not disable_timing, current.device, None
        self.ptr = next(_pointers)

    def record(self, stream: Any = None) -> None:
        stream = get_current_stream() if stream is None else stream
        if stream._device() != self.device:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    @property
    def done(self) -> bool:
        return True


def get_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two events."""
    if not (start.timed and end.timed and start.at and end.at):
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    return (end.at - start.at) * 1000


class Stream:
    """`cupy.cuda.Stream`."""

    null: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self.ptr = 0 if null else next(_pointers)
        self.device_id = -1 if null else current.device
        self.priority = 0 if priority is None else max(-5, min(0, priority))
        self._former: list[Any] = []

    def _device(self) -> int:
        return current.device if self.device_id == -1 else self.device_id

    def _require_current(self) -> int:
        if self._device() != current.device:
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with "
                f"the current device ({current.device})"
            )
        return current.device

    def use(self) -> Stream:
        current.streams[self._require_current()] = self
        return self

    def __enter__(self) -> Stream:
        self._former.append((self._require_current(), get_current_stream()))
        return self.use()

    def __exit__(self, *exc_info: object) -> None:
        device, former = self._former.pop()
        current.streams[device] = former

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        pass

    def synchronize(self) -> None:
        pass

    @property
    def done(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr


_pointers = itertools.count(0x7000)
Stream.null = Stream(null=True)


def get_current_stream(device_id: int = -1) -> Stream:
    """The stream on which the thread's kernels run."""
    found: Stream = current.streams.get(
        current.device if device_id == -1 else device_id, Stream.null
    )
    return found


# --- the module -----------------------------------------------------------------------------------


def _properties(number: int) -> dict[str, Any]:
    Device(number)
    return defaultdict(
        int,
        name=b"a stand-in for a GPU",
        major=9,
        minor=0,
        totalGlobalMem=TOTAL,
        multiProcessorCount=2,
        warpSize=32,
        maxThreadsPerBlock=1024,
    )


def _set_device(number: int) -> None:
    Device(number).use()


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDevice=lambda: current.device,
    setDevice=_set_device,
    getDeviceCount=lambda: machine.devices,
    getDeviceProperties=_properties,
    deviceSynchronize=lambda: None,
    memGetInfo=lambda: Device().mem_info,
)
cuda = SimpleNamespace(
    Device=Device,
    Event=Event,
    Stream=Stream,
    get_current_stream=get_current_stream,
    get_elapsed_time=get_elapsed_time,
    runtime=runtime,
)
