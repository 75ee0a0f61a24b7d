"""Sequences of several lengths in one tensor: padded, or packed without the padding.

Packed sequences lie step by step, the longest first: `batch_sizes[t]` of them last beyond t, and
their elements t are that many rows of `data`. Packing picks rows and unpacking puts them back, both
recorded as operations. Lesson 12.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...autograd.variable import Tensor
from ...layout import contiguous_format
from ...ops.data import as_tensor
from ...ops.join import cat, stack


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """Packed sequences: `data` (Σ lengths, …), `batch_sizes` (T), and the order in which they were
    sorted, None where they came sorted.

    Made by `pack_padded_sequence` and `pack_sequence`.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, list | tuple) or len(data) != 2:
                raise AssertionError(
                    "Expected data to be a list or tuple of length 2 (data, batch_sizes) where "
                    "batch_sizes is not given"
                )
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                f"created manually; it is on {batch_sizes.device}"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With `data.to(…)`; the orders follow it to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = (
            None if order is None else order.to(data.device)
            for order in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *orders)

    def cpu(self) -> PackedSequence:
        """With data on the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> PackedSequence:
        """With data on a CUDA device."""
        return self.to(device)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return bool(self.data.is_cuda)


def _as_type(name: str) -> Any:
    def convert(self: PackedSequence) -> PackedSequence:
        return self.to(getattr(self.data, name)().dtype)

    convert.__name__, convert.__doc__ = name, f"With `data.{name}()`."
    return convert


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    setattr(PackedSequence, _name, _as_type(_name))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each number stands in `permutation`; None stays None.

    >>> import tinygrad_course as tg
    >>> invert_permutation(tg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places: Tensor = permutation.new_tensor(range(len(permutation)))
    result: Tensor = places.index_copy(0, permutation, places)
    return result


def _rows(batch_sizes: list[int], batch: int, like: Tensor) -> Tensor:
    """Which rows of T · batch are no padding."""
    rows = [t * batch + b for t, n in enumerate(batch_sizes) for b in range(n)]
    return as_tensor(rows, device=like.device).long()


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences padded to one tensor (T, B, …), or (B, T, …) with `batch_first`, without the
    padding.

    `lengths` (list or tensor) must not increase unless `enforce_sorted=False`, which sorts.
    RuntimeError for lengths that don't fit.

    >>> import tinygrad_course as tg
    >>> packed = pack_padded_sequence(tg.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))
    """
    lengths = as_tensor(lengths).cpu().long()
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    t, batch = steps.size(0), steps.size(1)
    known = lengths.tolist()
    if len(known) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(known)} "
            f"(batch_size={batch})"
        )
    if known and min(known) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            f"that is <= 0: {known}"
        )
    if known != sorted(known, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True, and "
            f"is {known}. You can pass `enforce_sorted=False`"
        )
    if known[0] > t:
        raise RuntimeError(f"a length of {known[0]} is more than the {t} steps of the input")
    sizes = [sum(n > step for n in known) for step in range(known[0])]
    rows = steps.reshape(t * batch, *steps.shape[2:]).index_select(0, _rows(sizes, batch, input))
    return PackedSequence(rows, as_tensor(sizes), order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The sequences, padded by `padding_value` to the longest or `total_length`, and their lengths:
    (T, B, …) or (B, T, …), (B).

    ValueError when `total_length` is too short.

    >>> import tinygrad_course as tg
    >>> pad_packed_sequence(pack_sequence([tg.tensor([1, 2]), tg.tensor([3])]), batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes.tolist()
    t, batch = len(sizes), sizes[0]
    if total_length is not None:
        if total_length < t:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, "
                f"but got total_length={total_length} and max sequence length being {t}"
            )
        t = total_length
    data, order = sequence.data, sequence.unsorted_indices
    padded = data.new_full((t * batch, *data.shape[1:]), padding_value)
    padded = padded.index_copy(0, _rows(sizes, batch, data), data)
    padded = padded.reshape(t, batch, *data.shape[1:])
    lengths = as_tensor([sum(n > b for n in sizes) for b in range(batch)])
    if batch_first:
        padded = padded.transpose(0, 1)
    if order is not None:
        padded = padded.index_select(0 if batch_first else 1, order)
        lengths = lengths[order.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (L, …) as one tensor (T, B, …), or (B, T, …) with `batch_first`, padded to the
    longest on the 'right' or 'left'.

    RuntimeError for an empty list, another side, or sizes that differ beyond the first dim.

    >>> import tinygrad_course as tg
    >>> pad_sequence([tg.tensor([1, 2]), tg.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    rows = list(sequences)
    if not rows:
        raise RuntimeError("received an empty list of sequences")
    first = rows[0]
    for row in rows:
        if row.shape[1:] != first.shape[1:]:
            raise RuntimeError(
                f"sequences of sizes {list(first.shape)} and {list(row.shape)} cannot be padded: "
                "they may differ in the first dim alone"
            )
    t = max(len(row) for row in rows)
    padded = []
    for row in rows:
        rest = first.new_full((t - len(row), *first.shape[1:]), padding_value)
        padded.append(cat([row, rest] if padding_side == "right" else [rest, row]))
    result: Tensor = stack(padded, 0 if batch_first else 1)
    return result


def unpad_sequence(
    padded_sequences: Tensor, lengths: Any, batch_first: bool = False
) -> list[Tensor]:
    """The sequences (lengths[i], …) in a padded tensor (T, B, …), or (B, T, …)."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    pairs = zip(rows, as_tensor(lengths).tolist(), strict=True)
    return [row[:n].clone(memory_format=contiguous_format) for row, n in pairs]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (L, …), the longest first unless `enforce_sorted=False`.

    >>> import tinygrad_course as tg
    >>> pack_sequence([tg.tensor([1, 2]), tg.tensor([3])]).data
    tensor([1, 3, 2])
    """
    lengths = as_tensor([len(row) for row in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences (L, …) that were packed.

    >>> import tinygrad_course as tg
    >>> unpack_sequence(pack_sequence([tg.tensor([1, 2]), tg.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
