"""DataLoader: one pass over a dataset in batches.

It joins three parts that know nothing of each other: a dataset, a sampler that gives the order, and
a collate function that makes a batch of samples. Everything random happens in the sampler.

Lesson: `for x, y in loader` is a loop over a sampler with two function calls inside.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...random import Generator, default_generator
from .collate import default_collate, default_convert
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

_FIXED = ("dataset", "batch_size", "sampler", "batch_sampler", "drop_last")


class DataLoader:
    """Batches of a dataset, in order, shuffled, or as a sampler says; iterate it once per epoch.

    `batch_size` samples a batch (None: single samples, not batched), `shuffle` in a new random
    order each pass, `sampler` any iterable of indices instead, `batch_sampler` any iterable of
    lists of indices; `collate_fn` makes a batch of a list of samples; `drop_last` leaves out a last
    batch that is not full; `generator` is where the order is drawn from.
    Raises ValueError for options that exclude each other, NotImplementedError for num_workers > 0.

    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Any
    batch_size: int | None
    sampler: Any
    batch_sampler: Any
    drop_last: bool
    num_workers: int
    pin_memory: bool
    collate_fn: Callable[[Any], Any]
    generator: Generator | None

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
        *,
        generator: Generator | None = None,
    ) -> None:
        _check_options(batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last)
        if pin_memory:
            warnings.warn(
                "pin_memory has no effect: batches are made in plain memory", stacklevel=2
            )
        if sampler is None:
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
        self.pin_memory = pin_memory
        self.collate_fn = collate_fn
        self.generator = generator
        self.__dict__.update(
            dataset=dataset,
            batch_size=batch_size,
            sampler=sampler,
            batch_sampler=batch_sampler,
            drop_last=drop_last,
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED:
            raise ValueError(f"the {name} of a DataLoader is fixed; make a new DataLoader")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        # Here PyTorch draws the seed of its worker processes. Without workers nobody uses it, but
        # every number drawn after it depends on its having been drawn.
        draw_seed(self.generator or default_generator)
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
        else:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in indices])

    def __len__(self) -> int:
        """The number of batches of a pass. Raises TypeError when a sampler has no length."""
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _check_options(
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    num_workers: int,
    drop_last: bool,
) -> None:
    if num_workers < 0:
        raise ValueError(f"num_workers must be 0 or more, got {num_workers}")
    if num_workers > 0:
        raise NotImplementedError(
            f"num_workers={num_workers}: loading in worker processes does not exist here yet; "
            "use num_workers=0, which loads in this process and gives the same batches"
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
