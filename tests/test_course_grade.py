"""The grader on honest work in odd shapes, on files that are no submissions, and on a class."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from course.cli import app
from course.files import CourseError
from course.grade.grader import grade
from course.grade.splice import joined, neutral
from course.grade.submission import read_submission
from course.lesson import load_lesson
from tests.course_helpers import (
    CONTENT,
    LIMITS,
    RIGHT,
    WRONG,
    answer_cell,
    grades,
    notebook,
    points,
    save,
)

FULL = {"double": 3, "quadruple": 2, "predict": 2}


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))


# ------------------------------------------------------------------ honest work in odd shapes


def code_cell(source: Any, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {**cell, "source": source, **more}


def odd_shapes(found: dict[str, Any]) -> None:
    """Split, moved, extra and copied cells, magics, another kernel, Windows line ends, no ids."""
    cells = found["cells"]
    double = answer_cell(found, "double")
    course = double["metadata"]
    at = cells.index(double)
    # A split in the middle of a function: both halves keep the metadata.
    halves = ["%precision 3\r\ndef double(x):\r\n", "    return x + x\r\n"]
    cells[at : at + 1] = [code_cell(half, metadata=course) for half in halves]
    # A cell magic, and trials of the learner's own that fail.
    quadruple = answer_cell(found, "quadruple")
    quadruple["source"] = ["%%time\n", *quadruple["source"].splitlines(keepends=True)]
    cells.insert(0, code_cell("1 / 0"))
    cells.insert(3, code_cell("from IPython.display import display\ndisplay(double(2))"))
    # The prediction first, in a cell that fails after it.
    predict = answer_cell(found, "predict")
    cells.remove(predict)
    predict["source"] += "\nprint(undefined)"
    cells.insert(0, predict)
    found["metadata"]["kernelspec"] = {"name": "my-conda-env", "display_name": "mine"}
    found["nbformat_minor"] = 0
    for cell in cells:
        cell.pop("id", None)


def test_honest_work_in_odd_shapes_scores_in_full(tmp_path: Path) -> None:
    found = notebook(RIGHT)
    odd_shapes(found)
    assert points(grades(found, tmp_path)) == FULL


@pytest.mark.parametrize("minor", range(6))
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_form_of_the_format_is_read(minor: int, line_end: str, tmp_path: Path) -> None:
    """nbformat 4.0 to 4.5, text in one piece or lines, all line ends, a mark first."""
    found = notebook(RIGHT)
    found["nbformat_minor"] = minor
    for number, cell in enumerate(found["cells"]):
        text = "".join(cell["source"]).replace("\n", line_end)
        cell["source"] = text.splitlines(keepends=True) if number % 2 else text
        if minor < 5:
            cell.pop("id")
    path = tmp_path / "renamed (2).IPYNB.ipynb"
    text = json.dumps(found, indent=minor, ensure_ascii=minor % 2 == 0).replace("\n", line_end)
    path.write_bytes((b"\xef\xbb\xbf" if minor % 2 else b"") + text.encode())
    answers = read_submission(path).answers
    assert answers == {name: [code] for name, code in RIGHT.items()}


def test_answers_are_found_where_an_editor_has_dropped_the_metadata(tmp_path: Path) -> None:
    found = notebook(RIGHT)
    for cell in found["cells"]:
        cell["metadata"] = {"colab": {"base_uri": ""}}
    submission = read_submission(save(found, tmp_path / "a.ipynb"))
    assert submission.answers == {name: [code] for name, code in RIGHT.items()}


def test_whatever_stands_around_the_answers_does_not_matter(tmp_path: Path) -> None:
    """All other cells deleted, the answers backwards, attachments, odd outputs, a raw cell."""
    found = notebook(RIGHT)
    cells = [answer_cell(found, name) for name in reversed(RIGHT)]
    for cell in cells:
        cell["outputs"] = [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]
        cell["execution_count"] = -1
        cell["metadata"] |= {"scrolled": True, "tags": ["mine"], "editable": False}
    raw = {"cell_type": "raw", "id": "r", "metadata": {"format": "text/html"}, "source": "<b>"}
    picture = {"cell_type": "markdown", "metadata": {}, "source": "![](attachment:a.png)"}
    found["cells"] = [raw, *cells, {**picture, "attachments": {"a.png": {"image/png": "AAAA"}}}]
    found["metadata"] |= {"widgets": {}, "celltoolbar": "Slideshow", "kernelspec": None}
    assert points(grades(found, tmp_path)) == FULL


def test_feedback_names_the_mistake_the_cell_and_what_it_builds_on(tmp_path: Path) -> None:
    found = notebook(
        {
            "double": "def double(x):\n    x *= 2\n    return x",
            "quadruple": "helper\ndef quadruple(x):\n    return helper(double(x))",
            "predict": "prediction = (3, 3)",
        }
    )
    found["cells"].insert(2, code_cell("def helper(x):\n    return x"))
    verdicts = grades(found, tmp_path)
    assert points(verdicts) == {"double": 1, "quadruple": 0, "predict": 1}
    assert "x itself was changed" in verdicts["double"].mistake
    assert "Both axes cannot be the same" in verdicts["predict"].mistake
    notes = " ".join(verdicts["quadruple"].notes)
    assert "builds on double" in notes and "tried with our own" not in notes
    assert "`helper` is defined in a cell of your own" in notes
    assert "NameError: name 'helper' is not defined" in notes


def test_a_right_answer_on_a_wrong_one_is_tried_with_ours(tmp_path: Path) -> None:
    """As in the notebook: one mistake costs its own points."""
    verdicts = grades(notebook({**RIGHT, **WRONG}), tmp_path)
    assert points(verdicts) == {"double": 0, "quadruple": 2, "predict": 2}
    assert verdicts["quadruple"].notes == (
        "tried with our own answer to double, since yours is not right yet",
    )
    once = "def quadruple(x):\n    return double(x)"
    verdict = grades(notebook({**RIGHT, **WRONG, "quadruple": once}), tmp_path)["quadruple"]
    assert verdict.earned == 0 and "builds on double" in verdict.notes[0]


def test_a_mistake_is_named_on_top_of_another_right_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which share came last depends on the order, and several orders are right."""
    monkeypatch.delenv("COURSE_CONTENT")
    lesson = load_lesson("05")
    (wrong,) = (a for a in lesson.wrongs("my-backward") if a.name == "overwritten on the way")
    answers = {
        "topological-order": lesson.rights("topological-order")[1].source,
        "my-backward": wrong.source,
    }
    submission = read_submission(save(notebook(answers, "05_backward"), tmp_path / "a.ipynb"))
    (verdict,) = grade(submission, lesson.seed, ["my-backward"], LIMITS)
    assert verdict.exercise == "my-backward" and verdict.mistake == wrong.says


