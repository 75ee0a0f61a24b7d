"""Padding: numbers around an image, or along the borders of any tensor.

They are a constant, or come from the image itself: mirrored, the border repeated, or as if the
image were a tile of a larger pattern. These three only differ in the place that each number is
taken from, which is a rule for one dim; going back, each gradient goes to that place. Negative
padding cuts off. Lesson 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..dtype import number_for
from ..layout import preserve_format
from ..shape import as_int
from .arguments import require_tensors
from .columns import Pair
from .convert import copied
from .registry import Op, function
from .slices import along

# --- a constant -----------------------------------------------------------------------------------


def _kept(n: int, before: int, after: int) -> slice:
    """What negative padding leaves of n places."""
    return slice(max(-before, 0), n - max(-after, 0))


class ConstantPadNd(Op, fn="", node="ConstantPadNdBackward0"):
    """x with `value` around it, (before, after) each dim, or cut where these are negative; dx = g
    without what was put there, 0 for what was cut."""

    __slots__ = ()

    def forward(ctx, xp, x, /, pads, value):
        ctx.save(pads)
        inner = x[(..., *(_kept(n, *p) for n, p in zip(x.shape, pads, strict=True)))]
        if max(map(max, pads), default=0) <= 0:
            return copied(xp, inner, x.dtype, preserve_format)
        shape = tuple(n + before + after for n, (before, after) in zip(x.shape, pads, strict=True))
        out = xp.full(shape, value, x.dtype)
        there = (_kept(n, -before, -after) for n, (before, after) in zip(shape, pads, strict=True))
        out[tuple(there)] = inner
        return out

    def backward(ctx, g):
        (pads,) = ctx.saved
        return pad_with(g, tuple((-before, -after) for before, after in pads), 0)


pad_with = ConstantPadNd.fn


# --- the image itself -----------------------------------------------------------------------------
#
# A rule says where the numbers from -before to n + after of a padded dim are taken from.


def _reflected(xp: Any, n: int, before: int, after: int) -> Any:
    """3 2 1 | 0 1 2 3 | 2 1 0"""
    return n - 1 - xp.abs(n - 1 - xp.abs(xp.arange(-before, n + after)))


def _replicated(xp: Any, n: int, before: int, after: int) -> Any:
    """0 0 0 | 0 1 2 3 | 3 3 3"""
    return xp.clip(xp.arange(-before, n + after), 0, n - 1)


def _circular(xp: Any, n: int, before: int, after: int) -> Any:
    """1 2 3 | 0 1 2 3 | 0 1 2"""
    kept = _kept(n, before, after)
    period = max(kept.stop - kept.start, 1)
    return kept.start + (xp.arange(-before, n + after) - kept.start) % period


class Border(Op, fn=""):
    """x with its last dims padded from itself by a rule; dx = each g at the place it came from."""

    __slots__ = ()

    def forward(ctx, xp, x, /, pads, rule):
        ctx.save(x.shape, pads, rule)
        for dim, p in enumerate(pads, x.ndim - len(pads)):
            x = xp.take(x, rule(xp, x.shape[dim], *p), dim)
        return x

    def backward(ctx, g):
        return unborder(g, *ctx.saved)


class Unborder(Op, fn=""):
    """The adjoint of `Border`: what was padded is added to where it was taken from."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape, pads, rule):
        ctx.save(pads, rule)
        for dim, p in enumerate(pads, x.ndim - len(pads)):
            x = _added_back(xp, x, dim, shape[dim], p, rule)
        return x

    def backward(ctx, g):
        return border(g, *ctx.saved)


def _added_back(xp, x, dim, n, pads, rule):
    before, after = pads
    kept = _kept(n, before, after)
    out = xp.zeros((*x.shape[:dim], n, *x.shape[dim + 1 :]), x.dtype)
    first, last = kept.start + before, kept.stop + before  # the image itself, in x
    out[along(dim, kept)] = x[along(dim, slice(first, last))]
    places = rule(np, n, before, after).tolist()
    for i in (*range(first), *range(last, len(places))):
        out[along(dim, places[i])] += x[along(dim, i)]
    return out


border = Border.fn
unborder = Unborder.fn
_RULES: dict[str, Callable[..., Any]] = {
    "reflect": _reflected,
    "replicate": _replicated,
    "circular": _circular,
}


