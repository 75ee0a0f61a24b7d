"""Shuffles: channels into space and back, and channels of groups among each other.

An image of r² times the channels holds one r times as large each way: channel by channel its pixels
are those of an r × r square. All of these move elements and compute nothing; each one's derivative
is its opposite. Lesson 10.
"""

from __future__ import annotations

from typing import Any

from ..shape import as_int
from .arguments import require_tensors
from .registry import Op, function


class PixelShuffle(Op, fn=""):
    """(…, C r², H, W) → (…, C, H r, W r); dx = unshuffle(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, r):
        ctx.save(r)
        *n, c, h, w = x.shape
        c //= r * r
        x = x.reshape(-1, r, r, h, w).transpose(0, 3, 1, 4, 2)
        return xp.array(x, order="C").reshape(*n, c, h * r, w * r)

    def backward(ctx, g):
        return _unshuffled(g, *ctx.saved)


class PixelUnshuffle(Op, fn=""):
    """(…, C, H r, W r) → (…, C r², H, W); dx = shuffle(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, r):
        ctx.save(r)
        *n, c, h, w = x.shape
        h, w = h // r, w // r
        x = x.reshape(-1, h, r, w, r).transpose(0, 2, 4, 1, 3)
        return xp.array(x, order="C").reshape(*n, c * r * r, h, w)

    def backward(ctx, g):
        return _shuffled(g, *ctx.saved)


class ChannelShuffle(Op, fn=""):
    """(N, g · k, …): channel i of group j becomes channel j of group i; dx = the same with k
    groups."""

    __slots__ = ()

    def forward(ctx, xp, x, /, groups):
        n, c, *size = x.shape
        ctx.save(c // groups)
        x = x.reshape(n, groups, c // groups, *size).swapaxes(1, 2)
        return xp.array(x, order="C").reshape(n, c, *size)

    def backward(ctx, g):
        return _mixed(g, *ctx.saved)


_shuffled = PixelShuffle.fn
_unshuffled = PixelUnshuffle.fn
_mixed = ChannelShuffle.fn


def _checked(name: str, input: Any, factor: Any, factor_name: str) -> int:
    require_tensors(name, input=input)
    factor = as_int(factor, factor_name)
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)"
        )
    if factor < 1:
        raise RuntimeError(f"{name} expects a positive {factor_name}, but got {factor}")
    return factor


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels into space: (…, C r², H, W) → (…, C, H r, W r), r = `upscale_factor`.

    RuntimeError where r² does not divide the channels.

    >>> import tinygrad_course as tg
    >>> pixel_shuffle(tg.tensor([[[1]], [[2]], [[3]], [[4]]]), 2)
    tensor([[[1, 2],
             [3, 4]]])
    """
    r = _checked("pixel_shuffle", input, upscale_factor, "upscale_factor")
    if input.shape[-3] % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={input.shape[-3]} is not divisible by {r * r}"
        )
    return _shuffled(input, r)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Space into channels: (…, C, H r, W r) → (…, C r², H, W), r = `downscale_factor`.

    RuntimeError where r does not divide height and width.

    >>> import tinygrad_course as tg
    >>> pixel_unshuffle(tg.tensor([[[1, 2], [3, 4]]]), 2).flatten()
    tensor([1, 2, 3, 4])
    """
    r = _checked("pixel_unshuffle", input, downscale_factor, "downscale_factor")
    for dim, side in ((-2, "height"), (-1, "width")):
        if input.shape[dim] % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                f"input.size({dim})={input.shape[dim]} is not divisible by {r}"
            )
    return _unshuffled(input, r)


def channel_shuffle(input: Any, groups: int) -> Any:
    """The channels of (N, C, …) dealt out: first those that come first in each of the groups, then
    the second ones, and so on.

    RuntimeError where `groups` does not divide the channels.

    >>> import tinygrad_course as tg
    >>> channel_shuffle(tg.tensor([[[1], [2], [3], [4]]]), 2).flatten()
    tensor([1, 3, 2, 4])
    """
    require_tensors("channel_shuffle", input=input)
    groups = as_int(groups, "groups")
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    if groups < 1:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and "
            f"{groups} groups."
        )
    return _mixed(input, groups)


function(pixel_shuffle, pixel_unshuffle, channel_shuffle)
