"""Losses as functions: how far predictions are from their targets.

Here are PyTorch's spellings, among them the two flags of old that said how to reduce; what is
computed is in `ops.loss`. Lesson 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...ops import loss as _loss


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
    """(input − target)²: its 'mean', its 'sum', or as it is ('none'). See `ops.loss.mse_loss`.

    >>> import tinygrad_course as tg
    >>> mse_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]), reduction="sum")
    tensor(4.)
    """
    return _loss.mse_loss(input, target, legacy_reduction(size_average, reduce, reduction), weight)


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
    `ops.loss.nll_loss`.

    >>> import tinygrad_course as tg
    >>> nll_loss(tg.tensor([[-1., -2.]]), tg.tensor([1]))
    tensor(2.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _loss.nll_loss(input, target, weight, ignore_index, reduction)


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
    """The negative log-likelihood of `target` under softmax(input). See `ops.loss.cross_entropy`.

    >>> import tinygrad_course as tg
    >>> cross_entropy(tg.zeros(1, 2), tg.tensor([1]))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _loss.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
