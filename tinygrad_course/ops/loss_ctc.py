"""Connectionist temporal classification: the likelihood of a short sequence under a long one.

At each time step a network says how likely each label is, or the blank between labels. All ways to
stretch the target over the steps, with repeats and blanks, count. Two passes over time, forward and
backward, add them up without listing them, in logarithms (A. Graves and others, 2006). Lesson 13.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from .arguments import require_tensors
from .loss import check_reduction, numbered, reduced
from .registry import Op, function


class CtcLoss(Op, fn=""):
    """−ln Σ Π_t x[t, n, label at t] over all alignments: (T, N, C), (N, S) → (N).

    `lengths` are those of the inputs and of the targets, as two columns; what is beyond them is
    padding. The derivative is that for scores whose log_softmax is x, as in PyTorch.
    """

    __slots__ = ()

    def forward(ctx, xp, x, targets, lengths, /, blank, zero_infinity):
        lattice = _Lattice(xp, x, targets, lengths, blank)
        alpha = lattice.forward()
        losses = -lattice.at_the_end(alpha)
        ctx.save(x, targets, lengths, alpha, losses, blank, zero_infinity)
        return xp.where(losses == math.inf, 0, losses) if zero_infinity else losses

    def backward(ctx, g):
        return CtcLossBackward.fn(g, *ctx.saved), None, None


class CtcLossBackward(Op, fn=""):
    """dx[t, n, c] = (e^x − P(label at t is c | target)) g[n] within the input's length, else 0."""

    __slots__ = ()

    def forward(ctx, xp, g, x, targets, lengths, alpha, losses, /, blank, zero_infinity):
        lattice = _Lattice(xp, x, targets, lengths, blank)
        # Both passes count the emission at t.
        twice = xp.where(lattice.emitted == -math.inf, 0, lattice.emitted)
        shares = xp.exp(alpha + lattice.backward() - twice + losses[:, None])
        classes = xp.arange(x.shape[2])
        is_class = (lattice.labels[:, :, None] == classes).astype(x.dtype)
        occupied = xp.matmul(shares.swapaxes(0, 1), is_class).swapaxes(0, 1)
        counts = lattice.steps[:, None] < lengths[:, 0]
        if zero_infinity:
            counts = counts & (losses != math.inf)
        return xp.where(counts[:, :, None], (xp.exp(x) - occupied) * g[:, None], 0)

    def backward(ctx, *grads):
        raise RuntimeError("derivative for ctc_loss_backward is not implemented, as in PyTorch")


class _Lattice:
    """The states of all samples: the target's labels with blanks around them, (N, 2S + 1).

    A path starts in one of the first two states, stays or goes on by one, or by two from a label to
    a different one, and ends in one of the last two.
    """

    def __init__(self, xp: Any, x: Any, targets: Any, lengths: Any, blank: int) -> None:
        self.xp = xp
        n, size = targets.shape
        self.steps = xp.arange(len(x))
        states = xp.arange(2 * size + 1)
        self.labels = xp.full((n, 2 * size + 1), blank)
        self.labels[:, 1::2] = targets
        self.last = 2 * lengths[:, 1:]
        self.ends = lengths[:, 0] - 1
        used = states <= self.last
        self.final = used & (states >= self.last - 1)
        self.initial = used & (states <= 1)
        self.skips = xp.zeros(self.labels.shape, bool)
        self.skips[:, 3::2] = targets[:, 1:] != targets[:, :-1]
        emitted = xp.take_along_axis(x, self.labels[None], 2)
        self.emitted = xp.where(used, emitted, -math.inf).astype(x.dtype)

    def forward(self) -> Any:
        """ln P(all emitted up to t, state s at t): (T, N, 2S + 1)."""
        xp, alpha = self.xp, self.xp.full_like(self.emitted, -math.inf)
        alpha[0] = xp.where(self.initial, self.emitted[0], -math.inf)
        for t in range(1, len(alpha)):
            come = [alpha[t - 1], *(_moved(xp, alpha[t - 1], by) for by in (1, 2))]
            come[2] = xp.where(self.skips, come[2], -math.inf)
            alpha[t] = _log_sum(xp, come) + self.emitted[t]
        return alpha

    def backward(self) -> Any:
        """ln P(all emitted from t on | state s at t): (T, N, 2S + 1)."""
        xp, beta = self.xp, self.xp.full_like(self.emitted, -math.inf)
        skips = _moved(xp, self.skips, -2, False)
        for t in reversed(range(len(beta))):
            end = xp.where(self.final & (self.ends == t)[:, None], 0, -math.inf)
            go: list[Any] = [end.astype(beta.dtype)]
            if t + 1 < len(beta):
                go += [beta[t + 1], *(_moved(xp, beta[t + 1], by) for by in (-1, -2))]
                go[3] = xp.where(skips, go[3], -math.inf)
            beta[t] = _log_sum(xp, go) + self.emitted[t]
        return beta

    def at_the_end(self, alpha: Any) -> Any:
        """ln P(target): (N)."""
        xp = self.xp
        last = xp.take_along_axis(alpha, xp.maximum(self.ends, 0)[None, :, None], 0)[0]
        whole = _log_sum(xp, list(xp.where(self.final, last, -math.inf).T))
        # Without any steps only the empty target is certain.
        return xp.where(self.ends < 0, xp.where(self.last[:, 0] == 0, 0, -math.inf), whole).astype(
            alpha.dtype
        )


def _moved(xp: Any, rows: Any, by: int, fill: Any = -math.inf) -> Any:
    """The columns moved to the right (left for a negative number), with `fill` coming in."""
    out = xp.full_like(rows, fill)
    if by > 0:
        out[:, by:] = rows[:, :-by]
    else:
        out[:, :by] = rows[:, -by:]
    return out


