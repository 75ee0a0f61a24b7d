"""Reads a lesson's notebook text: Markdown with code cells, as jupytext's MyST format has it.

A fenced block `{code-cell}` is a code cell, a line `+++` parts two Markdown cells, YAML stands
between `---` lines. jupytext reads and writes the same files (a test compares); this reader starts
in a hundredth of the time, which a learner's first check notices, and knows every line. Lesson 00.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from course.files import CourseError

_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """One cell: `markdown` or `code`, its text, its metadata, the line of its first text."""

    kind: str
    source: str
    metadata: dict[str, Any]
    line: int


def read_myst(path: Path) -> tuple[dict[str, Any], list[Block]]:
    """The front matter and the cells of the file; CourseError with the line of what is wrong."""
    lines = path.read_text(encoding="utf-8").splitlines()
    front, start = _yaml_block(path, lines, 0)
    blocks: list[Block] = []
    text_start = i = start
    while i < len(lines):
        fence = _FENCE.fullmatch(lines[i])
        if fence is None and lines[i].rstrip() != "+++":
            i += 1
            continue
        end = i if fence is None else _closing(path, lines, i, fence[1])
        if fence is None or fence[2].startswith("{code-cell}"):
            blocks += _markdown(lines, text_start, i)
            text_start = end + 1
        if fence is not None and fence[2].startswith("{code-cell}"):
            metadata, first = _yaml_block(path, lines[:end], i + 1)
            if first < end and first > i + 1 and not lines[first].strip():
                first += 1
            source = "\n".join(lines[first:end])
            blocks.append(Block("code", source, metadata, first + 1))
        i = end + 1
    return front, [*blocks, *_markdown(lines, text_start, len(lines))]


def _yaml_block(path: Path, lines: list[str], start: int) -> tuple[dict[str, Any], int]:
    """The mapping between two `---` lines that begin at `start`, and the line after them."""
    if start >= len(lines) or lines[start].rstrip() != "---":
        return {}, start
    end = next((i for i in range(start + 1, len(lines)) if lines[i].rstrip() == "---"), None)
    if end is None:
        _fail(path, start + 1, "the metadata do not end: a line --- is missing")
    try:
        found = yaml.safe_load("\n".join(lines[start + 1 : end])) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = start + 2 + (mark.line if mark else 0)
        _fail(path, line, f"the metadata are no YAML: {getattr(error, 'problem', error)}")
    if not isinstance(found, dict):
        _fail(path, start + 2, "the metadata are not lines of the form key: value")
    return found, end + 1


def _closing(path: Path, lines: list[str], start: int, fence: str) -> int:
    pattern = re.compile(re.escape(fence) + re.escape(fence[0]) + r"*\s*")
    for i in range(start + 1, len(lines)):
        if pattern.fullmatch(lines[i]):
            return i
    _fail(path, start + 1, f"the block that begins here with {fence} does not end")


def _markdown(lines: list[str], start: int, end: int) -> list[Block]:
    while start < end and not lines[start].strip():
        start += 1
    source = "\n".join(lines[start:end]).rstrip()
    return [Block("markdown", source, {}, start + 1)] if source else []


def _fail(path: Path, line: int, what: str) -> NoReturn:
    raise CourseError(f"{path}:{line}: {what}")
