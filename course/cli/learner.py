"""The learner's commands. Each only talks; others do the work. Lesson 00."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from course.cli.base import (
    ExerciseArgument,
    JsonOption,
    LessonArgument,
    OneExerciseArgument,
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
    exercise: OneExerciseArgument = None,
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
    from course.progress import changing
    from course.workspace import notebook_in

    folder = chosen_workspace(workspace)
    read = load_lesson(lesson)
    names = None if exercise is None else [known_exercise(read, exercise)]
    submission = read_submission(notebook_in(folder, read))
    if submission.lesson.name != read.name:
        raise CourseError(f"{submission.path} holds another lesson, {submission.lesson.name}")
    verdicts = grade_one(submission, read.seed, names)
    if as_json:
        typer.echo(json.dumps([exercise_row(v) for v in verdicts], indent=1, ensure_ascii=False))
    else:
        typer.echo("\n\n".join(explain(verdict) for verdict in verdicts))
    with changing(folder) as progress:  # last: a full disk must not cost the words
        for verdict in verdicts:
            if not verdict.reason:  # a cell that nobody has written in is no try
                progress.record(
                    read.name, verdict.exercise, verdict.earned, verdict.points, verdict.fingerprint
                )
    raise typer.Exit(0 if all(verdict.passed for verdict in verdicts) else 1)


@app.command()
def hint(
    lesson: LessonArgument,
    exercise: ExerciseArgument,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the next hint of an exercise, after those before it.

    Example: course hint 05 topological-order
    """
    from course.lesson import load_lesson
    from course.notebook import next_hint
    from course.progress import changing
    from course.workspace import start as start_workspace

    folder = chosen_workspace(workspace)
    read = load_lesson(lesson)
    name = known_exercise(read, exercise)
    if not folder.is_dir():
        start_workspace(folder)
    hints = read.exercises[name].hints
    with changing(folder) as progress:
        opened = progress.entry(read.name, name).hints
        if opened < len(hints):
            next_hint(progress, read, name)
    shown = [f"Hint {i} of {len(hints)}: {text}" for i, text in enumerate(hints[: opened + 1], 1)]
    if as_json:
        data = {"hints": list(hints[: opened + 1]), "of": len(hints)}
        typer.echo(json.dumps(data, indent=1, ensure_ascii=False))
        return
    typer.echo("\n".join(shown if opened < len(hints) else [*shown, "There are no more."]))


@app.command()
def solution(
    lesson: LessonArgument,
    exercise: ExerciseArgument,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show our own answers to an exercise, once you have passed it or tried three of yours.

    Tries count when the answer does something else than the one before.

    Exit status: 1 while it is closed.

    Example: course solution 05 topological-order
    """
    from course.lesson import load_lesson
    from course.progress import HONEST, changing

    read = load_lesson(lesson)
    name = known_exercise(read, exercise)
    with changing(chosen_workspace(workspace)) as progress:
        entry = progress.entry(read.name, name)
        if not entry.solution_open:
            tried = f"{entry.answers} different answer{'s' if entry.answers != 1 else ''}"
            typer.echo(
                f"The solution opens after a pass or {HONEST} different answers; you have tried "
                f"{tried}. A hint: course hint {read.number} {name}",
                err=True,
            )
            raise typer.Exit(1)
        entry.solution = True
    answers = [(answer.name, answer.source.strip("\n")) for answer in read.rights(name)]
    if as_json:
        typer.echo(json.dumps([{"name": n, "source": s} for n, s in answers], indent=1))
        return
    for title, source in answers:
        typer.echo(f"# {read.exercises[name].title}: {title}\n\n{source}\n")


@app.command()
def progress(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show how far you are, lesson by lesson.

    Example: course progress --json
    """
    from course.lesson import lesson_folders, load_lesson
    from course.progress import read_progress
    from course.standing import predictions, standing

    read = read_progress(chosen_workspace(workspace))
    rows = [standing(read, load_lesson(folder.name)) for folder in lesson_folders()]
    if as_json:
        data = [row.as_data() for row in rows]
        typer.echo(json.dumps(data, indent=1, ensure_ascii=False))
        return
    table = Table("lesson", "", "points", "exercises", "hints", "solutions")
    for row in rows:
        points, passed = f"{row.earned}/{row.points}", f"{row.passed}/{row.exercises}"
        opened = str(row.hints or ""), str(row.solutions or "")
        table.add_row(row.lesson, row.bar, points, passed, *opened)
    console().print(table)
    total = sum(row.points for row in rows)
    typer.echo(f"{sum(row.earned for row in rows)} of {total} points")
    if words := predictions(read):
        typer.echo(words)
    if read.set_aside:
        typer.echo(f"The progress file could not be read; it is kept as {read.set_aside}.")


@app.command()
def reset(
    lesson: LessonArgument,
    exercise: OneExerciseArgument = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Put a lesson, or your answer to one exercise, back to how it was given to you.

    The old file is kept under another name, and so are your points.

    Example: course reset 05 topological-order
    """
    from course.lesson import load_lesson
    from course.update import reset as reset_file
    from course.workspace import notebook_in

    folder = chosen_workspace(workspace)
    read = load_lesson(lesson)
    name = None if exercise is None else known_exercise(read, exercise)
    notebook_in(folder, read)
    done = reset_file(folder, read, name)
    typer.echo(f"{done.file}: {name or 'the whole lesson'} is as it was given.")
    typer.echo(f"The file as it was before: {done.kept}")


@app.command()
def update(
    workspace: WorkspaceOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring your lessons to the installed release. Your answers and your own cells stay.

    Every file that changes is kept in kept/ as it was before.

    Exit status: 2 when a notebook could not be read; the others are done all the same.

    Example: course update --dry-run
    """
    from course.update import update as update_files

    folder = chosen_workspace(workspace)
    if not folder.is_dir():
        raise CourseError(f"{folder} is not there: `course start --workspace {folder}` makes it")
    done = []
    for one in update_files(folder, write=not dry_run):
        done.append(one)
        if one.problem:
            typer.echo(f"course: {one.problem}", err=True)
        elif not as_json:
            kept = f" (before: {one.kept})" if one.kept else ""
            typer.echo("\n".join([f"{one.file}{kept}", *(f"  {line}" for line in one.changes)]))
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in done], indent=1, ensure_ascii=False))
    elif not done:
        typer.echo("All lessons are as in this release.")
    raise typer.Exit(2 if any(one.problem for one in done) else 0)


@app.command()
def doctor(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Say what the course needs, what is missing, and how to get it.

    Exit status: 1 when something that is needed is missing.

    Example: course doctor
    """
    from course.doctor import as_json as findings_as_json
    from course.doctor import examine

    findings = list(examine(chosen_workspace(workspace)))
    if as_json:
        typer.echo(findings_as_json(findings))
    else:
        table = Table("", "what", "found", "how to get it")
        for one in findings:
            mark = "–" if one.ok is None else "✓" if one.ok else "✗"
            table.add_row(mark, one.name, one.says, one.mend)
        console().print(table)
    raise typer.Exit(1 if any(one.ok is False for one in findings) else 0)
