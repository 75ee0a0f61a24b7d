"""The builder: stubs and solutions, stable bytes, and outputs that may not be stored."""

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from typer.testing import CliRunner

from course import build
from course.cli import app
from course.files import CourseError
from course.lesson import Lesson, lesson_folders, load_lesson, read_lesson
from tests.course_helpers import CONTENT, LESSON

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))


def with_cell(tmp_path: Path, source: str, metadata: str = "{}") -> Lesson:
    """The small lesson with one more demo at its end."""
    folder = tmp_path / LESSON
    shutil.copytree(CONTENT / LESSON, folder)
    cell = f"\n```{{code-cell}} ipython3\n---\ncourse: {metadata}\n---\n{source}\n```\n"
    path = folder / "lesson.md"
    path.write_text(path.read_text("utf-8") + cell, encoding="utf-8")
    return read_lesson(folder)


def cells(text: str) -> dict[str, Any]:
    return {cell["id"]: cell for cell in json.loads(text)["cells"]}


def test_a_lesson_notebook_has_boxes_stubs_and_locked_checks() -> None:
    text = build.lesson_notebook(load_lesson("7"))
    nbformat.validate(nbformat.reads(text, as_version=4))
    found = cells(text)
    assert all(not cell.get("outputs") for cell in found.values())
    answer = "".join(found["answer-double"]["source"])
    assert answer.endswith('raise NotImplementedError("double: write your answer here")')
    check = found["check-double"]
    assert check["metadata"]["editable"] is False and check["metadata"]["deletable"] is False
    assert 'check("07_fixture", "double", globals())' in check["source"][-1]
    box = "".join(found["box-quadruple"]["source"])
    for part in ("2 points", "about 4 min", "Builds on: Twice.", "<summary>Hint 3 of 3</summary>"):
        assert part in box
    assert list(found).index("box-double") + 1 == list(found).index("answer-double")
    assert list(found).index("check-double") - 1 == list(found).index("answer-double")


def test_two_builds_are_the_same_bytes() -> None:
    one, two = (build.solution_notebook(load_lesson("7")) for _ in range(2))
    assert one == two
    assert build.lesson_notebook(load_lesson("7")) == build.lesson_notebook(load_lesson("7"))


def test_a_solution_notebook_is_solved_and_run() -> None:
    text = build.solution_notebook(load_lesson("7"))
    nbformat.validate(nbformat.reads(text, as_version=4))
    found = cells(text)
    assert "".join(found["answer-double"]["source"]).endswith("    return 2 * x")
    assert found["counting-2"]["outputs"][0]["text"] == ["a demo [0 1 2]\n"]
    (shown,) = found["check-double"]["outputs"]
    assert "right, 3 points" in "".join(shown["text"])
    picture = found["a-picture-2"]["outputs"][0]["data"]
    assert picture["text/plain"] == "a red square"
    assert picture["text/html"].startswith(
        '<img alt="a red square" src="data:image/svg+xml;base64,'
    )
    assert "image/svg+xml" not in picture
    assert "SOLUTION" not in text


REFUSED = {
    "object()": "an address",
    "import os; print(os.getcwd())": "a path",
    "import sys; print(sys.prefix)": "a path",
    "print('took 12.5 ms')": "a timing",
    "from IPython.display import SVG; SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')": (
        "a picture and has no alternative text"
    ),
}


@pytest.mark.parametrize("source", REFUSED)
def test_outputs_that_vary_are_refused_with_the_line(source: str, tmp_path: Path) -> None:
    lesson = with_cell(tmp_path, source)
    with pytest.raises(CourseError) as caught:
        build.solution_notebook(lesson)
    assert f"lesson.md:{lesson.cells[-1].line}: " in str(caught.value)
    assert REFUSED[source] in str(caught.value)


def test_a_failing_demo_is_told_with_the_line(tmp_path: Path) -> None:
    lesson = with_cell(tmp_path, "x = 1\nundefined")
    with pytest.raises(CourseError) as caught:
        build.solution_notebook(lesson)
    assert f"lesson.md:{lesson.cells[-1].line}: NameError" in str(caught.value)


def test_what_may_vary_is_left_out(tmp_path: Path) -> None:
    code = "import sys, time\nprint(time.time(), object())\nsys.stderr.write('50 %')"
    lesson = with_cell(tmp_path, code, "{volatile: true}")
    last = json.loads(build.solution_notebook(lesson))["cells"][-1]
    assert last["outputs"] == []


def test_an_error_that_is_shown_on_purpose_holds_no_paths(tmp_path: Path) -> None:
    lesson = with_cell(tmp_path, "1 / 0", "{}\ntags: [raises-exception]")
    (output,) = json.loads(build.solution_notebook(lesson))["cells"][-1]["outputs"]
    assert output["traceback"] == ["ZeroDivisionError: division by zero"]


def test_stale_missing_and_foreign_notebooks_are_told(tmp_path: Path) -> None:
    def run(*options: str) -> Any:
        arguments = ["build", "--no-execute", "--root", str(tmp_path), *options]
        return CliRunner().invoke(app, arguments)

    done = run("--check")
    assert done.exit_code == 1 and "07_fixture.ipynb is missing" in done.stderr
    assert run().exit_code == 0
    assert run("--check").exit_code == 0
    path = tmp_path / "lessons" / "07_fixture.ipynb"
    path.write_text(path.read_text("utf-8").replace("a demo", "an old demo"), encoding="utf-8")
    done = run("--check")
    assert done.exit_code == 1 and "is not what its sources make: line" in done.stderr
    assert "an old demo" in path.read_text("utf-8")
    assert run().exit_code == 0
    (tmp_path / "lessons" / "99_old.ipynb").write_text("{}", encoding="utf-8")
    done = run("--check")
    assert done.exit_code == 1 and "99_old.ipynb belongs to no lesson" in done.stderr


def test_the_lessons_of_the_course_are_what_their_sources_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`course build --check` in CI executes the solved ones as well; this is the quick part."""
    monkeypatch.delenv("COURSE_CONTENT")
    for folder in lesson_folders():
        lesson = load_lesson(folder.name)
        made = build.build(lesson, ROOT, execute=False)
        assert build.stale(made) == []
        solution = json.loads((ROOT / "solutions" / f"{lesson.name}.ipynb").read_text("utf-8"))
        for cell in solution["cells"]:
            if cell["cell_type"] == "code":
                assert cell["execution_count"] is not None
                cell["execution_count"], cell["outputs"] = None, []
        assert solution == build.assemble(lesson, solutions=True)
