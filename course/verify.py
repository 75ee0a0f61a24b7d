"""Proof of the checks: every known answer is tried, and must be judged as it is known to be.

Right answers pass, wrong ones fail and are recognised by their own sentence, stubs and empty
answers get nothing. Each exercise runs in a process of its own that can be stopped. Lesson 00.
"""

import ast
import multiprocessing
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from course.files import CourseError
from course.judge import judge
from course.lesson import Lesson, load_lesson
from course.oracle import oracle_for

SEEDS = (1, 2, 3)
EXERCISE_SECONDS = 600.0
"""For what hangs beyond the limits of its calls, and so of no weight on a busy machine."""


@dataclass
class Score:
    """How many answers of each sort there were and how many were judged as they should be."""

    wrong: int = 0
    caught: int = 0
    right: int = 0
    passed: int = 0
    empty: int = 0
    zero: int = 0
    faults: list[str] = field(default_factory=list)

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.wrong + other.wrong,
            self.caught + other.caught,
            self.right + other.right,
            self.passed + other.passed,
            self.empty + other.empty,
            self.zero + other.zero,
            self.faults + other.faults,
        )

    @property
    def perfect(self) -> bool:
        """Whether nothing was misjudged."""
        counts = (self.wrong, self.right, self.empty) == (self.caught, self.passed, self.zero)
        return counts and not self.faults

    def __str__(self) -> str:
        return (
            f"wrong answers caught {self.caught}/{self.wrong} · "
            f"right answers passed {self.passed}/{self.right} · "
            f"empty answers scoring 0: {self.zero}/{self.empty}"
        )


def verify_exercise(lesson: Lesson, exercise: str) -> Score:
    """Try every known answer of one exercise, under several seeds."""
    score = Score()

    def fault(what: str) -> None:
        score.faults.append(f"{lesson.name} {exercise}: {what}")

    oracles = [oracle_for(lesson, exercise, seed) for seed in SEEDS]
    for answer in lesson.rights(exercise):
        score.right += 1
        verdicts = [judge(o.try_source(answer.source, f"<{answer.name}>"), o) for o in oracles]
        bad = next((v for v in verdicts if not v.passed), None)
        if bad is None:
            score.passed += 1
        else:
            what = (
                f"{bad.failed.title!r}: {bad.failure.difference.what}"
                if bad.failed and bad.failure
                else ""
            )
            fault(f"the right answer {answer.name!r} fails the case {what}")
    for answer in lesson.wrongs(exercise):
        score.wrong += 1
        verdicts = [judge(o.try_source(answer.source, f"<{answer.name}>"), o) for o in oracles]
        if any(v.passed for v in verdicts):
            fault(f"the wrong answer {answer.name!r} passes")
        elif any(v.mistake_name != answer.name for v in verdicts):
            taken = next(v.mistake_name for v in verdicts if v.mistake_name != answer.name)
            how = f"taken for {taken!r}" if taken else "not recognised by its sentence"
            fault(f"the wrong answer {answer.name!r} fails, but is {how}")
        else:
            score.caught += 1
    for name, source in empty_answers(lesson, exercise).items():
        score.empty += 1
        verdicts = [judge(o.try_source(source, f"<{name}>"), o) for o in oracles]
        if any(v.earned for v in verdicts):
            cases = [c.title for v in verdicts for c in v.cases if c.earned]
            fault(f"{name} gets points for {cases[0]!r}")
        else:
            score.zero += 1
    return score


def empty_answers(lesson: Lesson, exercise: str) -> dict[str, str]:
    """Answers that do nothing: the stub, no text at all, and the reference with its body gone."""
    reference = lesson.reference(exercise)
    return {
        "the stub": lesson.stub(exercise),
        "an empty cell": "",
        **{f"an answer of `{line}` alone": hollow(reference, line) for line in LINES},
    }


LINES = ("return None", "return 0", "return True", "return []", "raise ValueError")


def hollow(source: str, line: str) -> str:
    """`source` with `line` for the body of every function, and None for every assigned name.

    >>> print(hollow("def f(x):\\n    return x + 1", "return None"))
    def f(x):
        return None
    """

    class Emptier(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            (function,) = ast.parse(f"def f():\n    {line}").body
            node.body = function.body  # type: ignore[attr-defined]
            return node

        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            node.value = ast.Constant(None)
            return node

    return ast.unparse(ast.fix_missing_locations(Emptier().visit(ast.parse(source))))


# ------------------------------------------------------------------ all of them, in processes


def _work(lesson: str, exercise: str, pipe: Connection) -> None:
    try:
        pipe.send(verify_exercise(load_lesson(lesson), exercise))
    except CourseError as error:
        pipe.send(Score(faults=[str(error)]))
    except Exception as error:
        pipe.send(Score(faults=[f"{lesson} {exercise}: {type(error).__name__}: {error}"]))


def verify(lessons: list[Lesson], jobs: int | None = None) -> Iterator[tuple[str, str, Score]]:
    """Verify all exercises, `jobs` at a time; yields lesson, exercise, score as they come."""
    waiting = [(lesson.name, exercise) for lesson in lessons for exercise in lesson.exercises]
    jobs = jobs or os.cpu_count() or 1
    # Fresh interpreters: a forked one would share what an answer patched in an earlier exercise.
    context = multiprocessing.get_context("spawn")
    running: dict[tuple[str, str], tuple[BaseProcess, Connection, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            receiver, sender = context.Pipe(duplex=False)
            process: BaseProcess = context.Process(target=_work, args=(*name, sender), daemon=True)
            process.start()
            sender.close()
            running[name] = (process, receiver, time.monotonic() + EXERCISE_SECONDS)
        for name, (process, receiver, deadline) in list(running.items()):
            score = _result(name, process, receiver, deadline)
            if score is not None:
                del running[name]
                yield (*name, score)
        time.sleep(0.02)


def _result(
    name: tuple[str, str], process: BaseProcess, receiver: Connection, deadline: float
) -> Score | None:
    """The score of a process that has ended or is overdue, else None."""
    place = " ".join(name)
    score: Score | None = None
    if receiver.poll():
        try:
            score = receiver.recv()
        except EOFError:
            score = Score(faults=[f"{place}: the process died without a result"])
    elif time.monotonic() > deadline:
        score = Score(faults=[f"{place}: not done within {EXERCISE_SECONDS:.0f} s"])
    if score is not None:
        process.kill()
        process.join()
        receiver.close()
    return score
