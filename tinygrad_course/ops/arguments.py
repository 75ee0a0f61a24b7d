"""What the public functions of layers ask of their arguments before a kernel sees them.

Knows no operation; each check names the function that it speaks for. Lesson 10.
"""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..shape import as_int


def require_tensors(function: str, **arguments: Any) -> None:
    """TypeError when an argument is no Tensor; None stands for an optional one that is absent.

    >>> require_tensors("conv2d", bias=None)
    """
    for name, value in arguments.items():
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"{function}(): argument {name!r} must be a Tensor, not {type(value).__name__}: "
                "wrap it in tg.tensor(...)"
            )


def per_dim(value: Any, dims: int, name: str, function: str) -> tuple[int, ...]:
    """An int, or one or `dims` of them, as one for each spatial dim.

    RuntimeError for another number of them, TypeError for what is no int.

    >>> per_dim(2, 3, "stride", "conv3d"), per_dim((2, 3), 2, "stride", "conv2d")
    ((2, 2, 2), (2, 3))
    """
    if type(value) is int:
        return (value,) * dims
    values = value if isinstance(value, (tuple, list)) else (value,)
    numbers = tuple(as_int(v, name) for v in values)
    if len(numbers) not in (1, dims):
        raise RuntimeError(
            f"{function}: expected {name} to be a single integer value or a list of {dims} values "
            f"to match the spatial dimensions, but got {name}={value}"
        )
    return numbers if len(numbers) == dims else numbers * dims


def pair(value: Any, name: str, function: str) -> tuple[int, int]:
    """`per_dim` of images: (for rows, for columns).

    >>> pair(2, "stride", "conv2d"), pair((2, 3), "stride", "conv2d")
    ((2, 2), (2, 3))
    """
    rows, columns = per_dim(value, 2, name, function)
    return rows, columns
