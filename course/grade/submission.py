"""What a learner handed in, read as data: a notebook file that may be broken, huge or foreign.

Only the text of answer cells is taken, by the exercise that their metadata name. Nothing is
executed, and the file is never written. Lesson 00.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.files import CourseError, plain
from course.lesson import Lesson, lesson_folders, load_lesson

MOST_BYTES = 30_000_000
MOST_CODE = 200_000


@dataclass(frozen=True)
class Submission:
    """The answers in one file: for each exercise its cells' texts, in the file's order."""

    path: Path
    lesson: Lesson
    answers: dict[str, list[str]]
    others: tuple[str, ...]
    """The code cells that are no answers: they are not run, only looked at to explain errors."""
    digest: str


def read_submission(path: Path) -> Submission:
    """Read a notebook; CourseError with one line where it is none of ours or cannot be read."""
    data = read_bytes(path)
    notebook = notebook_in(path, data)
    lesson = _lesson(path, notebook)
    answers: dict[str, list[str]] = {}
    others: list[str] = []
    seen: set[str] = set()
    for number, cell in enumerate(notebook["cells"], 1):
        id_ = cell.get("id") if type(cell) is dict else None
        if type(id_) is str and id_ in seen:
            raise _bad(path, f"two cells have the id {id_!r}: save it once with JupyterLab")
        if type(id_) is str:
            seen.add(id_)
        source = _source(path, number, cell)
        if source is None:
            continue
        exercise = _exercise(cell)
        if exercise in lesson.exercises:
            answers.setdefault(exercise, []).append(source)
        elif exercise is None:
            others.append(source)
    for name, sources in answers.items():
        if sum(map(len, sources)) > MOST_CODE:
            raise _bad(path, f"the answer to {name} is longer than {MOST_CODE:,} characters")
    return Submission(path, lesson, answers, tuple(others), hashlib.sha256(data).hexdigest())


def _bad(path: Path, what: str) -> CourseError:
    return CourseError(plain(f"{path}: {what}", 400).replace("\n", " "))


def read_bytes(path: Path) -> bytes:
    """A file's bytes; CourseError where it cannot be read or is too large."""
    try:
        if not path.is_file():
            raise _bad(path, "there is no such file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise _bad(path, f"is larger than {MOST_BYTES // 1_000_000} MB: clear its outputs")
    return data


def notebook_in(path: Path, data: bytes) -> dict[str, Any]:
    """The notebook of a file's bytes, with a list of cells; CourseError where it is none."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _bad(path, "is no notebook: it is not UTF-8 text") from error
    except RecursionError as error:
        raise _bad(path, "is no notebook: its JSON is nested too deeply") from error
    except ValueError as error:
        what = "is empty" if not data.strip() else f"is no notebook, or cut off: {error}"
        raise _bad(path, what) from error
    if type(notebook) is not dict or type(notebook.get("cells")) is not list:
        raise _bad(path, "is no notebook: it has no list of cells")
    if notebook.get("nbformat") != 4:
        raise _bad(path, "is a notebook of another format than 4: save it once with JupyterLab")
    return notebook


def _lesson(path: Path, notebook: dict[str, Any]) -> Lesson:
    metadata = notebook.get("metadata")
    course = metadata.get("course") if type(metadata) is dict else None
    name = course.get("lesson") if type(course) is dict else None
    if type(name) is not str:
        raise _bad(path, "is not one of the course's notebooks: its metadata name no lesson")
    # Looked up among our own names, so that no text of the file's becomes a path.
    if name not in {folder.name for folder in lesson_folders()}:
        raise _bad(path, f"belongs to a lesson that this course does not have, {name!r}")
    return load_lesson(name)


def _source(path: Path, number: int, cell: object) -> str | None:
    """The text of a code cell, None for other cells."""
    if type(cell) is not dict:
        raise _bad(path, f"cell {number} is not a cell")
    if cell.get("cell_type") != "code":
        return None
    source = cell.get("source", "")
    if type(source) is list and all(type(line) is str for line in source):
        source = "".join(source)
    if type(source) is not str:
        raise _bad(path, f"cell {number} has no text")
    return source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


def _exercise(cell: dict[str, Any]) -> str | None:
    """The exercise that a cell answers; "" for the course's other cells, None for the learner's."""
    metadata = cell.get("metadata")
    course = metadata.get("course") if type(metadata) is dict else None
    if type(course) is not dict:
        # Some editors drop the metadata that they do not know, and keep the ids.
        id_ = str(cell.get("id"))
        return id_.removeprefix("answer-") if id_.startswith("answer-") else None
    exercise = course.get("exercise")
    return exercise if course.get("role") == "answer" and type(exercise) is str else ""
