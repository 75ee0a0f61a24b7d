"""Notebooks for a class: a plan's lessons with its points and dates, for nbgrader if asked.

nbgrader's metadata let its servers give out, collect and return the notebooks; its own grading sees
the number at the end of a check cell, and runs unprotected. `course grade` takes the same files.
Lesson 00.
"""

from pathlib import Path
from typing import Any

from course.build import Notebook, assemble, check_code, exercise_box, to_text
from course.grade.plan import Plan, Planned
from course.lesson import Lesson, load_lesson


def assigned(plan: Plan, *, nbgrader: bool) -> dict[Path, str]:
    """The text of each file, by its path below the folder that the class is given."""
    found: dict[Path, str] = {}
    for name, planned in plan.lessons.items():
        notebook = assigned_notebook(load_lesson(name), planned, nbgrader=nbgrader)
        folder = Path(name) if nbgrader else Path()  # nbgrader wants one for each assignment
        found[folder / f"{name}.ipynb"] = to_text(notebook)
    return found


def assigned_notebook(lesson: Lesson, planned: Planned, *, nbgrader: bool) -> Notebook:
    """The learner's notebook with the plan's points in its boxes and its date below the title."""
    notebook = assemble(lesson, solutions=False)
    for cell in notebook["cells"]:
        course = cell["metadata"]["course"]
        if "exercise" in course:
            exercise = lesson.exercises[course["exercise"]]
            course["points"] = planned.points[exercise.name]
            if course["role"] == "box":
                text = exercise_box(lesson, exercise, planned.points[exercise.name])
                cell["source"] = text.splitlines(keepends=True)
        if nbgrader:
            _for_nbgrader(cell, lesson)
    total = sum(planned.points.values())
    due = f"Due {planned.due:%Y-%m-%d %H:%M %Z} · " if planned.due else ""
    # No cell of the course's: `course update` knows nothing of plans and must leave it.
    note = f"**{due}{total:g} points**"
    cell = {"cell_type": "markdown", "id": "assignment", "metadata": {}, "source": [note]}
    notebook["cells"].insert(1, cell)
    return notebook


def _for_nbgrader(cell: dict[str, Any], lesson: Lesson) -> None:
    course = cell["metadata"]["course"]
    role = course["role"]
    check = role == "check"
    marks = {
        "schema_version": 3,
        "grade_id": cell["id"],
        "cell_type": cell["cell_type"],
        "grade": check,
        "solution": role == "answer",
        "locked": role != "answer",
        "task": False,
    }
    if check:
        exercise, points = course["exercise"], course["points"]
        marks["points"] = points
        code = f"{check_code(lesson, exercise)}.earned"
        ours = lesson.exercises[exercise].points
        if points != ours:
            head, last = code.rsplit("\n", 1)
            code = f"{head}\n{last} * {points} / {ours}"
        cell["source"] = code.splitlines(keepends=True)
    cell["metadata"]["nbgrader"] = marks
