"""linear: y = x Wᵀ + b in one operation, over any leading dims.

The matrix product and the addition of the bias are one node, whose inputs come in the order of
PyTorch's addmm: bias, input, weight. Knows arrays only; the layer that owns W and b is in nn.
Lessons 03 and 09.
"""

from __future__ import annotations

from typing import Any

from .registry import Op


class Linear(Op, fn="", node="AddmmBackward0"):
    """y = x wᵀ + b: (O,), (…, I), (O, I) → (…, O); dx = g w, dw = gᵀ x, db = Σ g."""

    __slots__ = ()

    def forward(ctx, xp, b, x, w, /):
        ctx.save(x, w)
        rows = x.reshape(-1, x.shape[-1])
        if 8 <= len(rows) <= 48:
            # OpenBLAS is up to twice as fast on few rows when they are the columns of the right
            # factor.
            y = (w @ rows.T).T
        else:
            y = rows @ w.T
        if b is None:
            y = xp.ascontiguousarray(y)
        elif y.flags.c_contiguous:
            y += b
        else:
            y = xp.add(y, b, out=xp.empty(y.shape, y.dtype))
        return y.reshape(*x.shape[:-1], len(w))

    def backward(ctx, g):
        x, w = ctx.saved
        rows = g.reshape(-1, g.shape[-1])
        gb = rows.sum(0) if ctx.needs[0] else None
        gx = (rows @ w).reshape(*x.shape) if ctx.needs[1] else None
        gw = rows.T @ x.reshape(-1, x.shape[-1]) if ctx.needs[2] else None
        return gb, gx, gw


_linear = Linear.fn


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """A linear map of the last dim: y = input weightᵀ + bias.

    `input` (…, I), `weight` (O, I), `bias` (O) give (…, O); a `weight` (I) gives (…). RuntimeError
    when the sizes or dtypes do not fit each other.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.linear(tg.tensor([1., 2.]), tg.tensor([[3., 4.]]), tg.tensor([10.]))
    tensor([21.])
    """
    shape, weights = tuple(input.shape), tuple(weight.shape)
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
        if other is not None and other.dtype != input.dtype:
            raise RuntimeError(
                f"linear: expected input and {name} to have the same dtype, but got {input.dtype} "
                f"and {other.dtype}: convert one with .to()"
            )
    if len(weights) == 1:
        y = _linear(None, input, weight.unsqueeze(0)).squeeze(-1)
        return y if bias is None else y + bias
    if bias is not None and tuple(bias.shape) != weights[:1]:
        return _linear(None, input, weight) + _stretched(bias, (*shape[:-1], weights[0]))
    return _linear(bias, input, weight)


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
