"""A new release's notebooks under a learner's work: merged cell by cell, by their ids.

The course's own cells become the new ones; answers and cells that the learner added stay, and so
does the learner's version of a cell of ours that was edited. The old file is kept in `kept/` before
the new one takes its place. Nothing here is executed. Lesson 00.
"""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.build import assemble, to_text
from course.files import CourseError, write_atomic
from course.grade.submission import notebook_in, read_bytes
from course.lesson import Lesson, lesson_folders, load_lesson

KEPT = "kept"
GIVEN = ".course-cells.json"
"""The file of a workspace that says how each of our cells was when the learner got it."""

Cell = dict[str, Any]
Known = dict[str, str]


@dataclass
class Merge:
    """A merged notebook and what changed, a line each."""

    notebook: dict[str, Any]
    changes: list[str] = field(default_factory=list)


def digest(cell: Cell) -> str:
    """A fingerprint of a cell's text."""
    return hashlib.sha256(text_of(cell).encode("utf-8", "replace")).hexdigest()[:16]


def text_of(cell: Cell) -> str:
    """A cell's text, however the file splits it."""
    source = cell.get("source", "")
    parts = source if isinstance(source, list) else [source]
    return "".join(str(part) for part in parts).replace("\r\n", "\n")


def key_of(cell: Cell) -> str:
    """What a cell of ours is known by: its role and exercise, or its id; "" for other cells."""
    course = _course(cell)
    if course is None:
        return ""
    if course.get("role") in ("box", "answer", "check"):
        return f"{course['role']}-{course.get('exercise')}"
    return str(cell.get("id", ""))


def _course(cell: Cell) -> dict[str, Any] | None:
    metadata = cell.get("metadata")
    found = metadata.get("course") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else None


# ------------------------------------------------------------------ merging


def merge(old: dict[str, Any], new: dict[str, Any], known: Known) -> Merge:
    """`new` with the learner's cells of `old` in it.

    `known` has the digests of our cells as the learner got them: another text is an edit.
    """
    theirs: dict[str, list[Cell]] = {}
    following: dict[str, list[Cell]] = {}
    found = Merge({**old, "nbformat": 4, "nbformat_minor": 5})
    keys = {key_of(cell) for cell in new["cells"]}
    anchor = ""
    for cell in old["cells"]:
        key = key_of(cell)
        if key in keys:
            theirs.setdefault(key, []).append(cell)
            anchor = key
        elif _course(cell) is None:
            following.setdefault(anchor, []).append(cell)
        else:
            written = key.startswith("answer-") or (key in known and digest(cell) != known[key])
            if written and text_of(cell).strip():
                following.setdefault(anchor, []).append(_own(cell))
            kept = "; what you wrote there is kept" if written else ""
            found.changes.append(f"no longer there: {key or 'a cell'}{kept}")
    cells = following.pop("", [])
    for cell in new["cells"]:
        key = key_of(cell)
        cells += _placed(cell, theirs.get(key, []), known.get(key), found.changes)
        cells += following.pop(key, [])
    metadata = old.get("metadata")
    found.notebook["metadata"] = {
        **(metadata if isinstance(metadata, dict) else {}),
        "course": new["metadata"]["course"],
    }
    found.notebook["cells"] = list(_with_ids(cells))
    return found


def _placed(new: Cell, theirs: list[Cell], known: str | None, changes: list[str]) -> Iterator[Cell]:
    """What stands in the place of one of our cells."""
    key, role = key_of(new), new["metadata"]["course"]["role"]
    same = [cell for cell in theirs if text_of(cell) == text_of(new)]
    if not theirs:
        changes.append(f"new: {key}")
        yield new
    elif role == "answer":
        if [digest(cell) for cell in theirs] == [known] and not same:
            changes.append(f"replaced: {key}, which you had not begun")
            yield new
            return
        if known is not None and known != digest(new):
            changes.append(f"kept: {key}, yours, though what we give to begin with has changed")
        for cell in theirs:
            yield {**cell, "metadata": {**cell["metadata"], **new["metadata"]}}
    elif same:
        # Outputs of the learner's run go with an unchanged cell.
        yield {**same[0], "id": new["id"], "metadata": {**same[0]["metadata"], **new["metadata"]}}
    else:
        edited = role not in ("box", "check") and known is not None and digest(theirs[0]) != known
        changed = known is None or known != digest(new)
        if changed:
            kept = "; your version of it is kept below" if edited else ""
            changes.append(f"replaced: {key}{kept}")
            yield new
            if edited:
                yield _own(theirs[0])
        elif edited:
            yield {**theirs[0], "id": new["id"]}  # an experiment in a cell that is still the same
        else:
            changes.append(f"put back: {key}")
            yield new


