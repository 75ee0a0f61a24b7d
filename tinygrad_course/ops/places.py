"""Places: where in row-major memory the elements lie that an index picks.

Every index gradient is the same act: values are added at flat places of a vector, or rows of them
at the rows of a matrix, and that is what array libraries do fast (`Backend.scatter`). This module
turns index tensors into such flat places, and checks them. It knows arrays only. Lesson 03.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..device import Array, backend_of, xp_of


def require_places(places: Array, n: int, name: str, error: type[Exception] = RuntimeError) -> None:
    """`error` when one of `places` is not in 0, …, n - 1. Asking a GPU would make it wait, so there
    they are not looked at, and count modulo n."""
    if places.size == 0 or type(places) is not np.ndarray:
        return
    # Read as unsigned, negative places are huge: one pass over them tells.
    if int(places.view(f"u{places.itemsize}").max()) >= n:
        bad = places[(places < 0) | (places >= n)].reshape(-1)[0]
        raise error(f"{name}(): index {int(bad)} is out of bounds for dimension with size {n}")


def wrapped(places: Array, n: int, where: str) -> Array:
    """`places` with negative ones counted from the end; IndexError when one is out of -n, …, n - 1,
    which a GPU is not asked.

    >>> import numpy as np
    >>> wrapped(np.array([0, -1]), 3, "").tolist()
    [0, 2]
    """
    if places.size == 0:
        return places
    if type(places) is not np.ndarray:
        return places + n * (places < 0)
    low, high = int(places.min()), int(places.max())
    if low < -n or high >= n:
        raise IndexError(f"index {low if low < -n else high} is out of bounds{where} with size {n}")
    return places if low >= 0 else places + n * (places < 0)


def steps(shape: Sequence[int]) -> list[int]:
    """Elements to step over for one step along each dim, in row-major order."""
    found, step = [], 1
    for n in reversed(shape):
        found.append(step)
        step *= n
    return found[::-1]


def _axis(array: Array, axis: int, ndim: int) -> Array:
    """A vector as an array of `ndim` dims that extends along one of them."""
    return array.reshape((-1,) + (1,) * (ndim - axis - 1))


def common_shape(places: Sequence[Array]) -> tuple[int, ...]:
    """The shape that all of `places` broadcast to; ValueError when they don't."""
    first: tuple[int, ...] = places[0].shape
    if all(p.shape == first for p in places):
        return first
    return np.broadcast_shapes(*(p.shape for p in places))


def picked_shape(
    shape: tuple[int, ...], common: tuple[int, ...], at: Sequence[int]
) -> tuple[int, ...]:
    """The shape of x[…] for x of `shape` with indices of the shape `common` for the dims `at`.

    The dims of the indices take the place of the dims they index, or come first where these are not
    neighbours.

    >>> picked_shape((2, 3, 4), (5,), [1])
    (2, 5, 4)
    """
    if len(at) == 1:
        return (*shape[: at[0]], *common, *shape[at[0] + 1 :])
    others = [n for d, n in enumerate(shape) if d not in at]
    before = _dims_before(at)
    return (*others[:before], *common, *others[before:])


def picked_order(x: Array, places: Sequence[Array], at: Sequence[int]) -> list[int]:
    """The dims of x[…], from the fastest to the slowest in memory, as PyTorch lays out the result.

    It is row-major for a row-major x. Otherwise dims are sorted by insertion, comparing the steps
    that x and then each index takes along them; where one of two steps is 0 the next one decides.
    """
    shape = picked_shape(x.shape, common_shape(places), at)
    before, ndim = _dims_before(at), len(shape)
    after = x.ndim - len(at) - before
    rest = [step for d, step in enumerate(x.strides) if d not in at]
    strides = [[*rest[:before], *(0,) * (ndim - before - after), *rest[before:]]]
    for p in places:
        p = xp_of(p).broadcast_to(p, shape[before : ndim - after])
        wide = p.reshape((1,) * before + p.shape + (1,) * after)
        strides.append([0 if wide.shape[d] != n else wide.strides[d] for d, n in enumerate(shape)])
    order = list(range(ndim))[::-1]
    for place in range(1, ndim):
        for other in range(place - 1, -1, -1):
            slower = _compared(order[other], order[place], strides, shape)
            if slower < 0:
                break
            if slower > 0:
                order[other], order[place] = order[place], order[other]
                place = other
    return order


