"""Losses of classes: the negative log-likelihood, and cross entropy made of it.

The negative log-likelihood picks one score per sample; its gradient puts one number per sample
back. Cross entropy is log_softmax followed by it, as in PyTorch's graph. The flags of old spellings
are resolved in nn.functional, not here. Lesson 13.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels import softmax as fused
from ..kernels import usable
from .arguments import require_tensors
from .elementwise import where
from .loss import check_reduction, refuse_gradient
from .rectifiers import require_floats
from .reduce import total
from .registry import Op, Tensor
from .softmax import log_softmax


class Pick(Op, fn=""):
    """y[i] = x[place[i]] of the flattened x; dx = g, put back."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /):
        ctx.save(places, x.shape)
        return x.reshape(-1).take(places)

    def backward(ctx, g):
        places, shape = ctx.saved
        return put_back(g, places, shape), None


class PutBack(Op, fn="", node="NllLossBackwardBackward0"):
    """x[place[i]] = y[i], zero elsewhere, for places that are all different; dy = g, picked."""

    __slots__ = ()

    def forward(ctx, xp, y, places, /, shape):
        ctx.save(places)
        x = xp.zeros(math.prod(shape), y.dtype)
        x[places] = y
        return x.reshape(shape)

    def backward(ctx, g):
        (places,) = ctx.saved
        return pick(g, places), None


pick, put_back = Pick.fn, PutBack.fn


def _places_and_factors(xp, x, target, weight, ignore_index):
    """Where each target's score is in the flattened x (N, C, …), and what it counts: 0 if
    ignored."""
    n, c = x.shape[:2]
    target = target.reshape(n, math.prod(x.shape[2:])).astype(np.int64)
    counts = target != ignore_index
    inside = (target >= 0) & (target < c)
    if xp is np and not (inside | ~counts).all():
        worst = target[counts & ~inside][0]
        raise IndexError(f"Target {worst} is out of bounds: there are {c} classes, 0 to {c - 1}")
    known = xp.where(inside, target, 0)
    rest = xp.arange(target.shape[1])
    places = ((xp.arange(n)[:, None] * c + known) * len(rest) + rest).reshape(-1)
    factors = counts.astype(x.dtype) if weight is None else weight.take(known) * counts
    if xp is not np:
        # Asking the device would make it wait, so a target out of bounds shows as nan there.
        factors = xp.where(inside | ~counts, factors, x.dtype.type(np.nan))
    return places, factors.reshape(-1), counts.reshape(-1)


class NllLoss(Op, fn=""):
    """Σ −w[t] x[n, t] / Σ w[t], t = target[n], over what is not ignored; dx[n, t] = −w[t] g / Σ
    w[t]."""

    __slots__ = ()

    def forward(ctx, xp, x, target, weight=None, /, ignore_index=-100, reduction="mean"):
        if usable(x, weight) and (reduction == "none" or target.size <= fused.MOST_SAMPLES):
            loss, places, factors = fused.nll(x, target, weight, ignore_index, reduction)
            ctx.save(places, factors, x.shape)
            return loss
        places, factors, counts = _places_and_factors(xp, x, target, weight, ignore_index)
        # An ignored score may be infinite, and infinity times 0 is nan.
        losses = xp.where(counts, -x.reshape(-1).take(places), 0) * factors
        if reduction == "none":
            loss = losses.reshape(target.shape)
        elif reduction == "sum":
            loss = losses.sum()
        else:
            whole = factors.sum()
            loss = losses.sum() / whole
            # PyTorch: no gradient at all where nothing counts.
            factors = factors / xp.where(whole > 0, whole, np.inf)
        ctx.save(places, -factors, x.shape)
        return loss

    def backward(ctx, g):
        places, factors, shape = ctx.saved
        if not isinstance(g, Tensor) and usable(g, factors):
            return fused.nll_backward(g, places, factors, shape), None, None
        return put_back(g.reshape(-1) * factors, places, shape), None, None


