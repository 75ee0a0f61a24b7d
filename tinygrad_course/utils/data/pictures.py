"""Pictures: what the data sets of images have in common.

They keep a byte for each pixel, as their files do, and make numbers of them when a sample is asked
for: as float32 the 60,000 images of MNIST would take 188 MB, as bytes they take 47. Lesson 15.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...autograd.variable import Tensor
from ...ops.data import from_numpy
from .dataset import Dataset


class Pictures(Dataset[tuple[Tensor, Tensor]]):
    """Samples (image, label) of bytes (n, channels, height, width) and labels (n,).

    A pixel of 0 to 255 becomes (pixel / 255 - mean) / std, with a mean and a std for each channel.
    """

    data: Tensor
    targets: Tensor

    def __init__(
        self,
        pixels: npt.NDArray[np.uint8],
        labels: npt.NDArray[np.uint8],
        mean: tuple[float, ...],
        std: tuple[float, ...],
    ) -> None:
        self.data = from_numpy(pixels)
        self.targets = from_numpy(labels.astype(np.int64))
        self._pixels = pixels
        self._mean = np.array(mean, np.float32)[:, None, None]
        self._std = np.array(std, np.float32)[:, None, None]

    def __getitem__(self, index: Any) -> tuple[Tensor, Tensor]:
        x = (self._pixels[index] / np.float32(255) - self._mean) / self._std
        return from_numpy(x), self.targets[index]

    def __len__(self) -> int:
        return len(self._pixels)
