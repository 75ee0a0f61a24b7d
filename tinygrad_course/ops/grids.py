"""Grids: all pairs of some numbers, as coordinates, as rows, and without order.

Made of views and joins of other operations, through which the gradients flow. Lesson 03.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..device import move
from ..shape import as_int
from .join import stack
from .registry import function


def _listed(name: str, tensors: tuple[Any, ...]) -> list[Tensor]:
    """The tensors, all of one type; RuntimeError for none, TypeError for what is no tensor."""
    for place, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}(): expected Tensor as element {place}, got {type(t).__name__}")
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty list of tensors")
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError(
            f"{name} expects all tensors to have the same dtype, got "
            f"{', '.join(repr(t.dtype) for t in tensors)}"
        )
    return list(tensors)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid: for vectors of n1, n2, … elements as many views of size
    (n1, n2, …), each constant along the dims of the others.

    With `indexing="xy"` the first two dims change places, as for a picture's columns and rows.

    >>> import tinygrad_course as tg
    >>> meshgrid(tg.tensor([1, 2]), tg.tensor([3, 4]))[0]
    tensor([[1, 1],
            [2, 2]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], Sequence):
        tensors = tuple(tensors[0])
    vectors = _listed("meshgrid", tensors)
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be "ij" or "xy", not {indexing!r}')
    for v in vectors:
        if v.ndim > 1:
            raise RuntimeError(f"meshgrid: expected vectors, got one of shape {list(v.shape)}")
    swapped = indexing == "xy" and len(vectors) > 1
    if swapped:
        vectors[0], vectors[1] = vectors[1], vectors[0]
    sizes = [v.numel() for v in vectors]
    ones = [1] * len(sizes)
    grids = [
        v.view([*ones[:d], n, *ones[d + 1 :]]).expand(sizes)
        for d, (v, n) in enumerate(zip(vectors, sizes, strict=True))
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _require_vector(name: str, x: Tensor) -> None:
    if x.ndim != 1:
        raise RuntimeError(f"{name}: expect a 1D vector, but got shape {list(x.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All rows with one element of each vector, (n1 n2 …, vectors), the last changing fastest; of a
    single vector itself.

    >>> import tinygrad_course as tg
    >>> cartesian_prod(tg.tensor([1, 2]), tg.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    vectors = _listed("cartesian_prod", tensors)
    for v in vectors:
        _require_vector("cartesian_prod", v)
    if len(vectors) == 1:
        return vectors[0]
    result: Tensor = stack([grid.reshape(-1) for grid in meshgrid(*vectors)], 1)
    return result


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, whatever their order, as rows (choices, r).

    >>> import tinygrad_course as tg
    >>> combinations(tg.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    _require_vector("combinations", input)
    r = as_int(r, "r")
    if r < 0:
        raise RuntimeError(f"combinations: expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input.numel()), r)), np.int64).reshape(-1, r)
    columns = [Tensor._wrap(move(rows[:, i].copy(), input.device)) for i in range(r)]
    result: Tensor = stack([input.index_select(0, column) for column in columns], 1)
    return result


function(meshgrid, cartesian_prod, combinations)
