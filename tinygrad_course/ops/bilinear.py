"""bilinear: numbers that are linear in each of two inputs, x1ᵀ W x2 + b with a matrix W per output.

With three factors that it is linear in, each of its gradients is such a form of the two others.
Knows arrays only; the layer that owns W and b is in nn. Lesson 09.
"""

from __future__ import annotations

import math
from typing import Any

from .arguments import require_tensors
from .permute import permute
from .registry import Op, function


class Trilinear(Op, fn=""):
    """y[n, o] = Σ x[n, i] w[o, i, j] z[n, j]: (N, I), (O, I, J), (N, J) → (N, O)."""

    __slots__ = ()

    def forward(ctx, xp, x, w, z, /):
        first, second, third = ctx.needs[:3]
        ctx.save(
            x if second or third else None,
            w if first or third else None,
            z if first or second else None,
            w.shape,
        )
        o, i, j = w.shape
        half = (x @ w.swapaxes(0, 1).reshape(i, o * j)).reshape(len(x), o, j)
        return xp.matmul(half, z[:, :, None])[:, :, 0]

    def backward(ctx, g):
        x, w, z, (o, i, j) = ctx.saved
        gw = None
        if ctx.needs[1]:
            products = (x[:, :, None] * z[:, None, :]).reshape((len(x), i * j))
            gw = (permute(g, (1, 0)) @ products).reshape((o, i, j))
        return (
            Trilinear.fn(g, permute(w, (1, 0, 2)), z) if ctx.needs[0] else None,
            gw,
            Trilinear.fn(g, permute(w, (2, 0, 1)), x) if ctx.needs[2] else None,
        )


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x1ᵀ weight[o] x2 + bias[o] over the last dim of both inputs.

    `input1` (…, I), `input2` (…, J), `weight` (O, I, J) and `bias` (O) give (…, O). RuntimeError
    for sizes and types that do not fit each other.

    >>> import tinygrad_course as tg
    >>> w = tg.tensor([[[1., 0.], [0., 10.]]])
    >>> bilinear(tg.tensor([1., 2.]), tg.tensor([3., 4.]), w)
    tensor([83.])
    """
    require_tensors("bilinear", input1=input1, input2=input2, weight=weight, bias=bias)
    first, second, sizes = (tuple(x.shape) for x in (input1, input2, weight))
    if len(first) != len(second):
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}"
        )
    if not first:
        raise IndexError("bilinear(): Dimension specified as -1 but tensor has no dimensions")
    if first[:-1] != second[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(first[:-1])} and "
            f"{list(second[:-1])}"
        )
    if len(sizes) != 3 or sizes[1:] != (first[-1], second[-1]):
        raise RuntimeError(
            f"bilinear(): weight must be (out, {first[-1]}, {second[-1]}) for inputs of these "
            f"sizes, it is {list(sizes)}"
        )
    if bias is not None and tuple(bias.shape) != sizes[:1]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {list(bias.shape)} but "
            f"expected [{sizes[0]}]"
        )
    if not input1.dtype is input2.dtype is weight.dtype:
        raise RuntimeError(
            f"bilinear(): All tensors must have the same dtype, got input1: {input1.dtype!r}, "
            f"input2: {input2.dtype!r}, weight: {weight.dtype!r}"
        )
    n = math.prod(first[:-1])
    rows = Trilinear.fn(input1.reshape(n, first[-1]), weight, input2.reshape(n, second[-1]))
    y = rows.reshape((*first[:-1], sizes[0]))
    return y if bias is None else y + bias


function(bilinear)
