"""The teacher's commands. Each only talks; others do the work. Lesson 00."""

import json
import secrets
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from course.cli.base import JsonOption, app, console
from course.files import CourseError, plain, write_atomic


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
    plan: Annotated[
        Path | None, typer.Option(help="Your own points and dates, as for `course assign`.")
    ] = None,
) -> None:
    """Grade submissions, one or a folder of them.

    Their answers run in a sandbox and are judged outside of it.

    Exit status: 0 every point of every submission was earned, 1 some were not, 2 a submission could
    not be read (the others are graded all the same).

    Example: course grade handed-in/ --out results/
    """
    from course.grade import report
    from course.grade.classroom import grade_all, notebooks_in
    from course.grade.plan import read_plan

    if as_json and junit:
        raise CourseError("--json and --junit both ask for the output: choose one")
    files = notebooks_in(paths)
    planned = read_plan(plan) if plan is not None else None
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
            roots=paths,
            plan=planned,
        )
    if as_json:
        typer.echo(report.as_json(rows), nl=False)
    elif junit:
        typer.echo(report.as_junit(rows), nl=False)
    else:
        _print_rows(rows)
    for row in rows:
        if row.problem:
            typer.echo(f"course: {plain(row.problem)}", err=True)
    problems = any(row.problem for row in rows)
    raise typer.Exit(2 if problems else 0 if all(row.perfect for row in rows) else 1)


@app.command()
def stats(
    results: Annotated[list[Path], typer.Argument(help="Folders that `course grade` wrote.")],
    as_json: JsonOption = False,
) -> None:
    """Show what a class found hard: right answers case by case, mistakes, hints.

    "With the rest" is the correlation of an exercise's points with those of the others.

    Example: course stats results/
    """
    from course.grade.stats import read_rows, statistics

    items = statistics(read_rows(results))
    if as_json:
        typer.echo(json.dumps(items, indent=1, ensure_ascii=False))
        return
    table = Table("exercise", "right", "mean", "with the rest", "hints", "commonest mistakes")
    for item in items:
        mistakes = "; ".join(f"{m['name']} ({m['count']})" for m in item["mistakes"][:3])
        table.add_row(
            f"{item['lesson']} {item['exercise']}",
            f"{item['passed']:.0%} of {item['submissions']}",
            f"{item['mean']:.0%}",
            "" if item["correlation"] is None else f"{item['correlation']:.2f}",
            "" if item["hints"] is None else f"{item['hints']:g}",
            mistakes,
        )
        for case in item["cases"]:
            table.add_row(f"  {case['title']}", f"{case['passed']:.0%}", style="dim")
    console().print(table)


@app.command()
def assign(
    plan: Annotated[Path, typer.Argument(help="A TOML file with lessons, points and dates.")],
    out: Annotated[Path, typer.Option(help="The folder to write the notebooks to.")],
    nbgrader: Annotated[
        bool, typer.Option("--nbgrader", help="With nbgrader's metadata, a folder for each.")
    ] = False,
) -> None:
    """Write the notebooks of some lessons for a class, with your own points and dates.

    Example: course assign plan.toml --out release/
    """
    from course.grade.assign import assigned
    from course.grade.plan import read_plan

    for name, text in assigned(read_plan(plan), nbgrader=nbgrader).items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CourseError(f"cannot make {path.parent}: {error.strerror or error}") from error
        write_atomic(path, text)
        typer.echo(str(path))


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
        name = plain(row.file)
        if row.problem:
            table.add_row(name, "", "–", "not graded")
            continue
        wrong = [e["exercise"] for e in row.exercises if e["earned"] < e["points"]]
        points = f"{row.earned:g}/{row.points:g}{' late' if row.late else ''}"
        table.add_row(name, row.lesson, points, ", ".join(wrong))
    screen.print(table)
