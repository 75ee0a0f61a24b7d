"""Elementwise operations: y[i] = f(x[i]), or f(x[i], y[i]) after broadcasting.

Each class is a formula and its derivative; shapes, dtypes and recording are the registry's
business. Integers are computed as floats where the mathematics asks for it. Lessons 03 and 05.
"""

from __future__ import annotations

import numpy as np

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..dtype import bool_, result_type
from .broadcasting import Binary, Broadcast, Unary
from .data import scalar_tensor
from .exponential import log
from .registry import function, method

# --- arithmetic -----------------------------------------------------------------------------------


class Add(Binary, method=True, inplace=True, operator="add", scales=True):
    """x + alpha·y; dx = g, dy = alpha·g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.add(x, y)

    def backward(ctx, g):
        return g, g


class Sub(Binary, method=True, inplace=True, operator="sub", scales=True, aliases=("subtract",)):
    """x - alpha·y; dx = g, dy = -alpha·g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        return xp.subtract(x, y)

    def backward(ctx, g):
        return g, -g if ctx.needs[1] else None

    @classmethod
    def promote(cls, x, y):
        promoted = super().promote(x, y)
        if any(isinstance(v, bool) or getattr(v, "dtype", None) is bool_ for v in (x, y)):
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported: use ^ or "
                "logical_not(), or convert with .int()"
            )
        return promoted


