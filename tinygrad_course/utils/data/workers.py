"""Workers: the main process's end of loading in other processes.

Tasks are dealt out in turn and batches taken back in the same turn, so that their order is that of
the sampler however long each takes. Each worker has some tasks in advance; that is the prefetching.
What happens in a worker, `worker.py` knows.

Lesson: keep a fixed number of tasks in the air, and neither side waits for the other.
"""

import multiprocessing
import os
import signal
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any

from .worker import GRACE, Job, main_ends, work


def default_context() -> Any:
    """The start method that was set, or the system's; on Linux "fork", by which also what a
    notebook defines reaches the workers (Python 3.14 has another default)."""
    unset = multiprocessing.get_start_method(allow_none=True) is None
    return multiprocessing.get_context("fork" if unset and sys.platform == "linux" else None)


class Worker:
    """A worker process, and the ends of its pipes: orders go out, answers come in."""

    results: Connection

    def __init__(self, context: Any, job: Job, worker_id: int) -> None:
        inlet, self._orders = context.Pipe(duplex=False)
        self.results, outlet = context.Pipe(duplex=False)
        main_ends.update((self._orders, self.results))
        self._process = context.Process(
            target=work,
            args=(job, worker_id, inlet, outlet),
            name=f"DataLoader worker {worker_id} of {job.num_workers}",
            daemon=True,
        )
        self._forked = context.get_start_method() == "fork"
        self._has_answered = False
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of forking beside threads, and BLAS has threads.
                warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
                self._process.start()
        except BaseException:
            self.close()
            raise
        finally:
            inlet.close()
            outlet.close()

    def send(self, kind: str, task: Any = None) -> None:
        with suppress(BrokenPipeError, ConnectionError):  # its death is told when its turn comes
            self._orders.send((kind, task))

    def receive(self, timeout: float) -> tuple[str, Any]:
        """The next answer. Raises RuntimeError when the worker is dead, or after `timeout` seconds
        (0: never)."""
        if not wait([self.results, self._process.sentinel], timeout or None):
            raise RuntimeError(
                f"DataLoader timed out after {timeout} seconds: {self._process.name} "
                f"(pid {self._process.pid}) has not made its batch; is a sample so slow to load? "
                "timeout=0 waits for ever"
            )
        try:
            if self.results.poll():
                answer: tuple[str, Any] = self.results.recv()
                self._has_answered = True
                return answer
        except (EOFError, OSError):
            pass
        raise RuntimeError(self._obituary())

    def _obituary(self) -> str:
        self._process.join(GRACE)
        code = self._process.exitcode
        text = f"DataLoader worker (pid {self._process.pid}) exited unexpectedly: "
        text += f"{self._process.name} "
        if code is not None and code < 0:
            text += f"was killed by {signal.Signals(-code).name}, by itself, by someone, or by the "
            text += "system where memory is short"
        else:
            text += f"ended with exit code {code}"
        if not self._forked and not self._has_answered:
            text += (
                ", before its first batch; a worker that is not forked imports the main script, "
                "whose work must then stand under `if __name__ == '__main__':`"
            )
        return f"{text}. With num_workers=0 the same happens in this process, where it can be seen"

    def close(self) -> None:
        self._orders.close()
        self.results.close()

    def join(self, seconds: float) -> None:
        """Waits for the process to end, and ends it after `seconds`."""
        self._process.join(seconds)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


class Workers:
    """An iterator over batches that worker processes make; `start` begins a pass.

    Raises what a worker raises, in the same class, with the worker's traceback in its text; then
    the next batch can still be had. A worker's death or a timeout closes it.
    """

    def __init__(
        self,
        context: Any,
        job: Job,
        prefetch_factor: int,
        timeout: float,
        persistent: bool,
        in_order: bool,
    ) -> None:
        self._persistent = persistent
        self._prefetch_factor = prefetch_factor
        self._timeout = timeout
        self._in_order = in_order
        self._turns: deque[Worker] = deque()  # one entry for each task that is in the air
        self._workers: list[Worker] = []
        # Also called when nobody holds this object any more, and when Python exits.
        self.close = weakref.finalize(self, _dismiss, self._workers, os.getpid())
        for i in range(job.num_workers):
            self._workers.append(Worker(context, job, i))

    @property
    def closed(self) -> bool:
        return not self.close.alive

    def start(self, tasks: Iterator[Any]) -> None:
        """Begins a pass over `tasks`; what was left of another is thrown away."""
        while self._turns:
            self._receive()
        self._tasks = tasks
        for worker in self._workers:
            worker.send("start")
        for _ in range(self._prefetch_factor):
            for worker in self._workers:
                self._assign(worker)

    def _assign(self, worker: Worker) -> None:
        for task in islice(self._tasks, 1):
            worker.send("load", task)
            self._turns.append(worker)

    def _receive(self) -> tuple[Worker, str, Any]:
        try:
            if not self._in_order:
                ready = wait({worker.results for worker in self._turns}, self._timeout or None)
                first = next((w for w in self._turns if w.results in ready), self._turns[0])
                self._turns.remove(first)
                self._turns.appendleft(first)
            worker = self._turns.popleft()
            return worker, *worker.receive(self._timeout)
        except BaseException:  # among them Ctrl-C, maybe in the middle of an answer
            self._turns.clear()
            for worker in self._workers:
                worker.join(0)
            self.close()
            raise

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while self._turns:
            worker, kind, value = self._receive()
            if kind == "end":  # of this worker's stream; it gets no more tasks
                continue
            self._assign(worker)
            if kind == "error":
                raise value.exception()
            return value
        if not self._persistent:
            self.close()
        raise StopIteration


def _dismiss(workers: list[Worker], owner: int) -> None:
    """Ends the processes: closed pipes tell them, and who does not listen is terminated."""
    if os.getpid() != owner:  # a forked copy of the main process has no children to wait for
        return
    for worker in workers:
        worker.close()
    deadline = time.monotonic() + GRACE
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
