"""Angles: trigonometric and hyperbolic functions, their inverses, and degrees.

`sin`, `cos` and `tanh` are in `exponential`; here are the others. Each class is a formula and its
derivative, computed in floats; outside a function's domain the value is nan and so is the slope.
Lesson 03.
"""

from __future__ import annotations

import math

from ..autograd.node import blank
from .broadcasting import Binary, Unary
from .elementwise import Rsqrt, where
from .exponential import cos, sin
from .pointwise import in_single


class Tan(Unary, method=True, inplace=True, floats=True):
    """tan x; dx = g·(1 + y²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.tan(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * (1 + y * y)


class Sinh(Unary, method=True, inplace=True, floats=True):
    """(e^x - e^-x) / 2; dx = g·cosh x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.sinh(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * cosh(x)


class Cosh(Unary, method=True, inplace=True, floats=True):
    """(e^x + e^-x) / 2; dx = g·sinh x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.cosh(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * sinh(x)


class Asin(Unary, method=True, inplace=True, floats=True, aliases=("arcsin",)):
    """The angle in [-π/2, π/2] whose sine is x; dx = g / √(1 - x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arcsin(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * rsqrt(1 - x * x)


class Acos(Unary, method=True, inplace=True, floats=True, aliases=("arccos",)):
    """The angle in [0, π] whose cosine is x; dx = -g / √(1 - x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arccos(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return -g * rsqrt(1 - x * x)


class Atan(Unary, method=True, inplace=True, floats=True, aliases=("arctan",)):
    """The angle in (-π/2, π/2) whose tangent is x; dx = g / (1 + x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arctan(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / (x * x + 1)


class Atan2(Binary, method=True, inplace=True, floats=True, numbers=False, aliases=("arctan2",)):
    """The angle of the point (y, x), with x the height: in (-π, π].

    dx = g·y / (x² + y²), dy = -g·x / (x² + y²).
    """

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x, y)
        return xp.arctan2(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        square = x * x + y * y
        g = where(square == 0, blank(g), g / square)  # no angle at the origin: its gradient is 0
        return g * y if ctx.needs[0] else None, -g * x if ctx.needs[1] else None


class Asinh(Unary, method=True, inplace=True, floats=True, aliases=("arcsinh",)):
    """ln(x + √(x² + 1)); dx = g / √(x² + 1)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arcsinh(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * rsqrt(x * x + 1)


class Acosh(Unary, method=True, inplace=True, floats=True, aliases=("arccosh",)):
    """ln(x + √(x² - 1)); dx = g / √(x² - 1)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arccosh(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * rsqrt(x * x - 1)


class Atanh(Unary, method=True, inplace=True, floats=True, aliases=("arctanh",)):
    """ln((1 + x) / (1 - x)) / 2; dx = g / (1 - x²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.arctanh(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / (1 - x * x)


class Hypot(Binary, method=True, inplace=True, numbers=False):
    """√(x² + y²); dx = g·x / out, dy = g·y / out."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        out = xp.hypot(x, y)
        ctx.save(x if ctx.needs[0] else None, y if ctx.needs[1] else None, out)
        return out

    def backward(ctx, g):
        x, y, out = ctx.saved
        return tuple([None if v is None else g * (v / out) for v in (x, y)])


class Sinc(Unary, method=True, inplace=True, floats=True):
    """sin(πx) / πx, and 1 at 0; dx = g·(cos(πx) - y) / x, and 0 at 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return in_single(xp, lambda xp, x: xp.sinc(x), x)

    def backward(ctx, g):
        (x,) = ctx.saved
        angle = x * math.pi
        slope = (angle * cos(angle) - sin(angle)) / (angle * x)
        return g * where(x == 0, x * 0, slope)


class Deg2Rad(Unary, method=True, inplace=True, floats=True):
    """x degrees in radians, x·π/180; dx = g·π/180."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.multiply(x, math.pi / 180)

    def backward(ctx, g):
        return g * (math.pi / 180)


class Rad2Deg(Unary, method=True, inplace=True, floats=True):
    """x radians in degrees, x·180/π; dx = g·180/π."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.multiply(x, 180 / math.pi)

    def backward(ctx, g):
        return g * (180 / math.pi)


rsqrt, sinh, cosh = Rsqrt.fn, Sinh.fn, Cosh.fn
