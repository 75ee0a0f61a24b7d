"""MNIST: 70,000 handwritten digits, from files that you have, and the IDX format they are in.

An IDX file is a header (two bytes of 0, one for the type of the numbers, one for how many
dimensions there are, four for each size) and then the numbers, the first byte of each being its
high one. Nothing is fetched from anywhere. Lesson 15.
"""

import math
import struct
from os import PathLike
from pathlib import Path

import numpy as np

from ...autograd.variable import Tensor
from ...ops.data import from_numpy
from .files import exactly, find, reading, unzipped
from .pictures import Pictures

# Of the training part's pixels, divided by 255.
MEAN, STD = 0.1307, 0.3081

ADVICE = (
    "Get the four files of MNIST, such as train-images-idx3-ubyte.gz (9,912,422 bytes), from "
    "https://ossci-datasets.s3.amazonaws.com/mnist/ and put them into one folder, as they are or "
    "unzipped"
)

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


class MNIST(Pictures):
    """Handwritten digits: samples (image, label), a (1, size, size) float32 and a 0-d int64 tensor.

    `root` is the folder with the IDX files, gzipped or not, or one that has them in `MNIST/raw`.
    `size` of 28 or more, even, puts a frame of black around the 28 x 28 originals: LeNet's input is
    32. Pixels are normalised to mean 0 and deviation 1 over the training part; `data` has them as
    bytes.
    Raises ValueError for another size, RuntimeError when a file is missing or damaged.
    """

    classes = tuple("0123456789")

    def __init__(self, root: str | PathLike[str], train: bool = True, size: int = 28) -> None:
        if size < 28 or size % 2:
            raise ValueError(f"the size of MNIST is an even number of 28 or more, got {size}")
        part = "train" if train else "t10k"
        images_path = _find(root, f"{part}-images", 3)
        labels_path = _find(root, f"{part}-labels", 1)
        images, labels = read_idx(images_path).numpy(), read_idx(labels_path).numpy()
        with reading(images_path, ADVICE):
            if images.shape[1:] != (28, 28) or images.dtype != np.uint8:
                raise ValueError(
                    f"expected bytes of shape (n, 28, 28), got {images.dtype} of {images.shape}"
                )
        with reading(labels_path, ADVICE):
            if labels.shape != images.shape[:1] or labels.dtype != np.uint8 or (labels > 9).any():
                raise ValueError(
                    f"expected a label of 0 to 9 for each of the {len(images)} images in "
                    f"{images_path.name}, got {labels.dtype} of shape {labels.shape}"
                )
        frame = (size - 28) // 2
        pixels = np.pad(images, ((0, 0), (frame, frame), (frame, frame)))[:, None]
        super().__init__(pixels, labels, (MEAN,), (STD,))


def _find(root: str | PathLike[str], part: str, dims: int) -> Path:
    names = [f"{part}-idx{dims}-ubyte", f"{part}.idx{dims}-ubyte"]
    names += [f"{name}.gz" for name in names]
    return find([Path(root), Path(root, "MNIST", "raw")], names, ADVICE)


def read_idx(path: str | PathLike[str]) -> Tensor:
    """The tensor that an IDX file holds, gzipped or not.

    Raises RuntimeError when the file is missing, is no IDX file, or is too short or too long.
    """
    with reading(path, ADVICE), unzipped(path) as file:
        zeros, kind, dims = struct.unpack(">HBB", exactly(4, file.read(4), "header"))
        if zeros or kind not in _TYPES:
            raise ValueError(
                f"an IDX file begins with 0, 0 and a type from 8 to 14, here are "
                f"{zeros >> 8}, {zeros & 255} and {kind}"
            )
        shape = struct.unpack(f">{dims}I", exactly(4 * dims, file.read(4 * dims), f"{dims} sizes"))
        dtype = np.dtype(_TYPES[kind])
        what = f"{dtype.name} numbers of shape {shape}"
        data = exactly(math.prod(shape) * dtype.itemsize, file.read(), what)
    array = np.frombuffer(data, dtype).reshape(shape)
    return from_numpy(array.astype(dtype.newbyteorder("=")))
