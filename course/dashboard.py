"""A panel in a notebook: all lessons with your points, and the hints of the exercise you choose.

`from course import panel; panel()` shows it. It is made of ordinary widgets, which the keyboard
reaches and screen readers name, and does what `course hint` and `course solution` do. Lesson 00.
"""

from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from course.files import CourseError
from course.lesson import lesson_folders, load_lesson
from course.notebook import next_hint
from course.progress import HONEST, Progress, changing, read_progress
from course.standing import Standing, predictions, standing
from course.workspace import default_workspace, workspace_of


def panel(workspace: Path | None = None) -> widgets.VBox:
    """The panel for a workspace, by default the one around the notebook.

    >>> panel(Path("."))  # doctest: +SKIP
    """
    return Panel(workspace or workspace_of(Path.cwd()) or default_workspace()).box


class Panel:
    """The widgets and what they do."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.map = widgets.HTML()
        names = [folder.name for folder in lesson_folders()]
        self.lesson = widgets.Dropdown(options=names, description="Lesson")
        self.exercise = widgets.Dropdown(description="Exercise")
        self.state = widgets.HTML()
        self.hint = widgets.Button(description="Next hint", tooltip="Open one more hint")
        self.solution = widgets.Button(description="Solution", tooltip="Show our own answer")
        self.again = widgets.Button(description="Refresh", tooltip="Read your points anew")
        self.words = widgets.HTML()
        self.lesson.observe(self._choose_lesson, names="value")
        self.exercise.observe(self._choose_exercise, names="value")
        self.hint.on_click(lambda button: self._open_hint())
        self.solution.on_click(lambda button: self._open_solution())
        self.again.on_click(lambda button: self.refresh())
        chosen = widgets.HBox([self.lesson, self.exercise])
        buttons = widgets.HBox([self.hint, self.solution, self.again])
        self.box = widgets.VBox([self.map, chosen, self.state, buttons, self.words])
        self._choose_lesson(None)

    def refresh(self) -> None:
        """Read the progress file and show what it says."""
        progress = self._read()
        if progress is None:
            return
        rows = [standing(progress, load_lesson(folder.name)) for folder in lesson_folders()]
        self.map.value = _table(rows) + _paragraph(predictions(progress))
        self._show_state(progress)

    def _read(self) -> Progress | None:
        try:
            return read_progress(self.workspace)
        except CourseError as error:
            self.words.value = _paragraph(str(error))
            return None

    def _choose_lesson(self, change: Any) -> None:
        exercises = load_lesson(self.lesson.value).exercises.values()
        self.exercise.options = [(exercise.title, exercise.name) for exercise in exercises]
        # A list that was empty before does not choose its first entry by itself.
        self.exercise.value = next((exercise.name for exercise in exercises), None)
        self.refresh()

    def _choose_exercise(self, change: Any) -> None:
        self.words.value = ""
        self.refresh()

    def _show_state(self, progress: Progress) -> None:
        name = self.exercise.value
        self.hint.disabled = self.solution.disabled = name is None
        if name is None:
            self.state.value = _paragraph("This lesson has no exercises.")
            return
        entry = progress.entry(self.lesson.value, name)
        exercise = load_lesson(self.lesson.value).exercises[name]
        done = "solved" if entry.passed else f"{entry.earned} of {exercise.points} points"
        opened = f"{entry.hints} of {len(exercise.hints)} hints opened"
        self.state.value = _paragraph(f"{name}: {done}, {entry.tries} tries, {opened}")
        self.hint.disabled = entry.hints == len(exercise.hints)
        self.solution.disabled = not entry.solution_open
        self.solution.tooltip = f"Opens after a pass or {HONEST} different answers"
        hints = enumerate(exercise.hints[: entry.hints], 1)
        if not self.words.value.startswith("<pre"):
            self.words.value = "".join(_paragraph(f"Hint {n}: {text}") for n, text in hints)

    def _open_hint(self) -> None:
        self._change(lambda progress, lesson, name: next_hint(progress, lesson, name))

    def _open_solution(self) -> None:
        def show(progress: Progress, lesson: Any, name: str) -> None:
            progress.entry(lesson.name, name).solution = True
            self.words.value = f"<pre>{escape(lesson.reference(name))}</pre>"

        self._change(show)

    def _change(self, act: Any) -> None:
        try:
            with changing(self.workspace) as progress:
                act(progress, load_lesson(self.lesson.value), self.exercise.value)
        except CourseError as error:
            self.words.value = _paragraph(str(error))
            return
        self.refresh()


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _table(rows: list[Standing]) -> str:
    lines = ["<tr><th>lesson</th><th></th><th>points</th><th>exercises</th></tr>"]
    for row in rows:
        # The blocks say nothing to a screen reader that the numbers beside them do not.
        lines.append(
            f'<tr><th scope="row" style="text-align:left">{escape(row.lesson)}</th>'
            f'<td aria-hidden="true" style="font-family:monospace">{row.bar}</td>'
            f"<td>{row.earned}/{row.points}</td><td>{row.passed}/{row.exercises}</td></tr>"
        )
    return f'<table aria-label="Your progress">{"".join(lines)}</table>'
