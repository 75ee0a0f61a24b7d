"""Collation: many samples become one batch of tensors.

A sample may be a number, an array, a tensor, or these in tuples, lists and dictionaries, nested as
one likes. The batch has the shape of a sample, with a tensor over the whole batch at every leaf.

Lesson: one recursion over the structure of the data serves every dataset; what to do at the leaves
is a table, in which others can write.
"""

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...autograd.variable import Tensor
from ...dtype import float64
from ...ops.data import from_numpy, tensor
from ...ops.join import stack

CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def default_collate(batch: Sequence[Any]) -> Any:
    """The batch of samples of equal structure: numbers and arrays stacked along a new dimension 0.

    float gives float64, int gives int64; strings and bytes stay a list. Tuples become lists, named
    tuples, other sequences and mappings keep their type. Raises TypeError for anything else,
    RuntimeError for sequences or arrays of different sizes. `default_collate_fn_map` in this module
    says what becomes of which type, and takes new ones.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """The batch of samples whose leaves have types of `collate_fn_map`, from a type or tuple of
    types to a function `f(samples, *, collate_fn_map)`.

    >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda batch, *, collate_fn_map: sum(batch)})
    [4, 6]
    """
    first = batch[0]
    table = collate_fn_map or {}
    leaf = table.get(type(first)) or next(
        (f for t, f in table.items() if isinstance(first, t)), None
    )
    if leaf is not None:
        return leaf(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: [sample[key] for sample in batch] for key in first}
        return _mapping_like(
            first, {k: collate(c, collate_fn_map=collate_fn_map) for k, c in columns.items()}
        )
    if isinstance(first, Sequence):
        sizes = [len(sample) for sample in batch]
        if len(set(sizes)) > 1:
            raise RuntimeError(
                f"each element in list of batch should be of equal size, got sizes {sizes}; pass a "
                "collate_fn= to DataLoader that pads them, or one that leaves them a list"
            )
        parts = [collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch, strict=True)]
        return _sequence_like(first, parts)
    raise _unknown(type(first))


def _stack_tensors(batch: Sequence[Tensor], *, collate_fn_map: CollateMap | None = None) -> Any:
    return stack(list(batch))


def _stack_arrays(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    if batch[0].dtype.kind not in "biuf":
        raise _unknown(batch[0].dtype)
    return stack([from_numpy(np.asarray(array)) for array in batch])


def _floats(batch: Sequence[float], *, collate_fn_map: CollateMap | None = None) -> Any:
    return tensor(batch, dtype=float64)


def _integers(batch: Sequence[int], *, collate_fn_map: CollateMap | None = None) -> Any:
    return tensor(batch)


def _unchanged(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Sequence[Any]:
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: _stack_tensors,
    np.ndarray: _stack_arrays,
    (np.number, np.bool_): _stack_arrays,
    float: _floats,
    int: _integers,
    str: _unchanged,
    bytes: _unchanged,
}


def default_convert(sample: Any) -> Any:
    """A single sample with its NumPy arrays and numbers as tensors; all else stays as it is.

    >>> default_convert({"x": np.ones(2), "name": "a"})
    {'x': tensor([1., 1.], dtype=torch.float64), 'name': 'a'}
    """
    if isinstance(sample, np.ndarray | np.number | np.bool_) and sample.dtype.kind in "biuf":
        return from_numpy(np.asarray(sample))
    if isinstance(sample, Mapping):
        return _mapping_like(sample, {k: default_convert(v) for k, v in sample.items()})
    if isinstance(sample, Sequence) and not isinstance(sample, str | bytes):
        return _sequence_like(sample, [default_convert(part) for part in sample])
    return sample


def _mapping_like(original: Mapping[Any, Any], items: dict[Any, Any]) -> Mapping[Any, Any]:
    """`items` as a mapping of the original's type, which may carry more, like a default."""
    try:
        if isinstance(original, MutableMapping):
            result = copy.copy(original)
            result.update(items)
            return result
        return type(original)(items)  # type: ignore[call-arg]
    except TypeError:  # a type that is made in another way
        return items


def _sequence_like(original: Sequence[Any], parts: list[Any]) -> Sequence[Any]:
    """`parts` as a sequence of the original's type; but for a plain tuple, as ever, a list."""
    if hasattr(original, "_fields"):
        return type(original)(*parts)
    if isinstance(original, tuple):
        return parts
    try:
        if isinstance(original, MutableSequence):
            result = copy.copy(original)
            for i, part in enumerate(parts):
                result[i] = part
            return result
        return type(original)(parts)  # type: ignore[call-arg]
    except TypeError:
        return parts


def _unknown(kind: object) -> TypeError:
    return TypeError(
        "default_collate: batch must contain tensors, NumPy arrays, numbers, strings, and these in "
        f"tuples, lists and dictionaries; found {kind}; pass collate_fn= to DataLoader for others"
    )
