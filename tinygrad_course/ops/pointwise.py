"""More elementwise operations: division with rounding, powers and logarithms of other bases, and
mixing of two or three tensors.

The everyday ones are in `elementwise`; like them, each class is a formula and its derivative, and
shapes, dtypes and recording are the registry's business. Lesson 03.
"""

from __future__ import annotations

import math

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..dtype import float64
from .broadcasting import Binary, Broadcast, Unary, require_tensor_first
from .elementwise import Div, Pow, Sub, refuse_zero_divisor, where
from .exponential import exp, log
from .inplace import change
from .registry import function, method, write_out


def in_single(xp, compute, x):
    """compute(xp, x), for float16 in float32: 11 bits are too few for several steps in a row."""
    if x.dtype == "float16":
        return compute(xp, xp.multiply(x, 1, dtype="float32")).astype("float16")
    return compute(xp, x)


# --- division -------------------------------------------------------------------------------------


class _DivRounded(Binary, fn="", node="DivBackward2"):
    """x / y rounded down ("floor") or towards zero ("trunc"), integers as integers; flat: dx = dy =
    0."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, rounding_mode):
        refuse_zero_divisor(xp, x, y)
        if rounding_mode == "floor":
            return xp.floor_divide(x, y)
        if xp.result_type(x, y).kind == "f":
            return xp.trunc(xp.true_divide(x, y))
        return xp.floor_divide(x - xp.fmod(x, y), y)

    def backward(ctx, g):
        return blank(g), blank(g)


def _require_rounding(mode):
    if mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {mode!r}"
        )


def div(input, other, *, rounding_mode=None, out=None):
    """input / other; with `rounding_mode` "trunc" or "floor" rounded towards zero or down, in the
    promoted type.

    >>> import tinygrad_course as tg
    >>> tg.div(tg.tensor([7, -7]), 2), tg.div(tg.tensor([7, -7]), 2, rounding_mode="trunc")
    (tensor([ 3.5000, -3.5000]), tensor([ 3, -3]))
    """
    if rounding_mode is None:
        return Div.fn(input, other, out=out)
    _require_rounding(rounding_mode)
    return write_out(_DivRounded.fn(input, other, rounding_mode), out)


def div_(self, other, *, rounding_mode=None):
    """As `div`, into this tensor."""
    if rounding_mode is None:
        return change(Div, self, (other,), {})
    _require_rounding(rounding_mode)
    return change(_DivRounded, self, (other,), {"rounding_mode": rounding_mode})


class Fmod(Binary, method=True, inplace=True):
    """x - y·trunc(x / y), with the sign of x; dx = g, dy = -g·trunc(x / y)."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        refuse_zero_divisor(xp, x, y)
        ctx.save(xp.trunc(xp.true_divide(x, y)) if ctx.needs[1] else None)
        return xp.fmod(x, y)

    def backward(ctx, g):
        (quotient,) = ctx.saved
        return g, -g * quotient if ctx.needs[1] else None

    @classmethod
    def promote(cls, x, y):
        require_tensor_first(cls, x)
        return super().promote(x, y)


class Frac(Unary, method=True, inplace=True):
    """x - trunc(x), the fraction with its sign; dx = g."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.dtype.kind != "f":
            raise NotImplementedError(f"frac is for floats, not for {x.dtype}: it is 0 there")
        return x - xp.trunc(x)

    def backward(ctx, g):
        return g


def rsub(input, other, *, alpha=1):
    """other - alpha·input: subtraction the other way round.

    >>> import tinygrad_course as tg
    >>> tg.rsub(tg.tensor([1., 2.]), 10)
    tensor([9., 8.])
    """
    return Sub.fn(other, input if alpha == 1 else Sub.scaled(other, input, alpha))


# --- powers and logarithms ------------------------------------------------------------------------


def float_power(input, exponent, *, out=None):
    """input ** exponent, computed in float64 whatever the types.

    >>> import tinygrad_course as tg
    >>> tg.float_power(tg.tensor([2, 3]), -1)
    tensor([0.5000, 0.3333], dtype=torch.float64)
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("float_power(): one of input and exponent must be a Tensor")
    return write_out(Pow.fn(_in_double(input), _in_double(exponent)), out)


def _in_double(x):
    return x.to(float64) if isinstance(x, Tensor) else x


