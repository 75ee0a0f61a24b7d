"""Dropout layers: active in training, absent in evaluation.

Each remembers its probability; what is drawn is in `ops.dropout`. Lesson 09.
"""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import Module


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training sets each element to 0 with probability `p` and divides the others by 1 − p.

    ValueError for p outside [0, 1].

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.nn.Dropout()(tg.ones(4))
    tensor([0., 0., 2., 0.])
    """

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """In training sets whole channels of (N, C, L) or (C, L) to 0 with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training sets whole channels of (N, C, H, W) to 0 with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """In training sets whole channels of (N, C, D, H, W) or (C, D, H, W) to 0 with probability
    `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """In training sets elements to where SELU is flat with probability `p`, and keeps mean 0 and
    variance 1. As in PyTorch, `inplace` changes nothing."""

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """As `AlphaDropout`, of whole channels of (N, C, …)."""

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training)
