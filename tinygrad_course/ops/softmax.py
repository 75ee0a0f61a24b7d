"""softmax and its logarithm: scores to probabilities, safe for scores of any size.

Both subtract the row's maximum first, which changes no result and keeps exp from overflowing, and
log_softmax never takes the log of a rounded probability. Each is one node. What a loss makes of
them is in `loss`. Lesson 13.
"""

from __future__ import annotations

from typing import Any

from ..dtype import DType
from ..kernels import softmax as fused
from ..kernels import usable
from ..shape import wrap_dim
from .arguments import require_tensors
from .dims import sums
from .exponential import exp
from .reduce import total
from .registry import FUNCTIONS, Op, Tensor


def _shifted(xp, x, dim):
    """x minus its largest element along `dim`: a new array in row-major memory."""
    x = xp.ascontiguousarray(x)
    return x - x.max(dim, keepdims=True) if x.size else x.copy()


def _softmax(xp, x, dim):
    y = _shifted(xp, x, dim)
    if y.size:
        xp.exp(y, out=y)
        y /= sums(xp, y, (dim,), True)
    return y


def _log_softmax(xp, x, dim):
    y = _shifted(xp, x, dim)
    if y.size:
        y -= xp.log(sums(xp, xp.exp(y), (dim,), True))
    return y


class Softmax(Op, fn=""):
    """y = exp(x) / Σ exp(x) along one dim; dx = y (g − Σ g y)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        y = fused.softmax(x, dim, False) if usable(x) else _softmax(xp, x, dim)
        ctx.save(y, dim)
        return y

    def backward(ctx, g):
        y, dim = ctx.saved
        return softmax_backward(g, y, dim)


class SoftmaxBackward(Op, fn="", node="SoftmaxBackwardDataBackward0"):
    """dx = y (g − Σ g y): (…), (…) → (…)."""

    __slots__ = ()

    def forward(ctx, xp, g, y, /, dim):
        ctx.save(g, y, dim)
        if usable(y, g):
            return fused.softmax_backward(g, y, dim, False)
        dx = xp.multiply(g, y, out=xp.empty_like(y))
        xp.subtract(g, sums(xp, dx, (dim,), True), out=dx)
        dx *= y
        return dx

    def backward(ctx, h):
        g, y, dim = ctx.saved
        gg = softmax_backward(h, y, dim) if ctx.needs[0] else None
        gy = None
        if ctx.needs[1]:
            gy = h * g - h * total(g * y, dim, True) - g * total(h * y, dim, True)
        return gg, gy


class LogSoftmax(Op, fn=""):
    """y = x − log Σ exp(x) along one dim; dx = g − exp(y) Σ g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        y = fused.softmax(x, dim, True) if usable(x) else _log_softmax(xp, x, dim)
        ctx.save(y, dim)
        return y

    def backward(ctx, g):
        y, dim = ctx.saved
        return log_softmax_backward(g, y, dim)


class LogSoftmaxBackward(Op, fn="", node="LogSoftmaxBackwardDataBackward0"):
    """dx = g − exp(y) Σ g: (…), (…) → (…)."""

    __slots__ = ()

    def forward(ctx, xp, g, y, /, dim):
        ctx.save(g, y, dim)
        if usable(y, g):
            return fused.softmax_backward(g, y, dim, True)
        dx = xp.exp(y)
        dx *= sums(xp, g, (dim,), True)
        return xp.subtract(g, dx, out=dx)

    def backward(ctx, h):
        g, y, dim = ctx.saved
        hp = h * exp(y)
        gg = h - total(hp, dim, True) if ctx.needs[0] else None
        gy = -hp * total(g, dim, True) if ctx.needs[1] else None
        return gg, gy


softmax_backward = SoftmaxBackward.fn
log_softmax_backward = LogSoftmaxBackward.fn


def softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    """exp(x) / Σ exp(x) along `dim`: positive, and 1 in sum; `dtype` converts the input first.

    IndexError for a dim that does not exist, NotImplementedError for a type that is no float.

    >>> import tinygrad_course as tg
    >>> softmax(tg.tensor([[0., 0.], [1e4, 0.]]), 1)
    tensor([[0.5000, 0.5000],
            [1.0000, 0.0000]])
    """
    return _along(Softmax.fn, "softmax", input, dim, dtype)


def log_softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    """x − log Σ exp(x) along `dim`: the logarithm of softmax; `dtype` converts the input first.

    IndexError for a dim that does not exist, NotImplementedError for a type that is no float.

    >>> import tinygrad_course as tg
    >>> log_softmax(tg.tensor([0., 1e4]), 0)
    tensor([-10000.,      0.])
    """
    return _along(LogSoftmax.fn, "log_softmax", input, dim, dtype)


def _along(function: Any, name: str, x: Any, dim: int, dtype: DType | None) -> Any:
    require_tensors(name, input=x)
    if dtype is not None:
        x = x.to(dtype)
    dim = wrap_dim(dim, x.ndim)
    if not x.is_floating_point() and x.numel():
        raise NotImplementedError(
            f"{name} is not implemented for {x.dtype!r}: convert with .float(), or pass dtype="
        )
    if x.ndim == 0:
        return function(x.unsqueeze(0), 0).squeeze(0)
    return function(x, dim)


for _name, _function in {"softmax": softmax, "log_softmax": log_softmax}.items():
    FUNCTIONS[_name] = _function
    setattr(Tensor, _name, _function)
