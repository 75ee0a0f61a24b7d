"""Normalisation: numbers moved and scaled to mean 0 and variance 1, then to a learned weight and
bias.

Which numbers share a mean tells the kinds apart: those of a channel in the whole batch (batch
norm), of a sample (layer norm), of a group of a sample's channels (group norm), of one channel of
one sample (instance norm). Computed on arrays in few passes, with BLAS for the sums; a formula on
Tensors, with which the fused backward has to agree, gives derivatives of higher order. What the
functions ask of their arguments is in `normalization`. Lesson 11.
"""

from __future__ import annotations

import math

from ..autograd.variable import Tensor
from ..device import xp_of
from ..kernels import norm as fused
from ..kernels import usable
from .reduce import mean as average
from .reduce import total
from .registry import Op


class ChannelNorm(Op, fn="", node="NativeBatchNormBackward0"):
    """y = w·x̂ + b, x̂ = (x - mean)·r, r = 1 / √(variance + ε), of (N, C, …) with w and b (C).

    `channels` is (N, G, K, P) with G·K = C and P places; numbers along the dims `shared` of (N, G,
    K), and at all places, have one mean and variance. `running` is (mean, variance, momentum).
    With h = w·g: dx = r·(h - mean(h) - x̂·mean(h·x̂)); dw = Σ g·x̂, db = Σ g.
    """

    __slots__ = ()

    def forward(ctx, xp, x, w=None, b=None, /, *, channels, shared, eps, running=None):
        if _has_kernel(x, w, b, shared, running):
            layout = fused.of_channels(channels, shared)
            y, mean, r = fused.normalise(x, w, b, layout, eps, running if x.size else None)
            ctx.save(x, w, channels, shared, eps, mean, r)
            return y
        count = _count(channels, shared)
        mean = _pooled(_sums(xp, x, channels), shared) / count
        y = x.reshape(_flat(channels)) - _spread(mean, channels)
        variance = _pooled(_dots(xp, y, y, channels), shared) / count
        if running is not None and x.size:
            _update(running, mean, variance * (count / (count - 1) if count > 1 else math.nan))
        r = 1 / xp.sqrt(variance + eps)
        ctx.save(x, w, channels, shared, eps, mean, r)
        scale = _spread(r, channels)
        y *= scale if w is None else scale * w[:, None]
        if b is not None:
            y += b[:, None]
        return y.reshape(x.shape)

    def backward(ctx, g):
        x, w, channels, shared, eps, mean, r = ctx.saved
        if isinstance(g, Tensor):
            return _by_formula(ctx, g, eps, channels, (*shared, 3), (0, 3), (*channels[1:3], 1))
        if r.ndim == 1:  # a number per mean, from the kernel
            layout, needs = fused.of_channels(channels, shared), (ctx.needs[0], any(ctx.needs[1:]))
            return fused.gradients(g, x, w, mean, r, layout, needs)
        xp, (_, c, _), count = xp_of(g), _flat(channels), _count(channels, shared)
        g = xp.ascontiguousarray(g)
        sums = _sums(xp, g, channels)
        dots = (_dots(xp, g, x, channels) - mean * sums) * r  # Σ g·x̂ of each channel and sample
        dw = dots.sum(0).reshape(c) if ctx.needs[1] else None
        db = sums.sum(0).reshape(c) if ctx.needs[2] else None
        if not ctx.needs[0]:
            return None, dw, db
        if w is not None:
            sums, dots = (v * w.reshape(channels[1:3]) for v in (sums, dots))
        m, k = _pooled(sums, shared) / count, _pooled(dots, shared) / count * r
        # r·(h - m - (x - mean)·k) as a number per channel times x, plus one times g, plus one.
        dx = x.reshape(_flat(channels)) * _spread(-r * k, channels)
        scale = _spread(r, channels)
        dx += g.reshape(dx.shape) * (scale if w is None else scale * w[:, None])
        dx += _spread(r * (k * mean - m), channels)
        return dx.reshape(x.shape), dw, db


class GroupNorm(ChannelNorm, fn="", node="NativeGroupNormBackward0"):
    """ChannelNorm of each group of a sample's channels, under PyTorch's name."""

    __slots__ = ()

    forward = ChannelNorm.forward


def _has_kernel(x, w, b, shared, running):
    """Whether a kernel does it: running statistics are those of a whole batch there."""
    if running is None:
        return usable(x, w, b)
    mean, variance, _ = running
    if shared != (0,) or mean is None or variance is None:
        return False
    rows = mean.flags.c_contiguous and variance.flags.c_contiguous
    return rows and usable(x, w, b, mean, variance)


def _flat(channels):
    """(N, C, P) of (N, G, K, P)."""
    n, groups, size, places = channels
    return n, groups * size, places


def _count(channels, shared):
    """How many numbers have one mean, or 1 for none."""
    return max(math.prod([channels[d] for d in (*shared, 3)]), 1)


def _sums(xp, x, channels):
    """Σ x over the places of each channel and sample: (N, G, K). A matrix-vector product adds three
    times as fast as sum()."""
    *outer, places = channels
    if places == 1:
        return x.reshape(outer)
    return (x.reshape(math.prod(outer), places) @ xp.ones(places, x.dtype)).reshape(outer)


def _dots(xp, x, y, channels):
    """Σ x·y over the places of each channel and sample, without an array of products."""
    *outer, places = channels
    rows = (math.prod(outer), places)
    return xp.einsum("rp,rp->r", x.reshape(rows), y.reshape(rows)).reshape(outer)


