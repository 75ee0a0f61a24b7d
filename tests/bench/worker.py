"""One engine in a process of its own, answering questions that come through a pipe.

Times are CPU times of that process: with one thread they are what a clock on the wall would show
on a machine without other work, and other work hardly changes them.
"""

import gc
import importlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .workloads import WORKLOADS, lenet

COMPILED = Path(tempfile.gettempdir()) / "tinygrad_course_bench"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}


class Worker:
    """Starts the process of an engine; `ask(question)` waits for the answer."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        kept = os.environ.copy()
        os.environ.update({**ONE_THREAD, **environment})
        # These choose OpenBLAS's kernels by hand, where a machine has old builds; it knows better.
        for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            os.environ.pop(name, None)
        context.Process(target=serve, args=(module, theirs), daemon=True).start()
        os.environ.clear()
        os.environ.update(kept)
        theirs.close()  # so that the end of the process ends a wait for its answer

    def ask(self, question: str | float | None) -> dict[str, Any]:
        """A name prepares that workload, a number runs it so many seconds, None weighs (W8) a
        process in which nothing was imported yet; "import" imports."""
        try:
            self.connection.send(question)
            return self.connection.recv()
        except (EOFError, OSError):
            return {"error": "its process ended"}


def serve(module: str, connection: Connection) -> None:
    """Answers until the other end is closed."""
    # Modules are compiled once, as after an installation, not at each import.
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(COMPILED)
    step = None
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            if question is None:
                answer = weigh(module)
            elif question == "import":  # compiles
                answer = {"version": importlib.import_module(module).__version__}
            elif isinstance(question, str):
                step, numbers = three_steps(importlib.import_module(module), question)
                burst(step, 0.3)  # warm
                answer = {"result": numbers}
            else:
                answer = {"seconds": burst(step, question)}
        except (AttributeError, NotImplementedError) as missing:
            answer = {"missing": getattr(missing, "name", None) or str(missing)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        connection.send(answer)


def three_steps(torch: Any, name: str) -> tuple[Any, list[float]]:
    """The workload's step, taken three times, and the result after that."""
    torch.manual_seed(0)
    programs = getattr(torch, "PROGRAMS", None)  # of a peer with another API than PyTorch's
    if programs is not None and name not in programs:
        raise NotImplementedError("not in this engine")
    step, result = WORKLOADS[name].make(torch) if programs is None else programs[name]()
    for _ in range(3):
        step()
    return step, result()


def burst(step: Any, seconds: float) -> float:
    """The median time of the steps that fit into `seconds`."""
    times: list[float] = []
    gc.collect()
    end = time.process_time() + seconds
    while time.process_time() < end or not times:
        start = time.process_time()
        timed = step()
        times.append(timed or time.process_time() - start)
    return statistics.median(times)


def megabytes(field: str) -> float:
    """This process's memory as Linux tells it: VmRSS is what it holds now, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def weigh(module: str) -> dict[str, float]:
    """Import time and memory beyond NumPy's, and the peak of a LeNet step at batch 256."""
    import numpy as np

    np.ones((256, 256)) @ np.ones((256, 256))  # BLAS takes its work space before the count starts
    held, start = megabytes("VmRSS"), time.process_time()
    torch = importlib.import_module(module)
    seconds, imported = time.process_time() - start, megabytes("VmRSS") - held
    step, _ = lenet(torch, batch=256)
    held = megabytes("VmRSS")
    for _ in range(3):
        step()
    return {
        "import beyond NumPy's, ms": 1e3 * seconds,
        "memory after import beyond NumPy's, MB": imported,
        "peak of a LeNet step at b256 above its start, MB": megabytes("VmHWM") - held,
    }
