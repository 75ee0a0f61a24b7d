"""Maxima that know where they were: what adaptive and fractional pooling have in common.

The place of a maximum is its number in the flattened image, so the way back adds each gradient at
its place and the way forth gathers from the places. Which candidates there are for a maximum is the
poolings' own business. Lesson 11.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..device import Array
from .registry import Op
from .scatter import put_along


def flattened(x: Any, dims: int) -> Any:
    """(N, C, H, W) → (N, C, H W): the last dims as one."""
    return x.reshape((*x.shape[:-dims], math.prod(x.shape[-dims:])))


def largest(xp: Any, candidates: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The largest values and their places, of several (values, places): the first on ties, but the
    last nan."""
    candidates = iter(candidates)
    best, where = next(candidates)
    for seen, places in candidates:
        better = seen > best
        better |= xp.isnan(seen)
        best = xp.maximum(best, seen)
        where = where + (places - where) * better  # a choice by `where` takes three times as long
    return best, where


class PlacedMaxima(Op):
    """Base of poolings that save the places of their maxima and the sizes of the images: dx = g,
    added at the places."""

    __slots__ = ()

    def backward(ctx, g, _=None):
        places, image = ctx.saved
        dims, front = len(image), tuple(g.shape[: -len(image)])
        sizes = (*front, math.prod(image))
        spread = put_along(flattened(g, dims), flattened(places, dims), sizes, len(front))
        return spread.reshape((*front, *image))
