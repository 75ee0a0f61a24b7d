"""Fetching: how the samples of one task become a batch.

A task is what a sampler yields: a list of indices, or a single index where nothing is batched. A
stream has no indices; only the length of its tasks counts. The same two classes run in this process
and in the workers, and know nothing of either.

Lesson: with loading behind one call, `fetch(task)`, it can be moved to another process.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .dataset import IterableDataset, get_items


class EndOfStream(Exception):
    """A stream has no samples left for another batch."""


class FetchByIndex:
    """Batches of a dataset that is asked for samples by index."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any], batched: bool) -> None:
        self._dataset = dataset
        self._collate = collate_fn
        self._batched = batched

    def __call__(self, task: Any) -> Any:
        if not self._batched:
            return self._collate(self._dataset[task])
        return self._collate(get_items(self._dataset, task))


class FetchNext:
    """Batches of a stream, as long as their tasks; the last one is shorter, or dropped."""

    _stream: Iterator[Any]

    def __init__(
        self, dataset: Any, collate_fn: Callable[[Any], Any], batched: bool, drop_last: bool
    ) -> None:
        self._stream = iter(dataset)
        self._collate = collate_fn
        self._batched = batched
        self._drop_last = drop_last

    def __call__(self, task: Any) -> Any:
        wanted = len(task) if self._batched else 1
        samples = list(islice(self._stream, wanted))
        if not samples or (self._drop_last and len(samples) < wanted):
            raise EndOfStream
        return self._collate(samples if self._batched else samples[0])


def fetcher(
    dataset: Any, collate_fn: Callable[[Any], Any], batched: bool, drop_last: bool
) -> Callable[[Any], Any]:
    """A function from tasks to batches, for one pass over the dataset."""
    if isinstance(dataset, IterableDataset):
        return FetchNext(dataset, collate_fn, batched, drop_last)
    return FetchByIndex(dataset, collate_fn, batched)
