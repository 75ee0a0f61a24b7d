"""Activations as layers, and Flatten: functions that can stand in a Sequential.

Each remembers the arguments of its function and calls it. Lessons 09 and 13.
"""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import Module


class ReLU(Module):
    """max(x, 0) elementwise; `inplace=True` overwrites the input.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReLU()(tg.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """tanh(x) elementwise."""

    def forward(self, input: Any) -> Any:
        return F.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(−x)) elementwise."""

    def forward(self, input: Any) -> Any:
        return F.sigmoid(input)


class Softmax(Module):
    """exp(x) / Σ exp(x) along `dim`.

    >>> import tinygrad_course as tg
    >>> tg.nn.Softmax(dim=1)(tg.zeros(1, 4))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """x − log Σ exp(x) along `dim`: the logarithm of softmax, without its rounding."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Flatten(Module):
    """Joins the dims from `start_dim` to `end_dim` into one; by default all but the batch.

    >>> import tinygrad_course as tg
    >>> tg.nn.Flatten()(tg.zeros(32, 16, 5, 5)).shape
    torch.Size([32, 400])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
