"""The panel of a notebook, without a browser: what its widgets say and do."""

from pathlib import Path

import pytest

from course.dashboard import Panel
from course.lesson import load_lesson
from course.progress import FILE, Progress, read_progress
from course.workspace import start
from tests.course_helpers import CONTENT, LESSON, lesson_of_doubles


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    start(tmp_path)
    return tmp_path


def test_hints_open_one_by_one_and_are_noted(workspace: Path) -> None:
    panel = Panel(workspace)
    assert [value for _, value in panel.exercise.options] == ["double", "quadruple", "predict"]
    assert "0/7" in panel.map.value and "0/3" in panel.map.value
    assert "double: 0 of 3 points, 0 tries, 0 of 3 hints opened" in panel.state.value
    panel.hint.click()
    assert panel.words.value == "<p>Hint 1: Add x to itself.</p>"
    panel.hint.click()
    panel.hint.click()
    assert "<p>Hint 3: return 2 * x</p>" in panel.words.value and panel.hint.disabled
    assert read_progress(workspace).entry(LESSON, "double").hints == 3
    panel.exercise.value = "predict"
    assert panel.words.value == "" and not panel.hint.disabled


def test_predictions_are_shown(workspace: Path) -> None:
    progress = Progress(workspace / FILE)
    progress.predict(LESSON, True)
    progress.predict("", False)
    progress.save()
    assert "1 of 2 predictions were right" in Panel(workspace).map.value


def test_the_solution_opens_when_it_may(workspace: Path) -> None:
    panel = Panel(workspace)
    assert panel.solution.disabled
    progress = Progress(workspace / FILE)
    progress.record(LESSON, "double", 3, 3, "a")
    progress.save()
    panel.again.click()
    assert "double: solved, 1 tries" in panel.state.value and "3/7" in panel.map.value
    panel.solution.click()
    assert "return 2 * x" in panel.words.value
    assert read_progress(workspace).entry(LESSON, "double").solution
    panel.exercise.value = "quadruple"
    assert panel.solution.disabled


def test_another_lesson_and_a_file_of_a_newer_release(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = tmp_path / "content"
    lesson_of_doubles(content, ["b", "other"])
    (content / LESSON).symlink_to(CONTENT / LESSON)
    monkeypatch.setenv("COURSE_CONTENT", str(content))
    panel = Panel(workspace)
    panel.lesson.value = "08_doubles"
    assert panel.exercise.value == "b" and load_lesson("8").title == "Doubles"
    (workspace / FILE).write_text('{"schema": 99}', encoding="utf-8")
    panel.hint.click()
    assert "newer release" in panel.words.value
