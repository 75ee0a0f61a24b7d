"""Random numbers: PyTorch's CPU stream, number for number.

A `Generator` is a Mersenne twister plus one normal number kept for later. Every function below
turns its 32-bit words into an array exactly as PyTorch's CPU kernels do, so that equal seeds give
equal weights, masks and shuffles in both. It knows NumPy arrays only; tensors, dtype defaults and
other devices are the business of `ops/sampling.py`.

Lesson: a "random" number is a pure function of the seed and of how many words were drawn before it.
Two programs agree only as long as they draw equally many words, in the same order.
"""

import math
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .device import Device
from .layout import memory_order

if TYPE_CHECKING:
    from .autograd.variable import Tensor

Array = npt.NDArray[Any]
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


# ---------------------------------------------------------------- the source of words


class Generator:
    """A stream of random 32-bit words: the Mersenne twister MT19937.

    >>> Generator().manual_seed(7).initial_seed()
    7
    """

    __slots__ = ("__weakref__", "_next_normal", "_seed", "_twister")

    _seed: int
    _twister: np.random.MT19937
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

    def manual_seed(self, seed: int) -> "Generator":
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
        self._twister = np.random.MT19937(0)
        np.random.RandomState(self._twister).seed(self._seed % 2**32)
        self._next_normal = None
        return self

    def seed(self) -> int:
        """Seed with 64 bits of the operating system's randomness and return them."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def initial_seed(self) -> int:
        """The seed the stream started from, as a number from 0 to 2**64 - 1."""
        return self._seed

    def get_state(self) -> "Tensor":
        """The state as 5056 bytes in PyTorch's layout, a tensor of uint8."""
        from .ops.data import from_numpy  # tensors stand above this module

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

    def set_state(self, state: Any) -> "Generator":
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


