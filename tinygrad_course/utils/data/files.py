"""Data files: finding one, opening it, and saying what is wrong with it.

What a file should hold, the module of its data set knows. Here stands what all share: an error that
names the file, what was found there, and how to get a good one. Lesson 15.
"""

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

SHIPPED = "The file comes with the package; install it again to get it back"


@contextmanager
def reading(path: str | PathLike[str], advice: str) -> Iterator[None]:
    """Within the block, what goes wrong with a file's contents is a RuntimeError about the file."""
    try:
        yield
    except (OSError, EOFError, ValueError, LookupError, zipfile.BadZipFile, zlib.error) as error:
        raise RuntimeError(f"{path} cannot be read: {error}. {advice}") from error


@contextmanager
def unzipped(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """The file opened for reading, through gzip if it begins as gzip's files do."""
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if zipped:
            with gzip.GzipFile(fileobj=file) as contents:
                yield contents  # type: ignore[misc]
        else:
            yield file


def exactly(size: int, data: bytes, what: str) -> bytes:
    """`data`, which was read as `what`. Raises ValueError unless it has `size` bytes."""
    if len(data) != size:
        verdict = "is cut off" if len(data) < size else "goes on after it"
        raise ValueError(f"expected {size} bytes of {what}, got {len(data)}: the file {verdict}")
    return data


def find(folders: list[Path], names: list[str], advice: str) -> Path:
    """The first of the files that exists. Raises RuntimeError with all of them when none does."""
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    places = " or ".join(str(folder) for folder in folders)
    raise RuntimeError(f"there is no file {' or '.join(names)} in {places}. {advice}")
