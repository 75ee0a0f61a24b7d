"""The registry: what turns the formula of an operation into functions, methods and operators, and
records them.

An operation is a class with `forward(ctx, xp, *arrays, /, *parameters)` on raw arrays and
`backward(ctx, *grads)`. Its node is the context: `ctx.save(...)` in forward, `ctx.saved` in
backward. Defining the class binds its public names. Called on plain arrays, an operation just runs
its kernel; called on Tensors, it is recorded when one of them needs a gradient. Lessons 04-06.
"""

from __future__ import annotations

import operator as python_operator
import sys
from collections.abc import Callable
from functools import wraps
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..autograd.mode import mode
from ..autograd.node import Edge, Node
from ..autograd.variable import Tensor
from ..autograd.watch import watched, watching
from ..device import Array, require_same
from ..dtype import DType

FUNCTIONS: dict[str, Callable[..., Any]] = {}
OPS: dict[str, type[Op]] = {}
Result = TypeVar("Result")


class _Unrecorded:
    """The context of a forward that nobody will run backward: it keeps nothing."""

    __slots__ = ()
    needs: ClassVar[tuple[None, ...]] = (None,) * 8

    def save(self, *values: Any) -> None:
        pass


UNRECORDED = _Unrecorded()
_OPERAND = Tensor | bool | int | float  # made once: isinstance takes a third of the time
_new = object.__new__


class Op(Node):
    """Base of the engine's operations. See the class keywords in `__init_subclass__`.

    Before the slash `forward` takes arrays (None for an optional one that is absent), after it
    plain parameters; it returns an array or a tuple of arrays. `backward` gets a gradient per
    output and returns one per array. It runs on arrays, or on Tensors when it is itself recorded,
    so it is written with operators and the `fn` of other operations.
    """

    __slots__ = ()

    array_names: ClassVar[tuple[str, ...]]
    arity: ClassVar[int]
    required: ClassVar[int]
    most: ClassVar[int]
    parameters: ClassVar[tuple[str, ...]]
    differentiable: ClassVar[bool] = True
    floats: ClassVar[bool] = False
    scales: ClassVar[bool] = False
    numbers: ClassVar[bool] = True
    fn: ClassVar[Callable[..., Any]]

    def __init_subclass__(
        cls,
        fn: str | None = None,
        method: bool = False,
        inplace: bool = False,
        operator: str | None = None,
        node: str | None = None,
        differentiable: bool | None = None,
        floats: bool | None = None,
        aliases: tuple[str, ...] = (),
        scales: bool = False,
        numbers: bool = True,
    ) -> None:
        """Binds an operation. `fn` is its public name ('' for none; the default is the class name
        in lower case), `aliases` more of them; `method` binds Tensor.fn, `inplace` Tensor.fn_;
        `operator` is e.g. 'add' for x + y, y + x and x += y; `node` the name of the node,
        `floats=True` computes integers as floats, `scales=True` gives the function an `alpha` that
        multiplies the second operand, `numbers=False` takes tensors alone, `differentiable=False`
        never records.
        """
        super().__init_subclass__()
        if differentiable is not None:
            cls.differentiable = differentiable
        if floats is not None:
            cls.floats = floats
        if "forward" not in cls.__dict__:
            return  # a base class such as Unary
        cls.node_name = node or f"{cls.__name__}Backward0"
        _signature(cls)
        cls.scales, cls.numbers = scales, numbers
        cls.fn = staticmethod(_named(cls._function(), fn or cls.__name__.lower(), cls))
        OPS[cls.__name__] = cls
        if fn == "":
            return
        bound = cls._method()
        from .inplace import inplace_method  # imports this module

        for name in (fn or cls.__name__.lower(), *aliases):
            FUNCTIONS[name] = _named(cls.fn, name, cls)
            if method:
                setattr(Tensor, name, _named(bound, name, cls))
            if inplace:
                setattr(Tensor, f"{name}_", _named(inplace_method(cls), f"{name}_", cls))
        if operator is not None:
            setattr(Tensor, f"__{operator}__", _named(cls._operator(), f"__{operator}__", cls))
            if hasattr(python_operator, f"__i{operator}__"):
                setattr(
                    Tensor, f"__r{operator}__", _named(cls._reflected(), f"__r{operator}__", cls)
                )
                setattr(
                    Tensor, f"__i{operator}__", _named(inplace_method(cls), f"__i{operator}__", cls)
                )

    # --- calling ----------------------------------------------------------------------------------

    @classmethod
    def _function(cls) -> Callable[..., Any]:
        required, most, apply = cls.required, cls.most, cls.apply

        def call(*args: Any, out: Tensor | None = None, **params: Any) -> Any:
            if out is not None:
                return write_out(call(*args, **params), out)
            if not required <= len(args) <= most:
                args = by_keyword(cls, args, params)
            return apply(*args, **params)

        return call

    @classmethod
    def _method(cls) -> Callable[..., Any]:
        return cls.fn

    @classmethod
    def _operator(cls) -> Callable[..., Any]:
        return cls.fn

    @classmethod
    def _reflected(cls) -> Callable[..., Any]:
        apply = cls.apply

        def reflected(self: Tensor, other: Any) -> Any:
            return apply(other, self) if is_operand(other) else NotImplemented

        return reflected

    @classmethod
    def apply(cls, *args: Any, **params: Any) -> Any:
        """Runs the kernel on tensors (Tensors, arrays or None) and parameters, and records it when
        a gradient is needed."""
        inputs, rest = args[: cls.arity], args[cls.arity :]
        recording = mode.enabled and cls.differentiable
        arrays: list[Any] = []
        edges: list[Edge | None] = []
        plain, tensors, needed, volatile = True, False, False, False
        for x in inputs:
            array, edge = x, None
            if isinstance(x, Tensor):
                tensors, array, edge, meta = True, x._array, x._edge, x._meta
                if edge is None and meta is not None:
                    volatile = volatile or meta.volatile
                    edge = meta.edge(x) if recording else None
                needed = needed or edge is not None
            plain = plain and type(array) is np.ndarray
            arrays.append(array)
            edges.append(edge)
        xp = np if plain else require_same(arrays)
        forward = watched(cls, cls.forward) if watching and tensors else cls.forward
        result: Any
        if not (recording and needed) or volatile:
            result = forward(UNRECORDED, xp, *arrays, *rest, **params)
            if not tensors:
                return result
            if type(result) is tuple:
                return tuple([_unrecorded(array, volatile) for array in result])
            return _unrecorded(result, volatile)
        node = cls().start(tuple(edges))
        result = forward(node, xp, *arrays, *rest, **params)
        if type(result) is not tuple:
            if isinstance(result, np.generic):
                result = settled(node, result)
            node.outputs = ((result.shape, result.dtype),)
            tensor = recorded(result, (node, 0))
            if node.saved:
                node.guards = guards_of(node, inputs, arrays, (result,), (tensor,))
            return tensor
        outputs = tuple([settled(node, a) if isinstance(a, np.generic) else a for a in result])
        node.outputs = tuple([(a.shape, a.dtype) for a in outputs])
        made = tuple([recorded(a, (node, i)) for i, a in enumerate(outputs)])
        node.guards = guards_of(node, inputs, arrays, outputs, made)
        return made

    forward: ClassVar[Callable[..., Any]]


