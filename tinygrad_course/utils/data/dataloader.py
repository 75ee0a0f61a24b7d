"""DataLoader: one pass over a dataset in batches.

It joins three parts that know nothing of each other: a dataset, a sampler that gives the order, and
a collate function that makes a batch of samples. Everything random happens in the sampler. Who does
the work, this process or others, `workers.py` knows.

Lesson: `for x, y in loader` is a loop over a sampler with two function calls inside.
"""

import itertools
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

from ...random import Generator, default_generator
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetch import EndOfStream
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed
from .worker import Job
from .workers import Workers, default_context

_FIXED = ("dataset", "batch_size", "sampler", "batch_sampler", "drop_last", "persistent_workers")


class DataLoader:
    """Batches of a dataset, in order, shuffled, or as a sampler says; iterate it once per epoch.

    `batch_size` samples a batch (None: single samples, not batched), `shuffle` in a new random
    order each pass, `sampler` any iterable of indices instead, `batch_sampler` any iterable of
    lists of indices; `collate_fn` makes a batch of a list of samples; `drop_last` leaves out a last
    batch that is not full; `generator` is where the order is drawn from. Of a stream, an
    IterableDataset, it takes samples as they come.

    `num_workers` processes load `prefetch_factor` (2) batches each in advance; the batches are the
    same as with 0, which loads in this process. Each worker calls `worker_init_fn(its number)`
    first. `persistent_workers` live on between passes, `timeout` is how many seconds to wait for a
    batch, `multiprocessing_context` how processes start ("fork", "spawn", "forkserver");
    `in_order=False` gives batches as they come. `pin_memory` has no effect.
    Raises ValueError for options that exclude each other; a pass raises a worker's error with its
    class, and RuntimeError for a dead worker.

    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Any
    batch_size: int | None
    sampler: Any
    batch_sampler: Any
    num_workers: int
    collate_fn: Callable[[Any], Any]
    pin_memory: bool
    drop_last: bool
    timeout: float
    worker_init_fn: Callable[[int], None] | None
    generator: Generator | None
    prefetch_factor: int | None
    persistent_workers: bool
    pin_memory_device: str
    in_order: bool

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: str | BaseContext | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        _check_order(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if isinstance(dataset, IterableDataset):
            sampler = itertools.repeat(None)  # a stream is asked for "another", never for which
        elif sampler is None:
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.in_order = in_order
        self._workers: Workers | None = None  # those that persist
        self._told_length: int | None = None  # what `len` said of a stream
        self.__dict__.update(
            dataset=dataset,
            batch_size=batch_size,
            sampler=sampler,
            batch_sampler=batch_sampler,
            drop_last=drop_last,
            persistent_workers=persistent_workers,
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED:
            raise ValueError(f"the {name} of a DataLoader is fixed; make a new DataLoader")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """How worker processes are started; None is the system's way."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: str | BaseContext | None) -> None:
        if context is not None and self.num_workers == 0:
            raise ValueError("multiprocessing_context needs worker processes: num_workers > 0")
        if isinstance(context, str):
            methods = multiprocessing.get_all_start_methods()
            if context not in methods:
                raise ValueError(f"multiprocessing_context is one of {methods}, got {context!r}")
            context = multiprocessing.get_context(context)
        if not isinstance(context, BaseContext | None):
            raise TypeError(
                "multiprocessing_context is a start method's name or a context of the "
                f"multiprocessing module, got {context!r}"
            )
        self._context = context

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory:
            warnings.warn(
                "pin_memory has no effect: batches are made in plain memory", stacklevel=2
            )
        tasks = iter(self._tasks())
        return _Pass(self, self._in_workers(tasks) if self.num_workers else self._here(tasks))

    def _tasks(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _job(self) -> Job:
        return Job(
            self.dataset,
            self.collate_fn,
            self.batch_sampler is not None,
            self.drop_last,
            self.worker_init_fn,
            self.num_workers,
            # Without workers nobody uses the seed, but PyTorch draws it there, too, and every
            # number drawn after it depends on that.
            draw_seed(self.generator or default_generator),
        )

    def _here(self, tasks: Iterator[Any]) -> Iterator[Any]:
        if self.timeout:
            raise AssertionError("timeout is for worker processes: give num_workers, too")
        return _loaded(tasks, self._job().fetcher())

    def _in_workers(self, tasks: Iterator[Any]) -> Iterator[Any]:
        workers = self._workers
        if workers is None or workers.closed:
            workers = Workers(
                self.multiprocessing_context or default_context(),
                self._job(),
                self.prefetch_factor or 0,
                self.timeout,
                self.persistent_workers,
                self.in_order,
            )
            if self.persistent_workers:
                self._workers = workers
        workers.start(tasks)
        return workers

    def __len__(self) -> int:
        """The number of batches of a pass. Raises TypeError when the dataset or a sampler has no
        length."""
        if isinstance(self.dataset, IterableDataset):
            self._told_length = size = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self._tasks())


class _Pass:
    """The iterator over one pass, which knows its length and counts."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader = loader
        self._batches = batches
        self._told_length = loader._told_length
        self._count = 0

    def __iter__(self) -> "_Pass":
        return self

    def __next__(self) -> Any:
        batch = next(self._batches)
        self._count += 1
        if self._told_length is not None and self._count > self._told_length:
            warnings.warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be "
                f"{self._told_length}, but {self._count} batches have been loaded. Each worker "
                "gives the whole stream, unless the dataset asks get_worker_info() for its part",
                stacklevel=2,
            )
        return batch

    def __len__(self) -> int:
        return len(self._loader._tasks())


def _loaded(tasks: Iterator[Any], fetch: Callable[[Any], Any]) -> Iterator[Any]:
    try:
        for task in tasks:
            yield fetch(task)
    except (EndOfStream, StopIteration):
        return


def _check_order(
    dataset: object,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    drop_last: bool,
) -> None:
    if isinstance(dataset, IterableDataset):
        options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, option in options.items():
            if option is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset has no {name}: a stream gives its samples in "
                    f"its own order; got {name}={option}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler and shuffle exclude each other: the sampler gives the order")
    if batch_sampler is not None and (
        batch_size != 1 or shuffle or sampler is not None or drop_last
    ):
        raise ValueError(
            "batch_sampler excludes batch_size, shuffle, sampler and drop_last; pass it alone"
        )
    if batch_size is None and drop_last:
        raise ValueError("batch_size=None makes no batches, so drop_last=True has nothing to drop")


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(f"num_workers must be 0 or more, got {num_workers}")
    if timeout < 0:
        raise ValueError(f"timeout must be 0 (none) or more seconds, got {timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor is for worker processes: num_workers > 0")
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(f"prefetch_factor must be 1 or more, got {prefetch_factor}")
    if num_workers == 0 and persistent_workers:
        raise ValueError("persistent_workers needs worker processes: num_workers > 0")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if num_workers > (cores or num_workers):
        warnings.warn(
            f"{num_workers} worker processes on {cores} processor cores: more workers than cores "
            "make loading slower; lower num_workers",
            stacklevel=3,
        )
