"""Seeds of the CUDA devices, which have no random stream of their own here.

Numbers for tensors on any device are drawn on the CPU, from its one stream, so that a seed means
the same everywhere. So these functions are about that stream, and seeding "a device" seeds all
draws. Where there is no CUDA, seeding does nothing, as in PyTorch, and programs may seed all they
know of. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import random as generators
from ..autograd.variable import Tensor
from ..device import unavailable_reason
from .devices import at, device_count, runtime


def manual_seed(seed: int) -> None:
    """Seeds the CPU's stream, from which draws for CUDA tensors come; nothing without CUDA."""
    if unavailable_reason() is None:
        generators.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Seeds the CPU's stream from chance; nothing without CUDA."""
    if unavailable_reason() is None:
        generators.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed that the CPU's stream started from."""
    runtime()
    return generators.initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of the CPU's stream, a tensor of bytes."""
    at(device)
    return generators.get_rng_state()


def get_rng_state_all() -> list[Tensor]:
    """The state of the CPU's stream, once for each device."""
    return [generators.get_rng_state() for _ in range(device_count())]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Continues the CPU's stream from a state; nothing without CUDA."""
    if unavailable_reason() is None:
        at(device)
        generators.set_rng_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Continues the CPU's stream from the last of the states, one for each device."""
    for number, state in enumerate(new_states):
        set_rng_state(state, number)
