"""Elements in another place: flipped, rolled, turned; and triangles and diagonals.

All of these copy, where PyTorch's do: a tensor has no negative strides. Each one's derivative is
another of its kind. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..autograd.variable import Tensor
from ..shape import as_int, size_args, wrap_dim, wrap_dims
from .convert import memory_order
from .dims import row_major
from .inplace import change
from .registry import Op, function, method, with_out
from .slices import Put
from .strided import Diagonal, diagonal_at, diagonal_dims
from .views import reshape, sized


class _Flip(Op, fn="", node="FlipBackward0"):
    """x backwards along some dims; dx = flip(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dims):
        ctx.save(dims)
        return xp.array(xp.flip(x, dims), order=memory_order(x))

    def backward(ctx, g):
        return _Flip.fn(g, *ctx.saved)


def flip(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A copy in reverse order along some dims.

    >>> import tinygrad_course as tg
    >>> flip(tg.tensor([[1, 2], [3, 4]]), (0,))
    tensor([[3, 4],
            [1, 2]])
    """
    if not isinstance(dims, Sequence):
        raise TypeError(f"flip(): dims must be a tuple of ints, not {type(dims).__name__}")
    wrapped = wrap_dims(tuple(dims), input.ndim) if len(dims) else ()
    return _Flip.fn(input, wrapped)


def fliplr(input: Tensor) -> Tensor:
    """Left and right exchanged: dim 1 flipped.

    >>> import tinygrad_course as tg
    >>> fliplr(tg.tensor([[1, 2]]))
    tensor([[2, 1]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d, and has {input.ndim} dims")
    return flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Up and down exchanged: dim 0 flipped.

    >>> import tinygrad_course as tg
    >>> flipud(tg.tensor([1, 2]))
    tensor([2, 1])
    """
    if input.ndim < 1:
        raise RuntimeError("flipud: Input must be >= 1-d, and has no dims")
    return flip(input, (0,))


class _Roll(Op, fn="", node="RollBackward0"):
    """x shifted along some dims, what falls off coming in on the other side; dx = g rolled back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shifts, dims):
        ctx.save(shifts, dims)
        return row_major(xp.roll(x, shifts, dims))

    def backward(ctx, g):
        shifts, dims = ctx.saved
        back = tuple(-s for s in shifts) if isinstance(shifts, tuple) else -shifts
        return _Roll.fn(g, back, dims)


def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Shifted by `shifts` places along `dims`, what falls off coming in on the other side; without
    dims as if it were a vector.

    >>> import tinygrad_course as tg
    >>> roll(tg.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    by = size_args((shifts,), "shifts")
    over = size_args((dims,), "dims")
    if not by:
        raise RuntimeError("`shifts` required: by how many places to roll")
    if not over and len(by) == 1:
        return _Roll.fn(input, by[0], None)
    if len(by) != len(over):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(over)}")
    if not input.ndim:
        raise IndexError(f"Dimension specified as {over[0]} but tensor has no dimensions")
    return _Roll.fn(input, by, tuple(wrap_dim(d, input.ndim) for d in over))


class _Rot90(Op, fn="", node="Rot90Backward0"):
    """x turned k times by 90 degrees from the first of two dims towards the second; dx = g turned
    back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, k, dims):
        ctx.save(k, dims)
        if memory_order(x) == "C":
            x = xp.ascontiguousarray(x)
        return xp.array(xp.rot90(x, k, dims), order="C" if k % 4 == 0 else "K")

    def backward(ctx, g):
        k, dims = ctx.saved
        return _Rot90.fn(g, -k, dims)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned k times by 90 degrees in the plane of two dims, from the first towards the second.

    >>> import tinygrad_course as tg
    >>> rot90(tg.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (wrap_dim(d, input.ndim) for d in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return _Rot90.fn(input, as_int(k, "k"), (first, second))


# --- triangles ------------------------------------------------------------------------------------


class _Tril(Op, fn="", node="TrilBackward0"):
    """x with zeros above a diagonal; dx = the same of g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, diagonal):
        ctx.save(diagonal)
        return row_major(xp.tril(x, diagonal))

    def backward(ctx, g):
        return _Tril.fn(g, *ctx.saved)


class _Triu(Op, fn="", node="TriuBackward0"):
    """x with zeros below a diagonal; dx = the same of g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, diagonal):
        ctx.save(diagonal)
        return row_major(xp.triu(x, diagonal))

    def backward(ctx, g):
        return _Triu.fn(g, *ctx.saved)


def _require_matrix(input: Tensor, name: str) -> None:
    if input.ndim < 2:
        raise RuntimeError(
            f"{name}: input tensor must have at least 2 dimensions, and has {input.ndim}"
        )


@with_out
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of a matrix (of each one in a batch), zeros above the given diagonal.

    >>> import tinygrad_course as tg
    >>> tril(tg.tensor([[1, 2], [3, 4]]))
    tensor([[1, 0],
            [3, 4]])
    """
    _require_matrix(input, "tril")
    return _Tril.fn(input, as_int(diagonal, "diagonal"))


@with_out
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of a matrix (of each one in a batch), zeros below the given diagonal.

    >>> import tinygrad_course as tg
    >>> triu(tg.tensor([[1, 2], [3, 4]]), 1)
    tensor([[0, 2],
            [0, 0]])
    """
    _require_matrix(input, "triu")
    return _Triu.fn(input, as_int(diagonal, "diagonal"))


def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
    """As `tril`, of this tensor itself."""
    _require_matrix(self, "tril")
    return change(_Tril, self, (), {"diagonal": as_int(diagonal, "diagonal")})


def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
    """As `triu`, of this tensor itself."""
    _require_matrix(self, "triu")
    return change(_Triu, self, (), {"diagonal": as_int(diagonal, "diagonal")})


# --- diagonals ------------------------------------------------------------------------------------


class DiagEmbed(Op, fn=""):
    """Zeros with the last dim of x on the diagonal of two dims; dx = that diagonal of g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, offset, dim1, dim2):
        ctx.save(offset, dim1, dim2)
        n = x.shape[-1] + abs(offset)
        shape = list(x.shape[:-1])
        for dim in sorted((dim1, dim2)):
            shape.insert(dim, n)
        out = xp.zeros(shape, x.dtype)
        Diagonal.fn(out, (offset, dim1, dim2))[...] = x
        return out

    def backward(ctx, g):
        return Diagonal.fn(g, ctx.saved)


