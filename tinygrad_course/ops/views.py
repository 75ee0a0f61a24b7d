"""Views: the same memory seen with other sizes, strides and offset. Nothing here copies, except
where it says so.

Strides are NumPy's, which come out equal to PyTorch's; `view` is the one case with a rule of its
own (`shape.view_strides`). The gradient of a view is the adjoint of the way it looks: transpose
back, put back into zeros, sum what was expanded. Lesson 02.
"""

from __future__ import annotations

from typing import Any

from ..autograd.mode import mode
from ..autograd.node import blank, unbroadcast
from ..autograd.variable import Tensor
from ..device import backend_of, xp_of
from ..dtype import result_type
from ..shape import (
    Size,
    as_int,
    broadcast_shapes,
    infer_size,
    require_sizes,
    size_args,
    view_strides,
    wrap_dim,
    wrap_dims,
)
from .convert import contiguous
from .inplace import ViewThroughBase
from .registry import UNRECORDED, Op, View, as_view, function, method
from .window import Geometry, PutWindow


class _View(View, fn="", node="ViewBackward0"):
    """x with other sizes over the same elements in the same order; dx = g with x's sizes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        size = infer_size(size, x.size)
        strides = view_strides(x.shape or (1,), x.strides or (x.itemsize,), size)
        if strides is None:
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one "
                "dimension spans across "
                f"two contiguous subspaces): {list(x.shape)} with strides "
                f"{[s // x.itemsize for s in x.strides]} cannot "
                f"be seen as {list(size)} without a copy. Use .reshape(...) instead."
            )
        return backend_of(x).window(x, size, strides)

    def backward(ctx, g):
        (shape,) = ctx.saved
        return g.reshape(shape)


class _UnsafeView(Op, fn="", node="UnsafeViewBackward0"):
    """As _View of a copy that nobody else will see: the result is no view of it."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        return x.reshape(size)

    def backward(ctx, g):
        (shape,) = ctx.saved
        return g.reshape(shape)


def view(self: Tensor, *size: Any) -> Tensor:
    """The same elements with other sizes, one of which may be -1; RuntimeError when that needs a
    copy.

    >>> import tinygrad_course as tg
    >>> tg.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return _View.fn(self, size_args(size))


def reshape(input: Tensor, *shape: Any) -> Tensor:
    """As `view`, but copies when the memory allows no view.

    >>> import tinygrad_course as tg
    >>> reshape(tg.arange(6).view(2, 3).t(), 6)
    tensor([0, 3, 1, 4, 2, 5])
    """
    size = infer_size(size_args(shape), input.numel())
    a = input._array
    if not a.flags.c_contiguous and view_strides(a.shape, a.strides, size) is None:
        return _UnsafeView.fn(contiguous(input), size)
    return _View.fn(input, size)


def _reshape(input: Tensor, shape: Any) -> Tensor:
    """As `view`, but copies when the memory allows no view.

    >>> import tinygrad_course as tg
    >>> tg.reshape(tg.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    return reshape(input, shape)


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
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, (*shape[:start], Size(shape[start : end + 1]).numel(), *shape[end + 1 :]))


class Expand(View, fn=""):
    """x with size-1 dims stretched to `size` by stride 0; dx = g summed over what was stretched."""

    __slots__ = ()

    def forward(ctx, xp, x, /, size):
        ctx.save(x.shape)
        # Not xp.broadcast_to, whose results cannot be written to even when nothing is stretched.
        strides: list[int] = []
        extra = len(size) - x.ndim
        step = x.itemsize  # of a new dim of size 1: as if it were the next in row-major order
        for i in range(len(size) - 1, -1, -1):
            n, stride = (x.shape[i - extra], x.strides[i - extra]) if i >= extra else (1, step)
            strides.append(stride if n == size[i] else 0)
            step = size[i] * strides[-1]
        return backend_of(x).window(x, size, tuple(strides[::-1]))

    def backward(ctx, g):
        (shape,) = ctx.saved
        return unbroadcast(g, shape)


