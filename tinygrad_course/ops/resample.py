"""Resampling: along each dim, every output is a weighted sum of a few inputs.

Such a map is a matrix with few entries in a row, so it is kept as `Taps`: which inputs an output
reads, and with what weights. The way back is the transposed matrix, hence taps again, and one
operation is its own derivative of any order. Which taps make an image larger or smaller is said in
`upsample` and `adaptive_pool`. Lesson 11.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..device import Array, constant, device_of
from .pointwise import in_single


class Taps(NamedTuple):
    """A matrix (outputs, n): row i has weights[i, t] in column places[i, t], for all t.

    In a `ragged` matrix some rows have fewer entries; weights of 0 fill them up.
    """

    places: np.ndarray
    weights: np.ndarray
    n: int
    ragged: bool = False

    def transposed(self) -> Taps:
        """The matrix (n, outputs) of the way back.

        >>> Taps(np.array([[0], [2], [2]]), np.ones((3, 1)), 3).transposed().places.tolist()
        [[0, 0], [0, 0], [1, 2]]
        """
        rows, entries = self.weights.nonzero()
        columns, weights = self.places[rows, entries], self.weights[rows, entries]
        order = columns.argsort(kind="stable")
        counts = np.bincount(columns, minlength=self.n)
        slots = np.arange(len(rows)) - np.repeat(counts.cumsum() - counts, counts)
        shape = self.n, max(int(counts.max()), 1)
        turned = Taps(
            np.zeros(shape, np.int64), np.zeros(shape, weights.dtype), len(self.places), True
        )
        turned.places[columns[order], slots] = rows[order]
        turned.weights[columns[order], slots] = weights[order]
        return turned


def resampled(xp: Any, x: Array, taps: tuple[Taps, ...]) -> Array:
    """x with each matrix applied along its dim, the last ones; float16 is computed in float32."""

    def compute(xp: Any, x: Array) -> Array:
        # The last dim first, while the image is small: it alone is read element by element.
        for dim in range(1, len(taps) + 1):
            x = _along(xp, x, taps[-dim], x.ndim - dim)
        return x

    return in_single(xp, compute, x)


def _along(xp: Any, x: Array, taps: Taps, dim: int) -> Array:
    if not x.shape[dim]:
        return xp.zeros((*x.shape[:dim], len(taps.places), *x.shape[dim + 1 :]), x.dtype)
    here, upright = device_of(x), (-1,) + (1,) * (x.ndim - dim - 1)
    places = constant(np.ascontiguousarray(taps.places.T), here)
    weights = constant(np.ascontiguousarray(taps.weights.T, x.dtype), here)
    total = None
    for at, weight, plain in zip(places, weights, (taps.weights == 1).all(0), strict=True):
        part = x.take(at, dim)
        if not plain:
            column = weight.reshape(upright)
            part *= column
            if taps.ragged:  # what is not read has no part in the sum, even if it is infinite
                part = xp.where(column == 0, x.dtype.type(0), part)
        total = part if total is None else xp.add(total, part, out=total)
    return total
