"""What a learner has done: one JSON file in the workspace, written whole or not at all.

It records points, tries, opened hints and solutions, and predictions. A file that cannot be read is
set aside under another name, never deleted. It knows neither notebooks nor verdicts. Lesson 00.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course.files import CourseError, one_at_a_time, write_atomic

SCHEMA = 3
FILE = "course-progress.json"
HONEST = 3
"""So many different answers tried open the solution."""


@dataclass
class Entry:
    """One exercise: best points, of how many, tries, hints opened, and whether it was solved.

    `answers` counts the tries whose answer did something else than the one before, `last` is the
    fingerprint of the last, and `solution` says whether our own was looked at.
    """

    earned: int = 0
    points: int = 0
    tries: int = 0
    hints: int = 0
    passed: bool = False
    answers: int = 0
    last: str = ""
    solution: bool = False

    @property
    def solution_open(self) -> bool:
        """Whether ours may be seen: after a pass, or after honest attempts."""
        return self.passed or self.answers >= HONEST


@dataclass
class Predictions:
    """How many of a graph viewer's questions were answered, and how many right."""

    answered: int = 0
    right: int = 0


@dataclass
class Progress:
    """The progress file of one workspace; `predictions` are by lesson, "" for other notebooks."""

    path: Path
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    predictions: dict[str, Predictions] = field(default_factory=dict)
    set_aside: str = ""
    """Where a broken file went, to be told to the learner."""

    def entry(self, lesson: str, exercise: str) -> Entry:
        """The entry of an exercise, made if need be."""
        return self.entries.setdefault(lesson, {}).setdefault(exercise, Entry())

    def record(
        self, lesson: str, exercise: str, earned: float, points: float, fingerprint: str = ""
    ) -> None:
        """Note a try; the best result stays."""
        entry = self.entry(lesson, exercise)
        entry.tries += 1
        entry.earned = max(entry.earned, int(earned))
        entry.points = int(points)
        entry.passed = entry.passed or earned == points
        if fingerprint != entry.last:
            entry.answers += 1
            entry.last = fingerprint

    def predict(self, lesson: str, right: bool) -> None:
        """Note an answer in the mode "predict first"."""
        predictions = self.predictions.setdefault(lesson, Predictions())
        predictions.answered += 1
        predictions.right += right

    def save(self) -> None:
        """Write the file in one step."""
        lessons = {
            lesson: {name: asdict(entry) for name, entry in entries.items()}
            for lesson, entries in self.entries.items()
        }
        predictions = {lesson: asdict(each) for lesson, each in self.predictions.items()}
        data = {"schema": SCHEMA, "lessons": lessons, "predictions": predictions}
        write_atomic(self.path, json.dumps(data, indent=1, sort_keys=True) + "\n")


def read_progress(workspace: Path) -> Progress:
    """The progress in `workspace`; an unreadable file is moved aside and an empty one begun."""
    path = workspace / FILE
    try:
        return parse(path)
    except FileNotFoundError:
        return Progress(path)
    except Broken:
        return Progress(path, set_aside=_set_aside(path))


@contextmanager
def changing(workspace: Path) -> Iterator[Progress]:
    """The progress in `workspace`, to be changed in the body, and saved at the body's end.

    A notebook and a command that do so at the same time wait for each other: no try is lost.
    """
    with one_at_a_time(workspace / FILE):
        progress = read_progress(workspace)
        yield progress
        progress.save()


class Broken(CourseError):
    """The file is none of ours, or cut off."""


def parse(path: Path) -> Progress:
    """The progress in a file; Broken where it is none, CourseError where it cannot be used."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and type(data.get("schema")) is int and data["schema"] > SCHEMA:
            raise CourseError(
                f"{path} was written by a newer release of the course (schema {data['schema']}, "
                f"this one knows {SCHEMA}): install that release again"
            )
        return Progress(path, _entries(data), _predictions(data))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CourseError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Broken(f"{path} is broken") from error


def _entries(data: Any) -> dict[str, dict[str, Entry]]:
    """The entries of a file's data; any of several errors where they are not what we write."""
    if data["schema"] not in range(1, SCHEMA + 1):
        raise ValueError(data["schema"])
    blank = asdict(Entry())
    found: dict[str, dict[str, Entry]] = {}
    for lesson, entries in data["lessons"].items():
        for name, values in entries.items():
            if data["schema"] == 1:  # without what schema 2 has added
                values = {**blank, **values}
            if any(type(values[key]) is not type(blank[key]) for key in blank):
                raise ValueError(name)
            found.setdefault(lesson, {})[name] = Entry(**{key: values[key] for key in blank})
    return found


def _predictions(data: Any) -> dict[str, Predictions]:
    """The predictions of a file's data, which schema 3 has added."""
    found = data["predictions"] if data["schema"] >= 3 else {}
    for lesson, counts in found.items():
        if {name: type(value) for name, value in counts.items()} != {"answered": int, "right": int}:
            raise ValueError(lesson)
    return {lesson: Predictions(**counts) for lesson, counts in found.items()}


def _set_aside(path: Path) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        target = path.with_name(f"{path.stem}-broken-{stamp}{f'-{number}' if number else ''}.json")
        if not target.exists():
            try:
                path.rename(target)
            except OSError as error:
                raise CourseError(f"cannot set {path} aside: {error.strerror or error}") from error
            return target.name
    raise CourseError(f"cannot set the broken {path} aside: move it away by hand")