def expand(input: Any, *sizes: Any) -> Any:
    """A view with dims of size 1 stretched to larger ones, and new dims in front; -1 keeps a size.
    Takes no memory.

    >>> import tinygrad_course as tg
    >>> expand(tg.tensor([[1], [2]]), 2, 3).stride()
    (1, 0)
    """
    size = size_args(sizes)
    shape = input.shape
    extra = len(size) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the "
            "number of dimensions "
            f"in the tensor ({len(shape)})"
        )
    full = []
    for i, n in enumerate(size):
        have = shape[i - extra] if i >= extra else 1
        if n == -1 and i >= extra:
            n = have
        elif n < 0 or (have not in (1, n)):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}. "
                f"Target sizes: {list(size)}. Tensor sizes: {list(shape)}"
            )
        full.append(n)
    return Expand.fn(input, tuple(full))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors, expanded to their common shape."""
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t if t.shape == shape else expand(t, shape) for t in tensors)


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


def permute(input: Any, *dims: Any) -> Any:
    """The dims in the order given.

    >>> import tinygrad_course as tg
    >>> permute(tg.zeros(2, 3, 4), 2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    order = size_args(dims, "dims")
    ndim = len(input.shape)
    if len(order) != ndim:
        raise RuntimeError(
            f"permute(): {len(order)} dims were given for a tensor with {ndim}: name each once"
        )
    wrapped = tuple(wrap_dim(d, ndim) for d in order)
    if len(set(wrapped)) != ndim:
        raise RuntimeError(f"permute(): duplicate dims are not allowed, got {list(order)}")
    return Permute.fn(input, wrapped)


class Transpose(View, fn=""):
    """x with two dims swapped; dx = g with them swapped back."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim0, dim1):
        ctx.save(dim0, dim1)
        return x.swapaxes(dim0, dim1)

    def backward(ctx, g):
        dim0, dim1 = ctx.saved
        return Transpose.fn(g, dim0, dim1)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dims swapped.

    >>> import tinygrad_course as tg
    >>> transpose(tg.zeros(2, 3), 0, 1).stride()
    (1, 3)
    """
    ndim = len(input.shape)
    dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    return Transpose.fn(input, dim0, dim1) if ndim else Permute.fn(input, ())


def t(input: Tensor) -> Tensor:
    """A matrix transposed; fewer dims stay as they are."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use transpose "
            "or mT"
        )
    return (
        transpose(input, 0, input.ndim - 1)
        if input.ndim == 2
        else Permute.fn(input, tuple(range(input.ndim)))
    )


class _Index(View, fn="", node="SliceBackward0"):
    """x[index] for ints, slices, None and Ellipsis; dx = zeros with g at those places."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(x.shape, index)
        return _window(x, index)

    def backward(ctx, g):
        shape, index = ctx.saved
        return PutIndex.fn(g, shape, index)


def _window(x: Any, index: tuple[Any, ...]) -> Any:
    """x[index]; new dims step as if they came next in row-major order, where NumPy has 0."""
    y = x[index]
    if not any(part is None for part in index):
        return y
    strides, place, dim = list(y.strides), 0, 0
    for part in index:
        if part is None:
            strides[place] = x.shape[dim] * x.strides[dim] if dim < x.ndim else x.itemsize
            place += 1
        elif part is Ellipsis:
            rest = x.ndim - sum(p is not None and p is not Ellipsis for p in index)
            place, dim = place + rest, dim + rest
        else:
            place, dim = place + isinstance(part, slice), dim + 1
    return backend_of(y).window(y, y.shape, tuple(strides))


class PutIndex(Op, fn=""):
    """Zeros of `shape` with x at [index]; dx = g[index]."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape, index):
        ctx.save(index)
        out = xp.zeros(shape, x.dtype)
        out[index] = x
        return out

    def backward(ctx, g):
        (index,) = ctx.saved
        return g[index]


class Select(_Index, fn="", node="SelectBackward0"):
    """x at one place of one dim, which goes away."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(x.shape, index)
        return x[index]


class Unsqueeze(_Index, fn="", node="UnsqueezeBackward0"):
    """x with a new dim of size 1."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(x.shape, index)
        return _window(x, index)


class Squeeze(_Index, fn="", node="SqueezeBackward0"):
    """x without some dims of size 1."""

    __slots__ = ()

    def forward(ctx, xp, x, /, index):
        ctx.save(x.shape, index)
        return x[index]


def basic_index(x: Tensor, index: tuple[Any, ...]) -> Tensor:
    """x[index] for an index of ints, slices, None and one Ellipsis."""
    return _Index.fn(x, index)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at `index` of `dim`, which goes away.

    >>> import tinygrad_course as tg
    >>> select(tg.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    if input.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, n = wrap_dim(dim, input.ndim), input.shape[wrap_dim(dim, input.ndim)]
    index = as_int(index, "index")
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    return Select.fn(input, (slice(None),) * dim + (index % n, ...))


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` places of `dim` from `start` on.

    >>> import tinygrad_course as tg
    >>> narrow(tg.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    if input.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, input.ndim)
    n = input.shape[dim]
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    start = start + n if start < 0 else start
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}")
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return _Index.fn(input, (slice(None),) * dim + (slice(start, start + length), ...))


def unsqueeze(input: Any, dim: int) -> Any:
    """A new dim of size 1 at `dim`.

    >>> import tinygrad_course as tg
    >>> unsqueeze(tg.zeros(3), -1).shape
    torch.Size([3, 1])
    """
    return Unsqueeze.fn(input, (slice(None),) * wrap_dim(dim, len(input.shape) + 1) + (None, ...))


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without the dims of size 1, or only those named that have it.

    >>> import tinygrad_course as tg
    >>> squeeze(tg.zeros(1, 2, 1)).shape, squeeze(tg.zeros(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
    """
    ndim = input.ndim
    dims = range(ndim) if dim is None else () if dim == () else wrap_dims(dim, ndim)
    index = tuple(0 if i in dims and n == 1 else slice(None) for i, n in enumerate(input.shape))
    return Squeeze.fn(input, (*index, ...))


class _Unfold(View, fn="", node="UnfoldBackward0"):
    """Windows of x along one dim; dx = g added back where each window lay."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim, size, step):
        n = x.shape[dim] if x.ndim else 1
        count = (n - size) // step + 1
        stride = x.strides[dim] if x.ndim else x.itemsize
        shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
        strides = (*x.strides[:dim], step * stride, *x.strides[dim + 1 :], stride)
        if not x.ndim:
            shape, strides = (size,), (stride,)
        ctx.save(x.shape, dim, step)
        return backend_of(x).window(x, shape, strides)

    def backward(ctx, g):
        shape, dim, step = ctx.saved
        dense, row = [1] * len(shape), 1
        for i in range(len(shape) - 1, -1, -1):
            dense[i] = row
            row *= shape[i]
        stride = dense[dim] if shape else 1
        window = [*dense[:dim], step * stride, *dense[dim + 1 :], stride] if shape else [1]
        base = Geometry(tuple(shape), tuple(dense), 0)
        return PutWindow.fn(g, base, Geometry(tuple(g.shape), tuple(window), 0))


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` along `dimension`, `step` apart, as a view with a last dim of that
    size.

    >>> import tinygrad_course as tg
    >>> tg.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    dim = wrap_dim(dimension, self.ndim)
    n = self.shape[dim] if self.ndim else 1
    if size < 0 or size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _Unfold.fn(self, dim, size, step)


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Any window on the tensor's storage: sizes, strides and offset in elements.

    >>> import tinygrad_course as tg
    >>> as_strided(tg.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    offset = input.storage_offset() if storage_offset is None else storage_offset
    window = Geometry(size_args((size,)), size_args((stride,), "stride"), offset)
    buffer = input.storage()._buffer
    if len(window.shape) != len(window.stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {list(window.shape)} and "
            f"{list(window.stride)}"
        )
    if min(window.stride, default=0) < 0 or offset < 0:
        raise RuntimeError(
            f"as_strided: strides and offset must not be negative: {list(window.stride)}, {offset}"
        )
    if window.end() > buffer.size:
        raise RuntimeError(
            f"setStorage: sizes {list(window.shape)}, strides {list(window.stride)}, storage "
            f"offset {offset} need a storage of "
            f"{window.end()} elements, and this one has {buffer.size}"
        )
    step = buffer.itemsize
    array = backend_of(buffer).window(
        buffer, window.shape, tuple(s * step for s in window.stride), offset * step
    )
    edge = input._grad_edge()
    if edge is None:
        return as_view(array, input, None)
    node = ViewThroughBase((edge,))
    node.base, node.window = Geometry.of(input), window
    node.outputs = ((array.shape, array.dtype),)
    return as_view(array, input, (node, 0))


# --- several tensors into one, one into several ---------------------------------------------------


class Cat(Op, fn=""):
    """Tensors behind each other along `dim`; each gets its part of g."""

    __slots__ = ()

    def forward(ctx, xp, *xs, dim):
        ctx.save(dim, [x.shape[dim] for x in xs])
        return xp.ascontiguousarray(xp.concatenate(xs, dim))

    def backward(ctx, g):
        dim, sizes = ctx.saved
        parts, start = [], 0
        for n in sizes:
            parts.append(g[(slice(None),) * dim + (slice(start, start + n),)])
            start += n
        return tuple(parts)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors of equal sizes but for `dim`, behind each other along it; promoted to one dtype.

    >>> import tinygrad_course as tg
    >>> cat([tg.tensor([1, 2]), tg.tensor([3.])])
    tensor([1., 2., 3.])
    """
    xs = list(tensors)
    if not xs:
        raise ValueError("cat(): expected a non-empty list of Tensors")
    if any(isinstance(x, Tensor) for x in xs):
        xs = _joinable(xs, "cat")
    # PyTorch lets an empty vector join anything, a relic of the days without zero-size shapes.
    xs = [x for x in xs if tuple(x.shape) != (0,)] or xs[:1]
    ndim = len(xs[0].shape)
    if ndim == 0:
        raise RuntimeError(
            "zero-dimensional tensor (at position 0) cannot be concatenated: use stack()"
        )
    dim = wrap_dim(dim, ndim)
    for i, x in enumerate(xs):
        if len(x.shape) != ndim or any(
            n != m for d, (n, m) in enumerate(zip(x.shape, xs[0].shape, strict=True)) if d != dim
        ):
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected "
                f"{list(xs[0].shape)} but got {list(x.shape)} "
                f"for tensor number {i} in the list."
            )
    return Cat.apply(*xs, dim=dim)


