"""Matrix products: mm, bmm, mv, dot, and matmul, which chooses among them.

All arithmetic is BLAS's, through the array library; the derivatives are products again. Lesson 03.
"""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from ..shape import broadcast_shapes
from .registry import Op, function, method, with_out
from .views import expand, reshape, unsqueeze


def require_one_dtype(x, y):
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {x.dtype} != {y.dtype}: convert "
            "one with .to(...)"
        )


class Mm(Op, fn=""):
    """x @ y for matrices (n, k) and (k, m); dx = g @ yᵀ, dy = xᵀ @ g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y if ctx.needs[0] else None)
        return xp.matmul(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return (
            g @ y.swapaxes(0, 1) if ctx.needs[0] else None,
            x.swapaxes(0, 1) @ g if ctx.needs[1] else None,
        )


class Bmm(Op, fn=""):
    """x[i] @ y[i] for batches of matrices; dx[i] = g[i] @ y[i]ᵀ, dy[i] = x[i]ᵀ @ g[i]."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y if ctx.needs[0] else None)
        return xp.matmul(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return (
            g @ y.swapaxes(1, 2) if ctx.needs[0] else None,
            x.swapaxes(1, 2) @ g if ctx.needs[1] else None,
        )


class Mv(Op, fn=""):
    """x @ y for a matrix (n, k) and a vector (k,); dx = outer(g, y), dy = xᵀ @ g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y if ctx.needs[0] else None)
        return xp.matmul(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return (
            g.reshape((-1, 1)) * y if ctx.needs[0] else None,
            x.swapaxes(0, 1) @ g if ctx.needs[1] else None,
        )


class Dot(Op, fn=""):
    """Σ x·y for vectors; dx = g·y, dy = g·x."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /):
        ctx.save(x if ctx.needs[1] else None, y if ctx.needs[0] else None)
        return xp.matmul(x, y)

    def backward(ctx, g):
        x, y = ctx.saved
        return g * y if ctx.needs[0] else None, g * x if ctx.needs[1] else None


class Vdot(Dot, fn=""):
    """The same, under the name for complex numbers."""

    __slots__ = ()
    forward = Dot.forward


@with_out
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n, k) and (k, m); no broadcasting.

    >>> import tinygrad_course as tg
    >>> mm(tg.ones(2, 3), tg.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    for name, m in (("self", input), ("mat2", mat2)):
        if m.ndim != 2:
            raise RuntimeError(
                f"{name} must be a matrix, but has shape {list(m.shape)}: use matmul for other "
                "shapes"
            )
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, input.shape))} and "
            f"{'x'.join(map(str, mat2.shape))}): the columns of the first must be as many as the "
            "rows of the second"
        )
    require_one_dtype(input, mat2)
    return Mm.fn(input, mat2)


@with_out
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices, (b, n, k) and (b, k, m)."""
    for name, m in (("batch1", input), ("batch2", mat2)):
        if m.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor, but has shape {list(m.shape)}")
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input.shape[0]}, "
            f"{input.shape[2]}] but got: "
            f"[{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    require_one_dtype(input, mat2)
    return Bmm.fn(input, mat2)


@with_out
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n, k) and a vector (k,)."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {vec.ndim}D vector and {input.ndim}D matrix"
        )
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({input.shape[0]}), mat "
            f"({input.shape[0]}x{input.shape[1]}), vec ({vec.shape[0]})"
        )
    require_one_dtype(input, vec)
    return Mv.fn(input, vec)


@with_out
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Σ input·tensor for two vectors of equal length.

    >>> import tinygrad_course as tg
    >>> dot(tg.tensor([1., 2.]), tg.tensor([3., 4.]))
    tensor(11.)
    """
    _require_vectors(input, tensor)
    return Dot.fn(input, tensor)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """As `dot` (real numbers have nothing to conjugate).

    >>> import tinygrad_course as tg
    >>> vdot(tg.tensor([1., 2.]), tg.tensor([3., 4.]))
    tensor(11.)
    """
    _require_vectors(input, other)
    return Vdot.fn(input, other)


def _require_vectors(input: Tensor, tensor: Tensor) -> None:
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input.shape)} and src "
            f"{list(tensor.shape)} to have the same number "
            "of elements"
        )
    require_one_dtype(input, tensor)


@with_out
def matmul(input: Any, other: Any) -> Any:
    """The matrix product as `@` means it: vectors, matrices, and batches of matrices that
    broadcast.

    >>> import tinygrad_course as tg
    >>> matmul(tg.ones(2, 1, 3, 4), tg.ones(5, 4, 6)).shape
    torch.Size([2, 5, 3, 6])
    """
    x, y = input, other
    for v in (x, y):
        if not isinstance(v, Tensor):
            raise TypeError(f"matmul(): both operands must be Tensors, not {type(v).__name__}")
        if v.ndim == 0:
            raise RuntimeError(
                "both arguments to matmul need to be at least 1D, but they are "
                f"{x.ndim}D and {y.ndim}D"
            )
    if x.ndim == 1 and y.ndim == 1:
        return dot(x, y)
    if x.ndim == 2 and y.ndim == 2:
        return mm(x, y)
    if x.ndim == 2 and y.ndim == 1:
        return mv(x, y)
    if x.ndim == 1:
        return matmul(unsqueeze(x, 0), y).squeeze(-2)
    if y.ndim == 1:
        return matmul(x, unsqueeze(y, -1)).squeeze(-1)
    if y.ndim == 2:  # one matrix for the whole batch: a single larger product
        rows = reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
        return mm(rows, y).view(*x.shape[:-1], y.shape[1])

    batch = tuple(broadcast_shapes(x.shape[:-2], y.shape[:-2]))
    n = math.prod(batch)
    left = reshape(expand(x, (*batch, *x.shape[-2:])), (n, *x.shape[-2:]))
    right = reshape(expand(y, (*batch, *y.shape[-2:])), (n, *y.shape[-2:]))
    return bmm(left, right).view(*batch, x.shape[-2], y.shape[-1])


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """out[i, j] = input[i]·vec2[j] for two vectors.

    >>> import tinygrad_course as tg
    >>> outer(tg.tensor([1, 2]), tg.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    if input.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"outer: Expected 1-D arguments, got {input.ndim}D and {vec2.ndim}D")
    return reshape(input, (-1, 1)) * vec2


def _operator(self: Tensor, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


function(mm, bmm, mv, dot, vdot, matmul, outer, ger=outer)
method(mm, bmm, mv, dot, vdot, matmul, outer, ger=outer, __matmul__=_operator)
