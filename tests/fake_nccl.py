"""A stand-in for CuPy's NCCL on the pretended device: what is between two addresses goes by MPI.

It shows that the right addresses, counts, types and ranks arrive; not that NCCL itself takes them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import fake_cuda

TYPES = {0: "int8", 1: "uint8", 2: "int32", 4: "int64", 6: "float16", 7: "float32", 8: "float64"}
under_way: list[Any] = []


def memory(place: int, count: int, kind: int) -> np.ndarray:
    dtype = np.dtype(TYPES[kind])
    raw = (ctypes.c_char * (count * dtype.itemsize)).from_address(place)
    return np.frombuffer(raw, dtype)


class NcclCommunicator:
    """`cupy.cuda.nccl.NcclCommunicator`."""

    def __init__(self, size: int, identity: tuple[int, ...], rank: int) -> None:
        from mpi4py import MPI

        self.mpi, self.world = MPI, MPI.COMM_WORLD.Dup()
        assert (size, rank, identity) == (self.world.size, self.world.rank, (7, 7))
        self.ops = [MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN]

    def allReduce(self, source, target, count, kind, op, stream):
        assert source == target and stream == Stream.ptr
        numbers = memory(target, count, kind)
        under_way.append(self.world.Iallreduce(self.mpi.IN_PLACE, numbers, self.ops[op]))

    def reduce(self, source, target, count, kind, op, root, stream):
        at_root = self.world.rank == root
        numbers = memory(source, count, kind)
        ends = (self.mpi.IN_PLACE, numbers) if at_root else (numbers, None)
        under_way.append(self.world.Ireduce(*ends, self.ops[op], root))

    def bcast(self, place, count, kind, root, stream):
        under_way.append(self.world.Ibcast(memory(place, count, kind), root))

    def allGather(self, source, target, count, kind, stream):
        rows = memory(target, count * self.world.size, kind)
        under_way.append(self.world.Iallgather(memory(source, count, kind), rows))

    def send(self, place, count, kind, peer, stream):
        under_way.append(self.world.Isend(memory(place, count, kind), peer))

    def recv(self, place, count, kind, peer, stream):
        under_way.append(self.world.Irecv(memory(place, count, kind), peer))


class Event:
    """Of a stream: done once all that was started before it is."""

    def __init__(self, requests: list[Any]) -> None:
        self.requests = requests

    @property
    def done(self) -> bool:
        return all(request.Test() for request in self.requests)


class Stream:
    """The order of things; here nothing computes behind the host's back."""

    ptr = 77

    def __init__(self, non_blocking: bool = False) -> None:
        pass

    def wait_event(self, event: Event) -> None:
        assert event.done

    def record(self) -> Event:
        requests, under_way[:] = list(under_way), []
        return Event(requests)


@contextmanager
def installed() -> Iterator[None]:
    """Within the block CuPy seems to have NCCL."""
    names = "INT8 UINT8 INT32 UINT32 INT64 UINT64 FLOAT16 FLOAT32 FLOAT64".split()
    numbers = {f"NCCL_{name}": number for number, name in enumerate(names)}
    ops = {f"NCCL_{name}": number for number, name in enumerate("SUM PROD MAX MIN".split())}
    fake_cuda.cuda.nccl = SimpleNamespace(
        NcclCommunicator=NcclCommunicator,
        get_unique_id=lambda: (7, 7),
        groupStart=lambda: None,
        groupEnd=lambda: None,
        **numbers,
        **ops,
    )
    own = {"Event": Event, "Stream": Stream, "get_current_stream": Stream}
    former = {name: getattr(fake_cuda.cuda, name) for name in own}
    vars(fake_cuda.cuda).update(own)
    try:
        yield
    finally:
        vars(fake_cuda.cuda).update(former)
        del fake_cuda.cuda.nccl
