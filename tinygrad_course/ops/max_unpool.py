"""Max unpooling: puts values back where the maxima of a pooling were, and zeros elsewhere.

The places are those that max pooling returns: numbers in the flattened image. Where windows overlap
a place may be named twice; then the last value stays. Lesson 11.
"""

from __future__ import annotations

import math
from typing import Any

from ..shape import as_int
from .arguments import require_tensors
from .maxima import flattened
from .places import addresses_along, require_places
from .registry import Op
from .scatter import Gather
from .windows import Sizes


class MaxUnpool2d(Op, fn="", node="MaxUnpool2DBackward0"):
    """y[n, c, places] = x, zeros elsewhere; dx = g at the places."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /, size):
        ctx.save(places, len(size))
        values, at = flattened(x, len(size)), flattened(places, len(size))
        y = xp.zeros((*values.shape[:-1], math.prod(size)), x.dtype)
        y.reshape(-1)[addresses_along(xp, y.shape, at, y.ndim - 1).reshape(-1)] = values.reshape(-1)
        return y.reshape((*values.shape[:-1], *size))

    def backward(ctx, g):
        places, dims = ctx.saved
        values, at = flattened(g, dims), flattened(places, dims)
        return Gather.fn(values, at, values.ndim - 1).reshape(places.shape), None


class MaxUnpool3d(MaxUnpool2d, fn="", node="MaxUnpool3DBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = MaxUnpool2d.forward


def max_unpool(name: str, dims: int, input: Any, indices: Any, output_size: Any) -> Any:
    """Images of `output_size` with the input's values at `indices`, zeros elsewhere: (N, C, P, Q) →
    (N, C, H, W), for images of 2 or 3 dims.

    `indices` (int64, of the input's shape) count in the flattened image. RuntimeError for others.
    """
    require_tensors(name, input=input, indices=indices)
    size: Sizes = tuple([as_int(n, "output_size") for n in output_size])
    shape = tuple(input.shape)
    if indices.dtype.name != "int64":
        raise RuntimeError(
            f"{name}(): elements in indices should be type int64 but got: {indices.dtype!r}"
        )
    if tuple(indices.shape) != shape:
        raise RuntimeError(
            f"{name}(): Expected shape of indices to be same as that of the input tensor "
            f"({list(shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to be a {dims + 1}d or {dims + 2}d Tensor of images that "
            f"are not empty, but got {list(shape)}"
        )
    if len(size) != dims:
        raise RuntimeError(
            f"{name}(): There should be exactly {dims} elements in output_size, but got {size}"
        )
    if not input.is_floating_point() and input.numel():
        raise NotImplementedError(
            f"{name} is not implemented for {input.dtype!r}: convert with .float()"
        )
    require_places(indices._array, math.prod(size), name)
    op: Any = MaxUnpool2d if dims == 2 else MaxUnpool3d
    return op.fn(input, indices, size)
