"""Activations that bend smoothly: exponential, Gaussian and logistic curves.

Each class is a curve and its slope, and its derivative of any order follows from the slope's
formula. No result overflows: exp sees no positive number, or its infinity is what is divided by.
float16 is computed in float32, as PyTorch does, since 11 bits are too few for several steps in a
row. The straight ones are in `rectifiers`.
Lesson 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..kernels.pointwise import alike, pointwise
from ..shape import wrap_dim
from .arguments import require_tensors
from .broadcasting import Unary
from .convert import to_dtype
from .dims import row_major
from .elementwise import where
from .exponential import exp, sigmoid, tanh
from .inplace import change
from .join import Cat
from .pieces import in_pieces, large
from .pointwise import in_single
from .rectifiers import require_floats, require_straight
from .registry import Op, function
from .special import Erf


class Curve(Unary):
    """y = f(x), where forward saves x and its parameters; dx = g·slope(x). `kernel` names the one
    that a GPU has for it."""

    __slots__ = ()

    slope: ClassVar[Callable[..., Any]]
    kernel: ClassVar[str] = ""

    def backward(ctx, g):
        x, *parameters = ctx.saved
        if ctx.kernel and alike(g, x):
            return pointwise(f"{ctx.kernel}_backward", g, x)
        if large(g, x):
            return in_pieces(lambda gx, g, x: np.multiply(g, ctx.slope(x, *parameters), gx), g, x)
        if getattr(x, "_array", x).dtype != "float16":
            return g * ctx.slope(x, *parameters)
        return to_dtype(g * ctx.slope(to_dtype(x, "float32"), *parameters), "float16")


def _curved(name, xp, curve, x):
    require_floats(name, x)
    if large(x):
        return in_pieces(lambda y, x: np.copyto(y, curve(np, x)), x)
    return in_single(xp, curve, x)


# --- exponential below 0, straight above ----------------------------------------------------------


class Elu(Curve, fn=""):
    """scale·x where x > 0, else scale·α·(e^(βx) - 1). In place it saves its result y, from which
    the slope below 0 follows, too: β·(y + scale·α)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, alpha, scale=1.0, beta=1.0, in_place=False):
        def curve(xp, x):
            low = xp.expm1(xp.minimum(x, 0) * beta) * (alpha * scale)
            return xp.where(x >= 0, x * scale, low)

        y = _curved("elu", xp, curve, x)
        ctx.save(y if in_place else x, alpha, scale, beta, in_place)
        return y

    def slope(ctx, x, alpha, scale, beta, in_place):
        if in_place:
            require_straight("elu", alpha)
            return where(x <= 0, (x + alpha * scale) * beta, scale)
        low = exp(where(x < 0, x * beta, 0.0)) * (alpha * scale * beta)
        return where(x <= 0, low, scale)


class Celu(Elu, fn=""):
    """x where x > 0, else α·(e^(x/α) - 1)."""

    __slots__ = ()

    forward = Elu.forward


