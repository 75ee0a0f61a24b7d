"""How long a lesson takes: counted from its sources by one rule, which course/TEACHING.md states.

Nobody writes minutes down, so they cannot go stale. It knows cells and exercises, and nothing of
the learners, who are as quick as they are. Lesson 00.
"""

import re

from course.lesson import Cell, Lesson

WORDS_A_MINUTE = 200
DEMO = 0.5
"""Minutes to run a cell, read it, and look at what it shows, numbers or a picture."""
TASK = 1.0
"""Minutes to read what an exercise asks."""
LINE = 0.5
"""Minutes to write one line."""
TRIES = {1: 1.0, 2: 2.0, 3: 4.0}
"""Minutes to think, try and mend, by difficulty."""
_FENCED = re.compile(r"(`{3,}|~{3,}).*?\1", re.DOTALL)
_PLACE = re.compile(r"\{\{ (reading|exercises) \}\}")


def reading_minutes(lesson: Lesson) -> float:
    """The time for the prose and the demos."""
    given = [cell for cell in lesson.cells if cell.role != "answer"]
    words = sum(_words(cell) for cell in given if cell.kind == "markdown")
    return words / WORDS_A_MINUTE + DEMO * sum(cell.kind == "code" for cell in given)


def _words(cell: Cell) -> int:
    return len(_FENCED.sub("", cell.source).split())


def exercise_minutes(lesson: Lesson, name: str) -> float:
    """The time for one exercise, by its difficulty and the lines that the stub lacks."""
    stub = lesson.stub(name).splitlines()
    lines = [line for line in lesson.reference(name).splitlines() if line not in stub]
    written = sum(line.strip() != "" and not line.strip().startswith("#") for line in lines)
    return TASK + LINE * written + TRIES[lesson.exercises[name].difficulty]


def with_minutes(lesson: Lesson, text: str) -> str:
    """`text` with `{{ reading }}` and `{{ exercises }}` filled in, to five minutes."""
    if not _PLACE.search(text):
        return text
    minutes = {
        "reading": reading_minutes(lesson),
        "exercises": sum(exercise_minutes(lesson, name) for name in lesson.exercises),
    }
    return _PLACE.sub(lambda place: str(max(5, 5 * round(minutes[place[1]] / 5))), text)
