"""The order of an in-place fill: elements get their numbers as they lie in memory.

Knows strides, not randomness. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Callable

from ..layout import memory_order
from .generator import Array, Shape


def in_memory_order(x: Array, draw: Callable[[Shape], Array]) -> Array:
    """What x is to hold after an in-place fill, which visits its elements as they lie in memory.

    `draw(shape)` is called once, with the shape that x has when its largest step comes first.

    >>> import numpy as np; x = np.zeros((2, 3)).T
    >>> in_memory_order(x, lambda shape: np.arange(6).reshape(shape)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    axes = memory_axes(x)
    values = draw(tuple(x.shape[axis] for axis in axes))
    return values.transpose(sorted(range(x.ndim), key=axes.__getitem__))


def memory_axes(x: Array) -> list[int]:
    """The axes of x from the largest step in memory to the smallest."""
    return memory_order(x.shape, x.strides)
