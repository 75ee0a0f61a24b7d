"""The check cell of a notebook: what it says, what it hides, what it notes."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from course import check
from course.cli import app
from course.compare import compare
from course.feedback import explain, render, side_by_side
from course.grade.sandbox import Limits
from course.grid import grid_html
from course.lesson import load_lesson
from course.limits import memory_limit
from course.notebook import verdict_on
from course.observe import is_observation, observe
from course.oracle import setup_names
from course.progress import FILE, read_progress
from course.workspace import start
from tests.course_helpers import CONTENT, LESSON, RIGHT, notebook, save


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    monkeypatch.delenv("COURSE_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)


def names(*codes: str) -> dict[str, Any]:
    """A notebook's names after running these cells."""
    found: dict[str, Any] = {"__name__": "__main__", "np": np}
    for code in codes:
        exec(code, found)
    return found


def said(capsys: pytest.CaptureFixture[str], exercise: str, *codes: str) -> tuple[str, str]:
    """What the check prints, and the verdict's own text."""
    verdict = check("07_fixture", exercise, names(*codes))
    return capsys.readouterr().out, repr(verdict)


def test_a_right_answer(capsys: pytest.CaptureFixture[str]) -> None:
    out, shown = said(capsys, "double", RIGHT["double"])
    assert shown == "<double: 3 of 3 points>"
    assert out == "Twice (double): right, 3 points\n  ✓ 1/1  a number\n  ✓ 2/2  any array\n"


def test_a_known_mistake_is_named_and_no_hint_opened(capsys: pytest.CaptureFixture[str]) -> None:
    out, shown = said(capsys, "double", "def double(x):\n    return x * x")
    assert shown == "<double: 0 of 3 points>"
    assert "What happens here: x ** 2 is x times x" in out
    assert "Hint" not in out


