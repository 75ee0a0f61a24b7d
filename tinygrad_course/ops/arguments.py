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


def pair(value: Any, name: str, function: str) -> tuple[int, int]:
    """An int, or one or two of them, as (for rows, for columns).

    RuntimeError for another number of them, TypeError for what is no int.

    >>> pair(2, "stride", "conv2d"), pair((2, 3), "stride", "conv2d")
    ((2, 2), (2, 3))
    """
    if isinstance(value, int):
        return value, value
    if not isinstance(value, (tuple, list)):
        value = (value,)
    if len(value) not in (1, 2):
        raise RuntimeError(
            f"{function}: {name} is one int or two (rows, columns), got {len(value)}: {value}"
        )
    numbers = [as_int(v, name) for v in value]
    return numbers[0], numbers[-1]
