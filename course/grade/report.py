"""Results of grading, written as they come: one JSON file a submission, and tables of all.

A second run with the same folder takes what is there for unchanged submissions and grades the rest.
Each file is written whole or not at all. It knows numbers and text, never an answer. Lesson 00.
"""

import csv
import hashlib
import io
import json
import re
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course.feedback import explain
from course.files import CourseError, plain, write_atomic
from course.grade.page import learner_page, overview
from course.judge import Verdict, total_of

SCHEMA = 2
TABLE_SECONDS = 3.0


@dataclass
class Row:
    """The result of one submission; `problem` says why it could not be graded."""

    file: str
    lesson: str = ""
    digest: str = ""
    source: str = ""
    seed: int = 0
    problem: str = ""
    learner: str = ""
    late: bool = False
    exercises: list[dict[str, Any]] = field(default_factory=list)

    @property
    def earned(self) -> float:
        """Points of all exercises."""
        return total_of(e["earned"] for e in self.exercises)

    @property
    def points(self) -> float:
        """What they are worth."""
        return total_of(e["points"] for e in self.exercises)

    @property
    def perfect(self) -> bool:
        """Graded, and every point earned."""
        return not self.problem and self.earned == self.points


def exercise_row(verdict: Verdict, hints: int | None = None) -> dict[str, Any]:
    """A verdict as JSON data, with the number of hints that the learner's own notes tell of."""
    return {
        "exercise": verdict.exercise,
        "title": verdict.title,
        "earned": verdict.earned,
        "points": verdict.points,
        "mistake": verdict.mistake_name,
        "hints": hints,
        "cases": [
            {"title": case.title, "earned": case.earned, "points": case.points}
            for case in verdict.cases
        ],
        "feedback": explain(verdict),
    }


class Reports:
    """The folder that results are written to, with those of an earlier run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, Row] = {}
        self.order: list[str] = []
        """The files in the order that the tables are to have, whenever each is done."""
        self._kept: set[str] = set()
        self._next_tables = 0.0
        try:
            for part in ("submissions", "pages"):
                (folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CourseError(f"cannot make {folder}: {error.strerror or error}") from error

    def earlier(self, path: Path, digest: str, source: str, seed: int | None) -> Row | None:
        """What an earlier run found for the same file, lesson text and (if given) seed."""
        try:
            data = json.loads(self._file(str(path), digest).read_text(encoding="utf-8"))
            row = Row(**{key: data[key] for key in Row.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        same = (row.file, row.digest, row.source) == (str(path), digest, source)
        if not same or seed not in (None, row.seed):
            return None
        self._kept.add(row.file)
        return row

    def add(self, row: Row) -> None:
        """Keep a result: its own file and page at once, the tables every few seconds."""
        self.rows[row.file] = row
        if row.digest and row.file not in self._kept:
            text = json.dumps(as_data(row), indent=1, ensure_ascii=False) + "\n"
            write_atomic(self._file(row.file, row.digest), text)
        if time.monotonic() > self._next_tables:
            self.write_tables()
            self._next_tables = time.monotonic() + TABLE_SECONDS
        theirs = [r for r in self._rows() if r.learner == row.learner]
        write_atomic(self.folder / self._page(row.learner), learner_page(row.learner, theirs))

    def _rows(self) -> list[Row]:
        return [self.rows[name] for name in self.order if name in self.rows]

    def _page(self, learner: str) -> str:
        key = hashlib.sha256(learner.encode("utf-8", "replace")).hexdigest()[:6]
        return f"pages/{re.sub(r'[^A-Za-z0-9.-]+', '-', learner)[:60]}-{key}.html"

    def write_tables(self) -> None:
        """Write grades.json, .csv and .xml of all results so far, and the list of the pages."""
        rows = self._rows()
        pages = {row.learner: self._page(row.learner) for row in rows}
        write_atomic(self.folder / "index.html", overview(rows, pages))
        write_atomic(self.folder / "grades.json", as_json(rows))
        write_atomic(self.folder / "grades.csv", as_csv(rows))
        write_atomic(self.folder / "grades.xml", as_junit(rows))

    def _file(self, name: str, digest: str) -> Path:
        # A class hands in many files of one name, and some of one content.
        key = hashlib.sha256(f"{name}\0{digest}".encode("utf-8", "replace")).hexdigest()[:12]
        stem = re.sub(r"[^\w.-]+", "-", Path(name).stem)[:60]
        return self.folder / "submissions" / f"{stem}-{key}.json"


# ------------------------------------------------------------------ formats


def as_data(row: Row) -> dict[str, Any]:
    """A row as JSON data."""
    return {**asdict(row), "earned": row.earned, "points": row.points}


def as_json(rows: list[Row]) -> str:
    """All rows as a JSON document."""
    data = {"schema": SCHEMA, "submissions": [as_data(row) for row in rows]}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def as_csv(rows: list[Row]) -> str:
    """A class as a table: one line a submission, one column an exercise."""
    names = dict.fromkeys((row.lesson, e["exercise"]) for row in rows for e in row.exercises)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    head = ["learner", "file", "lesson", "earned", "points", "late", "problem"]
    writer.writerow([*head, *(n for _, n in names)])
    for row in rows:
        got = {(row.lesson, e["exercise"]): e["earned"] for e in row.exercises}
        totals = ["", ""] if row.problem else [row.earned, row.points]
        late = "late" if row.late else ""
        texts = [_cell(row.learner), _cell(row.file), row.lesson, *totals, late, _cell(row.problem)]
        writer.writerow([*texts, *(got.get(name, "") for name in names)])
    return file.getvalue()


def _cell(text: str) -> str:
    """Text on one line that a spreadsheet does not take for a formula, nor a part of it."""
    text = " ".join(plain(text).split())
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text


def as_junit(rows: list[Row]) -> str:
    """All rows as JUnit XML: a suite for each submission, a test case for each exercise."""
    root = ElementTree.Element("testsuites", name="course grade")
    for row in rows:
        failed = sum(e["earned"] < e["points"] for e in row.exercises)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=plain(row.file),
            tests=str(len(row.exercises) + bool(row.problem)),
            failures=str(failed),
            errors=str(int(bool(row.problem))),
        )
        if row.problem:
            case = ElementTree.SubElement(suite, "testcase", name="reading the submission")
            ElementTree.SubElement(case, "error", message=plain(row.problem))
        for exercise in row.exercises:
            case = ElementTree.SubElement(
                suite, "testcase", classname=row.lesson, name=exercise["exercise"]
            )
            if exercise["earned"] < exercise["points"]:
                message = f"{exercise['earned']:g} of {exercise['points']:g} points"
                failure = ElementTree.SubElement(case, "failure", message=message)
                failure.text = plain(exercise["feedback"], 30_000)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
