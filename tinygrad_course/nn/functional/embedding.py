"""Tables of vectors: rows by their numbers, and sums, means and maxima of bags of rows. Lesson
12."""

from __future__ import annotations

import warnings
from math import inf
from typing import Any

from ...autograd.mode import no_grad
from ...autograd.variable import Tensor
from ...ops.arguments import require_tensors
from ...ops.embedding import Embedding
from ...ops.join import cat
from ...ops.masks import repeat_interleave
from ...ops.rows import AddRows


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[input]: row numbers (…) of a table (V, E) give (…, E).

    Row `padding_idx` gets no gradient. Rows looked up that are longer than `max_norm`, measured by
    `norm_type`, are first shortened in place. `scale_grad_by_freq` divides a row's gradient by how
    often it was looked up; `sparse` makes it a sparse tensor. IndexError for a row that is not
    there, RuntimeError for other types or dims.

    >>> import tinygrad_course as tg
    >>> embedding(tg.tensor([2, 0]), tg.tensor([[1., 2.], [3., 4.], [5., 6.]]))
    tensor([[5., 6.],
            [1., 2.]])
    """
    require_tensors("embedding", indices=input, weight=weight)
    if padding_idx is not None:
        padding_idx = _padding_row(padding_idx, weight.shape[0], AssertionError, "Padding_idx")
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D (rows, size), and it is {list(weight.shape)}")
    _require_numbers(input, "embedding")
    _require_rows(input, weight.shape[0], IndexError, "index out of range in self")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return _look_up(input, weight, padding_idx, scale_grad_by_freq, sparse)


def _look_up(
    input: Tensor, weight: Tensor, skipped: int | None, shared: bool, sparse: bool
) -> Tensor:
    if shared and sparse and weight.requires_grad:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients: leave one "
            "of them out"
        )
    result: Tensor = Embedding.fn(weight, input, skipped, shared, sparse)
    return result


def _padding_row(row: int, n: int, error: type[Exception], name: str) -> int:
    """`row` with a negative one counted from the end."""
    if not -n <= row < n:
        raise error(
            f"{name} must be within num_embeddings, the number of embeddings: {-n} through "
            f"{n - 1}, but got {row}"
        )
    return row % n


def _require_numbers(indices: Tensor, name: str) -> None:
    if indices._array.dtype not in ("int32", "int64"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {indices.type()} instead (while checking arguments for {name}): "
            "convert with .long()"
        )


def _require_rows(indices: Tensor, n: int, error: type[Exception], what: str) -> None:
    """`error`, begun by `what`, for a row number that is not in 0, …, n - 1."""
    places = indices._array
    if indices.is_cuda or not places.size:
        return  # asking a GPU would make it wait: there, places count modulo the size
    if int(places.view(f"u{places.itemsize}").max()) >= n:
        flat = places.reshape(-1)
        at = int(((flat < 0) | (flat >= n)).argmax())
        raise error(
            f"{what}: index {at} of input takes value {int(flat[at])} which is not in the valid "
            f"range [0, {n})"
        )


def _shorten(weight: Tensor, rows: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows in place so that none is longer than `max_norm`; nothing is recorded."""
    with no_grad():
        rows = rows.unique().long()
        weight.index_copy_(0, rows, weight.index_select(0, rows).renorm(norm_type, 0, max_norm))


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The 'sum', 'mean' or 'max' of the rows in each bag: (B, E).

    A bag is a row of an `input` (B, N); or `input` is (N) and bag b begins at `offsets[b]` (with
    `include_last_offset` the last of them ends the last bag). An empty bag gives zeros.
    `per_sample_weights` multiply the rows of a sum; `padding_idx` counts as absent; the rest is as
    in `embedding`. ValueError, RuntimeError, NotImplementedError for arguments that don't fit.

    >>> import tinygrad_course as tg
    >>> table = tg.tensor([[1., 2.], [3., 4.], [5., 6.]])
    >>> embedding_bag(tg.tensor([0, 1, 2]), table, tg.tensor([0, 2]))
    tensor([[2., 3.],
            [5., 6.]])
    """
    if getattr(weight, "dtype", None) is not None and not weight.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        input, weight = weight, input
    require_tensors(
        "embedding_bag",
        indices=input,
        weight=weight,
        offsets=offsets,
        per_sample_weights=per_sample_weights,
    )
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    _require_numbers(input, "embedding_bag")
    bag, bags = _bags(input, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, not {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode={mode!r})"
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            f"embedding_bag: weight ({weight.dtype!r}) and per_sample_weights "
            f"({per_sample_weights.dtype!r}) must have the same type: convert one with .to()"
        )
    _require_rows(input, weight.shape[0], RuntimeError, "embedding_bag")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    full = input.ndim == 2 and padding_idx is None  # as many rows in each bag
    input = input.reshape(-1)[: len(bag)]
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)[: len(bag)]
    if padding_idx is not None:
        padding_idx = _padding_row(padding_idx, weight.shape[0], RuntimeError, "padding_idx")
        kept = (input != padding_idx).nonzero().reshape(-1)
        input, bag = input[kept], bag[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[kept]
    rows = _look_up(input, weight, None, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if mode == "max":
        return _largest(rows, bag, bags)
    sums: Tensor
    if full:
        sums = rows.reshape(bags, len(rows) // max(bags, 1), weight.shape[1]).sum(1)
    else:
        sums = AddRows.fn(rows, bag, (bags, weight.shape[1]), 0)
    if mode == "sum":
        return sums
    return sums / bag.bincount(minlength=bags).clamp(min=1).to(rows.dtype).unsqueeze(1)


def _bags(input: Tensor, offsets: Tensor | None, last: bool) -> tuple[Tensor, int]:
    """For each element of `input` the number of its bag, and how many bags there are."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        b, n = input.shape
        return repeat_interleave(input.new_tensor([n] * b)), b
    if input.ndim != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if offsets is None or offsets.ndim != 1:
        found = "None" if offsets is None else f"one of shape {list(offsets.shape)}"
        raise ValueError(f"offsets has to be a 1D Tensor but got {found}")
    starts, n = offsets.tolist(), len(input)
    if last and not starts:
        raise RuntimeError("include_last_offset: number of offset should be at least 1, got none")
    if starts and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    if starts and starts[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of "
            f"{starts[-1]}"
        )
    ends = starts[1:] if last else [*starts[1:], n]
    lengths = [end - start for start, end in zip(starts, ends, strict=False)]
    if any(length < 0 for length in lengths):
        raise RuntimeError(f"offsets must not decrease, and they are {starts}")
    return repeat_interleave(input.new_tensor(lengths)), len(lengths)


def _largest(rows: Tensor, bag: Tensor, bags: int) -> Tensor:
    """The largest of each column in each bag; of equal ones the first, which takes the gradient."""
    n, size = rows.shape
    to, values = bag.unsqueeze(1).expand(n, size), rows.detach()
    top = values.new_full((bags, size), -inf).scatter_reduce(0, to, values, "amax")
    at = bag.new_tensor(range(n)).unsqueeze(1).masked_fill(values != top[bag], n)
    first = bag.new_full((bags, size), n).scatter_reduce(0, to, at, "amin")
    result: Tensor = cat([rows, rows.new_zeros((1, size))]).gather(0, first)  # zeros: no rows
    return result
