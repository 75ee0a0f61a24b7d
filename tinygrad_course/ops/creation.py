"""Making tensors without data: of one value, in a row, on a diagonal, like another tensor.

Every factory takes the options of `factory.Options` (`dtype`, `device`, `requires_grad`, `out`, …).
A tensor made like another one also has its memory order, unless `memory_format` says otherwise.
Lesson 01.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ..autograd.variable import Tensor
from ..device import defaults
from ..dtype import BOOL, INTEGER, get_default_dtype, int64, number_for, of_number
from ..layout import contiguous_format, preserve_format, strides_for
from ..shape import as_int, size_args
from .convert import new_array
from .factory import Options, Plan, SizeOptions, sizes_in, sizes_of
from .registry import function, method

# --- of one value ---------------------------------------------------------------------------------


class EmptyOptions(SizeOptions, total=False):
    """The options of `empty`, which can lay its elements in another order."""

    memory_format: Any


def empty(*sizes: Any, **options: Unpack[EmptyOptions]) -> Tensor:
    """A tensor of that size whose elements are whatever was in memory.

    >>> empty(2, 3).shape
    torch.Size([2, 3])
    """
    given: dict[str, Any] = {**options}
    memory_format = given.pop("memory_format", contiguous_format)
    shape = sizes_of("empty", sizes, given)
    plan = Plan("empty", given, get_default_dtype())
    if memory_format is contiguous_format:
        return plan.finish(plan.xp.empty(shape, plan.numpy_type))
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format preserve_format: there is nothing to copy")
    return plan.finish(
        new_array(plan.xp, plan.numpy_type, shape, strides_for(shape, (), memory_format))
    )


def zeros(*sizes: Any, **options: Unpack[SizeOptions]) -> Tensor:
    """A tensor of zeros.

    >>> zeros(2)
    tensor([0., 0.])
    """
    given: dict[str, Any] = {**options}
    shape = sizes_of("zeros", sizes, given)
    plan = Plan("zeros", given, get_default_dtype())
    return plan.finish(plan.xp.zeros(shape, plan.numpy_type))


def ones(*sizes: Any, **options: Unpack[SizeOptions]) -> Tensor:
    """A tensor of ones.

    >>> ones((1, 2))
    tensor([[1., 1.]])
    """
    given: dict[str, Any] = {**options}
    shape = sizes_of("ones", sizes, given)
    plan = Plan("ones", given, get_default_dtype())
    return plan.finish(plan.xp.ones(shape, plan.numpy_type))


def full(size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor with one value everywhere, of that value's type.

    >>> full((2,), 7)
    tensor([7, 7])
    """
    value, sizes = _number("full", fill_value), sizes_in("full", size)
    plan = Plan("full", options, of_number(value))
    return plan.finish(plan.xp.full(sizes, number_for(value, plan.dtype), plan.numpy_type))


def _number(name: str, value: Any) -> Any:
    """A Python number of a number or a 0-dim tensor."""
    if isinstance(value, Tensor) and value.ndim == 0:
        return value.item()
    if isinstance(value, bool | int | float | np.generic):
        return value
    raise TypeError(f"{name}(): a number was expected, not {type(value).__name__}: {value!r}")


