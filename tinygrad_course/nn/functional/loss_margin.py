"""Losses with a margin as functions: scores and distances that are to be held apart.

Here are PyTorch's spellings, the two flags of old included (see `loss`); what is computed is in
`ops.loss_margin` and `ops.loss_pairs`. Lesson 13.
"""

from __future__ import annotations

from typing import Any

from ...ops import loss_margin, loss_pairs
from ...ops.loss import check_reduction
from .loss import legacy_reduction


def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """ln(1 + e^(−target · input)) for targets 1 and −1. See `ops.loss_margin.soft_margin_loss`.

    >>> import tinygrad_course as tg
    >>> soft_margin_loss(tg.tensor([0., 0.]), tg.tensor([1., -1.]))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_margin.soft_margin_loss(input, target, reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The wrong classes that come nearer than a margin to the right one. See
    `ops.loss_margin.multi_margin_loss`.

    >>> import tinygrad_course as tg
    >>> multi_margin_loss(tg.tensor([[0.1, 0.2, 0.8]]), tg.tensor([2]))
    tensor(0.2333)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_margin.multi_margin_loss(input, target, p, margin, weight, reduction)


def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The same with several right classes per row. See `ops.loss_margin.multilabel_margin_loss`.

    >>> import tinygrad_course as tg
    >>> multilabel_margin_loss(tg.tensor([0.1, 0.2, 0.4, 0.8]), tg.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_margin.multilabel_margin_loss(input, target, reduction)


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """A binary cross entropy for each class, averaged. See
    `ops.loss_margin.multilabel_soft_margin_loss`.

    >>> import tinygrad_course as tg
    >>> multilabel_soft_margin_loss(tg.tensor([[0., 0.]]), tg.tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_margin.multilabel_soft_margin_loss(input, target, weight, reduction)


def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin − target · (input1 − input2)). See `ops.loss_pairs.margin_ranking_loss`.

    >>> import tinygrad_course as tg
    >>> margin_ranking_loss(tg.tensor([1.]), tg.tensor([3.]), tg.tensor([1.]))
    tensor(2.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    return loss_pairs.margin_ranking_loss(input1, input2, target, margin, reduction)


def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """1 − cos for pairs of target 1, max(0, cos − margin) for those of −1. See
    `ops.loss_pairs.cosine_embedding_loss`.

    >>> import tinygrad_course as tg
    >>> cosine_embedding_loss(tg.tensor([1., 0.]), tg.tensor([3., 4.]), tg.tensor(1))
    tensor(0.4000)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    return loss_pairs.cosine_embedding_loss(input1, input2, target, margin, reduction)


def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """A distance for pairs of target 1, what it lacks of the margin for −1. See
    `ops.loss_pairs.hinge_embedding_loss`.

    >>> import tinygrad_course as tg
    >>> hinge_embedding_loss(tg.tensor([0.5, 0.2]), tg.tensor([1, -1]))
    tensor(0.6500)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    return loss_pairs.hinge_embedding_loss(input, target, margin, reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor − positive| − |anchor − negative| + margin). See
    `ops.loss_pairs.triplet_margin_loss`. ValueError for a margin that is not positive.

    >>> import tinygrad_course as tg
    >>> x, y, z = tg.tensor([[0., 0.]]), tg.tensor([[0., 2.]]), tg.tensor([[1., 0.]])
    >>> triplet_margin_loss(x, y, z)
    tensor(2.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    loss_pairs.require_margin("triplet_margin_loss", margin)
    return loss_pairs.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction
    )
