"""Memory formats: in which order a new tensor's elements lie, and the strides that follow.

A row-major tensor has the last dim innermost; `channels_last` puts the second dim (the channels of
an image) there; `preserve_format` copies the order of another tensor. Pure arithmetic on sizes and
strides, which are counted in elements; knows no tensors. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class _Named:
    """A constant that stands for itself, and prints as PyTorch's."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class Layout(_Named):
    """How a tensor is kept: `tg.strided`, a window with strides, or as some gradients are
    `tg.sparse_coo`, the rows that are not zero."""

    __slots__ = ()


class MemoryFormat(_Named):
    """An order of the dims in memory, e.g. `tg.channels_last`."""

    __slots__ = ()


strided = Layout("strided")
sparse_coo = Layout("sparse_coo")

contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")

# The dims of a format from the outermost in memory to the innermost.
_ORDERS = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def row_major(shape: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """The strides of a tensor without gaps, whose dims lie in `order` (as they are numbered) from
    the outermost to the innermost. A size of 0 counts as 1.

    >>> row_major((2, 3)), row_major((2, 3), (1, 0))
    ((3, 1), (1, 2))
    """
    strides, step = [0] * len(shape), 1
    for dim in reversed(range(len(shape)) if order is None else order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def strides_for(
    shape: Sequence[int], strides: Sequence[int], memory_format: MemoryFormat
) -> tuple[int, ...]:
    """The strides of a new tensor of `shape` in a format; `strides` are those to preserve.

    RuntimeError when the format needs another number of dims, TypeError for what is no format.

    >>> strides_for((2, 3, 4, 5), (60, 20, 5, 1), channels_last)
    (60, 1, 15, 3)
    """
    if memory_format is contiguous_format:
        return row_major(shape)
    if memory_format is preserve_format:
        return (
            tuple(strides)
            if _is_dense(shape, strides)
            else row_major(shape, memory_order(shape, strides))
        )
    order = _ORDERS.get(memory_format)
    if order is None:
        raise TypeError(f"a memory format is e.g. tg.channels_last, not {memory_format!r}")
    if len(shape) != len(order):
        raise RuntimeError(
            f"required rank {len(order)} tensor to use {memory_format.name} format, and "
            f"{list(shape)} has {len(shape)} dims"
        )
    return row_major(shape, order)


def follows(shape: Sequence[int], strides: Sequence[int], memory_format: Any) -> bool:
    """Whether a tensor with these strides lies in a format (`is_contiguous(memory_format=...)`)."""
    order = _ORDERS.get(memory_format)
    if order is not None and len(shape) != len(order):
        return False
    wanted = row_major(shape, order)
    return 0 in shape or all(
        n == 1 or s == w for n, s, w in zip(shape, strides, wanted, strict=True)
    )


def _is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a piece of memory, each place once, in whatever order of dims."""
    step = 1
    for stride, n in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride != step:
            return False
        step *= n
    return True


def memory_order(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The dims from the largest stride to the smallest, as PyTorch orders those of a copy or fills
    a tensor.

    Of two equal strides the longer dim lies further out; a dim of stride 0 (an expanded one) has no
    place of its own, and stays beside its neighbours. That is no ordering of all pairs, hence the
    insertion sort: it decides what is compared with what.
    """
    inner = list(reversed(range(len(shape))))  # innermost first
    for i in range(1, len(inner)):
        place = i
        for before in range(i - 1, -1, -1):
            a, b = inner[before], inner[place]
            if 0 in (strides[a], strides[b]):
                continue
            if (strides[a], shape[a]) <= (strides[b], shape[b]):
                if strides[a] < strides[b]:
                    break
                continue
            inner[before], inner[place] = b, a
            place = before
    return inner[::-1]
