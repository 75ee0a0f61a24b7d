"""Losses of numbers: how far predictions are from targets, squared, absolute, or a mix of both.

The square weighs outliers most; Huber's losses are squares near 0 and lines far away. Each op is
the loss of an element and its slope; the reduction is that of `loss`. Lesson 13.
"""

from __future__ import annotations

from typing import Any

from ..dtype import result_type
from .arguments import require_tensors
from .elementwise import sign, where
from .loss import broadcast, check_reduction, reduced, shared
from .rectifiers import require_floats
from .registry import Op, require_castable


class MSELoss(Op, fn="", node="MseLossBackward0"):
    """(x − y)², reduced; dx = 2 (x − y) g, dy = −dx."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, reduction):
        ctx.save(x, y, reduction)
        d = x - y
        d *= d
        return reduced(d, reduction)

    def backward(ctx, g):
        x, y, reduction = ctx.saved
        gx = (x - y) * (shared(g, x, reduction) * 2)
        return gx, -gx if ctx.needs[1] else None


class SmoothL1Loss(Op, fn=""):
    """d² / 2β where |d| < β, else |d| − β/2, for d = x − y, reduced; dx = d g / β, or ±g, dy =
    −dx."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, reduction, beta):
        ctx.save(x, y, reduction, beta)
        d = xp.abs(x - y)
        return reduced(xp.where(d < beta, d * d / (2 * beta), d - beta / 2), reduction)

    def backward(ctx, g):
        x, y, reduction, beta = ctx.saved
        d = x - y
        gx = where(abs(d) >= beta, sign(d), d / beta) * shared(g, x, reduction)
        return gx, -gx if ctx.needs[1] else None


class HuberLoss(Op, fn=""):
    """d² / 2 where |d| < δ, else δ (|d| − δ/2), for d = x − y, reduced: δ times SmoothL1Loss; dx =
    d g, or ±δ g, dy = −dx."""

    __slots__ = ()

    def forward(ctx, xp, x, y, /, reduction, delta):
        ctx.save(x, y, reduction, delta)
        d = xp.abs(x - y)
        return reduced(xp.where(d < delta, d * d / 2, (d - delta / 2) * delta), reduction)

    def backward(ctx, g):
        x, y, reduction, delta = ctx.saved
        d = x - y
        gx = where(abs(d) >= delta, sign(d) * delta, d) * shared(g, x, reduction)
        return gx, -gx if ctx.needs[1] else None


def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """(input − target)²: its 'mean' over all elements, its 'sum', or as it is ('none').

    `weight` (input's shape) multiplies each element, and the mean is then divided by its sum. Warns
    when the two shapes differ and are broadcast. ValueError for an unknown reduction,
    NotImplementedError for integers.

    >>> import tinygrad_course as tg
    >>> mse_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(2.)
    """
    input, target = _comparable("mse_loss", input, target, reduction, weight)
    if weight is None:
        return MSELoss.fn(input, target, reduction)
    return _averaged(MSELoss.fn(input, target, "none"), weight, reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """|input − target|; the reduction, `weight` and the warning are those of `mse_loss`.

    >>> import tinygrad_course as tg
    >>> l1_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(1.)
    """
    check_reduction(reduction)
    require_tensors("l1_loss", input=input, target=target, weight=weight)
    input, target = broadcast("l1_loss", input, target)
    losses = (input - target).abs()
    return reduced(losses, reduction) if weight is None else _averaged(losses, weight, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """(input − target)² / 2β where |input − target| < β, else |input − target| − β/2.

    The reduction and the warning are those of `mse_loss`. RuntimeError for a negative beta; 0 gives
    `l1_loss`.

    >>> import tinygrad_course as tg
    >>> smooth_l1_loss(tg.tensor([1., 2.]), tg.tensor([1.5, 5.]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    if beta == 0:
        return l1_loss(input, target, reduction)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}")
    input, target = _comparable("smooth_l1_loss", input, target, reduction)
    return SmoothL1Loss.fn(input, target, reduction, beta)


def huber_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Any = None,
) -> Any:
    """(input − target)² / 2 where |input − target| < δ, else δ (|input − target| − δ/2).

    The reduction and the warning are those of `mse_loss`; `weight` multiplies each element, and the
    mean stays that over all of them. The result has the input's type. RuntimeError for a delta that
    is not positive.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.huber_loss(tg.tensor([1., 2.]), tg.tensor([1.5, 5.]), delta=2.)
    tensor(2.0625)
    """
    if delta <= 0:
        raise RuntimeError(
            f"huber_loss does not support non-positive values for delta, got {delta}"
        )
    x, y = _comparable("huber_loss", input, target, reduction, weight, stacklevel=4)
    require_castable(x.dtype, input.dtype)
    if weight is None:
        return HuberLoss.fn(x, y, reduction, delta).to(input.dtype)
    losses = _weighed(HuberLoss.fn(x, y, "none", delta), weight)
    return reduced(losses, reduction).to(input.dtype)


def _comparable(
    name: str,
    input: Any,
    target: Any,
    reduction: str,
    weight: Any = None,
    stacklevel: int = 5,
) -> tuple[Any, Any]:
    """Both in one shape and one float type; a warning shows the line `stacklevel` calls up."""
    check_reduction(reduction)
    require_tensors(name, input=input, target=target, weight=weight)
    input, target = broadcast(name, input, target, stacklevel)
    if input.dtype is not target.dtype:
        dtype = result_type(input._array, target._array)
        input, target = input.to(dtype), target.to(dtype)
    require_floats(name, input._array)
    return input, target


def _weighed(losses: Any, weight: Any) -> Any:
    if weight.shape != losses.shape:
        raise ValueError(
            f"Weights and input must have the same size: input {list(losses.shape)}, weight "
            f"{list(weight.shape)}"
        )
    return losses * weight


def _averaged(losses: Any, weight: Any, reduction: str) -> Any:
    """The weighed losses, reduced, where the weights count in the mean."""
    losses = _weighed(losses, weight)
    return losses.sum() / weight.sum() if reduction == "mean" else reduced(losses, reduction)
