"""The teacher's commands. Each only talks; others do the work. Lesson 00."""

import secrets
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from course.cli.base import JsonOption, app, console
from course.files import CourseError


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
    screen = console()
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
    screen.print(table)
