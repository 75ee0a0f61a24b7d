"""Function: operations that a user defines, in the static style of today and in the instance style
of 2017.

The instance that runs `forward` is the node of the graph and the context (`ctx`, or `self` in the
old style) at the same time, as for the engine's own operations. What a user's code returns is
checked here, since the engine trusts its nodes. Lesson 06.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..dtype import from_numpy_dtype
from .mode import mode, no_grad
from .node import FREED, Edge, Node, unbroadcast
from .variable import Tensor
from .watch import watched, watching


class Function(Node):
    """Base of user-defined operations.

    Static style: `forward(ctx, *args)` and `backward(ctx, *grad_outputs)` are static methods,
    `MyOp.apply(*args)` runs it. Old style: both are ordinary methods, `MyOp(settings)(*tensors)`
    runs it, once per instance. `backward` takes one gradient per output and returns one per
    argument, None for arguments that are no tensors.

    >>> import tinygrad_course as tg
    >>> class Double(Function):
    ...     @staticmethod
    ...     def forward(ctx, x): return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g): return g * 2
    >>> x = tg.tensor(3., requires_grad=True)
    >>> Double.apply(x).backward(); x.grad
    tensor(2.)
    """

    needs_input_grad: tuple[bool, ...] = ()
    num_inputs = 0
    num_outputs = 0
    _materialize = True
    _to_save: tuple[Tensor | None, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _shared: tuple[tuple[Tensor, Tensor], ...] = ()
    _places: tuple[int, ...] = ()
    _used = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Function:
        self = object.__new__(cls)
        self.start(())
        self.outputs = ()
        return self

    def __init__(self) -> None:
        """Takes no settings; an old-style subclass that has some defines its own `__init__`."""

    # --- what forward may say about itself --------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps inputs, outputs or intermediates (or None) for backward, guarded against in-place
        changes."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but got {type(t).__name__}: set "
                    "an attribute (ctx.n = n) for "
                    "other values"
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Says which inputs forward changed in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says which outputs have no gradient, such as indices."""
        self._constant = tensors

    def mark_shared_storage(self, *pairs: tuple[Tensor, Tensor]) -> None:
        """Says which (input, output) pairs share memory, so that in-place changes of one count for
        the other."""
        self._shared = pairs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that received no
        gradient."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept, Tensors and None; RuntimeError when freed or changed."""
        self.check_saved()
        return self.twin().saved

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The name of `saved_tensors` in static functions before PyTorch 0.4."""
        return self.saved_tensors

    @property
    def requires_grad(self) -> bool:
        """Whether backward will be called."""
        return any(self.needs_input_grad)

    # --- running forward --------------------------------------------------------------------------

    @classmethod
    def _is_static(cls) -> bool:
        return isinstance(inspect.getattr_static(cls, "forward", None), staticmethod)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs a static-style function on `args` and records it when a gradient is needed; backward
        returns nothing for `kwargs`."""
        if cls.forward is Function.forward:
            raise NotImplementedError(f"{cls.__name__} must define forward")
        if not cls._is_static():
            raise RuntimeError(
                f"{cls.__name__}.forward is an ordinary method (the old style): call an instance, "
                f"{cls.__name__}(...)(x), or "
                "make forward and backward static methods that take ctx first"
            )
        ctx = cls.__new__(cls)
        setup = getattr(cls, "setup_context", None)
        if setup is not None:  # whose inputs are all arguments, in order
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs

        def forward() -> Any:
            if setup is None:
                return cls.forward(ctx, *args, **kwargs)
            output = cls.forward(*args)
            setup(ctx, args, output)
            return output

        return ctx._record(args, forward)

    def __call__(self, *args: Any) -> Any:
        """Old style: runs forward on tensors. Static style: runs this node's backward, as for every
        node."""
        if self._is_static():
            if not self._used:
                name = type(self).__name__
                raise RuntimeError(
                    f"{name} has static methods: call {name}.apply(...), not an instance of it"
                )
            return super().__call__(*args)
        if self._used:
            raise RuntimeError(
                f"this {type(self).__name__} was used already: an instance records one call, make "
                "another"
            )
        for arg in args:
            if not isinstance(arg, Tensor):
                raise TypeError(
                    f"an old-style Function takes tensors, not {type(arg).__name__}: give settings "
                    "to __init__"
                )
        raw = {id(arg): arg.detach() for arg in args}
        originals = {id(raw[id(arg)]): arg for arg in args}
        return self._record(args, lambda: self.forward(*(raw[id(arg)] for arg in args)), originals)

    def forward(self, *args: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define forward")

    def _record(
        self,
        args: tuple[Any, ...],
        forward: Callable[[], Any],
        originals: dict[int, Tensor] | None = None,
    ) -> Any:
        """Runs `forward` unrecorded and makes this node the creator of its outputs."""
        self._used = True
        self.num_inputs = len(args)
        edges = {i: a._grad_edge() for i, a in enumerate(args) if isinstance(a, Tensor)}
        volatile = any(isinstance(a, Tensor) and a.volatile for a in args)
        self.needs_input_grad = tuple(edges.get(i) is not None for i in range(len(args)))
        record = mode.enabled and any(self.needs_input_grad) and not volatile
        run = forward if not watching else self._watched(forward, args, record)
        with no_grad():
            result = run()
        outputs = result if isinstance(result, tuple) else (result,)
        originals = originals or {}
        outputs = tuple(originals.get(id(o), o) for o in outputs)
        to_save = [originals.get(id(t), t) for t in self._to_save]
        dirty = [originals.get(id(t), t) for t in self._dirty]
        self.num_outputs = len(outputs)
        inputs = [a for a in args if isinstance(a, Tensor)]
        for tensor in dirty:
            if not _among(tensor, list(outputs)):
                raise RuntimeError(
                    f"{type(self).__name__}: a tensor marked dirty must be returned by forward"
                )
        for given, output in self._shared:
            output._counter = originals.get(id(given), given)._shared_counter()
        if record:
            self._places = tuple(edges)
            self.edges = tuple(edges.values())
        self.outputs = tuple(
            (o._array.shape, o._array.dtype) if isinstance(o, Tensor) else ((), None)
            for o in outputs
        )
        outputs = tuple(
            self._output(o, i, inputs, dirty, record, volatile) for i, o in enumerate(outputs)
        )
        if record:
            self._keep(to_save, inputs, outputs)
        self._to_save = self._dirty = self._constant = self._shared = ()
        return outputs if isinstance(result, tuple) else outputs[0]

    def _watched(
        self, forward: Callable[[], Any], args: tuple[Any, ...], record: bool
    ) -> Callable[[], Any]:
        node = self if record else None
        return lambda: watched(type(self), lambda *_: forward())(node, None, *args)

    def _output(
        self,
        output: Any,
        i: int,
        inputs: list[Tensor],
        dirty: list[Tensor],
        record: bool,
        volatile: bool,
    ) -> Any:
        if not isinstance(output, Tensor):
            if not self._is_static():
                raise TypeError(
                    f"{type(self).__name__}.forward must return Tensors, not "
                    f"{type(output).__name__}"
                )
            return output
        if _among(output, dirty) and _among(output, inputs):
            output._bump()
            if record:
                from ..ops.inplace import rebase_history, require_changeable

                require_changeable(output)
                rebase_history(
                    output, self, i, next(n for n, x in enumerate(inputs) if x is output)
                )
            return output
        constant = _among(output, list(self._constant))
        if _among(output, inputs):
            from ..ops.viewing import as_view

            # An input passed through: a view of it, so that the input keeps its own history.
            origin = "function" if mode.enabled else "no_grad"
            output = as_view(output._array, output, None, origin)
        if volatile:
            output._make_meta().volatile = True
        elif record and not constant and output.dtype.is_floating_point:
            if output._base is None:
                output._edge = (self, i)
            else:
                output._meta.own, output._meta.seen = (self, i), output._version
                output._meta.origin = "function"
        return output

    def _keep(
        self, to_save: list[Tensor | None], inputs: list[Tensor], outputs: tuple[Any, ...]
    ) -> None:
        saved: list[Any] = []
        for place, tensor in enumerate(to_save):
            if tensor is None:
                saved.append(None)
                continue
            output = next(
                (i for i, o in enumerate(outputs) if isinstance(o, Tensor) and o is tensor), -1
            )
            if (
                output >= 0
            ):  # not the tensor itself, which holds this node: the two would keep each other alive
                self.guards = [
                    *self.guards,
                    (place, tensor._shared_counter(), tensor._version, output),
                ]
            elif _among(tensor, inputs):
                self.guards = [*self.guards, (place, tensor, tensor._version, -1)]
            saved.append(tensor._array if output >= 0 or _among(tensor, inputs) else tensor)
        self.saved = tuple(saved)

    # --- running backward -------------------------------------------------------------------------

    def name(self) -> str:
        return f"{type(self).__name__}Backward"

    def release(self) -> None:
        if self.saved:
            self.saved, self.guards = FREED, []

    def run(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        wrapped = [None if g is None else Tensor._wrap_any(g) for g in grads]
        if self._materialize:
            device = next(g.device for g in wrapped if g is not None)
            wrapped = [self._zeros(i, device) if g is None else g for i, g in enumerate(wrapped)]
        if self._is_static():
            result = type(self).backward(self, *wrapped)
        else:
            if tensors:
                raise RuntimeError(
                    f"{self.name()} is an old-style Function, whose backward is not recorded: "
                    "create_graph=True needs the "
                    "static style"
                )
            result = self.backward(*wrapped)
        return self._checked(result, tensors)

    def _checked(self, result: Any, tensors: bool) -> tuple[Any, ...]:
        """What the user's backward returned, one gradient per tensor argument."""
        result = result if isinstance(result, tuple) else (result,)
        if len(result) < self.num_inputs or any(g is not None for g in result[self.num_inputs :]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{self.num_inputs}, got "
                f"{len(result)}): one for each argument of forward, None for those that need none"
            )
        for i, g in enumerate(result[: self.num_inputs]):
            if g is not None and i not in self._places:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different from None at position "
                    f"{i + 1}, but the "
                    "corresponding forward input was not a Tensor"
                )
        checked = [
            self._check(result[i], i, edge)
            for i, edge in zip(self._places, self.edges, strict=True)
        ]
        return tuple(g if tensors or g is None else g._array for g in checked)

    def _zeros(self, output: int, device: Any) -> Tensor | None:
        from ..ops.creation import zeros

        shape, dtype = self.outputs[output]
        if dtype is None:  # this output is no tensor
            return None
        return zeros(shape, dtype=from_numpy_dtype(dtype), device=device)

    def _check(self, grad: Any, i: int, edge: Edge | None) -> Any:
        if grad is None:
            return None
        if not isinstance(grad, Tensor):
            raise RuntimeError(
                f"function {self.name()} returned {type(grad).__name__} at index {i}; a gradient "
                "is a Tensor or None"
            )
        if edge is None:  # goes nowhere, but hooks see it
            return grad
        shape, dtype = edge[0].outputs[edge[1]]
        if grad.shape != shape:
            stretched = len(grad.shape) >= len(shape) and all(
                n in (1, m) for n, m in zip(reversed(shape), reversed(grad.shape), strict=False)
            )
            if not stretched:
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got "
                    f"{list(grad.shape)} but expected "
                    f"shape compatible with {list(shape)}"
                )
            grad = unbroadcast(grad, shape)
        return grad.to(from_numpy_dtype(dtype))


def _among(tensor: Any, tensors: list[Any]) -> bool:
    """`tensor in tensors`, by identity: `==` compares elements."""
    return any(tensor is other for other in tensors)


class _Once(Node):
    """Stands where a second derivative would go through a `once_differentiable` backward."""

    __slots__ = ("what",)

    what: str

    def backward(self, *grads: Any) -> Any:
        raise RuntimeError(
            f"trying to differentiate twice {self.what}, which was marked with @once_differentiable"
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a static `backward` that isn't itself differentiable: a second derivative is an error,
    not a wrong number."""

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            result = backward(ctx, *grads)
        edges = tuple(None if g is None else g._grad_edge() for g in grads)
        if not mode.enabled or not any(edges):
            return result
        many = result if isinstance(result, tuple) else (result,)
        node = _Once().start(edges)
        node.what = ctx.name()
        node.outputs = tuple(
            ((), None) if g is None else (g._array.shape, g._array.dtype) for g in many
        )
        outputs = [None if g is None else g.detach() for g in many]
        for i, g in enumerate(outputs):
            if g is not None:
                g._edge = (node, i)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    return wrapper
