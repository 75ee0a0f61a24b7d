"""Max pooling in one launch each way: a thread per window, and on the way back one per element.

Backward asks each element which windows chose it, instead of letting windows write where others may
write, too: no atomics, and the same sum in every run. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from ..device import Array, xp_of
from . import Kernels
from .windows import WINDOWS, on_volumes

KERNELS = Kernels(
    WINDOWS,
    """
// y = the maximum of each window, cells = the number of its cell: the first on ties, the last nan.
extern "C" __global__ void max_pool(
    long long count, const real* x, real* y, int* cells, Windows w
) {
    Index windows = volume(w.size), elements = volume(w.image);
    for (Index i = first_element(); i < count; i += next_element()) {
        const real* image = x + i / windows * elements;
        Place window = place_of(i % windows, w.size);
        real best = 0;
        Index chosen = -1;
        for (Index a = 0; a < w.kernel[0]; a++) {
            Index z = seen_at(w, 0, window.z, a);
            if (z < 0) continue;
            for (Index b = 0; b < w.kernel[1]; b++) {
                Index y = seen_at(w, 1, window.y, b);
                if (y < 0) continue;
                for (Index c = 0; c < w.kernel[2]; c++) {
                    Index x = seen_at(w, 2, window.x, c);
                    if (x < 0) continue;
                    real seen = image[number_of(z, y, x, w.image)];
                    if (chosen < 0 || seen > best || seen != seen) {
                        best = seen;
                        chosen = number_of(a, b, c, w.kernel);
                    }
                }
            }
        }
        y[i] = best;
        cells[i] = chosen;
    }
}

// dx = the sum of the gradients of those windows whose maximum came from here.
extern "C" __global__ void max_pool_backward(
    long long count, const real* g, const int* cells, real* dx, Windows w
) {
    Index windows = volume(w.size), elements = volume(w.image);
    for (Index i = first_element(); i < count; i += next_element()) {
        Index image = i / elements * windows;
        Place at = place_of(i % elements, w.image);
        real sum = 0;
        for (Index p = first_over(w, 0, at.z); p <= last_over(w, 0, at.z); p++) {
            Index a = cell_over(w, 0, at.z, p);
            if (a < 0) continue;
            for (Index q = first_over(w, 1, at.y); q <= last_over(w, 1, at.y); q++) {
                Index b = cell_over(w, 1, at.y, q);
                if (b < 0) continue;
                for (Index r = first_over(w, 2, at.x); r <= last_over(w, 2, at.x); r++) {
                    Index c = cell_over(w, 2, at.x, r);
                    Index window = image + number_of(p, q, r, w.size);
                    if (c >= 0 && cells[window] == number_of(a, b, c, w.kernel)) sum += g[window];
                }
            }
        }
        dx[i] = sum;
    }
}
""",
)


def maxima(x: Array, windows: Any) -> tuple[Array, Array]:
    """The maximum of each window of (…, H, W), and the number of its cell (int32)."""
    xp, outer = xp_of(x), x.shape[: -len(windows.image)]
    y = xp.empty((*outer, *windows.size), x.dtype)
    cells = xp.empty(y.shape, "int32")
    KERNELS.launch("max_pool", y.size, xp.ascontiguousarray(x), y, cells, on_volumes(*windows))
    return y, cells


def scatter(g: Array, cells: Array, windows: Any) -> Array:
    """Each gradient at the element that its maximum came from."""
    xp, outer = xp_of(g), g.shape[: -len(windows.image)]
    dx = xp.empty((*outer, *windows.image), g.dtype)
    arrays = xp.ascontiguousarray(g), xp.ascontiguousarray(cells), dx
    KERNELS.launch("max_pool_backward", dx.size, *arrays, on_volumes(*windows))
    return dx
