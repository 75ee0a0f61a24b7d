"""Losses of probabilities: how unlikely the targets are under the distribution that is predicted.

A coin's (binary cross entropy), any two distributions' (Kullback and Leibler's divergence), counts'
(Poisson) and measurements' with a variance (Gauss). From scores instead of probabilities they are
safe at any size, since log and exp are never taken of each other's results. Lesson 13.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtype import result_type
from ..shape import broadcast_shapes
from .arguments import require_tensors
from .bounds import ClampMin, floored
from .creation import ones_like
from .curves import Softplus
from .exponential import Log, Sigmoid
from .loss import (
    check_reduction,
    numbered,
    reduced,
    refuse_gradient,
    shared,
)
from .pointwise import XLogY
from .rectifiers import require_floats
from .registry import Op, function

log = Log.fn


# --- coins ---------------------------------------------------------------------------------------


class BinaryCrossEntropy(Op, fn=""):
    """−w (y ln x + (1 − y) ln(1 − x)), reduced, no logarithm below −100.

    dx = w (x − y) g / (x (1 − x)), dy = w (ln(1 − x) − ln x) g.
    """

    __slots__ = ()

    def forward(ctx, xp, x, y, weight=None, /, reduction="mean"):
        ctx.save(x, y, weight, reduction)
        one = xp.maximum(xp.log(x), -100)
        zero = xp.maximum(xp.log1p(-x), -100)
        losses = (y - 1) * zero - y * one
        return reduced(losses if weight is None else losses * weight, reduction)

    def backward(ctx, g):
        x, y, weight, reduction = ctx.saved
        g = shared(g, x, reduction)
        g = g if weight is None else g * weight
        return (
            g * (x - y) / ClampMin.fn((1 - x) * x, 1e-12) if ctx.needs[0] else None,
            g * (log(1 - x) - log(x)) if ctx.needs[1] else None,
            None,
        )


class BinaryCrossEntropyWithLogits(Op, fn=""):
    """w ((1 − y) x + u ln(1 + e^−x)), u = 1 + (p − 1) y, for scores x, reduced.

    dx = w (1 − y − u (1 − sigmoid(x))) g, dy = w ((p − 1) ln(1 + e^−x) − x) g.
    """

    __slots__ = ()

    def forward(ctx, xp, x, y, weight=None, pos_weight=None, /, reduction="mean"):
        ctx.save(x, y, weight, pos_weight, reduction)
        tail = _softplus(-x)
        if pos_weight is not None:
            tail = tail * (1 + (pos_weight - 1) * y)
        losses = (1 - y) * x + tail
        return reduced(losses if weight is None else losses * weight, reduction)

    def backward(ctx, g):
        x, y, weight, pos_weight, reduction = ctx.saved
        g = shared(g, x, reduction)
        g = g if weight is None else g * weight
        chance = Sigmoid.fn(x)
        if pos_weight is None:
            gx, gy = g * (chance - y), -g * x
        else:
            more = pos_weight - 1
            gx = g * (1 - y - (1 + more * y) * (1 - chance))
            gy = g * (more * _softplus(-x) - x) if ctx.needs[1] else None
        return gx, gy, None, None


def _softplus(x: Any) -> Any:
    return Softplus.fn(x, 1.0, math.inf)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """−(target · ln input + (1 − target) · ln(1 − input)) for probabilities of one shape.

    `weight` is broadcast to the input. Logarithms are cut off at −100. ValueError for another
    shape, RuntimeError for values beyond 0 and 1 (looked at on the CPU) and for another dtype.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.binary_cross_entropy(tg.tensor([0.5, 1.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """
    name = "binary_cross_entropy"
    check_reduction(reduction)
    require_tensors(name, input=input, target=target, weight=weight)
    _require_one_size(name, input, target)
    for other in (target, weight):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(f"{name}: Found dtype {other.dtype!r} but expected {input.dtype!r}")
    require_floats(name, input._array)
    refuse_gradient(name, weight=weight)
    for role, x in (("input", input), ("target", target)):
        values = x._array
        # Asking the device would make it wait.
        if isinstance(values, np.ndarray) and not ((values >= 0) & (values <= 1)).all():
            raise RuntimeError(
                f"{name}: all elements of {role} should be between 0 and 1, they lie between "
                f"{values.min()} and {values.max()}: take sigmoid() first, or the loss with_logits"
            )
    return BinaryCrossEntropy.fn(input, target, _fitting(name, weight, input), reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    pos_weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The binary cross entropy of sigmoid(input): (1 − target) · x + ln(1 + e^−x).

    `weight` and `pos_weight`, which counts for the targets that are 1, are broadcast to the input.
    ValueError for another shape, RuntimeError for weights that do not fit.

    >>> import tinygrad_course as tg
    >>> tg.binary_cross_entropy_with_logits(tg.tensor([1e4, 0.]), tg.tensor([0., 1.]), reduction=1)
    tensor(5000.3467)
    """
    name = "binary_cross_entropy_with_logits"
    check_reduction(reduction)
    require_tensors(name, input=input, target=target, weight=weight, pos_weight=pos_weight)
    _require_one_size(name, input, target)
    require_floats(name, input._array)
    if not target.is_floating_point():
        raise RuntimeError(
            f"{name}: the result can't be cast to the target's type {target.dtype!r}: convert it "
            "with .float()"
        )
    refuse_gradient(name, weight=weight, pos_weight=pos_weight)
    dtype = result_type(*(x._array for x in (input, target, weight, pos_weight) if x is not None))
    weight, pos_weight = (_fitting(name, w, input) for w in (weight, pos_weight))
    given = (
        x if x is None or x.dtype is dtype else x.to(dtype)
        for x in (input, target, weight, pos_weight)
    )
    return BinaryCrossEntropyWithLogits.fn(*given, reduction).to(target.dtype)


def _require_one_size(name: str, input: Any, target: Any) -> None:
    if target.shape != input.shape:
        raise ValueError(
            f"{name}: Target size ({target.shape}) must be the same as input size ({input.shape})"
        )


def _fitting(name: str, weight: Any, input: Any) -> Any:
    """`weight` in the shape of the input, which it must not enlarge."""
    if weight is None or weight.shape == input.shape:
        return weight
    if broadcast_shapes(input.shape, weight.shape) != input.shape:
        raise RuntimeError(
            f"{name}: output with shape {list(input.shape)} doesn't match the broadcast shape of a "
            f"weight {list(weight.shape)}"
        )
    return weight.expand(input.shape)


# --- distributions -------------------------------------------------------------------------------


def kl_div(input: Any, target: Any, reduction: str = "mean", *, log_target: bool = False) -> Any:
    """Kullback and Leibler's divergence target · (ln target − input) of log-probabilities `input`.

    With `log_target` the target is given by its logarithm, too. The shapes are broadcast.
    RuntimeError for integers.

    >>> import tinygrad_course as tg
    >>> kl_div(tg.tensor([0.5, 0.5]).log(), tg.tensor([1., 0.]), "sum")
    tensor(0.6931)
    """
    require_tensors("kl_div", input=input, target=target)
    if not input.is_floating_point() or not target.is_floating_point():
        raise RuntimeError(
            f"kl_div: Integral inputs not supported, got {input.dtype!r} and {target.dtype!r}"
        )
    if log_target:
        return reduced(target.exp() * (target - input), reduction)
    return reduced(XLogY.fn(target, target) - target * input, reduction)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: str,
) -> Any:
    """The negative log-likelihood of counts whose mean is e^input: e^input − target · input.

    Without `log_input` the mean itself is given: input − target · ln(input + eps). `full` adds
    Stirling's approximation of ln(target!) where the target is above 1.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.poisson_nll_loss(tg.tensor([0., 0.]), tg.tensor([2., 1.]))
    tensor(1.)
    """
    require_tensors("poisson_nll_loss", input=input, target=target)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """(ln var + (input − target)² / var) / 2, the negative log-likelihood of a normal distribution.

    `var` is a number or a tensor of the input's shape, of size 1 along one dim, or without the
    last; it counts as `eps` at least, its gradient as if it were not raised. `full` adds ln(2π) /
    2. ValueError for a variance that is negative or of another size.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.gaussian_nll_loss(tg.zeros(2), tg.tensor([1., 3.]), tg.ones(2))
    tensor(2.5000)
    """
    require_tensors("gaussian_nll_loss", input=input, target=target)
    if isinstance(var, int | float):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: var has negative entry/entries: {var}")
        var = ones_like(input) * var
    require_tensors("gaussian_nll_loss", var=var)
    var = _spread(var, input)
    check_reduction(reduction)
    if isinstance(var._array, np.ndarray) and (var._array < 0).any():
        raise ValueError(f"gaussian_nll_loss: var has negative entry/entries: {var._array.min()}")
    var = floored(var, eps)
    losses = (var.log() + (input - target) ** 2 / var) * 0.5
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def _spread(var: Any, input: Any) -> Any:
    """A variance per element or per row, so that it broadcasts to the input."""
    shape, sizes = tuple(input.shape), tuple(var.shape)
    if sizes == shape:
        return var
    if sizes == shape[:-1]:
        return var.unsqueeze(-1)
    others = [n for n, m in zip(sizes, shape, strict=False) if n != m]
    if len(sizes) != len(shape) or others != [1]:
        raise ValueError(
            f"gaussian_nll_loss: var is of incorrect size {list(sizes)}: the input is "
            f"{list(shape)}, and one dim may be 1 or the last one missing"
        )
    return var


for _loss in (binary_cross_entropy_with_logits, kl_div, poisson_nll_loss):
    function(**{_loss.__name__: numbered(_loss)})