class DiagonalCopy(Op, fn="", node="DiagonalBackward0_copy"):
    """The elements of a diagonal of two dims, copied; dx = zeros with g there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, offset, dim1, dim2):
        ctx.save(x.shape, offset, dim1, dim2)
        return Diagonal.fn(x, (offset, dim1, dim2)).copy()

    def backward(ctx, g):
        shape, *where = ctx.saved
        return Put.fn(g, shape, partial(diagonal_at, *where))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dim of `input` on a diagonal and zeros elsewhere.

    >>> import tinygrad_course as tg
    >>> diag_embed(tg.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    if not input.ndim:
        raise IndexError("diag_embed(): a 0-dim tensor has no last dim to lay on a diagonal")
    dims = diagonal_dims(dim1, dim2, input.ndim + 1)
    return DiagEmbed.fn(input, as_int(offset, "offset"), *dims)


@with_out
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector (a copy).

    >>> import tinygrad_course as tg
    >>> diag(tg.tensor([1, 2])), diag(tg.tensor([[1, 2], [3, 4]]))
    (tensor([[1, 0],
            [0, 2]]), tensor([1, 4]))
    """
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return DiagonalCopy.fn(input, as_int(diagonal, "diagonal"), 0, 1)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements of `input` on the diagonal of a matrix.

    >>> import tinygrad_course as tg
    >>> diagflat(tg.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(reshape(input, (-1,)), offset)


function(flip, fliplr, flipud, roll, rot90, tril, triu, diag_embed, diag, diagflat)
method(fliplr, flipud, roll, rot90, tril, triu, tril_, triu_, diag_embed, diag, diagflat)
method(flip=sized(flip, "dims"))
