"""Distances between rows and the angle of two, and rows kept short.

Distances are p-norms of differences: of rows one to one, of all with all (`cdist`), or of all pairs
of one matrix (`pdist`). The gradient is 0 where a distance is. Lesson 03.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from ..autograd.variable import Tensor
from ..dtype import result_type
from ..shape import broadcast_shapes, wrap_dim
from .arguments import require_tensors
from .bounds import floored
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


def _lengths(xp, d, p):
    """The p-norms of the rows of d."""
    size = xp.abs(d)
    if p == 0:
        return (size != 0).sum(-1, dtype=d.dtype)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return xp.sqrt((size * size).sum(-1))
    if p == math.inf:
        return size.max(-1) if size.shape[-1] else xp.zeros(size.shape[:-1], d.dtype)
    return (size**p).sum(-1) ** (1 / p)


def _rates(xp, g, d, out, p):
    """The gradient of `out`, the p-norms of the rows of d, for d: g·sign(d)·(|d| / out)^(p - 1); 0
    where out is."""
    g, out = g[..., None], out[..., None]
    if p == 0:
        return d * 0
    if p == 1:
        return g * xp.sign(d)
    if p == math.inf:
        return g * xp.sign(d) * (xp.abs(d) == out)
    safe = xp.where(d == 0, 1, xp.abs(d))  # 0 to a negative power is none of our business
    power = xp.where((d == 0) & (p < 1), 0, xp.sign(d)) * safe ** (p - 1)
    return xp.where(out == 0, 0, g * power / xp.where(out == 0, 1, out) ** (p - 1))


class Cdist(Op, fn=""):
    """The p-norm of x[i] - y[j] for all rows i and j: (…, n, k), (…, m, k) → (…, n, m)."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, p):
        out = row_major(_lengths(xp, x[..., :, None, :] - y[..., None, :, :], p))
        ctx.save(x, y, out, p)
        return out

    def backward(ctx, g):
        return CdistBackward.fn(g, *ctx.saved)


class CdistBackward(Op, fn=""):
    """The gradients of Cdist, summed over the rows of the other; PyTorch has no second derivative
    either."""

    __slots__ = ()

    def forward(ctx, xp, g, x, y, out, /, p):
        rate = _rates(xp, g, x[..., :, None, :] - y[..., None, :, :], out, p)
        return rate.sum(-2), -rate.sum(-3)

    def backward(ctx, *grads):
        raise RuntimeError("derivative for the backward of cdist is not implemented, as in PyTorch")


class Pdist(Op, fn=""):
    """The p-norm of x[i] - x[j] for all rows i < j: (n, k) → (n (n - 1) / 2)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, p):
        i, j = _pairs(xp, len(x))
        out = row_major(_lengths(xp, x[i] - x[j], p))
        ctx.save(x, out, p)
        return out

    def backward(ctx, g):
        return PdistBackward.fn(g, *ctx.saved)


class PdistBackward(Op, fn=""):
    """dx[i] = the rates of the pairs (i, j) less those of the pairs (j, i)."""

    __slots__ = ()

    def forward(ctx, xp, g, x, out, /, p):
        i, j = _pairs(xp, len(x))
        rates = xp.zeros((len(x), len(x), x.shape[1]), x.dtype)
        rates[i, j] = _rates(xp, g, x[i] - x[j], out, p)
        return rates.sum(1) - rates.sum(0)

    def backward(ctx, *grads):
        raise NotImplementedError(
            "the derivative for the backward of pdist is not implemented, as in PyTorch"
        )


def _pairs(xp, n):
    """The places above the diagonal of a matrix (n, n), row by row."""
    rows = xp.arange(n)
    return xp.nonzero(rows[:, None] < rows)


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


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-distances between all pairs of rows of `input` (n, k), as a vector of n (n - 1) / 2:
    what `cdist` of it with itself has above the diagonal, row by row.

    >>> import tinygrad_course as tg
    >>> pdist(tg.tensor([[0., 0.], [3., 4.], [0., 1.]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    require_tensors("pdist", input=input)
    if not isinstance(p, int | float):
        raise TypeError(f"pdist(): argument 'p' must be float, not {type(p).__name__}")
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {input.dtype!r}")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    return Pdist.fn(input, p)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dim: (…, k), (…, k) → (…), which broadcast.

    >>> import tinygrad_course as tg
    >>> pairwise_distance(tg.tensor([[0., 0.]]), tg.tensor([[3., 4.]]))
    tensor([5.0000])
    """
    require_tensors("pairwise_distance", x1=x1, x2=x2)
    return VectorNorm.fn(x1 - x2 + eps, p, -1, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1·x2 / (|x1| |x2|) along `dim`, the cosine of their angle; each length counts as `eps` at
    least. Shapes are broadcast. RuntimeError when neither holds floats.

    >>> import tinygrad_course as tg
    >>> cosine_similarity(tg.tensor([[1., 0.]]), tg.tensor([[3., 4.]]))
    tensor([0.6000])
    """
    require_tensors("cosine_similarity", x1=x1, x2=x2)
    dtype = result_type(x1._array, x2._array)
    if not dtype.is_floating_point:
        raise RuntimeError(
            "cosine_similarity: expected common dtype to be floating point, yet common dtype is "
            f"{dtype!r}: convert with .float()"
        )
    shape = broadcast_shapes(x1.shape, x2.shape)
    dim = wrap_dim(dim, len(shape))
    units = []
    for x in (x1, x2):
        x = expand(x.to(dtype), shape)
        # As in PyTorch, a length raised to eps keeps the derivative that it had.
        units.append(x / floored(VectorNorm.fn(x, 2, dim, True), eps))
    return total(units[0] * units[1], dim)


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


function(cdist, cosine_similarity, pairwise_distance, pdist, renorm)
method(renorm, renorm_)
