"""The proof of the checks: it holds for good lessons and names what is wrong with others."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from course import verify as verify_module
from course.cli import app
from course.lesson import load_lesson, read_lesson
from course.verify import Score, empty_answers, hollow, verify, verify_exercise
from tests.course_helpers import CONTENT, LESSON


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))


def edited(tmp_path: Path, name: str, edit: Callable[[str], str]) -> Path:
    """A copy of the small lesson with one file changed."""
    folder = tmp_path / LESSON
    shutil.copytree(CONTENT / LESSON, folder)
    before = (folder / name).read_text("utf-8")
    assert edit(before) != before
    (folder / name).write_text(edit(before), encoding="utf-8")
    return folder


def test_a_good_lesson_prints_its_score() -> None:
    done = CliRunner().invoke(app, ["verify"])
    assert done.exit_code == 0
    line = "wrong answers caught 12/12 · right answers passed 6/6 · empty answers scoring 0: 21/21"
    assert done.stdout.splitlines() == [f"07_fixture: {line}", line]
    (score,) = json.loads(CliRunner().invoke(app, ["verify", "--json"]).stdout).values()
    assert (score["wrong"], score["caught"], score["faults"]) == (12, 12, [])


FAULTS: dict[str, tuple[str, str, Callable[[str], str], str]] = {
    "a wrong answer that is right": (
        "double",
        "answers.py",
        lambda s: s.replace("return x**2", "return x + x"),
        "the wrong answer 'squared' passes",
    ),
    "a wrong answer like another one": (
        "double",
        "answers.py",
        lambda s: s.replace("return x**2", "x *= 2\n    return x"),
        "the wrong answer 'squared' fails, but is taken for 'in place'",
    ),
    "a right answer that is wrong": (
        "double",
        "answers.py",
        lambda s: s.replace("return x + x", "return x + x + 1"),
        "the right answer 'by addition' fails the case 'a number'",
    ),
    "points for nothing": (
        "double",
        "checks.py",
        lambda s: s.replace("return answer(float(rng.integers(3, 99)))", "return None", 1),
        "an answer of `return None` alone gets points for 'a number'",
    ),
    "a case that depends on more than the seed": (
        "double",
        "checks.py",
        lambda s: s.replace("rng.integers(3, 99)", "__import__('time').time_ns() % 10**6", 1),
        "the right answer 'reference' fails the case 'a number'",
    ),
    "a reference that fails": (
        "double",
        "lesson.md",
        lambda s: s.replace("    return 2 * x", "    return undefined"),
        "the reference answer gives NameError",
    ),
    "a case that returns no data": (
        "double",
        "checks.py",
        lambda s: s.replace("    return answer(float", "    return lambda: answer(float", 1),
        "the reference answer gives other function",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise, file, edit, words = FAULTS[name]
    folder = edited(tmp_path, file, edit)
    monkeypatch.setenv("COURSE_CONTENT", str(tmp_path))
    (score,) = (s for _, e, s in verify([read_lesson(folder)], jobs=1) if e == exercise)
    assert not score.perfect
    assert words in " ".join(score.faults)


def test_an_answer_that_hangs_beyond_all_limits_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(source: str) -> str:
        code = "import signal\n    signal.pthread_sigmask(0, [signal.SIGALRM])\n    "
        return source.replace("return x**2", code + "while True: pass")

    folder = edited(tmp_path, "answers.py", hang)
    monkeypatch.setenv("COURSE_CONTENT", str(tmp_path))
    monkeypatch.setattr(verify_module, "EXERCISE_SECONDS", 6.0)
    started = time.monotonic()
    scores = {e: s for _, e, s in verify([read_lesson(folder)])}
    assert time.monotonic() - started < 60
    assert scores["double"].faults == ["07_fixture double: not done within 6 s"]
    assert not sum(scores.values(), Score()).perfect


def test_one_exercise_in_this_process() -> None:
    score = verify_exercise(load_lesson("7"), "predict")
    assert score.perfect and (score.wrong, score.right, score.empty) == (4, 2, 7)


def test_empty_answers_do_nothing() -> None:
    found = empty_answers(load_lesson("7"), "predict")
    assert found["an answer of `return None` alone"] == "prediction = None"
    assert hollow("class A:\n    def f(self):\n        return 1", "return 0") == (
        "class A:\n\n    def f(self):\n        return 0"
    )
