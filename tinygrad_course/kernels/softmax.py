"""softmax, its logarithm and the negative log-likelihood, each way in one launch.

A block of threads has a row: it finds the maximum, adds up the exponentials and writes the result,
where the formula on arrays goes over the row in five launches. Lesson 13.
"""

from __future__ import annotations

import math

from ..device import Array, xp_of
from . import Kernels
from .rows import ROWS

KERNELS = Kernels(
    ROWS,
    """
// A row's elements are `step` apart: rows along another dim than the last lie within each other.
__device__ inline Index row_start(Index row, Index width, Index step) {
    return row / step * width * step + row % step;
}

// y = exp(x) / sum of exp(x), or the logarithm of that.
extern "C" __global__ void softmax(
    long long rows, long long width, const real* x, real* y, long long step, long long logarithm
) {
    Index first = threadIdx.x, threads = blockDim.x;
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        Index start = row_start(row, width, step);
        real best = x[start], sum = 0;
        for (Index i = first; i < width; i += threads) {
            real seen = x[start + i * (Index)step];
            best = seen > best ? seen : best;
        }
        best = max_of_block(best);
        for (Index i = first; i < width; i += threads)
            sum += exp(x[start + i * (Index)step] - best);
        sum = sum_of_block(sum);
        real shift = logarithm ? log(sum) : 0;
        for (Index i = first; i < width; i += threads) {
            Index at = start + i * (Index)step;
            y[at] = logarithm ? x[at] - best - shift : exp(x[at] - best) / sum;
        }
    }
}

// dx = y (g - sum of g y), or g - exp(y) sum of g.
extern "C" __global__ void softmax_backward(
    long long rows, long long width, const real* g, const real* y, real* dx, long long step,
    long long logarithm
) {
    Index first = threadIdx.x, threads = blockDim.x;
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        Index start = row_start(row, width, step);
        real sum = 0;
        for (Index i = first; i < width; i += threads) {
            Index at = start + i * (Index)step;
            sum += logarithm ? g[at] : g[at] * y[at];
        }
        sum = sum_of_block(sum);
        for (Index i = first; i < width; i += threads) {
            Index at = start + i * (Index)step;
            dx[at] = logarithm ? g[at] - exp(y[at]) * sum : y[at] * (g[at] - sum);
        }
    }
}

// Of a score per class, (samples, classes, step): where each target's is, and minus what it counts.
// An ignored target counts 0; one that is no class is nan, as asking for it would make the host
// wait.
struct Target {
    Index place;
    real factor;
    bool counts;
    __device__ Target(
        Index i, long long target, const real* weight, Index classes, Index step,
        long long ignored, bool weighted
    ) {
        bool known = target >= 0 && target < classes;
        Index chosen = known ? target : 0;
        counts = target != ignored;
        place = (i / step * classes + chosen) * step + i % step;
        factor = !counts ? 0 : !known ? sqrt((real)-1) : weighted ? -weight[chosen] : -1;
    }
};

// loss = the sum of -w x, or their mean, by one block.
extern "C" __global__ void nll(
    long long rows, long long count, const real* x, const long long* target, const real* weight,
    real* loss, long long* places, real* factors, long long classes, long long step,
    long long ignored, long long weighted, long long mean
) {
    real sum = 0, whole = 0;
    for (Index i = threadIdx.x; i < count; i += blockDim.x) {
        Target t(i, target[i], weight, classes, step, ignored, weighted);
        places[i] = t.place;
        factors[i] = t.factor;
        whole -= t.factor;
        if (t.counts) sum += t.factor * x[t.place];  // an ignored score may be infinite
    }
    sum = sum_of_block(sum);
    whole = sum_of_block(whole);
    if (threadIdx.x == 0) loss[0] = mean ? sum / whole : sum;
    for (Index i = threadIdx.x; mean && i < count; i += blockDim.x)
        factors[i] = whole > 0 ? factors[i] / whole : factors[i] * 0;
}

// The same without a sum.
extern "C" __global__ void nll_each(
    long long count, const real* x, const long long* target, const real* weight, real* loss,
    long long* places, real* factors, long long classes, long long step, long long ignored,
    long long weighted
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        Target t(i, target[i], weight, classes, step, ignored, weighted);
        places[i] = t.place;
        factors[i] = t.factor;
        loss[i] = t.counts ? t.factor * x[t.place] : 0;
    }
}

// dx = g times the factor where the target is, else 0.
extern "C" __global__ void nll_backward(
    long long count, const real* g, const long long* places, const real* factors, real* dx,
    long long classes, long long step, long long each
) {
    Index plane = (Index)classes * (Index)step;
    for (Index i = first_element(); i < count; i += next_element()) {
        Index sample = i / plane * (Index)step + i % (Index)step;
        dx[i] = places[sample] == i ? (each ? g[sample] : g[0]) * factors[sample] : 0;
    }
}
""",
)

