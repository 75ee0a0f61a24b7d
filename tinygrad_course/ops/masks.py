"""Masks: bool tensors that pick, fill or tell elements; and counting by repetition.

A mask is broadcast against the tensor as operands of arithmetic are. Lesson 03.
"""

from __future__ import annotations

from typing import Any

from ..autograd.node import blank
from ..autograd.variable import Tensor
from ..device import xp_of
from ..dtype import number_for
from ..shape import Size, as_int, broadcast_shapes, wrap_dim
from .convert import Contiguous
from .elementwise import where
from .inplace import change, refuse_overlap
from .registry import Op, function, method, with_out, write_out
from .rows import IndexSelect
from .views import expand, reshape, unsqueeze, view


class _MaskedFill(Op, fn="", node="MaskedFillBackward0"):
    """x with a number where the mask holds; dx = g with zeros there."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, /, value, inplace=False):
        ctx.save(mask)
        out = x if inplace else xp.array(x, order="C")
        xp.copyto(out, value, "unsafe", mask)  # a GPU would be waited for by out[mask] = value
        return out

    def backward(ctx, g):
        (mask,) = ctx.saved
        return _MaskedFill.fn(g, mask, 0), None


class _MaskedFillTensor(Op, fn="", node="MaskedFillBackward1"):
    """x with a 0-dim y where the mask holds; dx = g with zeros there, dy = the sum of g there."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, y, /, inplace=False):
        ctx.save(mask)
        out = x if inplace else xp.array(x, order="C")
        xp.copyto(out, y, "unsafe", mask)
        return out

    def backward(ctx, g):
        (mask,) = ctx.saved
        gx = _MaskedFill.fn(g, mask, 0) if ctx.needs[0] else None
        return gx, None, where(mask, g, blank(g)).sum() if ctx.needs[2] else None


def _mask_shape(input: Tensor, mask: Tensor, name: str) -> Size:
    """The common shape; RuntimeError when the mask is no bool tensor."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name}(): mask must be a Tensor, not {type(mask).__name__}")
    if mask._array.dtype != bool:
        raise RuntimeError(
            f"{name} only supports boolean masks, but got mask with dtype {mask.dtype!r}"
        )
    return broadcast_shapes(input.shape, mask.shape)


def _stretched(x: Tensor, shape: Size) -> Tensor:
    return x if x.shape == shape else expand(x, shape)


def _filling(x: Tensor, value: Any) -> tuple[type[Op], tuple[Tensor, ...], dict[str, Any]]:
    """The operation that fills with a number or a 0-dim tensor, its other tensors and
    parameters."""
    if not isinstance(value, Tensor):
        return _MaskedFill, (), {"value": number_for(value, x.dtype)}
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return _MaskedFillTensor, (value.to(x.dtype),), {}


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value` (a number or a 0-dim tensor) where `mask` holds; both are broadcast.

    >>> import tinygrad_course as tg
    >>> masked_fill(tg.tensor([1., 2.]), tg.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    shape = _mask_shape(input, mask, "masked_fill")
    op, others, params = _filling(input, value)
    return op.fn(_stretched(input, shape), _stretched(mask, shape), *others, **params)


def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """As `masked_fill`, into this tensor."""
    _require_inside(self, _mask_shape(self, mask, "masked_fill_"))
    op, others, params = _filling(self, value)
    mask = _stretched(mask, self.shape)
    return change(op, self, (mask, *others), {**params, "inplace": True})


def _require_inside(self: Tensor, shape: Size) -> None:
    if shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}"
        )


class MaskedSelect(Op, fn=""):
    """The elements of x where the mask holds, as a vector; dx = zeros with g there."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, /):
        ctx.save(mask)
        return x[mask]

    def backward(ctx, g):
        (mask,) = ctx.saved
        return PutMasked.fn(g, mask), None


