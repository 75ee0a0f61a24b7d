"""Pieces: the steps of a formula over large arrays, taken for one part after the other.

Each step is a walk over memory, and what it makes is too large for the cache when the next step
comes. A piece is fetched once and goes through all steps there, in the memory of the result. Knows
no formula. Lesson 13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..device import Array

# Of a million numbers a sigmoid's steps take two thirds of the time that way, and half of four
# million; from a few hundred thousand on something is gained.
PIECE, LARGE = 65_536, 500_000


def large(x: Array, *others: Array) -> bool:
    """Whether these are row-major NumPy arrays of one shape and type, float32 or float64, that do
    not fit in the cache."""
    return (
        type(x) is np.ndarray
        and x.size >= LARGE
        and x.dtype.char in "fd"
        and all(
            type(a) is np.ndarray
            and a.flags.c_contiguous
            and a.shape == x.shape
            and a.dtype == x.dtype
            for a in (x, *others)
        )
    )


def in_pieces(steps: Callable[..., object], x: Array, *others: Array) -> Array:
    """An array y like x, which steps(y, x, *others) fills element by element, a piece at a time.

    >>> in_pieces(lambda y, x: np.add(x, 1, out=y), np.array([1., 2.])).tolist()
    [2.0, 3.0]
    """
    y = np.empty(x.shape, x.dtype)
    vectors = [a.reshape(-1) for a in (y, x, *others)]
    for start in range(0, y.size, PIECE):
        steps(*[vector[start : start + PIECE] for vector in vectors])
    return y
