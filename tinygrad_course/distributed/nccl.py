"""Ranks with a GPU each that talk by NCCL, NVIDIA's library, through CuPy.

mpiexec starts the ranks here, too: what is not on a GPU (who is there, what is called, that all
still live) goes by MPI, and tensors go from GPU to GPU. Lesson 16.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ..device import Array, backend_for, backend_of, make_current
from .mpi import Mpi
from .transport import ReduceOp, Requests


class Nccl(Mpi):
    """All ranks of MPI's world, rank r of a machine with that machine's GPU r.

    RuntimeError for tensors of the CPU.
    """

    name = "nccl"

    def __init__(self, timeout: timedelta) -> None:
        try:
            cuda = backend_for("cuda").xp.cuda
            nccl = cuda.nccl
            nccl.NcclCommunicator  # noqa: B018 - CuPy's module is empty where there is no NCCL
        except (RuntimeError, ImportError, AttributeError) as error:
            raise RuntimeError(
                f"Distributed package doesn't have NCCL built in: {error}; use backend='mpi'"
            ) from error
        super().__init__(timeout)
        self._nccl, self._cuda = nccl, cuda
        on_machine = self._world.Split_type(self._mpi.COMM_TYPE_SHARED).rank
        make_current(on_machine % cuda.runtime.getDeviceCount())
        identity = self.share(nccl.get_unique_id() if self.rank == 0 else None)[0]
        self._ranks = nccl.NcclCommunicator(self.size, identity, self.rank)
        self._ops = {
            ReduceOp.SUM: nccl.NCCL_SUM,
            ReduceOp.AVG: nccl.NCCL_SUM,  # divided afterwards
            ReduceOp.PRODUCT: nccl.NCCL_PROD,
            ReduceOp.MIN: nccl.NCCL_MIN,
            ReduceOp.MAX: nccl.NCCL_MAX,
        }
        self._types = {
            "float16": nccl.NCCL_FLOAT16,
            "float32": nccl.NCCL_FLOAT32,
            "float64": nccl.NCCL_FLOAT64,
            "int8": nccl.NCCL_INT8,
            "uint8": nccl.NCCL_UINT8,
            "int32": nccl.NCCL_INT32,
            "int64": nccl.NCCL_INT64,
            "bool": nccl.NCCL_UINT8,
        }
        # Beside the stream that computes, so that both can be busy at once.
        self._stream = cuda.Stream(non_blocking=True)

    # --- transfers --------------------------------------------------------------------------------

    def stage(self, array: Array) -> Array:
        if backend_of(array).kind != "cuda":
            raise RuntimeError(
                "No backend type associated with device type cpu: 'nccl' carries tensors of GPUs; "
                "move this one with .cuda(), or use backend='mpi'"
            )
        return array if array.flags.c_contiguous else array.copy()

    def unstage(self, buffer: Array, array: Array) -> None:
        if buffer is not array:
            array[...] = buffer

    def _transfer(self, *calls: tuple[Any, ...]) -> Requests:
        """Starts `calls`, (function, pointers and sizes ...), together once what is computed now
        has been."""
        self._stream.wait_event(self._cuda.get_current_stream().record())
        self._nccl.groupStart()
        for function, *arguments in calls:
            function(*arguments, self._stream.ptr)
        self._nccl.groupEnd()
        return [self._stream.record()]

    def _numbers(self, buffer: Array) -> tuple[int, int]:
        """How many there are, and NCCL's number of their type."""
        kind = self._types.get(str(buffer.dtype))
        if kind is None:
            raise RuntimeError(f"NCCL knows no {buffer.dtype}: convert the tensor")
        return buffer.size, kind

    def _op(self, buffer: Array, op: ReduceOp) -> Any:
        if buffer.dtype == "bool":
            both = op in (ReduceOp.PRODUCT, ReduceOp.MIN)
            return self._ops[ReduceOp.MIN if both else ReduceOp.MAX]
        return self._ops[op]

    def all_reduce(self, buffer: Array, op: ReduceOp) -> Requests:
        place, how = _place(buffer), self._op(buffer, op)
        return self._transfer((self._ranks.allReduce, place, place, *self._numbers(buffer), how))

    def reduce(self, buffer: Array, op: ReduceOp, root: int) -> Requests:
        place, how = _place(buffer), self._op(buffer, op)
        call = (self._ranks.reduce, place, place, *self._numbers(buffer), how, root)
        return self._transfer(call)

    def broadcast(self, buffer: Array, root: int) -> Requests:
        return self._transfer((self._ranks.bcast, _place(buffer), *self._numbers(buffer), root))

    def all_gather(self, buffer: Array, out: Array) -> Requests:
        call = (self._ranks.allGather, _place(buffer), _place(out), *self._numbers(buffer))
        return self._transfer(call)

    def gather(self, buffer: Array, out: Array | None, root: int) -> Requests:
        calls = [(self._ranks.send, _place(buffer), *self._numbers(buffer), root)]
        return self._transfer(*calls, *self._row_by_row(self._ranks.recv, out))

    def scatter(self, buffer: Array, parts: Array | None, root: int) -> Requests:
        calls = [(self._ranks.recv, _place(buffer), *self._numbers(buffer), root)]
        return self._transfer(*calls, *self._row_by_row(self._ranks.send, parts))

    def _row_by_row(self, function: Any, rows: Array | None) -> list[tuple[Any, ...]]:
        """A call for each rank with its row."""
        calls = enumerate(() if rows is None else rows)
        return [(function, _place(row), *self._numbers(row), rank) for rank, row in calls]

    def _send(self, buffer: Array, to: int, tag: int) -> Requests:
        return self._transfer((self._ranks.send, _place(buffer), *self._numbers(buffer), to))

    def _receive(self, buffer: Array, source: int, tag: int) -> Requests:
        return self._transfer((self._ranks.recv, _place(buffer), *self._numbers(buffer), source))

    def done(self, requests: Requests) -> bool:
        events = [r for r in requests if isinstance(r, self._cuda.Event)]
        others = [r for r in requests if not isinstance(r, self._cuda.Event)]
        return super().done(others) and all(event.done for event in events)


def _place(array: Array) -> int:
    return backend_of(array).pointer(array)