def settled(node: Node, scalar: Any) -> Array:
    """What a kernel made of 0-dim arrays, a NumPy scalar, as an array, also where `node` saved it:
    guards know the outputs among the saved values by identity."""
    array = np.asarray(scalar)
    node.saved = tuple([array if v is scalar else v for v in node.saved])
    return array


def write_out(result: Any, out: Any) -> Any:
    """The `out=` argument of functions: puts `result` into `out`, resized if need be, and returns
    it; `result` itself where `out` is None. Several results go into as many tensors.

    RuntimeError where a gradient is needed, or `out` cannot hold numbers of that kind.
    """
    if out is None:
        return result
    if isinstance(result, tuple):
        pairs = zip(result, out, strict=True)
        filled = [write_out(one, target) for one, target in pairs]
        return type(result)(filled)
    if result.requires_grad or out.requires_grad:
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad: "
            "leave out= away, or work under tg.no_grad()"
        )
    require_castable(result.dtype, out.dtype)
    if out.shape != result.shape:
        out.resize_(result.shape)
    out.copy_(result)
    return out


def with_out(body: Callable[..., Result]) -> Callable[..., Result]:
    """`body` with one more keyword, `out`."""

    @wraps(body)
    def call(*args: Any, out: Any = None, **params: Any) -> Result:
        result: Result = write_out(body(*args, **params), out)
        return result

    return call


def require_castable(result: DType, wanted: DType) -> None:
    """RuntimeError when a result of one type would lose its kind in another: floats in integers,
    integers in bools."""
    if result.category > wanted.category:
        raise RuntimeError(
            f"result type {result.tensor_type.removesuffix('Tensor')} can't be cast to the desired "
            f"output type {wanted.tensor_type.removesuffix('Tensor')}: convert the tensor first, "
            "e.g. x = x.float()"
        )


