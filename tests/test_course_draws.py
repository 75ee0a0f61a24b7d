"""Properties: what is drawn, in which order, and how a failing example shrinks."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from hypothesis.internal import conjecture

from course import draws
from course.checks import Case, Exercise
from course.draws import MOST, examples_of, smallest
from course.files import CourseError
from course.trial import call, try_answer


def exercise_with(draw: Any) -> Exercise:
    """An exercise of one property whose observation is the answer's result."""
    found = Exercise("any", answer="f", title="Any", points=1, difficulty=1)
    found.property("any", points=1, draw=draw)(lambda answer, rng, example: answer(example))
    return found


def pairs(st: Any) -> Any:
    return st.tuples(st.lists(st.integers(-5, 5), max_size=6).map(tuple), st.booleans())


def drawn(draw: Any, seed: int = 3) -> list[Any]:
    (examples,) = examples_of(exercise_with(draw), seed)
    return examples


def test_a_small_space_is_tried_in_full_the_smallest_first() -> None:
    assert drawn(lambda st: st.integers(1, 12)) == list(range(1, 13))
    assert drawn(lambda st: st.booleans()) == [True, False]  # the shorter word first


def test_a_large_space_gives_different_examples_in_order_of_length() -> None:
    found = drawn(pairs)
    assert len({repr(example) for example in found}) == len(found)
    assert MOST // 2 < len(found) <= MOST
    assert [len(repr(e)) for e in found] == sorted(len(repr(e)) for e in found)
    assert found[0] == ((), True)


def test_other_seeds_draw_other_examples_and_equal_ones_the_same() -> None:
    assert drawn(pairs, 3) == drawn(pairs, 3)
    assert drawn(pairs, 3) != drawn(pairs, 4)


def test_another_process_draws_the_same_and_leaves_no_files(tmp_path: Path) -> None:
    """A sandbox, a grader and a notebook have other modules loaded, and other folders."""
    code = (
        "import course.cli, tests.test_course_draws as t\n"
        "print(t.drawn(t.pairs), t.drawn(lambda st: st.floats(0, 1)))"
    )
    root = str(Path(__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": "7"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert found.strip() == f"{drawn(pairs)} {drawn(lambda st: st.floats(0, 1))}"
    assert list(tmp_path.iterdir()) == []


def test_a_hypothesis_that_keeps_its_constants_elsewhere_draws_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # it notes there what it reads
    monkeypatch.setattr(conjecture, "providers", ModuleType("providers"))
    assert drawn(lambda st: st.integers(1, 11)) == list(range(1, 12))
    assert len(drawn(pairs, 77)) > MOST // 2


def test_a_learners_own_profile_of_hypothesis_changes_no_examples() -> None:
    before, profile = drawn(pairs, 5), hypothesis.settings.get_current_profile_name()
    draws._drawn.cache_clear()
    hypothesis.settings.register_profile("own", max_examples=3, derandomize=True, database=None)
    hypothesis.settings.load_profile("own")
    try:
        assert drawn(pairs, 5) == before
    finally:
        hypothesis.settings.load_profile(profile)


def test_what_is_no_plain_data_is_refused() -> None:
    with pytest.raises(CourseError, match="is not plain data"):
        drawn(lambda st: st.builds(object))


def test_an_answer_that_changes_its_example_changes_a_copy() -> None:
    exercise = exercise_with(lambda st: st.lists(st.integers(0, 3), min_size=1, max_size=3))
    examples = examples_of(exercise, 3)
    before = [list(example) for example in examples[0]]
    try_answer(exercise, {"f": lambda example: example.clear()}, 3, examples)
    assert examples[0] == before


@pytest.mark.parametrize(
    ("wrong", "least"),
    [
        (lambda xs: len(xs[0]) > 2, ((0, 0, 0), False)),
        (lambda xs: xs[1] and max(xs[0], default=0) > 3, ((4,), True)),
        (lambda xs: -2 in xs[0], ((-2,), False)),
    ],
)
def test_hypothesis_shrinks_to_the_smallest_failing_example(wrong: Any, least: Any) -> None:
    (case,) = exercise_with(pairs).cases
    assert smallest(case, wrong, 3) == least


def test_nothing_fails_or_the_answer_changes_its_mind() -> None:
    (case,) = exercise_with(pairs).cases
    assert smallest(case, lambda example: False, 3) is None
    seen: list[Any] = []

    def fickle(example: Any) -> bool:
        seen.append(example)
        return len(seen) == 5

    assert smallest(case, fickle, 3) == seen[4]


def test_one_run_is_as_one_of_many() -> None:
    exercise = exercise_with(lambda st: st.integers(1, 3))
    case: Case = exercise.cases[0]
    names = {"f": lambda n: n * 2}
    (runs,) = try_answer(exercise, names, 3, [[1, 2, 3]])
    assert call(case, exercise, names, 3, 2, 1.0) == runs[1]
