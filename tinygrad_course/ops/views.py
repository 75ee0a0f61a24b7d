"""Views with other sizes: the same memory seen in another way, nothing copied except where it says
so.

A view's sizes and strides are PyTorch's (`shape` computes them), also for dims of size 1, where
NumPy would choose others. The gradient of a view is the adjoint of the way it looks: sum what was
expanded. Dims in another order are in `permute`, views that pick out a part in `slices`. Lesson 02.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.node import unbroadcast
from ..autograd.variable import Tensor
from ..device import backend_of
from ..shape import (
    Size,
    broadcast_shapes,
    expanded,
    infer_size,
    size_args,
    view_strides,
    wrap_dim,
    wrap_dims,
)
from .convert import Contiguous
from .registry import Op, function, method
from .viewing import View, looking_inplace

# --- the same elements in the same order ----------------------------------------------------------


class _View(View, fn="", node="ViewBackward0"):
    """x with other sizes over the same elements in the same order; dx = g with x's sizes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        size = infer_size(size, x.size)
        if x.size and x.flags.c_contiguous and 1 not in x.shape:
            return x.reshape(size)  # what follows, in a tenth of the time
        strides = view_strides(x.shape or (1,), x.strides or (x.itemsize,), size)
        if strides is None:
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one "
                f"dimension spans across two contiguous subspaces): {list(x.shape)} with strides "
                f"{[s // x.itemsize for s in x.strides]} cannot be seen as {list(size)} without a "
                "copy. Use .reshape(...) instead."
            )
        return backend_of(x).window(x, size, strides)

    def backward(ctx, g):
        (shape,) = ctx.saved
        return g.reshape(shape)


def view(input: Tensor, size: Sequence[int]) -> Tensor:
    """The same elements with other sizes, one of which may be -1; RuntimeError when that needs a
    copy.

    >>> import tinygrad_course as tg
    >>> tg.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return _View.fn(input, tuple(size))


def sized(
    shown: Callable[..., Tensor], name: str, body: Callable[..., Tensor] | None = None
) -> Callable[..., Tensor]:
    """`shown(x, sizes)` as a method that takes the sizes one by one, as a tuple, or by keyword.

    `body` does the same for a tuple of ints, without looking at it once more.
    """
    body = shown if body is None else body

    def method(self: Tensor, *sizes: Any, **named: Any) -> Tensor:
        if named:
            if sizes or list(named) != [name]:
                raise TypeError(f"the sizes, or the keyword {name!r}, are the only arguments")
            sizes = (named[name],)
        elif not sizes:
            raise TypeError(f"the argument {name!r} is missing")
        return body(self, size_args(sizes, name))

    method.__doc__ = shown.__doc__
    return method


class _UnsafeView(Op, fn="", node="UnsafeViewBackward0"):
    """A fresh copy with other sizes, for reshape: no view of x; dx = g with x's sizes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        return x.reshape(size)

    def backward(ctx, g):
        (shape,) = ctx.saved
        return g.reshape(shape)


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """As `view`, but copies when the memory allows no view.

    >>> import tinygrad_course as tg
    >>> reshape(tg.arange(6).view(2, 3).t(), (6,))
    tensor([0, 3, 1, 4, 2, 5])
    """
    return _reshaped(input, size_args((shape,), "shape"))


def _reshaped(input: Tensor, size: tuple[int, ...]) -> Tensor:
    a = input._array
    if not a.flags.c_contiguous:
        size = infer_size(size, a.size)
        if view_strides(a.shape, a.strides, size) is None:
            return _UnsafeView.fn(Contiguous.fn(input), size)
    return _View.fn(input, size)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dims from `start_dim` to `end_dim` as one.

    >>> import tinygrad_course as tg
    >>> flatten(tg.zeros(2, 3, 4), 1).shape
    torch.Size([2, 12])
    """
    start, end = wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim)
    if start > end:
        raise RuntimeError(
            f"flatten() has invalid args: start_dim {start_dim} comes after end_dim {end_dim}"
        )
    shape = input.shape
    if not input.ndim:
        return reshape(input, (1,))
    if start == end:
        return input
    return reshape(input, (*shape[:start], Size(shape[start : end + 1]).numel(), *shape[end + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in row-major order as a vector: a view of a contiguous tensor, else a copy.

    >>> import tinygrad_course as tg
    >>> ravel(tg.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    return _View.fn(input if input.is_contiguous() else Contiguous.fn(input), (-1,))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dim cut up into several, one of which may be -1: the inverse of flatten.

    >>> import tinygrad_course as tg
    >>> unflatten(tg.zeros(2, 12), 1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    if not isinstance(sizes, Sequence):
        raise TypeError(f"unflatten(): sizes must be a tuple of ints, not {type(sizes).__name__}")
    cut = size_args((sizes,), "sizes")
    if not cut:
        raise RuntimeError("unflatten: sizes must be non-empty")
    dim = wrap_dim(dim, input.ndim)
    if not input.ndim:
        raise RuntimeError(f"unflatten: dim {dim} of a tensor that has no dims")
    shape = input.shape
    try:
        cut = infer_size(cut, shape[dim])
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(cut)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        ) from error
    return _View.fn(input, (*shape[:dim], *cut, *shape[dim + 1 :]))


class Unsqueeze(View, fn="", node="UnsqueezeBackward0"):
    """x with a new dim of size 1; dx = g without it."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        ctx.save(dim)
        shape, strides = list(x.shape), list(x.strides)
        strides.insert(dim, shape[dim] * strides[dim] if dim < x.ndim else x.itemsize)
        shape.insert(dim, 1)
        return backend_of(x).window(x, tuple(shape), tuple(strides))

    def backward(ctx, g):
        (dim,) = ctx.saved
        return Squeeze.fn(g, (dim,))