def empty_strided(size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """An empty tensor of that size with those strides (in elements), which may leave gaps.

    RuntimeError for a negative stride or another number of strides than sizes.

    >>> empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    sizes, strides = sizes_in("empty_strided", size), size_args((stride,), "stride")
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides "
            f"({len(strides)})"
        )
    if min(strides, default=0) < 0:
        raise RuntimeError(f"empty_strided(): strides must not be negative: {list(strides)}")
    plan = Plan("empty_strided", options, get_default_dtype())
    return plan.finish(new_array(plan.xp, plan.numpy_type, sizes, strides))


# --- in a row -------------------------------------------------------------------------------------


class RangeOptions(Options, total=False):
    """The bounds of `arange`, which may come by keyword."""

    start: Any
    end: Any
    step: Any


def arange(*bounds: Any, **options: Unpack[RangeOptions]) -> Tensor:
    """start, start + step, … below end: arange(end), arange(start, end), arange(start, end, step).

    RuntimeError for a step of 0, or one that leads away from `end`.

    >>> arange(1, 2, 0.5)
    tensor([1.0000, 1.5000])
    """
    given: dict[str, Any] = {**options}
    start, end, step = _bounds(bounds, given)
    whole = all(isinstance(v, int) for v in (start, end, step))
    plan = Plan("arange", given, int64 if whole else get_default_dtype())
    if plan.dtype.category == BOOL:
        raise NotImplementedError('"arange_cpu" not implemented for bool')
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: arange({start}, {end}, "
            f"{step})"
        )
    if plan.dtype is int64:
        # Counted with the fractions cut off; in other integer types they count.
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise ValueError("step must be nonzero: its whole part is 0, and the dtype is int64")
        count = -(-(end - start) // step)
    else:
        count = math.ceil((end - start) / step)
    if plan.dtype.category == INTEGER:
        start, step = int(start), int(step)
    places = plan.xp.arange(count, dtype=np.int64 if plan.dtype.category == INTEGER else np.float64)
    return plan.finish((start + places * step).astype(plan.numpy_type))


def _bounds(bounds: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """start, end and step from arguments and keywords."""
    names = ("end",) if len(bounds) == 1 and "end" not in options else ("start", "end", "step")
    named = dict(zip(names, bounds, strict=False))
    for name in ("start", "end", "step"):
        if name in options:
            if name in named:
                raise TypeError(f"arange() got multiple values for argument {name!r}")
            named[name] = options.pop(name)
    if len(bounds) > 3 or "end" not in named or ("step" in named and "start" not in named):
        raise TypeError(f"arange() takes end, start and end, or all with a step, got {named}")
    values = {name: _number("arange", value) for name, value in named.items()}
    return values.get("start", 0), values["end"], values.get("step", 1)


def linspace(start: Any, end: Any, steps: int, **options: Unpack[Options]) -> Tensor:
    """`steps` numbers evenly spaced from `start` to `end`, both included.

    >>> linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    plan = Plan("linspace", options, get_default_dtype())
    points = _spaced("linspace", start, end, steps, plan)
    return plan.finish(points.astype(plan.numpy_type))


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, **options: Unpack[Options]
) -> Tensor:
    """base^start to base^end in `steps` numbers whose logarithms are evenly spaced.

    >>> logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    plan = Plan("logspace", options, get_default_dtype())
    points = _spaced("logspace", start, end, steps, plan)
    return plan.finish(plan.xp.power(float(base), points).astype(plan.numpy_type))


def _spaced(name: str, start: Any, end: Any, steps: Any, plan: Plan) -> Any:
    """`steps` numbers from `start` to `end`, in the plan's type (integers: as float64).

    The second half is counted back from the end, so that both ends are exact.
    """
    start, end, steps = _number(name, start), _number(name, end), as_int(steps, "steps")
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    if plan.dtype.category == BOOL:
        raise NotImplementedError(f'"{name}_cpu" not implemented for bool')
    whole = plan.dtype.category == INTEGER
    kind = np.dtype(np.float64) if whole else plan.numpy_type
    if whole:  # what an integer type cannot hold wraps around in it
        start, end = (np.int64(v).astype(plan.numpy_type) for v in (start, end))
    first, last = kind.type(start), kind.type(end)
    if steps < 2:
        return plan.xp.full(steps, first, kind)
    # The step is rounded, as in PyTorch; step · place + start is rounded once, hence in float64.
    step, start, end = float((last - first) / kind.type(steps - 1)), float(first), float(last)
    places, half = plan.xp.arange(steps), steps // 2
    halves = [start + step * places[:half], end - step * (steps - 1 - places[half:])]
    return plan.xp.concatenate(halves).astype(kind)


# --- two dims -------------------------------------------------------------------------------------


def eye(n: int, m: int | None = None, **options: Unpack[Options]) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix.

    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    rows, columns = as_int(n, "n"), as_int(n if m is None else m, "m")
    if min(rows, columns) < 0:
        raise RuntimeError(f"n and m must be greater or equal to 0, got {n} and {m}")
    plan = Plan("eye", options, get_default_dtype())
    return plan.finish(plan.xp.eye(rows, columns, dtype=plan.numpy_type))


def tril_indices(row: int, col: int, offset: int = 0, **options: Unpack[Options]) -> Tensor:
    """The places (2, n) of a matrix's lower triangle, row by row; `offset` moves its diagonal up.

    >>> tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle("tril_indices", row, col, offset, options, lambda i, j: j - i <= offset)