# The α and the scale that keep mean 0 and variance 1 from layer to layer: G. Klambauer et al.,
# Self-Normalizing Neural Networks (2017).
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def selu(input: Any) -> Any:
    """1.0507·x where x > 0, else 1.7581·(e^x - 1): the curve that keeps mean 0 and variance 1.

    >>> import tinygrad_course as tg
    >>> tg.selu(tg.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    require_tensors("selu", input=input)
    return Elu.fn(input, SELU_ALPHA, SELU_SCALE)


def selu_(input: Any) -> Any:
    """As `selu`, in place."""
    return change(Elu, input, (), {"alpha": SELU_ALPHA, "scale": SELU_SCALE, "in_place": True})


def _celu_settings(alpha: float) -> dict[str, Any]:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU, which divides by it")
    return {"alpha": alpha, "beta": 1 / alpha}


def celu(input: Any, alpha: float = 1.0) -> Any:
    """x where x > 0, else alpha·(e^(x/alpha) - 1), whose slope is 1 at 0 from both sides.

    RuntimeError for alpha 0.

    >>> import tinygrad_course as tg
    >>> tg.celu(tg.tensor([-1., 1.]), 2)
    tensor([-0.7869,  1.0000])
    """
    require_tensors("celu", input=input)
    return Celu.fn(input, **_celu_settings(alpha))


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """As `celu`, in place."""
    return change(Celu, input, (), {**_celu_settings(alpha), "in_place": True})


# --- x times a share of it ------------------------------------------------------------------------


class Gelu(Curve, fn=""):
    """x·Φ(x), Φ the normal distribution (1 + erf(x/√2)) / 2; dx = g·(Φ + x·e^(-x²/2) / √(2π))."""

    __slots__ = ()

    kernel = "gelu"

    def forward(ctx, xp, x, /):
        ctx.save(x)
        if alike(x):
            return pointwise("gelu", x)
        return _curved("gelu", xp, lambda xp, x: x * _normal_share(x), x)

    def slope(ctx, x):
        return _normal_share(x) + x * exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def _normal_share(x):
    return Erf.fn(x * math.sqrt(0.5)) * 0.5 + 0.5


class GeluTanh(Curve, fn="", node="GeluBackward0"):
    """x·(1 + tanh u) / 2 with u = √(2/π)·(x + 0.044715·x³), close to Gelu;
    dx = g·((1 + t) / 2 + x·(1 - t²)·u' / 2), t = tanh u."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return _curved("gelu", xp, lambda xp, x: x * (tanh(_cubic(x)) * 0.5 + 0.5), x)

    def slope(ctx, x):
        t = tanh(_cubic(x))
        steepness = x * x * (3 * 0.044715 * _ROOT) + _ROOT
        return t * 0.5 + 0.5 + x * (1 - t * t) * steepness * 0.5


_ROOT = math.sqrt(2 / math.pi)


def _cubic(x):
    return x * (x * x * (0.044715 * _ROOT) + _ROOT)


class Silu(Curve, fn=""):
    """x·s = x / (1 + e^-x), s = sigmoid(x); dx = g·s·(1 + x·(1 - s))."""

    __slots__ = ()

    kernel = "silu"

    def forward(ctx, xp, x, /):
        ctx.save(x)
        if alike(x):
            return pointwise("silu", x)
        return _curved("silu", xp, lambda xp, x: x / (1 + xp.exp(-x)), x)

    def slope(ctx, x):
        s = sigmoid(x)
        return s * (x * (1 - s) + 1)


class Mish(Curve, fn=""):
    """x·t, t = tanh(ln(1 + e^x)); dx = g·(t + x·sigmoid(x)·(1 - t²))."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return _curved("mish", xp, lambda xp, x: x * xp.tanh(_softplus(xp, x)), x)

    def slope(ctx, x):
        t = tanh(Softplus.fn(x, 1.0, math.inf))
        return t + x * sigmoid(x) * (1 - t * t)


class Hardswish(Curve, fn=""):
    """x·hardsigmoid(x); dx = 0 where x <= -3, g·(x / 3 + 1/2) up to 3, g from there on."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return _curved("hardswish", xp, lambda xp, x: x * xp.clip(x + 3, 0, 6) / 6, x)

    def slope(ctx, x):
        return where(x <= -3, 0.0, where(x < 3, x / 3 + 0.5, 1.0))


class Glu(Op, fn=""):
    """a·s, s = sigmoid(b), of the halves a and b of x along one dim; da = g·s, db = g·a·s·(1 -
    s)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        require_floats("glu", x)
        ctx.save(x, dim)
        a, b = _halves(x, dim)
        return a * in_single(xp, lambda xp, b: sigmoid(b), b)

    def backward(ctx, g):
        x, dim = ctx.saved
        a, b = _halves(x, dim)
        s = sigmoid(b)
        ga = g * s
        return Cat.apply(ga, ga * a * (1 - s), dim=dim)


def _halves(x, dim):
    half = x.shape[dim] // 2
    before = (slice(None),) * dim
    return x[(*before, slice(half))], x[(*before, slice(half, None))]


def glu(input: Any, dim: int = -1) -> Any:
    """a·sigmoid(b), where a is the first half of `input` along `dim` and b the second.

    RuntimeError for an odd size, IndexError for a dim that does not exist.

    >>> import tinygrad_course as tg
    >>> glu(tg.tensor([1., 2., 0., 0.]))
    tensor([0.5000, 1.0000])
    """
    require_tensors("glu", input=input)
    if not input.ndim:
        raise RuntimeError("glu does not support 0-dim tensors because halving size must be even")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    return Glu.fn(input, dim)


# --- soft corners ---------------------------------------------------------------------------------


def _softplus(xp, x):
    """ln(1 + e^x) without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


class Softplus(Curve, fn=""):
    """ln(1 + e^(βx)) / β, and x where βx > threshold; dx = g·sigmoid(βx), and g there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, beta, threshold):
        def curve(xp, x):
            scaled = x * beta
            return xp.where(scaled > threshold, x, _softplus(xp, scaled) / beta)

        ctx.save(x, beta, threshold)
        return _curved("softplus", xp, curve, x)

    def slope(ctx, x, beta, threshold):
        scaled = x * beta
        return where(scaled > threshold, 1.0, sigmoid(scaled))


class LogSigmoid(Curve, fn=""):
    """ln sigmoid(x) = -ln(1 + e^-x); dx = g·sigmoid(-x)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return row_major(_curved("logsigmoid", xp, lambda xp, x: 0 - _softplus(xp, -x), x))

    def slope(ctx, x):
        return sigmoid(-x)


function(selu, selu_, celu, celu_)
