"""Several tensors into one, and one into many copies of itself: cat, stack, repeat and their kin.

All of them copy. The gradient of a join is cut into the parts again; that of a repetition is the
sum over the repetitions. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.variable import Tensor
from ..dtype import result_type
from ..shape import size_args, wrap_dim
from .registry import Op, function, method, with_out
from .views import reshape, sized, unsqueeze


class Cat(Op, fn=""):
    """Tensors behind each other along `dim`; each gets its part of g."""

    __slots__ = ()

    def forward(ctx, xp, *xs, dim):
        sizes = [x.shape[dim] for x in xs]
        ctx.save(dim, sizes)
        shape = xs[0].shape
        # Into an array of our own, since the library would follow the memory order of the inputs.
        out = xp.empty((*shape[:dim], sum(sizes), *shape[dim + 1 :]), xs[0].dtype)
        return xp.concatenate(xs, dim, out=out)

    def backward(ctx, g):
        dim, sizes = ctx.saved
        parts, start = [], 0
        for n in sizes:
            parts.append(g[(slice(None),) * dim + (slice(start, start + n),)])
            start += n
        return tuple(parts)


@with_out
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors of equal sizes but for `dim`, behind each other along it; promoted to one dtype.

    >>> import tinygrad_course as tg
    >>> cat([tg.tensor([1, 2]), tg.tensor([3.])])
    tensor([1., 2., 3.])
    """
    xs = _listed(tensors, "cat")
    if not xs:
        raise ValueError("cat(): expected a non-empty list of Tensors")
    xs = _one_dtype(xs)
    # PyTorch lets an empty vector join anything, a relic of the days without zero-size shapes.
    xs = [x for x in xs if tuple(x.shape) != (0,)] or xs[:1]
    ndim = len(xs[0].shape)
    if ndim == 0:
        raise RuntimeError(
            "zero-dimensional tensor (at position 0) cannot be concatenated: use stack()"
        )
    dim = wrap_dim(dim, ndim)
    rest = [n for d, n in enumerate(xs[0].shape) if d != dim]
    for i, x in enumerate(xs):
        if len(x.shape) != ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {ndim} and {len(x.shape)}"
            )
        if [n for d, n in enumerate(x.shape) if d != dim] != rest:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected "
                f"{list(xs[0].shape)} but got {list(x.shape)} for tensor number {i} in the list."
            )
    return Cat.apply(*xs, dim=dim)


def _listed(tensors: Any, name: str) -> list[Any]:
    """The tensors of a list or tuple; a single tensor is none."""
    if not isinstance(tensors, list | tuple):
        raise TypeError(
            f"{name}(): the tensors come in a list or tuple, not as a {type(tensors).__name__}"
        )
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor) and not hasattr(x, "strides"):
            raise TypeError(
                f"{name}(): expected Tensor as element {i} of the list, but got {type(x).__name__}"
            )
    return list(tensors)


def _one_dtype(xs: list[Any]) -> list[Any]:
    if not isinstance(xs[0], Tensor):
        return xs
    first = xs[0]._array.dtype
    if all(x._array.dtype == first for x in xs):
        return xs
    dtype = result_type(*(x._array for x in xs))
    return [x.to(dtype) for x in xs]


class Stack(Op, fn=""):
    """Tensors of equal sizes along a new `dim`; each gets its slice of g."""

    __slots__ = ()

    def forward(ctx, xp, *xs, dim):
        ctx.save(dim, len(xs))
        shape = xs[0].shape
        out = xp.empty((*shape[:dim], len(xs), *shape[dim:]), xs[0].dtype)
        return xp.stack(xs, dim, out=out)

    def backward(ctx, g):
        dim, n = ctx.saved
        return tuple(g[(slice(None),) * dim + (i,)] for i in range(n))