def float_power_(self, exponent):
    """As `float_power`, into this tensor, which must be of float64."""
    if self.dtype is not float64:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype!r} but the operation's result "
            "requires dtype torch.float64: convert with .double() first"
        )
    return change(Pow, self, (_in_double(exponent),), {})


class Exp2(Unary, method=True, inplace=True, floats=True):
    """2^x; dx = g·y·ln 2."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.exp2(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * y * math.log(2)


class Log2(Unary, method=True, inplace=True, floats=True):
    """The logarithm to base 2; dx = g / (x·ln 2)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.log2(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / (x * math.log(2))


class Log10(Unary, method=True, inplace=True, floats=True):
    """The logarithm to base 10; dx = g / (x·ln 10)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.log10(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / (x * math.log(10))


class LogAddExp(Binary, method=True, numbers=False, node="LogaddexpBackward0"):
    """ln(e^x + e^y) without overflow; dx = g / (1 + e^(y - x)), dy = g / (1 + e^(x - y))."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x, y)
        return xp.logaddexp(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return g / (1 + exp(y - x)), g / (1 + exp(x - y))


class LogAddExp2(Binary, method=True, numbers=False, node="Logaddexp2Backward0"):
    """log2(2^x + 2^y) without overflow; dx = g / (1 + 2^(y - x)), dy = g / (1 + 2^(x - y))."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x, y)
        return xp.logaddexp2(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return g / (1 + exp2(y - x)), g / (1 + exp2(x - y))


class XLogY(Binary, method=True, inplace=True, floats=True, node="XlogyBackward0"):
    """x·ln y, and 0 where x = 0 unless y is nan; dx = g·ln y, dy = g·x / y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        x, y = (v if hasattr(v, "dtype") else xp.full((), v, u.dtype) for v, u in ((x, y), (y, x)))
        ctx.save(x, y)
        product = x * xp.log(y)
        return xp.where((x == 0) & ~xp.isnan(y), xp.zeros_like(product), product)

    def backward(ctx, g):
        x, y = ctx.saved
        return (
            where((x == 0) & (y <= 0), blank(g), g * log(y)) if ctx.needs[0] else None,
            g * x / y if ctx.needs[1] else None,
        )


class Logit(Unary, method=True, inplace=True, floats=True):
    """ln(x / (1 - x)), the inverse of sigmoid, x first kept within [eps, 1 - eps]; dx = g / (x(1 -
    x)), 0 beyond eps and nan beyond 0 and 1."""

    __slots__ = ()

    def forward(ctx, xp, x, /, eps=None):
        ctx.save(x, eps)
        low, high = (0, 1) if eps is None else (eps, 1 - eps)

        def compute(xp, x):
            x = x if eps is None else xp.clip(x, low, high)
            return xp.log(x / (1 - x))

        return in_single(xp, compute, x)

    def backward(ctx, g):
        x, eps = ctx.saved
        slope = g / (x * (1 - x) + 0)  # + 0 makes 0 of -0, and so the slope at it +inf
        low, high = (0, 1) if eps is None else (eps, 1 - eps)
        return where((x < low) | (x > high), math.nan if eps is None else 0.0, slope)


# --- mixing ---------------------------------------------------------------------------------------


class Lerp(Broadcast, method=True, inplace=True):
    """x + weight·(end - x), from x at weight 0 to end at 1; dx = g·(1 - weight), dend = g·weight,
    dweight = g·(end - x)."""

    __slots__ = ()

    def forward(ctx, xp, x, end, weight, /):
        ctx.save(*((x, end) if ctx.needs[2] else (None, None)), weight)
        way = xp.subtract(end, x, dtype=x.dtype)
        if x.dtype.kind != "f":
            raise NotImplementedError(f"lerp is for floats, not for {x.dtype}: use .float()")
        if isinstance(weight, float):
            return x + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
        # From the nearer end, so that weight 1 gives exactly `end`.
        return xp.where(xp.abs(weight) < 0.5, x + weight * way, end - way * (1 - weight))

    def backward(ctx, g):
        x, end, weight = ctx.saved
        return (
            g * (1 - weight) if ctx.needs[0] else None,
            g * weight if ctx.needs[1] else None,
            g * (end - x) if ctx.needs[2] else None,
        )

    @classmethod
    def promote(cls, x, end, weight):
        _require_tensors("lerp", end=end)
        for name, v in (("end", end), ("weight", weight)):
            if isinstance(v, Tensor) and v.dtype is not x.dtype and (v.ndim or name == "end"):
                raise RuntimeError(
                    f"lerp(): expected dtype {x.dtype!r} for `{name}` but got dtype {v.dtype!r}"
                )
        return super().promote(x, end, weight)


class Addcmul(Broadcast, fn=""):
    """x + value·y·z; dx = g, dy = g·value·z, dz = g·value·y."""

    __slots__ = ()

    def forward(ctx, xp, x, y, z, /, value=1):
        ctx.save(y if ctx.needs[2] else None, z if ctx.needs[1] else None, value)
        out = x + (y * z if value == 1 else value * y * z)
        if out.dtype.kind == "b":
            raise NotImplementedError("addcmul is not implemented for bool: convert with .int()")
        return out

    def backward(ctx, g):
        y, z, value = ctx.saved
        return (
            g,
            g * (z * value) if ctx.needs[1] else None,
            g * (y * value) if ctx.needs[2] else None,
        )


class Addcdiv(Broadcast, fn=""):
    """x + value·y / z; dx = g, dy = g·value / z, dz = -g·value·y / z²."""

    __slots__ = ()

    def forward(ctx, xp, x, y, z, /, value=1):
        ctx.save(y if ctx.needs[2] else None, z, value)
        return x + (y / z if value == 1 else value * y / z)

    def backward(ctx, g):
        y, z, value = ctx.saved
        return (
            g,
            g * value / z if ctx.needs[1] else None,
            -g * (value * y / (z * z)) if ctx.needs[2] else None,
        )


def _require_tensors(name, **operands):
    for argument, x in operands.items():
        if not isinstance(x, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' must be Tensor, not {type(x).__name__}"
            )


def _combined(op, input, tensor1, tensor2, rest, value):
    """The checked (tensor1, tensor2, value) of addcmul and addcdiv; `rest` holds a tensor where the
    value came second, as in old code."""
    name = op.__name__.lower()
    if rest:
        tensor1, tensor2, value = tensor2, rest[0], tensor1
    _require_tensors(name, input=input, tensor1=tensor1, tensor2=tensor2)
    if not isinstance(value, int | float):
        raise TypeError(f"{name}(): argument 'value' must be Number, not {type(value).__name__}")
    dtype = op.promote(input, tensor1, tensor2)[0].dtype
    if op is Addcdiv and not (tensor1.is_floating_point() or tensor2.is_floating_point()):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: divide with div() and a "
            "rounding_mode, or convert one tensor with .float()"
        )
    return (tensor1, tensor2), op._in(value, dtype)


def addcmul(input, tensor1, tensor2, *rest, value=1, out=None):
    """input + value·tensor1·tensor2, elementwise.

    >>> import tinygrad_course as tg
    >>> tg.addcmul(tg.ones(2), tg.tensor([1., 2.]), tg.tensor([3., 4.]), value=10)
    tensor([31., 81.])
    """
    tensors, value = _combined(Addcmul, input, tensor1, tensor2, rest, value)
    return write_out(Addcmul.fn(input, *tensors, value), out)


def addcdiv(input, tensor1, tensor2, *rest, value=1, out=None):
    """input + value·tensor1 / tensor2, elementwise; RuntimeError when both are integers.

    >>> import tinygrad_course as tg
    >>> tg.addcdiv(tg.ones(2), tg.tensor([1., 2.]), tg.tensor([4., 4.]))
    tensor([1.2500, 1.5000])
    """
    tensors, value = _combined(Addcdiv, input, tensor1, tensor2, rest, value)
    return write_out(Addcdiv.fn(input, *tensors, value), out)


def addcmul_(self, tensor1, tensor2, *rest, value=1):
    """As `addcmul`, into this tensor."""
    tensors, value = _combined(Addcmul, self, tensor1, tensor2, rest, value)
    return change(Addcmul, self, tensors, {"value": value})


def addcdiv_(self, tensor1, tensor2, *rest, value=1):
    """As `addcdiv`, into this tensor."""
    tensors, value = _combined(Addcdiv, self, tensor1, tensor2, rest, value)
    return change(Addcdiv, self, tensors, {"value": value})


function(div, rsub, float_power, addcmul, addcdiv, divide=div)
method(div, div_, float_power, float_power_, divide=div, divide_=div_)
method(addcmul, addcmul_, addcdiv, addcdiv_)
exp2 = Exp2.fn
