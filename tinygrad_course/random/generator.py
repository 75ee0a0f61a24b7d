"""The source of all randomness: a `Generator`, a Mersenne twister that can be put back to a state.

Besides the twister's state it keeps one normal number for later, as PyTorch's does. It knows words
of 32 bits, not what is made of them. Lesson 01.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import Device

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..autograd.variable import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

# The seed of a new Generator, as in PyTorch. Only the default generator starts from chance.
DEFAULT_SEED = 67280421310721

# What `get_state` returns, laid out as PyTorch's 5056 bytes, so that either side can continue the
# other's stream.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),  # words until the twister stirs its key again, plus one
        ("seeded", "<i4"),
        ("next", "<u8"),  # the key word that the next draw reads
        ("key", "<u8", 624),
        ("unused", "<f8"),
        ("normal", "<f8"),
        ("unused_too", "<f8"),
        ("has_normal", "<i8"),
        ("single_normal", "<f4"),
        ("has_single_normal", "<i4"),
    ]
)


class Generator:
    """A stream of random 32-bit words: the Mersenne twister MT19937.

    >>> Generator().manual_seed(7).initial_seed()
    7
    """

    __slots__ = ("__weakref__", "_next_normal", "_seed", "_started")

    _seed: int
    _started: np.random.MT19937 | None
    _next_normal: float | None  # the second of a pair of normals, waiting for the next request

    def __init__(self, device: Device | str = "cpu") -> None:
        if Device(device).type != "cpu":
            raise RuntimeError(
                f"Generator(device={str(device)!r}): only the CPU has a Generator here; draw there "
                "and move the result with .to(device)"
            )
        self.manual_seed(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """Where the stream lives: the CPU."""
        return Device("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` anew and return self.

        Seeds go from -2**63 to 2**64 - 1, negative ones count from 2**64, and the twister itself
        takes their low 32 bits. Raises RuntimeError for a seed that is no integer, ValueError for
        one out of range.
        """
        if not isinstance(seed, int | np.integer):
            raise RuntimeError(
                f"manual_seed expects an integer, got {type(seed).__name__} {seed!r}"
            )
        if not -(2**63) <= seed < 2**64:
            raise ValueError(
                f"manual_seed: {seed} does not fit in 64 bits; use -2**63 to 2**64 - 1"
            )
        self._seed = int(seed) % 2**64
        self._started = None
        self._next_normal = None
        return self

    @property
    def _twister(self) -> np.random.MT19937:
        """The twister, made at the first draw: NumPy's random numbers take 6 MB to import."""
        if self._started is None:
            self._started = np.random.MT19937(0)
            np.random.RandomState(self._started).seed(self._seed % 2**32)
        return self._started

    def seed(self) -> int:
        """Seed with 64 bits of the operating system's randomness and return them."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little")).initial_seed()

    def initial_seed(self) -> int:
        """The seed the stream started from, as a number from 0 to 2**64 - 1."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as 5056 bytes in PyTorch's layout, a tensor of uint8."""
        from ..ops.data import from_numpy  # tensors stand above this module

        return from_numpy(self._bytes())

    def _bytes(self) -> npt.NDArray[np.uint8]:
        twister: Any = self._twister.state["state"]
        state = np.zeros(1, _STATE)
        state["seed"], state["seeded"] = self._seed, 1
        state["key"], state["next"] = twister["key"], twister["pos"]
        state["left"] = 625 - twister["pos"]
        if self._next_normal is not None:
            state["normal"], state["has_normal"] = self._next_normal, 1
        return state.view(np.uint8)

    def set_state(self, state: Any) -> Generator:
        """Continue from a state that `get_state` (or PyTorch's) returned; returns self.

        Raises TypeError when it is not uint8, RuntimeError when it is no such state.
        """
        raw = np.asarray(state)
        if raw.dtype != np.uint8:
            raise TypeError(f"the state of a generator is a tensor of uint8, got {raw.dtype}")
        if raw.shape != (_STATE.itemsize,):
            raise RuntimeError(
                f"the state of a generator has {_STATE.itemsize} bytes, got shape {raw.shape}"
            )
        (record,) = np.ascontiguousarray(raw).view(_STATE)
        left, position = int(record["left"]), int(record["next"])
        if record["seeded"] != 1 or not 1 <= left <= 624 or position > 624:
            raise RuntimeError(
                "these bytes are not a seeded generator's state; pass what get_state() returned"
            )
        if left == 1:  # PyTorch writes next = 0 when the seed was set and nothing drawn since
            position = 624
        key = record["key"].astype(np.uint32)
        self._twister.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}
        self._seed = int(record["seed"])
        self._next_normal = float(record["normal"]) if record["has_normal"] else None
        return self

    def words(self, n: int) -> npt.NDArray[np.uint32]:
        """The next n 32-bit words."""
        return self._twister.random_raw(n).astype(np.uint32)

    def double_words(self, n: int) -> npt.NDArray[np.uint64]:
        """The next n 64-bit words, of two 32-bit words each, the first one high."""
        words = self._twister.random_raw(2 * n)
        return words[::2] << np.uint64(32) | words[1::2]


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: Any) -> Generator:
    """Seeds the generator behind all random functions; the numbers then are PyTorch's for that
    seed.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seeds the default generator from chance and returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continues the default generator from a state that `get_rng_state` returned.

    >>> state = get_rng_state(); a = default_generator.words(5)
    >>> set_rng_state(state); (a == default_generator.words(5)).all()
    np.True_
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng() -> Iterator[None]:
    """Within the block, random numbers leave the default generator as it was."""
    state = default_generator._bytes()
    try:
        yield
    finally:
        default_generator.set_state(state)
