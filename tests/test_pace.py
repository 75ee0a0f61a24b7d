"""The course is as long as it says, and every number of minutes comes from the one rule."""

import pytest

from course.lesson import Lesson, lesson_folders, load_lesson
from course.pace import exercise_minutes, reading_minutes, with_minutes

LESSONS = [load_lesson(folder.name) for folder in lesson_folders()]
EXERCISES = [exercise for lesson in LESSONS for exercise in lesson.exercises.values()]
HEAD = "**How long.** About {{ reading }} minutes of reading and {{ exercises }} minutes"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Lesson:
    from tests.course_helpers import CONTENT

    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    return load_lesson("7")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_four_to_eight_exercises(lesson: Lesson) -> None:
    assert len(lesson.exercises) in ([1] if lesson.number == 0 else range(4, 9))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_head_of_a_lesson_takes_its_minutes_from_the_rule(lesson: Lesson) -> None:
    (head,) = (cell.source for cell in lesson.cells if "**How long.**" in cell.source)
    assert HEAD in head


def test_the_course_takes_between_twelve_and_eighteen_hours() -> None:
    reading = sum(map(reading_minutes, LESSONS))
    exercises = sum(exercise_minutes(lesson, n) for lesson in LESSONS for n in lesson.exercises)
    assert 12 * 60 <= reading + exercises <= 18 * 60


def test_the_course_has_its_exercises_predictions_and_points() -> None:
    assert len(EXERCISES) >= 85
    assert sum(exercise.name.startswith("predict-") for exercise in EXERCISES) >= 20
    assert sum(exercise.points for exercise in EXERCISES) >= 800


def test_minutes_by_hand(small: Lesson) -> None:
    # One line each; of difficulty 1 and 2.
    assert exercise_minutes(small, "double") == 1 + 0.5 + 1
    assert exercise_minutes(small, "quadruple") == 1 + 0.5 + 2


def test_words_in_code_blocks_are_not_read_as_prose(small: Lesson) -> None:
    before = reading_minutes(small)
    prose = next(cell for cell in small.cells if cell.kind == "markdown")
    object.__setattr__(prose, "source", prose.source + "\n\n```\n" + "word " * 400 + "\n```")
    assert reading_minutes(small) == before
    object.__setattr__(prose, "source", prose.source + "\n" + "word " * 400)
    assert reading_minutes(small) == before + 2


def test_minutes_are_filled_in_to_five(small: Lesson) -> None:
    assert with_minutes(small, "{{ reading }} and {{ exercises }}") == "5 and 10"
    assert with_minutes(small, r"$\frac{{a}}{b}$") == r"$\frac{{a}}{b}$"
