"""linear: y = x Wᵀ + b in one operation, over any leading dims.

The matrix product and the addition of the bias are one node, whose inputs come in the order of
PyTorch's addmm: bias, input, weight. Knows arrays only; the layer that owns W and b is in nn.
Lessons 03 and 09.
"""

from __future__ import annotations

import math
from typing import Any

from .arguments import require_tensors
from .registry import Op


def _rows(x):
    """x as a matrix of one row per sample."""
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _product(x, w):
    """x wᵀ over the last dim of x, as a matrix of one row per sample."""
    rows = _rows(x)
    if 8 <= len(rows) <= 64:
        # OpenBLAS is up to twice as fast on few rows when they are the columns of the right factor.
        return (w @ rows.T).T
    return rows @ w.T


def _as_before(y, x):
    """The rows y, made of those of x, with the leading dims of x."""
    return y if x.ndim == 2 else y.reshape(*x.shape[:-1], y.shape[-1])


def _gradients(ctx, g):
    """Those of x and w, and g as a matrix of one row per sample."""
    x, w = ctx.saved
    rows = _rows(g)
    gx = _as_before(rows @ w, g) if ctx.needs[-2] else None
    gw = rows.T @ _rows(x) if ctx.needs[-1] else None
    return gx, gw, rows


class Linear(Op, fn="", node="MmBackward0"):
    """y = x wᵀ: (…, I), (O, I) → (…, O); dx = g w, dw = gᵀ x."""

    __slots__ = ()

    def forward(ctx, xp, x, w, /):
        ctx.save(x if ctx.needs[1] else None, w if ctx.needs[0] else None)
        return _as_before(xp.ascontiguousarray(_product(x, w)), x)

    def backward(ctx, g):
        gx, gw, _ = _gradients(ctx, g)
        return gx, gw


class LinearBias(Op, fn="", node="AddmmBackward0"):
    """y = x wᵀ + b: (O,), (…, I), (O, I) → (…, O); dx = g w, dw = gᵀ x, db = Σ g."""

    __slots__ = ()

    def forward(ctx, xp, b, x, w, /):
        ctx.save(x if ctx.needs[2] else None, w if ctx.needs[1] else None)
        y = _product(x, w)
        y = xp.add(y, b, out=y if y.flags.c_contiguous else xp.empty(y.shape, y.dtype))
        return _as_before(y, x)

    def backward(ctx, g):
        gx, gw, rows = _gradients(ctx, g)
        return rows.sum(0) if ctx.needs[0] else None, gx, gw


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """A linear map of the last dim: y = input weightᵀ + bias.

    `input` (…, I), `weight` (O, I), `bias` (O) give (…, O); a `weight` (I) gives (…). RuntimeError
    when the sizes or dtypes do not fit each other.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.linear(tg.tensor([1., 2.]), tg.tensor([[3., 4.]]), tg.tensor([10.]))
    tensor([21.])
    """
    require_tensors("linear", input=input, weight=weight, bias=bias)
    shape, weights, dtype = input._array.shape, weight._array.shape, input.dtype
    if not shape or not weights:
        raise RuntimeError(
            f"linear: input and weight need at least 1 dim, they have {len(shape)} and "
            f"{len(weights)}"
        )
    if len(weights) > 2:
        raise RuntimeError(f"linear: weight has at most 2 dims (out, in), got {list(weights)}")
    if shape[-1] != weights[-1]:
        raise RuntimeError(
            f"linear: mat1 and mat2 shapes cannot be multiplied: input {list(shape)} has "
            f"{shape[-1]} features and weight {list(weights)} takes {weights[-1]}"
        )
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype is not dtype:
            raise RuntimeError(
                f"linear: expected input and {name} to have the same dtype, but got {dtype} "
                f"and {other.dtype}: convert one with .to()"
            )
    if len(weights) == 1:
        y = Linear.fn(input, weight.unsqueeze(0)).squeeze(-1)
        return y if bias is None else y + bias
    if bias is None:
        return Linear.fn(input, weight)
    if bias._array.shape != weights[:1]:
        return Linear.fn(input, weight) + _stretched(bias, (*shape[:-1], weights[0]))
    return LinearBias.fn(bias, input, weight)


def _stretched(bias: Any, shape: tuple[int, ...]) -> Any:
    """A bias of another shape than (O,), which PyTorch broadcasts as long as the result keeps its
    shape."""
    try:
        return bias.expand(shape)
    except RuntimeError as error:
        raise RuntimeError(
            f"linear: a bias of shape {list(bias.shape)} does not expand to the output's "
            f"{list(shape)}: {error}"
        ) from None
