"""Windows on volumes, for kernels: where they lie, and which of them reach an element.

Sequences and images are volumes of a single plane or row, so that one text serves all three.
Lessons 10 and 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

_FIELDS = ("kernel", "stride", "before", "gap", "size", "image")
_PLAIN = (1, 1, 0, 1, 1, 1)
_TYPE = np.dtype([(name, np.int64, 3) for name in _FIELDS])

WINDOWS = """
// In each of three directions: cells of a window, the step from one to the next, what lies before
// the image, the step from cell to cell, how many windows there are, and elements of the image.
struct Windows {
    long long kernel[3], stride[3], before[3], gap[3], size[3], image[3];
};

// A place of three directions, and the way between it and its number.
struct Place { Index z, y, x; };
__device__ inline Index volume(const long long* n) {
    return (Index)n[0] * (Index)n[1] * (Index)n[2];
}
__device__ inline Place place_of(Index number, const long long* n) {
    Index x = n[2], y = n[1];
    return {number / x / y, number / x % y, number % x};
}
__device__ inline Index number_of(Index z, Index y, Index x, const long long* n) {
    return (z * (Index)n[1] + y) * (Index)n[2] + x;
}

// Where a cell of a window lies in direction d, or -1 where that is beside the image.
__device__ inline Index seen_at(const Windows& w, int d, Index window, Index cell) {
    Index at = window * (Index)w.stride[d] - (Index)w.before[d] + cell * (Index)w.gap[d];
    return at < (Index)w.image[d] ? at : -1;
}

// The first and the last window that may reach an element ...
__device__ inline Index first_over(const Windows& w, int d, Index at) {
    Index stride = w.stride[d];
    Index beyond = at + (Index)w.before[d] - (Index)w.gap[d] * ((Index)w.kernel[d] - 1);
    return beyond > 0 ? (beyond + stride - 1) / stride : 0;
}
__device__ inline Index last_over(const Windows& w, int d, Index at) {
    Index last = (at + (Index)w.before[d]) / (Index)w.stride[d], most = (Index)w.size[d] - 1;
    return last < most ? last : most;
}
// ... and the cell with which one of them does, or -1 where the element lies in a gap.
__device__ inline Index cell_over(const Windows& w, int d, Index at, Index window) {
    Index gap = w.gap[d], inside = at + (Index)w.before[d] - window * (Index)w.stride[d];
    return inside % gap == 0 ? inside / gap : -1;
}
"""


@cache
def on_volumes(*windows: Sequence[int]) -> Any:
    """Windows in up to three directions, six numbers for each, as an argument of a kernel."""
    padded = [(plain,) * (3 - len(n)) + tuple(n) for plain, n in zip(_PLAIN, windows, strict=True)]
    return np.array(tuple(padded), _TYPE)
