"""The zip archive that a `.pt` file is: a pickle, and the bytes of each storage in a record of its
own.

Records are stored uncompressed and start at multiples of 64 bytes, so that a program could map them
into memory. Files are written beside their place and moved there when they are complete: who is
interrupted keeps the old file. Lesson 18.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from ..dtype import DType
from ..storage import Storage

ALIGNMENT = 64
PADDING = 0x4246  # the kind of extra field that holds nothing

# --- writing --------------------------------------------------------------------------------------


def write_archive(file: IO[bytes], pickle: bytes, storages: list[Storage]) -> None:
    """Writes an archive with that pickle, and each storage under its number."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "data.pkl", pickle)
        _add(archive, "byteorder", sys.byteorder.encode())
        for number, storage in enumerate(storages):
            _add(archive, f"data/{number}", np.ascontiguousarray(storage._host()).view(np.uint8))
        _add(archive, "version", b"3\n")


def _add(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    info = zipfile.ZipInfo(f"archive/{name}")
    content = memoryview(content)
    # A record's content follows 30 bytes, its name, and the extra field of 4 bytes and the padding.
    start = archive.start_dir + 30 + len(info.filename) + 4
    padding = -start % ALIGNMENT
    info.extra = struct.pack("<HH", PADDING, padding) + b"\0" * padding
    info.file_size = content.nbytes
    with archive.open(info, "w") as record:
        if content.nbytes:
            record.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to be written that takes the place of `path` when the block ends without an error.

    Until then what was there stays, and after an error nothing new is left behind.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as device:  # a pipe or the like, which cannot be replaced
            yield device
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(beside, "xb") as file:
            if os.path.exists(target):
                os.chmod(beside, os.stat(target).st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.remove(beside)
        raise


# --- reading --------------------------------------------------------------------------------------


class Archive:
    """An open archive: its `pickle`, and `storage(dtype, key, numel)`.

    EOFError for an empty file, RuntimeError for an incomplete or damaged archive, UnpicklingError
    for a file of another kind.
    """

    def __init__(self, file: IO[bytes]) -> None:
        if not file.seekable():
            file = io.BytesIO(file.read())
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise _explained(file) from None
        pickles = [n for n in self._zip.namelist() if n.count("/") == 1 and n.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise UnpicklingError("this zip archive is no .pt file: it has no data.pkl")
        self._folder = pickles[0].removesuffix("data.pkl")
        if f"{self._folder}constants.pkl" in self._zip.namelist():
            raise UnpicklingError(
                "this file holds a TorchScript program, which is code: save the model's "
                "state_dict() and load that"
            )
        self.pickle = self._read("data.pkl")
        order = f"{self._folder}byteorder"
        known = order in self._zip.namelist()
        self._swapped = known and self._zip.read(order).decode() != sys.byteorder

    def _read(self, name: str) -> bytes:
        with self._record(name) as record:
            return record.read()

    @contextmanager
    def _record(self, name: str) -> Iterator[IO[bytes]]:
        try:
            info = self._zip.getinfo(self._folder + name)
            if info.compress_type != zipfile.ZIP_STORED:
                raise RuntimeError(f"the record {name} is compressed, and those of a .pt are not")
            with self._zip.open(info) as record:
                yield record
        except KeyError:
            raise RuntimeError(f"the file is incomplete: it has no record {name}") from None
        except (zipfile.BadZipFile, EOFError) as error:
            raise RuntimeError(f"the file is damaged: {error}") from None

    def storage(self, dtype: DType, key: str, numel: int) -> Storage:
        """The storage kept under `key`."""
        name = f"data/{key}"
        with self._record(name) as record:
            size = self._zip.getinfo(self._folder + name).file_size
            if size != numel * dtype.itemsize:
                raise RuntimeError(
                    f"the file is damaged: {numel} elements of {dtype!r} are no {size} bytes"
                )
            array = np.empty(numel, dtype.numpy)
            filled, memory = 0, array.view(np.uint8).data
            while filled < size:
                count = record.readinto(memory[filled:])  # type: ignore[attr-defined]
                if not count:
                    raise EOFError(f"the record {name} ends early")
                filled += count
            record.read(1)  # at the end the checksum is compared
        return Storage(array.byteswap() if self._swapped else array)


def _explained(file: IO[bytes]) -> Exception:
    """Why a file is no zip archive."""
    file.seek(0)
    start = file.read(512)
    if not start:
        return EOFError("the file is empty")
    if start.startswith(b"PK\x03\x04"):
        return RuntimeError(
            "the file is a zip archive without its end: it was cut off while being written or "
            "copied"
        )
    if start[257:262] == b"ustar" or start.startswith(b"\x80\x02\x8a\x0al\xfc"):
        return UnpicklingError(
            "the file is in a format from before PyTorch 1.6: load it there and save it again"
        )
    return UnpicklingError(f"this is no .pt file: it starts with {start[:8]!r}")
