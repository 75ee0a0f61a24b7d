"""Collation: many samples become one batch of tensors.

A sample may be a number, an array, a tensor, or these in tuples, lists and dictionaries, nested as
one likes. The batch has the shape of a sample, with a tensor over the whole batch at every leaf.

Lesson: one recursion over the structure of the data serves every dataset.
"""

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from ...autograd.variable import Tensor
from ...dtype import float64
from ...ops.data import from_numpy, tensor
from ...ops.join import stack


def default_collate(batch: Sequence[Any]) -> Any:
    """The batch of samples of equal structure: numbers and arrays stacked along a new dimension 0.

    float gives float64, int gives int64; strings and bytes stay a list. Tuples and lists become
    lists, named tuples and mappings keep their type. Raises TypeError for anything else,
    RuntimeError for sequences or arrays of different sizes.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.number | np.bool_):
        if first.dtype.kind not in "biuf":
            raise _unknown(first.dtype)
        return stack([from_numpy(np.asarray(array)) for array in batch])
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _same_mapping(first, {k: default_collate([d[k] for d in batch]) for k in first})
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError(
                "the samples of a batch must have equally many parts, "
                f"got {[len(sample) for sample in batch]}"
            )
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise _unknown(type(first))


def default_convert(sample: Any) -> Any:
    """A single sample with its NumPy arrays and numbers as tensors; all else stays as it is.

    >>> default_convert({"x": np.ones(2), "name": "a"})
    {'x': tensor([1., 1.], dtype=torch.float64), 'name': 'a'}
    """
    if isinstance(sample, np.ndarray | np.number | np.bool_) and sample.dtype.kind in "biuf":
        return from_numpy(np.asarray(sample))
    if isinstance(sample, Mapping):
        return _same_mapping(sample, {k: default_convert(v) for k, v in sample.items()})
    if isinstance(sample, Sequence) and not isinstance(sample, str | bytes):
        parts = [default_convert(part) for part in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else parts
    return sample


def _same_mapping(original: Mapping[Any, Any], items: dict[Any, Any]) -> Mapping[Any, Any]:
    """`items` as a mapping of the original's type, which may carry more, like a default."""
    if not isinstance(original, MutableMapping):
        return items
    result = copy.copy(original)
    result.update(items)
    return result


def _unknown(kind: object) -> TypeError:
    return TypeError(
        "a batch can hold tensors, NumPy arrays, numbers, strings, and these in tuples, lists and "
        f"dictionaries, not {kind}; pass collate_fn= to DataLoader for other samples"
    )
