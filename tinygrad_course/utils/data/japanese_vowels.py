"""Japanese Vowels: 640 utterances of /ae/ by nine speakers, the course's sequences of vectors.

The file `japanese_vowels.npz` beside this module holds the frames of all utterances one after the
other, in millionths; whose they are and under which licence says `japanese_vowels.NOTICE.txt`.

Lesson: sequences of different lengths are no array. They are a list, until a batch pads them.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...autograd.variable import Tensor
from ...ops.data import from_numpy
from .dataset import Dataset
from .files import SHIPPED, reading

FILE = Path(__file__).with_name("japanese_vowels.npz")

TRAINING = 270  # utterances come first, 30 of each speaker; 370 are held out


class JapaneseVowels(Dataset[tuple[Tensor, Tensor]]):
    """Spoken vowels: samples (frames, speaker), a (steps, 12) float32 and a 0-d int64 tensor.

    A frame is 25.6 ms of speech described by 12 numbers (LPC cepstrum coefficients), a step 6.4 ms;
    an utterance has 7 to 29 steps. The speaker is a number from 0 to 8. `train=True` gives the 270
    utterances meant for training, `train=False` the 370 others, recorded on other occasions.
    Raises RuntimeError when the data file is missing or damaged.

    >>> frames, speaker = JapaneseVowels()[0]
    >>> frames.shape, speaker
    (torch.Size([20, 12]), tensor(0))
    """

    classes = tuple(f"speaker {i}" for i in range(1, 10))

    data: list[Tensor]
    targets: Tensor

    def __init__(self, train: bool = True) -> None:
        frames, steps, speakers = _read()
        mine = slice(TRAINING) if train else slice(TRAINING, None)
        ends = np.cumsum(steps)
        self.data = [
            from_numpy((frames[end - n : end] / 1e6).astype(np.float32))
            for end, n in zip(ends[mine], steps[mine], strict=True)
        ]
        self.targets = from_numpy(speakers[mine] - 1)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.data[index], self.targets[index]

    def __len__(self) -> int:
        return len(self.data)


def _read() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    with reading(FILE, SHIPPED), FILE.open("rb") as file:
        arrays = np.load(file, allow_pickle=False)
        frames, steps, speakers = arrays["frames"], arrays["steps"], arrays["speakers"]
        if frames.shape != (9961, 12) or steps.shape != (640,) or speakers.shape != (640,):
            raise ValueError(
                "expected 640 utterances of 9961 frames of 12 numbers, got shapes "
                f"{steps.shape}, {speakers.shape}, {frames.shape}"
            )
    return frames, steps.astype(np.int64), speakers.astype(np.int64)
