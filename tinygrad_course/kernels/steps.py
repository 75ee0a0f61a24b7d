"""Steps of optimizers in one launch: a thread per number.

On arrays SGD with momentum takes four operations and Adam eleven, each of which goes over all
numbers; here each is read and written once. Lesson 14.
"""

from __future__ import annotations

from ..device import Array, xp_of
from . import Kernels, usable

KERNELS = Kernels(
    """
// What to descend along: g, or -g, plus decay times x.
__device__ inline real direction(real g, real x, double decay, long long up) {
    if (up) g = -g;
    return decay == 0 ? g : g + (real)decay * x;
}

extern "C" __global__ void sgd(
    long long count, const real* g, real* x, double lr, double decay, long long up
) {
    for (Index i = first_element(); i < count; i += next_element())
        x[i] -= (real)lr * direction(g[i], x[i], decay, up);
}

extern "C" __global__ void sgd_with_momentum(
    long long count, const real* g, real* x, real* v, double lr, double decay, long long up,
    double momentum, double part, long long nesterov, long long first
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        real d = direction(g[i], x[i], decay, up);
        v[i] = first ? d : (real)momentum * v[i] + (real)part * d;
        x[i] -= (real)lr * (nesterov ? d + (real)momentum * v[i] : v[i]);
    }
}

extern "C" __global__ void adam(
    long long count, const real* g, real* x, real* m, real* v, double rate, double decay,
    long long up, double beta1, double beta2, double eps, double kept
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        real d = direction(g[i], x[i], decay, up);
        m[i] = (real)beta1 * m[i] + (real)(1 - beta1) * d;
        v[i] = (real)beta2 * v[i] + (real)(1 - beta2) * (d * d);
        x[i] = (real)kept * x[i] - (real)rate * m[i] / (sqrt(v[i]) + (real)eps);
    }
}
"""
)


def movable(x: Array, g: Array, *state: Array | None) -> bool:
    """Whether the kernels here can move `x`."""
    in_order = (a is None or a.flags.c_contiguous for a in (x, *state))
    return usable(x, g, *state) and all(in_order)


def sgd(
    x: Array,
    g: Array,
    v: Array | None,
    first: bool,
    *,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """x ← x − lr · v, where v takes in g, and is g itself at the `first` step; without `v`, x goes
    down along g."""
    g = xp_of(g).ascontiguousarray(g)
    numbers = lr, float(weight_decay), bool(maximize)
    if v is None:
        KERNELS.launch("sgd", x.size, g, x, *numbers)
    else:
        of_v = float(momentum), 1.0 - dampening, bool(nesterov), first
        KERNELS.launch("sgd_with_momentum", x.size, g, x, v, *numbers, *of_v)


def adam(
    x: Array,
    g: Array,
    m: Array,
    v: Array,
    betas: tuple[float, float],
    rate: float,
    eps: float,
    weight_decay: float,
    kept: float,
    maximize: bool,
) -> None:
    """m and v take in g and its square, and x ← kept · x − rate · m / (√v + eps)."""
    g = xp_of(g).ascontiguousarray(g)
    numbers = rate, float(weight_decay), bool(maximize), *betas, float(eps), kept
    KERNELS.launch("adam", x.size, g, x, m, v, *numbers)
