"""Kernels: what NumPy's and CuPy's own functions would need many launches for, as CUDA C++.

A launch costs some 8 microseconds whatever it computes, so a step on a GPU is as slow as it has
launches. Each file of this package has the text of a few kernels that belong together, and the
functions that launch them; the operation in `ops` calls these where `usable` says so, beside its
formula on arrays, which runs everywhere else. CuPy compiles a text when it is first needed.

The texts keep to what C++ knows, too: blocks of threads that differ in `threadIdx.x` alone, loops
over all elements, no atomics, no warps. So the tests compile the very same texts for the CPU and
compare what they compute with the formulas, on machines without a GPU. Knows arrays and devices
only. Lesson 16.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..device import Array, backend_of

REALS = {"float32": "float", "float64": "double"}  # float16 is computed by the formulas
# Most arrays are small enough for 32-bit arithmetic, in which a GPU divides some five times as
# fast. The rest of the range is room for a thread's last step, past the end.
WIDE = 2**30
THREADS = 256
MOST_BLOCKS = 65_536

PRELUDE = """
// This thread's first element, and the step to its next one: together the threads pass all.
__device__ inline Index first_element() { return (Index)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline Index next_element() { return (Index)gridDim.x * blockDim.x; }
"""


def usable(x: Array, *others: Array | None) -> bool:
    """Whether all of these arrays are of one type that kernels know, on a device that has them."""
    if type(x) is np.ndarray or backend_of(x).kernel is None:
        return False
    return x.dtype.name in REALS and all(a is None or a.dtype == x.dtype for a in others)


class Kernels:
    """The kernels of one text, in which `real` is the type of the numbers and `Index` that of
    places in arrays.

    `source(dtype, wide)` is the text for one type, `launch` and `launch_rows` run a kernel of it.
    """

    def __init__(self, *parts: str) -> None:
        self.text = "".join(parts)
        self.names = re.findall(r"__global__ void (\w+)", self.text)
        self._compiled: dict[tuple[Any, ...], Any] = {}

    def source(self, dtype: str, wide: bool) -> str:
        """The text as a compiler gets it; `wide` counts in 64 bits."""
        index = "long long" if wide else "int"
        return f"typedef {REALS[dtype]} real;\ntypedef {index} Index;\n{PRELUDE}{self.text}"

    def launch(self, name: str, count: int, *args: Any) -> None:
        """Runs the kernel `name`, whose threads share `count` elements. Arrays among `args` are
        row-major, the first of them of type `real`; ints and bools are `long long` there, floats
        `double`."""
        if count:
            blocks = min(-(-count // THREADS), MOST_BLOCKS)
            self._run(name, blocks, THREADS, (count, *args))

    def launch_rows(self, name: str, rows: int, width: int, *args: Any) -> None:
        """Runs the kernel `name` with a block per row: as many threads as share `width` elements
        well, a power of 2."""
        if rows:
            threads = min(max(32, 1 << (max(width, 1) - 1).bit_length()), THREADS)
            self._run(name, min(rows, MOST_BLOCKS), threads, (rows, width, *args))

    def _run(self, name: str, blocks: int, threads: int, args: tuple[Any, ...]) -> None:
        arrays = [a for a in args if hasattr(a, "strides")]
        wide = any(a.size >= WIDE for a in arrays)
        backend, dtype = backend_of(arrays[0]), arrays[0].dtype.name
        key = backend, name, dtype, wide
        kernel = self._compiled.get(key)
        if kernel is None:
            assert backend.kernel is not None  # asked by `usable`
            kernel = self._compiled[key] = backend.kernel(self.source(dtype, wide), name)
        kernel((blocks,), (threads,), tuple([int(a) if type(a) is bool else a for a in args]))