def triu_indices(row: int, col: int, offset: int = 0, **options: Unpack[Options]) -> Tensor:
    """The places (2, n) of a matrix's upper triangle, row by row; `offset` moves its diagonal up.

    >>> triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _triangle("triu_indices", row, col, offset, options, lambda i, j: j - i >= offset)


def _triangle(
    name: str, row: int, col: int, offset: int, options: Any, inside: Callable[[Any, Any], Any]
) -> Tensor:
    row, col, offset = as_int(row, "row"), as_int(col, "col"), as_int(offset, "offset")
    for what, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{what} must be non-negative, got {n}")
    plan = Plan(name, options, int64)
    if plan.dtype.category != INTEGER:
        raise NotImplementedError(
            f'"{name}" not implemented for {plan.dtype.name}: places are ints'
        )
    xp = plan.xp
    places = xp.nonzero(inside(xp.arange(row)[:, None], xp.arange(col)))
    return plan.finish(xp.stack(places).astype(plan.numpy_type))


# --- like another tensor --------------------------------------------------------------------------


class LikeOptions(Options, total=False):
    """The options of `zeros_like` and its like."""

    memory_format: Any


def like(name: str, x: Any, options: Any) -> tuple[Plan, Any]:
    """The plan for a tensor like `x`, and an empty array of its size: in the memory order of `x`,
    or in that of `memory_format`."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): input must be a Tensor, not {type(x).__name__}")
    given = {**options}
    memory_format = given.pop("memory_format", None) or preserve_format
    if given.get("device") is None and (defaults.device or x.device.type != "cpu"):
        given["device"] = x.device
    plan, a = Plan(name, given, x.dtype), x._array
    if memory_format is preserve_format and a.flags.forc:
        order = "C" if a.flags.c_contiguous else "F"
        return plan, plan.xp.empty(a.shape, plan.numpy_type, order=order)
    strides = strides_for(a.shape, x.stride(), memory_format)
    return plan, new_array(plan.xp, plan.numpy_type, a.shape, strides)


def empty_like(input: Tensor, **options: Unpack[LikeOptions]) -> Tensor:
    """An empty tensor of the size, dtype and device of `input`, in its memory order."""
    plan, array = like("empty_like", input, options)
    return plan.finish(array)


def zeros_like(input: Tensor, **options: Unpack[LikeOptions]) -> Tensor:
    """Zeros in the size, dtype, device and memory order of `input`.

    >>> import tinygrad_course as tg
    >>> zeros_like(tg.ones(2, 3).t()).stride()
    (1, 3)
    """
    return _filled("zeros_like", input, 0, options)


def ones_like(input: Tensor, **options: Unpack[LikeOptions]) -> Tensor:
    """Ones in the size, dtype, device and memory order of `input`."""
    return _filled("ones_like", input, 1, options)


def full_like(input: Tensor, fill_value: Any, **options: Unpack[LikeOptions]) -> Tensor:
    """One value in the size, dtype, device and memory order of `input`."""
    return _filled("full_like", input, fill_value, options)


def _filled(name: str, input: Tensor, value: Any, options: Any) -> Tensor:
    plan, array = like(name, input, options)
    array.fill(number_for(_number(name, value), plan.dtype))
    return plan.finish(array)


def _like_self(self: Tensor, options: Any) -> dict[str, Any]:
    """The options of x.new_zeros and its like: the dtype and the device are those of x unless
    given."""
    own = {"dtype": self.dtype, "device": self.device}
    return {**own, **{k: v for k, v in options.items() if v is not None}}


def new_empty(self: Tensor, *sizes: Any, **options: Unpack[EmptyOptions]) -> Tensor:
    """An empty tensor of another size with this tensor's dtype and device."""
    return empty(*sizes, **_like_self(self, options))


def new_zeros(self: Tensor, *sizes: Any, **options: Unpack[SizeOptions]) -> Tensor:
    """Zeros of another size with this tensor's dtype and device."""
    return zeros(*sizes, **_like_self(self, options))


def new_ones(self: Tensor, *sizes: Any, **options: Unpack[SizeOptions]) -> Tensor:
    """Ones of another size with this tensor's dtype and device."""
    return ones(*sizes, **_like_self(self, options))


def new_full(self: Tensor, size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """One value in another size with this tensor's dtype and device."""
    return full(size, fill_value, **_like_self(self, options))


def new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """An empty tensor of that size and those strides with this tensor's dtype and device."""
    return empty_strided(size, stride, **_like_self(self, options))


function(empty, zeros, ones, full, empty_strided, arange, linspace, logspace)
function(eye, tril_indices, triu_indices)
function(empty_like, zeros_like, ones_like, full_like)
method(new_empty, new_zeros, new_ones, new_full, new_empty_strided)
