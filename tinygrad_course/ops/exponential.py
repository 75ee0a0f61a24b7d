"""Exponentials, logarithms, sine and cosine, and the curves that activate neurons.

Each class is a formula and its derivative; integers are computed as floats. Sigmoid and tanh save
their result, from which the derivative follows without the input. Lessons 03 and 05.
"""

from __future__ import annotations

import numpy as np

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..kernels.pointwise import alike, pointwise
from .broadcasting import Unary
from .pieces import in_pieces, large
from .registry import Op


class Exp(Unary, method=True, inplace=True, floats=True):
    """e^x; dx = g·y."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.exp(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * y


class Expm1(Unary, method=True, inplace=True, floats=True):
    """e^x - 1, exact for small x; dx = g·(y + 1)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.expm1(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        return g * (y + 1)


class Log(Unary, method=True, inplace=True, floats=True):
    """ln x; dx = g / x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.log(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / x


class Log1p(Unary, method=True, inplace=True, floats=True, node="Log1PBackward0"):
    """ln(1 + x), exact for small x; dx = g / (1 + x)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.log1p(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g / (x + 1)


class Sin(Unary, method=True, inplace=True, floats=True):
    """sin x; dx = g·cos x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.sin(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * cos(x)


class Cos(Unary, method=True, inplace=True, floats=True):
    """cos x; dx = -g·sin x."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        ctx.save(x)
        return xp.cos(x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return -g * sin(x)


class Tanh(Unary, method=True, inplace=True, floats=True):
    """tanh x; dx = g·(1 - y²)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        y = xp.tanh(x)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        if alike(g, y):
            return pointwise("tanh_backward", g, y)
        return g * (1 - y * y)


class Sigmoid(Unary, method=True, inplace=True, floats=True):
    """1 / (1 + e^-x), exact also where it is tiny; dx = g·y·(1 - y)."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if alike(x):
            y = pointwise("sigmoid", x)
        elif large(x):
            y = in_pieces(_sigmoid, x)
        else:  # float16 in float32: e^12 is infinite there
            e = xp.exp(-x, dtype="float32" if x.dtype == "float16" else x.dtype)
            y = (1 / (1 + e)).astype(x.dtype, copy=False)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        if alike(g, y):
            return pointwise("sigmoid_backward", g, y)
        if large(g, y):
            return in_pieces(_sigmoid_backward, g, y)
        return g * (y * (1 - y))


def _sigmoid(y, x):
    """The formula of forward step by step, in the memory of y."""
    np.negative(x, out=y)
    np.exp(y, out=y)
    np.add(y, 1, out=y)
    np.divide(1, y, out=y)


def _sigmoid_backward(dx, g, y):
    """That of backward, in the memory of dx."""
    np.subtract(1, y, out=dx)
    np.multiply(y, dx, out=dx)
    np.multiply(g, dx, out=dx)


class Relu(Unary, method=True, inplace=True):
    """max(x, 0); dx = g where y != 0, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        if x.dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu: convert with .float()")
        y = xp.maximum(x, 0)
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        if isinstance(g, Tensor):
            return relu_backward(g, y)
        return pointwise("relu_backward", g, y) if alike(g, y) else g * (y != 0)


class ReluBackward(Op, fn="", node="ThresholdBackwardBackward0"):
    """g where y != 0, else 0; dg = h where y != 0, dy = 0."""

    __slots__ = ()

    def forward(ctx, xp, g, y, /):
        ctx.save(y)
        return g * (y != 0)

    def backward(ctx, h):
        (y,) = ctx.saved
        return relu_backward(h, y), blank(h)


relu_backward = ReluBackward.fn
exp, log, sin, cos = Exp.fn, Log.fn, Sin.fn, Cos.fn
tanh, sigmoid = Tanh.fn, Sigmoid.fn