def test_the_same_seed_gives_the_same_report(tmp_path: Path) -> None:
    found = notebook({**RIGHT, **WRONG})
    one, two = (grades(found, tmp_path, seed=11) for _ in range(2))
    assert one == two
    assert repr(one["double"]) == "<double: 0 of 3 points>"


def test_pieces_of_an_answer_are_put_together() -> None:
    assert joined(["def f():\n", "    return 1"]) == ["def f():\n    return 1"]
    assert joined(["%%time\nx = 1", "y = 2"]) == ["%%time\nx = 1", "y = 2"]
    # The second piece is broken: it must not take the first one along.
    assert joined(["x = 1", "y ="]) == ["x = 1", "y ="]
    assert joined(["x = 1", "", "  \n"]) == ["x = 1"]


def test_marks_for_nbval_are_made_comments() -> None:
    for line in ("# NBVAL_SKIP", "  ## NBVAL_IGNORE_OUTPUT ", "#PYTEST_VALIDATE_IGNORE_OUTPUT"):
        assert "ignored)" in neutral(f"x = 1\n{line}\ny = 2")
    assert neutral("x = 1\x0c# NBVAL_SKIP\n") == "x = 1\x0c# (NBVAL_SKIP ignored)\n"
    assert neutral("s = 'NBVAL_SKIP'  # NBVAL_SKIP, or not") == (
        "s = 'NBVAL_SKIP'  # NBVAL_SKIP, or not"
    )