@with_out
def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of equal sizes along a new dim.

    >>> import tinygrad_course as tg
    >>> stack([tg.tensor([1, 2]), tg.tensor([3, 4])], 1)
    tensor([[1, 3],
            [2, 4]])
    """
    xs = _listed(tensors, "stack")
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    xs = _one_dtype(xs)
    sizes = [getattr(x, "_array", x).shape for x in xs]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(sizes[0])} at entry 0 "
                f"and {list(size)} at entry {i}"
            )
    return Stack.apply(*xs, dim=wrap_dim(dim, len(sizes[0]) + 1))


@with_out
def hstack(tensors: Any) -> Tensor:
    """Side by side: vectors behind each other, others along dim 1.

    >>> import tinygrad_course as tg
    >>> hstack([tg.tensor([1, 2]), tg.tensor([3])])
    tensor([1, 2, 3])
    """
    xs = atleast_1d(_some(tensors, "hstack"))
    return cat(list(xs), 0 if xs[0].ndim == 1 else 1)


@with_out
def vstack(tensors: Any) -> Tensor:
    """On top of each other: vectors as rows.

    >>> import tinygrad_course as tg
    >>> vstack([tg.tensor([1, 2]), tg.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat(list(atleast_2d(_some(tensors, "vstack"))), 0)


@with_out
def dstack(tensors: Any) -> Tensor:
    """Behind each other along dim 2, after `atleast_3d`.

    >>> import tinygrad_course as tg
    >>> dstack([tg.tensor([1, 2]), tg.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat(list(atleast_3d(_some(tensors, "dstack"))), 2)


@with_out
def column_stack(tensors: Any) -> Tensor:
    """Side by side along dim 1, numbers and vectors as columns.

    >>> import tinygrad_course as tg
    >>> column_stack([tg.tensor([1, 2]), tg.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    xs = _some(tensors, "column_stack")
    return cat([reshape(x, (x.numel(), 1)) if x.ndim < 2 else x for x in xs], 1)


def _some(tensors: Any, name: str) -> list[Any]:
    xs = _listed(tensors, name)
    if not xs:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return xs


class BlockDiag(Op, fn=""):
    """Matrices along the diagonal of a large one, zeros elsewhere; each gets its block of g."""

    __slots__ = ()

    def forward(ctx, xp, *xs):
        shapes = [x.shape for x in xs]
        ctx.save(shapes)
        out = xp.zeros([sum(sizes) for sizes in zip(*shapes, strict=True)], xs[0].dtype)
        for x, block in zip(xs, _blocks(shapes), strict=True):
            out[block] = x
        return out

    def backward(ctx, g):
        (shapes,) = ctx.saved
        return tuple(g[block] for block in _blocks(shapes))


def _blocks(shapes: list[tuple[int, int]]) -> list[tuple[slice, slice]]:
    blocks, row, column = [], 0, 0
    for n, m in shapes:
        blocks.append((slice(row, row + n), slice(column, column + m)))
        row, column = row + n, column + m
    return blocks


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the tensors (numbers, vectors as rows, matrices) along its diagonal.

    >>> import tinygrad_course as tg
    >>> block_diag(tg.tensor([[1, 2]]), tg.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    xs = _listed(tensors, "block_diag")
    for i, x in enumerate(xs):
        if x.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {x.ndim} dimensions"
            )
    xs = _one_dtype(list(atleast_2d(xs))) if xs else [Tensor(1, 0)]
    return BlockDiag.apply(*xs)


# --- at least so many dims ------------------------------------------------------------------------


def atleast_1d(*tensors: Any) -> Any:
    """A number as a vector of one element; others stay. Several tensors, or a list of them, give a
    tuple.

    >>> import tinygrad_course as tg
    >>> atleast_1d(tg.tensor(3))
    tensor([3])
    """
    return _each(tensors, lambda x: reshape(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(*tensors: Any) -> Any:
    """A number or vector as a matrix of one row; others stay.

    >>> import tinygrad_course as tg
    >>> atleast_2d(tg.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _each(
        tensors,
        lambda x: reshape(x, (1, 1)) if x.ndim == 0 else unsqueeze(x, 0) if x.ndim == 1 else x,
    )


def atleast_3d(*tensors: Any) -> Any:
    """At least three dims: a vector (n,) becomes (1, n, 1), a matrix (n, m) becomes (n, m, 1).

    >>> import tinygrad_course as tg
    >>> atleast_3d(tg.zeros(2)).shape
    torch.Size([1, 2, 1])
    """

    def widen(x: Tensor) -> Tensor:
        if x.ndim == 0:
            return reshape(x, (1, 1, 1))
        if x.ndim == 1:
            x = unsqueeze(x, 0)
        return unsqueeze(x, -1) if x.ndim == 2 else x

    return _each(tensors, widen)


def _each(tensors: tuple[Any, ...], widen: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return widen(tensors[0])
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    return tuple(widen(x) for x in tensors)


# --- one tensor many times ------------------------------------------------------------------------


class Repeat(Op, fn=""):
    """x so many times along each dim, of which it may get new ones; dx = g summed over the
    repetitions."""

    __slots__ = ()

    def forward(ctx, xp, x, /, times):
        ctx.save(x.shape, times)
        wide = x.reshape((1,) * (len(times) - x.ndim) + x.shape)
        # Each dim becomes (times, size), is stretched along the first, and both are read as one.
        pairs = wide.reshape([n for size in wide.shape for n in (1, size)])
        sizes = [n for pair in zip(times, wide.shape, strict=True) for n in pair]
        out = xp.empty(sizes, x.dtype)
        out[...] = pairs
        return out.reshape([n * size for n, size in zip(times, wide.shape, strict=True)])

    def backward(ctx, g):
        shape, times = ctx.saved
        wide = (1,) * (len(times) - len(shape)) + tuple(shape)
        pairs = g.reshape([n for pair in zip(times, wide, strict=True) for n in pair])
        return pairs.sum(tuple(range(0, 2 * len(times), 2))).reshape(shape) if times else g


def repeat(input: Tensor, repeats: Sequence[int]) -> Tensor:
    """A copy with each dim repeated so many times; new dims come in front.

    >>> import tinygrad_course as tg
    >>> tg.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    times = size_args((repeats,), "repeats")
    if len(times) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: {len(times)} < {input.ndim}"
        )
    if min(times, default=0) < 0:
        raise RuntimeError(f"repeat: the repeats must not be negative, got {list(times)}")
    return Repeat.fn(input, times)


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """As `repeat`, but missing repeats count as 1 for the first dims.

    >>> import tinygrad_course as tg
    >>> tile(tg.tensor([[1], [2]]), (2,))
    tensor([[1, 1],
            [2, 2]])
    """
    times = size_args((dims,), "dims")
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


function(cat, stack, hstack, vstack, dstack, column_stack, block_diag, tile)
function(atleast_1d, atleast_2d, atleast_3d)
function(concat=cat, concatenate=cat, row_stack=vstack)
method(repeat=sized(repeat, "repeats"), tile=sized(tile, "dims"))
