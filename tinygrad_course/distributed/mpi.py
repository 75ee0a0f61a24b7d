"""Ranks that talk by MPI: processes that `mpiexec` started, on one machine or on many.

Every transfer is started without waiting (Iallreduce and its kin), so that computing can go on
meanwhile, and is then asked for until a limit: a rank that died or hangs ends the job instead of
holding it for ever. mpi4py is imported here alone, and only when a job is joined. Lesson 16.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from datetime import timedelta
from typing import Any, NoReturn

import numpy as np

from ..device import Array, backend_of
from .transport import Alone, ReduceOp, Requests, Work

# What the launchers of the MPI libraries tell a process: MPICH and Intel MPI, Open MPI, Slurm.
SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")

CALL = 256  # bytes of a call's text that are compared


def launched() -> bool:
    """Whether mpiexec, or a launcher like it, started this process as one of several."""
    return any(os.environ.get(name, "1") != "1" for name in SIZES)


class Mpi(Alone):
    """All ranks of MPI's world. Arrays of a GPU pass through the host."""

    def __init__(self, timeout: timedelta) -> None:
        super().__init__(timeout)
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise RuntimeError(
                "Distributed package doesn't have MPI built in: it needs mpi4py and an MPI library "
                f"({error}); pip install 'tinygrad-course[mpi]' brings both"
            ) from error
        self._mpi = MPI
        self._world: Any = MPI.COMM_WORLD
        self.rank, self.size = self._world.rank, self._world.size
        self._ops = {
            ReduceOp.SUM: MPI.SUM,
            ReduceOp.AVG: MPI.SUM,  # divided afterwards
            ReduceOp.PRODUCT: MPI.PROD,
            ReduceOp.MIN: MPI.MIN,
            ReduceOp.MAX: MPI.MAX,
        }
        # A rank that fails takes the others with it; without this they would wait for it.
        self._former_hook, sys.excepthook = sys.excepthook, self._failed

    def close(self) -> None:
        sys.excepthook = self._former_hook

    # --- transfers --------------------------------------------------------------------------------

    def stage(self, array: Array) -> Array:
        return super().stage(backend_of(array).to_host(array))

    def unstage(self, buffer: Array, array: Array) -> None:
        if buffer is not array:
            here = backend_of(array)
            array[...] = here.from_host(buffer, here.index_of(array))

    def _op(self, buffer: Array, op: ReduceOp) -> Any:
        if buffer.dtype == np.bool_:
            all_of = op in (ReduceOp.PRODUCT, ReduceOp.MIN)
            return self._mpi.LAND if all_of else self._mpi.LOR
        return self._ops[op]

    def all_reduce(self, buffer: Array, op: ReduceOp) -> Requests:
        return [self._world.Iallreduce(self._mpi.IN_PLACE, buffer, self._op(buffer, op))]

    def reduce(self, buffer: Array, op: ReduceOp, root: int) -> Requests:
        ends = (self._mpi.IN_PLACE, buffer) if self.rank == root else (buffer, None)
        return [self._world.Ireduce(*ends, self._op(buffer, op), root)]

    def broadcast(self, buffer: Array, root: int) -> Requests:
        return [self._world.Ibcast(buffer, root)]

    def all_gather(self, buffer: Array, out: Array) -> Requests:
        return [self._world.Iallgather(buffer, out)]

    def gather(self, buffer: Array, out: Array | None, root: int) -> Requests:
        return [self._world.Igather(buffer, out, root)]

    def scatter(self, buffer: Array, parts: Array | None, root: int) -> Requests:
        return [self._world.Iscatter(parts, buffer, root)]

    def send(self, buffer: Array, to: int, tag: int) -> Requests:
        # A note goes ahead, since MPI itself knows no shapes.
        note = _bytes_of(f"{self.rank} {described(buffer)}")
        return [self._world.Isend(note, to, tag), *self._send(buffer, to, tag)]

    def receive(self, buffer: Array, source: int | None, tag: int) -> int:
        place = self._mpi.ANY_SOURCE if source is None else source
        what = f"recv({described(buffer)}, {source})"
        note = np.empty(CALL, np.uint8)
        self.wait([self._world.Irecv(note, place, tag)], what)
        sender, sent = _text_of(note).split(" ", 1)
        if sent != described(buffer):
            raise RuntimeError(
                f"rank {sender} sends {sent} to rank {self.rank}, which receives into "
                f"{described(buffer)}: shapes and dtypes must be equal"
            )
        self.wait(self._receive(buffer, int(sender), tag), what)
        return int(sender)

    def _send(self, buffer: Array, to: int, tag: int) -> Requests:
        return [self._world.Isend(buffer, to, tag)]

    def _receive(self, buffer: Array, source: int, tag: int) -> Requests:
        return [self._world.Irecv(buffer, source, tag)]

    # --- waiting and agreeing ---------------------------------------------------------------------

    def wait(self, requests: Requests, what: str) -> None:
        start = time.monotonic()
        while not self.done(requests):
            waited = time.monotonic() - start
            if waited > self.timeout.total_seconds():
                self.end(
                    f"waited {waited:.3g} s for the others in {what}: a rank has died, hangs, or "
                    "is in another call"
                )
            # Small transfers are over soon; where there are more ranks than CPUs, one that waits
            # must let the others compute.
            time.sleep(0 if waited < 0.005 else 1e-4)

    def done(self, requests: Requests) -> bool:
        return bool(self._mpi.Request.Testall(requests))

    def agreement(self, call: str) -> Work:
        own = _bytes_of(call)
        every = np.empty((self.size, CALL), np.uint8)
        request = self._world.Iallgather(own, every)

        def compare() -> None:
            calls = dict[str, list[int]]()
            for rank, text in enumerate(every):
                calls.setdefault(_text_of(text), []).append(rank)
            if len(calls) > 1:
                told = "; ".join(f"{_named(ranks)}: {text}" for text, ranks in calls.items())
                raise RuntimeError(
                    f"the ranks do not make the same call. {told}. All must take the same steps, "
                    "with tensors of the same shape and dtype"
                )

        return Work(self, [request], call, compare)

    def share(self, value: Any) -> list[Any]:
        own = np.frombuffer(pickle.dumps(value), np.uint8)
        sizes = np.empty(self.size, np.int64)
        self.wait([self._world.Iallgather(np.array([own.size]), sizes)], "share")
        every = np.empty(sizes.sum(), np.uint8)
        self.wait([self._world.Iallgatherv(own, [every, sizes])], "share")
        parts = np.split(every, np.cumsum(sizes)[:-1])
        return [pickle.loads(part.tobytes()) for part in parts]

    def end(self, reason: str) -> NoReturn:
        print(f"rank {self.rank} of {self.size} {reason}; the job ends", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.5)  # mpiexec drops what it has not yet forwarded when a job is aborted
        self._world.Abort(1)
        raise SystemExit(1)

    def _failed(self, kind: Any, error: Any, trace: Any) -> None:
        self._former_hook(kind, error, trace)
        self.end(f"failed with {kind.__name__}")


def described(array: Array) -> str:
    """'float32 [2, 3]'."""
    return f"{array.dtype} {list(array.shape)}"


def _bytes_of(text: str) -> Array:
    return np.array([text.encode()[:CALL]], f"S{CALL}").view(np.uint8)


def _text_of(raw: Array) -> str:
    return str(raw.tobytes().rstrip(b"\0").decode(errors="replace"))


def _named(ranks: list[int]) -> str:
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"
