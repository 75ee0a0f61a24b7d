"""A worker of the DataLoader: what runs in a process of its own.

It reads tasks from one pipe and writes batches, or the errors met instead, to another, one answer
to a task, in order. It knows nothing of the other workers; `workers.py` is the other end of the
pipes. When that end is closed, or its process gone, the worker ends.

Lesson: processes share no memory. All that passes between them is pickled: tasks there, batches
back, and a traceback only as text.
"""

import os
import pickle
import queue
import random
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from ...random import manual_seed
from .fetch import EndOfStream, fetcher

# Seconds that a worker has to finish its batch, once nobody wants any.
GRACE = 1

# A forked worker gets copies of all open pipes. It must close those that belong to the main
# process: a pipe tells its reader of the writer's end only when no copy is left.
main_ends: "weakref.WeakSet[Connection]" = weakref.WeakSet()


@dataclass(frozen=True)
class WorkerInfo:
    """What `get_worker_info()` returns in a worker: its number, how many there are, the seed of
    its random numbers, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process of a DataLoader the WorkerInfo of that worker, elsewhere None.

    >>> print(get_worker_info())
    None
    """
    return _info


class Caught:
    """An error on its way between processes: its class, and all else as text."""

    def __init__(self, kind: type[BaseException], text: str) -> None:
        self.kind = kind
        self.text = text

    @classmethod
    def now(cls, where: str) -> "Caught":
        """The exception that is being handled."""
        kind = sys.exc_info()[0] or Exception
        return cls(kind, f"Caught {kind.__name__} in {where}.\nOriginal {traceback.format_exc()}")

    def exception(self) -> BaseException:
        """An exception of the class that was caught, if one can be made of a text alone."""
        try:
            # KeyError shows the repr of its message, in which line ends would be "\n".
            return self.kind(_Verbatim(self.text) if self.kind is KeyError else self.text)
        except Exception:
            return RuntimeError(self.text)


class _Verbatim(str):
    __slots__ = ()
    __repr__ = str.__str__


@dataclass
class Job:
    """What all workers of a loader get: the same dataset, collate_fn and options."""

    dataset: Any
    collate_fn: Callable[[Any], Any]
    batched: bool
    drop_last: bool
    worker_init_fn: Callable[[int], None] | None
    num_workers: int
    base_seed: int

    def fetcher(self) -> Callable[[Any], Any]:
        return fetcher(self.dataset, self.collate_fn, self.batched, self.drop_last)

    def __reduce__(self) -> Any:
        """Pickled twice over, for a worker that is not forked: so it can tell what went wrong."""
        try:
            return _unpack, (bytes(ForkingPickler.dumps(vars(self))),)
        except Exception as error:
            raise self._unpicklable(error) from error

    def _unpicklable(self, error: Exception) -> BaseException:
        for name in ("dataset", "collate_fn", "worker_init_fn"):
            try:
                ForkingPickler.dumps(getattr(self, name))
            except Exception as error:
                text = (
                    f"the {name} of the DataLoader cannot be pickled: {error}. A worker process "
                    "that is not forked gets it by pickle, which takes functions and classes by "
                    "their names in an importable module, no lambdas and no inner functions; move "
                    "them to the top of a .py file or use num_workers=0"
                )
                return Caught(type(error), text).exception()
        return error


def _unpack(pickled: bytes) -> Job | Caught:
    try:
        return Job(**pickle.loads(pickled))
    except Exception as error:
        text = (
            "a worker process of the DataLoader cannot unpickle the dataset, collate_fn or "
            f"worker_init_fn: {error}. It has to import what they are made of, and what a notebook "
            "or an interactive session defines cannot be imported; move that to a .py file or use "
            "num_workers=0"
        )
        return Caught(RuntimeError, text)


def work(job: Job | Caught, worker_id: int, tasks: Connection, results: Connection) -> None:
    """The life of a worker: prepare, then answer tasks until the pipe of tasks is closed.

    An order is ("start", None), at the beginning of a pass, or ("load", task); an answer to the
    latter is ("batch", the batch), ("end", None) of a stream or ("error", Caught).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process to answer
    for end in list(main_ends):
        end.close()
    orders: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, orders), daemon=True).start()

    where = f"DataLoader worker process {worker_id}"
    trouble: Any = None
    try:
        ready = _prepare(job, worker_id)
    except Exception:
        trouble = _pickled_error(where)
    fetch = None
    answer: Any
    for order in iter(orders.get, None):
        try:
            kind, task = pickle.loads(order)
            if kind == "start":
                fetch = None
                continue
            if trouble:
                answer = trouble
            else:
                fetch = fetch or ready.fetcher()
                answer = ForkingPickler.dumps(("batch", fetch(task)))
        except EndOfStream:
            answer = ForkingPickler.dumps(("end", None))
        except Exception:
            answer = _pickled_error(where)
        try:
            results.send_bytes(answer)
        except OSError:  # nobody reads any more
            return


def _prepare(job: Job | Caught, worker_id: int) -> Job:
    """Seeds all generators, each worker's in its own way, and calls worker_init_fn."""
    global _info
    if isinstance(job, Caught):
        raise job.exception()
    seed = job.base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    words = [worker_id, job.base_seed % 2**32, job.base_seed >> 32]
    np.random.seed(np.random.SeedSequence(words).generate_state(4))
    _info = WorkerInfo(worker_id, job.num_workers, seed, job.dataset)
    if job.worker_init_fn is not None:
        job.worker_init_fn(worker_id)
    return job


def _pickled_error(where: str) -> Any:
    caught = Caught.now(where)
    try:
        return ForkingPickler.dumps(("error", caught))
    except Exception:  # a class that was defined in a function
        return ForkingPickler.dumps(("error", Caught(RuntimeError, caught.text)))


def _listen(tasks: Connection, orders: "queue.SimpleQueue[bytes | None]") -> None:
    """Moves orders from the pipe to a queue that is never full, so that the main process can go on
    writing while the worker is busy; ends the worker when there can be no more."""
    try:
        while True:
            orders.put(tasks.recv_bytes())
    except (EOFError, OSError):
        orders.put(None)
    time.sleep(GRACE)
    os._exit(1)
