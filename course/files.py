"""Files that are either whole or untouched, and errors that fit on one line.

Whatever the course writes for a learner or a teacher is written beside its place and then moved
there, so a crash in the middle leaves the old file. It knows nothing of lessons. Lesson 00.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO


class CourseError(Exception):
    """Something the user can mend: the command line prints it as it is and exits with status 2."""


def write_atomic(path: Path, text: str, errors: str = "strict") -> None:
    """Put `text` into `path` in one step: readers see the old file or the new one, never half.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder, "a.txt"), "hello")
    ...     Path(folder, "a.txt").read_text()
    'hello'
    """
    # A name of its own: two processes that write the same file at once must not share the draft.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("x", encoding="utf-8", errors=errors, newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise CourseError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


WAIT_SECONDS = 10.0


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Let only one program at a time into the body, among those that name the same path.

    A program that ends lets go. Where nothing can be locked, and after `WAIT_SECONDS`, all go in.
    """
    with contextlib.ExitStack() as stack:
        end = time.monotonic() + WAIT_SECONDS
        with contextlib.suppress(OSError, ImportError):
            file = stack.enter_context(path.with_name(f".{path.name}.lock").open("a"))
            while not _locked(file) and time.monotonic() < end:
                time.sleep(0.01)
        yield


def _locked(file: IO[str]) -> bool:
    """Whether the file could be locked; an error where files cannot."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # somebody else has it
        return False
    return True


def plain(text: str, limit: int = 2000) -> str:
    """`text` without control characters, at most `limit` long: safe to print, whoever wrote it.

    >>> plain("red" + chr(27) + "[31m!")
    'red?[31m!'
    """
    kept = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text[: limit + 1])
    return kept if len(kept) <= limit else kept[:limit] + " …"
