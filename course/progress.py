"""What a learner has done: one JSON file in the workspace, written whole or not at all.

It records points, tries and opened hints. A file that cannot be read is set aside under another
name, never deleted. It knows neither notebooks nor verdicts. Lesson 00.
"""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course.files import CourseError, write_atomic

SCHEMA = 1
FILE = "course-progress.json"


@dataclass
class Entry:
    """One exercise: best points, of how many, tries, hints opened, and whether it was solved."""

    earned: int = 0
    points: int = 0
    tries: int = 0
    hints: int = 0
    passed: bool = False


@dataclass
class Progress:
    """The progress file of one workspace."""

    path: Path
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    set_aside: str = ""
    """Where a broken file went, to be told to the learner."""

    def entry(self, lesson: str, exercise: str) -> Entry:
        """The entry of an exercise, made if need be."""
        return self.entries.setdefault(lesson, {}).setdefault(exercise, Entry())

    def record(self, lesson: str, exercise: str, earned: int, points: int) -> None:
        """Note a try; the best result stays."""
        entry = self.entry(lesson, exercise)
        entry.tries += 1
        entry.earned = max(entry.earned, earned)
        entry.points = points
        entry.passed = entry.passed or earned == points

    def save(self) -> None:
        """Write the file in one step."""
        lessons = {
            lesson: {name: asdict(entry) for name, entry in entries.items()}
            for lesson, entries in self.entries.items()
        }
        data = {"schema": SCHEMA, "lessons": lessons}
        write_atomic(self.path, json.dumps(data, indent=1, sort_keys=True) + "\n")


def read_progress(workspace: Path) -> Progress:
    """The progress in `workspace`; an unreadable file is moved aside and an empty one begun."""
    path = workspace / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and type(data.get("schema")) is int and data["schema"] > SCHEMA:
            raise CourseError(
                f"{path} was written by a newer release of the course (schema {data['schema']}, "
                f"this one knows {SCHEMA}): install that release again"
            )
        return Progress(path, _entries(data))
    except FileNotFoundError:
        return Progress(path)
    except OSError as error:
        raise CourseError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return Progress(path, set_aside=_set_aside(path))


def _entries(data: Any) -> dict[str, dict[str, Entry]]:
    """The entries of a file's data; any of several errors where they are not what we write."""
    if data["schema"] != SCHEMA:
        raise ValueError(data["schema"])
    kinds = {"earned": int, "points": int, "tries": int, "hints": int, "passed": bool}
    found: dict[str, dict[str, Entry]] = {}
    for lesson, entries in data["lessons"].items():
        for name, values in entries.items():
            if any(type(values[key]) is not kind for key, kind in kinds.items()):
                raise ValueError(name)
            entry = Entry(**{key: values[key] for key in kinds})
            found.setdefault(lesson, {})[name] = entry
    return found


def _set_aside(path: Path) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        target = path.with_name(f"{path.stem}-broken-{stamp}{f'-{number}' if number else ''}.json")
        if not target.exists():
            path.rename(target)
            return target.name
    raise CourseError(f"cannot set the broken {path} aside: move it away by hand")
