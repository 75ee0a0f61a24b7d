"""Normalisation: a launch forward and two backward, for batch, group, instance and layer norm.

A block of threads has the numbers that share a mean. They are `outer` runs of `inner` neighbours:
of a channel in the whole batch a run per image, of a sample, or a group of its channels, a single
one. So one kernel serves all kinds. A weight belongs to a channel, of which each has `places`
neighbours in a sample; in layer norm every number of a sample is a channel of its own. Lesson 11.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..device import Array, xp_of
from . import Kernels
from .rows import ROWS

KERNELS = Kernels(
    ROWS,
    """
// Where number i of a group lies, and which weight is its.
__device__ inline Index in_group(Index group, Index i, Index groups, Index inner) {
    return (i / inner * groups + group) * inner + i % inner;
}
__device__ inline Index channel_of(Index at, Index places, Index channels) {
    return at / places % channels;
}

// y = w (x - mean) r + b, r = 1 / sqrt(variance + eps). Not `centred`, mean is 0. The running
// statistics go a part `momentum` of the way to those found, with the unbiased variance.
extern "C" __global__ void normalise(
    long long groups, long long size, const real* x, const real* w, const real* b, real* y,
    real* means, real* rs, real* running_mean, real* running_variance, long long inner,
    long long places, long long channels, long long weighted, long long shifted,
    long long centred, long long running, double momentum, double eps
) {
    Index first = threadIdx.x, threads = blockDim.x;
    real count = size > 0 ? size : 1;
    for (Index group = blockIdx.x; group < groups; group += gridDim.x) {
        real mean = 0, variance = 0;
        for (Index i = first; centred && i < size; i += threads)
            mean += x[in_group(group, i, groups, inner)];
        mean = sum_of_block(mean) / count;
        for (Index i = first; i < size; i += threads) {
            real away = x[in_group(group, i, groups, inner)] - mean;
            variance += away * away;
        }
        variance = sum_of_block(variance) / count;
        real r = 1 / sqrt(variance + (real)eps);
        for (Index i = first; i < size; i += threads) {
            Index at = in_group(group, i, groups, inner), c = channel_of(at, places, channels);
            y[at] = (x[at] - mean) * (weighted ? r * w[c] : r) + (shifted ? b[c] : 0);
        }
        if (threadIdx.x > 0) continue;
        means[group] = mean;
        rs[group] = r;
        if (running) {
            real part = momentum, unbiased = variance * (count / (count - 1));
            running_mean[group] = (1 - part) * running_mean[group] + part * mean;
            running_variance[group] = (1 - part) * running_variance[group] + part * unbiased;
        }
    }
}

// The same with statistics that are given, a thread per number; r and a copy of the means are kept.
extern "C" __global__ void normalise_by(
    long long count, const real* x, const real* w, const real* b, const real* mean,
    const real* variance, real* y, real* means, real* rs, long long places, long long channels,
    long long weighted, long long shifted, double eps
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        Index c = channel_of(i, places, channels);
        real r = 1 / sqrt(variance[c] + (real)eps);
        y[i] = (x[i] - mean[c]) * (weighted ? r * w[c] : r) + (shifted ? b[c] : 0);
        if (i < channels) {
            means[i] = mean[i];
            rs[i] = 1 / sqrt(variance[i] + (real)eps);
        }
    }
}

// With n = (x - mean) r and h = w g: dx = r (h - mean of h - n mean of h n).
extern "C" __global__ void norm_backward(
    long long groups, long long size, const real* g, const real* x, const real* w,
    const real* means, const real* rs, real* dx, long long inner, long long places,
    long long channels, long long weighted, long long centred
) {
    Index first = threadIdx.x, threads = blockDim.x;
    real count = size > 0 ? size : 1;
    for (Index group = blockIdx.x; group < groups; group += gridDim.x) {
        real mean = centred ? means[group] : 0, r = rs[group], sum = 0, dot = 0;
        for (Index i = first; i < size; i += threads) {
            Index at = in_group(group, i, groups, inner), c = channel_of(at, places, channels);
            real h = weighted ? w[c] * g[at] : g[at];
            sum += h;
            dot += h * (x[at] - mean) * r;
        }
        sum = sum_of_block(centred ? sum : 0) / count;
        dot = sum_of_block(dot) / count;
        for (Index i = first; i < size; i += threads) {
            Index at = in_group(group, i, groups, inner), c = channel_of(at, places, channels);
            real h = weighted ? w[c] * g[at] : g[at];
            dx[at] = r * (h - sum - (x[at] - mean) * r * dot);
        }
    }
}

