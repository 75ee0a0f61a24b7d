"""DistributedSampler: each rank its share of the samples, as many on every rank.

All ranks shuffle alike, by a seed that they share and the number of the epoch; then rank r takes
every N-th sample from the r-th on. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from ... import distributed, random
from ...random import Generator
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The indices of `dataset` that fall to rank `rank` of `num_replicas`, those of the process
    group unless given.

    Where the samples can't be shared out evenly, the first ones come twice, or with `drop_last` the
    last ones not at all. With `shuffle`, call `set_epoch` before each epoch, or all have the order
    of epoch 0. ValueError for a rank that there is not, or without a process group.

    >>> list(DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    dataset: Sized
    num_replicas: int
    rank: int
    epoch: int
    num_samples: int
    total_size: int

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.dataset = dataset
        self.num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        self.rank = distributed.get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval [0, "
                f"{self.num_replicas - 1}]"
            )
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        size = len(dataset)
        self.num_samples = -(-size // self.num_replicas)
        if drop_last and size % self.num_replicas:
            self.num_samples = size // self.num_replicas
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        order: Any = list(range(size))
        if self.shuffle:
            gen = Generator().manual_seed(self.seed + self.epoch)
            order = random.randperm(gen, size).tolist()
        order = [order[i % size] for i in range(self.total_size)]
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffles anew from the next pass on, alike on all ranks."""
        self.epoch = epoch
