"""Tiles: a few neighbouring rows of a convolution's output, computed by one taller kernel.

Windows one row apart see nearly the same. The window of a whole tile is k + m − 1 rows high instead
of k; the kernel, once for each of the tile's m rows and each time a row further down between zeros,
takes from it what that row needs. There is less to copy, and the matrix product has m times the
rows: for few channels both matter more than the products with zeros. Knows nothing of columns.
Lesson 10.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .columns import Geometry, Sizes

# What a tile costs is worth it where kernels share enough rows, for matrix products with fewer rows
# than BLAS likes, over rows of images long enough for the copies of them not to be many.
_LEAST_KERNEL, _MOST_ROWS, _LEAST_WIDTH = 4, 32, 256


class Tiles(NamedTuple):
    """How many rows a tile has; the size of its window, the number of tiles and how they lie on
    the image."""

    rows: int
    kernel: Sizes
    places: Sizes
    geometry: Geometry


def tiles(xp, n: int, channels: int, kernel: Sizes, places: Sizes, geometry: Geometry) -> Tiles:
    """Tiles for n images and that many output channels in a group; of one row where that is better.

    >>> tiles(np, 64, 6, (5, 5), (28, 28), Geometry((1, 1), ((0, 0), (0, 0)), (1, 1)))[:3]
    (4, (8, 5), (7, 28))
    """
    (height, *width), (p, *others) = kernel, places
    (step, *steps), dilation = geometry.stride, geometry.dilation
    rows = 1
    wide = len(kernel) > 1 and n * math.prod(others) >= _LEAST_WIDTH
    if xp is np and wide and height >= _LEAST_KERNEL and step == dilation[0] == 1:
        most = min(height - 1, _MOST_ROWS // max(channels, 1))
        rows = max((m for m in range(2, most + 1) if p % m == 0), default=1)
    if rows == 1:
        return Tiles(1, kernel, places, geometry)
    lie = geometry._replace(stride=(step * rows, *steps))
    return Tiles(rows, (height + rows - 1, *width), (p // rows, *others), lie)


def in_tiles(y, rows: int):
    """(N, O, P, Q) as (N, O, m, P / m, Q), the rows of a tile before the tiles: a view."""
    n, o, p, *others = y.shape
    return y.reshape(n, o, p // rows, rows, *others).swapaxes(2, 3)


def tall(xp, w, rows: int):
    """Kernels (O, C, kh, kw) once per row of a tile: (O, m, C, kh + m − 1, kw)."""
    if rows == 1:
        return w[:, None]
    o, c, k, *others = w.shape
    out = xp.zeros((o, rows, c, k + rows - 1, *others), w.dtype)
    for i in range(rows):
        out[:, i, :, i : i + k] = w
    return out


def summed(w, k: int):
    """The adjoint of `tall`: the sum over the rows of a tile of where the kernel is, k high."""
    return sum((w[:, i, :, i : i + k] for i in range(1, w.shape[1])), start=w[:, 0, :, :k])
