"""Forms for predictions: what they ask, what they make of it, and that the cell gets the answer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import IPython.display
import pytest

from course import asking as ask_module
from course.asking import AskedForm, ask
from course.forms import (
    Question,
    choice,
    number,
    open_entries,
    order,
    plain_value,
    shape,
    shape_and_dtype,
    written,
)
from course.grade.sandbox import environment
from course.lesson import lesson_folders, load_lesson, read_lesson
from course.oracle import oracle_for


@pytest.mark.parametrize(
    ("question", "fields", "value"),
    [
        (shape(), ["(2, 3)"], (2, 3)),
        (shape(), [" 4 "], (4,)),
        (shape(), ["(4,)"], (4,)),
        (shape(), ["()"], ()),
        (shape("error"), ["ERROR"], "error"),
        (number(), ["-2"], -2),
        (number(None), ["None"], None),
        (number(), ["1e-3"], 0.001),
        (plain_value("error"), ["[[1], [2]]"], [[1], [2]]),
        (choice((True, False), (False, True)), [(True, False)], (True, False)),
        (order("a", "b", "c"), ["c", "a", "b"], ["c", "a", "b"]),
        (shape_and_dtype(), ["2", "int64"], ((2,), "int64")),
    ],
)
def test_what_is_typed_or_chosen_becomes_pythons_value(
    question: Question, fields: list[Any], value: Any
) -> None:
    found = question.value(fields)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", ["2 by 3", "(2, x)", "__import__('os')", ""])
def test_what_cannot_be_read_is_answered_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 2, 3 or error"):
        shape("error").value([text])


def test_the_cell_gets_the_answer_and_keeps_the_rest() -> None:
    source = (
        "# gefragt: Größe ü\n"
        'sizes = {"ä": ..., "b": (..., ...),  # both\n'
        '         "c": ...}\n'
        "ask(...)\n"
    )
    found = written(source, "sizes", {"ä": "error", "b": (True, False)})
    assert found == (
        "# gefragt: Größe ü\n"
        'sizes = {"ä": \'error\', "b": (True, False),  # both\n'
        '         "c": ...}\n'
        "ask(...)\n"
    )
    names: dict[str, Any] = {"ask": lambda *arguments: None}
    exec(found, names)
    assert open_entries(names["sizes"]) == ["c"]
    assert written("order = None  # a list", "order", {"": ["a"]}) == "order = ['a']  # a list"
    assert open_entries(None) == [""] and open_entries(["a"]) == []


class Shell:
    """What `ask` uses of IPython's shell, and what was displayed."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.history_manager = SimpleNamespace(input_hist_raw=[""])
        self.next_input: tuple[str, bool] | None = None
        self.shown: list[Any] = []

    def set_next_input(self, text: str, replace: bool = False) -> None:
        self.next_input = (text, replace)

    def run(self, source: str) -> None:
        """Run a cell; what it puts in its own place is there afterwards."""
        self.next_input = None
        self.history_manager.input_hist_raw.append(source)
        exec(source, self.user_ns)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    made = Shell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: made)
    monkeypatch.setattr(IPython.display, "display", made.shown.append)
    ask_module._forms.clear()
    return made


def fields(shell: Shell) -> dict[str, list[Any]]:
    """The fields on show."""
    (form,) = ask_module._forms.values()
    assert shell.shown[-1] is form.box
    return form.fields


def choose(field: Any, label: str) -> None:
    """Choose an entry of a list by what it shows."""
    field.value = next(value for text, value in field.options if text == label)


