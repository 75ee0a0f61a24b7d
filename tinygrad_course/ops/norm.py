"""Normalisation: numbers moved and scaled to mean 0 and variance 1, then to a learned weight and
bias.

Which numbers share a mean tells the kinds apart: those of a channel in the whole batch (batch
norm), of a sample (layer norm), of a group of a sample's channels (group norm), of one channel of
one sample (instance norm). Seen as (blocks, groups, places), one computation on arrays serves them
all, forward and backward; a formula on Tensors, which it has to agree with, gives derivatives of
higher order. What the functions ask of their arguments is in `normalization`. Lesson 13.
"""

from __future__ import annotations

import math

from ..autograd.variable import Tensor
from ..device import xp_of
from .reduce import mean as average
from .reduce import total
from .registry import Op

# --- sums over all but the middle dim, by BLAS ----------------------------------------------------


def _sums(xp, x):
    """Σ over blocks and places: (B, G, P) → (G). A matrix-vector product adds three times as fast
    as sum()."""
    blocks, groups, places = x.shape
    if places == 1:
        return xp.ones(blocks, x.dtype) @ x.reshape(blocks, groups)
    rows = x.reshape(blocks * groups, places) @ xp.ones(places, x.dtype)
    return rows.reshape(blocks, groups).sum(0)


def _dots(xp, x, y):
    """Σ x·y over blocks and places: (B, G, P), (B, G, P) → (G), without an array of products."""
    blocks, groups, places = x.shape
    if places == 1:
        return xp.einsum("bg,bg->g", x.reshape(blocks, groups), y.reshape(blocks, groups))
    shape = (blocks * groups, places)
    rows = xp.einsum("rp,rp->r", x.reshape(shape), y.reshape(shape))
    return rows.reshape(blocks, groups).sum(0)


# --- the operations -------------------------------------------------------------------------------


class Norm(Op, fn="", node="NativeBatchNormBackward0"):
    """y = w·x̂ + b, x̂ = (x - mean) / √(variance + ε); not `centred`, mean is 0.

    `groups` is the shape (B, G, P) in which numbers of one g share mean and variance, `weights` the
    one in which they share w and b. `running` is (mean, variance, momentum) to be updated.
    With h = w·g: dx = (h - mean(h) - x̂·mean(h·x̂)) / √(variance + ε); dw = Σ g·x̂, db = Σ g.
    """

    __slots__ = ()

    def forward(ctx, xp, x, w=None, b=None, /, *, groups, weights, eps, centred=True, running=None):
        seen = xp.ascontiguousarray(x).reshape(groups)
        count = groups[0] * groups[2]
        mean = _sums(xp, seen) / max(count, 1)
        y = seen - mean[:, None] if centred else seen.copy()
        variance = _dots(xp, y, y) / max(count, 1)
        if running is not None and count:
            _update(running, mean, variance * (count / (count - 1) if count > 1 else math.nan))
        factor = 1 / xp.sqrt(variance + eps)
        ctx.save(x, w, groups, weights, eps, centred, mean, factor)
        if w is not None and groups == weights:
            factor = factor * w
        y *= factor[:, None]
        y = y.reshape(weights)
        if w is not None and groups != weights:
            y *= w[:, None]
        if b is not None:
            y += b[:, None]
        return y.reshape(x.shape)

    def backward(ctx, g):
        return _by_formula(ctx, g) if isinstance(g, Tensor) else _fused(ctx, g)


def _update(running, mean, variance):
    """running := (1 - momentum)·running + momentum·new, averaged over samples where they have
    statistics of their own."""
    *kept, momentum = running
    for old, new in zip(kept, (mean, variance), strict=True):
        if old is not None:
            old *= 1 - momentum
            old += momentum * new.reshape(-1, len(old)).mean(0)


