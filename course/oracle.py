"""What the known answers of an exercise do: the reference, and each wrong one with its sentence.

It executes the course's own answers, in this process, so it must never run where a learner's code
is graded. Results are kept, since they depend on the lesson's text and the seed alone. Lesson 00.
"""

import linecache
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from course.checks import Case
from course.compare import alike
from course.draws import examples_of
from course.files import CourseError
from course.lesson import Answer, Lesson
from course.limits import TimeUp, time_limit
from course.observe import observe, value_of
from course.trial import CALL_SECONDS, Examples, Run, Trials, call, try_answer

EXECUTE_SECONDS = 20.0

_setups: dict[str, dict[str, Any]] = {}


def setup_names(lesson: Lesson) -> dict[str, Any]:
    """The names that the lesson's setup cells define; executed once for each text of the lesson."""
    if lesson.digest not in _setups:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for cell in lesson.setup:
            place = f"{lesson.folder / 'lesson.md'}:{cell.line}"
            error = execute(cell.source, namespace, place)
            if error is not None:
                raise CourseError(f"{place}: the setup cell failed: {error!r}") from error
        _setups[lesson.digest] = namespace
    return _setups[lesson.digest]


def execute(source: str, namespace: dict[str, Any], filename: str) -> BaseException | None:
    """Run a cell's text in `namespace` under a time limit; the error that ended it, if any."""
    # With the text at hand, an error can show the line that raised it.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        with time_limit(EXECUTE_SECONDS):
            exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    except KeyboardInterrupt:
        raise
    except (Exception, SystemExit, TimeUp) as error:
        return error
    return None


def names_with(lesson: Lesson, exercise: str, source: str, filename: str) -> dict[str, Any]:
    """A namespace with the setup, the reference answers of what is needed, and `source` executed.

    Where `source` raises, what it defined before that is there.
    """
    namespace = dict(setup_names(lesson))
    for need in lesson.all_needs(exercise):
        error = execute(lesson.reference(need), namespace, f"<reference answer of {need}>")
        if error is not None:
            raise CourseError(f"{lesson.name}: the reference of {need} failed: {error!r}")
    execute(source, namespace, filename)
    return namespace


