"""Activations whose formula is several operations, and the derivatives of the usual ones: a launch
each. Lesson 13."""

from __future__ import annotations

from ..device import Array, xp_of
from . import Kernels, usable

KERNELS = Kernels("""
#define FOR_EACH for (Index i = first_element(); i < count; i += next_element())

extern "C" __global__ void sigmoid(long long count, const real* x, real* y) {
    FOR_EACH y[i] = 1 / (1 + exp(-x[i]));
}
extern "C" __global__ void sigmoid_backward(
    long long count, const real* g, const real* y, real* dx
) {
    FOR_EACH dx[i] = g[i] * (y[i] * (1 - y[i]));
}
extern "C" __global__ void tanh_backward(long long count, const real* g, const real* y, real* dx) {
    FOR_EACH dx[i] = g[i] * (1 - y[i] * y[i]);
}
extern "C" __global__ void silu(long long count, const real* x, real* y) {
    FOR_EACH y[i] = x[i] / (1 + exp(-x[i]));
}
extern "C" __global__ void silu_backward(long long count, const real* g, const real* x, real* dx) {
    FOR_EACH {
        real s = 1 / (1 + exp(-x[i]));
        dx[i] = g[i] * s * (1 + x[i] * (1 - s));
    }
}
__device__ inline real normal_share(real x) {
    return (real)0.5 * erf(x * (real)0.70710678118654752440) + (real)0.5;
}
extern "C" __global__ void gelu(long long count, const real* x, real* y) {
    FOR_EACH y[i] = x[i] * normal_share(x[i]);
}
extern "C" __global__ void gelu_backward(long long count, const real* g, const real* x, real* dx) {
    FOR_EACH {
        real density = exp(x[i] * x[i] * (real)-0.5) * (real)0.39894228040143267794;
        dx[i] = g[i] * (normal_share(x[i]) + x[i] * density);
    }
}
extern "C" __global__ void relu_backward(long long count, const real* g, const real* y, real* dx) {
    FOR_EACH dx[i] = y[i] != 0 ? g[i] : 0;
}
""")


def alike(x: Array, *others: Array) -> bool:
    """Whether kernels can go through these arrays element by element."""
    return usable(x, *others) and all(
        a.flags.c_contiguous and a.shape == x.shape for a in (x, *others)
    )


def pointwise(name: str, *arrays: Array) -> Array:
    """The kernel `name` of arrays that are `alike`."""
    made = xp_of(arrays[0]).empty(arrays[0].shape, arrays[0].dtype)
    KERNELS.launch(name, made.size, *arrays, made)
    return made
