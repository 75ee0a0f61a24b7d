"""Grades one submission: runs it in the sandbox, reruns what a dead kernel took along, judges.

The judging happens here, in the trusted process, with the reference's results under the same seed.
An exercise that killed its kernel, never ended or is wrong costs its own points and no other's:
what builds upon it is tried again with our own answer in its place. Lesson 00.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from course.draws import examples_of
from course.grade.sandbox import Limits, Outcome, fresh_root, run
from course.grade.splice import Graded, graded_cells
from course.grade.submission import Submission
from course.judge import Verdict, judge, nothing_seen, with_ours
from course.oracle import oracle_for
from course.trial import Trials, from_json

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|#x1B\[[0-9;]*m")


@dataclass(frozen=True)
class Attempt:
    """What the runs gave for one exercise: its trials, or why there are none."""

    trials: Trials | None = None
    reason: str = ""
    cell_error: str = ""


def grade(
    submission: Submission,
    seed: int,
    exercises: list[str] | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> list[Verdict]:
    """The verdicts on the exercises of a submission, all of them unless some are named."""
    verdicts = verdicts_on(submission, seed, attempt(submission, seed, exercises, limits))
    again = attempt_lent(submission, seed, to_lend(submission, verdicts), limits)
    verdicts = with_lent(submission, seed, verdicts, again)
    return [v for v in verdicts if exercises is None or v.exercise in exercises]


def attempt(
    submission: Submission, seed: int, exercises: list[str] | None, limits: Limits
) -> dict[str, Attempt]:
    """Run the submission; touches nothing but the sandbox, so several may run at once.

    With the exercises named come those that they build upon.
    """
    lesson = submission.lesson
    named = exercises or list(lesson.exercises)
    needed = {need for name in named for need in lesson.all_needs(name)}
    order = [name for name in lesson.exercises if name in named or name in needed]
    attempts = {name: Attempt(reason=_unanswered(submission, name)) for name in order}
    answered = [name for name in order if not attempts[name].reason]
    attempts |= _one_run(submission, order, answered, seed, limits)
    # A kernel that died took the later exercises along: each gets a kernel of its own.
    lost = [name for name in answered if attempts[name].trials is None]
    if len(answered) > 1:
        for name in lost:
            own = [*lesson.all_needs(name), name]
            attempts |= _one_run(submission, own, [name], seed, limits)
    return attempts


def to_lend(submission: Submission, verdicts: list[Verdict]) -> dict[str, list[str]]:
    """The exercises that our own earlier answers may help, each with those to be lent to it."""
    lesson = submission.lesson
    broken = {verdict.exercise for verdict in verdicts if not verdict.passed}
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        needs = lesson.all_needs(verdict.exercise)
        wrong = [need for need in needs if need in broken]
        if not (verdict.passed or verdict.reason or (verdict.mistake and not wrong)) and needs:
            found[verdict.exercise] = wrong or needs
    return found


def attempt_lent(
    submission: Submission, seed: int, lent: dict[str, list[str]], limits: Limits
) -> dict[str, Attempt]:
    """Run each of these exercises with our answers in the place of the learner's.

    Each in a kernel of its own, where nothing else is graded: a lent answer scores for nobody.
    """
    attempts: dict[str, Attempt] = {}
    for name, ours in lent.items():
        order = [*submission.lesson.all_needs(name), name]
        attempts |= _one_run(submission, order, [name], seed, limits, ours)
    return attempts


def with_lent(
    submission: Submission, seed: int, verdicts: list[Verdict], attempts: dict[str, Attempt]
) -> list[Verdict]:
    """The verdicts, with what the second attempts have added."""
    wrong = {verdict.exercise for verdict in verdicts if not verdict.passed}
    found: list[Verdict] = []
    for verdict in verdicts:
        trials = attempts[verdict.exercise].trials if verdict.exercise in attempts else None
        needs = submission.lesson.all_needs(verdict.exercise)
        broken = [need for need in needs if need in wrong]
        if trials is not None:
            oracle = oracle_for(submission.lesson, verdict.exercise, seed)
            helped = judge(oracle.read(trials), oracle)
            verdict = with_ours(verdict, helped, broken)
        elif broken and not verdict.passed:
            verdict = with_ours(verdict, verdict, broken)
        found.append(verdict)
    return found


def _unanswered(submission: Submission, name: str) -> str:
    """Why there is nothing to run for an exercise; empty where there is something."""
    text = "\n".join(submission.answers.get(name, [])).strip()
    if not text:
        return "There is no answer cell for it, or nothing in it."
    if text == submission.lesson.stub(name).strip():
        return "It is not written yet: the cell is as it was."
    return ""


def _one_run(
    submission: Submission,
    order: list[str],
    probed: list[str],
    seed: int,
    limits: Limits,
    lent: Sequence[str] = (),
) -> dict[str, Attempt]:
    if not probed:
        return {}
    lesson = submission.lesson
    with fresh_root() as root:
        cells = graded_cells(submission, order, probed, root / "box", seed, lent)
        outcome = run(cells, lesson.folder / "checks.py", limits, seed, root)
    found: dict[str, Attempt] = {}
    for name in probed:
        error = _cell_error(cells, outcome, name)
        try:
            examples = examples_of(lesson.exercises[name], seed)
            trials = from_json(outcome.results[name], examples)
            found[name] = Attempt(trials, cell_error=error)
        except KeyError:
            found[name] = Attempt(reason=_why_nothing(cells, outcome, name, limits))
        except ValueError:
            found[name] = Attempt(reason="What its run wrote down could not be read.")
    return found


def _why_nothing(cells: list[Graded], outcome: Outcome, name: str, limits: Limits) -> str:
    running = cells[outcome.last_cell].exercise if outcome.last_cell >= 0 else name
    errors = " ".join(text for i, text in outcome.errors.items() if cells[i].exercise == name)
    if "Timeout of" in errors:
        return f"It did not come to an end within {limits.cell_seconds:g} s."
    if outcome.ended == "late":
        return f"The run did not come to an end within {limits.wall_seconds:g} s."
    if outcome.ended == "died" and running == name:
        return "The kernel died while it ran (too much memory or time, or an exit)."
    if outcome.ended == "died":
        return f"The kernel had died before its turn, during {running or 'the setup'}."
    return "Its run wrote no results down."


def _cell_error(cells: list[Graded], outcome: Outcome, name: str) -> str:
    """The error that the answer's own cell ended with: its last line, as the kernel said it."""
    for number, cell in enumerate(cells):
        if cell.exercise == name and cell.role == "answer" and number in outcome.errors:
            text = _ESCAPES.sub("", outcome.errors[number])
            lines = [line.strip() for line in text.splitlines()]
            found = [
                x for x in lines if re.match(r"[A-Za-z_.]*(Error|Exception|Exit|Interrupt)\b", x)
            ]
            return found[-1][:300] if found else ""
    return ""


