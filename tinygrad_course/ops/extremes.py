"""Extremes: the largest and smallest elements, and where they are.

`amax` and `max()` share the gradient among equals, `max(dim)` gives it to the first. nan counts as
larger and as smaller than everything, so that it shows. Lesson 03.
"""

from __future__ import annotations

from ..autograd.variable import Tensor
from ..shape import wrap_dim, wrap_dims
from . import return_types
from .bounds import Maximum, Minimum
from .convert import to_dtype
from .dims import require_elements, row_major, spread, without
from .reduce import total
from .registry import Op, function, method, write_out
from .scatter import put_along


def share(g, is_it, dims, keepdim):
    """`g`, the gradient of a reduction over `dims`, divided equally among those where `is_it`
    holds."""
    number = to_dtype(total(is_it, dims, True), g.dtype)
    return spread(g, is_it.shape, dims, keepdim) * is_it / number


def share_of_all(g, x, out):
    """`g` divided equally among the elements of `x` that equal the number `out`; nan equals nan."""
    is_it = (x == out) | ((x != x) & (out != out))
    return share(g, is_it, tuple(range(len(x.shape))), False)


class AMax(Op, fn="amax", method=True, node="AmaxBackward0"):
    """The largest element over `dim`; the gradient is shared equally among those that are
    largest."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        require_elements("amax", x, dim, dims)
        out = row_major(xp.asarray(x.max(dims, keepdims=keepdim)))
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        x, out, dims, keepdim = ctx.saved
        return share(g, x == spread(out, x.shape, dims, keepdim), dims, keepdim)


class AMin(Op, fn="amin", method=True, node="AminBackward0"):
    """The smallest element over `dim`; the gradient is shared equally among those that are
    smallest."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim=None, keepdim=False):
        dims = wrap_dims(dim, x.ndim)
        require_elements("amin", x, dim, dims)
        out = row_major(xp.asarray(x.min(dims, keepdims=keepdim)))
        ctx.save(x, out, dims, keepdim)
        return out

    def backward(ctx, g):
        x, out, dims, keepdim = ctx.saved
        return share(g, x == spread(out, x.shape, dims, keepdim), dims, keepdim)


class MaxOfAll(AMax, fn="", node="MaxBackward1"):
    """The largest element; the gradient is shared equally among those that are largest."""

    __slots__ = ()

    forward = AMax.forward

    def backward(ctx, g):
        x, out, _, _ = ctx.saved
        return share_of_all(g, x, out)


class MinOfAll(AMin, fn="", node="MinBackward1"):
    """The smallest element; the gradient is shared equally among those that are smallest."""

    __slots__ = ()

    forward = AMin.forward

    def backward(ctx, g):
        x, out, _, _ = ctx.saved
        return share_of_all(g, x, out)


class Picked(Op):
    """One element along `dim`, and its place, where the gradient goes."""

    __slots__ = ()

    def backward(ctx, g, _):
        places, shape, dim, keepdim = ctx.saved
        if not shape:
            return g
        if not keepdim:
            g = g.reshape(tuple(places.shape))
        return put_along(g, places, shape, dim)


def pick(ctx, xp, x, places, dim, keepdim):
    """The (values, places) that a `Picked` returns, from places with size 1 along `dim`."""
    places = xp.asarray(places)
    values = xp.take_along_axis(x, places, dim) if x.ndim else x.copy()
    ctx.save(places, x.shape, dim, keepdim)
    return tuple(row_major(without(v, dim, keepdim)) for v in (values, places))


class Max(Picked, fn=""):
    """The largest along `dim` and the place of its first occurrence; the gradient goes there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        require_elements("max", x, dim, (dim,))
        return pick(ctx, xp, x, x.argmax(dim, keepdims=bool(x.ndim)), dim, keepdim)


class Min(Picked, fn=""):
    """The smallest along `dim` and the place of its first occurrence; the gradient goes there."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        require_elements("min", x, dim, (dim,))
        return pick(ctx, xp, x, x.argmin(dim, keepdims=bool(x.ndim)), dim, keepdim)


def max_(input, dim=None, keepdim=False, *, out=None):
    """The largest element; with an int `dim`, (values, indices) along it; with a tensor, the larger
    of both.

    >>> import tinygrad_course as tg
    >>> tg.max(tg.tensor([[1., 3.], [5., 2.]]), 1).indices
    tensor([1, 0])
    """
    if isinstance(dim, Tensor):
        return Maximum.fn(input, dim, out=out)
    if dim is None:
        return MaxOfAll.fn(input, out=out)
    result = Max.fn(input, wrap_dim(dim, input.ndim), keepdim)
    return write_out(return_types.max(result), out)


def min_(input, dim=None, keepdim=False, *, out=None):
    """The smallest element; with an int `dim`, (values, indices) along it; with a tensor, the
    smaller of both.

    >>> import tinygrad_course as tg
    >>> tg.min(tg.tensor([[1., 3.], [5., 2.]]), 1).values
    tensor([1., 2.])
    """
    if isinstance(dim, Tensor):
        return Minimum.fn(input, dim, out=out)
    if dim is None:
        return MinOfAll.fn(input, out=out)
    result = Min.fn(input, wrap_dim(dim, input.ndim), keepdim)
    return write_out(return_types.min(result), out)


class Aminmax(Op, fn=""):
    """The smallest and the largest element over one dim or all; each gradient is shared equally
    among those that are it."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, keepdim):
        dims = wrap_dims(dim, x.ndim)
        if dim is None and not x.size:
            raise RuntimeError("aminmax(): there is no smallest element among none")
        require_elements("aminmax", x, dim, dims)
        low, high = (row_major(xp.asarray(find(dims, keepdims=keepdim))) for find in (x.min, x.max))
        ctx.save(x, low, high, dims, keepdim)
        return low, high

    def backward(ctx, g_low, g_high):
        x, low, high, dims, keepdim = ctx.saved
        parts = [
            share(g, x == spread(out, x.shape, dims, keepdim), dims, keepdim)
            for g, out in ((g_low, low), (g_high, high))
            if g is not None
        ]
        return sum(parts[1:], parts[0])


def aminmax(input, *, dim=None, keepdim=False, out=None):
    """The smallest and the largest element, over all or along `dim`.

    >>> import tinygrad_course as tg
    >>> tg.aminmax(tg.tensor([3., 1., 2.])).max
    tensor(3.)
    """
    if dim is not None:
        dim = wrap_dim(dim, input.ndim)
    return write_out(return_types.aminmax(Aminmax.fn(input, dim, keepdim)), out)


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
    require_elements(name, x, dim, (dim,))
    place = getattr(x, name)(dim)
    return xp.expand_dims(place, dim) if keepdim else place


function(aminmax, max=max_, min=min_)
method(aminmax, max=max_, min=min_)
