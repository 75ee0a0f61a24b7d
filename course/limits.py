"""Limits on how long a piece of code may run inside this process, and on how much memory it takes.

Time is the processor's, so that a busy or slow machine costs nobody's answer its points. It is up
by an alarm signal, and where there is none, as on Windows or in another thread, by a second thread
that has Python raise the error. Memory is limited on Linux alone. Lesson 00.
"""

import contextlib
import ctypes
import importlib.util
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

PATIENCE = 4
"""So many times as long may pass until what waits or sleeps, and takes no processor time, ends."""
RINGS = 0.2
_SIZE = "/proc/self/statm"


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that an answer's own `except` seldom swallows it."""


class Clock:
    """Counts `seconds` of work down: `worked` tells how long a process has had the processor.

    >>> Clock(5.0, worked=lambda: 0.0).left() > 4.9
    True
    """

    def __init__(self, seconds: float, worked: Callable[[], float] = time.process_time) -> None:
        self._seconds, self._worked = seconds, worked
        self._worked_before, self._started = worked(), time.monotonic()

    def left(self) -> float:
        """The seconds that are left; none or less when the time is up."""
        passed = time.monotonic() - self._started
        # Several threads work longer than the time that passes.
        worked = min(self._worked() - self._worked_before, passed)
        return min(self._seconds - worked, PATIENCE * self._seconds - passed)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in the body once it has worked for `seconds`, again until it leaves.

    A body that catches it meets it again at its next line, in its handler too.

    >>> with time_limit(5):
    ...     sum(range(10))
    45
    """
    alarm = hasattr(signal, "setitimer")
    with _by_alarm(seconds) if alarm and _in_main_thread() else _by_thread(seconds):
        yield


def _in_main_thread() -> bool:
    return threading.current_thread() == threading.main_thread()


@contextlib.contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    """The error reaches Python code at its next step, and a call of NumPy's when it comes back."""
    target, done = threading.get_ident(), threading.Event()

    def raise_there(kind: type[BaseException] | None) -> None:
        error = None if kind is None else ctypes.py_object(kind)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), error)

    def ring() -> None:
        clock = Clock(seconds)
        wait = seconds
        while not done.wait(wait):
            if clock.left() <= 0:
                raise_there(TimeUp)
            wait = RINGS

    bell = threading.Thread(target=ring, daemon=True)
    bell.start()
    try:
        yield
    finally:
        ringing = True
        while ringing:
            with contextlib.suppress(TimeUp):  # which may come in the middle of these lines
                done.set()
                bell.join()
                raise_there(None)  # what was to be raised and has not been
                ringing = False


@contextlib.contextmanager
def _by_alarm(seconds: float) -> Iterator[None]:
    rung = False
    clock = Clock(seconds)

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        if clock.left() > 0:  # somebody else had the processor
            return
        if rung and frame is not None:
            sys.settrace(lambda *event: None)  # lines are told of only while some trace is set
            frame.f_trace = strike
        rung = True
        raise TimeUp

    def strike(frame: FrameType, event: str, argument: object) -> Any:
        if event != "line":  # the alarm's own exception is on its way
            return strike
        raise TimeUp

    trace = sys.gettrace()
    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    outer, interval = signal.setitimer(signal.ITIMER_REAL, seconds, RINGS)
    try:
        yield
    finally:
        sys.settrace(trace)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:  # an alarm of somebody else was set: let it ring when it would have
            left = outer - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), interval)


def memory_can_be_limited() -> bool:
    """Whether this system tells how much memory a process has, and lets it be limited."""
    return importlib.util.find_spec("resource") is not None and os.path.exists(_SIZE)


@contextlib.contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Have the body raise MemoryError once it asks for `megabytes` more than the process has."""
    if not memory_can_be_limited():
        yield
        return
    import resource

    with open(_SIZE, encoding="ascii") as file:
        pages = int(file.read().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + megabytes * 2**20
    limits = [value for value in (soft, hard) if value != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
