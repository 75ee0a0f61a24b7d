"""Random numbers on the real line: uniform, normal, exponential, Cauchy, log-normal.

Each function turns the generator's words into an array as PyTorch's CPU kernels do: the same
formulas in the same precision, in the same order. Lesson 01.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .generator import Array, Generator, Shape

if TYPE_CHECKING:
    import numpy.typing as npt


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
    dtype = require_float(dtype, "uniform_")
    for name, value in (("from", low), ("to", high), ("to - from", high - low)):
        if not abs(value) <= float(np.finfo(dtype).max):
            raise RuntimeError(f"uniform_: {name} = {value} is out of bounds for {dtype}")
    if low > high:
        raise RuntimeError(f"uniform_ draws from [from, to), but from={low} is above to={high}")
    u = unit(gen, math.prod(shape), dtype)
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
    dtype = require_float(dtype, "normal_")
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
    u = unit(gen, math.prod(shape), np.dtype(np.float64))
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
    u = unit(gen, math.prod(shape), np.dtype(np.float64))
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
    dtype = require_float(dtype, "log_normal_")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    z = _normal_pairs(gen, math.prod(shape))
    return np.exp(z * std + mean).astype(dtype).reshape(shape)


# ---------------------------------------------------------------- helpers


def require_float(dtype: npt.DTypeLike, op: str) -> np.dtype[Any]:
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


def unit(gen: Generator, n: int, dtype: np.dtype[Any]) -> Array:
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
    u = unit(gen, missing + missing % 2, np.dtype(np.float64)).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log1p(-u[:, 1])), 2 * np.pi * u[:, 0]
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
    if n:
        gen._next_normal = float(z[-1]) if missing % 2 else None
    return np.concatenate([waiting, z[:missing]])


def _normal_blocks(gen: Generator, n: int, dtype: np.dtype[Any]) -> Array:
    """n >= 16 standard normals in blocks of 16; a last part of a block redraws the last 16."""
    whole = n - n % 16
    # float16 goes block by block. The others first draw for every place, even for one redrawn.
    u = unit(gen, whole if dtype == np.float16 else n, dtype)
    z = np.empty(n, u.dtype)
    z[:whole] = _box_muller(u[:whole].reshape(-1, 16)).ravel()
    if n % 16:
        z[-16:] = _box_muller(unit(gen, 16, dtype).reshape(1, 16)).ravel()
    return z


def _box_muller(u: Array) -> Array:
    """Blocks (b, 16) of uniforms to normals: 8 radii and 8 angles to 8 cosines and 8 sines."""
    radius, angle = np.sqrt(-2 * np.log(1 - u[:, :8])), 2 * np.pi * u[:, 8:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
