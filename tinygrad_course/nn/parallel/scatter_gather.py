"""A batch in nested tuples, lists and dicts: cut into one part per device, and put together again.

Tensors are cut along `dim` by `chunk` and moved by `to`, both recorded, so that gradients find
their way back. All else goes to every device as it is. Lesson 16.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ...autograd.variable import Tensor
from ...device import Device
from ...ops.join import cat


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """One part of `inputs` for each device, the first ones larger; fewer where a tensor is too
    short to be cut into as many.

    >>> import tinygrad_course as tg
    >>> scatter({"x": tg.arange(3), "n": 7}, ["cpu", "cpu"])
    [{'x': tensor([0, 1]), 'n': 7}, {'x': tensor([2]), 'n': 7}]
    """
    if isinstance(inputs, Tensor):
        parts = inputs.chunk(len(target_gpus), dim)
        return tuple(
            part.to(Device(device)) for part, device in zip(parts, target_gpus, strict=False)
        )
    if isinstance(inputs, dict) and inputs:
        columns = [scatter(item, target_gpus, dim) for item in inputs.items()]
        return [type(inputs)(items) for items in zip(*columns, strict=False)]
    if isinstance(inputs, tuple | list) and inputs:
        make: Any = getattr(type(inputs), "_make", type(inputs))  # of a named tuple
        columns = [scatter(item, target_gpus, dim) for item in inputs]
        return [make(items) for items in zip(*columns, strict=False)]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: Any, kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """`scatter` of positional and of keyword arguments, to as many devices."""
    args = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    size = max(len(args), len(named))
    args = [*args, *(() for _ in range(size - len(args)))]
    named = [*named, *({} for _ in range(size - len(named)))]
    return tuple(args), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The outputs of all devices, joined along `dim`, on one device; numbers become a vector, with
    a warning.

    ValueError for dicts of different sizes and tuples of different lengths, TypeError for what is
    no tensor, None, dict, list or tuple.

    >>> import tinygrad_course as tg
    >>> gather([(tg.zeros(1), None), (tg.ones(2), None)], "cpu")
    (tensor([0., 1., 1.]), None)
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        tensors = [tensor.to(Device(target_device)) for tensor in outputs]
        if dim == 0 and all(tensor.dim() == 0 for tensor in tensors):
            warnings.warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will "
                "instead unsqueeze and return a vector.",
                stacklevel=2,
            )
            tensors = [tensor.reshape(1) for tensor in tensors]
        return cat(tensors, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(output) != len(first) for output in outputs):
            raise ValueError("All dicts must have the same number of keys")
        columns = [[output[key] for output in outputs] for key in first]
        values = [gather(column, target_device, dim) for column in columns]
        return type(first)(zip(first, values, strict=True))
    if not isinstance(first, tuple | list):
        raise TypeError(
            f"a replica returned {type(first).__name__}: only tensors, None, and tuples, lists and "
            "dicts of them can be gathered"
        )
    columns = [list(column) for column in zip(*outputs, strict=True)]
    gathered = [gather(column, target_device, dim) for column in columns]
    make: Any = getattr(type(first), "_make", type(first))
    return make(gathered)
