"""The lessons' texts: their maps of the engine are true, their cells short enough to read."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

from course.lesson import Lesson, lesson_folders, read_lesson, solved

LESSONS = [read_lesson(folder) for folder in lesson_folders()]
MOST_LINES, WIDTH = 15, 100


def rows_of_map(lesson: Lesson) -> list[tuple[str, list[str]]]:
    """(file, symbols) of each row of the table under "What this lesson opens in the engine"."""
    text = (lesson.folder / "lesson.md").read_text(encoding="utf-8")
    section = text.partition("## What this lesson opens in the engine")[2].partition("```")[0]
    rows = [line.split("|")[2:4] for line in section.splitlines() if line.count("|") == 4]
    cells = [(re.findall(r"`([^`]+)`", a), re.findall(r"`([\w/]+\.py)`", b)) for a, b in rows]
    return [(files[0], symbols) for symbols, files in cells if files]


def test_lesson_05_has_a_map() -> None:
    maps = {lesson.number: rows_of_map(lesson) for lesson in LESSONS}
    assert ("autograd/mode.py", ["no_grad", "is_grad_enabled"]) in maps[5]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_symbol_of_a_map_is_where_it_says(lesson: Lesson) -> None:
    for file, symbols in rows_of_map(lesson):
        name = ".".join(("tinygrad_course", *Path(file).with_suffix("").parts))
        for symbol in symbols:
            reduce(getattr, symbol.split("."), importlib.import_module(name))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_cells_are_short(lesson: Lesson) -> None:
    for cell in lesson.cells:
        if cell.kind == "code":
            lines = solved(cell.source).splitlines()
            place = f"lesson.md:{cell.line}"
            assert len(lines) <= MOST_LINES, place
            assert max(map(len, lines)) <= WIDTH, place


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_nbval_is_told_of_outputs_that_are_not_stored(lesson: Lesson) -> None:
    for cell in lesson.cells:
        if cell.course.get("volatile"):
            assert "nbval-ignore-output" in cell.metadata.get("tags", []), f"lesson.md:{cell.line}"
