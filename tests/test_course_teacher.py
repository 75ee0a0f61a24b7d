"""A class: tables, pages, statistics, a second run, a teacher's own points and dates."""

import contextlib
import csv
import datetime
import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from typer.testing import CliRunner

from course.cli import app
from course.grade.classroom import grade_all, notebooks_in
from course.grade.page import learner_page
from course.grade.plan import handed_in
from course.grade.report import Reports, Row, as_csv, as_junit
from course.grade.stats import statistics
from course.grade.submission import read_submission
from course.lesson import load_lesson
from course.progress import FILE as PROGRESS
from course.progress import Progress
from tests.classroom import ROOT, write_class
from tests.course_helpers import (
    CONTENT,
    LIMITS,
    RIGHT,
    WRONG,
    answer_cell,
    notebook,
    save,
)


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))


# ------------------------------------------------------------------ a class


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reports on three submissions, one of them broken."""
    root = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CONTENT", str(CONTENT))
        for name, answers in {"ada": RIGHT, "=bob": {**RIGHT, **WRONG}}.items():
            (root / "in" / name).mkdir(parents=True)
            save(notebook(answers), root / "in" / name / "work.ipynb")
        (root / "in" / "broken.ipynb").write_text("{", encoding="utf-8")
        progress = Progress(root / "in" / "ada" / PROGRESS)
        progress.entry("07_fixture", "double").hints = 2
        progress.save()
        paths = notebooks_in([root / "in"])
        grade_all(paths, 3, Reports(root / "out"), limits=LIMITS, roots=[root / "in"])
    return root


def test_a_class_gets_its_tables(graded_class: Path) -> None:
    out = graded_class / "out"
    rows = {
        Path(row["file"]).parent.name: row
        for row in json.loads((out / "grades.json").read_text("utf-8"))["submissions"]
    }
    assert (rows["ada"]["earned"], rows["ada"]["points"]) == (7, 7)
    assert rows["=bob"]["earned"] == 4
    assert "is no notebook, or cut off" in rows["in"]["problem"]
    table = list(csv.DictReader((out / "grades.csv").read_text("utf-8").splitlines()))
    assert [(r["earned"], r["double"], r["predict"]) for r in table] == [
        ("4", "0", "2"),
        ("7", "3", "2"),
        ("", "", ""),
    ]
    suites = ElementTree.parse(out / "grades.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["1", "0", "0"]
    assert [suite.get("errors") for suite in suites] == ["0", "0", "1"]


def test_a_second_run_grades_only_what_is_new(graded_class: Path, tmp_path: Path) -> None:
    root = graded_class
    told: list[Row] = []
    reports = Reports(root / "out")
    paths = notebooks_in([root / "in"])
    first = {p: p.read_text("utf-8") for p in (root / "out" / "submissions").iterdir()}
    # A file that was cut off by a crash is graded again; whole ones are taken as they are.
    victim = next(path for path in first if '"earned": 4' in first[path].splitlines()[-3])
    victim.write_text(first[victim][:100], encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in first if path != victim}
    rows = grade_all(paths, 4, reports, limits=LIMITS, on_row=told.append, roots=[root / "in"])
    assert [row.file for row in rows] == [str(path) for path in paths]
    assert len(told) == 3
    assert sorted(row.seed for row in rows) == [0, 3, 4]
    assert {row.learner for row in rows} == {"ada", "=bob", "broken"}
    assert {row.earned for row in rows if not row.problem} == {4, 7}
    assert before.keys() == {p for p in before if p.is_file()}


def test_each_learner_gets_a_page(graded_class: Path) -> None:
    out = graded_class / "out"
    pages = {
        page.name.rpartition("-")[0]: page.read_text("utf-8") for page in (out / "pages").iterdir()
    }
    assert set(pages) == {"ada", "-bob", "broken"}
    assert "<h1>=bob</h1>" in pages["-bob"] and "4 of 7 points" in pages["-bob"]
    assert "not right yet" in pages["-bob"] and "not right yet" not in pages["ada"]
    assert "is no notebook, or cut off" in pages["broken"]
    for text in (*pages.values(), (out / "index.html").read_text("utf-8")):
        assert "<script" not in text and "http" not in text
    for link in re.findall('href="([^"]+)"', (out / "index.html").read_text("utf-8")):
        assert (out / link).is_file()


def test_a_page_escapes_what_learners_write() -> None:
    exercise = {"title": "<b>", "earned": 0, "points": 1, "feedback": "<script>&\x1b[31m"}
    page = learner_page("<img>", [Row("a", "07", exercises=[exercise])])
    assert "&lt;script&gt;&amp;?[31m" in page and "<img>" not in page and "<b>" not in page


def test_statistics_of_a_class(graded_class: Path) -> None:
    done = CliRunner().invoke(app, ["stats", str(graded_class / "out"), "--json"])
    double, quadruple, predict = json.loads(done.stdout)
    assert (double["submissions"], double["passed"], double["mean"]) == (2, 0.5, 0.5)
    assert (quadruple["passed"], predict["passed"]) == (1.0, 1.0)
    assert double["cases"] == [
        {"title": "a number", "passed": 0.5},
        {"title": "any array", "passed": 0.5},
    ]
    assert double["hints"] == 2
    shown = CliRunner().invoke(app, ["stats", str(graded_class / "out")]).stdout
    assert "50% of 2" in shown
    done = CliRunner().invoke(app, ["stats", str(graded_class / "in")])
    assert done.exit_code == 2 and "course grade" in done.stderr


def test_items_that_go_with_the_rest_and_mistakes_are_counted() -> None:
    def row(good: bool, rest: int, mistake: str) -> dict[str, Any]:
        case = {"title": "one", "earned": int(good), "points": 1}
        item = {"exercise": "x", "title": "X", "earned": int(good), "points": 1, "cases": [case]}
        return {"lesson": "07", "earned": good + rest, "exercises": [{**item, "mistake": mistake}]}

    rows = [
        row(False, 1, "a"),
        row(False, 2, "b"),
        row(True, 3, ""),
        row(True, 4, ""),
        row(True, 5, ""),
    ]
    (item,) = statistics([*rows, row(False, 0, "b")])
    xs, ys = [0, 0, 1, 1, 1, 0], [1, 2, 3, 4, 5, 0]
    assert item["correlation"] == round(float(np.corrcoef(xs, ys)[0, 1]), 3)
    assert item["mistakes"] == [{"name": "b", "count": 2}, {"name": "a", "count": 1}]
    assert item["hints"] is None
    assert statistics(rows[:2])[0]["correlation"] is None


# ------------------------------------------------------------------ a teacher's plan

PLAN = """
title = "Autumn"
[lessons.07_fixture]
due = 2030-01-31T12:00:00+01:00
points = { double = 10, quadruple = 0 }
"""


def test_a_plan_gives_points_and_dates(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    done = CliRunner().invoke(app, ["assign", str(plan), "--out", str(tmp_path / "release")])
    assert done.exit_code == 0
    given_out = json.loads((tmp_path / "release" / "07_fixture.ipynb").read_text("utf-8"))
    nbformat.validate(nbformat.from_dict(given_out))
    text = "\n".join("".join(cell["source"]) for cell in given_out["cells"])
    assert "Due 2030-01-31 12:00" in text and "12 points" in text
    assert "`double` · 10 points" in text
    answer_cell(given_out, "double")["source"] = (
        "def double(x):\n    return 2 * x if np.ndim(x) == 0 else x"
    )
    answer_cell(given_out, "predict")["source"] = RIGHT["predict"]
    work = tmp_path / "in" / "ada"
    work.mkdir(parents=True)
    path = save(given_out, work / "07_fixture.ipynb")
    os.utime(path, (2e9, 2e9))  # in 2033
    command = ["grade", str(tmp_path / "in"), "--plan", str(plan), "--json", "--seed", "1"]
    (row,) = json.loads(CliRunner().invoke(app, command).stdout)["submissions"]
    assert [(e["exercise"], e["earned"], e["points"]) for e in row["exercises"]] == [
        ("double", 3.33, 10),
        ("predict", 2, 2),
    ]
    assert (row["learner"], row["late"], row["earned"], row["points"]) == ("ada", True, 5.33, 12)
    assert "3.33 of 10 points" in row["exercises"][0]["feedback"]


def test_nbgraders_time_of_handing_in_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("", encoding="utf-8")
    (tmp_path / "timestamp.txt").write_text("2030-02-01 11:00:00.5 UTC", encoding="utf-8")
    assert handed_in(path) == datetime.datetime(2030, 2, 1, 11, 0, 0, 500000, datetime.UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "is no TOML"),
        ("", "there is no lesson in it"),
        ("[lessons.99_x]", "there is no lesson '99_x'"),
        ("[lessons.07_fixture]\nwhen = 1", "has no 'when'; there are due, points"),
        ("[lessons.07_fixture]\ndue = 2030-01-01", "a time with its zone"),
        ("[lessons.07_fixture.points]\nduoble = 1", "there is no exercise 'duoble'"),
        ("[lessons.07_fixture.points]\ndouble = -1", "no number from 0 on"),
        ("lessons = 3", "lessons is not of type dict"),
    ],
)
def test_a_bad_plan_gets_one_line(text: str, words: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["assign", str(plan), "--out", str(tmp_path)])
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert words in done.stderr and str(plan) in done.stderr


def test_notebooks_for_nbgrader(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    command = ["assign", str(plan), "--out", str(tmp_path / "source"), "--nbgrader"]
    assert CliRunner().invoke(app, command).exit_code == 0
    path = tmp_path / "source" / "07_fixture" / "07_fixture.ipynb"
    found = json.loads(path.read_text("utf-8"))
    marks = {c["id"]: c["metadata"].get("nbgrader") for c in found["cells"]}
    assert marks["answer-double"]["solution"] and not marks["answer-double"]["locked"]
    check = marks["check-double"]
    assert check["grade"] and check["locked"] and check["points"] == 10
    assert len({m["grade_id"] for m in marks.values() if m}) == len(found["cells"]) - 1
    # The last value of a check cell is the number that nbgrader reads.
    code = next("".join(c["source"]) for c in found["cells"] if c["id"] == "check-double")
    assert code.endswith("globals()).earned * 10 / 3")
    assert read_submission(path).lesson.name == "07_fixture"


def test_reports_take_any_text() -> None:
    row = Row("=a\x1b[31m.ipynb", problem="@b \x00 <&>")
    root = ElementTree.fromstring(as_junit([row]))
    assert root[0].get("name") == "=a?[31m.ipynb"
    assert as_csv([row]).splitlines()[1].startswith(",'=a")


def test_the_command_prints_feedback_and_says_how_it_went(tmp_path: Path) -> None:
    path = save(notebook({**RIGHT, "predict": "prediction = (9, 9)"}), tmp_path / "a.ipynb")
    done = CliRunner().invoke(app, ["grade", str(path), "--seed", "1"])
    assert done.exit_code == 1
    assert "Twice (double): right, 3 points" in done.stdout
    assert "5/7" in done.stdout
    # What a prediction should have been is the answer, and stays unsaid.
    assert "your answer is not right" in done.stdout
    assert "3 is expected" not in done.stdout
    done = CliRunner().invoke(app, ["grade", str(path), "--json", "--junit"])
    assert done.exit_code == 2


def test_json_and_junit_go_to_standard_output(tmp_path: Path) -> None:
    path = save(notebook({"predict": RIGHT["predict"]}), tmp_path / "a.ipynb")
    done = CliRunner().invoke(app, ["grade", str(path), "--json"])
    (row,) = json.loads(done.stdout)["submissions"]
    assert (row["earned"], row["points"], row["lesson"]) == (2, 7, "07_fixture")
    done = CliRunner().invoke(app, ["grade", str(path), "--junit"])
    assert len(ElementTree.fromstring(done.stdout).findall(".//failure")) == 2


# ------------------------------------------------------------------ a crash of the grader


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
def test_a_killed_grader_leaves_no_process_and_the_next_run_goes_on(tmp_path: Path) -> None:
    write_class(tmp_path / "in", load_lesson("7"), 5, odd=5)
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "course", "grade", str(tmp_path / "in"), "--jobs", "2"]
    command += ["--out", str(tmp_path / "out"), "--seed", "1", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}

    def graded() -> dict[str, int]:
        files = (tmp_path / "out" / "submissions").glob("*.json")
        return {path.name: path.stat().st_mtime_ns for path in files}

    def left() -> list[str]:
        """Processes that have something in the folder of this test."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(tmp_path / "tmp") in path.read_bytes().decode("utf-8", "replace"):
                    found.append(path.parent.name)
        return found

    def running() -> list[Path]:
        return list((tmp_path / "tmp").glob("course-grade-*"))

    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        while not (graded() and running()):
            time.sleep(0.05)
            assert process.poll() is None
        process.kill()
    before = graded()
    end = time.monotonic() + 20
    while left() and time.monotonic() < end:
        time.sleep(0.1)
    assert not left()
    assert running()
    for path in (tmp_path / "out").rglob("*.json"):
        json.loads(path.read_text("utf-8"))  # whole, whenever the end came
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode in (1, 2)
    rows = json.loads(done.stdout)["submissions"]
    assert [row["learner"] for row in rows] == [f"learner-{n:03}" for n in range(5)]
    assert not any(row["problem"] for row in rows)
    assert {name: when for name, when in graded().items() if name in before} == before
    assert len(graded()) == 5
    assert not running()
