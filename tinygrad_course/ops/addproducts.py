"""Products that add to something: beta·c + alpha·(x @ y) in one node, for addmm and its kin.
Lesson 03."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..autograd.node import unbroadcast
from ..autograd.variable import Tensor
from ..dtype import number_for, result_type
from .inplace import change
from .registry import Op, function, method, with_out
from .views import expand


class _AddProduct(Op):
    """Base of beta·c + alpha·(x · y): c broadcasts to the product; dc = beta·g, dx and dy those of
    the product of alpha·g."""

    __slots__ = ()
    for_x: ClassVar[Callable[..., Any]]
    for_y: ClassVar[Callable[..., Any]]

    def backward(ctx, g):
        shape, x, y, beta, alpha = ctx.saved
        gc = None
        if ctx.needs[0]:
            gc = unbroadcast(g, shape) if tuple(g.shape) != shape else g
            gc = gc if beta == 1 else gc * beta
        g = g if alpha == 1 else g * alpha
        gx = ctx.for_x(g, y) if ctx.needs[1] else None
        gy = ctx.for_y(g, x) if ctx.needs[2] else None
        return gc, gx, gy


def _sum(ctx, c, x, y, product, beta, alpha):
    """beta·c + alpha·product; with beta 0 the values of c don't count, not even nan."""
    ctx.save(c.shape, x if ctx.needs[2] else None, y if ctx.needs[1] else None, beta, alpha)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (c if beta == 1 else c * beta)


class Addmm(_AddProduct, fn=""):
    """beta·c + alpha·(x @ y) for matrices."""

    __slots__ = ()

    def forward(ctx, xp, c, x, y, /, beta, alpha):
        return _sum(ctx, c, x, y, xp.matmul(x, y), beta, alpha)

    def for_x(ctx, g, y):
        return g @ y.swapaxes(0, 1)

    def for_y(ctx, g, x):
        return x.swapaxes(0, 1) @ g


class Addmv(_AddProduct, fn=""):
    """beta·c + alpha·(x @ y) for a matrix and a vector."""

    __slots__ = ()

    def forward(ctx, xp, c, x, y, /, beta, alpha):
        return _sum(ctx, c, x, y, xp.matmul(x, y), beta, alpha)

    def for_x(ctx, g, y):
        return g.reshape((-1, 1)) * y

    def for_y(ctx, g, x):
        return x.swapaxes(0, 1) @ g


class Addr(_AddProduct, fn=""):
    """beta·c + alpha·(the outer product of the vectors x and y)."""

    __slots__ = ()

    def forward(ctx, xp, c, x, y, /, beta, alpha):
        return _sum(ctx, c, x, y, x.reshape((-1, 1)) * y, beta, alpha)

    def for_x(ctx, g, y):
        return g @ y

    def for_y(ctx, g, x):
        return x @ g


class Baddbmm(_AddProduct, fn=""):
    """beta·c[i] + alpha·(x[i] @ y[i]) for batches of matrices."""

    __slots__ = ()

    def forward(ctx, xp, c, x, y, /, beta, alpha):
        return _sum(ctx, c, x, y, xp.matmul(x, y), beta, alpha)

    def for_x(ctx, g, y):
        return g @ y.swapaxes(1, 2)

    def for_y(ctx, g, x):
        return x.swapaxes(1, 2) @ g


class Addbmm(_AddProduct, fn=""):
    """beta·c + alpha·Σ x[i] @ y[i] over a batch of matrices."""

    __slots__ = ()

    def forward(ctx, xp, c, x, y, /, beta, alpha):
        n, rows, inner = x.shape
        # One product of wide matrices: the sum over the batch is part of it.
        left = x.transpose(1, 0, 2).reshape(rows, n * inner)
        product = left @ y.reshape(n * inner, y.shape[2])
        return _sum(ctx, c, x, y, product, beta, alpha)

    def for_x(ctx, g, y):
        return g @ y.swapaxes(1, 2)

    def for_y(ctx, g, x):
        return x.swapaxes(1, 2) @ g


def _promoted(c: Tensor, x: Tensor, y: Tensor, alpha: Any) -> list[Tensor]:
    dtype = result_type(c._array, x._array, y._array)
    if isinstance(alpha, float) and not dtype.is_floating_point:
        raise RuntimeError(
            f"addr: for integers alpha must not be a floating point number, got {alpha}"
        )
    return [v.to(dtype) for v in (c, x, y)]


def _matrices(x: Tensor, y: Tensor) -> tuple[int, ...]:
    for name, m in (("mat1", x), ("mat2", y)):
        if m.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {m.ndim}-D tensor")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, x.shape))} and {'x'.join(map(str, y.shape))})"
        )
    return x.shape[0], y.shape[1]


