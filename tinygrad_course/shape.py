"""Shapes: `Size`, and the rules for dims and broadcasting, with PyTorch's errors.

Pure arithmetic on tuples; knows no arrays and no tensors. What a loop asks again and again, the
strides of its views, is remembered. Lessons 02 and 03.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import prod
from typing import Any, overload

Dims = int | Sequence[int] | None


class Size(tuple[int, ...]):
    """A tensor's shape: a tuple of ints that prints as PyTorch's and counts its elements.

    >>> Size([2, 3]).numel(), Size([2, 3])
    (6, torch.Size([2, 3]))
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        sizes = tuple(sizes)
        for i, n in enumerate(sizes):
            if type(n) is not int:
                return super().__new__(cls, (_number(n, f"torch.Size(): item {i}") for n in sizes))
        return super().__new__(cls, sizes)

    def numel(self) -> int:
        """The number of elements of a tensor of this shape: the product of the sizes."""
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload  # type: ignore[override]
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError when a tensor of `ndim` dims has no such dim (0-dim
    counts as 1)."""
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    n = ndim or 1
    if type(dim) is not int:
        dim = as_int(dim, "dim")
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n


def wrap_dims(dims: Dims, ndim: int) -> tuple[int, ...]:
    """The dims of a reduction, counted from the front, each at most once; None and () mean all."""
    if dims is None:
        return tuple(range(ndim))
    if not isinstance(dims, Iterable):  # an int, or one of NumPy's
        dims = (dims,)
    wrapped = tuple(wrap_dim(d, ndim) for d in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(
            f"a dim appears several times in dims={tuple(dims)} of a tensor with {ndim} dims"
        )
    if not wrapped or ndim == 0:
        return tuple(range(ndim))
    return wrapped


def as_int(value: Any, name: str) -> int:
    """`value` as an int (NumPy and 0-dim tensors included); TypeError names the argument, also for
    a bool."""
    if type(value) is int:
        return value
    if not isinstance(value, bool):
        with suppress(AttributeError, TypeError):
            return int(value.__index__())
    raise TypeError(f"{name} must be an int, not {type(value).__name__} ({value!r})")


def size_args(sizes: Iterable[Any], name: str = "size") -> tuple[int, ...]:
    """The sizes of `f(2, 3)` or `f((2, 3))` as one tuple of ints."""
    if type(sizes) is not tuple:
        sizes = tuple(sizes)
    if len(sizes) == 1 and type(sizes[0]) is not int and isinstance(sizes[0], Sequence):
        sizes = tuple(sizes[0])
    for n in sizes:
        if type(n) is not int:
            return ints(sizes, name)
    return sizes


def ints(sizes: Sequence[Any], name: str) -> tuple[int, ...]:
    """`sizes` as ints; TypeError where the first is a bool (a later one counts as 0 or 1)."""
    return as_int(sizes[0], name), *(_number(n, name) for n in sizes[1:])


def _number(value: Any, name: str) -> int:
    return int(value) if isinstance(value, bool) else as_int(value, name)


def require_sizes(sizes: Sequence[int]) -> None:
    """RuntimeError when a size is negative."""
    for n in sizes:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(sizes)}"
            )


def broadcast_shapes(*shapes: Sequence[int]) -> Size:
    """The shape that all of `shapes` broadcast to; RuntimeError names the first dim where they
    don't agree.

    >>> broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for i in range(-1, -len(shape) - 1, -1):
            n = shape[i]
            if n != 1 and n != result[i]:
                if result[i] != 1:
                    raise RuntimeError(
                        f"The size of tensor a ({result[i]}) must match the size of tensor b ({n}) "
                        "at non-singleton "
                        f"dimension {ndim + i}: the shapes "
                        f"{' and '.join(str(list(s)) for s in shapes)} do not "
                        f"broadcast"
                    )
                result[i] = n
    return Size(result)