# One block adds up the losses: with more samples than that it is slower than several launches.
MOST_SAMPLES = 65_536


def _rows(x: Array, dim: int) -> tuple[int, int, int]:
    """How many rows there are along `dim`, how long they are, and how far apart their elements."""
    width = x.shape[dim]
    return x.size // max(width, 1), width, math.prod(x.shape[dim + 1 :])


def softmax(x: Array, dim: int, logarithm: bool) -> Array:
    """exp(x) / Σ exp(x) along `dim`, or its logarithm."""
    xp, (rows, width, step) = xp_of(x), _rows(x, dim)
    x, y = xp.ascontiguousarray(x), xp.empty(x.shape, x.dtype)
    KERNELS.launch_rows("softmax", rows, width, x, y, step, logarithm)
    return y


def softmax_backward(g: Array, y: Array, dim: int, logarithm: bool) -> Array:
    """y (g − Σ g y), or of the logarithm g − exp(y) Σ g."""
    xp, (rows, width, step) = xp_of(y), _rows(y, dim)
    g, y, dx = xp.ascontiguousarray(g), xp.ascontiguousarray(y), xp.empty(y.shape, y.dtype)
    KERNELS.launch_rows("softmax_backward", rows, width, g, y, dx, step, logarithm)
    return dx


def nll(
    x: Array, target: Array, weight: Array | None, ignored: int, reduction: str
) -> tuple[Array, Array, Array]:
    """−w[t] x[n, t] of (N, C, …) and targets t (N, …), or the sum or the mean; and for each target
    the flat place of its score, and what the loss is to be multiplied by there."""
    xp, count = xp_of(x), target.size
    x = xp.ascontiguousarray(x)
    target = xp.ascontiguousarray(target.astype("int64", copy=False))
    weighted = weight is not None
    weight = xp.ascontiguousarray(weight) if weighted else x  # which is not looked at
    places, factors = xp.empty(count, "int64"), xp.empty(count, x.dtype)
    each = reduction == "none"
    loss = xp.empty(target.shape if each else (), x.dtype)
    arrays = x, target, weight, loss, places, factors
    of_target = x.shape[1], math.prod(x.shape[2:]), ignored, weighted
    if each:
        KERNELS.launch("nll_each", count, *arrays, *of_target)
    else:
        KERNELS.launch_rows("nll", 1, count, *arrays, *of_target, reduction == "mean")
    return loss, places, factors


def nll_backward(g: Array, places: Array, factors: Array, shape: tuple[int, ...]) -> Array:
    """g · factor at the places, zero elsewhere."""
    xp = xp_of(g)
    dx = xp.empty(shape, g.dtype)
    arrays = xp.ascontiguousarray(g), places, factors, dx
    each = g.size > 1 or not g.size
    KERNELS.launch("nll_backward", dx.size, *arrays, shape[1], math.prod(shape[2:]), each)
    return dx