class NllLoss2D(Op, fn=""):
    """NllLoss of (N, C, …) and (N, …), which PyTorch gives a node of its own."""

    __slots__ = ()

    forward = NllLoss.forward
    backward = NllLoss.backward


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood −weight[t] · input[n, t] of the classes t = target[n].

    `input` (N, C) or (C) holds log-probabilities, `target` (N) or () classes (int64 or uint8);
    further dims (N, C, …), (N, …) are samples too. 'mean' divides the sum by the weights that took
    part; targets equal to `ignore_index` count nothing. ValueError for batches of different size,
    IndexError for a class that does not exist, RuntimeError for other misfits.

    >>> import tinygrad_course as tg
    >>> nll_loss(tg.tensor([[-1., -2.], [-3., -4.]]), tg.tensor([0, 1]))
    tensor(2.5000)
    """
    check_reduction(reduction)
    require_tensors("nll_loss", input=input, target=target, weight=weight)
    shape, targets = tuple(input.shape), tuple(target.shape)
    if not shape:
        raise ValueError(
            "nll_loss: expected an input of 1 or more dimensions, (C) or (N, C), got 0"
        )
    if len(shape) == 1:
        if target.numel() != 1 or len(targets) > 1:
            raise ValueError(
                f"nll_loss: a 1D input {list(shape)} has one target, got target size "
                f"{list(targets)}"
            )
        loss = nll_loss(input.unsqueeze(0), target.reshape(1), weight, ignore_index, reduction)
        return loss.squeeze(0) if reduction == "none" else loss
    if not targets or shape[0] != targets[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({targets[0] if targets else 0})."
        )
    if targets != (shape[0], *shape[2:]):
        raise RuntimeError(
            f"nll_loss: an input of {list(shape)} takes a target of {[shape[0], *shape[2:]]} with "
            f"one class per sample, got {list(targets)}"
        )
    require_floats("nll_loss", input._array)
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(
            f"nll_loss: expected target dtype to be int64 or uint8, but got {target.dtype!r}"
        )
    if weight is not None:
        _check_weight(weight, input)
        refuse_gradient("nll_loss", weight=weight)
    loss_of = NllLoss.fn if len(shape) == 2 else NllLoss2D.fn
    return loss_of(input, target, weight, ignore_index, reduction)


# --- cross entropy -------------------------------------------------------------------------------


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """−Σ_c weight[c] · target[n, c] · log softmax(input)[n, c], for scores of any size.

    `input` (N, C, …) or (C) holds scores; `target` (N, …) or () holds classes, or, with the shape
    of `input`, probabilities. `label_smoothing` ε puts (1 − ε) on the target and spreads ε over all
    classes. 'mean' divides by the weights that took part (probabilities: by the number of samples).
    Errors as `nll_loss`.

    >>> import tinygrad_course as tg
    >>> cross_entropy(tg.tensor([[1e4, 0.]]), tg.tensor([1]))
    tensor(10000.)
    """
    check_reduction(reduction)
    require_tensors("cross_entropy", input=input, target=target, weight=weight)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    shape = tuple(input.shape)
    dim = 0 if len(shape) == 1 else 1
    if tuple(target.shape) == shape:
        return _soft_cross_entropy(
            input, target, weight, ignore_index, reduction, label_smoothing, dim
        )
    log_p = log_softmax(input, dim)
    loss = nll_loss(log_p, target, weight, ignore_index, reduction)
    if label_smoothing <= 0:
        return loss
    target = target.reshape(shape[:dim] + shape[dim + 1 :])
    counts = target != ignore_index
    spread = log_p if weight is None else log_p * _per_class(weight, log_p, dim)
    even = where(counts, -total(spread, dim), 0)
    if reduction != "none":
        even = even.sum()
    if reduction == "mean":
        if weight is None:
            even = even / counts.sum()
        else:
            known = where(counts, target, 0).long()
            even = even / (pick(weight, known.reshape(-1)) * counts.reshape(-1)).sum()
    return loss * (1 - label_smoothing) + even * (label_smoothing / shape[dim])


def _soft_cross_entropy(
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    dim: int,
) -> Any:
    """Cross entropy with a probability for each class."""
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype!r}: classes have the shape {list(input.shape[:1] + input.shape[2:])} "
            "here"
        )
    if ignore_index >= 0:
        raise RuntimeError(
            "ignore_index is not supported for floating point target: weigh such samples 0 instead"
        )
    if weight is not None:
        _check_weight(weight, input, same_dtype=False)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
    terms = log_softmax(input, dim) * target
    if weight is not None:
        terms = terms * _per_class(weight, terms, dim)
    losses = -total(terms, dim)
    if reduction == "none":
        return losses
    samples = math.prod(input.shape) // max(input.shape[dim], 1)
    return losses.sum() / samples if reduction == "mean" else losses.sum()


def _per_class(weight: Any, x: Any, dim: int) -> Any:
    """`weight` (C) shaped so that it multiplies along `dim` of x."""
    return weight.reshape([-1 if i == dim else 1 for i in range(x.ndim)])


def _check_weight(weight: Any, input: Any, same_dtype: bool = True) -> None:
    classes = input.shape[0] if input.ndim == 1 else input.shape[1]
    if tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if same_dtype and weight.dtype is not input.dtype:
        raise RuntimeError(
            f"weight has dtype {weight.dtype!r} and the input {input.dtype!r}: convert one with "
            ".to()"
        )
