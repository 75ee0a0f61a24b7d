"""`cupy.RawKernel` on the pretended device: kernels that g++ compiled for the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import kernel_shim
from .array import ndarray, unwrapped
from .counts import launched


def kernel(source: str, name: str) -> Callable[[Any, Any, tuple[Any, ...]], None]:
    """The kernel `name` of `source`; a launch is noted under its name."""
    run = kernel_shim.kernel(source, name)

    def launch(grid: Any, block: Any, args: tuple[Any, ...]) -> None:
        launched(name)
        run(grid, block, tuple(unwrapped(a) if isinstance(a, ndarray) else a for a in args))

    return launch
