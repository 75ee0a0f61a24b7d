"""Examples for the cases that hold for any input: drawn by hypothesis, and shrunk by it.

What is drawn depends on the seed and the strategy alone, so that a learner's notebook, the grader
and its sandbox try the same. It knows no answers: whether an example fails, it is told. Lesson 00.
"""

import ast
import contextlib
import random
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from unittest import mock

from course.checks import Case, Exercise
from course.files import CourseError
from course.limits import Clock
from course.trial import Examples

MOST = 40
"""So many different examples of a case are tried, or all that there are."""
MOST_SHRINKS = 500
SHRINK_SECONDS = 2.0

_drawing = threading.RLock()


def examples_of(exercise: Exercise, seed: int) -> Examples:
    """What to try each case of an exercise on."""
    return [[None] if case.draw is None else list(_drawn(case, seed)) for case in exercise.cases]


@cache
def _drawn(case: Case, seed: int) -> tuple[Any, ...]:
    """Different examples, the simplest first: those that are short to write down."""
    import hypothesis
    from hypothesis import strategies

    found: dict[str, Any] = {}

    def note(example: Any) -> None:
        found[repr(example)] = example

    strategy = case.draw(strategies) if case.draw else strategies.none()
    own = hypothesis.seed(seed ^ zlib.crc32(case.title.encode()))
    test = own(_settings(hypothesis.Phase.generate)(hypothesis.given(strategy)(note)))
    with _nothing_but_the_strategy():
        test()
    texts = sorted(found, key=lambda text: (len(text), text))
    for text in texts:
        if not _is_plain(text, found[text]):
            raise CourseError(f"case {case.title!r}: the example {text[:100]} is not plain data")
    return tuple(found[text] for text in texts)


def smallest(case: Case, fails: Callable[[Any], bool], seed: int) -> Any:
    """The simplest example that hypothesis finds to fail; None where it finds none in time."""
    import hypothesis
    from hypothesis import strategies

    clock = Clock(SHRINK_SECONDS)
    found: list[Any] = []

    def condition(example: Any) -> bool:
        if clock.left() <= 0 or not fails(example):
            return False
        found.append(example)
        return True

    if case.draw is None:
        return None
    phases = (hypothesis.Phase.generate, hypothesis.Phase.shrink)
    own = random.Random(seed ^ zlib.crc32(case.title.encode()))
    try:
        with _nothing_but_the_strategy():
            return hypothesis.find(
                case.draw(strategies), condition, settings=_settings(*phases), random=own
            )
    except hypothesis.errors.HypothesisException:
        # None was found, or the time was over, or an answer does something else at each call.
        return min(found, key=lambda example: len(repr(example)), default=None)


def _settings(*phases: Any) -> Any:
    import hypothesis

    return hypothesis.settings(
        phases=phases,
        max_examples=MOST if len(phases) == 1 else MOST_SHRINKS,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        derandomize=False,
        verbosity=hypothesis.Verbosity.quiet,
    )


@contextlib.contextmanager
def _nothing_but_the_strategy() -> Iterator[None]:
    """Draws that do not depend on which modules are loaded.

    Hypothesis mixes in constants that it reads in the source files around and notes in a folder
    `.hypothesis`: other ones on each computer.
    """
    with _drawing, contextlib.ExitStack() as stack:
        # Version 6.130 has no such constants yet, and a later one may keep them elsewhere: it draws
        # all the same, only not the same on each computer.
        with contextlib.suppress(ImportError, AttributeError):
            from hypothesis.internal.conjecture import providers

            none = type(providers.GLOBAL_CONSTANTS)()
            patch = mock.patch.object(providers.HypothesisProvider, "_local_constants", none)
            stack.enter_context(patch)
        yield


def _is_plain(text: str, example: Any) -> bool:
    try:
        return bool(ast.literal_eval(text) == example)
    except (ValueError, SyntaxError):
        return False
