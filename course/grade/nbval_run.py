"""Runs the graded notebook with nbval, in a process of its own: `nbval_run.py POLICY NOTEBOOK`.

The learner's code runs in the kernel that nbval starts, not here. This process only adds what nbval
lacks: it sees at once when the kernel is dead, and notes which cell was running. Lesson 00.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from typing import Any

from course.grade.kernel import die_with_parent, limit_resources
from course.limits import Clock

KERNEL = "course-grader"
OUTPUT_SECONDS = 20
"""So long may what a cell prints take to arrive: nbval's own 5 are few on a busy machine."""


class Watch:
    """A pytest plugin: tells a file of each cell that begins, and ends the wait for the dead."""

    def __init__(self, control: Path) -> None:
        self.control = control

    def pytest_runtest_call(self, item: Any) -> None:
        """Note the cell that is about to run, and the kernel's process."""
        kernel = getattr(item.parent, "kernel", None)
        provisioner = getattr(getattr(kernel, "km", None), "provisioner", None)
        note = {"cell": item.cell_num, "pid": getattr(provisioner, "pid", None)}
        item.output_timeout = OUTPUT_SECONDS
        draft = self.control / "running.part"
        draft.write_text(json.dumps(note), encoding="utf-8")
        os.replace(draft, self.control / "running.json")


def worked_by(process: int) -> Callable[[], float]:
    """How long a process has had the processor, as Linux tells; elsewhere what a clock says."""
    clock = (~process << 3) | 2  # as clock_getcpuclockid makes it

    def worked() -> float:
        try:
            return time.clock_gettime(clock)
        except (AttributeError, OSError):
            return time.monotonic()

    return worked


def watch_kernels() -> None:
    """Have nbval see soon whether the kernel it waits for is alive, and how long it has worked."""
    from nbval.kernel import RunningKernel

    wait = RunningKernel.await_reply

    def await_reply(self: Any, msg_id: str, timeout: float | None = None) -> None:
        clock = Clock(timeout or 3600.0, worked_by(self.km.provisioner.pid))
        while True:
            try:
                wait(self, msg_id, timeout=0.2)
                return
            except Empty:
                if not self.is_alive():
                    raise RuntimeError("the kernel died") from None
                if clock.left() <= 0:
                    raise

    RunningKernel.await_reply = await_reply


def main(arguments: Sequence[str]) -> int:
    """Run pytest on the notebook; pytest's exit status."""
    # jsonschema, which reads notebooks, would spend two seconds on a grammar of web addresses that
    # no notebook needs checked; it does without where the module is absent.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    import pytest

    policy_file, notebook = map(Path, arguments)
    policy = json.loads(policy_file.read_text(encoding="utf-8"))
    control = policy_file.parent
    die_with_parent()
    limit_resources(policy["limits"])
    watch_kernels()
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "nbval.plugin",
        "-c",
        os.devnull,
        f"--rootdir={notebook.parent}",
        "--nbval-lax",
        f"--nbval-kernel-name={KERNEL}",
        f"--nbval-cell-timeout={policy['limits']['cell_seconds']}",
        "--nbval-kernel-startup-timeout=60",
        "--color=no",
        "--quiet",
        "-o",
        "junit_logging=no",
        f"--junitxml={control / 'nbval.xml'}",
        str(notebook),
    ]
    return int(pytest.main(options, plugins=[Watch(control)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
