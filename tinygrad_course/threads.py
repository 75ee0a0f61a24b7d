"""How many threads the matrix products run in.

They are BLAS's, and it is asked through threadpoolctl. One thread is right for a course: the
products are small, and on a busy machine two threads wait for each other. Everything else in the
engine runs in the thread that calls it. Lesson 16.
"""

from __future__ import annotations

import os
from typing import Any


def get_num_threads() -> int:
    """The number of threads of BLAS. (torch.get_num_threads)

    Without threadpoolctl it is what OPENBLAS_NUM_THREADS or OMP_NUM_THREADS said at the start, or
    the number of CPUs.
    """
    controller = _controller()
    if controller is not None:
        return max((library["num_threads"] for library in controller.info()), default=1)
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(variable, "").isdecimal():
            return int(os.environ[variable])
    return os.cpu_count() or 1


def set_num_threads(num_threads: int) -> None:
    """Lets matrix products run in that many threads from now on. (torch.set_num_threads)

    RuntimeError for what is no positive int, and where threadpoolctl is missing.

    >>> set_num_threads(1); get_num_threads()
    1
    """
    if isinstance(num_threads, bool) or not isinstance(num_threads, int):
        raise RuntimeError(
            f"set_num_threads expects an int, but got {type(num_threads).__name__}: {num_threads!r}"
        )
    if num_threads < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {num_threads}")
    controller = _controller()
    if controller is None:
        raise RuntimeError(
            "set_num_threads needs threadpoolctl: pip install threadpoolctl, or set "
            f"OPENBLAS_NUM_THREADS={num_threads} before Python starts"
        )
    controller.limit(limits=num_threads)


def _controller() -> Any:
    """The BLAS libraries of this process; None where threadpoolctl is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
