"""How far a learner is: the lessons of the course beside the notes of what was done.

Commands and the panel show it. It reads and writes no files. Lesson 00.
"""

from dataclasses import asdict, dataclass
from typing import Any

from course.lesson import Lesson
from course.progress import Predictions, Progress


@dataclass(frozen=True, slots=True)
class Standing:
    """One lesson: points earned and to be had, exercises solved, hints and solutions opened, steps
    of a backward pass predicted, and how many of them rightly."""

    lesson: str
    title: str
    earned: int
    points: int
    passed: int
    exercises: int
    hints: int
    solutions: int
    predictions: int = 0
    predicted: int = 0

    @property
    def bar(self) -> str:
        """The share of the points as ten blocks.

        >>> Standing("00", "Start", 3, 10, 1, 2, 0, 0).bar
        '███░░░░░░░'
        """
        done = 10 * self.earned // self.points if self.points else 10
        return "█" * done + "░" * (10 - done)

    def as_data(self) -> dict[str, Any]:
        """The numbers by name."""
        return asdict(self)


def standing(progress: Progress, lesson: Lesson) -> Standing:
    """How far a learner is in one lesson."""
    entries = {name: progress.entry(lesson.name, name) for name in lesson.exercises}
    predictions = progress.predictions.get(lesson.name, Predictions())
    points = {name: exercise.points for name, exercise in lesson.exercises.items()}
    return Standing(
        lesson=lesson.name,
        title=lesson.title,
        # An exercise may be worth less in this release than it was when it was solved.
        earned=sum(min(entries[name].earned, points[name]) for name in points),
        points=sum(points.values()),
        passed=sum(entry.passed for entry in entries.values()),
        exercises=len(entries),
        hints=sum(entry.hints for entry in entries.values()),
        solutions=sum(entry.solution for entry in entries.values()),
        predictions=predictions.answered,
        predicted=predictions.right,
    )


def predictions(progress: Progress) -> str:
    """All predictions, those outside the lessons too, in a sentence; "" where there is none."""
    answered = sum(each.answered for each in progress.predictions.values())
    right = sum(each.right for each in progress.predictions.values())
    return f"{right} of {answered} predictions were right" if answered else ""
