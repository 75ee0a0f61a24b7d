"""One run of a graded notebook: its folders, its rules, its processes, and what it left behind.

The control folder is ours, the box is the learner's process's. When a run is over, or its time is,
every process of it is ended, and only the result files and nbval's report are read. Lesson 00.
"""

import contextlib
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from course.asking import GRADING
from course.grade.nbval_run import KERNEL
from course.grade.splice import Graded, to_notebook
from course.lesson import content_folder

PACKAGE = Path(__file__).parents[1]
MOST_RESULT = 40_000_000
PREFIX = "course-grade-"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. Times in seconds: a cell's is the processor's where that is told, and
    `wall_seconds` is for the whole run, whatever it does."""

    cell_seconds: float = 15.0
    wall_seconds: float = 300.0
    cpu_seconds: float = 90.0
    memory_mb: int = 2048
    file_mb: int = 64


@dataclass(frozen=True)
class Outcome:
    """What a run left: raw results by exercise, errors of cells by number, how it ended."""

    results: dict[str, Any]
    errors: dict[int, str]
    last_cell: int
    ended: str
    """Empty when the run came to its end; else `late` or `died`."""


def run(cells: list[Graded], checks: Path, limits: Limits, seed: int, root: Path) -> Outcome:
    """Run the cells below `root`, a fresh folder made by `fresh_root`."""
    box, control = root / "box", root / "control"
    notebook = box / "graded.ipynb"
    notebook.write_text(to_notebook(cells, KERNEL), encoding="utf-8")
    shutil.copyfile(checks, box / "checks.py")
    policy = control / "policy.json"
    rules = {"limits": asdict(limits), **paths_for(box, control)}
    policy.write_text(json.dumps(rules), encoding="utf-8")
    spec = control / "jupyter" / "kernels" / KERNEL
    spec.mkdir(parents=True)
    launcher = [sys.executable, "-P", "-m", "course.grade.kernel", str(policy)]
    argv = [*launcher, "-f", "{connection_file}", "--HistoryManager.enabled=False"]
    kernel = {"argv": argv, "display_name": KERNEL, "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "course.grade.nbval_run", str(policy), str(notebook)]
    late = _supervise(command, environment(box, control, seed), control, limits.wall_seconds)
    last = _running(control).get("cell", -1)
    report = control / "nbval.xml"
    # pytest writes its report last: without it, or with a dead kernel in it, the run broke off.
    errors, died = _errors(report) if report.is_file() else ({}, True)
    return Outcome(_results(box / "results"), errors, last, "late" if late else "died" * died)


@contextlib.contextmanager
def fresh_root() -> Iterator[Path]:
    """A new temporary folder with an empty box and control folder in it."""
    prefix = f"{PREFIX}{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        for name in ("box/home", "box/tmp", "box/results", "control/runtime"):
            (root / name).mkdir(parents=True)
        yield root


def sweep() -> None:
    """Delete the folders of graders that were killed, and so could not do it themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and os.name == "posix":  # elsewhere signal 0 ends a process
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)
            except (PermissionError, OverflowError):
                continue  # somebody else's


# ------------------------------------------------------------------ rules


