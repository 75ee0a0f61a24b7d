"""A tensor as one row of elements: take and put, at flat places; and take_along_dim. Lesson 03."""

from __future__ import annotations

from ..autograd.variable import Tensor
from ..device import Array
from ..shape import broadcast_shapes, wrap_dim
from .convert import memory_order
from .places import change_flat, scatter_flat, wrapped
from .registry import Op, function, method, with_out
from .rows import require_long
from .scatter import Take, gather, scatter_into
from .views import expand, view


class _Put(Op, fn="", node="PutBackward0"):
    """x with y written (or added) at flat places; dx = g with zeros there (or g), dy = take(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, places, y, /, accumulate, inplace=False):
        ctx.save(places, y.shape, accumulate)
        out = x if inplace else xp.array(x, order=memory_order(x))
        if accumulate:
            return scatter_flat(out, places, y)

        def write(vector: Array) -> None:
            vector[places.reshape(-1)] = y.reshape(-1)

        return change_flat(out, write)

    def backward(ctx, g):
        places, shape, accumulate = ctx.saved
        gx = gy = None
        if ctx.needs[0]:
            gx = g if accumulate else BlankFlat.fn(g, places)
        if ctx.needs[2]:
            gy = Take.fn(g, places).reshape(shape)
        return gx, None, gy


class BlankFlat(Op, fn=""):
    """x with zeros at flat places; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, places, /):
        ctx.save(places)
        out = xp.array(x)

        def write(vector: Array) -> None:
            vector[places.reshape(-1)] = xp.zeros((), x.dtype)

        return change_flat(out, write)

    def backward(ctx, g):
        return BlankFlat.fn(g, *ctx.saved), None


def _flat_places(input: Tensor, index: Tensor, name: str) -> Tensor:
    require_long(index, name)
    if index.numel() and not input.numel():
        raise IndexError(f"{name}(): an empty tensor has no places, and {index.numel()} were given")
    array = wrapped(index._array, input.numel(), f": {name}() on a tensor")
    return index if array is index._array else Tensor._wrap(array)


@with_out
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at flat places, as if `input` were a vector; the result has the shape of
    `index`.

    >>> import tinygrad_course as tg
    >>> take(tg.tensor([[1, 2], [3, 4]]), tg.tensor([0, -1]))
    tensor([1, 4])
    """
    return Take.fn(input, _flat_places(input, index, "take"))


def _put_checks(self: Tensor, index: Tensor, source: Tensor) -> Tensor:
    if not isinstance(source, Tensor):
        raise TypeError(f"put(): source must be a Tensor, not {type(source).__name__}")
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "put(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype!r} and source.dtype = {source.dtype!r}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            "put(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    return _flat_places(self, index, "put")


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of input with the elements of `source` written (or added) at flat places.

    >>> import tinygrad_course as tg
    >>> put(tg.zeros(2, 2), tg.tensor([3, 0]), tg.tensor([5., 6.]))
    tensor([[6., 0.],
            [0., 5.]])
    """
    return _Put.fn(input, _put_checks(input, index, source), source, bool(accumulate))


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """As `put`, into this tensor."""
    places = _put_checks(self, index, source)
    return scatter_into(_Put, self, (places, source), {"accumulate": bool(accumulate)})


@with_out
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As `gather`, after broadcasting input and indices outside of `dim`; without dim as `take`.

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([[3, 1], [2, 4]])
    >>> take_along_dim(x, x.argmax(1, keepdim=True), 1)
    tensor([[3],
            [4]])
    """
    if indices._array.dtype != "int64":
        raise RuntimeError(
            f"take_along_dim(): dtype of indices should be Long but got {indices.dtype!r}"
        )
    if dim is None:
        return take_along_dim(view(input, (-1,)), view(indices, (-1,)), 0)
    if indices.ndim != input.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but "
            f"got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, input.ndim)
    sizes = [list(v.shape) for v in (input, indices)]
    along_dim = [shape[dim] for shape in sizes]
    for shape in sizes:
        shape[dim] = 1
    common = list(broadcast_shapes(*sizes))
    x, places = (
        expand(v, (*common[:dim], n, *common[dim + 1 :]))
        for v, n in zip((input, indices), along_dim, strict=True)
    )
    return gather(x, dim, places.remainder(along_dim[0]))


function(take, put, take_along_dim)
method(take, put, put_, take_along_dim)
