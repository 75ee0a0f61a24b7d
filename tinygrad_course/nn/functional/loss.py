"""Losses as functions: how far predictions are from their targets.

Here are PyTorch's spellings, among them the two flags of old that said how to reduce; what is
computed is in `ops.loss_regression`, `ops.loss_classes` and `ops.loss_likelihood`. Losses with a
margin are in `loss_margin`. Lesson 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...ops import loss_classes, loss_likelihood, loss_regression
from ...ops.loss import check_reduction


def legacy_reduction(
    size_average: bool | None, reduce: bool | None, reduction: str, stacklevel: int = 3
) -> str:
    """The reduction that the flags of old mean, with a warning; `reduction` itself when neither is
    given.

    >>> legacy_reduction(None, None, "sum")
    'sum'
    """
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        meant = "none"
    else:
        meant = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return meant


def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """(input − target)²: its 'mean', its 'sum', or as it is ('none').

    See `ops.loss_regression.mse_loss`.

    >>> import tinygrad_course as tg
    >>> mse_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]), reduction="sum")
    tensor(4.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_regression.mse_loss(input, target, reduction, weight)


def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """|input − target|, reduced. See `ops.loss_regression.l1_loss`.

    >>> import tinygrad_course as tg
    >>> l1_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_regression.l1_loss(input, target, reduction, weight)


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squares up to a distance of β, lines beyond. See `ops.loss_regression.smooth_l1_loss`.

    >>> import tinygrad_course as tg
    >>> smooth_l1_loss(tg.tensor([1., 2.]), tg.tensor([1.5, 5.]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_regression.smooth_l1_loss(input, target, reduction, beta)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood −weight[t] · input[n, t] of the classes t = target[n]. See
    `ops.loss_classes.nll_loss`.

    >>> import tinygrad_course as tg
    >>> nll_loss(tg.tensor([[-1., -2.]]), tg.tensor([1]))
    tensor(2.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_classes.nll_loss(input, target, weight, ignore_index, reduction)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The negative log-likelihood of `target` under softmax(input). See
    `ops.loss_classes.cross_entropy`.

    >>> import tinygrad_course as tg
    >>> cross_entropy(tg.zeros(1, 2), tg.tensor([1]))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_classes.cross_entropy(
        input, target, weight, ignore_index, reduction, label_smoothing
    )


def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """−(target · ln input + (1 − target) · ln(1 − input)) for probabilities.

    See `ops.loss_likelihood.binary_cross_entropy`.

    >>> import tinygrad_course as tg
    >>> binary_cross_entropy(tg.tensor([0.5, 1.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_likelihood.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """The binary cross entropy of sigmoid(input), for scores of any size.

    See `ops.loss_likelihood.binary_cross_entropy_with_logits`.

    >>> import tinygrad_course as tg
    >>> binary_cross_entropy_with_logits(tg.tensor([1e4, 0.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss_likelihood.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction
    )


def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target · (ln target − input), Kullback and Leibler's divergence. See
    `ops.loss_likelihood.kl_div`.

    'batchmean', which the mathematics means, divides the sum by the number of rows; 'mean' by the
    number of elements, with a warning.

    >>> import tinygrad_course as tg
    >>> p = tg.tensor([[0.5, 0.5], [1., 0.]])
    >>> kl_div(tg.full((2, 2), 0.5).log(), p, reduction="batchmean")
    tensor(0.3466)
    """
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "kl_div: reduction 'mean' divides by the number of elements, the divergence is the sum "
            "divided by the number of rows: use reduction='batchmean'",
            UserWarning,
            stacklevel=2,
        )
    reduction = legacy_reduction(size_average, reduce, reduction)
    if reduction == "batchmean":
        whole = loss_likelihood.kl_div(input, target, "sum", log_target=log_target)
        return whole / input.shape[0] if input.ndim else whole
    check_reduction(reduction)
    return loss_likelihood.kl_div(input, target, reduction, log_target=log_target)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """e^input − target · input, the negative log-likelihood of counts of mean e^input.

    See `ops.loss_likelihood.poisson_nll_loss`.

    >>> import tinygrad_course as tg
    >>> poisson_nll_loss(tg.tensor([0., 0.]), tg.tensor([2., 1.]))
    tensor(1.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    return loss_likelihood.poisson_nll_loss(input, target, log_input, full, eps, reduction)
