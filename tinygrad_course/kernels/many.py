"""Many arrays in one launch: gathered into one, or all scaled by one number.

What an optimizer moves, or clipping scales, are some arrays per layer. Their addresses go along
with the launch, where CuPy's `concatenate` would launch a copy for each, or first send a list of
addresses to the device. Lesson 14.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..device import Array, backend_of
from . import Kernels, usable

MOST = 250  # arrays of a launch, whose arguments have room for 4 KB

KERNELS = Kernels("""
// The addresses of up to 250 arrays, and where each ends in all of them together.
struct Parts { long long at[250], end[250]; };

__device__ inline real* element(const Parts& parts, Index i) {
    int part = 0, last = 249;
    while (part < last) {  // to the first array that ends after i
        int middle = (part + last) / 2;
        if (i < parts.end[middle]) last = middle;
        else part = middle + 1;
    }
    return (real*)parts.at[part] + (part ? i - (Index)parts.end[part - 1] : i);
}

extern "C" __global__ void gather(
    long long count, real* whole, const Parts parts, long long start
) {
    for (Index i = first_element(); i < count; i += next_element())
        whole[(Index)start + i] = *element(parts, i);
}

extern "C" __global__ void scale(long long count, const real* factor, Parts parts) {
    for (Index i = first_element(); i < count; i += next_element()) *element(parts, i) *= *factor;
}
""")

_PARTS = np.dtype([("at", np.int64, MOST), ("end", np.int64, MOST)])


def gatherable(arrays: Sequence[Array]) -> bool:
    """Whether kernels can go through all of `arrays`, which lie on one device."""
    first = arrays[0]
    if not usable(*arrays) or not all(a.flags.c_contiguous for a in arrays):
        return False
    index_of = backend_of(first).index_of
    return len({index_of(a) for a in arrays}) == 1


def _launches(arrays: Sequence[Array]) -> Iterator[tuple[int, int, Any]]:
    """For each launch its first element, how many there are, and the argument that names them."""
    pointer, start = backend_of(arrays[0]).pointer, 0
    for first in range(0, len(arrays), MOST):
        some = [a for a in arrays[first : first + MOST] if a.size]
        ends = list(accumulate(a.size for a in some))
        parts, count = np.zeros((), _PARTS), ends[-1] if ends else 0
        parts["at"][: len(some)] = [pointer(a) for a in some]
        parts["end"] = count
        parts["end"][: len(some)] = ends
        yield start, count, parts
        start += count


def gather(arrays: Sequence[Array], whole: Array) -> None:
    """Writes the elements of `arrays` into the vector `whole`, one after the other."""
    for start, count, parts in _launches(arrays):
        KERNELS.launch("gather", count, whole, parts, start)


def scale(arrays: Sequence[Array], factor: Array) -> None:
    """Multiplies all elements of `arrays` by a number of the device, in place."""
    for _, count, parts in _launches(arrays):
        KERNELS.launch("scale", count, factor, parts)