def _log_sum(xp: Any, parts: list[Any]) -> Any:
    """ln Σ e^part over equal arrays; −inf where all are."""
    stacked = xp.stack(parts)
    top = stacked.max(0)
    top = xp.where(top == -math.inf, 0, top)
    return xp.log(xp.exp(stacked - top).sum(0)) + top


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """−ln P(targets | log_probs), summed over all alignments with repeats and blanks.

    `log_probs` (T, N, C) or (T, C) holds log-probabilities; `targets` (N, S), (S), or all of them
    one after the other, labels other than `blank`; the lengths (N) are both tuples or both integer
    tensors. 'mean' divides each loss by the length of its target first. A target too long for its
    input has an infinite loss, or none with `zero_infinity`. RuntimeError for sizes that do not
    fit.

    >>> import tinygrad_course as tg
    >>> x = tg.full((2, 1, 2), 0.5).log()
    >>> tg.nn.functional.ctc_loss(x, tg.tensor([[1]]), (2,), (1,)).exp()
    tensor(1.3333)
    """
    check_reduction(reduction)
    require_tensors("ctc_loss", log_probs=log_probs, targets=targets)
    x, batched = log_probs, log_probs.ndim == 3
    if x.ndim == 2:
        x = x.unsqueeze(1)
    if x.ndim != 3:
        raise RuntimeError(
            "ctc_loss: Expected 3-dimensional tensor (T, N, C), or (T, C), but got "
            f"{list(log_probs.shape)} for log_probs"
        )
    if not x.numel():
        raise RuntimeError(
            f"ctc_loss: log_probs tensor must not be empty, got {list(log_probs.shape)}"
        )
    if x.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"ctc_loss is not implemented for {x.dtype!r}: use .float()")
    steps, samples, classes = x.shape
    if not 0 <= blank < classes:
        raise RuntimeError(
            f"ctc_loss: blank must be in label range 0 to {classes - 1}, got {blank}"
        )
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        raise TypeError(
            "ctc_loss(): input_lengths and target_lengths must be both tensors or both tuples of "
            f"ints, not {type(input_lengths).__name__} and {type(target_lengths).__name__}"
        )
    inputs = _lengths(input_lengths, "input_lengths", samples, steps)
    sizes = _lengths(target_lengths, "target_lengths", samples, math.inf)
    padded = _padded(targets, sizes, samples, batched, classes)
    lengths = x.new_tensor([*zip(inputs, sizes, strict=True)], dtype=padded.dtype)
    losses = CtcLoss.fn(x, padded, lengths, blank, zero_infinity)
    if reduction == "mean":
        losses = losses / lengths[:, 1].clamp_min(1).to(losses.dtype)
    loss = reduced(losses, reduction)
    return loss if batched or reduction != "none" else loss.squeeze(0)


def _lengths(given: Any, name: str, samples: int, most: float) -> list[int]:
    """The lengths as checked ints."""
    if isinstance(given, Tensor):
        if given.is_floating_point():
            raise RuntimeError(f"ctc_loss: {name} must be integral, not {given.dtype!r}")
        given = given.reshape(-1).tolist()
    if not isinstance(given, tuple | list) or any(type(n) is not int for n in given):
        raise TypeError(f"ctc_loss(): {name} must be a tuple of ints, not {given!r}")
    if len(given) != samples:
        raise RuntimeError(
            f"ctc_loss: {name} must be of size batch_size: {samples}, got {len(given)}"
        )
    for n in given:
        if not 0 <= n <= most:
            bound = "least 0" if n < 0 else f"most {most}"
            raise RuntimeError(
                f"ctc_loss: Expected {name} to have value at {bound}, but got value {n}"
            )
    return list(given)


def _padded(targets: Any, sizes: list[int], samples: int, batched: bool, classes: int) -> Any:
    """The targets as a matrix (N, S), S the longest."""
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"ctc_loss: Expected 1 to 2 dimensions, but got {list(targets.shape)} for targets"
        )
    longest, targets = max(sizes), targets.detach().long()
    if targets.ndim == 1 and batched:
        if sum(sizes) != targets.shape[0]:
            raise RuntimeError(
                f"ctc_loss: Expected tensor to have size {sum(sizes)} at dimension 0, but got size "
                f"{targets.shape[0]} for targets: the sum of target_lengths"
            )
        begins = np.cumsum([0, *sizes[:-1]])
        # Rows run over into the next target, or stay at the last label: padding, never looked at.
        places = np.minimum(begins[:, None] + np.arange(longest), max(sum(sizes) - 1, 0))
        targets = (
            targets[targets.new_tensor(places.tolist())]
            if longest
            else targets.new_zeros((samples, 0))
        )
    elif targets.ndim == 1:
        targets = targets.unsqueeze(0)
    if targets.shape[0] != samples or targets.shape[1] < longest:
        raise RuntimeError(
            f"ctc_loss: Expected targets of size {samples} at dimension 0 and at least {longest} "
            f"at dimension 1, but got {list(targets.shape)}"
        )
    targets = targets[:, :longest].contiguous()
    values = targets._array
    # Asking the device would make it wait; there a label out of range counts for the nearest.
    if isinstance(values, np.ndarray):
        used = np.arange(longest) < np.array(sizes)[:, None]
        if (used & ((values < 0) | (values >= classes))).any():
            raise RuntimeError(
                f"ctc_loss: targets must be labels 0 to {classes - 1}, got "
                f"{values[used].min()} to {values[used].max()}"
            )
    return targets.clamp(0, classes - 1)


function(ctc_loss=numbered(ctc_loss))
