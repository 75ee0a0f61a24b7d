"""Windows on a virtual storage: the linear algebra behind as_strided and in-place changes of views.

A `Geometry` says where a tensor's elements lie in a storage. The three operations here take a
tensor that stands for the elements at `base` and read, write back or blank out those at `window`;
each one's derivative is another of the three. Lesson 07.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..autograd.variable import Tensor
from ..device import Array, backend_of
from .registry import Op


class Geometry(NamedTuple):
    """Where elements lie: sizes, strides and offset, the latter two in elements of the storage."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @staticmethod
    def of(tensor: Tensor) -> Geometry:
        return Geometry(tuple(tensor.shape), tensor.stride(), tensor.storage_offset())

    def end(self) -> int:
        """One past the last place in the storage."""
        if 0 in self.shape:
            return self.offset
        return (
            self.offset + 1 + sum((n - 1) * s for n, s in zip(self.shape, self.stride, strict=True))
        )

    def repeats(self) -> bool:
        """Whether several elements may lie in one place."""
        reach = 0
        steps = zip(self.stride, self.shape, strict=True)
        for step, n in sorted((step, n) for step, n in steps if n > 1):
            if step <= reach:
                return True
            reach += (n - 1) * step
        return False

    def places(self, xp: Any) -> Array:
        """The place of each element in the storage."""
        places = xp.full(self.shape, self.offset, dtype=xp.int64)
        for dim, (n, s) in enumerate(zip(self.shape, self.stride, strict=True)):
            places += (xp.arange(n) * s).reshape((-1,) + (1,) * (len(self.shape) - dim - 1))
        return places

    def on(self, flat: Array) -> Array:
        """These elements of a flat storage, as a view."""
        size = flat.itemsize
        strides = tuple(s * size for s in self.stride)
        return backend_of(flat).window(flat, self.shape, strides, self.offset * size)


def _laid(xp: Any, x: Array, here: Geometry, other: Geometry) -> Array:
    """A storage with `x` at `here`, added up where elements share a place, and zeros elsewhere."""
    flat = xp.zeros(max(here.end(), other.end()), x.dtype)
    if here.repeats():
        backend_of(flat).scatter(flat, here.places(xp).reshape(-1), x.reshape(-1), "add")
    else:
        here.on(flat)[...] = x
    return flat


def _share(xp: Any, flat: Array, base: Geometry) -> Array:
    """`flat`, divided by how many elements of the base lie in each place: all hold the same."""
    if base.repeats():
        places = base.places(xp).reshape(-1)
        counts = xp.zeros(flat.shape, flat.dtype)
        backend_of(flat).scatter(counts, places, xp.ones(places.size, flat.dtype), "add")
        flat /= xp.maximum(counts, 1)
    return flat


class TakeWindow(Op, fn=""):
    """The elements at `window` of a storage that holds x at `base`; dx = put(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        return window.on(_share(xp, _laid(xp, x, base, window), base)).copy()

    def backward(ctx, g):
        base, window = ctx.saved
        return PutWindow.fn(g, base, window)


class PutWindow(Op, fn=""):
    """What lies at `base` of a storage of zeros to which x was added at `window`; dx = take(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        return base.on(_share(xp, _laid(xp, x, window, base), base)).copy()

    def backward(ctx, g):
        base, window = ctx.saved
        return TakeWindow.fn(g, base, window)


class BlankWindow(Op, fn=""):
    """x, at `base`, with zeros where `window` lies; dx = blank(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        flat = _share(xp, _laid(xp, x, base, window), base)
        window.on(flat)[...] = 0
        return base.on(flat).copy()

    def backward(ctx, g):
        base, window = ctx.saved
        return BlankWindow.fn(g, base, window)
