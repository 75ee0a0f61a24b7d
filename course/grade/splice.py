"""The notebook that is graded: our setup, the learner's answers, and after each of them our probe.

Nothing of the submission but the text of its answer cells gets in; checks, metadata, tags and
stored outputs are ours. Demos are left out, since no answer may depend on them. Lesson 00.
"""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.checks import Exercise
from course.draws import examples_of
from course.grade.submission import Submission

MARK = re.compile(r"(\s*#[#\s]*)((?:PYTEST_VALIDATE|NBVAL)_[A-Z_]+)\s*")


@dataclass(frozen=True, slots=True)
class Graded:
    """One code cell of the graded notebook: its text, what it is, and whose."""

    source: str
    role: str
    exercise: str = ""


def graded_cells(
    submission: Submission,
    exercises: list[str],
    probed: list[str],
    box: Path,
    seed: int,
    lent: Sequence[str] = (),
) -> list[Graded]:
    """The cells of a run: setup, then each exercise's answer, and a probe if it is in `probed`.

    For the exercises in `lent` our own answer stands in.
    """
    cells = [Graded(cell.source, "setup") for cell in submission.lesson.setup]
    for name in exercises:
        if name in lent:
            cells.append(Graded(submission.lesson.reference(name), "lent", name))
            continue
        pieces = joined(submission.answers.get(name, []))
        cells += [Graded(neutral(piece), "answer", name) for piece in pieces]
        if name in probed:
            exercise = submission.lesson.exercises[name]
            cells.append(Graded(probe_code(exercise, box, seed), "probe", name))
    return cells


def probe_code(exercise: Exercise, box: Path, seed: int) -> str:
    """The source of a probe cell. The examples stand in it: they are not drawn where it runs."""
    name, examples = exercise.name, examples_of(exercise, seed)
    checks, result = str(box / "checks.py"), str(box / "results" / f"{name}.json")
    arguments = f"{checks!r}, {name!r}, {seed}, {examples!r}, {result!r}, globals()"
    return f"from course.grade.probe import probe as _probe\n\n_probe({arguments})"


def neutral(source: str) -> str:
    """The source with nbval's marks turned into ordinary comments.

    >>> neutral("# NBVAL_SKIP")
    '# (NBVAL_SKIP ignored)'
    """
    # Split as nbval splits: at every sort of line end that Python's text knows.
    lines = source.splitlines(keepends=True)
    return "".join(_unmarked(line) for line in lines)


def _unmarked(line: str) -> str:
    body = line.splitlines()[0] if line.splitlines() else ""
    found = MARK.fullmatch(body)
    return f"{found[1]}({found[2]} ignored){line[len(body) :]}" if found else line


def joined(pieces: list[str]) -> list[str]:
    """Cells of one answer as one text, or apart where that text would not be Python.

    JupyterLab copies the metadata when a cell is split, wherever the cursor stood. A cell magic
    reaches to the end of its cell, so a piece that begins with one stays alone.
    """
    pieces = [piece for piece in pieces if piece.strip()]
    if len(pieces) < 2 or any(piece.lstrip().startswith("%%") for piece in pieces):
        return pieces
    whole = "\n".join(piece.rstrip("\n") for piece in pieces)
    return [whole] if _parses(whole) or not any(map(_parses, pieces)) else pieces


def _parses(source: str) -> bool:
    # Line magics and shell lines are IPython's and no fault.
    plain = re.sub(r"^(\s*)[%!?].*$", r"\1pass", source, flags=re.MULTILINE)
    try:
        ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def to_notebook(cells: list[Graded], kernel: str) -> str:
    """The text of the graded notebook."""
    notebook: dict[str, Any] = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": [],
                "source": cell.source,
            }
            for number, cell in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"display_name": kernel, "language": "python", "name": kernel}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook)
