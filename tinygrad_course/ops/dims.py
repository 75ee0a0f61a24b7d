"""What all operations along dims share: counting and checking the reduced elements, their types,
and spreading a gradient back over them. Lesson 03."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..device import Array
from ..dtype import DType
from .views import expand


def numpy_type(dtype: DType | None, x: Array) -> Any:
    """The type in which to add up `x`: `dtype`, or int64 for integers and bools."""
    if dtype is not None:
        if not isinstance(dtype, DType):
            raise TypeError(f"dtype must be one of tg.float32, tg.int64, …, not {dtype!r}")
        return dtype.numpy
    return "int64" if x.dtype.kind in "iub" else x.dtype


def sums(xp: Any, x: Array, dims: tuple[int, ...], keepdim: bool, dtype: Any = None) -> Array:
    """Σ x over `dims`, in the type of x or another.

    Over the first dims or the last it is the product of a matrix and a vector of ones, which BLAS
    makes in half the time that sum() takes, and less.
    """
    same = dtype is None or dtype == x.dtype
    if xp is np and same and x.size > 2000 and x.dtype.char in "fd" and x.flags.c_contiguous:
        start, stop = min(dims), max(dims) + 1
        if stop - start == len(dims) < x.ndim and (start == 0 or stop == x.ndim):
            ones = np.ones(math.prod(x.shape[start:stop]), x.dtype)
            y = ones @ x.reshape(ones.size, -1) if start == 0 else x.reshape(-1, ones.size) @ ones
            return y.reshape(*x.shape[:start], *(1,) * (len(dims) * keepdim), *x.shape[stop:])
    return x.sum(dims, dtype=dtype, keepdims=keepdim)


def row_major(y: Array) -> Array:
    """`y` in row-major memory, as PyTorch's reductions make it; NumPy's follow their input."""
    if not y.flags.c_contiguous:
        return y.copy()
    if y.ndim < 2 or 1 not in y.shape:
        return y
    # Where a size is 1 NumPy's flags say nothing of the strides, which PyTorch shows all the same.
    return y.reshape(-1).reshape(y.shape)


def count(x: Any, dims: tuple[int, ...]) -> int:
    """How many elements lie along `dims`."""
    shape = x.shape
    return math.prod([shape[d] for d in dims]) if len(shape) else 1


def require_elements(name: str, x: Any, dim: Any, dims: tuple[int, ...]) -> None:
    """RuntimeError or IndexError for no elements, of which there is no largest."""
    if 0 not in x.shape:
        return
    if dim is None or dim == ():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0, shape "
            f"{list(x.shape)}: pass a dim that has elements"
        )
    for d in dims:
        if x.shape[d] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {d} to have non-zero size, in a tensor of shape "
                f"{list(x.shape)}"
            )


def spread(g: Any, shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> Any:
    """`g`, the gradient of a reduction over `dims`, expanded back to `shape`: a view with stride
    0."""
    if not keepdim:
        g = g.reshape(tuple(1 if i in dims else n for i, n in enumerate(shape)))
    return expand(g, shape)


def without(x: Array, dim: int, keepdim: bool) -> Array:
    """A result of size 1 along `dim`, without that dim unless `keepdim`."""
    return x if keepdim or not x.ndim else x.reshape(x.shape[:dim] + x.shape[dim + 1 :])