def _fused(ctx, g):
    """The gradients on arrays, in one new array of the input's size, or two."""
    x, w, groups, weights, _, centred, mean, factor = ctx.saved
    xp = xp_of(g)
    count = groups[0] * groups[2]
    normal = xp.ascontiguousarray(x).reshape(groups)
    if centred:
        normal = normal - mean[:, None]
        normal *= factor[:, None]
    else:
        normal = normal * factor[:, None]
    h = xp.ascontiguousarray(g).reshape(weights)
    dw = _dots(xp, h, normal.reshape(weights)) if ctx.needs[1] else None
    db = _sums(xp, h) if ctx.needs[2] else None
    if not ctx.needs[0]:
        return None, dw, db
    if w is not None and groups == weights:
        factor = factor * w  # one number per group: it may as well come last
    elif w is not None:
        h = h * w[:, None]
    h = h.reshape(groups)
    normal *= (_dots(xp, h, normal) / -max(count, 1))[:, None]
    normal += h
    if centred:
        normal -= (_sums(xp, h) / max(count, 1))[:, None]
    normal *= factor[:, None]
    return normal.reshape(x.shape), dw, db


def _by_formula(ctx, g):
    """The same of operations on Tensors, recorded."""
    x, w, groups, weights, eps, centred, *_ = ctx.saved
    around = (0, 2)
    normal = x.reshape(groups)
    if centred:
        normal = normal - average(normal, around, True)
    factor = (average(normal * normal, around, True) + eps).rsqrt()
    normal = normal * factor
    h = g.reshape(weights)
    dw = total(h * normal.reshape(weights), around) if ctx.needs[1] else None
    db = total(h, around) if ctx.needs[2] else None
    h = (h if w is None else h * w.reshape((-1, 1))).reshape(groups)
    dx = h - normal * average(h * normal, around, True)
    if centred:
        dx = dx - average(h, around, True)
    return (dx * factor).reshape(x.shape), dw, db


class LayerNorm(Norm, fn="", node="NativeLayerNormBackward0"):
    """Norm of each sample, with a weight and a bias per place."""

    __slots__ = ()

    forward = Norm.forward


class GroupNorm(Norm, fn="", node="NativeGroupNormBackward0"):
    """Norm of each group of a sample's channels, with a weight and a bias per channel."""

    __slots__ = ()

    forward = Norm.forward


class RmsNorm(Norm, fn="", node="FusedRmsNormBackward0"):
    """Norm of each sample that leaves the mean in: x over its root mean square."""

    __slots__ = ()

    forward = Norm.forward


class BatchNormEval(Op, fn="", node="NativeBatchNormBackward0"):
    """y = w·(x - mean) / √(variance + ε) + b with statistics that are given, (N, C, …);
    dx = w·g / √(variance + ε), dw = Σ g·(x - mean) / √(variance + ε), db = Σ g."""

    __slots__ = ()

    def forward(ctx, xp, x, w=None, b=None, /, *, mean, variance, eps):
        per_channel = (-1,) + (1,) * (x.ndim - 2)
        # A copy of the mean, as the running one goes on running.
        mean = mean.reshape(per_channel).astype(x.dtype)
        factor = 1 / xp.sqrt(variance.reshape(per_channel).astype(x.dtype) + eps)
        ctx.save(x, w, mean, factor)
        y = xp.ascontiguousarray(x) - mean
        y *= factor if w is None else factor * w.reshape(per_channel)
        if b is not None:
            y += b.reshape(per_channel)
        return y

    def backward(ctx, g):
        x, w, mean, factor = ctx.saved
        around = (0, *range(2, g.ndim))
        dx = None
        if ctx.needs[0]:
            dx = g * (factor if w is None else factor * w.reshape(factor.shape))
        return (
            dx,
            total(g * ((x - mean) * factor), around) if ctx.needs[1] else None,
            total(g, around) if ctx.needs[2] else None,
        )


# --- of the neighbouring channels -----------------------------------------------------------------


class ChannelWindows(Op, fn=""):
    """y[n, c] = Σ x[n, c - before … c + after] over the channels there are; dx is the sum over the
    mirrored window."""

    __slots__ = ()

    def forward(ctx, xp, x, /, before, after):
        ctx.save(before, after)
        y = xp.zeros_like(x)
        channels = x.shape[1]
        for step in range(-min(before, channels), min(after, channels) + 1):
            inside = slice(max(-step, 0), channels - max(step, 0))
            y[:, inside] += x[:, max(step, 0) : channels - max(-step, 0)]
        return y

    def backward(ctx, g):
        before, after = ctx.saved
        return channel_windows(g, after, before)


channel_windows = ChannelWindows.fn
