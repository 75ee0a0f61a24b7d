"""Samplers: in which order, and in which groups, the samples of a dataset are visited.

A sampler is an iterable of indices and never touches the data. The random ones draw what PyTorch's
draw, so that the same seed gives the same epochs.

Lesson: order is a policy of its own, apart from the data and from batching.
"""

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from ... import random
from ...random import Generator, default_generator

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base of samplers; a subclass writes `__iter__` and, if it can, `__len__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(
            f"{type(self).__name__} has no __iter__(self); write one that yields indices"
        )


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ... len(data_source) - 1.

    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of data_source in random order, or drawn with replacement.

    Without a generator each pass seeds one of its own with a number drawn from the default
    generator. `num_samples` is the length of a pass, len(data_source) unless given; more than that
    without replacement takes several permutations.
    Raises ValueError for num_samples < 1, TypeError for a `replacement` that is no bool.

    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    data_source: Sized
    replacement: bool
    generator: Generator | None

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be True or False, got {replacement!r}")
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._num_samples = num_samples
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                f"num_samples must be an integer of 1 or more, got {self.num_samples}"
                + ("; the dataset is empty" if num_samples is None else "")
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        gen, n = self.generator, len(self.data_source)
        if gen is None:
            gen = Generator().manual_seed(draw_seed(default_generator))
        # With replacement in portions of 32, without in permutations; like PyTorch's, the last one
        # is drawn even when nothing of it is left to use, which matters to the next pass.
        portion = 32 if self.replacement else n
        for left in range(self.num_samples, -1, -portion):
            if self.replacement:
                yield from random.randint(gen, 0, n, (min(left, portion),)).tolist()
            else:
                yield from random.randperm(gen, n)[:left].tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    >>> sorted(SubsetRandomSampler([7, 3, 5]))
    [3, 5, 7]
    """

    indices: Sequence[int]
    generator: Generator | None

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = random.randperm(self.generator or default_generator, len(self.indices))
        for i in order.tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, i with a probability in proportion to weights[i].

    Raises ValueError for num_samples < 1, weights that are no 1-d sequence, or a `replacement` that
    is no bool; drawing raises RuntimeError where `multinomial` does.

    >>> list(WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    weights: Any
    num_samples: int
    replacement: bool
    generator: Generator | None

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _require_positive("num_samples", num_samples)
        _require_bool("replacement", replacement)
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1:
            raise ValueError(f"weights must have one dimension, got shape {self.weights.shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        gen = self.generator or default_generator
        draws = random.multinomial(gen, self.weights, self.num_samples, self.replacement)
        yield from draws.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler; a shorter last one unless `drop_last`.

    Raises ValueError for batch_size < 1 or a drop_last that is no bool.

    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    sampler: Iterable[int]
    batch_size: int
    drop_last: bool

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _require_positive("batch_size", batch_size)
        _require_bool("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size: int = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


def draw_seed(gen: Generator) -> int:
    """A seed for another generator: a whole number below 2^63."""
    return int(random.random(gen, (1,))[0])


def _require_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} must be an integer of 1 or more, got {value!r}")


def _require_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")
