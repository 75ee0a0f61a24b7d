"""Losses with a margin as layers: they remember the reduction and the margin of their function.

Scores or distances that are apart by the margin cost nothing. The computation is in
`nn.functional.loss_margin`. Lesson 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.loss_pairs import require_margin
from . import functional as F
from .distance import PairwiseDistance
from .loss import Loss, WeightedLoss


class SoftMarginLoss(Loss):
    """Mean of ln(1 + e^−yx) for targets y of 1 and −1. See `F.soft_margin_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.SoftMarginLoss()(tg.tensor([0., 0.]), tg.tensor([1., -1.]))
    tensor(0.6931)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(WeightedLoss):
    """Mean of max(0, margin − x[t] + x[c])^p over the classes c ≠ t. See `F.multi_margin_loss`.

    ValueError for another p than 1 and 2, and for a weight of several dims.

    >>> import tinygrad_course as tg
    >>> tg.nn.MultiMarginLoss()(tg.tensor([[0.1, 0.2, 0.8]]), tg.tensor([2]))
    tensor(0.2333)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D "
                "instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class MultiLabelMarginLoss(Loss):
    """Mean of max(0, 1 − x[j] + x[i]) for targets j and other classes i. See
    `F.multilabel_margin_loss`.

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([0.1, 0.2, 0.4, 0.8])
    >>> tg.nn.MultiLabelMarginLoss()(x, tg.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """A binary cross entropy for each class, averaged. See `F.multilabel_soft_margin_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.MultiLabelSoftMarginLoss()(tg.tensor([[0., 0.]]), tg.tensor([[1., 0.]]))
    tensor(0.6931)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class _MarginLoss(Loss):
    """A loss with a margin, for two points and whether they belong together."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """Mean of max(0, margin − y (x1 − x2)). See `F.margin_ranking_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.MarginRankingLoss()(tg.tensor([1.]), tg.tensor([3.]), tg.tensor([1.]))
    tensor(2.)
    """

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_MarginLoss):
    """Mean of 1 − cos for pairs of target 1, max(0, cos − margin) for those of −1. See
    `F.cosine_embedding_loss`.

    >>> import tinygrad_course as tg
    >>> x, y = tg.tensor([[1., 0.]]), tg.tensor([[3., 4.]])
    >>> tg.nn.CosineEmbeddingLoss()(x, y, tg.tensor([1]))
    tensor(0.4000)
    """

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_MarginLoss):
    """Mean of x for pairs of target 1, of max(0, margin − x) for those of −1. See
    `F.hinge_embedding_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.HingeEmbeddingLoss()(tg.tensor([0.5, 0.2]), tg.tensor([1, -1]))
    tensor(0.6500)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(Loss):
    """Mean of max(0, |anchor − positive| − |anchor − negative| + margin). See
    `F.triplet_margin_loss`. ValueError for a margin that is not positive.

    >>> import tinygrad_course as tg
    >>> x, y, z = tg.tensor([[0., 0.]]), tg.tensor([[0., 2.]]), tg.tensor([[1., 0.]])
    >>> tg.nn.TripletMarginLoss()(x, y, z)
    tensor(2.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        require_margin("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(Loss):
    """`TripletMarginLoss` with a distance of one's own, a function or a layer.

    >>> import tinygrad_course as tg
    >>> x, y, z = tg.tensor([0., 0.]), tg.tensor([0., 2.]), tg.tensor([1., 0.])
    >>> tg.nn.TripletMarginWithDistanceLoss(distance_function=tg.dist)(x, y, z)
    tensor(2.)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function: Any = distance_function or PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
