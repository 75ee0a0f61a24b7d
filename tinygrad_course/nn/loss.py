"""Losses as layers: they remember the reduction and the weights of their function.

Of old, two flags said how to reduce: `size_average` (mean or sum) and `reduce` (at all or not);
they still work, with a warning. The computation is in `nn.functional`. Lesson 13.
"""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import Module


class _Loss(Module):
    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = F.legacy_reduction(size_average, reduce, reduction, stacklevel=4)


class _WeightedLoss(_Loss):
    weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Mean of (x − y)² over all elements; `reduction` 'sum' adds them up, 'none' keeps them.

    >>> import tinygrad_course as tg
    >>> tg.nn.MSELoss()(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(2.)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Mean of −input[n, target[n]], the negative log-likelihood of the classes `target` (N) under
    `input` (N, C).

    `weight` (C) rescales classes, targets equal to `ignore_index` do not count. See `F.nll_loss`.
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class CrossEntropyLoss(_WeightedLoss):
    """The negative log-likelihood of `target` under softmax(input): LogSoftmax and NLLLoss in one.

    See `F.cross_entropy` for the arguments.

    >>> import tinygrad_course as tg
    >>> tg.nn.CrossEntropyLoss()(tg.tensor([[1e4, 0.]]), tg.tensor([1]))
    tensor(10000.)
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