class Squeeze(View, fn="", node="SqueezeBackward0"):
    """x without dims of size 1; dx = g with them."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dims):
        ctx.save(x.shape)
        return x[(*(0 if i in dims else slice(None) for i in range(x.ndim)), ...)]

    def backward(ctx, g):
        (shape,) = ctx.saved
        return g.reshape(shape)


class _SqueezeDim(Squeeze, fn="", node="SqueezeBackward1"):
    """The same, where one dim was named."""

    __slots__ = ()
    forward = Squeeze.forward


class _SqueezeDims(Squeeze, fn="", node="SqueezeBackward2"):
    """The same, where several were named."""

    __slots__ = ()
    forward = Squeeze.forward


def unsqueeze(input: Any, dim: int) -> Any:
    """A new dim of size 1 at `dim`.

    >>> import tinygrad_course as tg
    >>> unsqueeze(tg.zeros(3), -1).shape
    torch.Size([3, 1])
    """
    ndim = getattr(input, "_array", input).ndim
    return Unsqueeze.fn(input, wrap_dim(dim, ndim + 1))


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without the dims of size 1, or only those named that have it.

    >>> import tinygrad_course as tg
    >>> squeeze(tg.zeros(1, 2, 1)).shape, squeeze(tg.zeros(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
    """
    shape = input._array.shape
    if dim is None:
        op, dims = Squeeze, tuple(range(input.ndim))
    elif isinstance(dim, tuple | list):
        op, dims = _SqueezeDims, wrap_dims(dim, input.ndim) if dim else ()
    else:
        op, dims = _SqueezeDim, (wrap_dim(dim, input.ndim),)
    return op.fn(input, tuple(d for d in dims if d < input.ndim and shape[d] == 1))


# --- stretched ------------------------------------------------------------------------------------


class Expand(View, fn=""):
    """x with size-1 dims stretched to `size` by stride 0; dx = g summed over what was stretched."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        shape = x.shape
        ctx.save(shape)
        sizes, strides = expanded(shape, x.strides, size)
        return backend_of(x).window(x, sizes, strides)

    def backward(ctx, g):
        (shape,) = ctx.saved
        return unbroadcast(g, shape)


def expand(input: Any, size: Sequence[int]) -> Any:
    """A view with dims of size 1 stretched to larger ones, and new dims in front; -1 keeps a size.
    Takes no memory.

    >>> import tinygrad_course as tg
    >>> expand(tg.tensor([[1], [2]]), (2, 3)).stride()
    (1, 0)
    """
    return Expand.fn(input, tuple(size))


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """As `expand`, under NumPy's name.

    >>> import tinygrad_course as tg
    >>> broadcast_to(tg.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, size_args((size,)))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors, expanded to their common shape.

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in broadcast_tensors(tg.tensor([1, 2]), tg.tensor([[3], [4]]))]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"broadcast_tensors(): argument {i} is a {type(x).__name__}, not a Tensor"
            )
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t if t.shape == shape else expand(t, shape) for t in tensors)


def _broadcast_shapes(*shapes: Any) -> Size:
    """The shape that all of `shapes` (tuples, or single sizes) broadcast to.

    >>> _broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    return broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes))


function(reshape, flatten, ravel, unflatten, unsqueeze, squeeze, broadcast_to, broadcast_tensors)
function(broadcast_shapes=_broadcast_shapes)
method(flatten, ravel, unflatten, unsqueeze, squeeze)
method(view=sized(view, "size"), reshape=sized(reshape, "shape", _reshaped))
method(expand=sized(expand, "size", Expand.fn), broadcast_to=sized(broadcast_to, "size"))
method(
    view_as=lambda self, other: view(self, other.shape),
    reshape_as=lambda self, other: reshape(self, other.shape),
    expand_as=lambda self, other: expand(self, other.shape),
)
method(squeeze_=looking_inplace(squeeze), unsqueeze_=looking_inplace(unsqueeze))
