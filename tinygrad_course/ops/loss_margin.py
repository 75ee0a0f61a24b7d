"""Losses of scores that are to be held apart: a right class should score higher by a margin.

What is apart already costs nothing and has no gradient, which is the difference to cross entropy.
The soft margins are smooth instead. Lesson 13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..shape import broadcast_shapes
from .arguments import require_tensors
from .curves import LogSigmoid, Softplus
from .elementwise import where
from .exponential import Sigmoid
from .loss import check_reduction, reduced, refuse_gradient, shared
from .rectifiers import require_floats
from .reduce import mean, total
from .registry import Op


class SoftMarginLoss(Op, fn=""):
    """ln(1 + e^(−yx)), reduced; dx = −y sigmoid(−yx) g."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, reduction):
        ctx.save(x, y, reduction)
        return reduced(Softplus.fn(-x * y, 1.0, np.inf), reduction)

    def backward(ctx, g):
        x, y, reduction = ctx.saved
        return shared(g, x, reduction) * -y * Sigmoid.fn(-x * y), None


class MultiMarginLoss(Op, fn=""):
    """Σ_c w[t] max(0, m − x[t] + x[c])^p / C over the classes c ≠ t, reduced: (N, C), (N) → (N)."""

    __slots__ = ()

    def forward(ctx, xp, x, t, weight=None, /, p=1, margin=1.0, reduction="mean"):
        right = (t[:, None] == xp.arange(x.shape[1])).astype(x.dtype)
        w = xp.ones(len(t), x.dtype) if weight is None else weight.take(t)
        ctx.save(x, right, w[:, None], p, margin, reduction)
        losses = _lead(x, right, margin) ** p * w[:, None]
        return reduced(losses.sum(1) / x.dtype.type(x.shape[1]), reduction)

    def backward(ctx, g):
        x, right, w, p, margin, reduction = ctx.saved
        lead = _lead(x, right, margin)
        rate = (lead > 0) * w if p == 1 else 2 * lead * w
        rows = shared(g, x[:, 0], reduction) / x.shape[1]
        rows = rows[:, None] if reduction == "none" else rows
        return (rate - right * total(rate, 1, True)) * rows, None, None


def _lead(x: Any, right: Any, margin: float) -> Any:
    """What each wrong class lacks of lying `margin` below the right one, at least 0."""
    lead = (x - total(x * right, 1, True) + margin) * (1 - right)
    return where(lead > 0, lead, 0.0)


