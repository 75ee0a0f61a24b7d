"""The commands of an author of lessons. Each only talks; others do the work. Lesson 00."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from course.cli.base import JsonOption, LessonArgument, app
from course.files import CourseError, write_atomic


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
    from course.links import dead_links
    from course.syllabus import made_table

    read = [load_lesson(name) for name in lessons or [f.name for f in lesson_folders()]]
    dead = [problem for lesson in read for problem in dead_links(lesson)]
    if dead:
        raise CourseError("\n".join(dead))
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
    as_json: JsonOption = False,
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

    def say(text: str) -> None:
        if not as_json:
            typer.echo(text)

    for name in [name for name, count in left.items() if count == 0]:
        say(f"{name}: no exercises")
    for name, _, score in verify_all(read, jobs):
        scores[name] += score
        left[name] -= 1
        if left[name] == 0:
            say(f"{name}: {scores[name]}")
    total = sum(scores.values(), Score())
    for fault in total.faults:
        say(f"  {fault}")
    say(str(total))
    if as_json:
        data = {name: asdict(score) for name, score in scores.items()}
        typer.echo(json.dumps(data, indent=1, ensure_ascii=False))
    raise typer.Exit(0 if total.perfect else 1)


@app.command()
def new_lesson(
    number: Annotated[int, typer.Argument(help="Its place in the course, 0 to 99.")],
    slug: Annotated[str, typer.Argument(help="Lower-case words joined by underscores.")],
    title: Annotated[str, typer.Option(help="What the lesson is called.")] = "A new lesson",
) -> None:
    """Make the three files of a new lesson, with one exercise that passes `course verify`.

    Example: course new-lesson 30 two_words --title "What it is called"
    """
    from course.scaffold import new_lesson as make

    folder = make(number, slug, title)
    typer.echo(f"{folder}\nNow: course build {number} and course verify {number}")


@app.command()
def new_exercise(
    lesson: LessonArgument,
    name: Annotated[str, typer.Argument(help="Lower-case words joined by hyphens.")],
    title: Annotated[str, typer.Option(help="What the exercise is called.")] = "A new exercise",
) -> None:
    """Add an exercise to the end of a lesson's three files, to be written over.

    Example: course new-exercise 30 three-steps --title "In three steps"
    """
    from course.lesson import load_lesson
    from course.scaffold import new_exercise as make

    for path in make(load_lesson(lesson), name, title):
        typer.echo(str(path))