@lru_cache
def infer_size(sizes: Sequence[int], numel: int) -> tuple[int, ...]:
    """`sizes` with a single -1 replaced by what makes `numel` elements; RuntimeError when nothing
    does."""
    known, least = prod(sizes), min(sizes, default=0)
    if least < -1:
        raise RuntimeError(f"invalid shape dimension {least} in {list(sizes)}")
    if least == -1:
        if sizes.count(-1) > 1:
            raise RuntimeError(
                f"only one dimension can be inferred, but {list(sizes)} has several -1"
            )
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of {numel} elements into shape {list(sizes)} because the "
                "unspecified "
                f"dimension size -1 can be any value and is ambiguous"
            )
        if numel % known == 0:
            hole = sizes.index(-1)
            return (*sizes[:hole], numel // -known, *sizes[hole + 1 :])
    elif known == numel:
        return tuple(sizes)
    raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")


@lru_cache
def view_strides(
    shape: Sequence[int], strides: Sequence[int], new_shape: Sequence[int]
) -> tuple[int, ...] | None:
    """The strides with which memory laid out as (`shape`, `strides`) can be seen as `new_shape`, or
    None.

    Old dims that lie densely behind each other form one block; each block must be cut up by new
    dims exactly.
    """
    numel = 1
    for n in shape:
        numel *= n
    if numel == 0:
        if tuple(shape) == tuple(new_shape):
            return tuple(strides)
        result, step = [], 1
        for n in reversed(new_shape):
            result.append(step)
            step *= max(n, 1)
        return tuple(reversed(result))
    result = [1] * len(new_shape)
    new = len(new_shape) - 1
    block, base = (
        1,
        strides[-1] if shape else 1,
    )  # size of the block so far; stride of its innermost dim
    old = len(shape)
    for d in range(old - 1, -1, -1):
        block *= shape[d]
        ends = d == 0 or (shape[d - 1] != 1 and strides[d - 1] != block * base)
        if ends:
            cut = 1
            while new >= 0 and (cut < block or new_shape[new] == 1):
                result[new] = cut * base
                cut *= new_shape[new]
                new -= 1
            if cut != block:
                return None
            if d > 0:
                block, base = 1, strides[d - 1]
    while new >= 0 and not shape and new_shape[new] == 1:
        new -= 1
    return tuple(result) if new < 0 else None


@lru_cache
def permutation(dims: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """`dims` counted from the front; RuntimeError unless they name each of `ndim` dims once."""
    if len(dims) != ndim:
        raise RuntimeError(
            f"permute(): {len(dims)} dims were given for a tensor with {ndim}: name each once"
        )
    wrapped = tuple(wrap_dim(d, ndim) for d in dims)
    if len(set(wrapped)) != ndim:
        raise RuntimeError(f"permute(): duplicate dims are not allowed, got {list(dims)}")
    return wrapped


@lru_cache
def expanded(
    shape: tuple[int, ...], strides: tuple[int, ...], size: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and strides with which memory laid out as (`shape`, `strides`) is stretched to
    `size`, where -1 keeps a size; RuntimeError when it can't be."""
    extra = len(size) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(shape)})"
        )
    sizes: list[int] = []
    steps: list[int] = []  # from the last dim to the first
    for place in range(len(size) - 1, -1, -1):
        n = size[place]
        if place >= extra:
            have, step = shape[place - extra], strides[place - extra]
        else:  # a new dim of size 1, as unsqueeze makes it
            have, step = 1, sizes[-1] * steps[-1] if n == 1 and steps else 0
        if n == -1 and place >= extra:
            n = have
        elif n != have:
            if have != 1 or n < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) must match the existing size ({have}) "
                    f"at non-singleton dimension {place}. Target sizes: {list(size)}. Tensor "
                    f"sizes: {list(shape)}"
                )
            step = 0
        sizes.append(n)
        steps.append(step)
    return tuple(sizes[::-1]), tuple(steps[::-1])


@lru_cache
def unfolded(
    shape: tuple[int, ...], strides: tuple[int, ...], dim: int, size: int, step: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and strides of all windows of `size` along `dim`, `step` apart."""
    count, stride = (shape[dim] - size) // step + 1, strides[dim]
    return (
        (*shape[:dim], count, *shape[dim + 1 :], size),
        (*strides[:dim], step * stride, *strides[dim + 1 :], stride),
    )