def edges_of(inputs: tuple[Any, ...]) -> tuple[Edge | None, ...] | None:
    """The edges of `inputs`, or None when no input needs a gradient or one of them is volatile."""
    edges = []
    needed = False
    for x in inputs:
        edge = None
        if isinstance(x, Tensor):
            edge = x._edge
            if edge is None and x._meta is not None:
                if x._meta.volatile:
                    return None
                edge = x._meta.edge(x)
            if edge is not None:
                needed = True
        edges.append(edge)
    return tuple(edges) if needed else None


def guards_of(
    node: Node,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    outputs: tuple[Any, ...],
    tensors: tuple[Any, ...],
) -> list[tuple[int, Any, int, int]]:
    """Who could overwrite what `node` saved: the inputs and outputs among the saved values."""
    guards = []
    for place, value in enumerate(node.saved):
        if not hasattr(value, "strides"):
            continue
        for x, array in zip(inputs, arrays):  # noqa: B905 (strict= costs a third of the loop)
            if value is array:
                if isinstance(x, Tensor):
                    counter = x._counter
                    guards.append((place, x, 0 if counter is None else counter[0], -1))
                break
        else:
            for i, array in enumerate(outputs):
                if value is array:
                    guards.append((place, tensors[i]._shared_counter(), tensors[i]._version, i))
                    break
    return guards


def recorded(array: Array, edge: Edge) -> Tensor:
    """The Tensor of a recorded kernel's result; results that are no floats (indices) carry no
    gradient."""
    tensor = _new(Tensor)
    tensor._array = array
    tensor._storage = tensor._counter = tensor._meta = None
    tensor._edge = edge if array.dtype.kind == "f" else None
    return tensor


def _unrecorded(array: Any, volatile: bool) -> Tensor:
    tensor = Tensor._wrap_any(array)
    if volatile:
        tensor._make_meta().volatile = True
    return tensor


def is_operand(value: Any) -> bool:
    """Whether `value` can stand beside a Tensor: a Tensor, an array, a number."""
    return isinstance(value, _OPERAND) or hasattr(value, "strides")


# --- binding by hand: for functions made of several operations, or with arguments of their own ----


def function(*bodies: Callable[..., Any], **named: Callable[..., Any]) -> None:
    """Makes each body the public function tg.NAME, under its own name or the one given."""
    FUNCTIONS.update({body.__name__: body for body in bodies}, **named)


def method(*bodies: Callable[..., Any], **named: Any) -> None:
    """Makes each body (a function of self, or a property) the attribute Tensor.NAME."""
    for name, body in {**{body.__name__: body for body in bodies}, **named}.items():
        setattr(Tensor, name, body)


# --- binding --------------------------------------------------------------------------------------


def _signature(cls: type[Op]) -> None:
    """Notes the arguments of `forward`, once: `arity` arrays, of which `required` must be given,
    `array_names` their keywords, and `most` positional arguments in all."""
    code, defaults = cls.forward.__code__, cls.forward.__defaults__ or ()
    names = code.co_varnames[2 : code.co_argcount + code.co_kwonlyargcount]  # without ctx and xp
    cls.arity = max(code.co_posonlyargcount - 2, 0)
    cls.most = code.co_argcount - 2
    cls.required = min(cls.arity, cls.most - len(defaults))
    cls.array_names = tuple([{"x": "input", "y": "other"}.get(n, n) for n in names[: cls.arity]])
    cls.parameters = names[cls.arity :]
    if code.co_flags & CO_VARARGS:  # as many tensors as there are
        cls.arity = cls.most = sys.maxsize


def by_keyword(cls: type[Op], args: tuple[Any, ...], params: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments, with those tensors put in place that came by keyword or were left out."""
    if len(args) > cls.most:
        name = cls.__name__.lower()
        raise TypeError(f"{name}() takes at most {cls.most} arguments, got {len(args)}")
    for place, name in enumerate(cls.array_names[len(args) :], len(args)):
        if name in params:
            args = (*args, params.pop(name))
        elif place >= cls.required:
            args = (*args, None)
        else:
            raise TypeError(f"{cls.__name__.lower()}() missing required argument: {name!r}")
    return args


def _named(function: Any, name: str, cls: type[Op]) -> Callable[..., Any]:
    """A copy of `function` under a public name, with the operation's docstring.

    Its code is copied, too: Python notes in there which types it met, and runs faster for those. An
    operation that shares its code with all others meets those of all others.
    """
    code = function.__code__.replace(co_name=name, co_qualname=name)
    copy = FunctionType(
        code, function.__globals__, name, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__doc__, copy.__module__ = name, cls.__doc__, cls.__module__
    copy.op = cls  # type: ignore[attr-defined]
    return copy