# ------------------------------------------------------------------ files that are none


def deep(levels: int) -> str:
    return '{"cells": ' + "[" * levels + "]" * levels + "}"


def without_lesson(found: dict[str, Any]) -> str:
    found["metadata"].pop("course")
    return json.dumps(found)


def other_lesson(found: dict[str, Any]) -> str:
    found["metadata"]["course"]["lesson"] = "../../etc"
    return json.dumps(found)


def same_ids(found: dict[str, Any]) -> str:
    found["cells"][2]["id"] = found["cells"][1]["id"]
    return json.dumps(found)


BROKEN: dict[str, tuple[Any, str]] = {
    "empty": (lambda found: "", "is empty"),
    "truncated": (lambda found: json.dumps(found)[:500], "is no notebook, or cut off"),
    "text": (lambda found: "hello", "is no notebook, or cut off"),
    "a list": (lambda found: "[1, 2]", "it has no list of cells"),
    "deep": (lambda found: deep(100_000), "nested too deeply"),
    "foreign": (without_lesson, "its metadata name no lesson"),
    "unknown lesson": (other_lesson, "a lesson that this course does not have, '../../etc'"),
    "old format": (lambda found: json.dumps({**found, "nbformat": 3}), "another format than 4"),
    "same ids": (same_ids, "two cells have the id"),
    "no cells": (lambda found: json.dumps({**found, "cells": [3]}), "cell 1 is not a cell"),
    "no text": (
        lambda found: json.dumps({**found, "cells": [code_cell([1])]}),
        "cell 1 has no text",
    ),
    "not UTF-8": (lambda found: b"\xff\xfe\x00", "not UTF-8"),
    "huge": (lambda found: " " * 30_000_001, "is larger than 30 MB"),
    "a huge answer": (
        lambda found: json.dumps(notebook({"double": "x = 1\n" * 50_000})),
        "the answer to double is longer than 200,000 characters",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_submission_gets_one_line_and_status_2(name: str, tmp_path: Path) -> None:
    make, words = BROKEN[name]
    data = make(notebook(RIGHT))
    path = tmp_path / "handed-in.ipynb"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    before = path.read_bytes()
    done = CliRunner().invoke(app, ["grade", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    (line,) = [line for line in done.stderr.splitlines() if line]
    assert line.startswith(f"course: {path}: ") and words in line
    assert path.read_bytes() == before
    assert not list((tmp_path / "out" / "submissions").iterdir())


def test_a_missing_file_and_an_empty_folder(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["grade", str(tmp_path / "nowhere.ipynb")])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "there is no such file" in done.stderr
    done = CliRunner().invoke(app, ["grade", str(tmp_path)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "there is no notebook in this folder" in done.stderr


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mangled_notebooks_are_read_or_refused(data: st.DataObject) -> None:
    """Cut anywhere, or with any value replaced by another one."""
    found = notebook(RIGHT)
    path = data.draw(st.sampled_from(["cells", "metadata", "nbformat", "cell", "course", "cut"]))
    value = data.draw(st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.just({}))
    if path == "cell":
        found["cells"][data.draw(st.integers(0, 8))][
            data.draw(st.sampled_from(["cell_type", "source", "metadata", "id"]))
        ] = value
    elif path == "course":
        found["cells"][6]["metadata"]["course"] = value
    else:
        found[path] = value
    text = json.dumps(found)
    if path == "cut":
        text = text[: data.draw(st.integers(0, len(text)))]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "mangled.ipynb")
        target.write_text(text, encoding="utf-8")
        try:
            read_submission(target)
        except CourseError as error:
            assert "\n" not in str(error)