class MultiLabelMarginLoss(Op, fn="", node="MultilabelMarginLossBackward0"):
    """Σ max(0, 1 − x[j] + x[i]) / C over the targets j and the other classes i, reduced: (N, C),
    (N, C) → (N). The targets of a sample are what its row t has before the first −1."""

    __slots__ = ()

    def forward(ctx, xp, x, t, /, reduction):
        counts = ((t < 0).cumsum(1) == 0)[:, :, None]
        often = ((t[:, :, None] == xp.arange(x.shape[1])) & counts).sum(1).astype(x.dtype)
        pairs = often[:, :, None] * (often == 0)[:, None, :]
        lack = xp.maximum(1 - x[:, :, None] + x[:, None, :], 0) * pairs
        held = (lack > 0) * pairs / x.dtype.type(x.shape[1])
        ctx.save(held.sum(1) - held.sum(2), reduction)
        return reduced(lack.sum((1, 2)) / x.dtype.type(x.shape[1]), reduction)

    def backward(ctx, g):
        rate, reduction = ctx.saved
        g = shared(g, rate[:, 0], reduction)
        return rate * (g[:, None] if reduction == "none" else g), None


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """ln(1 + e^(−target · input)) for targets 1 and −1, finite for inputs of any size.

    RuntimeError for a target that enlarges the input or wants a gradient.

    >>> import tinygrad_course as tg
    >>> soft_margin_loss(tg.tensor([0., 1e4]), tg.tensor([1., -1.]), "none")
    tensor([6.9315e-01, 1.0000e+04])
    """
    name = "soft_margin_loss"
    check_reduction(reduction)
    require_tensors(name, input=input, target=target)
    if not input.is_floating_point():
        raise RuntimeError(
            f"{name}: result type Float can't be cast to the input's type {input.dtype!r}: convert "
            "it with .float()"
        )
    if broadcast_shapes(input.shape, target.shape) != input.shape:
        raise RuntimeError(
            f"{name}: output with shape {list(input.shape)} doesn't match the broadcast shape with "
            f"a target {list(target.shape)}"
        )
    refuse_gradient(name, target=target)
    return SoftMarginLoss.fn(input, target.to(input.dtype).expand(input.shape), reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over the classes c of weight[t] max(0, margin − input[n, t] + input[n, c])^p, c ≠ t.

    `input` (N, C) or (C) holds scores, `target` (N) or () the classes t (int64), `weight` (C).
    ValueError for another p than 1 and 2 and a weight of other dims, RuntimeError for sizes, types
    and classes that do not fit.

    >>> import tinygrad_course as tg
    >>> multi_margin_loss(tg.tensor([[0.1, 0.2, 0.8]]), tg.tensor([2]))
    tensor(0.2333)
    """
    name = "multi_margin_loss"
    check_reduction(reduction)
    require_tensors(name, input=input, target=target, weight=weight)
    if p not in (1, 2):
        raise ValueError(f"{name}: only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"{name}: weight must be one-dimensional, got {list(weight.shape)}")
    rows = _rows(name, input)
    if target.ndim > 1 or target.numel() != rows.shape[0]:
        raise RuntimeError(
            f"{name}: target tensor should be 1-D with size equal to the number of input samples. "
            f"Expected target size [{rows.shape[0]}], but got {list(target.shape)}. Input has "
            f"shape {list(input.shape)}."
        )
    require_floats(name, input._array)
    _require_classes(name, target, 0, rows.shape[1])
    if weight is not None:
        refuse_gradient(name, weight=weight)
        if weight.shape[0] != rows.shape[1]:
            raise RuntimeError(
                f"{name}: inconsistent weight size, expected {rows.shape[1]} but got "
                f"{list(weight.shape)}"
            )
        if weight.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: expected scalar type {input.dtype!r} but found {weight.dtype!r}"
            )
    loss = MultiMarginLoss.fn(rows, target.reshape(-1), weight, p, margin, reduction)
    return loss.reshape(target.shape) if reduction == "none" else loss


def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The mean over C of max(0, 1 − input[j] + input[i]) for all targets j and other classes i.

    `input` (N, C) or (C) holds scores; a row of `target`, of the same shape (int64), holds classes
    up to the first −1. RuntimeError for sizes, types and classes that do not fit.

    >>> import tinygrad_course as tg
    >>> multilabel_margin_loss(tg.tensor([0.1, 0.2, 0.4, 0.8]), tg.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """
    name = "multilabel_margin_loss"
    check_reduction(reduction)
    require_tensors(name, input=input, target=target)
    rows = _rows(name, input)
    if target.shape != input.shape:
        raise RuntimeError(
            f"{name}: inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)}"
        )
    require_floats(name, input._array)
    _require_classes(name, target, -1, rows.shape[1])
    loss = MultiLabelMarginLoss.fn(rows, target.reshape(rows.shape), reduction)
    return loss.reshape(input.shape[:-1]) if reduction == "none" else loss


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean over the last dim of −(target · ln σ(input) + (1 − target) · ln σ(−input)).

    `weight` multiplies each class; the three are broadcast. NotImplementedError for integers.

    >>> import tinygrad_course as tg
    >>> multilabel_soft_margin_loss(tg.tensor([[0., 1e4]]), tg.tensor([[1., 1.]]))
    tensor(0.3466)
    """
    require_tensors("multilabel_soft_margin_loss", input=input, target=target, weight=weight)
    require_floats("multilabel_soft_margin_loss", input._array)
    terms = -(target * LogSigmoid.fn(input) + (1 - target) * LogSigmoid.fn(-input))
    if weight is not None:
        terms = terms * weight
    if not input.ndim:
        raise IndexError(
            "multilabel_soft_margin_loss: Dimension specified as -1 but tensor has no dimensions"
        )
    losses = mean(terms, input.ndim - 1)
    check_reduction(reduction)
    return reduced(losses, reduction)


def _rows(name: str, input: Any) -> Any:
    """The scores as a matrix with a row per sample."""
    if input.ndim > 2 or (input.ndim and not input.shape[-1]):
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    return input if input.ndim == 2 else input.reshape(1, -1)


def _require_classes(name: str, target: Any, least: int, classes: int) -> None:
    if target.dtype.name != "int64":
        raise RuntimeError(f"{name}: expected scalar type Long but found {target.dtype!r}")
    values = target._array
    # Asking the device would make it wait.
    if isinstance(values, np.ndarray) and not ((values >= least) & (values < classes)).all():
        raise RuntimeError(
            f"{name}: target out of range: classes are {least} to {classes - 1}, got "
            f"{values.min()} to {values.max()}"
        )
