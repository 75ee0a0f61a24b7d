"""The check at the foot of an exercise: `check("05_backward", "topological-order", globals())`.

It tries the learner's answer and the reference side by side in the notebook's own process, says
what differs, and notes the try. For grades the sandbox in `course.grade` decides, not this.
Lesson 00.
"""

import sys
from collections.abc import MutableMapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from course.draws import smallest
from course.feedback import explain, side_by_side
from course.files import CourseError
from course.grid import grid_html
from course.judge import Failure, Verdict, failure_of, judge, with_ours
from course.lesson import Lesson, load_lesson
from course.limits import memory_limit
from course.oracle import Oracle, names_with, oracle_for
from course.progress import Progress, changing
from course.workspace import workspace_of

MEMORY_MB = 4096


def check(lesson: str, exercise: str, namespace: MutableMapping[str, Any]) -> Verdict:
    """Try the answer that `namespace` holds, print what there is to say, and return the verdict."""
    try:
        read = load_lesson(lesson)
        if exercise not in read.exercises:
            known = ", ".join(read.exercises)
            raise CourseError(f"{lesson} has no exercise {exercise!r}; it has: {known}")
        with memory_limit(MEMORY_MB):
            verdict = verdict_on(read, exercise, namespace)
    except CourseError as error:
        # A fault of the course's or of the call: its text says all, our traceback would not help.
        print(f"course: {error}")
        return Verdict(lesson, exercise, exercise, reason=str(error))
    try:
        hint = _noted(read, verdict)
    except CourseError as error:
        hint = f"(your progress was not noted: {error})"
    show(verdict, hint)
    return verdict


def verdict_on(lesson: Lesson, exercise: str, namespace: MutableMapping[str, Any]) -> Verdict:
    """The verdict on the names in `namespace`, with our own earlier answers where those help."""
    oracle = oracle_for(lesson, exercise, lesson.seed)
    verdict = judge(oracle.try_names(namespace), oracle)
    broken = [] if verdict.passed else _failing_needs(lesson, exercise, namespace)
    needs = lesson.all_needs(exercise)
    if verdict.passed or not needs or (verdict.mistake and not broken):
        return shrunk(verdict, oracle, namespace)
    names = [name for need in broken or needs for name in lesson.exercises[need].names]
    with _ours(lesson, exercise, namespace, names):
        helped = shrunk(judge(oracle.try_names(namespace), oracle), oracle, namespace)
    return with_ours(shrunk(verdict, oracle, namespace), helped, broken)


def shrunk(verdict: Verdict, oracle: Oracle, namespace: MutableMapping[str, Any]) -> Verdict:
    """The verdict with the failure to show at the simplest example that can be found.

    The points stay: they come from the examples that everybody's answer is tried on.
    """
    failed = verdict.failed
    if verdict.explained or verdict.reason or failed is None or not failed.failure:
        return verdict
    case = next(case for case in oracle.exercise.cases if case.title == failed.title)
    if case.draw is None or failed.failure.got[0] in ("late", "skipped"):
        return verdict

    def failure_at(example: Any) -> Failure | None:
        return failure_of(case, example, *oracle.both_on(case, example, namespace))

    example = smallest(case, lambda example: failure_at(example) is not None, oracle.seed)
    found = None if example is None else failure_at(example)
    if found is None or len(found.tried) >= len(failed.failure.tried):
        return verdict
    cases = [replace(c, failure=found) if c is failed else c for c in verdict.cases]
    return replace(verdict, cases=tuple(cases))


def _failing_needs(lesson: Lesson, exercise: str, namespace: MutableMapping[str, Any]) -> list[str]:
    found = []
    for need in lesson.all_needs(exercise):
        oracle = oracle_for(lesson, need, lesson.seed)
        if not judge(oracle.try_names(namespace), oracle).passed:
            found.append(need)
    return found


class _ours:
    """Within it, `names` in the learner's namespace are the reference's; then theirs again."""

    def __init__(
        self, lesson: Lesson, exercise: str, namespace: MutableMapping[str, Any], names: list[str]
    ) -> None:
        reference = names_with(lesson, exercise, "", "<nothing>")
        self.namespace = namespace
        self.ours = {name: reference[name] for name in names}
        self.theirs = {name: namespace[name] for name in names if name in namespace}

    def __enter__(self) -> None:
        self.namespace.update(self.ours)

    def __exit__(self, *error: object) -> None:
        for name in self.ours:
            self.namespace.pop(name, None)
        self.namespace.update(self.theirs)


# ------------------------------------------------------------------ telling and noting


def _noted(lesson: Lesson, verdict: Verdict) -> str:
    """Write the try into the progress file, where there is one; the hint to show."""
    workspace = workspace_of(Path.cwd())
    hint = ""
    with nullcontext(Progress(Path())) if workspace is None else changing(workspace) as progress:
        if not verdict.reason:  # a cell that nobody has written in is no try
            progress.record(
                lesson.name, verdict.exercise, verdict.earned, verdict.points, verdict.fingerprint
            )
        if not (verdict.passed or verdict.explained or verdict.reason or _slip(verdict)):
            hint = _offered_hint(progress, lesson, verdict.exercise)
    if progress.set_aside:
        print(f"(the progress file could not be read; it is kept as {progress.set_aside})")
    return hint


def _slip(verdict: Verdict) -> bool:
    """Whether the answer fell over a misspelt name, for which its error says more than a hint."""
    got = verdict.failure.got if verdict.failure else ["none"]
    return bool(got[0] == "error" and got[1] in ("NameError", "UnboundLocalError", "SyntaxError"))


def _offered_hint(progress: Progress, lesson: Lesson, exercise: str) -> str:
    """The next hint but the last, which nearly is the answer: that one has to be asked for."""
    entry, count = progress.entry(lesson.name, exercise), len(lesson.exercises[exercise].hints)
    if entry.hints < count - 1:
        return next_hint(progress, lesson, exercise)
    if entry.hints < count:
        return f"There is one more hint: course hint {lesson.number} {exercise}"
    if entry.solution_open:
        return f"You have tried enough to see ours: course solution {lesson.number} {exercise}"
    return ""


def next_hint(progress: Progress, lesson: Lesson, exercise: str) -> str:
    """Open the next hint of an exercise and give its text; the last one again at the end."""
    hints = lesson.exercises[exercise].hints
    entry = progress.entry(lesson.name, exercise)
    entry.hints = min(entry.hints + 1, len(hints))
    return f"Hint {entry.hints} of {len(hints)}: {hints[entry.hints - 1]}"


def show(verdict: Verdict, hint: str) -> None:
    """Print the verdict, and draw the arrays that differ where a notebook can show them."""
    html, failure = grid_html(verdict), verdict.failure
    ipython = sys.modules.get("IPython")
    if html and failure and ipython and getattr(ipython.get_ipython(), "kernel", None):
        print(explain(verdict, columns=False))
        text = "\n".join(side_by_side(failure.difference.expected, failure.difference.got))
        ipython.display.display({"text/html": html, "text/plain": text}, raw=True)
        print(f"\n{hint}")
    else:
        print(explain(verdict, hint))
