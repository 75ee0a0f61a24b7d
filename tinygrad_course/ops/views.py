"""Views with other sizes or another order of dims: the same memory seen in another way, nothing
copied except where it says so.

A view's sizes and strides are computed here as PyTorch has them, also for dims of size 1, where
NumPy would choose others. The gradient of a view is the adjoint of the way it looks: transpose
back, sum what was expanded. Views that pick out a part are in `slices`. Lesson 02.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.node import unbroadcast
from ..autograd.variable import Tensor
from ..device import Array, backend_of
from ..shape import Size, broadcast_shapes, infer_size, size_args, view_strides, wrap_dim, wrap_dims
from .convert import Contiguous
from .inplace import require_no_leaf
from .registry import Op, function, method
from .viewing import View

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
    return _View.apply(input, size)


def sized(body: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """`body(x, sizes)` as a method that takes the sizes one by one, as a tuple, or by keyword."""

    def method(self: Tensor, *sizes: Any, **named: Any) -> Tensor:
        if named:
            if sizes or list(named) != [name]:
                raise TypeError(f"the sizes, or the keyword {name!r}, are the only arguments")
            sizes = (named[name],)
        elif not sizes:
            raise TypeError(f"the argument {name!r} is missing")
        return body(self, size_args(sizes, name))

    method.__doc__ = body.__doc__
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
    size = infer_size(size_args((shape,), "shape"), input.numel())
    a = input._array
    if not a.flags.c_contiguous and view_strides(a.shape, a.strides, size) is None:
        return _UnsafeView.fn(Contiguous.fn(input), size)
    return _View.apply(input, size)


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
    return _View.apply(input if input.is_contiguous() else Contiguous.fn(input), (-1,))


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
    return _View.apply(input, (*shape[:dim], *cut, *shape[dim + 1 :]))


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
    return Unsqueeze.apply(input, wrap_dim(dim, ndim + 1))


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
    return op.apply(input, tuple(d for d in dims if d < input.ndim and shape[d] == 1))


# --- stretched ------------------------------------------------------------------------------------


class Expand(View, fn=""):
    """x with size-1 dims stretched to `size` by stride 0; dx = g summed over what was stretched."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        extra = len(size) - x.ndim
        if extra < 0:
            raise RuntimeError(
                f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to "
                f"the number of dimensions in the tensor ({x.ndim})"
            )
        full: list[int] = []
        strides: list[int] = []  # from the last dim to the first
        for n, have, step in zip(size[::-1], x.shape[::-1], x.strides[::-1], strict=False):
            if n == -1:
                n = have
            elif n != have:
                if have != 1 or n < 0:
                    _complain_expand(x, size, len(size) - 1 - len(full))
                step = 0
            full.append(n)
            strides.append(step)
        for n in size[:extra][::-1]:
            if n < 0:
                _complain_expand(x, size, len(size) - 1 - len(full))
            # A new dim of size 1 as unsqueeze would make it.
            strides.append(full[-1] * strides[-1] if n == 1 and full else 0)
            full.append(n)
        return backend_of(x).window(x, tuple(full[::-1]), tuple(strides[::-1]))

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
    return Expand.apply(input, size)


def _complain_expand(x: Array, size: Sequence[int], place: int) -> None:
    extra = len(size) - x.ndim
    have = x.shape[place - extra] if place >= extra else 1
    raise RuntimeError(
        f"The expanded size of the tensor ({size[place]}) must match the existing size ({have}) at "
        f"non-singleton dimension {place}. Target sizes: {list(size)}. Tensor sizes: "
        f"{list(x.shape)}"
    )


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


# --- dims in another order ------------------------------------------------------------------------


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
    order = size_args((dims,), "dims")
    ndim = getattr(input, "_array", input).ndim
    if len(order) != ndim:
        raise RuntimeError(
            f"permute(): {len(order)} dims were given for a tensor with {ndim}: name each once"
        )
    wrapped = tuple(wrap_dim(d, ndim) for d in order)
    if len(set(wrapped)) != ndim:
        raise RuntimeError(f"permute(): duplicate dims are not allowed, got {list(order)}")
    return Permute.apply(input, wrapped)


class Transpose(View, fn=""):
    """x with two dims swapped; dx = g with them swapped back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim0, dim1):
        ctx.save(dim0, dim1)
        return x.swapaxes(dim0, dim1) if x.ndim else x[...]

    def backward(ctx, g):
        dim0, dim1 = ctx.saved
        return Transpose.fn(g, dim0, dim1)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dims swapped.

    >>> import tinygrad_course as tg
    >>> transpose(tg.zeros(2, 3), 0, 1).stride()
    (1, 3)
    """
    ndim = getattr(input, "_array", input).ndim
    return Transpose.apply(input, wrap_dim(dim0, ndim), wrap_dim(dim1, ndim))


class _T(View, fn="", node="TBackward0"):
    """A matrix transposed, a vector or a number as it is; dx = gᵀ."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
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
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use transpose "
            "or mT"
        )
    return _T.apply(input)


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
        return Permute.apply(input, ())
    others = iter([d for d in range(input.ndim) if d not in wrapped[0]])
    at = dict(zip(wrapped[1], wrapped[0], strict=True))
    return Permute.apply(
        input, tuple(at[i] if i in at else next(others) for i in range(input.ndim))
    )


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
    return Permute.apply(self, tuple(range(self.ndim))[::-1])


def _hermitian(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated (which changes nothing for real numbers)."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return _matrix_transposed(self, "H")


# --- in place: another window under the same tensor -----------------------------------------------


def looking_inplace(body: Any) -> Any:
    """The in-place form of a view: the tensor itself becomes what `body` would return."""

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        require_no_leaf(self)
        seen = body(self, *args, **kwargs)
        meta, edge = self._meta, seen._meta.own
        if edge is not None and meta is not None:
            meta.require_rewritable("it is being changed")
        self._array = seen._array
        self._bump()
        if meta is not None and meta.base is not None:
            meta.own, meta.seen = edge, self._version
        elif edge is not None:
            self._edge = edge
        return self

    inplace.__doc__ = f"As `{body.__name__}`, of this tensor itself."
    return inplace


function(reshape, flatten, ravel, unflatten, permute, transpose, t, unsqueeze, squeeze, movedim)
function(adjoint, broadcast_to, broadcast_tensors)
function(swapaxes=transpose, swapdims=transpose, moveaxis=movedim)
function(broadcast_shapes=_broadcast_shapes)
method(flatten, ravel, unflatten, transpose, t, unsqueeze, squeeze, movedim, adjoint)
method(swapaxes=transpose, swapdims=transpose, moveaxis=movedim)
method(view=sized(view, "size"), reshape=sized(reshape, "shape"), permute=sized(permute, "dims"))
method(expand=sized(expand, "size"), broadcast_to=sized(broadcast_to, "size"))
method(
    view_as=lambda self, other: view(self, other.shape),
    reshape_as=lambda self, other: reshape(self, other.shape),
    expand_as=lambda self, other: expand(self, other.shape),
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
    squeeze_=looking_inplace(squeeze),
    unsqueeze_=looking_inplace(unsqueeze),
)
