"""Windows on images: where they lie, what each of their cells sees, how many there are.

All windows move together: for each cell of a window one strided slice holds what every window sees
there, so a pooling is a few operations on whole slices. An image has any number of dims; those in
front of them (batch, channels) are carried along. Knows no operation: what is made of the cells is
in `max_pool` and `avg_pool`. Lesson 11.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from ..device import Array
from .arguments import per_dim, require_tensors

Sizes = tuple[int, ...]  # one for each dim of the image


class Windows(NamedTuple):
    """Windows on images (H, W): their cells (kh, kw), steps, frame, gaps, and how many there are
    (P, Q)."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    size: Sizes
    image: Sizes

    @property
    def cells(self) -> list[tuple[int, Sizes]]:
        """(number, (i, j)) of each cell of a window, row by row."""
        return list(enumerate(product(*map(range, self.kernel))))

    @property
    def framed(self) -> Sizes:
        """Rows and columns of an image with as much around it as the windows reach."""
        return tuple(
            [
                max((count - 1) * s + d * (k - 1) + 1, n + p)
                for k, s, p, d, count, n in zip(*self, strict=True)
            ]
        )

    @property
    def inside(self) -> tuple[Any, ...]:
        """The image's place in its frame, as an index."""
        return (
            ...,
            *[slice(p, p + n) for p, n in zip(self.padding, self.image, strict=True)],
        )

    @property
    def in_a_row(self) -> Windows:
        """Windows on sequences, as windows on images of one row."""
        plain = zip((1, 1, 0, 1, 1, 1), self, strict=True)
        return Windows(*[(one, *sizes) for one, sizes in plain])

    def seen_by(self, x: Array, place: Sizes) -> Array:
        """What the cell at `place` of every window sees: a view (N, C, P, Q) of the framed x."""
        parts = zip(place, self.stride, self.dilation, self.size, strict=True)
        return x[(..., *[slice(i * d, i * d + (count - 1) * s + 1, s) for i, s, d, count in parts])]

    def frame(self, xp: Any, x: Array, value: Any) -> Array:
        """x with `value` around it, as far as the windows reach."""
        if self.framed == self.image:
            return x
        framed = xp.full((*x.shape[: -len(self.image)], *self.framed), value, x.dtype)
        framed[self.inside] = x
        return framed


# --- the arguments of pooling functions -----------------------------------------------------------


def require_images(function: str, x: Any, dims: int) -> Sizes:
    """The sizes of the images in x (N, C, …) or (C, …); RuntimeError when it holds none, or images
    of no elements. Only N may be 0."""
    require_tensors(function, input=x)
    shape = tuple(x.shape)
    if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"{function}: Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 "
            f"dim batch size for input, but got {list(shape)}"
        )
    return shape[-dims:]


def windows_on(
    function: str,
    x: Any,
    dims: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> Windows:
    """The windows that these arguments of a pooling function describe, on the images x.

    RuntimeError, which names the argument, for windows that there cannot be.
    """
    image = require_images(function, x, dims)
    kernel = per_dim(kernel_size, dims, "kernel_size", function)
    given = stride is not None and stride not in ([], ())
    steps = per_dim(stride, dims, "stride", function) if given else kernel
    frame = per_dim(padding, dims, "padding", function)
    gaps = per_dim(dilation, dims, "dilation", function)
    for name, value in (("kernel_size", kernel), ("stride", steps), ("dilation", gaps)):
        if min(value) < 1:
            raise RuntimeError(f"{function}: {name} should be greater than zero, got {value}")
    if min(frame) < 0:
        raise RuntimeError(f"{function}: pad must be non-negative, got padding={frame}")
    for p, k, d in zip(frame, kernel, gaps, strict=True):
        if p and 2 * p > d * (k - 1) + 1:
            raise RuntimeError(
                f"{function}: pad should be at most half of effective kernel size, but got "
                f"padding={p}, kernel_size={k} and dilation={d}"
            )
    counts = zip(image, kernel, steps, frame, gaps, strict=True)
    size = tuple([_count(*each, ceil_mode) for each in counts])
    if min(size) < 1:
        raise RuntimeError(
            f"{function}: windows of {kernel} with dilation={gaps} do not fit in images of {image} "
            f"with padding={frame}: Output size is too small: {size}"
        )
    return Windows(kernel, steps, frame, gaps, size, image)


def _count(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Windows along one direction; with `ceil_mode` also a last one that hangs over the end, if it
    starts on the image."""
    left = n + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return left // stride + 1
    count = -(-left // stride) + 1
    return count - 1 if (count - 1) * stride >= n + padding else count
