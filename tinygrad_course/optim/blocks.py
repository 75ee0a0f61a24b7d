"""Blocks: a large parameter's step as steps of pieces that stay in the processor's cache.

An algorithm goes over its vectors some ten times. Where they are larger than the cache, each time
waits for the memory; a piece is fetched once. Knows nothing of the algorithms. Lesson 14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import Array

# Adam on 4 million numbers takes two thirds of the time. Up to 2 million nothing is gained: the
# last-level cache holds all.
BLOCK, LARGE = 65_536, 2_000_000

State = dict[str, Any]


def blocks(state: State, x: Array, g: Array) -> Iterator[tuple[State, Array, Array]]:
    """The state, numbers and gradient of each piece, one after the other; all at once of a
    parameter that is small, has no state yet, is on a device or not in row-major order."""
    values = list(state.values())
    if (
        x.size < LARGE
        or not state
        or not all(isinstance(v, Tensor) and v.shape in ((), x.shape) for v in values)
        or not all(_plain(a) for a in (x, g, *(v._array for v in values)))
    ):
        yield state, x, g
        return
    vectors = {name: v._array.reshape(-1) for name, v in state.items() if v.ndim}
    x, g = x.reshape(-1), g.reshape(-1)
    numbers = {name: v._array.copy() for name, v in state.items() if not v.ndim}
    for start in range(0, x.size, BLOCK):
        piece = slice(start, start + BLOCK)
        for name, number in numbers.items():  # which every piece counts anew
            state[name]._array[...] = number
        parts = {name: Tensor._wrap(vector[piece]) for name, vector in vectors.items()}
        yield state | parts, x[piece], g[piece]


def _plain(array: Array) -> bool:
    return isinstance(array, np.ndarray) and array.flags.c_contiguous
