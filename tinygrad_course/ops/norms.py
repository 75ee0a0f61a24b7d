"""Norms: the length of a tensor read as a vector, (Σ |x|^p)^(1/p), over all dims or some.

Where the norm has a corner, at 0, its gradient is 0, as PyTorch has it. Lesson 03.
"""

from __future__ import annotations

import math

import numpy as np

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..shape import wrap_dims
from .convert import to_dtype
from .dims import count, numpy_type, row_major, spread
from .elementwise import sign, where
from .reduce import total
from .registry import Op, function, method, write_out


class VectorNorm(Op, fn="", node="LinalgVectorNormBackward0"):
    """(Σ |x|^p)^(1/p) over `dim`: the number of nonzeros for p = 0, the largest for ∞, the smallest
    for -∞.

    dx = g·sign(x)·(|x| / y)^(p - 1); for ±∞, g shared equally among those that are it.
    """

    __slots__ = ()

    def forward(ctx, xp, x, /, p, dim=None, keepdim=False, dtype=None):
        if x.dtype.kind != "f":
            raise RuntimeError(
                "linalg.vector_norm: Expected a floating point tensor as input. Got "
                f"{x.dtype}: convert with .float()"
            )
        dims = wrap_dims(dim, x.ndim)
        kind = np.dtype(numpy_type(dtype, x))
        # 16 bits end at 65,504, and the square of 256 lies beyond.
        wide = x.astype(np.float32 if kind.itemsize == 2 else kind, copy=False)
        size = wide if p == 2 else xp.abs(wide)
        if not count(size, dims) and (p < 0 or p == math.inf):
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the "
                "operation does not have an identity"
            )
        if p == math.inf:
            y = size.max(dims, keepdims=keepdim)
        elif p == -math.inf:
            y = size.min(dims, keepdims=keepdim)
        elif p == 0:
            y = (size != 0).sum(dims, keepdims=keepdim, dtype=size.dtype)
        elif p == 1:
            y = size.sum(dims, keepdims=keepdim)
        elif p == 2:
            y = xp.sqrt((wide * wide).sum(dims, keepdims=keepdim))
        else:
            y = (size**p).sum(dims, keepdims=keepdim) ** (1 / p)
        y = row_major(xp.asarray(y).astype(kind, copy=False))
        ctx.save(x, y, p, dims, keepdim)
        return y

    def backward(ctx, g):
        x, y, p, dims, keepdim = ctx.saved
        g, y = (spread(v, x.shape, dims, keepdim) for v in (g, y))
        source, x = x.dtype, to_dtype(x, y.dtype)
        if p == 0:
            gx = blank(g)
        elif p == 1:
            gx = g * sign(x)
        elif p == 2:
            gx = g * where(y == 0, y * 0, x / y)
        elif math.isinf(p):
            is_it = abs(x) == y
            gx = sign(x) * is_it * (g / to_dtype(total(is_it, dims, True), g.dtype))
        elif p < 1:
            gx = where(x == 0, x * 0, sign(x) * abs(x) ** (p - 1)) * g * y ** (1 - p)
        else:
            rate = sign(x) * abs(x) ** (p - 1) if p < 2 else x * abs(x) ** (p - 2)
            scale = g * y ** (1 - p) if p < 2 else g / y ** (p - 1)
            gx = rate * where(y == 0, blank(g), scale)
        return to_dtype(gx, source)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over `dim` (all): (Σ |x|^p)^(1/p), p a number or ±inf; "fro" is the same as 2.

    RuntimeError for integers, and for the largest of no elements.

    >>> import tinygrad_course as tg
    >>> norm(tg.tensor([3., -4.])), norm(tg.tensor([3., -4.]), 1)
    (tensor(5.), tensor(7.))
    """
    if p == "nuc":
        raise NotImplementedError("norm(): the nuclear norm, p='nuc', needs an SVD, left out here")
    if p is None or p == "fro":
        p = 2
    if not isinstance(p, int | float):
        raise RuntimeError(f"norm(): order {p!r} not supported: a number, inf, -inf or 'fro' is")
    return write_out(VectorNorm.fn(input, p, dim, keepdim, dtype), out)


def dist(input, other, p=2):
    """The p-norm of input - other, which broadcast.

    >>> import tinygrad_course as tg
    >>> dist(tg.tensor([1., 2.]), tg.tensor([4., 6.]))
    tensor(5.)
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"dist(): argument 'other' must be Tensor, not {type(other).__name__}")
    return norm(input - other, p)


function(norm, dist)
method(norm, dist)
