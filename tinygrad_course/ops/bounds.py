"""Bounds and signs: keeping values within limits, choosing between two tensors, and what becomes of
nan and infinity.

Where two operands tie, who gets the gradient is PyTorch's choice, noted at each class. Lesson 03.
"""

from __future__ import annotations

import math

from ..autograd.mode import no_grad
from ..autograd.node import blank
from ..autograd.variable import Tensor
from .broadcasting import Binary, Broadcast, Unary, require_tensor_first
from .elementwise import where
from .inplace import change
from .registry import function, method, write_out

# --- limits ---------------------------------------------------------------------------------------


class Clamp(Broadcast, fn="", node="ClampBackward1"):
    """x kept within [min, max], numbers or tensors, the upper bound last; either may be None.

    dx = g where min <= x <= max; dmin = g where x < min < max; dmax = g where max < x or max < min.
    """

    __slots__ = ()

    def forward(ctx, xp, x, min=None, max=None, /):
        ctx.save(x, min, max)
        out = x if min is None else xp.maximum(x, min)
        out = out if max is None else xp.minimum(out, max)
        if out.dtype.kind == "b" and min is not None and max is not None:
            raise NotImplementedError("clamp is not implemented for bool: convert with .int()")
        return out

    def backward(ctx, g):
        x, low, high = ctx.saved
        if high is None:
            return g * (x >= low), g * (x < low) if ctx.needs[1] else None, None
        if low is None:
            return g * (x <= high), None, g * (x > high) if ctx.needs[2] else None
        return (
            g * ((x >= low) & (x <= high)) if ctx.needs[0] else None,
            g * ((x < low) & (low < high)) if ctx.needs[1] else None,
            g * ((x > high) | (high < low)) if ctx.needs[2] else None,
        )

    @classmethod
    def promote(cls, x, min=None, max=None):
        if min is None and max is None:
            raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
        if min is not None and max is not None:
            min, max = _alike(min, max), _alike(max, min)
        return super().promote(x, min, max)


class ClampMin(Clamp, fn="", node="ClampMinBackward0"):
    """The larger of x and a bound; where they are equal, x has the gradient."""

    __slots__ = ()

    forward = Clamp.forward


class ClampMax(Clamp, fn="", node="ClampMaxBackward0"):
    """The smaller of x and a bound; where they are equal, x has the gradient."""

    __slots__ = ()

    forward = Clamp.forward


def _alike(bound, other):
    """`bound` as a number where the other bound is one; TypeError when it is a tensor with dims."""
    if isinstance(bound, Tensor) and not isinstance(other, Tensor):
        if bound.ndim:
            raise TypeError("clamp(): both bounds must be numbers, or both tensors")
        return bound.item()
    return bound


def clamp(input, min=None, max=None, *, out=None):
    """`input` kept within [min, max]: two numbers, or two tensors that broadcast; one may be left
    out. TypeError for one of each.

    >>> import tinygrad_course as tg
    >>> tg.clamp(tg.tensor([1., 5., 9.]), min=3, max=7)
    tensor([3., 5., 7.])
    """
    return write_out(Clamp.fn(input, min, max), out)


def clamp_(self, min=None, max=None):
    """As `clamp`, into this tensor."""
    return change(Clamp, self, (min, max), {})


def clamp_min(input, min, *, out=None):
    """The larger of `input` and `min`, elementwise; where they are equal, `input` has the gradient.

    >>> import tinygrad_course as tg
    >>> tg.clamp_min(tg.tensor([1., 5.]), 3)
    tensor([3., 5.])
    """
    return write_out(ClampMin.fn(input, min, None), out)


def clamp_max(input, max, *, out=None):
    """The smaller of `input` and `max`, elementwise; where they are equal, `input` has the
    gradient.

    >>> import tinygrad_course as tg
    >>> tg.clamp_max(tg.tensor([1., 5.]), 3)
    tensor([1., 3.])
    """
    return write_out(ClampMax.fn(input, None, max), out)


def floored(x, least):
    """A copy of x raised to `least` where it is smaller; its derivative is that of x all the same.

    >>> import tinygrad_course as tg
    >>> floored(tg.tensor([0., 2.]), 1.)
    tensor([1., 2.])
    """
    x = x.clone()
    with no_grad():
        clamp_(x, least)
    return x


