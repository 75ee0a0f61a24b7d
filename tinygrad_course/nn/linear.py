"""Linear and Identity layers.

A layer owns parameters and hands them to the function that computes. Lesson 09.
"""

from __future__ import annotations

import math
from typing import Any

from ..ops.creation import empty
from ..ops.linear import linear
from . import init
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Returns its input; takes and forgets any arguments, so that it can stand in for another
    layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """y = x Wᵀ + b over the last dim: (…, in_features) → (…, out_features).

    `weight` (out, in) and `bias` (out) start uniform over ±1/√in_features; `bias=False` leaves the
    bias out.

    >>> import tinygrad_course as tg
    >>> tg.nn.Linear(20, 30)(tg.zeros(128, 20)).shape
    torch.Size([128, 30])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        # This slope makes the bound √3 · √(2/6) / √fan = 1/√fan.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
