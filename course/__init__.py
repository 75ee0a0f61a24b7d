"""The course around the engine: lessons and their sources, checks, grading, the command `course`.

A lesson's notebook needs `check` from here, and `ask` for the forms of predictions; `panel` shows
progress and hints. They are fetched when first asked for, so that the sandbox, which imports parts
of this package, loads nothing else. Lesson 00.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.asking import ask
    from course.dashboard import panel
    from course.notebook import check

__all__ = ["ask", "check", "panel"]


def __getattr__(name: str) -> Any:
    if name == "ask":
        from course.asking import ask

        return ask
    if name == "check":
        from course.notebook import check

        return check
    if name == "panel":
        from course.dashboard import panel

        return panel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
