"""Reductions: one number out of many, over all dims or some.

`dim` is an int, several ints, or None for all; `keepdim=True` leaves reduced dims behind with size
1. Integers and bools are summed as int64. Lesson 03.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtype import DType, get_default_dtype
from ..shape import wrap_dim, wrap_dims
from .convert import to_dtype
from .elementwise import exp, where
from .join import cat
from .registry import FUNCTIONS, Op, Tensor, function, method
from .scatter import put_along
from .views import expand, permute


def _numpy_type(dtype, x):
    """The type in which to add up `x`."""
    if dtype is not None:
        if not isinstance(dtype, DType):
            raise TypeError(f"dtype must be one of tg.float32, tg.int64, …, not {dtype!r}")
        return dtype.numpy
    return "int64" if x.dtype.kind in "iub" else x.dtype


def _row_major(xp, y):
    """`y` in row-major memory, as PyTorch's reductions make it; NumPy's follow their input."""
    if y.ndim < 2 or (y.flags.c_contiguous and not y.flags.f_contiguous):
        return y
    # Where a size is 1 NumPy's flags say nothing of the strides, which PyTorch shows all the same.
    return y.reshape(-1).reshape(y.shape)


def _require_elements(name, x, dim, dims):
    """The largest of no elements is nothing: RuntimeError or IndexError."""
    if x.size:
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


def spread(g, shape, dims, keepdim):
    """`g`, the gradient of a reduction over `dims`, expanded back to `shape`: a view with stride
    0."""
    if not keepdim:
        g = g.reshape(tuple(1 if i in dims else n for i, n in enumerate(shape)))
    return expand(g, shape)


class Sum(Op, method=True):
    """Σ x over `dim`; dx = g, spread over the summed elements."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        dims = wrap_dims(dim, x.ndim)
        ctx.save(x.shape, x.dtype, dims, keepdim)
        return _row_major(xp, x.sum(dims, dtype=_numpy_type(dtype, x), keepdims=keepdim))

    def backward(ctx, g):
        shape, dtype, dims, keepdim = ctx.saved
        return to_dtype(spread(g, shape, dims, keepdim), dtype)


class Mean(Op, method=True):
    """Σ x / n over `dim`; dx = g / n, spread over the elements. RuntimeError for integers."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        if x.dtype.kind != "f" and dtype is None:
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be a floating point "
                f"dtype, got {x.dtype}: convert "
                "with .float(), or pass dtype="
            )
        dims = wrap_dims(dim, x.ndim)
        n = _count(x, dims)
        ctx.save(x.shape, x.dtype, dims, keepdim, n)
        total = x.sum(dims, dtype=_numpy_type(dtype, x), keepdims=keepdim)
        return _row_major(xp, total / total.dtype.type(n))

    def backward(ctx, g):
        shape, dtype, dims, keepdim, n = ctx.saved
        return to_dtype(spread(g / n, shape, dims, keepdim), dtype)


class Prod(Op, method=True):
    """Π x over one dim or all; dx = g · the product of the others."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False, *, dtype=None):
        dims = wrap_dims(None if dim is None else wrap_dim(dim, x.ndim), x.ndim)
        ctx.save(x, dims, keepdim)
        return _row_major(xp, x.prod(dims, dtype=_numpy_type(dtype, x), keepdims=keepdim))

    def backward(ctx, g):
        x, dims, keepdim = ctx.saved
        others = to_dtype(_others(x, dims), g.dtype)
        return to_dtype(spread(g, x.shape, dims, keepdim) * others, x.dtype)


def _others(x, dims):
    """For each element the product of the others along `dims`: products from the left times
    products from the right."""
    shape = tuple(x.shape)
    kept = tuple(i for i in range(len(shape)) if i not in dims)
    order = kept + tuple(dims)
    n = 1
    for d in dims:
        n *= shape[d]
    rows = permute(x, order).reshape((*(shape[i] for i in kept), n))
    left, right = [rows[..., :1] * 0 + 1], [rows[..., :1] * 0 + 1]
    for i in range(n - 1):
        left.append(left[-1] * rows[..., i : i + 1])
        right.append(right[-1] * rows[..., n - 1 - i : n - i])
    if n == 0:
        return x
    products = cat(left, -1) * cat(right[::-1], -1)
    products = products.reshape(tuple(shape[i] for i in order))
    return permute(products, tuple(order.index(i) for i in range(len(shape))))


