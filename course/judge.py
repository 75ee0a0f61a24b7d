"""The verdict on an answer: what was seen beside what the reference does, case by case.

It compares plain data and never touches the answer itself, so it gives the same verdict whether the
data were made a moment ago or in another process. Lesson 00.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from course.checks import Case
from course.compare import Difference, compare
from course.observe import Tree
from course.oracle import Oracle, all_alike
from course.trial import Run, Trials, fingerprint


@dataclass(frozen=True, slots=True)
class Failure:
    """The run of a case that went wrong, the simplest one where there are several."""

    tried: str
    """The example in Python's words; nothing where the case has none."""
    difference: Difference
    expected: Tree
    got: Tree
    printed: str = ""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """Points for one case, and where it failed if it did."""

    title: str
    points: float
    failure: Failure | None
    mistake: str = ""
    """The sentence of a known wrong answer that does the same in this case."""
    hint: str = ""
    """What to look at where this case fails."""

    @property
    def earned(self) -> float:
        """All of the case's points or none."""
        return self.points if self.failure is None else 0


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth and what there is to say about it."""

    lesson: str
    exercise: str
    title: str
    cases: tuple[CaseVerdict, ...] = ()
    mistake: str = ""
    """The sentence of the known wrong answer that behaves the same."""
    mistake_name: str = ""
    reason: str = ""
    """Why nothing could be tried: not written yet, not defined, no result."""
    notes: tuple[str, ...] = ()
    secret: bool = False
    """Whether what is expected is itself the answer, as in a prediction, and must not be shown."""

    fingerprint: str = ""
    """The same for two answers that did the same."""

    @property
    def points(self) -> float:
        """What the exercise is worth: a whole number, but for a teacher's own points."""
        return total_of(case.points for case in self.cases)

    @property
    def earned(self) -> float:
        """What the answer gets."""
        return total_of(case.earned for case in self.cases)

    @property
    def passed(self) -> bool:
        """Whether every case is right."""
        return bool(self.cases) and self.earned == self.points

    @property
    def failed(self) -> CaseVerdict | None:
        """The failing case to show: the first that is not explained, since cases grow harder."""
        wrong = [case for case in self.cases if case.failure]
        return next((case for case in wrong if not case.mistake), wrong[0] if wrong else None)

    @property
    def failure(self) -> Failure | None:
        """The failure to show."""
        return self.failed.failure if self.failed else None

    @property
    def explained(self) -> bool:
        """Whether the mistake, or that of every failing case, is known."""
        return bool(self.mistake or (self.failed and self.failed.mistake))

    def _ipython_display_(self) -> None:
        """Nothing: as a cell's last value it follows the words that `check` has printed."""

    def __repr__(self) -> str:
        return f"<{self.exercise}: {self.earned:g} of {self.points:g} points>"


def total_of(parts: Iterable[float]) -> float:
    """A sum that is an int where it is whole: thirds of points must make one."""
    total = round(sum(parts), 2)
    return int(total) if total == int(total) else total


def judge(seen: Trials, oracle: Oracle, notes: tuple[str, ...] = ()) -> Verdict:
    """Compare trials with the reference's under the same seed; name the mistake if it is known."""
    exercise = oracle.exercise
    runs = zip(exercise.cases, oracle.examples, oracle.expected, seen, strict=True)
    cases = tuple(
        CaseVerdict(case.title, case.points, _first_failure(case, *rest), hint=case.hint)
        for case, *rest in runs
    )
    verdict = Verdict(
        oracle.lesson.name,
        exercise.name,
        exercise.title,
        cases,
        reason=_reason(seen),
        notes=notes,
        secret=oracle.secret,
        fingerprint=fingerprint(seen),
    )
    if verdict.passed or verdict.reason:
        return verdict
    mistake = oracle.mistake_behind(seen)
    if mistake is not None:
        return replace(verdict, mistake=mistake.says, mistake_name=mistake.name)
    if all_alike(oracle.untouched, seen):
        return replace(verdict, reason="It is as it was: answer in the cell above and run it.")
    named = [
        replace(case, mistake=oracle.mistake_in(number, seen)) if case.failure else case
        for number, case in enumerate(cases)
    ]
    return replace(verdict, cases=tuple(named))


def nothing_seen(oracle: Oracle, reason: str, notes: tuple[str, ...] = ()) -> Verdict:
    """The verdict on an answer that gave no results at all."""
    exercise = oracle.exercise
    nothing: Tree = ["skipped"]
    difference = Difference("", reason, nothing, nothing)
    failure = Failure("", difference, nothing, nothing)
    cases = tuple(CaseVerdict(case.title, case.points, failure) for case in exercise.cases)
    name = oracle.lesson.name
    return Verdict(name, exercise.name, exercise.title, cases, reason=reason, notes=notes)


def with_ours(verdict: Verdict, helped: Verdict, broken: list[str]) -> Verdict:
    """The verdict on an answer that was tried again on our own earlier answers.

    `broken` are the earlier exercises where the learner's answer is not right; without any, the
    second try only names the mistake: on other right answers it may give other numbers.
    """
    if not broken:
        return replace(verdict, mistake=helped.mistake, mistake_name=helped.mistake_name)
    listed = ", ".join(broken)
    if helped.earned > verdict.earned:
        note = f"tried with our own answer to {listed}, since yours is not right yet"
        return replace(helped, notes=(*helped.notes, note))
    note = f"it builds on {listed}, where your answer is not right yet"
    return replace(verdict, notes=(*verdict.notes, note))


def _first_failure(
    case: Case, examples: list[Any], ours: list[Run], theirs: list[Run]
) -> Failure | None:
    for example, a, b in zip(examples, ours, theirs, strict=True):
        found = failure_of(case, example, a, b)
        if found is not None:
            return found
    return None


def failure_of(case: Case, example: Any, ours: Run, theirs: Run) -> Failure | None:
    """How one run differs from the reference's, if it does."""
    difference = compare(ours.seen, theirs.seen)
    if difference is None:
        return None
    tried = "" if case.draw is None else repr(example)
    return Failure(tried, difference, ours.seen, theirs.seen, theirs.printed)


def _reason(seen: Trials) -> str:
    """Why an answer could not be tried at all, where every run says the same."""
    firsts = [run.seen for runs in seen for run in runs]
    if all(tree[0] == "missing" for tree in firsts):
        return f"`{firsts[0][1]}` is not there yet: answer in the cell above and run it."
    if all(tree[0] == "error" and tree[1] == "NotImplementedError" for tree in firsts):
        return (
            "It is not written yet: the function still raises NotImplementedError. "
            "If you have written it, run its cell first."
        )
    return ""