def _named(name: str) -> Callable[..., Any]:
    """`Border` with a node of that name."""
    body = {"__slots__": (), "__doc__": Border.__doc__, "forward": Border.forward}
    op: type[Op] = type(name, (Border,), body, fn="")
    return op.fn


_BORDERS = {
    (mode, dims): _named(f"{name}Pad{dims}D")
    for mode, name in zip(_RULES, ("Reflection", "Replication", "Circular"), strict=True)
    for dims in (1, 2, 3)
}


# --- the public functions -------------------------------------------------------------------------


def _per_dim(x: Tensor, pad: Any) -> tuple[Pair, ...]:
    """PyTorch's list, (before, after) of the last dim, of the one before it, …, in the order of the
    dims."""
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' must be a tuple of ints, not {type(pad).__name__}")
    sizes = [as_int(p, "pad") for p in pad]
    if len(sizes) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, and is {len(sizes)}: {pad}")
    if len(sizes) > 2 * x.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(sizes)} and input of dimension {x.ndim}"
        )
    return tuple(zip(sizes[-2::-2], sizes[::-2], strict=True))


def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """`value` around a tensor: `pad` is (before, after) the last dim, then those of the dim before
    it, and so on. Negative ones cut off.

    RuntimeError for an odd number of them, more than the dims have, or cuts beyond the size.

    >>> import tinygrad_course as tg
    >>> constant_pad_nd(tg.tensor([1, 2]), (1, 2))
    tensor([0, 1, 2, 0, 0])
    """
    require_tensors("constant_pad_nd", input=input)
    pads = _per_dim(input, pad)
    pads = ((0, 0),) * (input.ndim - len(pads)) + pads
    for n, p in zip(input.shape, pads, strict=True):
        kept = _kept(n, *p)
        if kept.stop < kept.start:
            raise RuntimeError(
                f"narrow(): length must be non-negative: padding {p} cuts off more than {n} places"
            )
    result: Tensor = pad_with(input, pads, number_for(value, input.dtype))
    return result


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Padding of the last dims: `pad` is (before, after) the last dim, then those of the dim before
    it, and so on. Negative ones cut off.

    `mode` is "constant", any dims with `value` (0 unless given), or, for the last one to three dims
    of a sequence, an image or a volume, "reflect" (mirrored at the border), "replicate" (the border
    repeated) or "circular" (the other end). NotImplementedError for other modes or dims,
    RuntimeError for sizes that don't fit.

    >>> import tinygrad_course as tg
    >>> pad(tg.tensor([[1., 2., 3.]]), (2, 1), "reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    require_tensors("pad", input=input)
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    pads = _per_dim(input, pad)
    if value:
        raise RuntimeError(f"Padding mode {mode!r} doesn't take in value argument, got {value}")
    if len(pads) not in (1, 2, 3) or input.ndim - len(pads) not in (1, 2):
        raise NotImplementedError(
            f"Padding size {2 * len(pads)} is not supported for {input.ndim}D input tensor: "
            f"{mode!r} pads the last 1, 2 or 3 dims after those of images and channels, or of "
            "channels alone"
        )
    if mode not in _RULES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check(input, pads, mode)
    result: Tensor = _BORDERS[mode, len(pads)](input, pads, _RULES[mode])
    return result


def _check(x: Tensor, pads: tuple[Pair, ...], mode: str) -> None:
    shape = list(x.shape)
    for n, p in zip(shape[-len(pads) :], pads, strict=True):
        kept = _kept(n, *p)
        if mode == "circular" and max(p) > kept.stop - kept.start:
            raise RuntimeError(
                f"Padding value causes wrapping around more than once: {p} of a size of {n}"
            )
        if mode == "reflect" and max(p) >= n:
            raise RuntimeError(
                "Padding size should be less than the corresponding input dimension, but got: "
                f"padding {p} of a size of {n} in {shape}"
            )
        if n + sum(p) < (0 if mode == "circular" else 1):
            raise RuntimeError(
                f"input {shape} is too small for padding {p}. Calculated output size: {n + sum(p)}"
            )
    if mode == "circular":
        return
    if 0 in shape[-len(pads) - 1 :]:
        raise RuntimeError(
            "Expected a tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {shape}"
        )
    if x.dtype.name == "bool":
        raise NotImplementedError(f"{mode} padding is not implemented for bool: use .to(tg.uint8)")


function(constant_pad_nd)