class PutMasked(Op, fn=""):
    """Zeros in the shape of the mask, with the elements of the vector x one after the other where
    it holds; dx = masked_select(g)."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, /):
        ctx.save(mask)
        out = xp.zeros(mask.shape, x.dtype)
        out[mask] = x
        return out

    def backward(ctx, g):
        (mask,) = ctx.saved
        return MaskedSelect.fn(g, mask), None


class Padded(Op, fn=""):
    """A vector followed by as many zeros as `shape` needs, in that shape; dx = the front of g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, shape):
        ctx.save(x.size)
        out = xp.zeros(shape, x.dtype)
        out.reshape(-1)[: x.size] = x
        return out

    def backward(ctx, g):
        (size,) = ctx.saved
        return g.reshape((-1,))[:size]


@with_out
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` holds, as a vector; both are broadcast.

    >>> import tinygrad_course as tg
    >>> masked_select(tg.tensor([1., 2.]), tg.tensor([False, True]))
    tensor([2.])
    """
    shape = _mask_shape(input, mask, "masked_select")
    return MaskedSelect.fn(_stretched(input, shape), _stretched(mask, shape))


class MaskedScatter(Op, fn=""):
    """x with the elements of y, one after the other, where the mask holds; dx = g with zeros there,
    dy = g there."""

    __slots__ = ()

    def forward(ctx, xp, x, mask, y, /, inplace=False):
        ctx.save(mask, y.shape)
        out = x if inplace else xp.array(x, order="C")
        out[mask] = y.reshape(-1)[: int(mask.sum())]
        return out

    def backward(ctx, g):
        mask, shape = ctx.saved
        gx = _MaskedFill.fn(g, mask, 0) if ctx.needs[0] else None
        gy = Padded.fn(MaskedSelect.fn(g, mask), shape) if ctx.needs[2] else None
        return gx, None, gy


def _source_for(self: Tensor, mask: Tensor, source: Any) -> None:
    if not isinstance(source, Tensor):
        raise TypeError(f"masked_scatter(): source must be a Tensor, not {type(source).__name__}")
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{self.dtype!r} and {source.dtype!r}"
        )
    if int(mask._array.sum()) > source.numel():
        raise RuntimeError(
            "masked_scatter: Number of elements of source < number of ones in mask: "
            f"{source.numel()} < {int(mask._array.sum())}"
        )


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, one after the other, where `mask` holds.

    >>> import tinygrad_course as tg
    >>> masked_scatter(tg.zeros(3), tg.tensor([True, False, True]), tg.tensor([5., 6.]))
    tensor([5., 0., 6.])
    """
    shape = _mask_shape(input, mask, "masked_scatter")
    mask = _stretched(mask, shape)
    _source_for(input, mask, source)
    return MaskedScatter.fn(_stretched(input, shape), mask, source)


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """As `masked_scatter`, into this tensor."""
    _require_inside(self, _mask_shape(self, mask, "masked_scatter_"))
    mask = _stretched(mask, self.shape)
    _source_for(self, mask, source)
    refuse_overlap(self, source, whole=True)
    return change(MaskedScatter, self, (mask, source), {"inplace": True})


# --- where something is ---------------------------------------------------------------------------


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The places of the nonzero elements: one row each, or with `as_tuple` one vector per dim.

    >>> import tinygrad_course as tg
    >>> nonzero(tg.tensor([0, 3, 4]))
    tensor([[1],
            [2]])
    """
    a = input._array
    found = xp_of(a).stack(a.reshape(a.shape or (1,)).nonzero())
    if as_tuple:
        return tuple(Tensor._wrap(row) for row in found)
    result = Tensor._wrap(found[: a.ndim].T)
    return result if out is None else write_out(result, out)


def argwhere(input: Tensor) -> Tensor:
    """The places of the nonzero elements, one row each.

    >>> import tinygrad_course as tg
    >>> argwhere(tg.tensor([[0, 1], [1, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return nonzero(input)


# --- repetition -----------------------------------------------------------------------------------


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice of `dim` so many times in a row (a number, or a vector with one for each slice);
    without dim of the tensor as a vector.

    The function with `repeats` alone gives the place of each as often as it says.

    >>> import tinygrad_course as tg
    >>> repeat_interleave(tg.tensor([7, 8]), 2), repeat_interleave(tg.tensor([3, 1]))
    (tensor([7, 7, 8, 8]), tensor([0, 0, 0, 1]))
    """
    if repeats is None:
        if input.ndim != 1:
            raise RuntimeError(
                f"repeat_interleave: repeats must be a vector, not of shape {list(input.shape)}"
            )
        return Tensor._wrap(_repeated(input, output_size))
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    if not input.ndim:
        raise IndexError("repeat_interleave: a 0-dim tensor has no dim to repeat along")
    dim = wrap_dim(dim, input.ndim)
    n = input.shape[dim]
    if isinstance(repeats, Tensor):
        if repeats.ndim > 1 or (repeats.ndim == 1 and repeats.numel() not in (1, n)):
            raise RuntimeError(
                "repeats must be one number or one for each slice: they have shape "
                f"{list(repeats.shape)}, and dim {dim} has size {n}"
            )
        places = _repeated(expand(repeats, (n,)), output_size)
        return IndexSelect.fn(input, Tensor._wrap(places), dim)
    if type(repeats) is not int:
        raise TypeError(f"repeat_interleave(): repeats must be an int or a Tensor, not {repeats!r}")
    if repeats < 0 or output_size not in (None, n * repeats):
        raise RuntimeError(
            f"Repeats must be non-negative and make up output_size: got {repeats} times {n}, "
            f"output_size {output_size}"
        )
    before, after = input.shape[:dim], input.shape[dim + 1 :]
    wide = expand(unsqueeze(input, dim + 1), (*before, n, repeats, *after))
    return view(Contiguous.fn(wide), (*before, n * repeats, *after))


def _repeated(repeats: Tensor, output_size: int | None) -> Any:
    """The places 0, 1, …, each as often as `repeats` says."""
    counts = repeats._array
    if counts.dtype not in ("int32", "int64"):
        raise NotImplementedError(
            f"repeat_interleave: repeats are int32 or int64, not {counts.dtype}"
        )
    if counts.size and int(counts.min()) < 0:
        raise RuntimeError(f"repeats can not be negative, and {int(counts.min())} is among them")
    if output_size not in (None, int(counts.sum())):
        raise RuntimeError(
            f"allocated size does not match required size: output_size is {output_size}, and the "
            f"repeats make {int(counts.sum())}"
        )
    ends = counts.cumsum()
    xp = xp_of(counts)
    # The place of an element is the number of slices that end before it.
    return xp.searchsorted(ends, xp.arange(int(counts.sum())), side="right").astype(counts.dtype)


def _interleave_method(
    self: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice of `dim` so many times in a row (a number, or a vector with one for each slice);
    without dim of the tensor as a vector."""
    if repeats is None:
        raise TypeError("repeat_interleave(): repeats must be an int or a Tensor, not None")
    return repeat_interleave(self, repeats, dim, output_size=output_size)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class number a vector of zeros with a 1 at its place; as many classes as needed for
    `num_classes` = -1.

    >>> import tinygrad_course as tg
    >>> one_hot(tg.tensor([2, 0]), 3)
    tensor([[0, 0, 1],
            [1, 0, 0]])
    """
    classes, n = tensor._array, as_int(num_classes, "num_classes")
    if classes.dtype != "int64":
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {tensor.type()}"
        )
    if not classes.size:
        if n <= 0:
            raise RuntimeError("one_hot: cannot tell the number of classes from an empty tensor")
    elif int(classes.min()) < 0:
        raise RuntimeError(f"Class values must be non-negative, and {int(classes.min())} is not")
    elif n == -1:
        n = int(classes.max()) + 1
    elif int(classes.max()) >= n:
        raise RuntimeError(
            f"Class values must be smaller than num_classes: {int(classes.max())} >= {n}"
        )
    xp = xp_of(classes)
    return Tensor._wrap((classes[..., None] == xp.arange(n)).astype(xp.int64, order="C"))


function(masked_fill, masked_select, masked_scatter, nonzero, argwhere, repeat_interleave)
method(masked_fill, masked_select, masked_scatter, nonzero, argwhere)
method(masked_fill_, masked_scatter_, repeat_interleave=_interleave_method)
