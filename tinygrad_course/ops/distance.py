"""Distances between rows, and rows kept short: cdist and renorm. Lesson 03."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from ..autograd.variable import Tensor
from ..shape import broadcast_shapes, wrap_dim
from .dims import row_major
from .elementwise import where
from .inplace import change
from .norms import VectorNorm
from .reduce import total
from .registry import Op, function, method
from .views import expand

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


class Cdist(Op, fn=""):
    """The p-norm of x[i] - y[j] for all rows i and j: (…, n, k), (…, m, k) → (…, n, m)."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, p):
        size = xp.abs(x[..., :, None, :] - y[..., None, :, :])
        if p == 0:
            out = (size != 0).sum(-1, dtype=x.dtype)
        elif p == 1:
            out = size.sum(-1)
        elif p == 2:
            out = xp.sqrt((size * size).sum(-1))
        elif p == math.inf:
            out = size.max(-1) if size.shape[-1] else xp.zeros(size.shape[:-1], x.dtype)
        else:
            out = (size**p).sum(-1) ** (1 / p)
        out = row_major(out)
        ctx.save(x, y, out, p)
        return out

    def backward(ctx, g):
        return CdistBackward.fn(g, *ctx.saved)


class CdistBackward(Op, fn=""):
    """The gradients of Cdist: g·sign(d)·(|d| / out)^(p - 1) summed over the rows of the other, for
    the differences d; 0 where out is 0, as in PyTorch, which has no second derivative either."""

    __slots__ = ()

    def forward(ctx, xp, g, x, y, out, /, p):
        d = x[..., :, None, :] - y[..., None, :, :]
        g, out = g[..., None], out[..., None]
        if p == 0:
            rate = d * 0
        elif p == 1:
            rate = g * xp.sign(d)
        elif p == math.inf:
            rate = g * xp.sign(d) * (xp.abs(d) == out)
        else:
            safe = xp.where(d == 0, 1, xp.abs(d))  # 0 to a negative power is none of our business
            power = xp.where((d == 0) & (p < 1), 0, xp.sign(d)) * safe ** (p - 1)
            rate = xp.where(out == 0, 0, g * power / xp.where(out == 0, 1, out) ** (p - 1))
        return rate.sum(-2), -rate.sum(-3)

    def backward(ctx, *grads):
        raise RuntimeError("derivative for the backward of cdist is not implemented, as in PyTorch")


class EuclideanDist(Op, fn=""):
    """The same for p = 2 by one matrix product, since |x - y|² = |x|² - 2 x·y + |y|²; dx[i] =
    Σ_j (x[i] - y[j]) g[i, j] / out[i, j], 0 where out is."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        squares = (x * x).sum(-1)[..., :, None] + (y * y).sum(-1)[..., None, :]
        out = xp.sqrt(xp.maximum(squares - 2 * xp.matmul(x, y.swapaxes(-2, -1)), 0))
        ctx.save(x, y, out)
        return out

    def backward(ctx, g):
        x, y, out = ctx.saved
        ratio = g * (out != 0) / (out + (out == 0))
        gx = x * ratio.sum(-1)[..., :, None] - ratio @ y
        gy = y * ratio.sum(-2)[..., :, None] - ratio.swapaxes(-2, -1) @ x
        return gx if ctx.needs[0] else None, gy if ctx.needs[1] else None


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = _MODES[0]) -> Tensor:
    """The p-distances between all rows of x1 (…, n, k) and x2 (…, m, k), as (…, n, m).

    Euclidean distances of many rows (more than 25, or as `compute_mode` says) come from one matrix
    product.

    >>> import tinygrad_course as tg
    >>> cdist(tg.tensor([[0., 0.]]), tg.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    if compute_mode is not None and compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode: {_MODES}")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype!r}"
            )
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"cdist: X1 and X2 must have one dtype, got {x1.dtype!r}, {x2.dtype!r}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    x, y = (v if v.shape[:-2] == batch else expand(v, (*batch, *v.shape[-2:])) for v in (x1, x2))
    many = compute_mode in (None, _MODES[0]) and max(x.shape[-2], y.shape[-2]) > 25
    if p == 2 and (many or compute_mode == _MODES[1]):
        return EuclideanDist.fn(x, y)
    return Cdist.fn(x, y, p)


class Renorm(Op, fn=""):
    """x with its slices of all dims but `dims` scaled by m / n where their norm n exceeds m; dx =
    (m / n) (g - Σ(g·x) / n · dn/dx) for those, g for the others."""

    __slots__ = ()

    def forward(ctx, xp, x, /, p, dims, maxnorm):
        ctx.save(x, p, dims, maxnorm)
        norms = VectorNorm.fn(x, p, dims, True)
        return row_major(x * _factor(norms, maxnorm))

    def backward(ctx, g):
        x, p, dims, maxnorm = ctx.saved
        norms = VectorNorm.fn(x, p, dims, True)
        factor = _factor(norms, maxnorm)
        pull = -total(g * x, dims, True) * factor / (norms + _EPSILON) * (norms > maxnorm)
        norm: Any = SimpleNamespace(saved=(x, norms, p, dims, True))  # all its formula asks for
        return g * factor + VectorNorm.backward(norm, pull)


_EPSILON = 1e-7


def _factor(norms: Any, maxnorm: float) -> Any:
    return where(norms > maxnorm, maxnorm / (norms + _EPSILON), 1.0)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """A copy in which each slice of `dim` whose p-norm exceeds `maxnorm` is scaled down to it.

    >>> import tinygrad_course as tg
    >>> renorm(tg.tensor([[3., 4.], [0.3, 0.4]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    return Renorm.fn(input, p, _checked(input, p, dim, maxnorm), maxnorm)


def renorm_(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """As `renorm`, of this tensor itself."""
    dims = _checked(self, p, dim, maxnorm)
    return change(Renorm, self, (), {"p": p, "dims": dims, "maxnorm": maxnorm})


def _checked(input: Tensor, p: float, dim: int, maxnorm: float) -> tuple[int, ...]:
    """The dims over which the norms are taken."""
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )
    dim = wrap_dim(dim, input.ndim)
    return tuple(d for d in range(input.ndim) if d != dim)


function(cdist, renorm)
method(renorm, renorm_)