def _count(x, dims):
    n = 1
    for d in dims:
        n *= x.shape[d] if x.ndim else 1
    return n


def _variance(xp, x, dims, keepdim, correction):
    if x.dtype.kind != "f":
        raise RuntimeError(
            f"std and var only support floating point dtypes, not {x.dtype}: convert with .float()"
        )
    n = _count(x, dims)
    centred = x - x.mean(dims, keepdims=True) if n else x
    total = (centred * centred).sum(dims, keepdims=keepdim)
    return _row_major(xp, total / total.dtype.type(max(n - correction, 0)))


def _variance_backward(g, x, dims, keepdim, correction):
    n = _count(x, dims) - correction
    centred = x - mean(x, dims, True)
    return spread(g, x.shape, dims, keepdim) * (centred * (2 / n if n else float("nan")))


class Var(Op, fn=""):
    """Σ (x - mean)² / (n - correction); dx = 2·g·(x - mean) / (n - correction)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, correction=1, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        ctx.save(x, dims, keepdim, correction)
        return _variance(xp, x, dims, keepdim, correction)

    def backward(ctx, g):
        return _variance_backward(g, *ctx.saved)


class Std(Op, fn=""):
    """The root of the variance; dx = that of the variance, times 1 / 2y, or 0 where y = 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, correction=1, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        y = xp.sqrt(_variance(xp, x, dims, keepdim, correction))
        ctx.save(y, x, dims, keepdim, correction)
        return y

    def backward(ctx, g):
        y, *of_variance = ctx.saved
        return _variance_backward(where(y == 0, y * 0, g / (y * 2)), *of_variance)


def _correction(dim, unbiased, correction):
    """(dim, correction) of var and std, whose `unbiased` is the older spelling."""
    if isinstance(dim, bool):  # var(x, unbiased), as in old code
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return dim, correction


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance over `dim`: Σ (x - mean)² / (n - correction), correction 1 unless
    `unbiased=False`.

    >>> import tinygrad_course as tg
    >>> var(tg.tensor([1., 2., 3.]))
    tensor(1.)
    """
    return Var.fn(input, *_correction(dim, unbiased, correction), keepdim)


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation over `dim`: the root of `var`.

    >>> import tinygrad_course as tg
    >>> std(tg.tensor([1., 2., 3.]))
    tensor(1.)
    """
    return Std.fn(input, *_correction(dim, unbiased, correction), keepdim)


class AMax(Op, fn="amax", method=True):
    """The largest element over `dim`; the gradient is shared equally among those that are
    largest."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        _require_elements("amax", x, dim, dims)
        out = _row_major(xp, x.max(dims, keepdims=keepdim))
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        return _share(ctx, g)


class AMin(Op, fn="amin", method=True):
    """The smallest element over `dim`; the gradient is shared equally among those that are
    smallest."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        _require_elements("amin", x, dim, dims)
        out = _row_major(xp, x.min(dims, keepdims=keepdim))
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        return _share(ctx, g)


def _share(ctx, g):
    x, out, dims, keepdim = ctx.saved
    is_it = x == spread(out, x.shape, dims, keepdim)
    return spread(g, x.shape, dims, keepdim) * is_it / to_dtype(total(is_it, dims, True), g.dtype)