def test_choose_run_again_and_the_cell_holds_the_answer(shell: Shell) -> None:
    stub = load_lesson("04").stub("predict-flags")
    shell.run(stub)
    assert shell.next_input is None and len(shell.shown) == 1
    for name, (field,) in fields(shell).items():
        assert field.description == name  # a label of its own, for a screen reader
    choose(fields(shell)["w"][0], "(True, True)")
    choose(fields(shell)["w[0]"][0], "(True, False)")
    form = ask_module._forms["flags"]
    assert "2 of 6 chosen" in form.words.value and 'role="status"' in form.words.value
    assert shell.user_ns["flags"]["w"] == (..., ...)  # what counts is the cell
    shell.run(stub)
    assert shell.next_input is not None and shell.next_input[1]
    text = shell.next_input[0]
    assert '"w": (True, True),' in text and '"w > q": (..., ...),' in text
    assert shell.user_ns["flags"]["w[0]"] == (True, False)
    assert len(fields(shell)) == 4  # the rest is asked again
    shell.run(text)
    assert shell.next_input is None and shell.user_ns["flags"]["w"] == (True, True)


def test_a_typed_answer_that_cannot_be_read_is_told_and_left_open(shell: Shell) -> None:
    stub = load_lesson("02").stub("predict-strides")
    shell.run(stub)
    fields(shell)["x[1]"][0].value = "one <b>"
    fields(shell)["x.t()"][0].value = "1, 6"
    words = ask_module._forms["strides"].words.value
    assert "x[1]: write it like 2, 3 or error." in words and "1 of 7 chosen" in words
    shell.run(stub)
    assert shell.next_input is not None
    assert '"x.t()": (1, 6)' in shell.next_input[0] and '"x[1]": ...' in shell.next_input[0]


def test_an_order_is_chosen_place_by_place(shell: Shell) -> None:
    stub = load_lesson("05").stub("predict-next")
    shell.run(stub)
    for field, label in zip(fields(shell)[""], ["loss", "d", "c", "b", "a"], strict=True):
        choose(field, label)
    shell.run(stub)
    assert shell.user_ns["order"] == ["loss", "d", "c", "b", "a"]
    assert shell.next_input is not None
    # The cell's text alone is right, as the grader takes it.
    oracle = oracle_for(load_lesson("05"), "predict-next", 1)
    seen = oracle.try_source(shell.next_input[0], "<chosen>")
    assert [[run.seen for run in runs] for runs in seen] == [
        [run.seen for run in runs] for runs in oracle.expected
    ]


def test_nothing_is_asked_in_the_sandbox_or_for_another_namespace(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ask("05_backward", "predict-next", {"order": None})
    assert shell.shown == []
    assert environment(tmp_path, tmp_path, 1)[ask_module.GRADING]
    monkeypatch.setenv(ask_module.GRADING, "1")
    shell.run(load_lesson("05").stub("predict-next"))
    assert shell.shown == []


def test_every_form_can_give_the_right_answer() -> None:
    """Each field of every form of the course is filled with what our answer holds."""
    asked = 0
    for folder in lesson_folders():
        lesson = load_lesson(folder.name)
        for exercise in lesson.exercises.values():
            if exercise.form is None:
                continue
            names: dict[str, Any] = {}
            exec(lesson.reference(exercise.name), names)
            (name,) = exercise.names
            right = names[name]
            for entry, value in right.items() if isinstance(right, dict) else [("", right)]:
                form = exercise.form
                question = form if isinstance(form, Question) else form[entry]
                parts = [value] if len(question.lists) == 1 else list(value)
                filled = [
                    part if listed else str(part)
                    for part, listed in zip(parts, question.lists, strict=True)
                ]
                assert question.value(filled) == value, (lesson.name, exercise.name, entry)
                assert all(p in ls for p, ls in zip(parts, question.lists, strict=True) if ls)
                AskedForm(name, {entry: question})
                asked += 1
    assert asked > 30


def test_a_form_asks_only_for_what_its_cell_has(tmp_path: Path) -> None:
    from course.files import CourseError
    from course.scaffold import new_lesson

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CONTENT", str(tmp_path))
        folder = new_lesson(30, "forms", "Forms")
        checks = folder / "checks.py"
        text = checks.read_text("utf-8").replace(
            "    hints=(", '    form={"nowhere": number()},\n    hints=(', 1
        )
        checks.write_text(
            text.replace("import Exercise\n", "import Exercise\nfrom course.forms import number\n"),
            "utf-8",
        )
        with pytest.raises(CourseError, match="has a form that asks for what its answer cell"):
            read_lesson(folder)
