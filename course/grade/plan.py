"""A teacher's plan: which lessons a class does, until when, and for how many points.

It is one TOML file, `[lessons.05_backward]` with `due` and `points`; what it leaves out is as in
the course. It knows lessons and verdicts, and nothing of kernels. Lesson 00.
"""

import datetime
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course.files import CourseError
from course.judge import Verdict
from course.lesson import Lesson, find_lesson, load_lesson


@dataclass(frozen=True, slots=True)
class Planned:
    """One lesson of a plan: when it is due, and the points of its exercises."""

    due: datetime.datetime | None
    points: Mapping[str, float]

    @property
    def digest(self) -> str:
        """A fingerprint: with other points or another date, work is graded anew."""
        return f"{zlib.crc32(repr((self.due, dict(self.points))).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A teacher's plan, the lessons in the file's order."""

    title: str
    lessons: Mapping[str, Planned]

    def of(self, lesson: Lesson) -> Planned:
        """What it says about a lesson; CourseError where the lesson is no part of it."""
        if lesson.name not in self.lessons:
            known = ", ".join(self.lessons)
            raise CourseError(f"{lesson.name} is not in the plan; it has: {known}")
        return self.lessons[lesson.name]


def read_plan(path: Path) -> Plan:
    """Read a plan; CourseError where it is none or names what the course has not."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise CourseError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise CourseError(f"{path}: is no TOML: {error}") from error
    try:
        _only(data, {"title", "lessons"}, "a plan")
        lessons = _typed(data, "lessons", dict, {})
        found = dict(_planned(name, part) for name, part in lessons.items())
        if not found:
            raise CourseError("there is no lesson in it: add [lessons.00_start] and the like")
        return Plan(_typed(data, "title", str, ""), found)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from error


def _planned(name: str, part: Any) -> tuple[str, Planned]:
    lesson = load_lesson(find_lesson(name).name)
    place = f"lessons.{name}"
    if not isinstance(part, dict):
        raise CourseError(f"{place} is not a table")
    _only(part, {"due", "points"}, place)
    due: datetime.datetime | None = part.get("due")
    if due is not None and not (isinstance(due, datetime.datetime) and due.tzinfo):
        raise CourseError(f"{place}: due is a time with its zone: due = 2030-01-31T23:59:00+01:00")
    own = _typed(part, "points", dict, {})
    points: dict[str, float] = {name: e.points for name, e in lesson.exercises.items()}
    for exercise, worth in own.items():
        if exercise not in points:
            known = ", ".join(points)
            raise CourseError(f"{place}: there is no exercise {exercise!r}; there are: {known}")
        if type(worth) not in (int, float) or not 0 <= worth <= 10_000:
            raise CourseError(f"{place}: the points of {exercise} are no number from 0 on")
        points[exercise] = worth
    return lesson.name, Planned(due, points)


def _only(part: dict[str, Any], known: set[str], place: str) -> None:
    extra = sorted(set(part) - known)
    if extra:
        raise CourseError(f"{place} has no {extra[0]!r}; there are {', '.join(sorted(known))}")


def _typed(part: dict[str, Any], key: str, kind: type, default: Any) -> Any:
    found = part.get(key, default)
    if not isinstance(found, kind):
        raise CourseError(f"{key} is not of type {kind.__name__}")
    return found


# ------------------------------------------------------------------ using it


def scaled(verdict: Verdict, points: float) -> Verdict:
    """The verdict with `points` to be had in place of the course's own."""
    if points == verdict.points or not verdict.points:
        return verdict
    part = points / verdict.points
    cases = tuple(replace(case, points=round(case.points * part, 4)) for case in verdict.cases)
    return replace(verdict, cases=cases)


def handed_in(path: Path) -> datetime.datetime:
    """When a file was handed in: nbgrader's note beside it, or when the file was last changed."""
    try:
        note = path.with_name("timestamp.txt").read_text(encoding="utf-8").strip()
        found = datetime.datetime.fromisoformat(note.removesuffix(" UTC"))
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    except (OSError, ValueError):
        return datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)


def is_late(path: Path, planned: Planned) -> bool:
    """Whether a file was handed in after its time."""
    return planned.due is not None and handed_in(path) > planned.due
