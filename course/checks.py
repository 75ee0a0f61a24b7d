"""Exercises and the cases that try their answers.

A case takes an answer and a random generator and returns what it saw, as plain data. It holds no
expected value: the reference answer, tried with equal randomness, is the only measure. So these
files may lie open beside a learner's code. The module must not know where answers come from.
Lesson 00.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from course.files import CourseError
from course.forms import Form

Observer = Callable[..., object]
"""`f(answer, rng)`, or `f(answer, rng, example)` for a property; returns plain data."""

Reader = Callable[[Any, Any], Any]
"""`f(ours, theirs)`: what to compare, from what the reference and the answer were seen to do.

It runs where the verdict is made and not beside the answer, so that an answer cannot have a say in
it. A case has one where several results are right.
"""

Draw = Callable[[Any], Any]
"""From `hypothesis.strategies`, given as the argument, to the strategy that makes the examples."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try with an answer: once, or on every example that `draw` asks for."""

    title: str
    points: int
    function: Observer
    draw: Draw | None = None
    hint: str = ""
    """What to look at where this very case fails."""
    read: Reader | None = None


class Exercise:
    """One exercise: its name, the names its answer defines, its worth, its hints and its cases.

    `answer` is the name that the learner defines, or several; in the latter case an object with
    those attributes is tried. `needs` names earlier exercises that the answer builds upon.
    `form` says what a prediction's form asks for.

    >>> double = Exercise("double", answer="double", title="Twice", points=1,
    ...                   difficulty=1, hints=("Two times.", "x + x", "return x + x"))
    >>> @double.case("a number", points=1)
    ... def number(answer, rng):
    ...     return answer(3)
    >>> double.cases[0].title
    'a number'
    """

    def __init__(
        self,
        name: str,
        *,
        answer: str | Sequence[str],
        title: str,
        points: int,
        difficulty: int,
        needs: Iterable[str] = (),
        hints: Iterable[str] = (),
        form: Form | None = None,
    ) -> None:
        self.name = name
        self.answer = answer if isinstance(answer, str) else tuple(answer)
        self.title = title
        self.points = points
        self.difficulty = difficulty
        self.needs = tuple(needs)
        self.hints = tuple(hints)
        self.form = form
        self.cases: list[Case] = []
        self.line = _line_of_caller()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that an answer has to define."""
        return (self.answer,) if isinstance(self.answer, str) else self.answer

    def case(
        self, title: str, *, points: int, hint: str = "", read: Reader | None = None
    ) -> Callable[[Observer], Observer]:
        """Register the decorated `f(answer, rng)` as a case that is worth `points`."""
        return self._registered(title, points, None, hint, read)

    def property(
        self, title: str, *, points: int, draw: Draw, hint: str = "", read: Reader | None = None
    ) -> Callable[[Observer], Observer]:
        """Register `f(answer, rng, example)`, to be tried on many examples, the simplest first.

        `draw=lambda st: st.integers(1, 4)` says by hypothesis' strategies what an example is; it
        consists of plain numbers, text, lists, tuples and dicts. A small space is tried in full.
        """
        return self._registered(title, points, draw, hint, read)

    def _registered(
        self, title: str, points: int, draw: Draw | None, hint: str, read: Reader | None
    ) -> Callable[[Observer], Observer]:
        def register(function: Observer) -> Observer:
            wanted = 2 if draw is None else 3
            taken = len(inspect.signature(function).parameters)
            if taken != wanted:
                form = "(answer, rng)" if draw is None else "(answer, rng, example)"
                raise CourseError(
                    f"case {title!r} of {self.name} takes {taken} arguments, not {wanted}: {form}"
                )
            self.cases.append(Case(title, points, function, draw, hint, read))
            return function

        return register

    def __repr__(self) -> str:
        return f"Exercise({self.name!r}, points={self.points}, cases={len(self.cases)})"


def _line_of_caller() -> int:
    return sys._getframe(2).f_lineno


def load_exercises(path: Path) -> dict[str, Exercise]:
    """The exercises that a `checks.py` defines, by name, in their order there."""
    # Compiled here and not imported, so that no __pycache__ appears among a lesson's sources.
    module = ModuleType("course_checks")
    module.__file__ = str(path)
    try:
        text = path.read_text(encoding="utf-8")
        exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    except CourseError as error:
        raise CourseError(f"{path}:{_line_in(error, path)}: {error}") from error
    except Exception as error:
        line = _line_in(error, path)
        raise CourseError(f"{path}:{line}: {type(error).__name__}: {error}") from error
    found: dict[str, Exercise] = {}
    for value in vars(module).values():
        if isinstance(value, Exercise):
            if value.name in found and found[value.name] is not value:
                raise CourseError(f"{path}:{value.line}: the exercise {value.name} is there twice")
            found[value.name] = value
    return found


def _line_in(error: BaseException, path: Path) -> int:
    """The last line of `path` that an error came through."""
    line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
    trace: Any = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