def verdicts_on(submission: Submission, seed: int, attempts: dict[str, Attempt]) -> list[Verdict]:
    """Judge what the runs gave, in the lesson's order."""
    verdicts: dict[str, Verdict] = {}
    for name in submission.lesson.exercises:
        if name not in attempts:
            continue
        found = attempts[name]
        oracle = oracle_for(submission.lesson, name, seed)
        if found.trials is None:
            verdict = nothing_seen(oracle, found.reason)
        else:
            verdict = judge(oracle.read(found.trials), oracle)
        if not verdict.passed:
            verdict = replace(verdict, notes=tuple(_notes(submission, found)))
        verdicts[name] = verdict
    return list(verdicts.values())


def _notes(submission: Submission, found: Attempt) -> list[str]:
    notes: list[str] = []
    if found.cell_error and "NotImplementedError" not in found.cell_error:
        notes.append(f"the answer's cell ended with {found.cell_error}")
    seen: list[Any] = [run.seen for runs in found.trials or [] for run in runs]
    texts = [found.cell_error, *(tree[2] for tree in seen if tree[0] == "error")]
    for missing in dict.fromkeys(re.findall(r"name '(\w+)' is not defined", " ".join(texts))):
        if any(
            re.search(rf"^(def|class) {missing}\b|^{missing} *=", s, re.M)
            for s in submission.others
        ):
            notes.append(
                f"`{missing}` is defined in a cell of your own: move it to the answer cell"
            )
    return notes
