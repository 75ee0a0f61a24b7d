"""The course around the engine: lessons and their sources, checks, grading, the command `course`.

A lesson's notebook needs one name from here, `check`. It is fetched when first asked for, so that
the sandbox, which imports parts of this package, loads nothing else. Lesson 00.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.notebook import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    if name == "check":
        from course.notebook import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