// dw = sum of g n, db = sum of g, over all numbers of a channel: a block has a channel.
extern "C" __global__ void norm_weights(
    long long channels, long long size, const real* g, const real* x, const real* means,
    const real* rs, real* dw, real* db, long long places, long long groups, long long inner,
    long long centred
) {
    for (Index c = blockIdx.x; c < channels; c += gridDim.x) {
        real sum = 0, dot = 0;
        for (Index i = threadIdx.x; i < size; i += blockDim.x) {
            Index at = in_group(c, i, channels, places), group = at / (Index)inner % (Index)groups;
            sum += g[at];
            dot += g[at] * (x[at] - (centred ? means[group] : 0)) * rs[group];
        }
        sum = sum_of_block(sum);
        dot = sum_of_block(dot);
        if (threadIdx.x == 0) {
            dw[c] = dot;
            db[c] = sum;
        }
    }
}
""",
)


class Layout(NamedTuple):
    """Which numbers share a mean and which a weight: `groups` of `outer` runs of `inner` numbers,
    `channels` of `places` neighbours in each of `samples`."""

    groups: int
    outer: int
    inner: int
    samples: int
    channels: int
    places: int


def of_channels(channels: tuple[int, int, int, int], shared: tuple[int, ...]) -> Layout:
    """(N, G, K, P) numbers, of which those along the dims `shared`, and all P, have one mean: the
    batch of a channel (K is 1), or the K channels of a group (K is 1 where `shared` is empty)."""
    n, groups, size, places = channels
    c = groups * size
    if shared == (0,):
        return Layout(c, n, places, n, c, places)
    return Layout(n * groups, 1, size * places, n, c, places)


def of_rows(rows: tuple[int, int]) -> Layout:
    """(samples, size) numbers, of which each sample has a mean and each place a weight."""
    samples, size = rows
    return Layout(samples, 1, size, samples, size, 1)


def normalise(
    x: Array,
    w: Array | None,
    b: Array | None,
    layout: Layout,
    eps: float,
    running: tuple[Array, Array, float] | None = None,
    centred: bool = True,
) -> tuple[Array, Array | None, Array]:
    """The normalised numbers, and the mean (None if not `centred`) and the r of each group.
    `running` is (mean, variance, momentum)."""
    xp, (groups, outer, inner, _, channels, places) = xp_of(x), layout
    y, mean, r = (xp.empty(shape, x.dtype) for shape in (x.shape, groups, groups))
    *kept, momentum = (mean, r, 0) if running is None else running
    flags = w is not None, b is not None, centred, running is not None
    # What is absent the kernel does not look at.
    given = [x if v is None else xp.ascontiguousarray(v) for v in (x, w, b)]
    numbers = inner, places, channels, *flags, float(momentum), float(eps)
    KERNELS.launch_rows("normalise", groups, outer * inner, *given, y, mean, r, *kept, *numbers)
    return y, mean if centred else None, r


def normalise_by(
    x: Array, w: Array | None, b: Array | None, mean: Array, variance: Array, eps: float
) -> tuple[Array, Array, Array]:
    """(N, C, …) normalised by the mean and variance (C), a copy of the mean, and 1 / √(variance +
    eps)."""
    xp, (channels, *places) = xp_of(x), x.shape[1:]
    y, means, r = (xp.empty(shape, x.dtype) for shape in (x.shape, channels, channels))
    given = [xp.ascontiguousarray(x if v is None else v) for v in (x, w, b, mean, variance)]
    numbers = math.prod(places), channels, w is not None, b is not None, float(eps)
    KERNELS.launch("normalise_by", x.size, *given, y, means, r, *numbers)
    return y, means, r


def gradients(
    g: Array,
    x: Array,
    w: Array | None,
    mean: Array | None,
    r: Array,
    layout: Layout,
    needs: tuple[Any, Any],
) -> tuple[Array | None, Array | None, Array | None]:
    """Those of x and of w and b (channels), as `needs` says of x and of the others."""
    xp, (groups, outer, inner, samples, channels, places) = xp_of(x), layout
    dx = dw = db = None
    centred, weighted = mean is not None, w is not None
    g, x = xp.ascontiguousarray(g), xp.ascontiguousarray(x)
    mean = mean if centred else r
    if needs[0]:
        dx = xp.empty(x.shape, x.dtype)
        arrays = g, x, xp.ascontiguousarray(w) if weighted else x, mean, r, dx
        numbers = inner, places, channels, weighted, centred
        KERNELS.launch_rows("norm_backward", groups, outer * inner, *arrays, *numbers)
    if needs[1]:
        dw, db = xp.empty(channels, x.dtype), xp.empty(channels, x.dtype)
        arrays, others = (g, x, mean, r, dw, db), (places, groups, inner, centred)
        KERNELS.launch_rows("norm_weights", channels, samples * places, *arrays, *others)
    return dx, dw, db
