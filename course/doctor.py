"""What the course needs on this computer, whether it is there, and how to get it if not.

It looks and changes nothing; a progress file that is broken is reported and left. Lesson 00.
"""

import importlib.metadata
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course.files import CourseError

PACKAGE = "tinygrad-course"
LEAST_FREE = 200 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: there, wanting, or absent and not needed (`ok` is None)."""

    name: str
    ok: bool | None
    says: str
    mend: str = ""


def examine(workspace: Path) -> Iterator[Finding]:
    """Everything that the course needs or could use."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding("Python", good, version, "" if good else "install Python 3.11 or newer")
    yield from _packages()
    yield from _workspace(workspace)
    yield from _extras()


def _packages() -> Iterator[Finding]:
    from packaging.requirements import Requirement

    try:
        wanted = importlib.metadata.requires(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding(PACKAGE, False, "is not installed", "python -m pip install .")
        return
    for text in wanted:
        need = Requirement(text)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        mend = f'python -m pip install "{need.name}{need.specifier}"'
        try:
            found = importlib.metadata.version(need.name)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(need.name, False, "is not installed", mend)
            continue
        good = need.specifier.contains(found, prereleases=True)
        says = found if good else f"{found}, where {need.specifier} is needed"
        yield Finding(need.name, good, says, "" if good else mend)


def _workspace(workspace: Path) -> Iterator[Finding]:
    from course.progress import FILE, parse
    from course.update import update

    if not workspace.is_dir():
        yield Finding("workspace", False, f"{workspace} is not there", "course start")
        return
    writable = os.access(workspace, os.W_OK)
    mend = "" if writable else f"allow yourself to write there, or name another with {_OPTION}"
    says = str(workspace) if writable else f"{workspace} cannot be written to"
    yield Finding("workspace", writable, says, mend)
    free = shutil.disk_usage(workspace).free
    mend = "" if free >= LEAST_FREE else "delete something large"
    yield Finding("free space", free >= LEAST_FREE, f"{free / 2**30:.1f} GB", mend)
    path = workspace / FILE
    try:
        parse(path)
        yield Finding("progress file", True, "can be read")
    except FileNotFoundError:
        yield Finding("progress file", None, "none yet: nothing was checked so far")
    except (CourseError, OSError) as error:
        yield Finding("progress file", False, str(error), "it is set aside when next written")
    old = list(update(workspace, write=False))
    for one in (one for one in old if one.problem):
        yield Finding(one.file, False, one.problem, f"course reset {one.file.split('_')[0]}")
    count = sum(not one.problem for one in old)
    says = f"{count} lessons have a newer form" if count else "all as in this release"
    yield Finding("lessons", None if count else True, says, "course update" if count else "")


_OPTION = "--workspace FOLDER"


def _extras() -> Iterator[Finding]:
    import tinygrad_course as tg
    from course import limits
    from course.grade import landlock

    reason = tg.cuda.unavailable_reason()
    yield Finding(
        "GPU",
        None if reason else True,
        (reason or "can be used").splitlines()[0],
        'python -m pip install "tinygrad-course[cuda12]"' if reason else "",
    )
    limited = limits.memory_can_be_limited()
    says = "time and memory" if limited else "time alone: an answer can fill this system's memory"
    yield Finding("limits", True if limited else None, says)
    wall = landlock.version()
    says = f"Landlock {wall}" if wall else "without Landlock: Python's own fence holds answers in"
    yield Finding("sandbox", True if wall else None, says)


def as_json(findings: list[Finding]) -> str:
    """The findings as a JSON document."""
    rows = [{"name": f.name, "ok": f.ok, "says": f.says, "mend": f.mend} for f in findings]
    return json.dumps(rows, indent=1, ensure_ascii=False)
