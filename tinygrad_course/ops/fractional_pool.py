"""Fractional max pooling: windows of one size at random steps, so that an image shrinks by any
factor.

A number u in [0, 1) per image and direction decides: with α = (n − k) / (o − 1) the i-th of o
windows of k cells starts at ⌊(i + u) α⌋ − ⌊u α⌋, and the last one ends with the image. The numbers
are drawn by the caller. Lesson 11.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from .arguments import per_dim, require_tensors
from .maxima import PlacedMaxima, flattened, largest
from .places import steps
from .registry import Tensor
from .scatter import Gather
from .windows import require_images


def _starts(xp, u, n, kernel, count):
    """(N, C) → (N, C, count): where the windows of each image start along a dim of n places."""
    last = xp.full((*u.shape, 1), n - kernel, "int64")
    if count < 2:
        return last[..., :count]
    alpha = u.dtype.type((n - kernel) / (count - 1))
    u = u[..., None]
    moving = xp.floor((xp.arange(count - 1).astype(u.dtype) + u) * alpha) - xp.floor(u * alpha)
    return xp.concatenate([moving.astype("int64"), last], -1)


class FractionalMaxPool2d(PlacedMaxima, fn="", node="FractionalMaxPool2DBackward0"):
    """(y, places): the maximum of each window, and where it was in the flattened image."""

    __slots__ = ()

    def forward(ctx, xp, x, samples, /, kernel, size):
        dims = len(size)
        image, front = x.shape[-dims:], x.shape[:-dims]
        if dims == 2:  # for images the first number is for the columns
            samples = samples[..., ::-1]
        first = xp.zeros((*front, *(1,) * dims), "int64")
        for dim, step in enumerate(steps(image)):
            u = samples[: math.prod(front[:-1]), :, dim].reshape(front)
            starts = _starts(xp, u, image[dim], kernel[dim], size[dim])
            first = first + starts.reshape((*front, *_upright(dim, size))) * step
        first, pixels = flattened(first, dims), flattened(x, dims)
        offsets = [
            sum(i * step for i, step in zip(cell, steps(image), strict=True))
            for cell in product(*map(range, kernel))
        ]
        candidates = ((Gather.fn(pixels, first + o, len(front)), first + o) for o in offsets)
        y, places = (v.reshape((*front, *size)) for v in largest(xp, candidates))
        ctx.save(places, image)
        return y, places

    def backward(ctx, g, _=None):
        return PlacedMaxima.backward(ctx, g), None


class FractionalMaxPool3d(FractionalMaxPool2d, fn="", node="FractionalMaxPool3DBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = FractionalMaxPool2d.forward


def _upright(dim: int, size: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([n if i == dim else 1 for i, n in enumerate(size)])


def fractional_max_pool(
    name: str, dims: int, input: Any, kernel_size: Any, output_size: Any, samples: Any
) -> Any:
    """The maxima of windows at fractional steps and their places in the flattened images: (N, C, H,
    W) → twice (N, C, P, Q), for images of 2 or 3 dims; of 3 as PyTorch wants them, larger than
    `output_size` + `kernel_size` - 1 each way.

    `samples` (N, C, dims) holds numbers in [0, 1), of the input's type; for images of 2 dims the
    first is for the columns. RuntimeError for windows that do not fit.
    """
    require_tensors(name, input=input, _random_samples=samples)
    image = require_images(name, input, dims)
    for argument, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        if isinstance(value, tuple | list) and len(value) != dims:
            raise RuntimeError(
                f"{name}: {argument} must either be a single int or {dims} ints, got {value}"
            )
    kernel = per_dim(kernel_size, dims, "kernel_size", name)
    size = per_dim(output_size, dims, "output_size", name)
    for k, count, n in zip(kernel, size, image, strict=True):
        if k < 1 or count < 0 or count + k - 1 > n - (dims == 3):
            raise RuntimeError(
                f"{name}(): pool of {k} cells and {count} outputs too large relative to input of "
                f"{n}: windows of {kernel} for output_size={size} do not fit in images of {image}"
            )
    _check_samples(name, input, samples, dims)
    op: Any = FractionalMaxPool2d if dims == 2 else FractionalMaxPool3d
    return op.fn(input, samples, kernel, size)


def _check_samples(name: str, x: Tensor, samples: Tensor, dims: int) -> None:
    batch, channels = math.prod(x.shape[: -dims - 1]), x.shape[-dims - 1]
    if samples.dtype is not x.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have the same dtype as input, but got "
            f"{samples.dtype!r} and {x.dtype!r}"
        )
    shape = tuple(samples.shape)
    if len(shape) != 3 or shape[0] < batch or shape[1:] != (channels, dims):
        raise RuntimeError(
            f"{name}: Expect _random_samples of shape {[batch, channels, dims]}, one number for "
            f"each image and direction, but got {list(shape)}"
        )
    if not x.is_floating_point():
        raise NotImplementedError(
            f"{name} is not implemented for {x.dtype!r}: convert with .float()"
        )
