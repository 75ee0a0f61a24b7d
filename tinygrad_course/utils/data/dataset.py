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
from collections.abc import Iterable, Sequence
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

    def __add__(self, other: "Dataset[T_co]") -> "ConcatDataset[T_co]":
        return ConcatDataset([self, other])


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

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Raises AssertionError for no datasets at all; for an index out of range ValueError (negative
    ones) or IndexError.

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
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"fraction {i} of a split must be from 0 to 1, got {fraction}")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if count == 0:
                warnings.warn(f"part {i} of the split has no samples", stacklevel=2)
    if sum(counts) != total:
        raise ValueError(
            f"the parts of a split add up to the dataset's {total} samples or to 1.0; "
            f"{list(lengths)} add up to {sum(lengths)}"
        )
    order = randperm(generator, total).tolist()
    ends = itertools.accumulate(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]
