"""One run on a machine with a GPU: does everything work there, and how fast is it?

`python -m tests.gpu` prints one table: the device, the kernels compiled, a few workloads beside
PyTorch's where that is installed with CUDA, the tests marked cuda, and every row of operations,
layers, optimizers and schedules compared with the CPU. It ends within --seconds (230): rows that
were not reached by then are told, and come quicker the next time, when CuPy has compiled its own
kernels. The exit status is 0 when nothing failed, 1 when something did, 2 without a GPU.

With --fake all of it runs on a pretended device, on any machine: that shows that this program works
and nothing about a GPU. --only takes names of rows, kernels, workloads and tests, by commas.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import itertools
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tinygrad_course as tg
from tinygrad_course import kernels
from tinygrad_course.device import backend_for

from .. import fake_cuda
from ..bench.__main__ import agree, short
from ..bench.workloads import WORKLOADS
from . import rows

TIMED = ("W1", "W2", "W3", "W5a")
# The rows are compared here, with a limit on their time, and not once more by pytest.
TESTS = "not test_operation and not test_layer and not test_optimizer and not test_schedule"
ROOT = Path(__file__).parents[2]
Line = tuple[str, str, bool]  # what, how it went, whether that is well


class Run:
    """What was chosen, and when to end."""

    def __init__(self, only: str | None, seconds: float, fake: bool) -> None:
        self.only = None if only is None else set(only.split(","))
        self.fake = fake
        self.start = time.monotonic()
        self.end = self.start + seconds

    def chosen(self, names: Any) -> list[str]:
        """Those of the names that are asked for."""
        return [name for name in names if self.only is None or name in self.only]

    @property
    def left(self) -> float:
        """Seconds."""
        return self.end - time.monotonic()


# --- the parts, each of which yields lines of the table -------------------------------------------


def the_device(run: Run) -> Iterator[Line]:
    """What it is."""
    cuda, version = tg.cuda, getattr(backend_for("cuda").xp, "__version__", "pretended")
    free, total = cuda.mem_get_info()
    yield "device", f"{cuda.get_device_name()}, {cuda.device_count()} of them", True
    numbers = ".".join(map(str, cuda.get_device_capability()))
    yield "compute capability", numbers, True
    yield "memory", f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free", True
    yield "CuPy", version, True


def the_kernels(run: Run) -> Iterator[Line]:
    """Every kernel of every file, for each type of numbers and of places."""
    compile_one = backend_for("cuda").kernel
    if compile_one is None:
        yield "kernels", "none: no compiler", run.fake
        return
    for name in run.chosen(info.name for info in pkgutil.iter_modules(kernels.__path__)):
        module = importlib.import_module(f"{kernels.__name__}.{name}")
        if not hasattr(module, "KERNELS"):
            continue
        texts, failed = module.KERNELS, []
        for dtype, wide in itertools.product(kernels.REALS, (False, True)):
            for kernel in texts.names:
                try:
                    compile_one(texts.source(dtype, wide), kernel)
                except Exception as error:
                    failed.append(f"{kernel} of {dtype}: {str(error)[:200]}")
        told = "; ".join(failed) or f"{len(texts.names)} compiled, 4 types each"
        yield f"kernels/{name}", told, not failed


def the_workloads(run: Run) -> Iterator[Line]:
    """The time of a step, ours and PyTorch's, with the device waited for at the end of a burst."""
    torch = None
    if importlib.util.find_spec("torch") and not run.fake:
        torch = importlib.import_module("torch")
        torch = torch if torch.cuda.is_available() else None
    for name in run.chosen(TIMED):
        title, unit, per, _ = WORKLOADS[name]
        scale = {"us": 1e6, "ms": 1e3}[unit] / per
        ours, numbers = _burst(tg, name, 0.2 if run.fake else 2.0)
        told, well = f"{short(ours * scale)} {unit}", True
        if torch is not None:
            theirs, expected = _burst(torch, name, 2.0)
            told += f"; PyTorch {short(theirs * scale)} {unit}, ours / PyTorch {ours / theirs:.2f}"
            well = agree(numbers, expected)
            told += "" if well else f"; {numbers} instead of {expected} after three steps"
        yield f"{name} {title}", told, well


def _burst(lib: Any, name: str, seconds: float) -> tuple[float, list[float]]:
    """Seconds a step, by the clock on the wall, and what three steps resulted in."""
    with lib.device("cuda"):
        lib.manual_seed(0)
        step, result = WORKLOADS[name].make(lib)
        for _ in range(3):
            step()
        numbers = result()
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for _ in range(5):
                step()
            lib.cuda.synchronize()
            count += 5
        return (time.perf_counter() - start) / count, numbers


def the_tests(run: Run) -> Iterator[Line]:
    """The tests marked cuda, by pytest."""
    names = [n for n in run.only or () if n.startswith("test_")]
    if run.only is not None and not names:
        return
    which = " or ".join(names) or TESTS
    which = f"({which}) and cuda-fake" if run.fake else which
    mark = "not cuda" if run.fake else "cuda"
    texts = {str(path): path.read_text("utf-8") for path in ROOT.glob("tests/test_*.py")}
    files = [path for path, text in texts.items() if re.search(r"def test_\w+\(device\b", text)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", mark, "-k", which, *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=max(run.left, 10),
    )
    lines = done.stdout.strip().splitlines() or [done.stderr.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    yield "tests marked cuda", "; ".join([lines[-1].strip(" ="), *failed[:5]]), not done.returncode


def the_rows(run: Run) -> Iterator[Line]:
    """Every row on the device and on the CPU."""
    for check, (_, names) in rows.CHECKS.items():
        chosen, wrong, reached = run.chosen(names), [], 0
        for name in chosen:
            if run.left < 0:
                break
            wrong += _problems(check, name)
            reached += 1
        told = f"{reached} rows, {len(wrong)} cases differ"
        told += f", {len(chosen) - reached} rows not reached" if reached < len(chosen) else ""
        if chosen:
            yield check, "; ".join([told, *(text[:300] for text in wrong[:5])]), not wrong


def _problems(check: str, name: str) -> list[str]:
    try:
        return rows.problems(check, name, "cuda")
    except Exception as error:  # one row must not hide the others
        return [f"{name}: {error!r}"]


PARTS: tuple[Callable[[Run], Iterator[Line]], ...] = (
    the_device,
    the_kernels,
    the_workloads,
    the_tests,
    the_rows,
)


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--fake", action="store_true", help="on a pretended device")
    parser.add_argument("--only", metavar="add,Linear,W1", help="these names alone")
    parser.add_argument("--seconds", type=float, default=230, help="when to end (230)")
    options = parser.parse_args(arguments)
    if not options.fake and (reason := tg.cuda.unavailable_reason()):
        print(f"There is no GPU here, so nothing was tried: {reason}", file=sys.stderr)
        return 2
    with fake_cuda.pretended() if options.fake else contextlib.nullcontext():
        return _table(Run(options.only, options.seconds, options.fake))


def _table(run: Run) -> int:
    print("| what | how it went | ok | s |\n|---|---|---|---:|")
    good = True
    for part in PARTS:
        before = time.monotonic()
        try:
            for what, told, well in part(run):
                now = time.monotonic()
                mark = "yes" if well else "NO"
                print(f"| {what} | {told} | {mark} | {now - before:.1f} |", flush=True)
                before, good = now, good and well
        except Exception as error:  # the other parts are still worth a look
            print(f"| {part.__name__} | {error!r} | NO | {time.monotonic() - before:.1f} |")
            good = False
    if run.fake:
        print("\nAll on a pretended device: this says nothing about a GPU.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
