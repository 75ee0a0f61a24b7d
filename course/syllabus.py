"""What the study notes name, and the cell of a lesson that shows it.

`course/content/syllabus.toml` lists the notes' sections in their order; here each name is looked up
in the notebooks that the lessons make. Knows nothing of what a name means. Lesson 00.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.build import assemble
from course.lesson import Lesson, content_folder

FILE = "syllabus.toml"
BOX = re.compile(r"^> \*\*The notes (?:say|ask)\*\*", re.MULTILINE)
BOX_PARTS = ("**What happens.**", "**Why.**")


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing that the notes name: where they do, and the cell that shows it, '' for a gap."""

    notes: str
    about: str
    item: str
    lesson: str
    cell: str


def sections() -> list[dict[str, Any]]:
    """The sections of syllabus.toml."""
    text = (content_folder() / FILE).read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["section"]
    return found


def shown_by(lesson: Lesson) -> Iterator[Shown]:
    """Each thing that this lesson has to show, in the order of the notes."""
    cells = assemble(lesson, solutions=True)["cells"]
    codes = [(c["id"], "".join(c["source"])) for c in cells if c["cell_type"] == "code"]
    texts = [(c["id"], "".join(c["source"])) for c in cells if c["cell_type"] == "markdown"]
    boxes = dict(_boxes(cells))
    for section in sections():
        if section["lesson"] != lesson.name:
            continue
        place = section["notes"], section["about"]
        for name in section.get("shows", ()):
            uses = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            found = next((id_ for id_, code in codes if uses.search(code)), "")
            yield Shown(*place, f"`{name}`", lesson.name, found)
        for words in section.get("says", ()):
            found = next((id_ for id_, text in texts if words in text), "")
            yield Shown(*place, f"“{words}”", lesson.name, found)
        for words in section.get("boxes", ()):
            found = next((id_ for id_, text in boxes.items() if words in text), "")
            yield Shown(*place, f"box: {words}", lesson.name, found)


def _boxes(cells: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(id, text) of the cells that hold a complete box, with code after it as its proof."""
    for cell, after in zip(cells, [*cells[1:], {"cell_type": ""}], strict=True):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and BOX.search(text) and after["cell_type"] == "code":
            if all(part in text for part in BOX_PARTS):
                yield cell["id"], text


def made_table(lessons: list[Lesson]) -> dict[Path, str]:
    """The file with the table, for content that has a syllabus."""
    folder = content_folder()
    return {folder / "syllabus.md": table(lessons)} if (folder / FILE).is_file() else {}


def table(lessons: list[Lesson]) -> str:
    """All that the notes name with the cells that show it, as Markdown."""
    lines = [
        "# What the notes name, and where it is shown",
        "",
        "Made by `course build` from syllabus.toml and the lessons.",
        "",
        "| notes | item | lesson | cell |",
        "|---|---|---|---|",
    ]
    for lesson in lessons:
        for one in shown_by(lesson):
            item = one.item.replace("|", "\\|")
            lines.append(f"| {one.notes} | {item} | {one.lesson} | {one.cell or 'not yet'} |")
    return "\n".join(lines) + "\n"
