"""Datasets: anything that can be asked for its i-th sample and, mostly, for its length.

A dataset knows how to fetch one sample and nothing of batches, order or epochs; those belong to the
samplers and the DataLoader. The classes here wrap, cut and join other datasets without copying.

Lesson: small interfaces compose. With two methods, `__getitem__` and `__len__`, shuffled
mini-batches of any data are somebody else's problem.
"""

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...autograd.variable import Tensor
from ...random import Generator, default_generator, randperm

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of datasets that fetch a sample by its index; a subclass writes `__getitem__`.

    `__len__` has no default: samplers and the DataLoader need it, but a dataset without one can
    still be read. Two datasets add up to a ConcatDataset.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> Squares()[3]
    9
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            f"{type(self).__name__} has no __getitem__(self, index); it must return a sample"
        )

    def __add__(self, other: "Dataset[T_co]") -> "Dataset[T_co]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base of datasets that are streams: no indices, only one sample after the other.

    A subclass writes `__iter__`; one without it cannot be made (TypeError). Each worker process of
    a DataLoader has a copy and gives its whole stream, unless `__iter__` asks `get_worker_info()`
    which part is its own. Two streams add up to a ChainDataset.

    >>> class Countdown(IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> list(Countdown() + Countdown())
    [3, 2, 1, 3, 2, 1]
    """

    def __add__(self, other: Dataset[T_co]) -> Dataset[T_co]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: sample i is the tuple of their i-th slices along dimension 0.

    Raises AssertionError when their first dimensions differ.

    >>> import tinygrad_course as tg
    >>> TensorDataset(tg.tensor([1.0, 2.0]), tg.tensor([0, 1]))[1]
    (tensor(2.), tensor(1))
    """

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [len(tensor) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"the tensors of a TensorDataset differ in length: {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset[T_co]):
    """Those samples of a dataset that `indices` lists, in that order.

    >>> len(Subset("abcdef", [4, 2])), Subset("abcdef", [4, 2])[0]
    (2, 'e')
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]  # type: ignore[no-any-return]
        return self.dataset[self.indices[index]]  # type: ignore[no-any-return]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return get_items(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Raises AssertionError for no datasets at all and for streams; for an index out of range
    ValueError (negative ones) or IndexError.

    >>> joined = ConcatDataset(["ab", "cde"])
    >>> len(joined), joined[3], joined[-1]
    (5, 'd', 'e')
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset needs at least one dataset")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset, which has no indices; "
                "join streams with ChainDataset"
            )
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index: int) -> T_co:
        size = len(self)
        if index < -size:
            raise ValueError(f"index {index} is out of range for a dataset of {size} samples")
        if index >= size:
            raise IndexError(f"index {index} is out of range for a dataset of {size} samples")
        index %= size
        which = bisect.bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - start]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset[T_co]):
    """Streams one after the other; each begins when the one before has ended.

    Reading or measuring it raises AssertionError where one of them is no IterableDataset.
    """

    datasets: Iterable[Any]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}; "
                    "join datasets with indices by ConcatDataset"
                )
            yield dataset

    def __iter__(self) -> Iterator[T_co]:
        return itertools.chain.from_iterable(self._streams())

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._streams())


class StackDataset(Dataset[Any]):
    """Datasets side by side: sample i holds the i-th sample of each, in a tuple or, for datasets
    given by name, in a dict.

    Raises ValueError for datasets of different lengths, none at all, or some by name and some not.

    >>> StackDataset("ab", [1, 2])[1], StackDataset(letter="ab", number=[1, 2])[1]
    (('b', 2), {'letter': 'b', 'number': 2})
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError(
                "StackDataset takes datasets, all of them by name or none, "
                f"got {len(args)} without a name and {len(kwargs)} with one"
            )
        self.datasets = args or kwargs
        sizes = [len(dataset) for dataset in args or kwargs.values()]
        if len(set(sizes)) > 1:
            raise ValueError(f"Size mismatch between datasets of a StackDataset: {sizes}")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        datasets = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        columns = [get_items(dataset, indices) for dataset in datasets]
        if any(len(column) != len(indices) for column in columns):
            raise ValueError(
                f"a nested dataset's __getitems__ gave {[len(c) for c in columns]} samples "
                f"for {len(indices)} indices"
            )
        rows = zip(*columns, strict=True)
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, row, strict=True)) for row in rows]
        return list(rows)

    def __len__(self) -> int:
        first, *_ = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        return len(first)


def get_items(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    """Many samples of a dataset, by its own `__getitems__` where it knows a quicker way."""
    at_once = getattr(dataset, "__getitems__", None)
    samples: list[Any] = at_once(indices) if at_once else [dataset[i] for i in indices]
    return samples


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator = default_generator
) -> list[Subset[Any]]:
    """Splits a dataset at random into Subsets of the given lengths.

    Lengths are whole numbers that add up to len(dataset), or fractions that add up to 1; what
    rounding the fractions down leaves over goes to the parts in turn, one sample each.
    Raises ValueError when they don't add up or a fraction is not between 0 and 1.

    >>> [len(part) for part in random_split(range(11), [0.5, 0.25, 0.25])]
    [6, 3, 2]
    """
    total = len(dataset)
    counts = [int(length) for length in lengths]
    fractions = math.isclose(sum(lengths), 1) and sum(lengths) <= 1
    if fractions:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"fraction {i} of a split must be from 0 to 1, got {fraction}")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if count == 0:
                warnings.warn(f"part {i} of the split has no samples", stacklevel=2)
    if sum(counts) != total or (not fractions and counts != list(lengths)):
        raise ValueError(
            f"the parts of a split add up to the dataset's {total} samples or to 1.0; "
            f"{list(lengths)} add up to {sum(lengths)}"
        )
    order = randperm(generator, total).tolist()
    ends = itertools.accumulate(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]