def _pooled(sums, shared):
    return sums.sum(shared, keepdims=True) if shared else sums


def _spread(numbers, channels):
    """Numbers of means, (N, G, K) or 1 for a dim that shares one, to each channel: (…, C, 1)."""
    n, groups, size = numbers.shape
    if size != channels[2]:
        numbers = numbers.repeat(channels[2], 2)
    return numbers.reshape(n, groups * channels[2], 1)


def _update(running, mean, variance):
    """running := (1 - momentum)·running + momentum·new, averaged over samples where they have
    statistics of their own."""
    *kept, momentum = running
    for old, new in zip(kept, (mean, variance), strict=True):
        if old is not None:
            new = new.reshape(-1, len(old))
            old *= 1 - momentum
            old += momentum * (new[0] if len(new) == 1 else new.mean(0))


class LayerNorm(Op, fn="", node="NativeLayerNormBackward0"):
    """y = w·x̂ + b, x̂ = (x - mean)·r, r = 1 / √(variance + ε), of each sample of (samples, size),
    with w and b (size); not `centred`, mean is 0. The derivatives are those of ChannelNorm."""

    __slots__ = ()

    def forward(ctx, xp, x, w=None, b=None, /, *, rows, eps, centred=True):
        if usable(x, w, b):
            y, mean, r = fused.normalise(x, w, b, fused.of_rows(rows), eps, centred=centred)
            ctx.save(x, w, rows, eps, mean, r)
            return y
        seen, size = x.reshape(rows), max(rows[1], 1)
        mean = seen @ xp.full(rows[1], 1 / size, x.dtype) if centred else None
        y = seen if mean is None else seen - mean[:, None]
        r = 1 / xp.sqrt(xp.einsum("rp,rp->r", y, y) / size + eps)
        ctx.save(x, w, rows, eps, mean, r)
        y = xp.multiply(y, r[:, None], out=y if centred else None)
        if w is not None:
            y *= w
        if b is not None:
            y += b
        return y.reshape(x.shape)

    def backward(ctx, g):
        x, w, rows, eps, mean, r = ctx.saved
        centred = mean is not None
        if isinstance(g, Tensor):
            return _by_formula(ctx, g, eps, rows, (1,), (0,), rows[1:], centred)
        if usable(x, g, w):
            needs = ctx.needs[0], any(ctx.needs[1:])
            return fused.gradients(g, x, w, mean, r, fused.of_rows(rows), needs)
        xp, size = xp_of(g), max(rows[1], 1)
        g = xp.ascontiguousarray(g).reshape(rows)
        normal = x.reshape(rows) - mean[:, None] if centred else x.reshape(rows)
        normal = xp.multiply(normal, r[:, None], out=normal if centred else None)
        dw = xp.einsum("rp,rp->p", g, normal) if ctx.needs[1] else None
        db = xp.ones(rows[0], g.dtype) @ g if ctx.needs[2] else None
        if not ctx.needs[0]:
            return None, dw, db
        h = g if w is None else g * w
        normal *= (xp.einsum("rp,rp->r", h, normal) / -size)[:, None]
        normal += h
        if centred:
            normal -= (h @ xp.full(rows[1], 1 / size, h.dtype))[:, None]
        normal *= r[:, None]
        return normal.reshape(x.shape), dw, db


class RmsNorm(LayerNorm, fn="", node="FusedRmsNormBackward0"):
    """LayerNorm that leaves the mean in: x over its root mean square."""

    __slots__ = ()

    forward = LayerNorm.forward


def _by_formula(ctx, g, eps, shape, around, samples, weights, centred=True):
    """The gradients by operations on Tensors, recorded: of x seen in `shape`, with a mean `around`
    these dims, and w in the shape `weights` shared by the dims `samples`."""
    x, w = ctx.saved[:2]
    normal = x.reshape(shape)
    if centred:
        normal = normal - average(normal, around, True)
    r = (average(normal * normal, around, True) + eps).rsqrt()
    normal = normal * r
    h = g.reshape(shape)
    dw = total(h * normal, samples).reshape(-1) if ctx.needs[1] else None
    db = total(h, samples).reshape(-1) if ctx.needs[2] else None
    if w is not None:
        h = h * w.reshape(weights)
    dx = h - normal * average(h * normal, around, True)
    if centred:
        dx = dx - average(h, around, True)
    return (dx * r).reshape(x.shape), dw, db


class BatchNormEval(Op, fn="", node="NativeBatchNormBackward0"):
    """y = w·(x - mean) / √(variance + ε) + b with statistics that are given, (N, C, …);
    dx = w·g / √(variance + ε), dw = Σ g·(x - mean) / √(variance + ε), db = Σ g."""

    __slots__ = ()

    def forward(ctx, xp, x, w=None, b=None, /, *, mean, variance, eps):
        per_channel = (-1,) + (1,) * (x.ndim - 2)
        if x.ndim > 1 and usable(x, w, b, mean, variance):
            y, mean, factor = fused.normalise_by(x, w, b, mean, variance, eps)
            ctx.save(x, w, mean.reshape(per_channel), factor.reshape(per_channel))
            return y
        # A copy of the mean, as the running one goes on running.
        mean = mean.reshape(per_channel).astype(x.dtype)
        factor = 1 / xp.sqrt(variance.reshape(per_channel).astype(x.dtype) + eps)
        ctx.save(x, w, mean, factor)
        y = x - mean
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
