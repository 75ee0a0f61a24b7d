"""Products over chosen dims: tensordot and inner, which are matrix products of rearranged tensors;
kron and cross. Lesson 03."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..autograd.variable import Tensor
from ..shape import broadcast_shapes, wrap_dim
from .dims import row_major
from .linalg import dot, mm
from .permute import permute
from .registry import Op, function, method, with_out
from .views import expand, reshape, view


@with_out
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sums of products over pairs of dims: the last `dims` of a with the first of b, or the dims
    that two lists name.

    >>> import tinygrad_course as tg
    >>> tensordot(tg.ones(2, 3, 4), tg.ones(4, 3), dims=([1, 2], [1, 0]))
    tensor([12., 12.])
    """
    over_a, over_b = _contracted(a, b, dims)
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"tensordot: both inputs should have same dtype, got {a.dtype!r}, {b.dtype!r}"
        )
    for i, j in zip(over_a, over_b, strict=True):
        if a.shape[i] == 1 or b.shape[j] == 1:  # one broadcasts: sum the other alone
            a = a.sum(i, keepdim=True, dtype=a.dtype) if b.shape[j] == 1 else a
            b = b.sum(j, keepdim=True, dtype=b.dtype) if a.shape[i] == 1 else b
        elif a.shape[i] != b.shape[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} "
                f"and second has size {b.shape[j]} in dim {j}"
            )
    rest_a = [d for d in range(a.ndim) if d not in over_a]
    rest_b = [d for d in range(b.ndim) if d not in over_b]
    size = [a.shape[d] for d in rest_a] + [b.shape[d] for d in rest_b]
    inner = math.prod(a.shape[d] for d in over_a)
    x, y = permute(a, (*rest_a, *over_a)), permute(b, (*over_b, *rest_b))
    if not size:
        product = dot(reshape(x, (inner,)), reshape(y, (inner,)))
    else:
        rows = math.prod(a.shape[d] for d in rest_a)
        columns = math.prod(b.shape[d] for d in rest_b)
        product = mm(reshape(x, (rows, inner)), reshape(y, (inner, columns)))
    return view(product, size)


def _contracted(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    """The dims of a and of b to sum over, in pairs."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    pairs = []
    for given, x in zip(dims, (a, b), strict=True):
        if not isinstance(given, Sequence):
            raise TypeError(f"tensordot(): dims are two tuples of ints, not {dims!r}")
        pairs.append([wrap_dim(d, x.ndim) for d in given])
    if len(pairs[0]) != len(pairs[1]):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got {dims}")
    if any(len(set(p)) != len(p) for p in pairs):
        raise RuntimeError(f"tensordot: a dim appears several times in {dims}")
    return pairs[0], pairs[1]


@with_out
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dims; for a number the product with it.

    >>> import tinygrad_course as tg
    >>> inner(tg.tensor([[1., 2.], [3., 4.]]), tg.tensor([1., 10.]))
    tensor([21., 43.])
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"inner: both inputs should have same dtype, got {input.dtype!r} and {other.dtype!r}"
        )
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@with_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of `input` times the whole of `other`, in its place.

    >>> import tinygrad_course as tg
    >>> kron(tg.tensor([1, 10]), tg.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
    """
    ndim = max(input.ndim, other.ndim)
    a, b = ((1,) * (ndim - v.ndim) + tuple(v.shape) for v in (input, other))
    # Every dim becomes two, of which one is of size 1 in either factor.
    x = reshape(input, [n for size in a for n in (size, 1)])
    y = reshape(other, [n for size in b for n in (1, size)])
    return view(x * y, [n * m for n, m in zip(a, b, strict=True)])


class LinalgCross(Op, fn=""):
    """The cross product x × y along a dim of size 3; dx = y × g, dy = g × x."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, dim):
        ctx.save(x, y, dim)
        return row_major(xp.cross(x, y, axis=dim))

    def backward(ctx, g):
        x, y, dim = ctx.saved
        gx = LinalgCross.fn(y, g, dim) if ctx.needs[0] else None
        return gx, LinalgCross.fn(g, x, dim) if ctx.needs[1] else None


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of three along `dim`; other dims broadcast.

    >>> import tinygrad_course as tg
    >>> linalg_cross(tg.tensor([1., 0., 0.]), tg.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, and have "
            f"{input.ndim} and {other.ndim}"
        )
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and "
            f"{other.shape[dim]}"
        )
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"linalg.cross: expected one dtype, but found {input.dtype!r} and {other.dtype!r}"
        )
    shape = broadcast_shapes(input.shape, other.shape)
    x, y = (v if v.shape == shape else expand(v, shape) for v in (input, other))
    return LinalgCross.fn(x, y, dim)


@with_out
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """As `linalg.cross`; without `dim` along the first dim of size 3.

    >>> import tinygrad_course as tg
    >>> cross(tg.tensor([1., 0., 0.]), tg.tensor([0., 0., 1.]), dim=0)
    tensor([ 0., -1.,  0.])
    """
    if dim is None:
        dims = [i for i, n in enumerate(input.shape) if n == 3]
        if not dims:
            raise RuntimeError(
                f"cross: no dimension of size 3 in input of shape {list(input.shape)}"
            )
        dim = dims[0]
        warnings.warn(
            f"cross without dim= takes the first dim of size 3, here {dim}, which is deprecated: "
            "pass dim=, or use linalg.cross, where it is -1",
            UserWarning,
            stacklevel=3,
        )
    return linalg_cross(input, other, dim=dim)


function(tensordot, inner, kron, cross)
method(inner, kron, cross)
