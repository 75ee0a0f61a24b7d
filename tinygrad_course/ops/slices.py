"""Views that pick out a part by slices: single places, ranges, a tensor cut into several.

A slice is NumPy's, whose strides are PyTorch's. Its adjoint puts a gradient where the view looked
and zeros elsewhere (`Put`). Several views of one tensor are the outputs of one node, and cannot be
changed in place where gradients flow. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..shape import as_int, size_args, wrap_dim
from .join import Cat, Stack
from .registry import Op, function, method
from .viewing import View, Views

Look = Callable[[Any], Any]


class Put(Op, fn=""):
    """Zeros of `shape` with x written where `look` looks; dx = look(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape, look):
        ctx.save(look)
        out = xp.zeros(shape, x.dtype)
        look(out)[...] = x
        return out

    def backward(ctx, g):
        (look,) = ctx.saved
        return look(g)


# --- x[index] with ints and slices ----------------------------------------------------------------


class Slice(View, fn="", node="SliceBackward0"):
    """x[index] for ints, slices and Ellipsis; dx = zeros with g at those places."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(x.shape, index)
        return x[index]

    def backward(ctx, g):
        shape, index = ctx.saved
        return Put.fn(g, shape, itemgetter(index))


class Select(Slice, fn="", node="SelectBackward0"):
    """The same, where the last thing done is to pick one place of a dim, which goes away."""

    __slots__ = ()
    forward = Slice.forward


class Alias(View, fn="", node="AliasBackward0"):
    """x itself, as a view: x[...]; dx = g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, how):
        return x[...]

    def backward(ctx, g):
        return g


_ALL = slice(None)


