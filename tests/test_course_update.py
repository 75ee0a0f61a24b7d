"""What a learner never loses: answers, own cells and the file as it was, whatever comes anew."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from course.build import assemble
from course.cli import app
from course.grade.submission import read_submission
from course.lesson import load_lesson
from course.progress import FILE, Progress, read_progress
from course.update import GIVEN, digests, key_of, merge, text_of, update
from course.workspace import start
from tests.course_helpers import CONTENT, LESSON, RIGHT, answer_cell, notebook, save

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    monkeypatch.setenv("COURSE_WORKSPACE", str(tmp_path / "ws"))
    start(tmp_path / "ws")
    return tmp_path / "ws"


def course(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def given_cell(found: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(cell for cell in found["cells"] if cell.get("id") == id_)


def own(source: str, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {**cell, "source": source, **more}


def texts(found: dict[str, Any]) -> list[str]:
    return [text_of(cell) for cell in found["cells"]]


# ------------------------------------------------------------------ merging


def older(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """A notebook of an earlier release as it was given out, and the note of its cells."""
    found = notebook({})
    given_cell(found, "counting-1")["source"] = "## Counting, as it was called"
    given_cell(found, "counting-2")["source"] = "print('an older demo')"
    answer_cell(found, "predict")["source"] = "prediction = ...  # an older stub"
    answer_cell(found, "quadruple")["source"] = "def quadruple(x): ...  # an older stub"
    gone = own("print('no longer')", id="counting-9", metadata={"course": {"role": "given"}})
    found["cells"].insert(3, gone)
    return found, digests(found)


def test_a_new_release_keeps_every_cell_of_the_learners(workspace: Path) -> None:
    path = workspace / f"{LESSON}.ipynb"
    found, known = older(path)
    (workspace / GIVEN).write_text(json.dumps({LESSON: known}), encoding="utf-8")
    # The learner's work: an answer in two cells, notes, a demo played with, a stub not begun.
    halves = ["def double(x):\n", "    return x + x\n"]
    double = answer_cell(found, "double")
    at = found["cells"].index(double)
    found["cells"][at : at + 1] = [{**double, "source": h, "id": f"h{h[:3]}"} for h in halves]
    answer_cell(found, "quadruple")["source"] = RIGHT["quadruple"]
    given_cell(found, "counting-2")["source"] = "print('my own experiment')"
    found["cells"].insert(at + 2, own("mine = 1"))
    found["cells"].insert(0, own("first = 0", id="start-1"))  # an id that ours has, too
    found["cells"].append(own("last = 9"))
    found["metadata"]["kernelspec"] = {"name": "my-env", "display_name": "mine"}
    before = json.dumps(found)
    path.write_text(before, encoding="utf-8")

    dry = course("update", "--dry-run")
    assert dry.exit_code == 0 and path.read_text("utf-8") == before
    done = course("update")
    assert done.exit_code == 0
    assert [line.strip() for line in done.stdout.splitlines()[1:]] == [
        "no longer there: counting-9",
        "replaced: counting-1",
        "replaced: counting-2; your version of it is kept below",
        "kept: answer-quadruple, yours, though what we give to begin with has changed",
        "replaced: answer-predict, which you had not begun",
    ]
    (kept,) = (workspace / "kept").iterdir()
    assert kept.read_text("utf-8") == before

    merged = json.loads(path.read_text("utf-8"))
    nbformat.validate(nbformat.from_dict(merged))
    got, new = texts(merged), texts(notebook({}))
    answered = {"def double(x):\n", "    return x + x\n", RIGHT["quadruple"]}
    mine = {"mine = 1", "first = 0", "last = 9", "print('my own experiment')"}
    assert answered | mine <= set(got)
    stubs = {load_lesson("7").stub(name) for name in ("double", "quadruple")}
    assert [t for t in got if t not in answered | mine] == [t for t in new if t not in stubs]
    assert got[0] == "first = 0" and got[-1] == "last = 9"
    assert got[got.index("mine = 1") - 1] == "    return x + x\n"
    assert merged["metadata"]["kernelspec"]["name"] == "my-env"
    answers = read_submission(path).answers
    assert answers["double"] == halves and answers["quadruple"] == [RIGHT["quadruple"]]
    assert "All lessons are as in this release" in course("update").stdout


def test_an_exercise_that_is_gone_leaves_its_answer(workspace: Path) -> None:
    path = workspace / f"{LESSON}.ipynb"
    found = notebook(RIGHT)
    cell = answer_cell(found, "double")
    extra = {"course": {"role": "answer", "exercise": "tripled", "points": 1}}
    found["cells"].insert(8, {**cell, "id": "answer-tripled", "source": "t = 3", "metadata": extra})
    save(found, path)
    assert "no longer there: answer-tripled; what you wrote" in course("update").stdout
    merged = json.loads(path.read_text("utf-8"))
    (left,) = (c for c in merged["cells"] if text_of(c) == "t = 3")
    assert "course" not in left["metadata"]


def test_outputs_stay_with_unchanged_cells_and_cells_come_back(workspace: Path) -> None:
    path = workspace / f"{LESSON}.ipynb"
    found = notebook(RIGHT)
    shown = [{"output_type": "stream", "name": "stdout", "text": "seen"}]
    given_cell(found, "counting-2")["outputs"] = shown
    answer_cell(found, "double")["outputs"] = shown
    found["cells"] = [c for c in found["cells"] if c["id"] != "check-predict"]
    save(found, path)
    assert "new: check-predict" in course("update").stdout
    merged = json.loads(path.read_text("utf-8"))
    assert given_cell(merged, "counting-2")["outputs"] == shown
    assert answer_cell(merged, "double")["outputs"] == shown
    assert [key_of(c) for c in merged["cells"]] == [key_of(c) for c in notebook({})["cells"]]


def test_what_cannot_be_read_is_left_and_the_others_go_on(workspace: Path) -> None:
    path = workspace / f"{LESSON}.ipynb"
    for text, words in (
        ("{", "is no notebook"),
        ('{"cells": [1], "nbformat": 4}', "that are none"),
    ):
        path.write_text(text, encoding="utf-8")
        done = course("update")
        assert done.exit_code == 2 and words in done.stderr
        assert path.read_text("utf-8") == text
    path.unlink()
    assert course("update").stdout == f"{LESSON}.ipynb\n  new lesson\n"
    (workspace / GIVEN).write_text("[", encoding="utf-8")
    assert course("update").exit_code == 0


def test_a_kill_in_the_middle_of_an_update_loses_nothing(workspace: Path) -> None:
    """At each write of an update in turn; the next update then brings everything to its end."""
    path = workspace / f"{LESSON}.ipynb"
    found, known = older(path)
    answer_cell(found, "double")["source"] = RIGHT["double"]
    found["cells"].append(own("mine = 1"))
    before = json.dumps(found)
    program = (
        "import os, sys; from pathlib import Path; from course.update import update\n"
        "left, sync = [int(sys.argv[2])], os.fsync\n"
        "def fsync(handle):\n"
        "    left[0] -= 1\n"
        "    os.kill(os.getpid(), 9) if left[0] < 0 else sync(handle)\n"
        "os.fsync = fsync\n"
        "list(update(Path(sys.argv[1])))"
    )
    for writes in range(4):
        path.write_text(before, encoding="utf-8")
        (workspace / GIVEN).write_text(json.dumps({LESSON: known}), encoding="utf-8")
        command = [sys.executable, "-c", program, str(workspace), str(writes)]
        done = subprocess.run(command, cwd=ROOT, check=False)
        assert done.returncode == (0 if writes == 3 else -signal.SIGKILL)
        left = texts(json.loads(path.read_text("utf-8")))
        assert RIGHT["double"] in left and "mine = 1" in left
        list(update(workspace))
        merged = texts(json.loads(path.read_text("utf-8")))
        assert RIGHT["double"] in merged and "mine = 1" in merged
        assert "print('an older demo')" not in merged
        assert not list(update(workspace))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_merge_loses_a_text_of_the_learners(data: st.DataObject) -> None:
    """Cells moved, copied, split, deleted, with ids or without: all own texts are there after."""
    found, known = older(Path())
    cells = found["cells"]
    mine = set()
    for number in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(cells) - 1))
        what = data.draw(st.sampled_from(["own", "copy", "drop", "move", "edit", "no id"]))
        if what == "own":
            cells.insert(at, own(f"own = {number}", id=data.draw(st.sampled_from(["", "a", "b"]))))
            mine.add(f"own = {number}")
        elif what == "copy":
            cells.insert(at, json.loads(json.dumps(cells[data.draw(st.integers(0, at))])))
        elif what == "drop" and text_of(cells[at]) not in mine:
            del cells[at]
        elif what == "move":
            cells.insert(0, cells.pop(at))
        elif what == "edit" and cells[at]["metadata"].get("course", {}).get("role") == "answer":
            mine.discard(text_of(cells[at]))
            cells[at]["source"] = f"answer = {number}"
            mine.add(f"answer = {number}")
        elif what == "no id":
            cells[at].pop("id", None)
    new = assemble(load_lesson("7"), solutions=False)
    merged = merge(found, new, known).notebook
    assert mine <= set(texts(merged))
    nbformat.validate(nbformat.from_dict(merged))
    again = merge(merged, new, digests(new))
    assert texts(again.notebook) == texts(merged)


# ------------------------------------------------------------------ the commands beside it


def test_reset_puts_one_answer_or_all_back_and_keeps_the_old_file(workspace: Path) -> None:
    path = workspace / f"{LESSON}.ipynb"
    found = notebook(RIGHT)
    found["cells"].append(own("mine = 1"))
    before = save(found, path).read_text("utf-8")
    assert course("reset", "7", "double").exit_code == 0
    answers = read_submission(path).answers
    assert answers["double"] == [load_lesson("7").stub("double")]
    assert answers["quadruple"] == [RIGHT["quadruple"]]
    assert "mine = 1" in texts(json.loads(path.read_text("utf-8")))
    assert [p.read_text("utf-8") for p in (workspace / "kept").iterdir()] == [before]
    done = course("reset", "7")
    assert "the whole lesson is as it was given" in done.stdout
    assert json.loads(path.read_text("utf-8")) == notebook({})
    assert len(list((workspace / "kept").iterdir())) == 2
    assert course("reset", "7", "duoble").exit_code == 2


def test_the_solution_opens_after_three_different_answers_or_a_pass(workspace: Path) -> None:
    progress = Progress(workspace / FILE)
    for did in ("a", "a", "b"):
        progress.record(LESSON, "double", 0, 3, did)
    progress.save()
    done = course("solution", "7", "double")
    assert done.exit_code == 1 and "you have tried 2 different answers" in done.stderr
    assert "return" not in done.stdout
    progress.record(LESSON, "double", 0, 3, "c")
    progress.record(LESSON, "predict", 2, 2, "right")
    progress.save()
    done = course("solution", "7", "double")
    assert done.exit_code == 0
    assert "return 2 * x" in done.stdout and "return x + x" in done.stdout
    assert "###" not in done.stdout
    names = [row["name"] for row in json.loads(course("solution", "7", "predict", "--json").stdout)]
    assert names == ["reference", "from NumPy"]
    (row,) = json.loads(course("progress", "--json").stdout)
    assert (row["earned"], row["points"], row["passed"], row["solutions"]) == (2, 7, 1, 2)
    assert "2 of 7 points" in course("progress").stdout


def test_the_same_answer_again_is_no_new_one(workspace: Path) -> None:
    """Neither a second run nor other names for the same doing; another result is."""
    path = workspace / f"{LESSON}.ipynb"
    for code in ("return x + 1", "y = x + 1\n    return y", "return x + 2"):
        save(notebook({"double": f"def double(x):\n    {code}"}), path)
        assert course("check", "7", "double").exit_code == 1
    (row, *_) = json.loads(course("list", "--json").stdout)
    assert (row["tries"], row["answers"]) == (3, 2)


def test_predictions_are_told(workspace: Path) -> None:
    assert "predictions" not in course("progress").stdout
    progress = read_progress(workspace)
    progress.predict(LESSON, True)
    progress.predict("", False)
    progress.save()
    assert "1 of 2 predictions were right" in course("progress").stdout
    (row, *_) = json.loads(course("progress", "--json").stdout)
    assert (row["predictions"], row["predicted"]) == (1, 1)


def test_progress_of_the_schema_before_is_read(workspace: Path) -> None:
    entry = {"earned": 1, "points": 3, "tries": 5, "hints": 2, "passed": False}
    data = {"schema": 1, "lessons": {LESSON: {"double": entry}}}
    (workspace / FILE).write_text(json.dumps(data), encoding="utf-8")
    (row, *_) = json.loads(course("list", "--json").stdout)
    assert (row["tries"], row["hints"], row["answers"]) == (5, 2, 0)


def test_doctor_says_what_is_wanting_and_changes_nothing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> tuple[int, dict[str, Any]]:
        done = course("doctor", "--json")
        return done.exit_code, {row["name"]: row for row in json.loads(done.stdout)}

    status, rows = found()
    assert status == 0 and rows["Python"]["ok"] and rows["jupyterlab"]["ok"]
    assert rows["lessons"]["ok"] and "✗" not in course("doctor").stdout
    (workspace / FILE).write_text("{", encoding="utf-8")
    (workspace / f"{LESSON}.ipynb").write_text("{", encoding="utf-8")
    status, rows = found()
    assert status == 1
    assert rows["progress file"]["ok"] is False and (workspace / FILE).read_text("utf-8") == "{"
    assert rows[f"{LESSON}.ipynb"]["mend"] == "course reset 07"
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    monkeypatch.setenv("COURSE_WORKSPACE", str(workspace / "nowhere"))
    status, rows = found()
    assert status == 1 and "3.11" in rows["Python"]["mend"]
    assert rows["workspace"]["mend"] == "course start"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_workspace_gets_one_line(workspace: Path) -> None:
    workspace.chmod(0o500)
    try:
        save(notebook(RIGHT), workspace.parent / "x.ipynb")
        done = course("reset", "7")
        assert done.exit_code == 2 and done.stderr.count("\n") == 1
    finally:
        workspace.chmod(0o700)
