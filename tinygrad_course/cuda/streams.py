"""Streams, queues of work for a CUDA device, and events, marks in them.

The host puts kernels into the current stream and goes on. Work of one stream is done in its order,
that of several at once; an event recorded in one can be waited for in another, or by the host. Two
events tell the device's own time between them. Lesson 16.
"""

from __future__ import annotations

from typing import Any

from ..device import Device
from .devices import at, current_device, runtime, set_device


class Stream:
    """A new stream on a device, the current one unless given; a lower `priority` goes first.

    `with stream:` puts work into it, as `with tg.cuda.stream(stream):` does.
    """

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        there = at(None if isinstance(device, int) and device < 0 else device)
        with there:
            raw = runtime().Stream(non_blocking=True, priority=priority)
        self._hold(raw, there.id)
        self.priority = priority

    def _hold(self, raw: Any, index: int) -> None:
        self._raw, self.device_index, self.priority = raw, index, 0
        self._contexts: list[StreamContext] = []

    @classmethod
    def _of(cls, raw: Any, index: int) -> Stream:
        """The stream that CuPy knows already, on the device of that number."""
        stream = cls.__new__(cls)
        stream._hold(raw, index)
        return stream

    @property
    def device(self) -> Device:
        """The device whose work it holds."""
        return Device("cuda", self.device_index)

    @property
    def cuda_stream(self) -> int:
        """The address by which CUDA knows it: 0 for the default stream."""
        return int(self._raw.ptr)

    def query(self) -> bool:
        """Whether all its work is done."""
        return bool(self._raw.done)

    def synchronize(self) -> None:
        """Waits on the host until all its work is done."""
        self._raw.synchronize()

    def wait_event(self, event: Event) -> None:
        """Work given to it from now on is done after the event; the host goes on."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Work given to it from now on is done after the present work of another stream."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """The event, a new one unless given, recorded here."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        self._contexts.append(StreamContext(self))
        self._contexts[-1].__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._contexts.pop().__exit__(*exc_info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (
            (self.device_index, self.cuda_stream) == (other.device_index, other.cuda_stream)
        )

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream, made when it is first recorded, on that stream's device.

    `enable_timing` for `elapsed_time`, `blocking` to let the waiting host sleep. What `external`
    and `interprocess` are for (graphs, other processes) is left out.
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        runtime()
        if interprocess or external:
            raise NotImplementedError(
                "Event(interprocess=True) and Event(external=True) are left out: events here stay "
                "in their process, and there are no graphs"
            )
        self._timed, self._blocking = enable_timing, blocking
        self._raw: Any = None
        self._index = -1

    @property
    def device(self) -> Device | None:
        """The device of the stream in which it was first recorded, None before."""
        return None if self._raw is None else Device("cuda", self._index)

    @property
    def cuda_event(self) -> int:
        """The address by which CUDA knows it: 0 before it is recorded."""
        return 0 if self._raw is None else int(self._raw.ptr)

    def record(self, stream: Stream | None = None) -> None:
        """Puts the mark at the end of a stream, the current one unless given."""
        stream = current_stream() if stream is None else stream
        with at(stream.device_index):
            if self._raw is None:
                self._raw = runtime().Event(self._blocking, not self._timed)
                self._index = stream.device_index
            if self._index != stream.device_index:
                raise RuntimeError(
                    f"Event device {self._index} does not match recording stream's device "
                    f"{stream.device_index}."
                )
            self._raw.record(stream._raw)

    def wait(self, stream: Stream | None = None) -> None:
        """Work given to a stream from now on, to the current one unless given, is done after the
        mark; the host goes on."""
        stream = current_stream() if stream is None else stream
        if self._raw is not None:
            with at(stream.device_index):
                stream._raw.wait_event(self._raw)

    def query(self) -> bool:
        """Whether all work before the mark is done; True before it is recorded."""
        return self._raw is None or bool(self._raw.done)

    def synchronize(self) -> None:
        """Waits on the host until all work before the mark is done."""
        if self._raw is not None:
            self._raw.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to a later one, by the device's clock.

        ValueError for events without timing, or that are not recorded; RuntimeError before both
        are reached.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._raw is None or end_event._raw is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError(
                "Both events must be completed before calculating elapsed time.: call "
                "end_event.synchronize() first"
            )
        return float(runtime().get_elapsed_time(self._raw, end_event._raw))

    def __repr__(self) -> str:
        if self._raw is None:
            return "<torch.cuda.Event uninitialized>"
        return f"<torch.cuda.Event {self.cuda_event:#x}>"


# --- the current stream ---------------------------------------------------------------------------


def current_stream(device: Any = None) -> Stream:
    """The stream into which this thread's work for a device goes."""
    there = at(device)
    with there:
        return Stream._of(runtime().get_current_stream(), there.id)


def default_stream(device: Any = None) -> Stream:
    """The stream of a device that is current at first."""
    return Stream._of(runtime().Stream.null, at(device).id)


def set_stream(stream: Stream | None) -> None:
    """Makes a stream the current one, and its device, too; None changes nothing."""
    if stream is not None:
        set_device(stream.device_index)
        stream._raw.use()


class StreamContext:
    """Within the block, a stream is the current one, and its device, too; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self._device = current_device()
            self._former = current_stream(self.stream.device_index)
            set_stream(self.stream)

    def __exit__(self, *exc_info: object) -> None:
        if self.stream is not None:
            set_stream(self._former)
            set_device(self._device)


def stream(stream: Stream | None) -> StreamContext:
    """A block in which work goes into `stream`: `with tg.cuda.stream(s): ...`."""
    return StreamContext(stream)
