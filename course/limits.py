"""A limit on how long a piece of code may run inside this process.

It interrupts with an alarm signal, so it works in the main thread of a POSIX system; elsewhere the
code runs unlimited and the grader's own process limits have the last word. Lesson 00.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that an answer's own `except` seldom swallows it."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in the body once it has run for `seconds`, again and again until it leaves.

    >>> with time_limit(5):
    ...     sum(range(10))
    45
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeUp

    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:  # an alarm of somebody else was set: let it ring when it would have
            left = outer - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
