"""The learner's commands. Each only talks; others do the work. Lesson 00."""

import json
import secrets
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from course.cli.base import (
    JsonOption,
    LessonArgument,
    WorkspaceOption,
    app,
    chosen_workspace,
    console,
    known_exercise,
)
from course.files import CourseError


@app.command()
def start(workspace: WorkspaceOption = None) -> None:
    """Make your workspace and copy the lessons that it lacks. Nothing is written over.

    Example: course start --workspace ~/course
    """
    from course import workspace as ws

    folder = chosen_workspace(workspace)
    copied = ws.start(folder)
    typer.echo(f"Workspace: {folder}")
    typer.echo(f"{len(copied)} lessons copied" if copied else "All lessons were there already.")
    typer.echo("Open it with: course lab")


@app.command()
def lab(
    workspace: WorkspaceOption = None,
    port: Annotated[int | None, typer.Option(help="The first free one from 8888 on.")] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser, where there is one.")] = True,
) -> None:
    """Open JupyterLab on your workspace, for this computer alone.

    Example: course lab --no-browser --port 9000
    """
    from course import workspace as ws

    folder = chosen_workspace(workspace)
    ws.start(folder)
    raise typer.Exit(ws.lab(folder, port, browser))


@app.command(name="list")
def list_(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List the lessons and exercises with your points.

    Example: course list --json
    """
    from course.lesson import lesson_folders, load_lesson
    from course.progress import read_progress

    progress = read_progress(chosen_workspace(workspace))
    lessons = [load_lesson(folder.name) for folder in lesson_folders()]
    rows = [
        {
            "lesson": lesson.name,
            "title": lesson.title,
            "exercise": exercise.name,
            "exercise_title": exercise.title,
            **asdict(progress.entry(lesson.name, exercise.name)),
            "points": exercise.points,
        }
        for lesson in lessons
        for exercise in lesson.exercises.values()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    table = Table("lesson", "exercise", "title", "points")
    for lesson in lessons:
        table.add_row(lesson.name, "", lesson.title, "", style="bold")
        for row in (row for row in rows if row["lesson"] == lesson.name):
            points = f"{row['earned']}/{row['points']}{' ✓' if row['passed'] else ''}"
            table.add_row("", str(row["exercise"]), str(row["exercise_title"]), points)
    console().print(table)
    if progress.set_aside:
        typer.echo(f"The progress file could not be read; it is kept as {progress.set_aside}.")


@app.command()
def check(
    lesson: LessonArgument,
    exercise: Annotated[str | None, typer.Argument(help="One exercise; else all.")] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the answers in your saved copy of a lesson.

    They run in the grader's sandbox.

    Example: course check 05 topological-order
    """
    from course.feedback import explain
    from course.grade.grader import grade as grade_one
    from course.grade.report import exercise_row
    from course.grade.submission import read_submission
    from course.lesson import load_lesson
    from course.progress import read_progress
    from course.workspace import notebook_in

    folder = chosen_workspace(workspace)
    read = load_lesson(lesson)
    names = None if exercise is None else [known_exercise(read, exercise)]
    submission = read_submission(notebook_in(folder, read))
    if submission.lesson.name != read.name:
        raise CourseError(f"{submission.path} holds another lesson, {submission.lesson.name}")
    verdicts = grade_one(submission, secrets.randbits(32), names)
    progress = read_progress(folder)
    for verdict in verdicts:
        progress.record(read.name, verdict.exercise, verdict.earned, verdict.points)
    progress.save()
    if as_json:
        typer.echo(json.dumps([exercise_row(v) for v in verdicts], indent=1, ensure_ascii=False))
    else:
        typer.echo("\n\n".join(explain(verdict) for verdict in verdicts))
    raise typer.Exit(0 if all(verdict.passed for verdict in verdicts) else 1)


@app.command()
def hint(
    lesson: LessonArgument,
    exercise: Annotated[str, typer.Argument(help="The exercise's name, as in its box.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Open the next hint of an exercise, after those before it.

    Example: course hint 05 topological-order
    """
    from course.lesson import load_lesson
    from course.notebook import next_hint
    from course.progress import read_progress
    from course.workspace import start as start_workspace

    folder = chosen_workspace(workspace)
    read = load_lesson(lesson)
    name = known_exercise(read, exercise)
    if not folder.is_dir():
        start_workspace(folder)
    progress = read_progress(folder)
    opened = progress.entry(read.name, name).hints
    hints = read.exercises[name].hints
    for number, text in enumerate(hints[:opened], 1):
        typer.echo(f"Hint {number} of {len(hints)}: {text}")
    if opened < len(hints):
        typer.echo(next_hint(progress, read, name))
        progress.save()
    else:
        typer.echo("There are no more.")
