"""What the commands share: the group that turns errors into one line, options, tables.

It knows no command. Lesson 00.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console

from course.files import CourseError

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


def _lessons(incomplete: str) -> list[str]:
    """The lessons whose name begins so, for the shell's completion."""
    from course.lesson import lesson_folders

    return [f.name for f in lesson_folders() if f.name.startswith(incomplete)]


def _exercises(ctx: typer.Context, incomplete: str) -> list[str]:
    """The exercises of the lesson that is named before, for the shell's completion."""
    from course.lesson import find_lesson, read_notebook_text

    try:
        folder = find_lesson(str(ctx.params.get("lesson")))
        cells = read_notebook_text(folder / "lesson.md")[1]
    except CourseError:
        return []
    return [c.exercise for c in cells if c.exercise and c.exercise.startswith(incomplete)]


LessonArgument = Annotated[
    str, typer.Argument(help="05_backward, backward, 05 or 5.", autocompletion=_lessons)
]
ExerciseArgument = Annotated[
    str, typer.Argument(help="The exercise's name, as in its box.", autocompletion=_exercises)
]
OneExerciseArgument = Annotated[
    str | None, typer.Argument(help="One exercise; else all.", autocompletion=_exercises)
]


def console() -> Console:
    """Where tables go: colours where a terminal shows them and NO_COLOR is not set.

    What is in brackets is text: a file may be called `[red]`.
    """
    return Console(highlight=False, markup=False, emoji=False)


def chosen_workspace(chosen: Path | None) -> Path:
    """The workspace named, the one around the current folder, or the usual one."""
    from course.workspace import default_workspace, workspace_of

    return chosen or workspace_of(Path.cwd()) or default_workspace()


def known_exercise(lesson: Any, exercise: str) -> str:
    """The name, where the lesson has such an exercise."""
    if exercise not in lesson.exercises:
        known = ", ".join(lesson.exercises)
        raise CourseError(f"{lesson.name} has no exercise {exercise!r}; it has: {known}")
    return exercise
