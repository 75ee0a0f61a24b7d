"""Views with the dims in another order: nothing is copied, and the gradient is put back in order.

Lesson 02.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..autograd.variable import Tensor
from ..shape import permutation, size_args, wrap_dim
from .registry import function, method
from .viewing import View, looking_inplace
from .views import sized


class Permute(View, fn=""):
    """x with its dims in another order; dx = g with them back in place."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dims):
        ctx.save(dims)
        return x.transpose(dims)

    def backward(ctx, g):
        (dims,) = ctx.saved
        back = [0] * len(dims)
        for i, d in enumerate(dims):
            back[d] = i
        return Permute.fn(g, tuple(back))


def permute(input: Any, dims: Sequence[int]) -> Any:
    """The dims in the order given.

    >>> import tinygrad_course as tg
    >>> permute(tg.zeros(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    return _permuted(input, size_args((dims,), "dims"))


def _permuted(input: Any, dims: tuple[int, ...]) -> Any:
    return Permute.fn(input, permutation(dims, getattr(input, "_array", input).ndim))


class Transpose(View, fn=""):
    """x with two dims swapped; dx = g with them swapped back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dims):
        dim0, dim1 = dims
        ctx.save(dim0, dim1)
        return x.swapaxes(dim0, dim1) if x.ndim else x[...]

    def backward(ctx, g):
        return Transpose.fn(g, ctx.saved)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dims swapped.

    >>> import tinygrad_course as tg
    >>> transpose(tg.zeros(2, 3), 0, 1).stride()
    (1, 3)
    """
    ndim = getattr(input, "_array", input).ndim
    return Transpose.fn(input, (wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)))


class _T(View, fn="", node="TBackward0"):
    """A matrix transposed, a vector or a number as it is; dx = gᵀ."""

    __slots__ = ()

    def forward(ctx, xp, x, /, how):
        return x.transpose()

    def backward(ctx, g):
        return _T.fn(g)


def t(input: Tensor) -> Tensor:
    """A matrix transposed; fewer dims stay as they are.

    >>> import tinygrad_course as tg
    >>> t(tg.tensor([[1, 2]]))
    tensor([[1],
            [2]])
    """
    if input._array.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use transpose "
            "or mT"
        )
    return _T.fn(input)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The dims `source` (an int or a tuple) moved to the places `destination`; the others keep
    their order.

    >>> import tinygrad_course as tg
    >>> movedim(tg.zeros(2, 3, 4), 0, -1).shape
    torch.Size([3, 4, 2])
    """
    moved, places = (
        [d] if isinstance(d, int) else list(size_args((d,), "dim")) for d in (source, destination)
    )
    if len(moved) != len(places):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({moved}) should contain the "
            f"same number of dims as destination ({places})"
        )
    wrapped = [[wrap_dim(d, input.ndim) for d in dims] for dims in (moved, places)]
    for name, dims, given in zip(("source", "destination"), wrapped, (moved, places), strict=True):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if not input.ndim:
        return Permute.fn(input, ())
    others = iter([d for d in range(input.ndim) if d not in wrapped[0]])
    at = dict(zip(wrapped[1], wrapped[0], strict=True))
    return Permute.fn(input, tuple(at[i] if i in at else next(others) for i in range(input.ndim)))


def adjoint(input: Tensor) -> Tensor:
    """The last two dims swapped (real numbers have nothing to conjugate).

    >>> import tinygrad_course as tg
    >>> adjoint(tg.zeros(5, 2, 3)).shape
    torch.Size([5, 3, 2])
    """
    return _matrix_transposed(input, "adjoint()")


def _matrix_transposed(input: Tensor, name: str) -> Tensor:
    if input.ndim == 0:
        _warn_0d(name)
        return input
    if input.ndim < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got "
            f"{input.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def _warn_0d(name: str) -> None:
    warnings.warn(
        f"Tensor.{name} is deprecated on 0-D tensors: it changes nothing", UserWarning, stacklevel=4
    )


def _reversed(self: Tensor) -> Tensor:
    """The dims in reverse order: a matrix transposed."""
    if self.ndim == 0:
        _warn_0d("T")
    elif self.ndim > 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated: use mT for a batch of matrices, or permute()",
            UserWarning,
            stacklevel=3,
        )
    return Permute.fn(self, tuple(range(self.ndim))[::-1])


def _hermitian(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated (which changes nothing for real numbers)."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return _matrix_transposed(self, "H")


function(permute, transpose, t, movedim, adjoint)
function(swapaxes=transpose, swapdims=transpose, moveaxis=movedim)
method(transpose, t, movedim, adjoint, permute=sized(permute, "dims", _permuted))
method(swapaxes=transpose, swapdims=transpose, moveaxis=movedim)
method(
    T=property(_reversed),
    mT=property(lambda self: _matrix_transposed(self, "mT")),
    mH=property(lambda self: _matrix_transposed(self, "mH")),
    H=property(_hermitian),
)
method(
    transpose_=looking_inplace(transpose),
    swapaxes_=looking_inplace(transpose),
    swapdims_=looking_inplace(transpose),
    t_=looking_inplace(t),
)
