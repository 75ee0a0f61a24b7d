"""First names: 5,163 names of women and men, the course's strings.

The file `first_names.txt.gz` beside this module has a line for each name of the census lists: the
name, F or M, and the share of the women or men who bear it in per cent; more about it says
`first_names.NOTICE.txt`. A name in both lists counts where its share is larger.

Lesson: a network reads numbers. The alphabet is the table between them and letters.
"""

import gzip
from pathlib import Path

import numpy as np

from ...autograd.variable import Tensor
from ...ops.data import from_numpy
from .dataset import Dataset
from .digits import held_out
from .files import SHIPPED, reading

FILE = Path(__file__).with_name("first_names.txt.gz")


class FirstNames(Dataset[tuple[Tensor, Tensor]]):
    """First names: samples (letters, label), a 1-d int64 tensor and a 0-d one, 0 female, 1 male.

    A letter is its place in `alphabet`, whose place 0 is a dot, for the start and the end of names;
    `encode` and `decode` go from strings to tensors and back. `names` has the names as strings,
    `shares` their frequency in per cent of the women or men, to draw names by.
    `train=False` gives the held-out fifth: of each label the same share, drawn once with a fixed
    seed. Raises RuntimeError when the data file is missing or damaged.

    >>> names = FirstNames()
    >>> names.names[0], names[0]
    ('mary', (tensor([13,  1, 18, 25]), tensor(0)))
    """

    classes = ("female", "male")
    alphabet = ".abcdefghijklmnopqrstuvwxyz"

    names: tuple[str, ...]
    targets: Tensor
    shares: Tensor

    def __init__(self, train: bool = True) -> None:
        names, labels, shares = zip(*_read(), strict=True)
        targets = np.array(labels)
        (mine,) = np.nonzero(held_out(targets) != train)
        self.names = tuple(names[i] for i in mine)
        self.targets = from_numpy(targets[mine])
        self.shares = from_numpy(np.array(shares, np.float32)[mine])

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.encode(self.names[index]), self.targets[index]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def encode(cls, name: str) -> Tensor:
        """The places of a name's letters in the alphabet, (length,) of int64.

        Raises ValueError for a character that is not in the alphabet.

        >>> FirstNames.encode("bea")
        tensor([2, 5, 1])
        """
        places = [cls.alphabet.find(letter) for letter in name.lower()]
        if -1 in places:
            raise ValueError(
                f"{name[places.index(-1)]!r} in {name!r} is not in the alphabet {cls.alphabet!r}"
            )
        return from_numpy(np.array(places, np.int64))

    @classmethod
    def decode(cls, letters: Tensor) -> str:
        """The string of letters at these places of the alphabet.

        >>> FirstNames.decode(FirstNames.encode("bea"))
        'bea'
        """
        return "".join(cls.alphabet[place] for place in letters.tolist())


def _read() -> list[tuple[str, int, float]]:
    """Each name once, with its label and share; women's names first, by their shares."""
    found: dict[str, tuple[str, int, float]] = {}
    with reading(FILE, SHIPPED), gzip.open(FILE, "rt", encoding="ascii") as file:
        for line in file:
            name, sex, share = line.split()
            entry = name.lower(), "FM".index(sex), float(share)
            if name not in found or entry[2] > found[name][2]:
                found[name] = entry
        if len(found) != 5163:
            raise ValueError(f"expected 5163 names, got {len(found)}")
    return list(found.values())
