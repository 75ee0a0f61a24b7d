"""Random whole numbers: coins, counts, integers between bounds, shuffles, draws by weight.

As in `continuous`, numbers and order are those of PyTorch's CPU kernels. Lesson 01.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .continuous import exponential, require_float, unit
from .generator import Array, Generator, Shape
from .order import in_memory_order

if TYPE_CHECKING:
    import numpy.typing as npt


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
    u = unit(gen, math.prod(shape), np.dtype(np.float64))
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
    require_float(p.dtype, "bernoulli")
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            f"bernoulli needs probabilities from 0 to 1, got {p[~((p >= 0) & (p <= 1))][0]}"
        )
    shape = p.shape if shape is None else shape
    return unit(gen, math.prod(shape), p.dtype).reshape(shape) < p


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
    u = unit(gen, len(rows) * num_samples, np.dtype(np.float64)).reshape(len(rows), num_samples)
    picks = np.stack([np.searchsorted(c, v) for c, v in zip(passed, u, strict=True)])
    return picks.reshape(*weights.shape[:-1], num_samples)
