"""What happens on the pretended device, by name: kernels launched, and copies to and from the host.

A launch is a call that would start work on a GPU: computing, filling or copying. Views, windows and
empty arrays start none. A call counts once, though CuPy may need a few kernels for it (a `std`, a
sort). A transfer is anything that makes the host wait or sends it the device's numbers (`get`,
`item`, `float()`, `bool()`, an index by a mask, whose size must be known), and any array that the
host sends; a single Python number goes along as an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class Counts:
    """The events of one block: `launches`, `to_host`, `to_device`, each a Counter by name."""

    def __init__(self) -> None:
        self.launches: Counter[str] = Counter()
        self.to_host: Counter[str] = Counter()
        self.to_device: Counter[str] = Counter()

    @property
    def transfers(self) -> Counter[str]:
        """The copies of both ways."""
        return self.to_host + self.to_device

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={dict(value)}" for name, value in vars(self).items())
        return f"Counts({parts})"


_open: list[Counts] = []


@contextmanager
def counting() -> Iterator[Counts]:
    """Counts what happens within the block; blocks may be nested."""
    counts = Counts()
    _open.append(counts)
    try:
        yield counts
    finally:
        _open.remove(counts)


def launched(name: str) -> None:
    """Notes that a kernel was launched by the call `name`."""
    for counts in _open:
        counts.launches[name] += 1


def sent_to_host(name: str) -> None:
    """Notes that the host waited for the device in the call `name`."""
    for counts in _open:
        counts.to_host[name] += 1


def sent_to_device(name: str) -> None:
    """Notes that an array of the host was sent to the device by the call `name`."""
    for counts in _open:
        counts.to_device[name] += 1
