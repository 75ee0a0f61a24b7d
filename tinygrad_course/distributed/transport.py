"""What carries arrays between ranks: the interface, and its simplest form, a world of one.

A transport starts a transfer and hands back what is under way as a list of requests; `wait` ends
it. It knows flat memory and ranks, not tensors, gradients or modules. `mpi` and `nccl` are the
others. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import Enum
from typing import Any, NoReturn

from ..device import Array

Requests = list[Any]


class ReduceOp(Enum):
    """How the numbers of all ranks become one: sum, mean, product, least, largest.

    >>> ReduceOp.AVG
    <ReduceOp.AVG: 'mean'>
    """

    SUM = "sum"
    AVG = "mean"
    PRODUCT = "product"
    MIN = "least"
    MAX = "largest"


class Alone:
    """A world of one rank, which has nobody to talk to: the interface of all transports.

    Every method but `wait` and those after it starts a transfer and returns its requests. Buffers
    come from `stage` and must stay untouched until `wait`. `root` is the rank that gives or
    receives, `parts` and `out` have one row for each rank, on the root alone where there is one.
    """

    name = "mpi"
    rank = 0
    size = 1

    def __init__(self, timeout: timedelta) -> None:
        self.timeout = timeout

    def stage(self, array: Array) -> Array:
        """`array`, or a copy of it, as memory in one piece that can be sent."""
        return array if array.flags.c_contiguous else array.copy()

    def unstage(self, buffer: Array, array: Array) -> None:
        """Writes what arrived in `buffer` to `array`, from which it was staged."""
        if buffer is not array:
            array[...] = buffer

    def all_reduce(self, buffer: Array, op: ReduceOp) -> Requests:
        return []

    def reduce(self, buffer: Array, op: ReduceOp, root: int) -> Requests:
        return []

    def broadcast(self, buffer: Array, root: int) -> Requests:
        return []

    def all_gather(self, buffer: Array, out: Array) -> Requests:
        out[0] = buffer
        return []

    def gather(self, buffer: Array, out: Array | None, root: int) -> Requests:
        return self.all_gather(buffer, out)

    def scatter(self, buffer: Array, parts: Array | None, root: int) -> Requests:
        assert parts is not None  # there is no rank but the root
        buffer[...] = parts[0]
        return []

    def send(self, buffer: Array, to: int, tag: int) -> Requests:
        raise AssertionError("a world of one has no rank to send to")

    def receive(self, buffer: Array, source: int | None, tag: int) -> int:
        """Waits for a message and returns who sent it."""
        raise RuntimeError("recv(): there is no other rank that could send, in a world of one")

    # --- waiting and agreeing ---------------------------------------------------------------------

    def wait(self, requests: Requests, what: str) -> None:
        """Returns when all of `requests` are done; ends the job when that takes too long."""

    def done(self, requests: Requests) -> bool:
        """Whether all are done, without waiting; asking moves transfers forward."""
        return True

    def agreement(self, call: str) -> Work:
        """Starts to compare what all ranks call; waiting for it raises RuntimeError where they
        differ."""
        return Work(self, [], call)

    def agree(self, call: str) -> None:
        """Returns when all ranks call the same: a barrier."""
        self.agreement(call).wait()

    def share(self, value: Any) -> list[Any]:
        """The values of all ranks, in their order."""
        return [value]

    def end(self, reason: str) -> NoReturn:
        """Ends the processes of all ranks."""
        raise SystemExit(reason)

    def close(self) -> None:
        """Leaves the other ranks in peace."""


class Work:
    """A transfer under way: what a collective with `async_op=True` returns."""

    def __init__(
        self,
        transport: Alone,
        requests: Requests,
        what: str,
        finish: Callable[[], None] | None = None,
    ) -> None:
        self._transport = transport
        self._requests = requests
        self._what = what
        self._finish = finish

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Returns True when the tensors hold their new values.

        A rank that does not answer within the timeout of `init_process_group` ends the job.
        NotImplementedError for a timeout here.
        """
        if timeout is not None:
            raise NotImplementedError(
                "wait(timeout): the limit is one for all, that of init_process_group(timeout=...)"
            )
        self._transport.wait(self._requests, self._what)
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()
        return True

    def is_completed(self) -> bool:
        """Whether `wait` would return at once."""
        return self._transport.done(self._requests)
