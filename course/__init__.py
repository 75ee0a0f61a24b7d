"""The course around the engine: lessons and their sources, checks, grading, the command `course`.

A lesson's notebook needs one name from here, `check`; `panel` shows progress and hints. They are
fetched when first asked for, so that the sandbox, which imports parts of this package, loads
nothing else. Lesson 00.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.dashboard import panel
    from course.notebook import check

__all__ = ["check", "panel"]


def __getattr__(name: str) -> Any:
    if name == "check":
        from course.notebook import check

        return check
    if name == "panel":
        from course.dashboard import panel

        return panel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
