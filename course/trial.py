"""Trying an answer: every case, every example, with equal randomness each time, under a time limit.

The same function runs in a learner's notebook, in the grader's sandbox and over the reference
answer; what comes out is plain data and says nothing about right or wrong. Lesson 00.
"""

import contextlib
import copy
import hashlib
import io
import json
import linecache
import random
import sys
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from course.checks import Case, Exercise
from course.limits import Clock, TimeUp, time_limit
from course.observe import Tree, is_observation, observe


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a case: what was seen, and the last of what was printed and warned meanwhile."""

    seen: Tree
    printed: str = ""


Trials = list[list[Run]]
"""One list for each case of the exercise, in it one run for each example."""

Examples = list[list[Any]]
"""For each case what to try it on; a case without examples is tried once, on a None."""

CALL_SECONDS = 2.0
ALL_SECONDS = 8.0
IMPATIENT_SECONDS = 0.8


def try_answer(
    exercise: Exercise,
    namespace: Mapping[str, Any],
    seed: int,
    examples: Examples,
    call_seconds: float = CALL_SECONDS,
    all_seconds: float = ALL_SECONDS,
) -> Trials:
    """Run all cases of `exercise` on the answer that `namespace` holds under the exercise's names.

    A call that outlives `call_seconds` is noted as late, the case's other examples are left out and
    the calls after it get less time; after `all_seconds` nothing more is tried. Errors of the
    answer are noted and never raised.
    """
    # A prediction that nobody has made is None; no answer is.
    missing = [name for name in exercise.names if namespace.get(name) is None]
    if missing:
        return [[Run(["missing", missing[0]]) for _ in tried] for tried in examples]
    answer = _answer_of(exercise, namespace)
    clock = Clock(all_seconds)
    trials: Trials = []
    for case, tried in zip(exercise.cases, examples, strict=True):
        trials.append(_try_case(case, tried, answer, namespace, seed, call_seconds, clock))
        if trials[-1][-1].seen[0] in ("late", "skipped"):  # an endless loop seldom comes alone
            call_seconds = min(call_seconds, IMPATIENT_SECONDS)
    return trials


def _answer_of(exercise: Exercise, namespace: Mapping[str, Any]) -> Any:
    if isinstance(exercise.answer, str):
        return namespace[exercise.answer]
    return SimpleNamespace(**{name: namespace[name] for name in exercise.names})


def _try_case(
    case: Case,
    examples: list[Any],
    answer: Any,
    namespace: Mapping[str, Any],
    seed: int,
    call_seconds: float,
    clock: Clock,
) -> list[Run]:
    runs: list[Run] = []
    for example in examples:
        left = clock.left()
        late = bool(runs) and runs[-1].seen[0] in ("late", "skipped")
        if late or left <= 0:
            runs.append(Run(["skipped"]))
        else:
            runs.append(_call(case, answer, namespace, seed, example, min(call_seconds, left)))
    return runs


def call(
    case: Case,
    exercise: Exercise,
    namespace: Mapping[str, Any],
    seed: int,
    example: Any,
    seconds: float,
) -> Run:
    """One run of a case, as `try_answer` makes many."""
    return _call(case, _answer_of(exercise, namespace), namespace, seed, example, seconds)


def _call(
    case: Case,
    answer: Any,
    namespace: Mapping[str, Any],
    seed: int,
    example: Any,
    seconds: float,
) -> Run:
    parts = [seed, zlib.crc32(f"{case.title} {example!r}".encode())]
    rng = np.random.default_rng(parts)
    # A copy of its own: an answer may change what it is given.
    more = () if case.draw is None else (copy.deepcopy(example),)
    printed = io.StringIO()
    clock = Clock(1.5 * seconds + 0.1)
    try:
        with (
            _seeded(zlib.crc32(repr(parts).encode())),
            contextlib.redirect_stdout(printed),
            _warnings_to(printed),
            time_limit(seconds),
        ):
            seen = observe(case.function(answer, rng, *more))
    except TimeUp:
        seen = ["late", str(seconds)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a sys.exit() of the answer's is an error like any other
        seen = note_error(error, namespace)
    # An answer may have swallowed the alarm and come back late.
    if clock.left() <= 0:
        seen = ["late", str(seconds)]
    return Run(seen, printed.getvalue()[-1000:])


@contextlib.contextmanager
def _warnings_to(printed: io.StringIO) -> Iterator[None]:
    """Warnings go where the prints go: a known wrong answer's should not reach the learner."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for text in dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught):
                print(text, file=printed)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Python's, NumPy's and the engine's generators seeded, and put back afterwards."""
    engine = sys.modules.get("tinygrad_course.random")
    python, legacy = random.getstate(), np.random.get_state()
    stream = engine.default_generator.get_state() if engine is not None else None
    random.seed(seed)
    np.random.seed(seed)
    if engine is not None:
        engine.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)
        if engine is not None:
            engine.default_generator.set_state(stream)


def note_error(error: BaseException, namespace: Mapping[str, Any]) -> Tree:
    """An error as data: its class, its words, and the line of the learner's that raised it."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        # The learner's own lines are those that run in the learner's own names.
        if trace.tb_frame.f_globals is namespace:
            name = trace.tb_frame.f_code.co_filename
            line = linecache.getline(name, trace.tb_lineno).strip()
            where = f"line {trace.tb_lineno}: {line}" if line else f"line {trace.tb_lineno}"
        trace = trace.tb_next
    try:
        words = str(error)
    except BaseException:  # an error class of the answer's own may fail even at this
        words = ""
    texts = [type(error).__qualname__[:100], words[:500], where[:200]]
    return ["error", *(t.encode("utf-8", "replace").decode("utf-8") for t in texts)]


# ------------------------------------------------------------------ as JSON


def to_json(trials: Trials) -> list[list[list[Any]]]:
    """Trials as lists that `json` can write."""
    return [[[run.seen, run.printed] for run in runs] for runs in trials]


def fingerprint(trials: Trials) -> str:
    """A short text that is the same for answers that were seen to do the same."""
    seen = json.dumps([[run.seen for run in runs] for runs in trials])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def from_json(data: object, examples: Examples) -> Trials:
    """Trials from what an untrusted process wrote; ValueError where that is not their form."""
    if type(data) is not list or len(data) != len(examples):
        raise ValueError("not one list for each case")
    trials: Trials = []
    for tried, runs in zip(examples, data, strict=True):
        if type(runs) is not list or len(runs) != len(tried):
            raise ValueError("not one run for each example")
        for run in runs:
            good = type(run) is list and len(run) == 2 and type(run[1]) is str
            if not good or not is_observation(run[0]):
                raise ValueError("not an observation")
        trials.append([Run(seen, printed[-1000:]) for seen, printed in runs])
    return trials
