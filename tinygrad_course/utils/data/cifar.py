"""CIFAR-10: 60,000 small colour pictures of ten kinds of things, from files that you have.

They come in two forms: "binary", a byte for the label and 3,072 for the pixels of each picture, and
"python", which are pickles. A pickle is a program, and could do anything; so it is run with almost
nothing to call. Nothing is fetched from anywhere. Lesson 15.
"""

import pickle
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .files import exactly, find, reading, unzipped
from .pictures import Pictures

# Of the training part's red, green and blue, divided by 255.
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)

ADVICE = (
    "Get cifar-10-binary.tar.gz or cifar-10-python.tar.gz from "
    "https://www.cs.toronto.edu/~kriz/cifar.html and unpack it"
)

PER_FILE = 10_000
SHAPE = (3, 32, 32)

Batch = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]


class CIFAR10(Pictures):
    """Small pictures: samples (image, label), a (3, 32, 32) float32 and a 0-d int64 tensor.

    `root` is the folder with the files, in either form, or the one in which the archive was
    unpacked. Pixels are normalised to mean 0 and deviation 1 over the training part, each colour by
    itself; `data` has them as bytes.
    Raises RuntimeError when a file is missing, damaged, or a pickle that asks for anything but
    arrays.
    """

    classes = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )

    def __init__(self, root: str | PathLike[str], train: bool = True) -> None:
        folders = [
            Path(root, *inside)
            for inside in ((), ("cifar-10-batches-bin",), ("cifar-10-batches-py",))
        ]
        stems = [f"data_batch_{i}" for i in range(1, 6)] if train else ["test_batch"]
        batches = [_read(find(folders, [f"{stem}.bin", stem], ADVICE)) for stem in stems]
        pixels, labels = map(np.concatenate, zip(*batches, strict=True))
        super().__init__(pixels, labels, MEAN, STD)


def _read(path: Path) -> Batch:
    with reading(path, ADVICE), unzipped(path) as file:
        pixels, labels = _read_binary(file) if path.suffix == ".bin" else _read_pickle(file)
        if (labels > 9).any():
            raise ValueError(f"labels are 0 to 9, here is {labels.max()}")
    return pixels.reshape(-1, *SHAPE), labels


def _read_binary(file: IO[bytes]) -> Batch:
    record = 1 + int(np.prod(SHAPE))
    data = exactly(PER_FILE * record, file.read(), f"{PER_FILE} pictures with their labels")
    rows = np.frombuffer(data, np.uint8).reshape(PER_FILE, record)
    return rows[:, 1:], rows[:, 0]


def _read_pickle(file: IO[bytes]) -> Batch:
    try:
        batch = _Unpickler(file, encoding="bytes").load()
    except Exception as error:  # a damaged pickle fails in any way
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if not isinstance(batch, dict) or not {b"data", b"labels"} <= batch.keys():
        raise ValueError("expected a dict with b'data' and b'labels'")
    pixels, labels = batch[b"data"], batch[b"labels"]
    size = PER_FILE * int(np.prod(SHAPE))
    if not isinstance(pixels, _Array) or len(pixels.raw) != size:
        raise ValueError(f"its b'data' is no array of {size} bytes, {PER_FILE} pictures")
    if not isinstance(labels, list) or len(labels) != PER_FILE:
        raise ValueError(f"its b'labels' is no list of {PER_FILE} labels")
    return np.frombuffer(pixels.raw, np.uint8), np.array(labels, np.uint8)


class _Array:
    """Stands for NumPy's array while a pickle is read: keeps the bytes, runs nothing."""

    raw = b""

    def __init__(self, *made_of: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        _version, _shape, dtype, column_first, raw = state
        if not isinstance(dtype, _Type) or column_first or not isinstance(raw, bytes):
            raise ValueError("an array that is not made of bytes, row by row")
        self.raw = raw


class _Type:
    """Stands for NumPy's dtype, of which only one is let through."""

    def __init__(self, name: Any, *options: Any) -> None:
        if name not in (b"u1", "u1"):
            raise ValueError(f"an array of {name!r}, not of bytes")

    def __setstate__(self, state: Any) -> None:
        pass


class _Unpickler(pickle.Unpickler):
    """Runs a pickle in which three names mean something, and nothing of what they name is run."""

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("numpy.core.multiarray", "_reconstruct"): _Array,
            ("numpy", "ndarray"): _Array,
            ("numpy", "dtype"): _Type,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(
                f"the file asks for {module}.{name}, which no batch of CIFAR-10 needs: code that a "
                "file names is never run"
            )
        return known[module, name]