def _matrix_and_vector(x: Tensor, y: Tensor) -> tuple[int, ...]:
    if x.ndim != 2 or y.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {x.ndim}D and {y.ndim}D")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(f"size mismatch, got mat {list(x.shape)}, vec {list(y.shape)}")
    return (x.shape[0],)


def _vectors(x: Tensor, y: Tensor) -> tuple[int, ...]:
    for name, v in (("vec1", x), ("vec2", y)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {v.ndim}-D")
    return x.shape[0], y.shape[0]


def _batches(x: Tensor, y: Tensor) -> tuple[int, ...]:
    for name, m in (("batch1", x), ("batch2", y)):
        if m.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor, but has shape {list(m.shape)}")
    if x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        raise RuntimeError(
            "batch1 and batch2 must have the same number of batches, and matrices that can be "
            f"multiplied: got {list(x.shape)} and {list(y.shape)}"
        )
    return x.shape[0], x.shape[1], y.shape[2]


def _added(
    op: type[_AddProduct],
    c: Tensor,
    x: Tensor,
    y: Tensor,
    shape: tuple[int, ...],
    beta: Any,
    alpha: Any,
    inplace: bool = False,
) -> Tensor:
    """The operation on tensors of one dtype, of which c broadcasts to `shape`, that of the
    product."""
    if op is Addr:
        promoted, x, y = _promoted(c, x, y, alpha)
        c = c if inplace else promoted
    elif not c.dtype is x.dtype is y.dtype:
        raise RuntimeError(
            f"{op.__name__.lower()}: the tensors must have the same dtype, but have {c.dtype!r}, "
            f"{x.dtype!r} and {y.dtype!r}"
        )
    if c.shape != shape:
        expand(c, shape)  # says what is wrong when it doesn't broadcast
    numbers = {"beta": number_for(beta, x.dtype), "alpha": number_for(alpha, x.dtype)}
    return change(op, c, (x, y), numbers) if inplace else op.fn(c, x, y, **numbers)


@with_out
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta·input + alpha·(mat1 @ mat2); with beta 0 the input's values don't count, not even nan.

    >>> import tinygrad_course as tg
    >>> addmm(tg.ones(1), tg.ones(1, 2), tg.ones(2, 1), beta=10)
    tensor([[12.]])
    """
    return _added(Addmm, input, mat1, mat2, _matrices(mat1, mat2), beta, alpha)


@with_out
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta·input + alpha·(mat @ vec); with beta 0 the input's values don't count.

    >>> import tinygrad_course as tg
    >>> addmv(tg.ones(1), tg.ones(1, 2), tg.ones(2), beta=10)
    tensor([12.])
    """
    return _added(Addmv, input, mat, vec, _matrix_and_vector(mat, vec), beta, alpha)


@with_out
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta·input + alpha·outer(vec1, vec2); promoted to one dtype.

    >>> import tinygrad_course as tg
    >>> addr(tg.zeros(2, 2), tg.tensor([1., 2.]), tg.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return _added(Addr, input, vec1, vec2, _vectors(vec1, vec2), beta, alpha)


@with_out
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta·input[i] + alpha·(batch1[i] @ batch2[i]) for batches of matrices.

    >>> import tinygrad_course as tg
    >>> baddbmm(tg.ones(1), tg.ones(2, 1, 3), tg.ones(2, 3, 1)).tolist()
    [[[4.0]], [[4.0]]]
    """
    return _added(Baddbmm, input, batch1, batch2, _batches(batch1, batch2), beta, alpha)


@with_out
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta·input + alpha·Σ batch1[i] @ batch2[i] over a batch of matrices.

    >>> import tinygrad_course as tg
    >>> addbmm(tg.ones(1), tg.ones(2, 1, 3), tg.ones(2, 3, 1))
    tensor([[7.]])
    """
    return _added(Addbmm, input, batch1, batch2, _batches(batch1, batch2)[1:], beta, alpha)


def _into(op: type[_AddProduct], shape_of: Callable[[Tensor, Tensor], Any]) -> Any:
    """The in-place form."""

    def method(self: Tensor, one: Tensor, two: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        return _added(op, self, one, two, shape_of(one, two), beta, alpha, inplace=True)

    method.__doc__ = f"As `{op.__name__.lower()}`, into this tensor."
    return method


function(addmm, addmv, addr, baddbmm, addbmm)
method(addmm, addmv, addr, baddbmm, addbmm)
method(addmm_=_into(Addmm, _matrices), addmv_=_into(Addmv, _matrix_and_vector))
method(addr_=_into(Addr, _vectors), baddbmm_=_into(Baddbmm, _batches))
method(addbmm_=_into(Addbmm, lambda x, y: _batches(x, y)[1:]))
