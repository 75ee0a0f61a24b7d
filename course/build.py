"""From a lesson's sources to two notebooks: the learner's, and the solved one with its outputs.

The same sources give the same bytes: cell ids come from headings and exercise names, and outputs
that hold an address, a path or a random id are refused or replaced. It knows the notebook format
and nothing of grades. Lesson 00.
"""

import base64
import html
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.checks import Exercise
from course.files import CourseError
from course.lesson import Cell, Lesson, solved
from course.pace import exercise_minutes, with_minutes

Notebook = dict[str, Any]
CELL_SECONDS = 120
SVG, HTML, TEXT = "image/svg+xml", "text/html", "text/plain"
WIDGET = "application/vnd.jupyter.widget-view+json"


def lesson_notebook(lesson: Lesson) -> str:
    """The learner's notebook as text: stubs, boxes before the exercises and checks after them."""
    return to_text(assemble(lesson, solutions=False))


def solution_notebook(lesson: Lesson) -> str:
    """The solved notebook as text, every cell executed and its outputs stored."""
    notebook = assemble(lesson, solutions=True)
    execute_notebook(notebook, lesson)
    return to_text(notebook)


def to_text(notebook: Notebook) -> str:
    """The text of a notebook file: keys sorted, an indent of one, a line feed at the end."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


# ------------------------------------------------------------------ cells


def assemble(lesson: Lesson, *, solutions: bool) -> Notebook:
    """The lesson's cells with boxes and checks around the answers; nothing is executed."""
    ids = _Ids()
    cells: list[dict[str, Any]] = []
    for cell in lesson.cells:
        ids.see(cell)
        if cell.role != "answer":
            role = "setup" if cell.role == "setup" else "given"
            source = with_minutes(lesson, cell.source)
            cells.append(_cell(ids.of_section(), cell.kind, source, cell, {"role": role}))
            continue
        exercise = lesson.exercises[cell.exercise]
        name = exercise.name
        source = solved(cell.source) if solutions else lesson.stub(name)
        box, code = exercise_box(lesson, exercise), check_code(lesson, name)
        about = {"exercise": name, "points": exercise.points}
        cells += [
            _cell(f"box-{name}", "markdown", box, None, {"role": "box", **about}),
            _cell(f"answer-{name}", "code", source, cell, {"role": "answer", **about}),
            _cell(f"check-{name}", "code", code, None, {"role": "check", **about}),
        ]
    return {
        "cells": cells,
        "metadata": {
            "course": {
                "lesson": lesson.name,
                "title": lesson.title,
                "kind": "solution" if solutions else "lesson",
            },
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"file_extension": ".py", "name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(
    id_: str, kind: str, source: str, origin: Cell | None, course: dict[str, Any]
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"course": course}
    if origin is not None:
        metadata |= {key: value for key, value in origin.metadata.items() if key != "course"}
    if course["role"] in ("box", "check"):
        metadata |= {"editable": False, "deletable": False}
    text = _lines(source)
    cell: dict[str, Any] = {"cell_type": kind, "id": id_, "metadata": metadata, "source": text}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _lines(text: str) -> list[str]:
    """Text as the format stores it: lines with their ends."""
    return text.splitlines(keepends=True)


class _Ids:
    """Ids from the nearest heading above and a count within it: an edit moves few of them."""

    def __init__(self) -> None:
        self.section = "start"
        self.used: dict[str, int] = {}

    def see(self, cell: Cell) -> None:
        if cell.kind == "markdown":
            heading = re.search(r"^#+ +(.+)$", cell.source, re.MULTILINE)
            if heading:
                words = re.findall(r"[a-z0-9]+", heading[1].lower())
                self.section = "-".join(words)[:48].strip("-") or "section"

    def of_section(self) -> str:
        self.used[self.section] = self.used.get(self.section, 0) + 1
        return f"{self.section}-{self.used[self.section]}"


def exercise_box(lesson: Lesson, exercise: Exercise, worth: float | None = None) -> str:
    """The Markdown above an answer cell: what it is worth, what it builds upon, its hints."""
    stars = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    worth = exercise.points if worth is None else worth
    points = f"{worth:g} point{'s' if worth != 1 else ''}"
    minutes = round(exercise_minutes(lesson, exercise.name))
    facts = [f"difficulty {stars} ({exercise.difficulty} of 3)", f"about {minutes} min"]
    lines = [
        f"#### Exercise: {exercise.title}",
        "",
        " · ".join([f"`{exercise.name}`", points, *facts]),
    ]
    if exercise.needs:
        titles = ", ".join(lesson.exercises[need].title for need in exercise.needs)
        lines += ["", f"Builds on: {titles}."]
    for number, hint in enumerate(exercise.hints, 1):
        summary = f"Hint {number} of {len(exercise.hints)}"
        lines += ["", f"<details><summary>{summary}</summary>", "", hint, "", "</details>"]
    return "\n".join(lines)


def check_code(lesson: Lesson, exercise: str) -> str:
    """The source of a check cell."""
    return f'from course import check\n\ncheck("{lesson.name}", "{exercise}", globals())'


# ------------------------------------------------------------------ executing


def execute_notebook(notebook: Notebook, lesson: Lesson) -> None:
    """Run all cells in a fresh kernel and store their outputs, cleaned of all that varies."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    lines = _source_lines(lesson)
    node = nbformat.reads(to_text(notebook), as_version=4)  # type: ignore[no-untyped-call]
    where = lesson.folder / "lesson.md"
    with tempfile.TemporaryDirectory(prefix="course-build-") as folder:
        client = NotebookClient(
            node,
            km=_kernel(Path(folder)),
            timeout=CELL_SECONDS,
            resources={"metadata": {"path": folder}},
            store_widget_state=False,
            record_timing=False,
        )
        try:
            client.execute(env=_environment(folder), cleanup_kc=True)
        except (CellExecutionError, CellTimeoutError) as error:
            index = next(i for i, c in enumerate(node.cells) if _unfinished(c))
            raise CourseError(f"{where}:{lines[index]}: {_last_line(str(error))}") from error
        paths = [folder, os.path.realpath(folder), sys.prefix, str(Path.home())]
    origins = {cell.line: cell for cell in lesson.cells}
    for cell, line, run in zip(notebook["cells"], lines, node.cells, strict=True):
        if cell["cell_type"] != "code":
            continue
        origin = origins.get(line) if cell["metadata"]["course"]["role"] != "check" else None
        cell["execution_count"] = run.execution_count
        clean = _Cleaner(f"{where}:{line}", origin, [p for p in paths if len(p) > 1])
        cell["outputs"] = clean.outputs(json.loads(json.dumps(run.outputs)))
        exercise = cell["metadata"]["course"].get("exercise")
        if cell["metadata"]["course"]["role"] == "check" and not _passes(cell):
            raise CourseError(f"{where}:{line}: the reference answer of {exercise} fails its check")


def _kernel(folder: Path) -> Any:
    """A kernel on this interpreter, whatever kernels the user has installed elsewhere."""
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpecManager

    spec = folder / "kernels" / "course-build"
    spec.mkdir(parents=True)
    quiet = ["--IPKernelApp.log_level=40", "--HistoryManager.enabled=False"]
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *quiet]
    kernel = {"argv": argv, "display_name": spec.name, "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    specs = KernelSpecManager(kernel_dirs=[str(spec.parent)])
    return AsyncKernelManager(kernel_name=spec.name, kernel_spec_manager=specs)


def _source_lines(lesson: Lesson) -> list[int]:
    """For each cell that `assemble` makes, the line of lesson.md that it comes from."""
    return [c.line for c in lesson.cells for _ in range(3 if c.role == "answer" else 1)]


def _environment(folder: str) -> dict[str, str]:
    package = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    kept = {key: value for key, value in os.environ.items() if key != "COURSE_WORKSPACE"}
    fixed = {
        "PYTHONPATH": path,
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "IPYTHONDIR": folder,
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }
    return {**kept, **fixed}


def _unfinished(cell: Any) -> bool:
    return cell.cell_type == "code" and (
        cell.execution_count is None
        or (
            any(output.output_type == "error" for output in cell.outputs)
            and "raises-exception" not in cell.metadata.get("tags", [])
        )
    )


def _last_line(text: str) -> str:
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.strip().splitlines()]
    return lines[-1] if lines else "the cell failed"


def _passes(cell: dict[str, Any]) -> bool:
    said = "".join(t for o in cell["outputs"] if o["output_type"] == "stream" for t in o["text"])
    return re.match(r".*: right, \d+ points?$", said, re.MULTILINE) is not None


@dataclass
class _Cleaner:
    """Turns a cell's outputs into what may be stored, or says what may not."""

    place: str
    origin: Cell | None
    paths: list[str]

    def outputs(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self.origin is not None and self.origin.course.get("volatile"):
            return []
        found = [self._output(o) for o in _joined_streams(outputs)]
        return [o for o in found if o is not None]

    def _output(self, output: dict[str, Any]) -> dict[str, Any] | None:
        kind = output["output_type"]
        if kind == "stream":
            if output["name"] == "stderr":
                return None  # progress bars: how often they are redrawn depends on the clock
            self._refuse(output["text"])
            return {**output, "text": _lines(output["text"])}
        if kind == "error":
            text = f"{output['ename']}: {output['evalue']}"
            self._refuse(text)
            return {**output, "traceback": [text]}
        return {**output, "data": self._data(output["data"]), "metadata": {}}

    def _data(self, data: dict[str, Any]) -> dict[str, Any]:
        data = {key: value for key, value in data.items() if key != WIDGET}
        if SVG in data:
            alt = html.escape(self._alternative_text())
            picture = base64.b64encode("".join(data.pop(SVG)).encode()).decode("ascii")
            # Front ends show this form in notebooks nobody has trusted yet, and no inline SVG.
            data[HTML] = f'<img alt="{alt}" src="data:{SVG};base64,{picture}">'
            data[TEXT] = alt
        for key, value in data.items():
            if key.startswith("image/"):
                self._alternative_text()
            elif isinstance(value, str):
                self._refuse(re.sub(r"base64,[A-Za-z0-9+/=]+", "", value))
        return data

    def _alternative_text(self) -> str:
        alt = str(self.origin.course.get("alt", "")) if self.origin is not None else ""
        if not alt:
            raise CourseError(
                f"{self.place}: the cell shows a picture and has no alternative text: "
                "give it the metadata course: alt"
            )
        return alt

    def _refuse(self, text: str) -> None:
        """Complain about text that would be another one on the next run or the next machine."""
        for what, found in (
            ("an address", re.search(r"\b0x[0-9a-f]{6,}\b", text)),
            ("a path", next((p for p in self.paths if p in text), None)),
            ("a timing", re.search(r"\b\d+(\.\d+)? ?(ns|[µu]s|ms|it/s)\b", text)),
        ):
            if found:
                shown = found if isinstance(found, str) else found[0]
                raise CourseError(f"{self.place}: the output holds {what}, {shown!r}, which varies")


def _joined_streams(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pieces of one stream as one: where it was cut depends on the clock."""
    found: list[dict[str, Any]] = []
    for output in outputs:
        last = found[-1] if found else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            found.append(dict(output))
    return found


# ------------------------------------------------------------------ files


def build(lesson: Lesson, root: Path, *, execute: bool = True) -> dict[Path, str]:
    """The text of every file that the lesson's sources make, by path below `root`."""
    made = {root / "lessons" / f"{lesson.name}.ipynb": lesson_notebook(lesson)}
    if execute:
        made[root / "solutions" / f"{lesson.name}.ipynb"] = solution_notebook(lesson)
    return made


def stale(made: dict[Path, str]) -> list[str]:
    """Which of the files differ from what was made, and how."""
    found: list[str] = []
    for path, text in made.items():
        if not path.is_file():
            found.append(f"{path} is missing")
        elif path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n") != text:
            found.append(f"{path} is not what its sources make: {first_change(path, text)}")
    return found


def first_change(path: Path, text: str) -> str:
    """The first line where a file differs from `text`."""
    old, new = path.read_text(encoding="utf-8", errors="replace").splitlines(), text.splitlines()
    for number, (a, b) in enumerate(zip(old, new, strict=False), 1):
        if a != b:
            apart = (at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
            start = max(0, next(apart, min(len(a), len(b))) - 20)
            return f"line {number} has {a[start : start + 80]!r}, not {b[start : start + 80]!r}"
    return f"{len(old)} lines, not {len(new)}"


def foreign(root: Path, names: set[str]) -> list[str]:
    """Notebooks in lessons/ and solutions/ that no lesson makes."""
    folders = (root / "lessons", root / "solutions")
    paths = [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]
    return [f"{path} belongs to no lesson" for path in paths if path.stem not in names]