class _Extreme(Op, fn=""):
    """The largest or smallest along one dim and the place of its first occurrence; the gradient
    goes to that place."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim, largest):
        _require_elements("max" if largest else "min", x, dim, (dim,))
        places = x.argmax(dim) if largest else x.argmin(dim)
        places = xp.expand_dims(places, dim) if x.ndim else places
        values = xp.take_along_axis(x, places, dim) if x.ndim else x.copy()
        ctx.save(places, x.shape, dim, keepdim)
        if keepdim or not x.ndim:
            return values, places
        return values.squeeze(dim), places.squeeze(dim)

    def backward(ctx, g, _):
        places, shape, dim, keepdim = ctx.saved
        if not shape:
            return g
        if not keepdim:
            g = g.reshape(tuple(places.shape))
        return put_along(g, places, shape, dim)


class max_result(NamedTuple):
    """What `max(dim)` returns."""

    values: Tensor
    indices: Tensor


class min_result(NamedTuple):
    """What `min(dim)` returns."""

    values: Tensor
    indices: Tensor


def max_(input, dim=None, keepdim=False):
    """The largest element; with an int `dim`, (values, indices) along it; with a tensor, the larger
    of both.

    >>> import tinygrad_course as tg
    >>> tg.max(tg.tensor([[1., 3.], [5., 2.]]), 1).indices
    tensor([1, 0])
    """
    if isinstance(dim, Tensor):
        return FUNCTIONS["maximum"](input, dim)
    if dim is None:
        return AMax.fn(input)
    return max_result(*_Extreme.fn(input, wrap_dim(dim, input.ndim), keepdim, True))


def min_(input, dim=None, keepdim=False):
    """The smallest element; with an int `dim`, (values, indices) along it; with a tensor, the
    smaller of both.

    >>> import tinygrad_course as tg
    >>> tg.min(tg.tensor([[1., 3.], [5., 2.]]), 1).values
    tensor([1., 2.])
    """
    if isinstance(dim, Tensor):
        return FUNCTIONS["minimum"](input, dim)
    if dim is None:
        return AMin.fn(input)
    return min_result(*_Extreme.fn(input, wrap_dim(dim, input.ndim), keepdim, False))


class ArgMax(Op, fn="argmax", method=True, differentiable=False):
    """The place of the first largest element along `dim`, or in the flattened tensor."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _place_of(xp, x, "argmax", dim, keepdim)


class ArgMin(Op, fn="argmin", method=True, differentiable=False):
    """The place of the first smallest element along `dim`, or in the flattened tensor."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _place_of(xp, x, "argmin", dim, keepdim)


def _place_of(xp, x, name, dim, keepdim):
    if x.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input: convert with .int()")
    if dim is None:
        if not x.size:
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0, shape "
                f"{list(x.shape)}"
            )
        place = xp.asarray(getattr(x, name)())
        return place.reshape((1,) * x.ndim) if keepdim else place
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return xp.zeros((), xp.int64)
    _require_elements(name, x, dim, (dim,))
    place = getattr(x, name)(dim)
    return xp.expand_dims(place, dim) if keepdim else place


class Any_(Op, fn="any", method=True, differentiable=False):
    """Whether any element over `dim` is nonzero."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _as_truth(xp, x, (x != 0).any(wrap_dims(dim, x.ndim), keepdims=keepdim))


class All_(Op, fn="all", method=True, differentiable=False):
    """Whether all elements over `dim` are nonzero."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        return _as_truth(xp, x, (x != 0).all(wrap_dims(dim, x.ndim), keepdims=keepdim))


def _as_truth(xp, x, y):
    """bool, but uint8 for uint8, whose masks were bytes before there was a bool type."""
    y = _row_major(xp, y)
    return y.astype(x.dtype) if x.dtype == "uint8" else y


class LogSumExp(Op, fn="logsumexp", method=True, floats=True):
    """ln Σ e^x over `dim`, shifted by the largest so that nothing overflows; dx = g·e^(x - y)."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        if x.dtype.kind != "f":
            x = x.astype(get_default_dtype().numpy)
        top = x.max(dims, keepdims=True) if x.size else x.sum(dims, keepdims=True)
        top = xp.where(xp.isfinite(top), top, 0)
        out = xp.log(xp.exp(x - top).sum(dims, keepdims=True)) + top
        if not keepdim:
            out = out.reshape(tuple(n for i, n in enumerate(out.shape) if i not in dims))
        out = _row_major(xp, out)
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        x, out, dims, keepdim = ctx.saved
        return spread(g, x.shape, dims, keepdim) * exp(x - spread(out, x.shape, dims, keepdim))


mean, total = Mean.fn, Sum.fn

function(var, std, max=max_, min=min_)
method(var, std, max=max_, min=min_)
