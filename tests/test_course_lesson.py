"""Reading a lesson's sources, and what is said about faulty ones."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import jupytext.myst
import pytest

from course.files import CourseError
from course.lesson import find_lesson, lesson_folders, load_lesson, read_lesson, solved, stubbed
from course.myst import read_myst
from tests.course_helpers import CONTENT, LESSON

ROOT = Path(__file__).parents[1]
LESSONS = sorted([CONTENT / LESSON, *(p.parent for p in ROOT.glob("course/content/*/lesson.md"))])


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the small lesson to break."""
    target = tmp_path / LESSON
    shutil.copytree(CONTENT / LESSON, target)
    return target


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_jupytext_reads_the_same_cells(folder: Path) -> None:
    text = (folder / "lesson.md").read_text("utf-8")
    theirs = jupytext.myst.myst_to_notebook(text)
    front, ours = read_myst(folder / "lesson.md")
    assert front["course"] == theirs.metadata["course"]
    assert [(b.kind, b.source, b.metadata) for b in ours] == [
        (cell.cell_type, cell.source, cell.metadata) for cell in theirs.cells
    ]
    lines = text.splitlines()
    for block in ours:
        assert lines[block.line - 1] == block.source.split("\n")[0]


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_every_lesson_reads_without_a_complaint(folder: Path) -> None:
    lesson = read_lesson(folder)
    for name in lesson.exercises:
        assert "SOLUTION" not in lesson.reference(name)
        assert lesson.reference(name) != lesson.stub(name)
        assert all(answer.says for answer in lesson.wrongs(name))


def test_a_lesson_has_its_parts() -> None:
    lesson = read_lesson(CONTENT / LESSON)
    assert (lesson.number, lesson.slug) == (7, "fixture")
    assert list(lesson.exercises) == ["double", "quadruple", "predict"]
    assert lesson.all_needs("quadruple") == ["double"]
    assert lesson.stub("predict") == (
        "prediction = None  # the shape of np.zeros((2, 3)).T\n\nfrom course import ask\n\n"
        'ask("07_fixture", "predict", globals())  # a form, if you like one\n'
    )
    assert lesson.stub("double").endswith(
        '    raise NotImplementedError("double: write your answer here")'
    )
    assert lesson.reference("double") == 'def double(x):\n    """Twice x."""\n    return 2 * x'
    assert [answer.name for answer in lesson.rights("double")] == ["reference", "by addition"]
    first = lesson.wrongs("double")[0]
    assert first.says == (
        "The result is right, but x itself was changed: `*=` writes into the caller's array."
    )
    assert first.source == "def double(x):\n    x *= 2\n    return x\n"


def test_several_regions_in_one_cell() -> None:
    source = "a = 1\n### BEGIN SOLUTION\nb = 2\n### END SOLUTION\nif a:\n"
    source += "    ### BEGIN SOLUTION\n    ### STUB: pass\n    b = 3\n    ### END SOLUTION"
    assert solved(source) == "a = 1\nb = 2\nif a:\n    b = 3"
    assert stubbed(source, "e") == (
        'a = 1\nraise NotImplementedError("e: write your answer here")\nif a:\n    pass'
    )