def get_rng_state() -> "Tensor":
    """The state of the default generator, a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continues the default generator from a state that `get_rng_state` returned.

    >>> state = get_rng_state(); a = randperm(default_generator, 5)
    >>> set_rng_state(state); (a == randperm(default_generator, 5)).all()
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


# ---------------------------------------------------------------- floating point numbers


def uniform(
    gen: Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float32,
    low: float = 0.0,
    high: float = 1.0,
) -> Array:
    """Numbers spread evenly over [low, high): x = u (high - low) + low.

    u is a multiple of 2^-24, of 2^-53 for float64. Raises NotImplementedError for a dtype that is
    not floating point, RuntimeError for low > high or bounds that the dtype cannot hold.

    >>> uniform(Generator().manual_seed(0), (2,)).tolist()
    [0.49625658988952637, 0.7682217955589294]
    """
    dtype = _floating(dtype, "uniform_")
    for name, value in (("from", low), ("to", high), ("to - from", high - low)):
        if not abs(value) <= float(np.finfo(dtype).max):
            raise RuntimeError(f"uniform_: {name} = {value} is out of bounds for {dtype}")
    if low > high:
        raise RuntimeError(f"uniform_ draws from [from, to), but from={low} is above to={high}")
    u = _unit(gen, math.prod(shape), dtype)
    x = _scale(u, float(u.dtype.type(high) - u.dtype.type(low)), low).astype(dtype, copy=False)
    # Rounding can reach the open end of the interval; PyTorch sends those to the closed end.
    x[x == dtype.type(high)] = low
    return x.reshape(shape)


def normal(
    gen: Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float32,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """Normally distributed numbers, mean + std z, by Box and Muller.

    From two uniforms u, v: z = sqrt(-2 log(1 - u)) cos(2 pi v), and a second one with the sine. 16
    numbers or more are made in blocks of 16 in the dtype's own precision; fewer, or those for a
    tensor that is not contiguous, are made by pairs in double precision, and the spare one of an
    odd count waits in the generator for the next such call.
    Raises NotImplementedError for a dtype that is not floating point, RuntimeError for std < 0.

    >>> [round(float(z), 4) for z in normal(Generator().manual_seed(0), (2,))]
    [1.541, -0.2934]
    """
    dtype = _floating(dtype, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal_ needs a standard deviation of 0 or more, got std={std}")
    n = math.prod(shape)
    by_blocks = n >= 16 and contiguous
    z = _normal_blocks(gen, n, dtype) if by_blocks else _normal_pairs(gen, n)
    return _scale(z, float(std), float(mean)).astype(dtype, copy=False).reshape(shape)


def exponential(
    gen: Generator, shape: Shape, dtype: npt.DTypeLike = np.float32, lambd: float = 1.0
) -> Array:
    """Exponentially distributed numbers, x = -log(1 - u) / lambd with u in double precision.

    Raises RuntimeError for a dtype that is not floating point and for lambd <= 0.
    """
    dtype = _continuous(dtype, "exponential_")
    if not lambd > 0:
        raise RuntimeError(f"exponential_ needs a rate above 0, got lambd={lambd}")
    u = _unit(gen, math.prod(shape), np.dtype(np.float64))
    return (np.log1p(-u) * (-1.0 / lambd)).astype(dtype, copy=False).reshape(shape)


def cauchy(
    gen: Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float32,
    median: float = 0.0,
    sigma: float = 1.0,
) -> Array:
    """Cauchy distributed numbers, median + sigma tan(pi (u - 1/2)) with u in double precision.

    Raises RuntimeError for a dtype that is not floating point and for sigma <= 0.
    """
    dtype = _continuous(dtype, "cauchy_")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    u = _unit(gen, math.prod(shape), np.dtype(np.float64))
    return (median + sigma * np.tan(np.pi * (u - 0.5))).astype(dtype).reshape(shape)


def log_normal(
    gen: Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float32,
    mean: float = 1.0,
    std: float = 2.0,
) -> Array:
    """exp(mean + std z) with z normal, made by pairs in double precision.

    Raises NotImplementedError for a dtype that is not floating point, RuntimeError for std <= 0.
    """
    dtype = _floating(dtype, "log_normal_")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    z = _normal_pairs(gen, math.prod(shape))
    return np.exp(z * std + mean).astype(dtype).reshape(shape)


def geometric(
    gen: Generator, shape: Shape, dtype: npt.DTypeLike = np.float32, p: float = 0.5
) -> Array:
    """The number of the first success, ceil(log(u) / log(1 - p)) with u in double precision.

    Raises RuntimeError for p outside (0, 1), NotImplementedError for booleans.
    """
    dtype = np.dtype(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    if dtype.kind == "b":
        raise NotImplementedError("geometric_ is not implemented for bool: it counts")
    u = _unit(gen, math.prod(shape), np.dtype(np.float64))
    tries: Array = np.ceil(np.log(u) / np.log1p(-p))
    return tries.astype(dtype).reshape(shape)


def bernoulli(
    gen: Generator, p: npt.ArrayLike, shape: Shape | None = None
) -> npt.NDArray[np.bool_]:
    """True with probability p, as booleans of p's shape (a single p: of `shape`): u < p.

    A Python number and float64 cost two words a value, float32 and float16 one, as in PyTorch.
    Raises RuntimeError for a probability outside [0, 1], NotImplementedError for one that is not
    floating point.
    """
    p = np.asarray(float(p) if isinstance(p, int) else p)
    _floating(p.dtype, "bernoulli")
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            f"bernoulli needs probabilities from 0 to 1, got {p[~((p >= 0) & (p <= 1))][0]}"
        )
    shape = p.shape if shape is None else shape
    return _unit(gen, math.prod(shape), p.dtype).reshape(shape) < p


# ---------------------------------------------------------------- integers


def randint(
    gen: Generator, low: int, high: int | None, shape: Shape, dtype: npt.DTypeLike = np.int64
) -> Array:
    """Whole numbers from low to high - 1 (None: to the greatest of the dtype), low + word mod span.

    Spans of 2^28 and more take 64-bit words, which keeps the modulo's bias invisible. Raises
    RuntimeError for low >= high, and for bounds that an integer dtype cannot hold.

    >>> randint(Generator().manual_seed(0), 0, 10, (4,)).tolist()
    [4, 9, 3, 0]
    """
    dtype = np.dtype(dtype)
    greatest = _greatest(dtype)
    if high is None and low == -(2**63):
        if dtype.kind not in "if" or dtype.itemsize < 4 + 4 * (dtype.kind == "i"):
            raise RuntimeError(f"{dtype} cannot hold whole numbers of all 64 bits")
        return gen.double_words(math.prod(shape)).view(np.int64).astype(dtype).reshape(shape)
    if high is not None and low >= high:
        raise RuntimeError(
            "random numbers are drawn from low (from) to high (to) - 1, but "
            f"low={low} is not below high={high}"
        )
    end = greatest + 1 if high is None else high
    least, most = _limits(dtype)
    for name, value in (("low", low), ("high - 1", end - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"{name} = {value} is out of bounds for {dtype}")
    if dtype.kind == "f":
        low = _inward(low, dtype, up=True)
        end = end if high is None else _inward(high - 1, dtype, up=False) + 1
    if low >= end:
        raise RuntimeError(f"{dtype} has no number from low={low} to high={high}")
    n, span = math.prod(shape), end - low
    words = gen.words(n).astype(np.uint64) if span < 2**28 else gen.double_words(n)
    # Unsigned arithmetic wraps around, so low = -2**63 with a range of 2**64 - 1 is right as well.
    drawn = (words % np.uint64(span) + np.uint64(low % 2**64)).view(np.int64)
    return drawn.astype(dtype).reshape(shape)


def _greatest(dtype: np.dtype[Any]) -> int:
    """The greatest whole number of a dtype, of floats the one up to which none is left out."""
    if dtype.kind == "f":
        return int(2 ** (np.finfo(dtype).nmant + 1))
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtype.kind == "b":
        return 0, 1
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return limits.min, limits.max


def _inward(bound: int, dtype: np.dtype[Any], up: bool) -> int:
    """A bound of a draw, moved inward to a number that a float dtype holds, when it would round
    outward."""
    reached = int(dtype.type(bound + 1 if up else bound))
    if (reached >= bound) if up else (reached <= bound):
        return bound
    gap = 2 ** (abs(bound + 1 if up else bound).bit_length() - np.finfo(dtype).nmant - 1)
    return int(reached + gap if up else reached - gap - 1)


def random(gen: Generator, shape: Shape, dtype: npt.DTypeLike = np.int64) -> Array:
    """Whole numbers from 0 to the greatest of the dtype, as `x.random_()` draws them.

    For a floating point dtype the greatest is 2^digits, above which it skips whole numbers.

    >>> random(Generator().manual_seed(0), (2,), np.uint8).tolist()
    [172, 47]
    """
    dtype = np.dtype(dtype)
    span = _greatest(dtype) + 1
    n = math.prod(shape)
    words = gen.double_words(n) if dtype.itemsize == 8 else gen.words(n)
    return (words % words.dtype.type(span)).astype(dtype).reshape(shape)


def randperm(gen: Generator, n: int) -> npt.NDArray[np.int64]:
    """The numbers 0 to n - 1 in random order.

    Fisher and Yates' shuffle, from the front, one word a step. Raises RuntimeError for n < 0.

    >>> randperm(Generator().manual_seed(0), 4).tolist()
    [0, 1, 3, 2]
    """
    if n < 0:
        raise RuntimeError(f"randperm needs a length of 0 or more, got n={n}")
    order = list(range(n))
    ahead = gen.words(max(n - 1, 0)) % np.arange(n, 1, -1, dtype=np.uint32)
    # Each swap depends on the ones before: a loop, on a list, which it reads faster than an array.
    for i, step in enumerate(ahead.tolist()):
        j = i + step
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def multinomial(
    gen: Generator, weights: Array, num_samples: int, replacement: bool = False
) -> npt.NDArray[np.int64]:
    """`num_samples` indices of the last axis of `weights`, (n,) or (rows, n), drawn by weight.

    With replacement: where the cumulative weight passes a uniform number. Without: the largest of
    weight / exponential, an exponential race whose first finishers are distributed as draws one
    after the other. Raises RuntimeError for negative, infinite or all-zero weights and for more
    samples than there are weights.
    """
    if weights.dtype.kind != "f":
        raise RuntimeError(f"multinomial needs weights of a float dtype, got {weights.dtype}")
    if weights.ndim not in (1, 2) or weights.shape[-1] == 0:
        raise RuntimeError(
            f"multinomial needs weights of shape (n,) or (rows, n), got {weights.shape}"
        )
    if num_samples <= 0:
        raise RuntimeError(f"multinomial needs num_samples of 1 or more, got {num_samples}")
    n = weights.shape[-1]
    if not replacement and num_samples > n:
        raise RuntimeError(
            f"multinomial cannot draw {num_samples} of {n} weights without replacement; "
            "pass replacement=True or ask for fewer"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("multinomial: a weight is negative, infinite or nan")
    if (weights.sum(-1) == 0).any():
        raise RuntimeError("multinomial: the weights sum to zero, so there is nothing to draw")
    if not replacement or num_samples == 1:
        times = in_memory_order(weights, lambda shape: exponential(gen, shape, weights.dtype))
        order: Array = np.argsort(-weights / times, axis=-1, kind="stable")
        return order[..., :num_samples].copy()
    rows = weights.reshape(-1, n).astype(np.float64)
    passed = np.cumsum(rows, axis=-1)
    passed /= passed[:, -1:]
    u = _unit(gen, len(rows) * num_samples, np.dtype(np.float64)).reshape(len(rows), num_samples)
    picks = np.stack([np.searchsorted(c, v) for c, v in zip(passed, u, strict=True)])
    return picks.reshape(*weights.shape[:-1], num_samples)


# ---------------------------------------------------------------- the order of an in-place fill


def in_memory_order(x: Array, draw: Callable[[Shape], Array]) -> Array:
    """What x is to hold after an in-place fill, which visits its elements as they lie in memory.

    `draw(shape)` is called once, with the shape that x has when its largest step comes first.

    >>> x = np.zeros((2, 3)).T
    >>> in_memory_order(x, lambda shape: np.arange(6).reshape(shape)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    axes = memory_axes(x)
    values = draw(tuple(x.shape[axis] for axis in axes))
    return values.transpose(sorted(range(x.ndim), key=axes.__getitem__))


def memory_axes(x: Array) -> list[int]:
    """The axes of x from the largest step in memory to the smallest."""
    return memory_order(x.shape, x.strides)


# ---------------------------------------------------------------- helpers


def _floating(dtype: npt.DTypeLike, op: str) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise NotImplementedError(
            f"{op} is not implemented for {dtype}; use a floating point dtype"
        )
    return dtype


def _continuous(dtype: npt.DTypeLike, op: str) -> np.dtype[Any]:
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise RuntimeError(
            f"{op} draws from a continuous distribution: the dtype must be floating point, not "
            f"{dtype}"
        )
    return dtype


def _unit(gen: Generator, n: int, dtype: np.dtype[Any]) -> Array:
    """n numbers in [0, 1): float64 from 53 of 64 bits, for other dtypes float32 from 24 of 32."""
    if dtype == np.float64:
        return (gen.double_words(n) & np.uint64(2**53 - 1)) * 2.0**-53
    return (gen.words(n) & np.uint32(2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)


def _scale(x: Array, factor: float, shift: float) -> Array:
    """factor x + shift in x's precision.

    PyTorch's kernels multiply and add with one rounding. For float32 a detour through float64
    gives the same bits. float64 has no wider type to go through, so there the product's rounding
    can show in the last bit.
    """
    if factor == 1.0 and shift == 0.0:
        return x
    f, s = x.dtype.type(factor), x.dtype.type(shift)
    return (x * np.float64(f) + np.float64(s)).astype(x.dtype)


def _normal_pairs(gen: Generator, n: int) -> npt.NDArray[np.float64]:
    """n standard normals in double precision; an odd one out waits in the generator."""
    waiting = [] if gen._next_normal is None or n == 0 else [gen._next_normal]
    missing = n - len(waiting)
    u = _unit(gen, missing + missing % 2, np.dtype(np.float64)).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log1p(-u[:, 1])), 2 * np.pi * u[:, 0]
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
    if n:
        gen._next_normal = float(z[-1]) if missing % 2 else None
    return np.concatenate([waiting, z[:missing]])


def _normal_blocks(gen: Generator, n: int, dtype: np.dtype[Any]) -> Array:
    """n >= 16 standard normals in blocks of 16; a last part of a block redraws the last 16."""
    whole = n - n % 16
    # float16 goes block by block. The others first draw for every place, even for one redrawn.
    u = _unit(gen, whole if dtype == np.float16 else n, dtype)
    z = np.empty(n, u.dtype)
    z[:whole] = _box_muller(u[:whole].reshape(-1, 16)).ravel()
    if n % 16:
        z[-16:] = _box_muller(_unit(gen, 16, dtype).reshape(1, 16)).ravel()
    return z


def _box_muller(u: Array) -> Array:
    """Blocks (b, 16) of uniforms to normals: 8 radii and 8 angles to 8 cosines and 8 sines."""
    radius, angle = np.sqrt(-2 * np.log(1 - u[:, :8])), 2 * np.pi * u[:, 8:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
