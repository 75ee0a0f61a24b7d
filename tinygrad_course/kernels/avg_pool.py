"""Average pooling in one launch each way: a thread per window, and on the way back one per element,
which adds up what the windows over it give. Lesson 11."""

from __future__ import annotations

from typing import Any

from ..device import Array, xp_of
from . import Kernels
from .windows import WINDOWS, on_volumes

KERNELS = Kernels(
    WINDOWS,
    """
// By what a window's sum is divided: its cells on the image, and on the frame around it if they
// `count`; or `given`, unless that is 0.
__device__ inline Index cells_along(const Windows& w, int d, Index window, bool count) {
    Index before = w.before[d], start = window * (Index)w.stride[d] - before;
    Index low = count ? -before : 0, high = (Index)w.image[d] + (count ? before : 0);
    Index end = start + (Index)w.kernel[d];
    Index cells = (end < high ? end : high) - (start > low ? start : low);
    return cells > 1 ? cells : 1;  // a window may lie beyond the image
}
__device__ inline real divisor(
    const Windows& w, Index p, Index q, Index r, bool count, long long given
) {
    if (given) return given;
    return cells_along(w, 0, p, count) * cells_along(w, 1, q, count) * cells_along(w, 2, r, count);
}

extern "C" __global__ void avg_pool(
    long long count, const real* x, real* y, Windows w, long long frame_counts, long long given
) {
    Index windows = volume(w.size), elements = volume(w.image);
    for (Index i = first_element(); i < count; i += next_element()) {
        const real* image = x + i / windows * elements;
        Place window = place_of(i % windows, w.size);
        real sum = 0;
        for (Index a = 0; a < w.kernel[0]; a++) {
            Index z = seen_at(w, 0, window.z, a);
            if (z < 0) continue;
            for (Index b = 0; b < w.kernel[1]; b++) {
                Index y = seen_at(w, 1, window.y, b);
                if (y < 0) continue;
                for (Index c = 0; c < w.kernel[2]; c++) {
                    Index x = seen_at(w, 2, window.x, c);
                    if (x >= 0) sum += image[number_of(z, y, x, w.image)];
                }
            }
        }
        y[i] = sum / divisor(w, window.z, window.y, window.x, frame_counts, given);
    }
}

extern "C" __global__ void avg_pool_backward(
    long long count, const real* g, real* dx, Windows w, long long frame_counts, long long given
) {
    Index windows = volume(w.size), elements = volume(w.image);
    for (Index i = first_element(); i < count; i += next_element()) {
        const real* image = g + i / elements * windows;
        Place at = place_of(i % elements, w.image);
        real sum = 0;
        for (Index p = first_over(w, 0, at.z); p <= last_over(w, 0, at.z); p++)
            for (Index q = first_over(w, 1, at.y); q <= last_over(w, 1, at.y); q++)
                for (Index r = first_over(w, 2, at.x); r <= last_over(w, 2, at.x); r++) {
                    real share = divisor(w, p, q, r, frame_counts, given);
                    sum += image[number_of(p, q, r, w.size)] / share;
                }
        dx[i] = sum;
    }
}
""",
)


def means(x: Array, windows: Any, count_include_pad: bool, divisor: int | None) -> Array:
    """The mean of each window of (…, H, W), or its sum / divisor."""
    xp, outer = xp_of(x), x.shape[: -len(windows.image)]
    y = xp.empty((*outer, *windows.size), x.dtype)
    numbers = on_volumes(*windows), bool(count_include_pad), divisor or 0
    KERNELS.launch("avg_pool", y.size, xp.ascontiguousarray(x), y, *numbers)
    return y


def spread(g: Array, windows: Any, count_include_pad: bool, divisor: int | None) -> Array:
    """To each element the shares that its windows give: the adjoint of `means`."""
    xp, outer = xp_of(g), g.shape[: -len(windows.image)]
    dx = xp.empty((*outer, *windows.image), g.dtype)
    numbers = on_volumes(*windows), bool(count_include_pad), divisor or 0
    KERNELS.launch("avg_pool_backward", dx.size, xp.ascontiguousarray(g), dx, *numbers)
    return dx
