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

    def places(self, xp: Any) -> Array:
        """The place of each element in the storage."""
        places = xp.full(self.shape, self.offset, dtype=xp.int64)
        for dim, (n, s) in enumerate(zip(self.shape, self.stride, strict=True)):
            places += (xp.arange(n) * s).reshape((-1,) + (1,) * (len(self.shape) - dim - 1))
        return places


def _flat(xp: Any, x: Array, base: Geometry, window: Geometry) -> Array:
    """A storage with `x` at `base` and zeros elsewhere."""
    flat = xp.zeros(max(base.end(), window.end()), x.dtype)
    flat[base.places(xp)] = x
    return flat


class TakeWindow(Op, fn=""):
    """The elements at `window` of a storage that holds x at `base`; dx = put(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        return _flat(xp, x, base, window)[window.places(xp)]

    def backward(ctx, g):
        base, window = ctx.saved
        return PutWindow.fn(g, base, window)


class PutWindow(Op, fn=""):
    """What lies at `base` of a storage of zeros to which x was added at `window`; dx = take(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        flat = xp.zeros(max(base.end(), window.end()), x.dtype)
        backend_of(flat).scatter_add(flat, window.places(xp), x)
        return flat[base.places(xp)]

    def backward(ctx, g):
        base, window = ctx.saved
        return TakeWindow.fn(g, base, window)


class BlankWindow(Op, fn=""):
    """x, at `base`, with zeros where `window` lies; dx = blank(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, base, window):
        ctx.save(base, window)
        flat = _flat(xp, x, base, window)
        flat[window.places(xp)] = 0
        return flat[base.places(xp)]

    def backward(ctx, g):
        base, window = ctx.saved
        return BlankWindow.fn(g, base, window)
