"""The command `course`: the learner's, the teacher's and the author's side of the course.

Every command ends with status 0 when all is well, 1 when something was found wanting, and 2 with
one line of explanation when it could not do its work. It only talks; others do the work. Lesson 00.
"""

import json
import secrets
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from course.files import CourseError, write_atomic

STATUS = "Exit status: 0 all is well, 1 something is wanting, 2 the command could not do its work."


class Commands(typer.core.TyperGroup):
    """The group of commands, which turns a CourseError into one line and status 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except CourseError as error:
            typer.echo(f"course: {error}", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    help=f"PyTorch's ideas as a course: lessons, checks, grading.\n\n{STATUS}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

WorkspaceOption = Annotated[
    Path | None, typer.Option("--workspace", help="The learner's folder.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LessonArgument = Annotated[str, typer.Argument(help="05_backward, backward, 05 or 5.")]


def _console() -> Console:
    return Console(highlight=False)


def _workspace(chosen: Path | None) -> Path:
    from course.workspace import default_workspace, workspace_of

    return chosen or workspace_of(Path.cwd()) or default_workspace()


# ------------------------------------------------------------------ the learner's side


@app.command()
def start(workspace: WorkspaceOption = None) -> None:
    """Make your workspace and copy the lessons that it lacks. Nothing is written over.

    Example: course start --workspace ~/course
    """
    from course import workspace as ws

    folder = _workspace(workspace)
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

    folder = _workspace(workspace)
    ws.start(folder)
    raise typer.Exit(ws.lab(folder, port, browser))


@app.command(name="list")
def list_(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List the lessons and exercises with your points.

    Example: course list --json
    """
    from course.lesson import lesson_folders, load_lesson
    from course.progress import read_progress

    progress = read_progress(_workspace(workspace))
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
    _console().print(table)
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

    folder = _workspace(workspace)
    read = load_lesson(lesson)
    names = None if exercise is None else [_known(read, exercise)]
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

    folder = _workspace(workspace)
    read = load_lesson(lesson)
    name = _known(read, exercise)
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


def _known(lesson: Any, exercise: str) -> str:
    if exercise not in lesson.exercises:
        known = ", ".join(lesson.exercises)
        raise CourseError(f"{lesson.name} has no exercise {exercise!r}; it has: {known}")
    return exercise


# ------------------------------------------------------------------ the teacher's side


@app.command()
def grade(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, or folders of them.")],
    out: Annotated[
        Path | None, typer.Option(help="Write results here as they come, and resume from here.")
    ] = None,
    as_json: JsonOption = False,
    junit: Annotated[bool, typer.Option("--junit", help="Print JUnit XML.")] = False,
    seed: Annotated[int | None, typer.Option(help="For a report that can be repeated.")] = None,
    jobs: Annotated[int | None, typer.Option(help="How many at a time.")] = None,
) -> None:
    """Grade submissions, one or a folder of them.

    Their answers run in a sandbox and are judged outside of it.

    Exit status: 0 every point of every submission was earned, 1 some were not, 2 a submission could
    not be read (the others are graded all the same).

    Example: course grade handed-in/ --out results/
    """
    from course.grade import report
    from course.grade.classroom import grade_all, notebooks_in

    if as_json and junit:
        raise CourseError("--json and --junit both ask for the output: choose one")
    files = notebooks_in(paths)
    reports = report.Reports(out) if out is not None else None
    used = secrets.randbits(32) if seed is None else seed
    with _bar() as bar:
        task = bar.add_task("grading", total=len(files))
        rows = grade_all(
            files,
            used,
            reports,
            resume_seed=seed,
            jobs=jobs,
            on_row=lambda row: bar.advance(task),
        )
    if as_json:
        typer.echo(report.as_json(rows), nl=False)
    elif junit:
        typer.echo(report.as_junit(rows), nl=False)
    else:
        _print_rows(rows)
    for row in rows:
        if row.problem:
            typer.echo(f"course: {row.problem}", err=True)
    problems = any(row.problem for row in rows)
    raise typer.Exit(2 if problems else 0 if all(row.perfect for row in rows) else 1)


def _bar() -> Progress:
    """A progress bar on standard error, silent where nobody watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _print_rows(rows: list[Any]) -> None:
    console = _console()
    if len(rows) == 1 and not rows[0].problem:
        for row in rows[0].exercises:
            typer.echo(row["feedback"] + "\n")
    table = Table("submission", "lesson", "points", "not right yet")
    for row in rows:
        if row.problem:
            table.add_row(row.file, "", "–", "not graded")
            continue
        wrong = [e["exercise"] for e in row.exercises if e["earned"] < e["points"]]
        table.add_row(row.file, row.lesson, f"{row.earned}/{row.points}", ", ".join(wrong))
    console.print(table)


# ------------------------------------------------------------------ the author's side


@app.command()
def build(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons; else all.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say what is stale.")
    ] = False,
    execute: Annotated[bool, typer.Option(help="Make the solved notebooks too.")] = True,
    root: Annotated[Path, typer.Option(help="Where lessons/ and solutions/ are.")] = Path(),
) -> None:
    """Make lessons/ and solutions/ from the lessons' sources.

    Exit status: with --check, 1 when a notebook is not what its sources make.

    Example: course build 05 --no-execute
    """
    from course import build as builder
    from course.lesson import lesson_folders, load_lesson
    from course.syllabus import made_table

    read = [load_lesson(name) for name in lessons or [f.name for f in lesson_folders()]]
    problems: list[str] = []
    made_of_all = {} if lessons else made_table(read)
    for made in (*(builder.build(lesson, root, execute=execute) for lesson in read), made_of_all):
        if check:
            problems += builder.stale(made)
            continue
        for path, text in made.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text)
            typer.echo(str(path))
    if not lessons:
        problems += builder.foreign(root, {lesson.name for lesson in read})
    for problem in problems:
        typer.echo(problem, err=True)
    if problems and check:
        typer.echo("Make them anew with: course build", err=True)
    raise typer.Exit(1 if problems else 0)


@app.command()
def verify(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons; else all.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes at a time.")] = None,
) -> None:
    """Prove the checks on every known answer.

    Right ones must pass; wrong ones, stubs and empty ones must not.

    Exit status: 1 unless every one was judged as it should be.

    Example: course verify 05
    """
    from course.lesson import lesson_folders, load_lesson
    from course.verify import Score
    from course.verify import verify as verify_all

    read = [load_lesson(name) for name in lessons or [f.name for f in lesson_folders()]]
    scores = {lesson.name: Score() for lesson in read}
    left = Counter({lesson.name: len(lesson.exercises) for lesson in read})
    for name in [name for name, count in left.items() if count == 0]:
        typer.echo(f"{name}: no exercises")
    for name, _, score in verify_all(read, jobs):
        scores[name] += score
        left[name] -= 1
        if left[name] == 0:
            typer.echo(f"{name}: {scores[name]}")
    total = sum(scores.values(), Score())
    for fault in total.faults:
        typer.echo(f"  {fault}")
    typer.echo(str(total))
    raise typer.Exit(0 if total.perfect else 1)