def _own(cell: Cell) -> Cell:
    """A cell of ours as one of the learner's: no part of the course any more."""
    metadata = {k: v for k, v in cell["metadata"].items() if k not in ("course", "editable")}
    return {**cell, "id": "", "metadata": metadata}


def _with_ids(cells: list[Cell]) -> Iterator[Cell]:
    """The cells with an id each, as the format's newer versions want it."""
    ours = {key_of(cell) for cell in cells}
    seen: set[str] = set()
    for cell in cells:
        id_ = str(cell.get("id") or "")
        taken = id_ in seen or (id_ in ours and id_ != key_of(cell))
        if taken or not re.fullmatch(r"[\w-]{1,64}", id_, re.ASCII):
            cell = {**cell, "id": f"own-{secrets.token_hex(4)}"}
        seen.add(cell["id"])
        yield cell


# ------------------------------------------------------------------ a workspace's files


@dataclass
class Updated:
    """What happened to one notebook of the workspace."""

    file: str
    changes: list[str]
    kept: str = ""
    problem: str = ""


def update(workspace: Path, *, write: bool = True) -> Iterator[Updated]:
    """Bring every lesson of the workspace to this release; one result for each that changes."""
    known = read_given(workspace)
    for folder in lesson_folders():
        lesson = load_lesson(folder.name)
        path = workspace / f"{lesson.name}.ipynb"
        new = assemble(lesson, solutions=False)
        result = Updated(path.name, [])
        try:
            if not path.exists():
                result.changes = ["new lesson"]
                if write:
                    write_atomic(path, to_text(new))
            else:
                result = _merged(path, new, known.get(lesson.name, {}), write)
            if write and known.get(lesson.name) != digests(new):
                # At once: an end in the middle must leave no lesson with the note of another text.
                known[lesson.name] = digests(new)
                write_given(workspace, known)
        except CourseError as error:
            result.problem = str(error)
        if result.changes or result.problem:
            yield result


def reset(workspace: Path, lesson: Lesson, exercise: str | None) -> Updated:
    """Put a lesson, or the answer to one exercise, back to how it was given."""
    path = workspace / f"{lesson.name}.ipynb"
    new = assemble(lesson, solutions=False)
    if exercise is None:
        result = Updated(path.name, ["the whole lesson"], keep(path))
        write_atomic(path, to_text(new))
    else:
        gone = f"answer-{exercise}"
        result = _merged(path, new, read_given(workspace).get(lesson.name, {}), True, gone)
    write_given(workspace, {**read_given(workspace), lesson.name: digests(new)})
    return result


def _merged(path: Path, new: dict[str, Any], known: Known, write: bool, gone: str = "") -> Updated:
    """Merge one file, without the cells known by `gone`."""
    old = notebook_in(path, read_bytes(path))
    if not all(isinstance(c, dict) and isinstance(c.get("metadata"), dict) for c in old["cells"]):
        raise CourseError(f"{path} has cells that are none: save it once with JupyterLab")
    old["cells"] = [cell for cell in old["cells"] if not gone or key_of(cell) != gone]
    found = merge(old, new, known)
    result = Updated(path.name, found.changes)
    if found.changes and write:
        result.kept = keep(path)
        write_atomic(path, to_text(found.notebook))
    return result


def keep(path: Path) -> str:
    """Copy a file into `kept/` under a name with the time in it; the copy's name."""
    text = read_bytes(path).decode("utf-8", "surrogateescape")
    folder = path.with_name(KEPT)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise CourseError(f"cannot make {folder}: {error.strerror or error}") from error
    stem = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (f"{stem}{f'-{n}' if n else ''}{path.suffix}" for n in range(1000))
    target = next(folder / name for name in names if not (folder / name).exists())
    write_atomic(target, text, errors="surrogateescape")
    return f"{KEPT}/{target.name}"


def digests(notebook: dict[str, Any]) -> Known:
    """The fingerprint of each of our cells."""
    return {key_of(cell): digest(cell) for cell in notebook["cells"]}


def read_given(workspace: Path) -> dict[str, Known]:
    """What the workspace notes of our cells; nothing where the note is absent or broken."""
    try:
        found = json.loads((workspace / GIVEN).read_text(encoding="utf-8"))
        return {str(k): {str(i): str(d) for i, d in v.items()} for k, v in found.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def write_given(workspace: Path, known: dict[str, Known]) -> None:
    """Note how our cells are that the learner has now."""
    write_atomic(workspace / GIVEN, json.dumps(known, indent=1, sort_keys=True) + "\n")
