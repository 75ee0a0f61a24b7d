"""tg.linalg: norms of vectors and matrices, powers and chains of matrices.

The names of `torch.linalg` that the course uses. Lesson 03.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .autograd.variable import Tensor
from .dtype import DType, float16
from .ops.convert import Contiguous
from .ops.creation import eye
from .ops.decompose import SVD, Inverse, LinAlgError
from .ops.norms import VectorNorm
from .ops.permute import movedim
from .ops.products import linalg_cross as cross
from .ops.registry import with_out
from .ops.views import reshape, unsqueeze
from .shape import as_int, wrap_dim

__all__ = [
    "LinAlgError",
    "cross",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vector_norm",
]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"tinygrad_course.linalg has no {name!r}. Where PyTorch has it, this engine leaves it out: "
        f"there are {', '.join(__all__)}."
    )


def _require_floats(A: Tensor, name: str, dtype: DType | None) -> None:
    if not A.is_floating_point():
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point tensor as input. Got {A.dtype!r}: convert "
            "with .float()"
        )
    if dtype is not None and (not dtype.is_floating_point or dtype.itemsize < A.element_size()):
        raise RuntimeError(
            f"linalg.{name}: the dtype of the input ({A.dtype!r}) should be convertible without "
            f"narrowing to the specified dtype ({dtype!r})"
        )


@with_out
def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The norm (Σ |x|^ord)^(1/ord) over `dim` (all), ord being a number or ±inf.

    >>> import tinygrad_course as tg
    >>> vector_norm(tg.tensor([[3., 4.], [6., 8.]]), dim=1)
    tensor([ 5., 10.])
    """
    if not isinstance(ord, int | float):
        raise TypeError(f"vector_norm(): ord must be a number, not {type(ord).__name__}")
    _require_floats(x, "vector_norm", dtype)
    return VectorNorm.fn(x, ord, dim, keepdim, dtype)  # type: ignore[no-any-return]


@with_out
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """A norm of the matrices in two dims: "fro" (the root of the sum of squares), "nuc" (the sum of
    the singular values), ±1 and ±inf (the largest or smallest sum of a column's or a row's
    absolute values), ±2 (the largest or smallest singular value).

    >>> import tinygrad_course as tg
    >>> A = tg.tensor([[1., -2.], [3., 4.]])
    >>> matrix_norm(A, 1), matrix_norm(A, math.inf)
    (tensor(6.), tensor(7.))
    """
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    _require_floats(A, "matrix_norm", dtype)
    if not isinstance(dim, Sequence) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    row, column = (wrap_dim(d, A.ndim) for d in dim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    if ord == "fro":
        return vector_norm(A, 2, (row, column), keepdim, dtype=dtype)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    A = A if dtype is None else A.to(dtype)
    if ord in ("nuc", 2, -2):
        if A.dtype is float16:
            raise RuntimeError("linalg.matrix_norm: Low precision dtypes not supported. Got Half")
        values = SVD.fn(movedim(A, (row, column), (-2, -1)))[1]
        if ord == "nuc":
            result = values.sum(-1, keepdim=keepdim)
        else:
            result = _extreme(values, ord, -1, keepdim)
        return movedim(unsqueeze(result, -1), (-2, -1), (row, column)) if keepdim else result
    sums = vector_norm(A, 1, row if abs(ord) == 1 else column, keepdim=True)
    return _extreme(sums, ord, (row, column), keepdim)


def _extreme(x: Tensor, ord: float, dim: Any, keepdim: bool) -> Tensor:
    return x.amax(dim, keepdim=keepdim) if ord > 0 else x.amin(dim, keepdim=keepdim)


@with_out
def norm(
    A: Tensor,
    ord: Any = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """A vector norm over one dim, a matrix norm over two; without `ord` the root of the sum of
    squares.

    >>> import tinygrad_course as tg
    >>> norm(tg.tensor([[3., 4.]])), norm(tg.tensor([3., -4.]), 1)
    (tensor(5.), tensor(7.))
    """
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is None:
        if dims is not None and len(dims) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
            )
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if dims is None:
        if A.ndim not in (1, 2) and not isinstance(ord, str):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.ndim}D."
            )
        dims = (-2, -1) if A.ndim == 2 or isinstance(ord, str) else (-1,)
    if len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    if len(dims) == 1 and not isinstance(ord, str):
        return vector_norm(A, ord, dims, keepdim, dtype=dtype)
    return matrix_norm(A, ord, dims, keepdim, dtype=dtype)


@with_out
def matrix_power(A: Tensor, n: int) -> Tensor:
    """The product of n times the same square matrix (or of each one in a batch); of its inverse for
    a negative n.

    >>> import tinygrad_course as tg
    >>> matrix_power(tg.tensor([[1., 1.], [0., 1.]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    n = as_int(n, "n")
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_power: The input tensor A must have at least 2 dimensions."
        )
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{rows} by {columns} matrices"
        )
    if n < 0:
        _require_floats(A, "inv", None)
        inverse: Tensor = Inverse.fn(A)
        return inverse if n == -1 else matrix_power(inverse, -n)
    if n < 2:
        copy: Tensor = Contiguous.fn(A)
        return copy if n else copy.copy_(eye(rows, dtype=A.dtype, device=A.device))
    # A^n is (A²)^(n/2), and A · A^(n - 1) for an odd n.
    half = matrix_power(A @ A, n // 2) if n > 3 else A @ A
    return half if n % 2 == 0 else half @ A


@with_out
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices in the order that takes the fewest multiplications; the first
    and the last may be vectors.

    >>> import tinygrad_course as tg
    >>> multi_dot([tg.ones(3), tg.ones(3, 4), tg.ones(4, 2)])
    tensor([12., 12.])
    """
    matrices = list(tensors)
    n = len(matrices)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, x in enumerate(matrices):
        allowed = (1, 2) if i in (0, n - 1) else (2,)
        if x.ndim not in allowed:
            raise RuntimeError(
                f"multi_dot(): tensor {i} of {n} must be {' or '.join(f'{d}D' for d in allowed)}, "
                f"but got {x.ndim}D"
            )
        if x.dtype is not matrices[0].dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have the same dtype, but tensor 0 is "
                f"{matrices[0].dtype!r} and tensor {i} {x.dtype!r}"
            )
    first, last = matrices[0], matrices[-1]
    if first.ndim == 1:
        matrices[0] = unsqueeze(first, 0)
    if last.ndim == 1:
        matrices[-1] = unsqueeze(last, -1)
    for i, (x, y) in enumerate(pairwise(matrices)):
        if x.shape[1] != y.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(x.shape)} and "
                f"{list(y.shape)} cannot be multiplied"
            )
    result = _cheapest(matrices)
    return reshape(result, (*first.shape[:-1], *last.shape[1:]))


def _cheapest(matrices: list[Tensor]) -> Tensor:
    """The product of matrices, bracketed so that it takes the fewest multiplications."""
    n = len(matrices)
    sizes = [matrices[0].shape[0], *(x.shape[1] for x in matrices)]
    cost = {(i, i): 0 for i in range(n)}
    cut = {}
    for length in range(2, n + 1):  # of the runs i … j, the shorter ones first
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j], cut[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        return product(i, cut[i, j]) @ product(cut[i, j] + 1, j)

    return product(0, n - 1)