def _joinable(xs: list[Any], name: str) -> list[Tensor]:
    for x in xs:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): expected Tensors, got {type(x).__name__}")
    first = xs[0]._array.dtype
    if all(x._array.dtype == first for x in xs):
        return xs
    dtype = result_type(*(x._array for x in xs))
    return [x.to(dtype) for x in xs]


class Stack(Op, fn=""):
    """Tensors of equal sizes along a new `dim`; each gets its slice of g."""

    __slots__ = ()

    def forward(ctx, xp, *xs, dim):
        ctx.save(dim, len(xs))
        return xp.ascontiguousarray(xp.stack(xs, dim))

    def backward(ctx, g):
        dim, n = ctx.saved
        return tuple(g[(slice(None),) * dim + (i,)] for i in range(n))


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of equal sizes along a new dim.

    >>> import tinygrad_course as tg
    >>> stack([tg.tensor([1, 2]), tg.tensor([3, 4])], 1)
    tensor([[1, 3],
            [2, 4]])
    """
    xs = list(tensors)
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    if any(isinstance(x, Tensor) for x in xs):
        xs = _joinable(xs, "stack")
    sizes = [getattr(x, "_array", x).shape for x in xs]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(sizes[0])} at entry 0 "
                f"and {list(size)} at entry {i}"
            )
    return Stack.apply(*xs, dim=wrap_dim(dim, len(sizes[0]) + 1))


class _Parts(View):
    """A View with several results, which are outputs of one node."""

    __slots__ = ()

    @classmethod
    def apply(cls, x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor):
            return cls.forward(UNRECORDED, xp_of(x), x, *args)
        edge = x._grad_edge() if mode.enabled and not x.volatile else None
        if edge is None:
            parts = cls.forward(UNRECORDED, xp_of(x._array), x._array, *args)
            return tuple([as_view(part, x, None, "several") for part in parts])
        node = cls((edge,))
        parts = cls.forward(node, xp_of(x._array), x._array, *args)
        node.outputs = tuple([(part.shape, part.dtype) for part in parts])
        return tuple([as_view(part, x, (node, i), "several") for i, part in enumerate(parts)])


class Split(_Parts, fn=""):
    """x cut along `dim` into pieces of `sizes`; dx = the gradients of the pieces behind each
    other."""

    __slots__ = ()

    def forward(ctx, xp, x, /, sizes, dim):
        ctx.save(x.shape, sizes, dim)
        before, start, pieces = (slice(None),) * dim, 0, []
        for n in sizes:
            pieces.append(x[(*before, slice(start, start + n))])
            start += n
        return tuple(pieces)

    def backward(ctx, *gs):
        shape, sizes, dim = ctx.saved
        shapes = [(*shape[:dim], n, *shape[dim + 1 :]) for n in sizes]
        return cat(_filled(gs, shapes), dim)


class Unbind(_Parts, fn=""):
    """The slices of x along `dim`; dx = their gradients, stacked."""

    __slots__ = ()

    def forward(ctx, xp, x, /, dim):
        ctx.save(x.shape, dim)
        before = (slice(None),) * dim
        return tuple(x[(*before, i, ...)] for i in range(x.shape[dim]))

    def backward(ctx, *gs):
        shape, dim = ctx.saved
        return stack(_filled(gs, [shape[:dim] + shape[dim + 1 :]] * len(gs)), dim)


def _filled(gs: tuple[Any, ...], shapes: list[Any]) -> list[Any]:
    """The gradients, with zeros for the pieces that nobody used."""
    some = next(g for g in gs if g is not None)
    return [blank(some, shape) if g is None else g for g, shape in zip(gs, shapes, strict=True)]


def split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of `split_size` places each along `dim` (the last may be smaller), or of the sizes in a
    list.

    >>> import tinygrad_course as tg
    >>> [x.tolist() for x in split(tg.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    if input.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, input.ndim)
    n = input.shape[dim]
    if isinstance(split_size, int):
        if split_size < 0 or (split_size == 0 and n):
            raise RuntimeError(
                f"split expects split_size be positive, but got split_size={split_size}"
            )
        sizes = [min(split_size, n - start) for start in range(0, n, split_size)] if n else [0]
    else:
        sizes = [as_int(s, "split_size") for s in split_size]
        if sum(sizes) != n or min(sizes, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
                f"at dimension {dim}), none of them negative, but got split_sizes={sizes}"
            )
    return Split.fn(input, tuple(sizes), dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size along `dim` (the last may be smaller)."""
    if input.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.shape[wrap_dim(dim, input.ndim)]
    return split(input, -(-n // chunks) if n else [0] * chunks, dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along `dim`, which goes away."""
    if input.ndim == 0:
        raise IndexError("unbind() cannot be applied to a 0-dim tensor")
    return Unbind.fn(input, wrap_dim(dim, input.ndim))


class Repeat(Op, fn=""):
    """x, each dim repeated so many times; dx = g summed over the repetitions."""

    __slots__ = ()

    def forward(ctx, xp, x, /, times):
        ctx.save(x.shape, times)
        y = xp.tile(x, times)
        return y if y.flags.c_contiguous else xp.ascontiguousarray(y)

    def backward(ctx, g):
        shape, times = ctx.saved
        full = (1,) * (len(times) - len(shape)) + tuple(shape)
        g = g.reshape(tuple(n for pair in zip(times, full, strict=True) for n in pair))
        return g.sum(tuple(range(0, 2 * len(full), 2))).reshape(shape) if full else g


def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """A copy with each dim repeated so many times; new dims come in front.

    >>> import tinygrad_course as tg
    >>> tg.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    times = size_args(repeats, "repeats")
    if len(times) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: {len(times)} < {self.ndim}"
        )
    require_sizes(times)
    return Repeat.fn(self, times)


def _matrices_transposed(self: Tensor) -> Tensor:
    """The matrices in the last two dims, transposed."""
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices, not 1-D"
        )
    return transpose(self, -2, -1) if self.ndim else self


def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Gives the tensor another size, row-major from its first element on; a storage too small
    grows, for all its tensors."""
    if self.requires_grad:
        raise RuntimeError(
            "cannot resize variables that require grad: take .data or .detach() first"
        )
    window = Geometry(size_args(sizes), (), 0)
    require_sizes(window.shape)
    strides, step = [], 1
    for n in reversed(window.shape):
        strides.append(step)
        step *= max(n, 1)
    offset, storage = self.storage_offset(), self.storage()
    window = Geometry(window.shape, tuple(reversed(strides)), offset)
    storage.resize_(window.end())
    buffer = storage._buffer
    size = buffer.itemsize
    self._array = backend_of(buffer).window(
        buffer, window.shape, tuple(s * size for s in window.stride), offset * size
    )
    self._bump()
    return self


function(
    flatten,
    permute,
    transpose,
    t,
    select,
    narrow,
    unsqueeze,
    squeeze,
    split,
    chunk,
    unbind,
    as_strided,
)
method(
    reshape,
    flatten,
    permute,
    transpose,
    t,
    select,
    narrow,
    unsqueeze,
    squeeze,
    split,
    chunk,
    unbind,
    as_strided,
)
function(cat, stack, broadcast_tensors)
method(view, expand, unfold, repeat, resize_)
function(reshape=_reshape, swapaxes=transpose)
method(swapaxes=transpose)
method(view_as=lambda self, other: view(self, other.shape))
method(reshape_as=lambda self, other: reshape(self, other.shape))
method(expand_as=lambda self, other: expand(self, other.shape))
function(broadcast_to=expand)
method(broadcast_to=expand)
method(T=property(lambda self: permute(self, tuple(range(self.ndim))[::-1])))
method(mT=property(_matrices_transposed))
method(resize_as_=lambda self, other: resize_(self, other.shape))