class Maximum(Binary, method=True, numbers=False):
    """The larger of x and y; the gradient goes to it, and half to each where they are equal."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x, y)
        return xp.maximum(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        half = g * (x == y) * 0.5  # nan is neither equal nor less: g goes to both
        return g * ~(x < y) - half, g * ~(x > y) - half


class Minimum(Binary, method=True, numbers=False):
    """The smaller of x and y; the gradient goes to it, and half to each where they are equal."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x, y)
        return xp.minimum(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        half = g * (x == y) * 0.5
        return g * ~(x > y) - half, g * ~(x < y) - half


class Fmax(Binary, method=True, numbers=False):
    """The larger of x and y, a number rather than nan; where they are equal x has the gradient."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save((x >= y) | xp.isnan(y))
        return xp.fmax(x, y)

    def backward(ctx, g):
        (first,) = ctx.saved
        return g * first, g * ~first


class Fmin(Binary, method=True, numbers=False):
    """The smaller of x and y, a number rather than nan; where they are equal x has the gradient."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save((x <= y) | xp.isnan(y))
        return xp.fmin(x, y)

    def backward(ctx, g):
        (first,) = ctx.saved
        return g * first, g * ~first


# --- signs and special values ---------------------------------------------------------------------


class SignBit(Unary, method=True, differentiable=False):
    """Whether x is negative: -0. is, too."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.signbit(x) if x.dtype.kind == "f" else xp.less(x, 0)


class Copysign(Binary, method=True, inplace=True, floats=True):
    """|x| with the sign of y; dx = g·out / x, and 0 at 0; dy = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        out = xp.copysign(x, y)
        ctx.save(x, out)
        return out

    def backward(ctx, g):
        x, out = ctx.saved
        gx = where(x == 0, blank(g), g * (out / x)) if ctx.needs[0] else None
        return gx, blank(g) if ctx.needs[1] else None

    @classmethod
    def promote(cls, x, y):
        require_tensor_first(cls, x)
        return super().promote(x, y)


class Heaviside(Binary, method=True, numbers=False, inplace=True):
    """0 where x < 0, 1 where x > 0, and y where x = 0. No derivative: asking for it is an error."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.where(xp.equal(x, 0), y, (x > 0).astype(x.dtype))

    def backward(ctx, g):
        raise RuntimeError("heaviside has no derivative at 0, where it jumps; elsewhere it is 0")

    @classmethod
    def promote(cls, x, y):
        if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is not y.dtype:
            raise RuntimeError(
                "heaviside is not yet implemented for tensors with different dtypes: found "
                f"{x.dtype!r} and {y.dtype!r}"
            )
        return super().promote(x, y)


class NanToNum(Unary, fn="nan_to_num", method=True, inplace=True):
    """x with `nan`, `posinf`, `neginf` in place of nan and the infinities (default 0 and the type's
    largest and smallest); dx = g where x is finite, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, nan=None, posinf=None, neginf=None):
        for value in (nan, posinf, neginf):
            if not isinstance(value, int | float | None):
                raise TypeError(f"nan_to_num(): a number was expected, not {type(value).__name__}")
        if x.dtype.kind != "f":
            return xp.array(x)
        ctx.save(xp.isfinite(x))
        limits = xp.finfo(x.dtype)
        high = limits.max if posinf is None else posinf
        low = limits.min if neginf is None else neginf
        x = xp.where(xp.isnan(x), x.dtype.type(nan or 0), x)
        x = xp.where(x == math.inf, x.dtype.type(high), x)
        return xp.where(x == -math.inf, x.dtype.type(low), x)

    def backward(ctx, g):
        (finite,) = ctx.saved
        return g * finite


function(clamp, clamp_min, clamp_max, clip=clamp)
method(clamp, clamp_, clamp_min, clamp_max, clip=clamp, clip_=clamp_)
method(clamp_min_=lambda self, min: change(ClampMin, self, (min, None), {}))
method(clamp_max_=lambda self, max: change(ClampMax, self, (None, max), {}))