class Oracle:
    """The known answers of one exercise under one seed."""

    def __init__(self, lesson: Lesson, exercise: str, seed: int) -> None:
        self.lesson = lesson
        self.exercise = lesson.exercises[exercise]
        self.seed = seed
        self._wrong: dict[str, Trials] = {}

    @cached_property
    def examples(self) -> Examples:
        """What the cases are tried on."""
        return examples_of(self.exercise, self.seed)

    @cached_property
    def secret(self) -> bool:
        """Whether the answer is a value, as in a prediction: what is expected gives it away."""
        names = self._reference_names
        return not any(callable(names.get(answer)) for answer in self.exercise.names)

    @cached_property
    def expected(self) -> Trials:
        """What the reference answer does, which is right by definition."""
        name, trials = self.exercise.name, self.read(self._seen)
        for case, runs in zip(self.exercise.cases, trials, strict=True):
            for run in runs:
                fault = _fault_of(run.seen)
                if fault:
                    raise CourseError(
                        f"{self.lesson.folder / 'checks.py'}:{self.exercise.line}: {name}, case "
                        f"{case.title!r}: the reference answer gives {fault}"
                    )
        return trials

    @cached_property
    def _seen(self) -> Trials:
        """What was seen of the reference, before any reader of a case's."""
        # It is right by definition and has no need to hurry, on a busy machine least of all.
        names, patience = self._reference_names, {"call_seconds": 20.0, "all_seconds": 60.0}
        return try_answer(self.exercise, names, self.seed, self.examples, **patience)

    def try_source(self, source: str, filename: str) -> Trials:
        """What the answer in `source` does, with the references of what it needs."""
        return self.try_names(names_with(self.lesson, self.exercise.name, source, filename))

    def try_names(self, namespace: Mapping[str, Any]) -> Trials:
        """What the answer in `namespace` does."""
        return self.read(try_answer(self.exercise, namespace, self.seed, self.examples))

    def read(self, seen: Trials) -> Trials:
        """Trials with what the cases' own readers make of what was seen."""
        return [
            [_read(case, a, b) for a, b in zip(ours, theirs, strict=True)]
            for case, ours, theirs in zip(self.exercise.cases, self._seen, seen, strict=True)
        ]

    def both_on(self, case: Case, example: Any, namespace: Mapping[str, Any]) -> tuple[Run, Run]:
        """What the reference and the answer in `namespace` do on one example of a case."""
        ours, theirs = (
            call(case, self.exercise, names, self.seed, example, CALL_SECONDS)
            for names in (self._reference_names, namespace)
        )
        return _read(case, ours, ours), _read(case, ours, theirs)

    @cached_property
    def _reference_names(self) -> dict[str, Any]:
        name = self.exercise.name
        source = self.lesson.reference(name)
        return names_with(self.lesson, name, source, f"<reference answer of {name}>")

    @cached_property
    def untouched(self) -> Trials:
        """What the answer cell does as a learner finds it."""
        name = self.exercise.name
        return self.try_source(self.lesson.stub(name), f"<stub of {name}>")

    def mistake_behind(self, seen: Trials) -> Answer | None:
        """The known wrong answer that does exactly what was seen in every case, if there is one."""
        wrongs = self.lesson.wrongs(self.exercise.name)
        return next((answer for answer in wrongs if all_alike(self._does(answer), seen)), None)

    def mistake_in(self, case: int, seen: Trials) -> str:
        """The sentence for one failing case, where one known wrong answer alone does the same.

        Of several slips made at once, each is found in the cases that show it.
        """
        told = [run.seen[0] not in _SAYS_LITTLE for run in seen[case]]
        found = [
            answer
            for answer in self.lesson.wrongs(self.exercise.name)
            if all(told) and all_alike([self._does(answer)[case]], [seen[case]])
        ]
        return found[0].says if len(found) == 1 else ""

    def _does(self, answer: Answer) -> Trials:
        if answer.name not in self._wrong:
            trials = self.try_source(answer.source, f"<wrong answer: {answer.name}>")
            self._wrong[answer.name] = trials
        return self._wrong[answer.name]


def all_alike(one: Trials, two: Trials) -> bool:
    """Whether two answers behaved alike in every case."""
    return all(
        alike(a.seen, b.seen)
        for runs, others in zip(one, two, strict=True)
        for a, b in zip(runs, others, strict=True)
    )


def _read(case: Case, ours: Run, theirs: Run) -> Run:
    if case.read is None or theirs.seen[0] in ("error", "missing", "late", "skipped"):
        return theirs
    try:
        seen = observe(case.read(value_of(ours.seen), value_of(theirs.seen)))
    except Exception:  # it is anybody's data, and never passes as it is
        seen = ["other", "something of another form"]
    return replace(theirs, seen=seen)


_SAYS_LITTLE = frozenset(("none", "error", "late", "skipped", "missing", "other"))
"""Kinds of results that many mistakes lead to."""


def _fault_of(tree: list[Any]) -> str:
    """Why an observation of the reference is no measure of right; empty where it is one."""
    if tree[0] == "error" and tree[1] in ("NotImplementedError", "NameError", "AssertionError"):
        return f"{tree[1]}: {tree[2]}"
    if tree[0] in ("other", "missing", "late", "skipped"):
        return " ".join(str(part) for part in tree)
    parts: list[Any] = []
    if tree[0] == "seq":
        parts = tree[1]
    elif tree[0] == "dict":
        parts = [part for pair in tree[1] for part in pair]
    return next((fault for part in parts if (fault := _fault_of(part))), "")


_oracles: dict[tuple[str, str, int], Oracle] = {}


def oracle_for(lesson: Lesson, exercise: str, seed: int) -> Oracle:
    """The oracle of an exercise, made once for each text of the lesson and each seed."""
    key = (lesson.digest, exercise, seed)
    if key not in _oracles:
        _oracles[key] = Oracle(lesson, exercise, seed)
    return _oracles[key]