def test_an_unknown_mistake_shows_the_smallest_case(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
def double(x):
    print('looking at', np.shape(x))
    return 2 * x if np.size(x) < 7 else x + 1"""
    out, shown = said(capsys, "double", code)
    assert shown == "<double: 1 of 3 points>"
    assert "  ✓ 1/1  a number\n  ✗ 0/2  any array" in out
    assert "The case “any array”, tried with 3:" in out
    assert "given" in out and "float32, shape (3, 3)" in out
    assert "9 of 9 entries differ, the first one at [0, 0]" in out
    assert "expected" in out and "*" in out
    assert "Your code printed:\n    looking at (3, 3)" in out
    assert "Hint 1 of 3: Add x to itself." in out


def with_case(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Change the second case of `double` for one test."""
    exercise = load_lesson(LESSON).exercises["double"]
    cases = [exercise.cases[0], replace(exercise.cases[1], **changes)]
    monkeypatch.setattr(exercise, "cases", cases)
    monkeypatch.setattr("course.oracle._oracles", {})  # they know the case as it was


def test_two_slips_at_once_are_named_case_by_case(capsys: pytest.CaptureFixture[str]) -> None:
    """No known wrong answer does both; each of the cases is that of one."""
    code = """
def double(x):
    return x * x if np.ndim(x) == 0 else (2 * x).astype(np.float64)"""
    out, shown = said(capsys, "double", code)
    assert shown == "<double: 0 of 3 points>"
    assert "What happens in “a number”: x ** 2 is x times x" in out
    assert "What happens in “any array”: The result has another dtype than x." in out
    assert "Hint" not in out and "expected" not in out


def test_a_known_slip_is_named_beside_a_case_that_nothing_explains(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = """
def double(x):
    return x * x if np.ndim(x) == 0 else x + 1"""
    out, _ = said(capsys, "double", code)
    assert "What happens in “a number”: x ** 2 is x times x" in out
    assert "The case “any array”, tried with 1:" in out and "expected" in out
    assert "\n\nHint 1 of 3: Add x to itself." in out


def test_the_hint_of_the_failing_case_comes_before_the_ladders(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_case(monkeypatch, hint="Look at the sizes.")
    out, _ = said(capsys, "double", "def double(x):\n    return 2 * x + np.size(x) // 4")
    assert out.index("To look at: Look at the sizes.\n\nHint 1 of 3") > out.index("expected")


def test_the_counterexample_is_the_smallest_that_hypothesis_finds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of the forty drawn is as small; the points come from those all the same."""

    def lists(st: Any) -> Any:
        return st.lists(st.integers(0, 50), max_size=8)

    with_case(monkeypatch, draw=lists, function=lambda f, rng, xs: [f(x) for x in xs])
    code = "def double(x):\n    return 2 * x + (17 <= x < 40)"
    out, _ = said(capsys, "double", code)
    assert "The case “any array”, tried with [17]:\n  at [0]: 34 is expected, not 35" in out
    assert "0/2  any array" in out


def test_an_error_shows_the_learners_own_line_and_none_of_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = said(capsys, "double", "def double(x):\n    y = x\n    return y.twice()")
    assert "your code raised AttributeError: 'float' object has no attribute 'twice'" in out
    assert "line 3" in out
    assert "Traceback" not in out and "course/" not in out


def test_an_error_over_what_came_back_is_no_line_of_the_learners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COURSE_CONTENT")
    lesson = load_lesson("11")
    found = dict(setup_names(lesson))
    exec("def max_pool(x, kernel, stride):\n    x.unfold(2, kernel, stride)", found)
    said = explain(verdict_on(lesson, "max-pool", found))
    assert "what came back could not be used: TypeError: cannot unpack non-iterable None" in said
    assert "your code raised" not in said


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "`double` is not there yet"),
        ("double = None", "`double` is not there yet"),
        ("def double(x):\n    raise NotImplementedError", "It is not written yet"),
    ],
)
def test_what_is_not_written_is_told(
    code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, shown = said(capsys, "double", code)
    assert words in out and shown == "<double: 0 of 3 points>"


def test_a_shape_is_shown_as_a_tuple() -> None:
    pair, one, none = (observe(shape) for shape in ((2, 3), (3,), ()))
    assert [render(tree) for tree in (pair, one, none)] == [["(2, 3)"], ["(3,)"], ["()"]]
    assert side_by_side(pair, observe((2, 4)))[-1].split() == ["(2,", "3)", "(2,", "4)"]
    # A list is as good: what is asked is what is in it.
    assert compare(pair, observe([2, 3])) is None
    assert is_observation(pair) and not is_observation([*pair[:2], "list"])
    assert not is_observation(["seq"]) and not is_observation([*pair, "tuple"])


def test_a_memory_bomb_in_a_notebook_costs_its_own_cell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("memory is limited on Linux only")
    monkeypatch.setattr("course.notebook.MEMORY_MB", 200)
    code = "def double(x):\n    hoard = []\n    while True: hoard.append(bytearray(10**8))"
    out, shown = said(capsys, "double", code)
    assert shown == "<double: 0 of 3 points>" and "your code raised MemoryError" in out
    assert said(capsys, "double", RIGHT["double"])[1] == "<double: 3 of 3 points>"


def test_a_prediction_is_not_given_away(capsys: pytest.CaptureFixture[str]) -> None:
    out, shown = said(capsys, "predict", "prediction = (3, 7)")
    assert shown == "<predict: 1 of 2 points>"
    assert "The case “the second axis”:\n  your answer is not right." in out
    assert "expected" not in out


def test_an_earlier_exercise_is_lent_and_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    broken = "def double(x):\n    return x - 1"
    found = names(broken, RIGHT["quadruple"])
    own = found["double"]
    verdict = check("07_fixture", "quadruple", found)
    out = capsys.readouterr().out
    assert verdict.passed
    assert "note: tried with our own answer to double, since yours is not right yet" in out
    assert found["double"] is own
    missing = names(RIGHT["quadruple"])
    assert check("07_fixture", "quadruple", missing).passed
    assert "double" not in missing
    wrong = names(broken, "def quadruple(x):\n    return double(x)")
    assert not check("07_fixture", "quadruple", wrong).passed
    assert "it builds on double" in capsys.readouterr().out


def test_a_mistake_is_named_on_top_of_another_right_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which share came last depends on the order, and several orders are right."""
    monkeypatch.delenv("COURSE_CONTENT")
    lesson = load_lesson("05")
    found = dict(setup_names(lesson))
    exec(lesson.rights("topological-order")[1].source, found)
    wrongs = {answer.name: answer for answer in lesson.wrongs("my-backward")}
    wrong = wrongs["overwritten on the way"]
    exec(wrong.source, found)
    verdict = verdict_on(lesson, "my-backward", found)
    assert verdict.mistake == wrong.says and 0 < verdict.earned < verdict.points


@pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm signal on Windows")
def test_an_endless_answer_ends(capsys: pytest.CaptureFixture[str]) -> None:
    out, shown = said(capsys, "double", "def double(x):\n    while True: pass")
    assert shown == "<double: 0 of 3 points>"
    assert "had not come to an end after 2.0 s" in out


@pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm signal on Windows")
def test_an_endless_answer_that_catches_everything_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trace = sys.gettrace()
    code = """
def double(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue"""
    out, shown = said(capsys, "double", code)
    assert shown == "<double: 0 of 3 points>"
    assert "had not come to an end after 2.0 s" in out
    assert sys.gettrace() is trace
    assert said(capsys, "double", RIGHT["double"])[1] == "<double: 3 of 3 points>"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_a_memory_bomb_ends() -> None:
    with memory_limit(100), pytest.raises(MemoryError):
        bytearray(3 * 10**8)
    assert len(bytearray(3 * 10**8)) == 3 * 10**8


def test_an_answer_may_leave_by_any_door(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "double", "import sys\ndef double(x):\n    sys.exit('bye')")
    assert "your code raised SystemExit: bye" in out


def test_the_generators_are_left_as_they_were() -> None:
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    check("07_fixture", "double", names("def double(x):\n    return x * np.random.rand()"))
    assert np.random.rand() == expected


def test_a_name_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out, shown = said(capsys, "duoble", "")
    assert "course: 07_fixture has no exercise 'duoble'; it has: double, quadruple" in out
    assert shown == "<duoble: 0 of 0 points>"
    check("99", "double", {})
    assert "course: there is no lesson '99'" in capsys.readouterr().out


def test_tries_and_hints_are_noted_in_the_workspace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "ws"
    start(workspace)
    monkeypatch.chdir(workspace)
    bad = "def double(x):\n    return 5 * x"
    for number in (1, 2):
        assert f"Hint {number} of 3: " in said(capsys, "double", bad)[0]
    # The last one nearly is the answer.
    assert "There is one more hint: course hint 7 double" in said(capsys, "double", bad)[0]
    entry = read_progress(workspace).entry("07_fixture", "double")
    assert (entry.tries, entry.hints, entry.earned, entry.passed) == (3, 2, 0, False)
    said(capsys, "double", RIGHT["double"])
    said(capsys, "double", bad)
    entry = read_progress(workspace).entry("07_fixture", "double")
    assert (entry.earned, entry.points, entry.passed) == (3, 3, True)
    (workspace / FILE).write_text("{broken", encoding="utf-8")
    out, _ = said(capsys, "double", RIGHT["double"])
    assert "could not be read; it is kept as course-progress-broken-" in out
    assert [p.read_text("utf-8") for p in workspace.glob("*broken*")] == ["{broken"]


def test_a_prediction_of_several_values_is_untouched_until_one_is_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_CONTENT")
    stub = load_lesson("5").stub("predict-twice")
    assert "It is as it was" in check_in_05(stub, capsys)
    assert "✗" in check_in_05(stub.replace("...", "1.5", 1), capsys)


def check_in_05(cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    check("05_backward", "predict-twice", names(cell))
    return capsys.readouterr().out


def test_neither_an_untouched_cell_nor_a_slip_opens_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start(tmp_path / "ws")
    monkeypatch.chdir(tmp_path / "ws")
    out, _ = said(capsys, "predict", load_lesson("7").stub("predict"))
    assert "answer in the cell above" in out and "Hint" not in out
    assert read_progress(tmp_path / "ws").entry("07_fixture", "predict").tries == 0
    out, _ = said(capsys, "double", "def double(x):\n    return 2 * y")
    assert "NameError" in out and "Hint" not in out
    entry = read_progress(tmp_path / "ws").entry("07_fixture", "double")
    assert (entry.tries, entry.hints) == (1, 0)


def test_a_newer_progress_file_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({"schema": 99, "lessons": {}})
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    out, shown = said(capsys, "double", RIGHT["double"])
    assert shown == "<double: 3 of 3 points>"
    assert "your progress was not noted" in out and "newer release" in out
    assert (tmp_path / FILE).read_text("utf-8") == text


def test_differing_arrays_are_drawn_as_grids() -> None:
    code = "def double(x):\n    y = 2 * x\n    if np.ndim(y): y[0, 1] += 1\n    return y"
    lesson = load_lesson("7")
    html = grid_html(verdict_on(lesson, "double", names(code)))
    assert html.count("<table") == 2 and html.count("*</td>") == 2
    assert 'aria-label="1 of 3 entries differ' in html
    assert ">expected: float32, shape (1, 3)</caption>" in html
    assert grid_html(verdict_on(lesson, "double", names(RIGHT["double"]))) == ""
    assert grid_html(verdict_on(lesson, "predict", names("prediction = (9, 9)"))) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_the_command_ends_endless_loops_and_memory_bombs_too(tmp_path: Path) -> None:
    """`course check` runs the saved answers in the grader's sandbox, whose limits hold."""
    start(tmp_path)
    path = tmp_path / f"{LESSON}.ipynb"
    bomb = "def quadruple(x):\n    hoard = []\n    while True: hoard.append(bytearray(10**8))"
    found = notebook({"double": "def double(x):\n    while True: pass", "quadruple": bomb})
    save(found, path)
    started = time.monotonic()
    done = CliRunner().invoke(app, ["check", "07", "--workspace", str(tmp_path)])
    assert done.exit_code == 1
    assert "had not come to an end after 2.0 s" in done.stdout
    second = done.stdout.partition("(quadruple)")[2]
    assert "MemoryError" in second or "had not come to an end" in second
    limits = Limits()
    assert time.monotonic() - started < 4 * limits.wall_seconds  # four kernels at most
