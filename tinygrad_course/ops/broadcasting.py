"""Elementwise operations, and the shortest way through them.

Tensors of one dtype on the CPU, or a tensor and a number, go straight to NumPy's kernel, recorded
or not: a microsecond matters here, since these are most of the operations there are. All else takes
`Op.apply`, after its operands were brought to one dtype and device. Lessons 03 and 04.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..autograd.mode import mode
from ..autograd.node import FREED, next_order
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..dtype import DType, get_default_dtype, result_type
from ..shape import broadcast_shapes
from .registry import UNRECORDED, Op, is_operand, settled, write_out

_new = object.__new__
# One lookup less on the path that every operation takes. None while somebody watches: no array is
# of that type, so that all operations take the long way, which calls the hooks.
_ndarray: Any = np.ndarray


def close_short_way(closed: bool) -> None:
    """Sends elementwise operations through `Op.apply` like all others (or straight to the kernel
    again)."""
    global _ndarray
    _ndarray = None if closed else np.ndarray


class Unary(Op):
    """An elementwise operation of one tensor, with the shape of its input."""

    __slots__ = ()

    @classmethod
    def _function(cls) -> Callable[..., Any]:
        if cls.parameters:
            return super()._function()
        apply, forward, floats, differentiable = (
            cls.apply,
            cls.forward,
            cls.floats,
            cls.differentiable,
        )

        def call(input: Any, *, out: Tensor | None = None) -> Any:
            if out is not None:
                return write_out(call(input), out)
            x: Any = input
            if not isinstance(x, Tensor):
                return apply(x)
            a, edge = x._array, x._edge
            if (
                type(a) is not _ndarray
                or (edge is None and x._meta is not None)
                or (floats and a.dtype.kind != "f")
            ):
                return apply(x)
            if not mode.enabled or edge is None or not differentiable:
                y = forward(UNRECORDED, np, a)
                return Tensor._wrap(y if type(y) is _ndarray else np.asarray(y))
            node = cls()
            node.edges, node.saved, node.hooks, node.restore = (edge,), (), None, None
            node.order = next_order()
            y = forward(node, np, a)
            if type(y) is not _ndarray:
                y = settled(node, y)
            node.outputs = ((y.shape, y.dtype),)
            tensor = _new(Tensor)
            tensor._array = y
            tensor._edge = (node, 0)
            tensor._storage = tensor._counter = tensor._meta = None
            node.guards = _guards(node.saved, x, a, None, None, tensor, y) if node.saved else ()
            return tensor

        return call

    @classmethod
    def apply(cls, x: Any, *args: Any, **params: Any) -> Any:
        if cls.floats and hasattr(x, "dtype"):
            x = to_float(x)
        return super().apply(x, *args, **params)


class Broadcast(Op):
    """An elementwise operation of several operands: broadcast together, promoted to one dtype; some
    may be Python numbers, or None where they are optional."""

    __slots__ = ()

    def release(self) -> None:
        if self.saved:  # a number counts as a saved tensor here, as in PyTorch
            self.saved, self.guards = FREED, ()

    @classmethod
    def apply(cls, *inputs: Any, **params: Any) -> Any:
        operands, rest = inputs[: cls.arity], inputs[cls.arity :]
        if not any(isinstance(v, Tensor) for v in operands):
            arrays = [v for v in operands if hasattr(v, "strides")]
            if not arrays:
                raise TypeError(f"{cls.__name__.lower()}(): no operand is a Tensor")
            xp = xp_of(arrays[0])
            return cls.forward(UNRECORDED, xp, *operands, *rest, **params)
        operands = cls.promote(*operands)
        try:
            result = super().apply(*operands, *rest, **params)
        except ValueError:
            # Shapes that don't broadcast: it says so in PyTorch's words.
            broadcast_shapes(*[v._array.shape for v in operands if isinstance(v, Tensor)])
            raise
        edge = result._edge
        if edge is not None:
            shape = result._array.shape
            fit = tuple(
                [
                    (v._array.shape, None)
                    if isinstance(v, Tensor) and v._array.shape != shape
                    else None
                    for v in operands
                ]
            )
            if any(fit):
                edge[0].restore = fit
        return result

    @classmethod
    def promote(cls, *operands: Any) -> tuple[Any, ...]:
        """The operands on one device and in the dtype in which the operation computes."""
        if len(operands) == 2 and cls._alike(*operands):
            x, y = operands
            return (x, float(y)) if type(y) is int else operands
        found, arrays, away = [], [], None
        for place, v in enumerate(operands):
            if hasattr(v, "strides"):
                v = Tensor._wrap_any(v)
            if isinstance(v, Tensor):
                arrays.append(v._array)
                if type(v._array) is not _ndarray:
                    away = v.device
            elif isinstance(v, bool | int | float) and cls.numbers:
                arrays.append(v)
            elif v is not None or place < cls.required:
                wanted = "a Tensor or a number" if cls.numbers else "a Tensor"
                raise TypeError(
                    f"{cls.__name__.lower()}(): an operand must be {wanted}, not {type(v).__name__}"
                )
            found.append(v)
        dtype = result_type(*arrays)
        if cls.floats and not dtype.is_floating_point:
            dtype = get_default_dtype()
        if away is not None:
            # Only a single number may join from the host, as a Python number could.
            found = [
                v.to(away)
                if isinstance(v, Tensor) and v.ndim == 0 and v.device.type == "cpu"
                else v
                for v in found
            ]
        return tuple([cls._in(v, dtype) for v in found])

    @classmethod
    def _alike(cls, x: Any, y: Any) -> bool:
        """Whether there is nothing to do: a tensor of floats, and a number or another one of its
        type on the CPU."""
        if not isinstance(x, Tensor) or x._array.dtype.kind != "f":
            return False
        if isinstance(y, Tensor):
            return x._array.dtype is y._array.dtype and type(x._array) is type(y._array) is _ndarray
        return cls.numbers and type(y) in (float, int)

    @staticmethod
    def _in(operand: Any, dtype: DType) -> Any:
        """`operand` in `dtype`; integers out of its range wrap around, as they do in a tensor of
        that type."""
        if isinstance(operand, Tensor):
            return operand if operand.dtype is dtype else operand.to(dtype)
        if operand is None:
            return None
        if dtype.is_floating_point:
            return float(operand)
        return np.array(operand).astype(dtype.numpy).item()


class Binary(Broadcast):
    """An elementwise operation of two operands, either of which may be a Python number: it has the
    shortest way through."""

    __slots__ = ()
    constants = True  # whether forward may get a number as an array without dims

    @classmethod
    def _function(cls) -> Callable[..., Any]:
        if cls.parameters:
            return super()._function()
        apply, fast = cls.apply, cls._fast()

        def scaled(
            input: Any, other: Any, *rest: Any, alpha: Any = 1, out: Tensor | None = None
        ) -> Any:
            if rest:  # add(x, alpha, y), as in old code
                (other,), alpha = rest, other
            result = call(input, other if alpha == 1 else cls.scaled(input, other, alpha))
            return result if out is None else write_out(result, out)

        def call(input: Any, other: Any, *, out: Tensor | None = None) -> Any:
            if out is not None:
                return write_out(call(input, other), out)
            return (
                fast(input, other)
                if isinstance(input, Tensor) and is_operand(other)
                else apply(input, other)
            )

        return scaled if cls.scales else call

    @classmethod
    def _method(cls) -> Callable[..., Any]:
        return super()._method() if cls.parameters or cls.scales else cls._fast(named=True)

    @classmethod
    def _operator(cls) -> Callable[..., Any]:
        return super()._operator() if cls.parameters else cls._fast()

    @classmethod
    def _fast(cls, named: bool = False) -> Callable[[Tensor, Any], Any]:
        """x op y for a Tensor x: tensors of one dtype on the CPU, or with a number, go straight to
        the kernel.

        A foreign operand gives NotImplemented, so that Python lets the other side try; where the
        operation was called by name it is a TypeError.
        """
        apply, forward, differentiable = cls.apply, cls.forward, cls.differentiable
        numbers, constants = cls.numbers, cls.constants
        # Whether integers of one type are computed as they are, without a word in `promote`.
        promote: Any = cls.promote
        whole = not cls.floats and promote.__func__ is vars(Broadcast)["promote"].__func__

        def fast(self: Tensor, other: Any) -> Any:
            x, y = self, other
            a, ex = x._array, x._edge
            recording = differentiable and mode.enabled
            kind = type(y)
            if kind is float or kind is int:
                ey = None
                plain = numbers and (
                    a.dtype.kind == "f"
                    # A small number fits every type; others wrap around, see `_in`.
                    or (whole and kind is int and 0 <= y < 128 and a.dtype.kind in "iu")
                )
                b = y = _constant(y, a.dtype) if constants and plain and y else y
            elif isinstance(y, Tensor):
                b, ey = y._array, y._edge
                # NumPy's own dtypes are singletons: `is` takes a third of the time of `==`.
                plain = (
                    a.dtype is b.dtype
                    and type(b) is _ndarray
                    and (a.dtype.kind == "f" or (whole and a.dtype.kind in "iub"))
                )
                if ey is None and y._meta is not None:
                    if y._meta.volatile:
                        return apply(x, other)
                    if recording:
                        ey = y._meta.edge(y)
            else:
                return apply(x, other) if named or is_operand(other) else NotImplemented
            if not plain or type(a) is not _ndarray:
                return apply(x, other)
            if ex is None and x._meta is not None:
                if x._meta.volatile:
                    return apply(x, other)
                if recording:
                    ex = x._meta.edge(x)
            if not recording or (ex is None and ey is None):
                try:
                    out = forward(UNRECORDED, np, a, b)
                except ValueError:  # shapes that don't broadcast: it says so in PyTorch's words
                    return apply(x, other)
                return Tensor._wrap(out if type(out) is _ndarray else np.asarray(out))
            node = cls()
            node.edges, node.saved, node.hooks, node.restore = (ex, ey), (), None, None
            node.order = next_order()
            try:
                out = forward(node, np, a, b)
            except ValueError:
                return apply(x, other)
            if type(out) is not _ndarray:
                out = settled(node, out)
            shape = out.shape
            node.outputs = ((shape, out.dtype),)
            tensor = _new(Tensor)
            tensor._array = out
            tensor._edge = (node, 0)
            tensor._storage = tensor._counter = tensor._meta = None
            if b is not y and (a.shape != shape or b.shape != shape):
                node.restore = ((a.shape, None), (b.shape, None))
            node.guards = _guards(node.saved, x, a, y, b, tensor, out) if node.saved else ()
            return tensor

        return fast

    @classmethod
    def scaled(cls, x: Any, y: Any, alpha: Any) -> Any:
        """alpha·y in the type of the result; RuntimeError when that has no room for alpha."""
        x, y = cls.promote(x, y)
        dtype = x.dtype if isinstance(x, Tensor) else y.dtype
        if isinstance(alpha, float) and not dtype.is_floating_point:
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number: "
                f"it is {alpha}"
            )
        return y * cls._in(alpha, dtype)


@lru_cache(256)
def _constant(number: float, dtype: Any) -> Array:
    """`number`, which is not 0 (the cache takes 0.0 and -0.0 for one), as an array without dims:
    kernels read it in half the time that a Python number takes."""
    array = np.array(number, dtype)
    array.flags.writeable = False
    return array


def _guards(
    saved: tuple[Any, ...], x: Tensor, a: Any, y: Any, b: Any, result: Tensor, out: Any
) -> list[tuple[int, Any, int, int]]:
    """`guards_of` for operands x and y with the arrays a and b, where y may be no tensor and then
    is b, and the array `out` of a new `result`: in a third of the time."""
    guards: list[tuple[int, Any, int, int]] = []
    place = 0
    for value in saved:
        if value is a:
            counter = x._counter
            guards.append((place, x, 0 if counter is None else counter[0], -1))
        elif value is b:
            if b is not y:
                counter = y._counter
                guards.append((place, y, 0 if counter is None else counter[0], -1))
        elif value is out:
            guards.append((place, result._shared_counter(), 0, 0))
        place += 1
    return guards


def require_tensor_first(op: type[Op], x: Any) -> None:
    """TypeError when the first operand is a number: some operations take one only as the second."""
    if isinstance(x, bool | int | float):
        raise TypeError(f"{op.__name__.lower()}(): the first operand must be a Tensor, not {x!r}")


def to_float(x: Any) -> Any:
    """`x` in the default float dtype when it is no float (arrays and Tensors alike)."""
    if isinstance(x, Tensor):
        return x if x._array.dtype.kind == "f" else x.to(get_default_dtype())
    return x if x.dtype.kind == "f" else x.astype(get_default_dtype().numpy)