class Mul(Binary, method=True, inplace=True, operator="mul", aliases=("multiply",)):
    """x·y; dx = g·y, dy = g·x."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y if ctx.needs[0] else None)
        return xp.multiply(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return g * y if ctx.needs[0] else None, g * x if ctx.needs[1] else None


class Div(Binary, fn="true_divide", method=True, inplace=True, operator="truediv", floats=True):
    """x / y; dx = g / y, dy = -g·x / y²."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y)
        return xp.true_divide(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        gx = g / y
        return gx, -gx * (x / y) if ctx.needs[1] else None


class FloorDivide(Binary, fn="floor_divide", method=True, inplace=True, operator="floordiv"):
    """The largest whole number <= x / y. No derivative: asking for it is an error."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        refuse_zero_divisor(xp, x, y)
        return xp.floor_divide(x, y)

    def backward(ctx, g):
        raise RuntimeError(
            "floor_divide (the `//` operator) has no derivative; floor(x / y) has one, which is 0"
        )


class Remainder(Binary, method=True, inplace=True, operator="mod"):
    """x - y·floor(x / y), with the sign of y; dx = g, dy = -g·floor(x / y)."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        refuse_zero_divisor(xp, x, y)
        ctx.save(xp.floor_divide(x, y) if ctx.needs[1] else None)
        return xp.remainder(x, y)

    def backward(ctx, g):
        (quotient,) = ctx.saved
        return g, -g * quotient if ctx.needs[1] else None


def refuse_zero_divisor(xp, x, y):
    """RuntimeError when integers are divided by 0. Asking a GPU would make it wait, so there, as in
    PyTorch, the result is whatever it makes of that."""
    if xp is not np:
        return
    kind = x.dtype.kind if hasattr(x, "dtype") else y.dtype.kind
    empty = hasattr(x, "dtype") and not x.size
    if kind in "iu" and not empty and not xp.asarray(y).all():
        raise RuntimeError("ZeroDivisionError: an integer tensor was divided by zero")


class Pow(Binary, method=True, inplace=True, operator="pow"):
    """x^y; dx = g·y·x^(y-1), dy = g·x^y·ln x."""

    __slots__ = ()
    constants = False  # what is done depends on the number

    def forward(ctx, xp, x, y, /):
        # A whole exponent up to 3 as products: NumPy's general power takes 100 times as long.
        if y == 3 if isinstance(y, int | float) else False:
            out = x * x * x
        elif xp.result_type(x, y).kind == "b":
            out = xp.logical_or(x, xp.logical_not(y))
        elif hasattr(y, "dtype") and y.dtype.kind == "i":
            # A negative power of a whole number is 1, -1, or a fraction, which is cut off.
            out = xp.power(x, xp.abs(y))
            out = xp.where((y >= 0) | (xp.abs(x) == 1), out, xp.zeros_like(out))
        else:
            out = xp.power(x, y)
        ctx.save(x, y, out if ctx.needs[1] else None)
        return out

    def name(self):
        return "PowBackward0" if self.edges[1] is None else "PowBackward1"

    def backward(ctx, g):
        x, y, out = ctx.saved
        gx = gy = None
        if ctx.needs[0]:
            if isinstance(y, int | float):
                gx = g * 0 if y == 0 else g * (y * x ** (y - 1))
            else:
                gx = where(y == 0, g * 0, g * (y * x ** (y - 1)))
        if ctx.needs[1]:
            x = x if not isinstance(x, int | float) else y * 0 + x
            gy = g * where((x == 0) & (y >= 0), out * 0, out * log(x))
        return gx, gy

    @classmethod
    def promote(cls, x, y):
        whole = isinstance(x, Tensor) and not x.is_floating_point()
        if whole and isinstance(y, int) and y < 0:
            raise RuntimeError(
                f"Integers to negative integer powers are not allowed: exponent {y}; convert with "
                ".float()"
            )
        return super().promote(x, y)


class Neg(Unary, method=True, inplace=True, operator="neg", aliases=("negative",)):
    """-x; dx = -g."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.dtype == bool:
            raise RuntimeError(
                "Negation, the `-` operator, on a bool tensor is not supported: use ~ or "
                "logical_not()"
            )
        return xp.negative(x)

    def backward(ctx, g):
        return -g


class Abs(Unary, method=True, inplace=True, operator="abs", aliases=("absolute",)):
    """|x|; dx = g·sign(x), which is 0 at 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.abs(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * sign(x)


class Reciprocal(Unary, method=True, inplace=True, floats=True):
    """1 / x; dx = -g·y²."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.true_divide(1, x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return -g * (y * y)


class Square(Unary, method=True, inplace=True, node="PowBackward0"):
    """x²; dx = 2·g·x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.dtype == "bool":
            x = x.astype("int64")
        ctx.save(x)
        return xp.multiply(x, x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * (x * 2)


class Sqrt(Unary, method=True, inplace=True, floats=True):
    """√x; dx = g / (2·y)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.sqrt(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g / (y * 2)


class Rsqrt(Unary, method=True, inplace=True, floats=True):
    """1 / √x; dx = -g·y³ / 2."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.true_divide(1, xp.sqrt(x))
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * (y * y * y * -0.5)


# --- rounding and signs: flat, so the gradient is zero --------------------------------------------


class _Flat(Unary):
    """A step function: its derivative is 0 wherever it has one."""

    __slots__ = ()

    def backward(ctx, g):
        return blank(g)


class Sign(_Flat, method=True, inplace=True):
    """-1, 0 or 1; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.dtype.kind == "f":  # NumPy's sign of nan is nan, PyTorch's 0
            return xp.subtract(x > 0, x < 0, dtype=x.dtype)
        return xp.sign(x) if x.dtype.kind != "b" else xp.array(x)


class Sgn(Sign, method=True, inplace=True):
    """As `sign`, which it extends to complex numbers; those are left out here."""

    __slots__ = ()

    forward = Sign.forward


class Floor(_Flat, method=True, inplace=True):
    """The largest whole number <= x; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.floor(x)


class Ceil(_Flat, method=True, inplace=True):
    """The smallest whole number >= x; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.ceil(x)


class Trunc(_Flat, method=True, inplace=True, aliases=("fix",)):
    """x without its fraction; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        return xp.trunc(x)


class Round(_Flat, method=True, inplace=True):
    """The nearest number with `decimals` places, halves to even; dx = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, decimals=0):
        if x.dtype == "float16":  # in which 10·x is too coarse
            return xp.round(x.astype("float32"), decimals).astype("float16")
        return xp.round(x, decimals) if x.dtype.kind != "b" else xp.array(x)


# --- choosing -------------------------------------------------------------------------------------


class Where(Broadcast, fn=""):
    """x where condition, else y; dx = g·condition, dy = g·not condition."""

    __slots__ = ()

    def forward(ctx, xp, condition, x, y, /):
        ctx.save(condition)
        x, y = (v if hasattr(v, "dtype") else u.dtype.type(v) for v, u in ((x, y), (y, x)))
        return xp.where(condition, x, y)

    def backward(ctx, g):
        (condition,) = ctx.saved
        zero = blank(g)
        return (
            None,
            where(condition, g, zero) if ctx.needs[1] else None,
            where(condition, zero, g) if ctx.needs[2] else None,
        )

    @classmethod
    def promote(cls, condition, x, y):
        condition = Tensor._wrap_any(condition)
        if condition._array.dtype == "uint8":  # a mask of the days before there was a bool type
            condition = condition != 0
        if condition._array.dtype != bool:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition.dtype!r}: compare first, e.g. x != 0"
            )
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            x = scalar_tensor(x, dtype=result_type(x, y), device=condition.device)
        return condition, *super().promote(x, y)


def where(condition, input, other):
    """`input` where `condition` holds, else `other`: elementwise, broadcast and promoted.

    >>> import tinygrad_course as tg
    >>> where(tg.tensor([True, False]), tg.tensor([1., 2.]), 0)
    tensor([1., 0.])
    """
    return Where.fn(condition, input, other)


def positive(input):
    """The tensor itself; RuntimeError for bool.

    >>> import tinygrad_course as tg
    >>> +tg.tensor([1., -2.])
    tensor([ 1., -2.])
    """
    if input.dtype is bool_:
        raise RuntimeError(
            "The `+` operator, on a bool tensor is not supported: convert with .int()"
        )
    return input


sign = Sign.fn

function(where, positive)
method(positive, __pos__=positive)
method(where=lambda self, condition, other: where(condition, self, other))