Edit = Callable[[str], str]
FAULTS: dict[str, tuple[str, Edit, str]] = {
    "nested regions": (
        "lesson.md",
        lambda s: s.replace("    return 2 * x", "    ### BEGIN SOLUTION"),
        "lesson.md:44: a solution region begins inside another one",
    ),
    "an open region": (
        "lesson.md",
        lambda s: s.replace("    ### END SOLUTION", "", 1),
        "lesson.md:43: this solution region does not end",
    ),
    "an end alone": (
        "lesson.md",
        lambda s: s.replace("    ### BEGIN SOLUTION", "", 1),
        "lesson.md:45: a solution region ends that did not begin",
    ),
    "no region": (
        "lesson.md",
        lambda s: s.replace("    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n", ""),
        "lesson.md:41: the answer cell of double has no solution region",
    ),
    "an unknown exercise": (
        "lesson.md",
        lambda s: s.replace("exercise: double", "exercise: duoble"),
        "lesson.md:41: checks.py has no exercise 'duoble'",
    ),
    "an exercise twice": (
        "lesson.md",
        lambda s: s.replace("exercise: predict", "exercise: double"),
        "a second answer cell for double",
    ),
    "an unknown role": (
        "lesson.md",
        lambda s: s.replace("{role: setup}", "{role: set-up}"),
        "lesson.md:24: unknown role 'set-up'; there are setup, answer, given",
    ),
    "unknown metadata": (
        "lesson.md",
        lambda s: s.replace("{role: setup}", "{role: setup, colour: red}"),
        "lesson.md:24: unknown course metadata: colour",
    ),
    "a picture without words": (
        "lesson.md",
        lambda s: s.replace("Small exercises", "![](a.png)\nSmall exercises"),
        "a picture has no alternative text",
    ),
    "a solution in a demo": (
        "lesson.md",
        lambda s: s.replace('print("a demo"', '### BEGIN SOLUTION\nprint("a demo"'),
        "a solution region in a cell that is no answer",
    ),
    "bad metadata": (
        "lesson.md",
        lambda s: s.replace("{role: setup}", "{role: setup"),
        "lesson.md:22: the metadata are no YAML",
    ),
    "an open fence": (
        "lesson.md",
        lambda s: s.rstrip().removesuffix("```"),
        "the block that begins here with ``` does not end",
    ),
    "another number": (
        "lesson.md",
        lambda s: s.replace("number: 7", "number: 8"),
        "number and slug do not make the folder's name, 07_fixture",
    ),
    "no title": (
        "lesson.md",
        lambda s: s.replace("  title: A lesson", "  titel: A lesson"),
        "lesson.md:1: the front matter needs course: title, of type str",
    ),
    "wrong points": (
        "checks.py",
        lambda s: s.replace("points=3", "points=4"),
        "checks.py:8: the exercise double is worth 4 points, its cases 3",
    ),
    "few hints": (
        "checks.py",
        lambda s: s.replace('"Add x to itself.", ', ""),
        "checks.py:8: the exercise double needs 3 hints",
    ),
    "a need that comes later": (
        "checks.py",
        lambda s: s.replace("difficulty=1,", 'difficulty=1, needs=("predict",),', 1),
        "checks.py:8: the exercise double needs 'predict', which is no earlier exercise",
    ),
    "a need that is misspelt": (
        "checks.py",
        lambda s: s.replace('needs=("double",)', 'needs=("duoble",)'),
        "the exercise quadruple needs 'duoble', which is no earlier exercise",
    ),
    "an error in the checks": (
        "checks.py",
        lambda s: s.replace("quadruple = Exercise(", "quadruple = Exercise(None / 1, "),
        "checks.py:29: TypeError",
    ),
    "a case with too few arguments": (
        "checks.py",
        lambda s: s.replace("def number(answer, rng)", "def number(answer)"),
        "case 'a number' of double takes 1 arguments, not 2: (answer, rng)",
    ),
    "few wrong answers": (
        "answers.py",
        lambda s: s.split("# %% wrong predict: a number")[0],
        "the exercise predict needs 4 wrong answers",
    ),
    "no second right answer": (
        "answers.py",
        lambda s: s.replace("# %% right double:", "# %% right predict:"),
        "the exercise double needs 2 right answers",
    ),
    "an answer to nothing": (
        "answers.py",
        lambda s: s.replace("# %% right double:", "# %% right doubel:"),
        "answers.py:7: checks.py has no exercise 'doubel'",
    ),
    "a wrong answer without words": (
        "answers.py",
        lambda s: s.replace("# says: x ** 2 is x times x; twice x is x plus x.\n", ""),
        "answers.py:20: a wrong answer needs a '# says:' line",
    ),
    "a cell of no sort": (
        "answers.py",
        lambda s: s.replace("# %% right double: by addition", "# %% rigth double"),
        "answers.py:7: a cell begins '# %% right NAME: what'",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_its_file_and_line(name: str, copy: Path) -> None:
    file, edit, words = FAULTS[name]
    path = copy / file
    before = path.read_text("utf-8")
    after = edit(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        read_lesson(copy)
    assert words in str(caught.value)
    assert all(str(copy) in line for line in str(caught.value).splitlines())


def test_a_missing_file_is_told(copy: Path) -> None:
    (copy / "answers.py").unlink()
    with pytest.raises(CourseError, match=r"answers\.py: this file of the lesson is missing"):
        read_lesson(copy)


@pytest.mark.parametrize("text", ["07_fixture", "fixture", "07", "7", "lessons/07_fixture.ipynb"])
def test_a_lesson_is_found_by_any_of_its_names(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    assert find_lesson(text).name == LESSON


def test_an_unknown_lesson_lists_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    with pytest.raises(CourseError, match="no lesson '9'; the lessons are: 07_fixture"):
        find_lesson("9")
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT / "nowhere"))
    with pytest.raises(CourseError, match="no lessons in"):
        lesson_folders()


def test_a_changed_lesson_is_read_anew(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(copy.parent))
    first = load_lesson("7")
    assert load_lesson("7") is first
    path = copy / "lesson.md"
    path.write_text(path.read_text("utf-8").replace("title: A lesson", "title: A new lesson"))

    os.utime(path, (2e9, 2e9))
    assert load_lesson("7").title.startswith("A new lesson")
    assert load_lesson("7").digest != first.digest
