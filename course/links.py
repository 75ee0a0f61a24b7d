"""What a lesson's text points at: other lessons, headings, exercises that a command names.

A learner's folder holds notebooks and nothing else, so a link to anything else in the repository is
dead there. Addresses in the network are not tried. Lesson 00.
"""

import re
from collections.abc import Iterator

from course.files import CourseError
from course.lesson import Cell, Lesson, find_lesson, lesson_folders, read_notebook_text

_CODE = re.compile(r"(`{3,}|~{3,}).*?\1|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL)
_LINK = re.compile(
    r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'(].*?[\"')])?\s*\)"
)
_COMMAND = re.compile(r"course (?:hint|check|solution|reset) (\S+) ([a-z0-9]+(?:-[a-z0-9]+)*)")


def dead_links(lesson: Lesson) -> list[str]:
    """Each link and command of the lesson's text that leads nowhere, as `file:line: what`."""
    found: list[str] = []
    for cell in lesson.cells:
        if cell.kind == "markdown":
            for offset, what in _problems(lesson, cell):
                found.append(f"{lesson.folder / 'lesson.md'}:{cell.line + offset}: {what}")
    return found


def _problems(lesson: Lesson, cell: Cell) -> Iterator[tuple[int, str]]:
    # Code is no link, but keeps its place, so that lines can be counted.
    text = _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), cell.source)
    for found in _LINK.finditer(text):
        what = _picture(found[2]) if found[1] else _link(lesson, found[2])
        if what:
            yield text.count("\n", 0, found.start()), what
    for found in _COMMAND.finditer(cell.source):
        what = _exercise(found[1], found[2])
        if what:
            yield cell.source.count("\n", 0, found.start()), what


def _picture(target: str) -> str:
    if target.startswith(("data:", "attachment:")):
        return ""
    return f"the picture {target} is in no notebook: draw it in a cell, or give it as data:"


def _link(lesson: Lesson, target: str) -> str:
    if re.match(r"(https?|mailto):", target):
        return ""
    file, _, anchor = target.partition("#")
    cells = lesson.cells
    if file:
        folders = {f"{folder.name}.ipynb": folder for folder in lesson_folders()}
        if file not in folders:
            return f"the link to {file} is dead: a learner's folder has no such notebook"
        cells = read_notebook_text(folders[file] / "lesson.md")[1]
    if anchor and _plain(anchor) not in set(_headings(cells)):
        return f"the link to #{anchor} is dead: there is no such heading"
    return ""


def _headings(cells: list[Cell]) -> Iterator[str]:
    for cell in cells:
        if cell.kind == "markdown":
            yield from map(_plain, re.findall(r"^#+ +(.+)$", cell.source, re.MULTILINE))


def _plain(heading: str) -> str:
    """A heading or an anchor without what the makers of anchors differ in."""
    return "".join(re.findall(r"\w", heading.lower()))


def _exercise(lesson: str, exercise: str) -> str:
    try:
        folder = find_lesson(lesson)
    except CourseError:
        return ""  # prose after the words, and no command
    answers = [c.exercise for c in read_notebook_text(folder / "lesson.md")[1] if c.exercise]
    known = ", ".join(answers)
    return "" if exercise in answers else f"{folder.name} has no exercise {exercise!r}: {known}"