def along(dim: int, part: Any) -> tuple[Any, ...]:
    """The index that takes `part` of one dim and everything of the others."""
    return (*(_ALL,) * dim, part, ...)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at `index` of `dim`, which goes away.

    >>> import tinygrad_course as tg
    >>> select(tg.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    shape = input._array.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_dim(dim, len(shape)), as_int(index, "index")
    n = shape[dim]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    return Select.fn(input, along(dim, index % n))


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` places of `dim` from `start` on.

    >>> import tinygrad_course as tg
    >>> narrow(tg.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = input._array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim, start, length = wrap_dim(dim, len(shape)), as_int(start, "start"), as_int(length, "length")
    n = shape[dim]
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}")
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    start = start + n if start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return Slice.fn(input, along(dim, slice(start, start + length)))


# --- one tensor into several ----------------------------------------------------------------------


class Split(Views, fn="", node="SplitBackward0"):
    """x cut up along `dim` into pieces of these sizes; dx = their gradients behind each other."""

    __slots__ = ()

    def forward(ctx, xp, x, /, where):
        sizes, dim = where
        ctx.save(x.shape, sizes, dim)
        pieces, start = [], 0
        for n in sizes:
            pieces.append(x[along(dim, slice(start, start + n))])
            start += n
        return tuple(pieces)

    def backward(ctx, *grads):
        shape, sizes, dim = ctx.saved
        shapes = [(*shape[:dim], n, *shape[dim + 1 :]) for n in sizes]
        return Cat.apply(*_filled(grads, shapes), dim=dim)


class _SplitWithSizes(Split, fn="", node="SplitWithSizesBackward0"):
    """The same, where the sizes were given."""

    __slots__ = ()
    forward = Split.forward


class Unbind(Views, fn="", node="UnbindBackward0"):
    """The slices of x along `dim`; dx = their gradients stacked."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        ctx.save(x.shape, dim)
        return tuple(x[along(dim, i)] for i in range(x.shape[dim]))

    def backward(ctx, *grads):
        shape, dim = ctx.saved
        shapes = [(*shape[:dim], *shape[dim + 1 :])] * len(grads)
        return Stack.apply(*_filled(grads, shapes), dim=dim)


def _filled(grads: tuple[Any, ...], shapes: list[Any]) -> list[Any]:
    """The gradients, with zeros for those that didn't come."""
    some = next(g for g in grads if g is not None)
    pairs = zip(grads, shapes, strict=True)
    return [blank(some, shape) if g is None else g for g, shape in pairs]


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of so many places each along `dim` (the last may be smaller), or of the sizes in a
    list.

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in split(tg.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    if tensor.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, tensor.ndim)
    if isinstance(split_size_or_sections, Sequence):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    n, size = tensor.shape[dim], as_int(split_size_or_sections, "split_size")
    if size < 0 or (size == 0 and n):
        raise RuntimeError(f"split expects split_size be positive, but got split_size={size}")
    sizes = [min(size, n - start) for start in range(0, n, size)] if n else [0]
    return Split.fn(tensor, (tuple(sizes), dim))


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given sizes along `dim`, which together make up the whole.

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in split_with_sizes(tg.arange(3), [1, 2])]
    [[0], [1, 2]]
    """
    dim = wrap_dim(dim, input.ndim)
    sizes, n = size_args((split_sizes,), "split_sizes"), input.shape[dim]
    if sum(sizes) != n or min(sizes, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to be non-negative and to sum exactly to {n} "
            f"(input tensor's size at dimension {dim}), but got split_sizes={list(sizes)}"
        )
    return _SplitWithSizes.fn(input, (sizes, dim))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size along `dim` (the last may be smaller).

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in chunk(tg.arange(5), 3)]
    [[0, 1], [2, 3], [4]]
    """
    if input.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if as_int(chunks, "chunks") <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.shape[wrap_dim(dim, input.ndim)]
    if n == 0:  # so many empty ones, since there is no size to cut by
        return split_with_sizes(input, [0] * chunks, dim)
    return split(input, -(-n // chunks), dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along `dim`, which goes away.

    >>> import tinygrad_course as tg
    >>> unbind(tg.tensor([[1, 2], [3, 4]]), 1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    dim = wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return Unbind.fn(input, dim)


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """So many views along `dim`, the first ones longer by one where it doesn't come out even; or
    views cut at the given places.

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in tensor_split(tg.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    if input.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got 0 dims")
    dim, cuts = wrap_dim(dim, input.ndim), indices_or_sections
    n = input.shape[dim]
    if isinstance(cuts, Tensor) and cuts.ndim:
        cuts = cuts.tolist()
    if isinstance(cuts, Sequence):
        bounds: Any = [0, *size_args((cuts,), "indices"), n]
    else:
        sections = as_int(cuts, "sections")
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        bounds = [i * (n // sections) + min(i, n % sections) for i in range(sections + 1)]
    return tuple(Slice.fn(input, along(dim, slice(a, b))) for a, b in pairwise(bounds))


def _splitter(name: str, least: int, axis: int) -> Callable[..., tuple[Tensor, ...]]:
    def body(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise RuntimeError(
                f"{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{input.ndim} dimensions!"
            )
        dim = min(axis, input.ndim - 1)
        n, sections = input.shape[dim], indices_or_sections
        if isinstance(sections, int) and (sections < 1 or n % sections):
            raise RuntimeError(
                f"{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{n} is not divisible by the split_size {sections}!"
            )
        return tensor_split(input, sections, dim)

    body.__name__ = name
    body.__doc__ = f"`tensor_split` along dim {axis}, into equal parts or at the given places."
    return body


hsplit, vsplit, dsplit = (
    _splitter("hsplit", 1, 1),
    _splitter("vsplit", 2, 0),
    _splitter("dsplit", 3, 2),
)


function(select, narrow, split, split_with_sizes, chunk, unbind, tensor_split)
function(hsplit, vsplit, dsplit)
method(select, narrow, split_with_sizes, chunk, unbind, tensor_split, hsplit, vsplit, dsplit)
method(split=lambda self, split_size, dim=0: split(self, split_size, dim))
