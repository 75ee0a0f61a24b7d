"""Limits on how long a piece of code may run inside this process, and on how much memory it takes.

Time is up by an alarm signal, so that works in the main thread of a POSIX system; memory is limited
on Linux. Elsewhere code runs unlimited and the grader's own process limits have the last word.
Lesson 00.
"""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that an answer's own `except` seldom swallows it."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in the body once it has run for `seconds`, again and again until it leaves.

    A body that catches it meets it again at its next line, in its handler too.

    >>> with time_limit(5):
    ...     sum(range(10))
    45
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    rung = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
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
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        yield
    finally:
        sys.settrace(trace)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:  # an alarm of somebody else was set: let it ring when it would have
            left = outer - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


@contextlib.contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Have the body raise MemoryError once it asks for `megabytes` more than the process has."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + megabytes * 2**20
    limits = [value for value in (soft, hard) if value != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