def _compared(a: int, b: int, strides: Sequence[Sequence[int]], shape: Sequence[int]) -> int:
    """1 when dim `a` steps further than `b`, -1 for the opposite, 0 when nothing decides."""
    for row in strides:
        if row[a] and row[b]:
            if row[a] != row[b]:
                return 1 if row[a] > row[b] else -1
            if shape[a] > shape[b]:
                return 1
    return 0


def _dims_before(at: Sequence[int]) -> int:
    """How many of the dims that are not indexed come before the picked ones in the result."""
    return at[0] if at[-1] - at[0] < len(at) else 0


def addresses(xp: Any, shape: Sequence[int], places: Sequence[Array], at: Sequence[int]) -> Array:
    """The flat places, in a tensor of `shape`, of what x[…] picks with `places` as the indices of
    the dims `at`: an array of the result's shape.

    >>> import numpy as np
    >>> addresses(np, (2, 3), [np.array([2, 0])], [1]).tolist()
    [[2, 0], [5, 3]]
    """
    step = steps(shape)
    picked: Array = sum(p.astype(xp.int64) * step[d] for p, d in zip(places, at, strict=True))
    others = [d for d in range(len(shape)) if d not in at]
    before, ndim = _dims_before(at), picked.ndim + len(others)
    flat = picked.reshape(picked.shape + (1,) * (len(others) - before))
    for i, d in enumerate(others):
        axis = i if i < before else i + picked.ndim
        flat = flat + _axis(xp.arange(shape[d]) * step[d], axis, ndim)
    return flat


def addresses_along(xp: Any, shape: Sequence[int], places: Array, dim: int) -> Array:
    """The flat places, in a tensor of `shape`, that gather reads: `places` along `dim`, and each
    position's own along the other dims.

    >>> import numpy as np
    >>> addresses_along(np, (2, 3), np.array([[2], [0]]), 1).tolist()
    [[2], [3]]
    """
    step = steps(shape)
    flat = places.astype(xp.int64, copy=False)
    if not flat.size:  # then it may have any shape
        return flat
    if step and step[dim] != 1:
        flat = flat * step[dim]
    for d in range(len(shape)):
        if d != dim:
            flat = flat + _axis(xp.arange(places.shape[d]) * step[d], d, len(shape))
    return flat


def change_flat(out: Array, act: Callable[[Array], object]) -> Array:
    """Lets `act` change the elements of `out` in place through a row-major vector of them."""
    flat = out.reshape(-1)
    act(flat)
    if not out.flags.c_contiguous:  # then the vector is a copy
        out[...] = flat.reshape(out.shape)
    return out


def scatter_flat(out: Array, flat: Array, values: Array, how: str = "add") -> Array:
    """Combines `values` with the elements of `out` at flat places, repeated ones one by one."""
    scatter = backend_of(out).scatter
    return change_flat(
        out, lambda vector: scatter(vector, flat.reshape(-1), values.reshape(-1), how)
    )


def scatter_rows(out: Array, rows: Array, values: Array) -> Array:
    """Adds values[i, …] to the rows of a fresh row-major `out`, whose first dims `rows` counts
    through: as many of the last dims as `values` has more than `rows` make up a row."""
    if values.size:
        width = values.size // rows.size
        matrix = out.reshape(-1) if width == 1 else out.reshape(-1, width)
        values = values.reshape((rows.size, *matrix.shape[1:]))
        backend_of(out).scatter(matrix, rows.reshape(-1), values, "add")
    return out