def paths_for(box: Path, control: Path) -> dict[str, list[str]]:
    """What the kernel may read, list and write. The lessons' sources are in none of it."""
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages()}
    python |= {path for path in sys.path if path and Path(path).is_dir() and _is_library(path)}
    system = ("/usr/lib", "/usr/local/lib", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/ssl")
    # Not /proc/self: its links lead everywhere.
    facts = ("/etc/localtime", "/etc/ld.so.cache", "/proc/cpuinfo", "/proc/meminfo")
    packages = [PACKAGE, PACKAGE.with_name("tinygrad_course")]
    hidden = {PACKAGE / "content", PACKAGE.with_name("lessons"), PACKAGE.with_name("solutions")}
    hidden.add(content_folder())
    roots = [*map(Path, sorted(python)), *packages, control / "runtime", control / "jupyter"]
    readable = [str(p) for root in roots for p in without(root, {p.resolve() for p in hidden})]
    listable = [str(PACKAGE.parent), *map(str, packages), *python]
    return {
        "readable": [*dict.fromkeys([*readable, *system, *facts, "/sys/devices/system/cpu"])],
        "listable": [*dict.fromkeys(listable)],
        "writable": [str(box)],
    }


def _is_library(path: str) -> bool:
    """Whether a folder of `sys.path` is Python's own and not a checkout or a working folder."""
    return any(
        part in ("site-packages", "dist-packages", "lib", "lib64") for part in Path(path).parts
    )


def without(root: Path, hidden: set[Path]) -> list[Path]:
    """The folder, or what is in it but not in `hidden`, opened up no further than needed."""
    real = root.resolve()
    if real in hidden or not root.exists():
        return []
    if not any(real in path.parents for path in hidden):
        return [root]
    return [part for child in sorted(root.iterdir()) for part in without(child, hidden)]


def environment(box: Path, control: Path, seed: int) -> dict[str, str]:
    """The variables of a run: none of the caller's but what Python needs to start."""
    kept = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
    parent = str(PACKAGE.parent)
    return {
        **{key: os.environ[key] for key in kept if key in os.environ},
        # A checkout that is not installed; an installed package is found anyway.
        **({} if _is_library(parent) else {"PYTHONPATH": parent}),
        GRADING: "1",
        "HOME": str(box / "home"),
        "USERPROFILE": str(box / "home"),
        "TMPDIR": str(box / "tmp"),
        "TEMP": str(box / "tmp"),
        "IPYTHONDIR": str(box / "home" / "ipython"),
        "JUPYTER_CONFIG_DIR": str(control / "config"),
        "JUPYTER_DATA_DIR": str(control / "jupyter"),
        "JUPYTER_PATH": str(control / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(control / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": str(seed % 2**32),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


# ------------------------------------------------------------------ processes


def _supervise(
    command: list[str], environment: dict[str, str], control: Path, seconds: float
) -> bool:
    """Run the command; whether it had to be ended because its time was over."""
    with (
        (control / "log.txt").open("wb") as log,
        subprocess.Popen(
            command,
            env=environment,
            cwd=control,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True
        finally:
            _end(process.pid)
            kernel = _running(control).get("pid")
            if isinstance(kernel, int) and process.poll() is None:
                _end(kernel)  # it is the head of a group of its own
            process.kill()


def _end(group: int) -> None:
    """End a process and those that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    else:  # Windows has no groups, but knows who started whom
        command = ["taskkill", "/F", "/T", "/PID", str(group)]
        with contextlib.suppress(OSError):
            subprocess.run(command, capture_output=True, check=False)


def _running(control: Path) -> dict[str, Any]:
    """What nbval_run noted last; the control folder is out of the learner's reach."""
    try:
        found = json.loads((control / "running.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


# ------------------------------------------------------------------ what is left


def _results(folder: Path) -> dict[str, Any]:
    """The result files as JSON data; a file that is none counts as absent."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")):
        # The learner's process could have put anything there, a link or a pipe too.
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_RESULT:
            continue
        with contextlib.suppress(OSError, ValueError, RecursionError):
            found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _errors(report: Path) -> tuple[dict[int, str], bool]:
    """nbval's words on each failed cell, by number, and whether its kernel died."""
    errors: dict[int, str] = {}
    died = False
    try:
        tree = ElementTree.parse(report)
    except (ElementTree.ParseError, OSError):
        return {}, True
    for case in tree.iter("testcase"):
        failure = case.find("failure")
        failure = case.find("error") if failure is None else failure
        if failure is None:
            continue
        text = f"{failure.get('message', '')}\n{failure.text or ''}"
        died = died or "kernel died" in text or "Kernel dead" in text
        number = str(case.get("name", "")).rpartition(" ")[2]
        if number.isdigit():
            errors[int(number)] = text
    return errors, died
