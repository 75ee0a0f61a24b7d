"""An author's side: lessons and exercises to begin with, and links that lead nowhere."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from course.cli import app
from course.files import CourseError
from course.lesson import lesson_folders, load_lesson, read_lesson
from course.links import dead_links
from tests.course_helpers import CONTENT, LESSON


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tests' content, to be added to."""
    shutil.copytree(CONTENT, tmp_path / "content")
    monkeypatch.setenv("COURSE_CONTENT", str(tmp_path / "content"))
    return tmp_path / "content"


def course(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_a_new_lesson_and_a_new_exercise_are_proven_at_once(content: Path) -> None:
    done = course("new-lesson", "8", "two_words", "--title", "Two words: and more")
    assert done.exit_code == 0 and "course build 8" in done.stdout
    assert course("new-exercise", "8", "three-steps", "--title", "In three steps").exit_code == 0
    lesson = load_lesson("8")
    assert lesson.title == "Two words: and more"
    assert list(lesson.exercises) == ["a-first-step", "three-steps"]
    root = ["--root", str(content.parent)]
    assert course("build", "8", *root).exit_code == 0
    assert course("build", "8", "--check", *root).exit_code == 0
    done = course("verify", "8")
    assert done.exit_code == 0
    assert "caught 8/8 · right answers passed 4/4 · empty answers scoring 0: 14/14" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new-lesson", "7", "other"], "number 07 is taken by 07_fixture"),
        (["new-lesson", "8", "Two-Words"], "a slug like two_words"),
        (["new-lesson", "100", "a"], "a number up to 99"),
        (["new-lesson", "8", "a", "--title", 'a "b"'], "no double quotes"),
        (["new-exercise", "7", "double"], "has an exercise double already"),
        (["new-exercise", "7", "Two Words"], "not lower-case words joined by hyphens"),
        (["new-exercise", "99", "x"], "there is no lesson '99'"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments: list[str], words: str, content: Path) -> None:
    before = {path: path.read_bytes() for path in content.rglob("*.*")}
    done = course(*arguments)
    assert done.exit_code == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in content.rglob("*.*")} == before


def with_text(content: Path, text: str) -> Path:
    path = content / LESSON / "lesson.md"
    path.write_text(path.read_text("utf-8") + text, encoding="utf-8")
    return path


ALIVE = """
+++

[here](#a-picture), [there](07_fixture.ipynb), [its heading](07_fixture.ipynb#Building-on-it "so"),
[far away](https://example.org/x.html#y), `[code](nowhere.md)`, ![a dot](data:image/png;base64,AA)
```text
[code, too](nowhere.md)
```
Run `course hint 7 double`, and of course check what you write.
"""
DEAD = {
    "[x](08_nowhere.ipynb)": "the link to 08_nowhere.ipynb is dead",
    "[x](../README.md)": "the link to ../README.md is dead",
    "[x [y]](#nowhere)": "the link to #nowhere is dead",
    "[x](07_fixture.ipynb#nowhere)": "the link to #nowhere is dead",
    "![a dot](dot.png)": "the picture dot.png is in no notebook",
    "![a dot](https://example.org/dot.png)": "the picture https://example.org/dot.png is in no",
    "`course hint 7 duoble`": "07_fixture has no exercise 'duoble': double, quadruple, predict",
}


def test_links_that_lead_somewhere_are_left_alone(content: Path) -> None:
    with_text(content, ALIVE)
    assert dead_links(read_lesson(content / LESSON)) == []


@pytest.mark.parametrize("text", DEAD)
def test_a_dead_link_is_refused_with_its_line(text: str, content: Path) -> None:
    path = with_text(content, f"\n+++\n\nFirst a line,\nthen {text}.\n")
    line = path.read_text("utf-8").count("\n")
    done = course("build", "7", "--no-execute", "--root", str(content.parent))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"course: {path}:{line}: {DEAD[text]}")
    assert not (content.parent / "lessons").exists()


def test_a_picture_in_html_needs_alternative_text(content: Path) -> None:
    path = with_text(content, '\n+++\n\nFirst,\n<img alt="x" src="a"> <img\nsrc="data:,">\n')
    line = path.read_text("utf-8").count("\n") - 1
    with pytest.raises(CourseError, match=f"lesson.md:{line}: a picture has no alternative text"):
        read_lesson(content / LESSON)


def test_the_courses_own_links_are_alive() -> None:
    assert [problem for f in lesson_folders() for problem in dead_links(load_lesson(f.name))] == []
