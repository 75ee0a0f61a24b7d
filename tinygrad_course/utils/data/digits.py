"""Digits: 1,797 real handwritten digits, the course's picture data.

The file `digits.npz` beside this module holds 8 x 8 images of 0 to 16 and their labels; whose they
are and under which licence says `digits.NOTICE.txt`. This module scales and splits them; it draws
nothing from the default generator.

Lesson: a held-out part only measures something while nothing is learned from it; so the split is
fixed, and even mean and deviation come from the training part.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...ops.data import from_numpy
from ...random import Generator, randperm
from .dataset import TensorDataset
from .files import SHIPPED, reading

FILE = Path(__file__).with_name("digits.npz")

# Of the pixels of the training part, once they are divided by 16.
MEAN, STD = 0.305937, 0.376488


class Digits(TensorDataset):
    """Handwritten digits: samples (image, label), a (1, size, size) float32 and a 0-d int64 tensor.

    `train=False` gives the held-out fifth: of each digit the same share, drawn once with a fixed
    seed. `size`, a multiple of 8, repeats each pixel size / 8 times along both axes: the 8 x 8
    originals are counts over 4 x 4 blocks of a 32 x 32 bitmap, and 32 is LeNet's input. Pixels are
    normalised to mean 0 and deviation 1 over the training part. Raises ValueError for another
    size, RuntimeError when the data file is missing or damaged.

    >>> image, label = Digits(train=False)[0]
    >>> image.shape, label
    (torch.Size([1, 32, 32]), tensor(1))
    """

    classes = tuple("0123456789")

    def __init__(self, train: bool = True, size: int = 32) -> None:
        if size < 8 or size % 8:
            raise ValueError(f"the size of Digits is a multiple of 8 (8, 16, 24, 32), got {size}")
        images, labels = _read()
        mine = held_out(labels) != train
        x = (images[mine, None].astype(np.float32) / 16 - np.float32(MEAN)) / np.float32(STD)
        x = x.repeat(size // 8, axis=2).repeat(size // 8, axis=3)
        super().__init__(from_numpy(x), from_numpy(labels[mine].astype(np.int64)))

    @property
    def data(self) -> Any:
        """All images, (n, 1, size, size)."""
        return self.tensors[0]

    @property
    def targets(self) -> Any:
        """All labels, (n,)."""
        return self.tensors[1]


def _read() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    with reading(FILE, SHIPPED), FILE.open("rb") as file:
        arrays = np.load(file, allow_pickle=False)
        images, labels = arrays["images"], arrays["labels"]
        if images.shape != (1797, 8, 8) or labels.shape != (1797,) or images.max() > 16:
            raise ValueError(f"it holds {images.shape} images and {labels.shape} labels")
    return images, labels


def held_out(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which samples are held out: a fifth of each label, rounded."""
    gen = Generator().manual_seed(0)
    result = np.zeros(len(labels), np.bool_)
    for label in np.unique(labels):
        (places,) = np.nonzero(labels == label)
        order = randperm(gen, len(places))
        result[places[order[: round(len(places) / 5)]]] = True
    return result
