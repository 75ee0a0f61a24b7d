"""A form under a prediction's cell: `ask("04_graph", "predict-flags", globals())`.

Whoever rather chooses than types answers there and runs the cell once more: the cell then holds the
answer as Python, which alone is checked and graded. Nothing else is stored. Lesson 00.
"""

import os
import sys
from collections.abc import MutableMapping
from html import escape
from typing import Any

from course.forms import Question, open_entries, written

GRADING = "COURSE_GRADING"
"""The variable by which the sandbox says that nobody is there to be asked."""

_forms: dict[str, "AskedForm"] = {}
"""The form of each answer that is on show, by the answer's name."""


def ask(lesson: str, exercise: str, namespace: MutableMapping[str, Any]) -> None:
    """Show a form for what is not answered yet; what was chosen in it before goes into the cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or namespace is not shell.user_ns or os.environ.get(GRADING):
        return
    from course.lesson import load_lesson

    found = load_lesson(lesson).exercises[exercise]
    (name,) = found.names
    earlier = _forms.pop(name, None)
    chosen = earlier.chosen() if earlier else {}
    if chosen:
        source = shell.history_manager.input_hist_raw[-1]
        shell.set_next_input(written(source, name, chosen), replace=True)
        if "" in chosen:
            namespace[name] = chosen[""]
        else:
            namespace[name].update(chosen)
    entries = open_entries(namespace.get(name))
    form = found.form
    questions = {
        entry: form if isinstance(form, Question) else form[entry]
        for entry in entries
        if isinstance(form, Question) or (form is not None and entry in form)
    }
    if questions:
        _forms[name] = shown = AskedForm(name, questions)
        ipython.display.display(shown.box)  # type: ignore[union-attr]


class AskedForm:
    """The fields of a form, and what was chosen in them."""

    def __init__(self, name: str, questions: dict[str, Question]) -> None:
        import ipywidgets as widgets

        self.name, self.questions = name, questions
        self.fields = {
            entry: [_field(entry or name, question, i) for i in range(len(question.lists))]
            for entry, question in questions.items()
        }
        self.words = widgets.HTML()
        rows = [widgets.HBox(fields) for fields in self.fields.values()]
        self.box = widgets.VBox([*rows, self.words])
        for fields in self.fields.values():
            for field in fields:
                field.observe(lambda change: self._say(), names="value")
        self._say()

    def chosen(self) -> dict[str, Any]:
        """The entries that are filled in and can be read, with their values."""
        return {entry: value for entry, (value, problem) in self._read().items() if not problem}

    def _read(self) -> dict[str, tuple[Any, str]]:
        found: dict[str, tuple[Any, str]] = {}
        for entry, question in self.questions.items():
            fields = self.fields[entry]
            if any(field.value in (None, "") for field in fields):
                continue
            pairs = zip(question.lists, fields, strict=True)
            values = [listed[f.value] if listed else f.value for listed, f in pairs]
            try:
                found[entry] = question.value(values), ""
            except ValueError as error:
                found[entry] = None, str(error)
        return found

    def _say(self) -> None:
        read = self._read()
        done = {entry: value for entry, (value, problem) in read.items() if not problem}
        lines = [
            f"{escape(entry or self.name)}: {escape(problem)}."
            for entry, (_, problem) in read.items()
            if problem
        ]
        lines.append(f"{len(done)} of {len(self.questions)} chosen.")
        if done:
            shown = ", ".join(
                f"{entry!r}: {v!r}" if entry else repr(v) for entry, v in done.items()
            )
            lines.append(
                "Run the cell once more (click into it, or leave the form with Shift+Tab; then "
                "Shift+Enter), and it holds your answer as Python. If it does not, write it there "
                f"yourself: <code>{escape(shown)}</code>"
            )
        self.words.value = f'<div role="status">{" ".join(lines)}</div>'


def _field(label: str, question: Question, place: int) -> Any:
    """A widget with a label of its own, which screen readers read, too."""
    import ipywidgets as widgets

    listed = question.lists[place]
    several = len(question.lists) > 1
    look = {
        "description": f"{label}, {place + 1} of {len(question.lists)}" if several else label,
        "style": {"description_width": "initial"},
        "layout": {"width": "auto"},
    }
    if listed:
        options = [("choose", None), *((str(value), i) for i, value in enumerate(listed))]
        return widgets.Dropdown(options=options, **look)
    return widgets.Text(placeholder=question.example, **look)
