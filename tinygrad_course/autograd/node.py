"""Node: one recorded operation. The node is also the context that its forward saves into.

A node knows its `edges` (who made its inputs, fixed when it was recorded), what it `saved`, and how
to turn the gradients of its outputs into those of its inputs. Saved arrays are guarded by version
numbers: an in-place change between forward and backward is an error, not a wrong gradient. How
nodes are visited is the engine's business. Lessons 05-07.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from ..device import xp_of
from ..dtype import DType, from_numpy_dtype
from ..shape import Size
from .hooks import NodeHooks, RemovableHandle, add_hook, run_accumulated_hooks
from .mode import mode

Edge = tuple["Node", int]

next_order = itertools.count().__next__
# An accumulator runs as soon as its gradient is complete, before any operation that waits: it ranks
# above all counts.
next_accumulator = itertools.count(1 << 62).__next__

FREED: tuple[Any, ...] = ("freed",)

Tensor: Any = None  # the class; `variable`, which imports this module, puts it here

# Held while something is added to a leaf's `.grad`: two threads may share the leaf, and NumPy lets
# others run during large sums.
_accumulating = threading.RLock()


class Node:
    """One recorded operation: `x.grad_fn`.

    `edges[i]` is (producer, output number) of input i, None when that input needs no gradient;
    `needs` is another name for it, to be read as "does input i need a gradient". `saved` holds what
    forward passed to `save`. `outputs` holds (shape, NumPy dtype) of each output. `guards` lists
    (place in `saved`, owner, version, output) for saved arrays that somebody may overwrite: the
    owner is an input tensor (output -1), or the version counter of this node's own output.
    `restore`, when set, gives each input's gradient its shape and dtype back. `outer` is there only
    while another node, of whose work this one is a part, runs it: the edge of the output then.
    """

    __slots__ = (
        "__weakref__",
        "edges",
        "guards",
        "hooks",
        "order",
        "outer",
        "outputs",
        "restore",
        "saved",
    )

    edges: tuple[Edge | None, ...]
    needs: tuple[Edge | None, ...]
    saved: tuple[Any, ...]
    guards: Sequence[tuple[int, Any, int, int]]
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    hooks: NodeHooks | None
    restore: tuple[Any, ...] | None
    order: int
    outer: Edge

    node_name = ""

    # Not __init__: where a microsecond matters, nodes are made without a call of it.
    def start(self, edges: tuple[Edge | None, ...]) -> Self:
        """A new node learns the edges of its inputs, and its place in the order."""
        self.edges = edges
        self.saved = self.guards = ()
        self.hooks = self.restore = None
        self.order = next_order()
        return self

    # --- for the formulas -------------------------------------------------------------------------

    def save(self, *values: Any) -> None:
        """Keeps arrays and plain values for backward, which reads them as `ctx.saved`."""
        self.saved = values

    def backward(self, *grads: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no derivative")

    # --- running ----------------------------------------------------------------------------------

    def run(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        """The gradients of the inputs, from those of the outputs: arrays, or Tensors that are
        recorded in turn."""
        if self.guards or self.saved is FREED:
            self.check_saved()
        node = self.twin() if tensors else self
        # Most nodes have one output, and a call with a star costs a tenth of the pass.
        result: tuple[Any, ...]
        result = node.backward(grads[0]) if len(grads) == 1 else node.backward(*grads)
        if type(result) is not tuple:
            result = (result,)
        elif len(result) != len(self.edges):
            raise RuntimeError(
                f"{self.name()} returned {len(result)} gradients for {len(self.edges)} inputs"
            )
        if self.restore is not None:
            result = tuple(
                r if fit is None or r is None else _restore(r, *fit)
                for r, fit in zip(result, self.restore, strict=True)
            )
        return result

    def check_saved(self) -> None:
        """RuntimeError when something saved was freed, or changed in place since."""
        for place, owner, version, output in self.guards:
            counter = owner._counter if output < 0 else owner
            if counter is not None and counter[0] != version:
                self._complain(place, owner, output, counter[0], version)
        if self.saved is FREED:
            raise RuntimeError(
                "Trying to backward through the graph a second time: the buffers that "
                f"{self.name()} saved were freed by "
                "the first backward. Pass retain_graph=True to the earlier call to keep them."
            )

    def twin(self) -> Node:
        """A copy whose saved arrays are Tensors that know where they come from: backward of it is
        recorded."""
        twin = object.__new__(type(self))
        twin.edges, twin.outputs, twin.order, twin.hooks = (
            self.edges,
            self.outputs,
            self.order,
            None,
        )
        twin.restore, twin.guards = None, []
        saved = [Tensor._wrap_any(v) if _is_array(v) else v for v in self.saved]
        for place, owner, _, output in self.guards:
            if output < 0:
                saved[place] = owner
            else:
                saved[place]._edge = getattr(self, "outer", (self, output))
                saved[place]._counter = owner
        twin.saved = tuple(saved)
        return twin

    def release(self) -> None:
        """Frees what was saved; a later `run` says so."""
        if self.guards or any(map(_is_array, self.saved)):
            self.saved, self.guards = FREED, ()

    def _complain(self, place: int, owner: Any, output: int, found: int, expected: int) -> None:
        array = self.saved[place]
        maker = self if output >= 0 else owner.grad_fn
        made = f", which is output {max(output, 0)} of {maker.name()}," if maker else ""
        kind = from_numpy_dtype(array.dtype).tensor_type
        where = recorded_at(self) or (
            "To see the line that recorded this operation, call "
            "tg.autograd.set_detect_anomaly(True) before the forward pass."
        )
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [torch.{kind} {list(array.shape)}]{made} was saved by {self.name()} at "
            f"version {expected} and is at version {found} now; expected version {expected} "
            "instead. Replace the in-place operation by one that makes a new tensor (x = x + 1, "
            f"not x += 1), or change a clone(). {where}"
        )

    # --- for those who look at the graph ----------------------------------------------------------

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(producer, output number) for each input, (None, 0) where no gradient is needed."""
        return tuple((None, 0) if e is None else e for e in self.edges)

    @property
    def previous_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The name `next_functions` had before PyTorch 0.2."""
        return self.next_functions

    @property
    def num_inputs(self) -> int:
        """How many inputs forward took."""
        return len(self.edges)

    @property
    def num_outputs(self) -> int:
        """How many outputs forward returned."""
        return len(self.outputs)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each input, whether it needs a gradient."""
        return tuple(e is not None for e in self.edges)

    def name(self) -> str:
        """The name of the operation's backward, e.g. 'MulBackward0'."""
        return self.node_name

    @property
    def metadata(self) -> dict[Any, Any]:
        """A place for notes on this node; anomaly mode keeps there where it was recorded."""
        return self._node_hooks().metadata

    def metadata_of(self, i: int) -> tuple[Size, DType]:
        """Shape and dtype of output i."""
        shape, dtype = self.outputs[i]
        return Size(shape), from_numpy_dtype(dtype)

    def __call__(self, *grads: Any) -> Any:
        """Runs this node's backward on Tensors, as the engine would: one gradient per output in,
        one per input out.

        >>> import tinygrad_course as tg
        >>> x = tg.tensor(3., requires_grad=True)
        >>> (x * x).grad_fn(tg.tensor(1.))
        (tensor(3., grad_fn=<MulBackward0>), tensor(3., grad_fn=<MulBackward0>))
        """
        if mode.enabled:
            result = self.run(grads, tensors=True)
        else:
            raw = self.run(tuple(g if g is None else g._array for g in grads), tensors=False)
            result = tuple(g if g is None else Tensor._wrap_any(g) for g in raw)
        return result[0] if len(result) == 1 else result

    def _node_hooks(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_outputs)` runs before this node's backward and may return replacements."""
        return add_hook(self._node_hooks().pre, hook)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after this node's backward and may return other
        grad_inputs."""
        return add_hook(self._node_hooks().post, hook)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


Node.needs = Node.__dict__["edges"]


def recorded_at(node: Node) -> str:
    """The line of the forward pass that recorded `node`, when anomaly mode noted it, else ''."""
    node = getattr(node, "node", node)  # a CopySlices stands for the operation inside it
    frame = None if node.hooks is None else node.hooks.metadata.get("traceback_")
    if frame is None:
        return ""
    where = f'File "{frame.filename}", line {frame.lineno}, in {frame.name}'
    return f"{node.name()} was recorded here in the forward pass:\n  {where}\n    {frame.line}"


def _is_array(value: Any) -> bool:
    return hasattr(value, "strides")


def _restore(grad: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """`grad` summed over the dims that broadcasting stretched, and in the input's dtype."""
    if grad.shape != shape:
        grad = unbroadcast(grad, shape)
    if dtype is not None:
        grad = (
            grad.astype(dtype) if not hasattr(grad, "_array") else grad.to(from_numpy_dtype(dtype))
        )
    return grad


def unbroadcast(grad: Any, shape: tuple[int, ...]) -> Any:
    """The sum of `grad` over every dim that `shape` was broadcast along: the adjoint of expand.

    >>> import numpy as np
    >>> unbroadcast(np.ones((4, 2, 3)), (2, 1)).tolist()
    [[12.0], [12.0]]
    """
    extra = len(grad.shape) - len(shape)
    if extra:
        grad = grad.sum(tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    if stretched:
        # Arrays say keepdims, Tensors keepdim.
        grad = grad.sum(
            stretched, **({"keepdim": True} if hasattr(grad, "_array") else {"keepdims": True})
        )
    return grad


def blank(grad: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Zeros like `grad`, or of another shape: the gradient of what had no influence. Unlike
    grad * 0 it holds no nan where the gradient is infinite."""
    array = getattr(grad, "_array", grad)
    zeros = xp_of(array).zeros(array.shape if shape is None else shape, array.dtype)
    return zeros if array is grad else Tensor._wrap(zeros)


class AccumulateGrad(Node):
    """The end of an edge: adds what arrives to `variable.grad`. Made when a leaf first takes part
    in an operation."""

    __slots__ = ("variable",)

    node_name = "AccumulateGrad"

    variable: Any
    # As little as can be is each one's own: a leaf gets a new one with each graph (see `Meta`).
    edges = needs = saved = guards = ()
    restore = None

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        """The leaf's (shape, NumPy dtype)."""
        array = self.variable._array
        return ((array.shape, array.dtype),)

    def _node_hooks(self) -> NodeHooks:
        # A leaf's hooks outlive this node: they belong to the leaf.
        meta = self.variable._meta
        if meta.hooks is None:
            meta.hooks = NodeHooks()
        self.hooks = meta.hooks
        return self.hooks

    def run(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        """variable.grad += grad, in place where nobody could notice."""
        (grad,) = grads
        meta = self.variable._meta
        # The leaf may have been frozen, by requires_grad_(False), after the graph was recorded.
        if grad is None or not meta.requires_grad:
            return ()
        with _accumulating:
            have = meta.grad
            if have is None:
                meta.grad = grad.clone() if tensors else self._own(grad)
            elif tensors or have.requires_grad:
                meta.grad = have + (grad if tensors else Tensor._wrap_any(grad))
            elif have.is_sparse or isinstance(grad, Tensor):  # a sparse gradient
                have += Tensor._wrap_any(grad)
                meta.grad = have
            else:
                array = have._array
                try:
                    array += grad
                except ValueError:
                    raise RuntimeError(
                        f"a gradient of shape {list(grad.shape)} cannot be added to a leaf's "
                        f".grad of shape {list(array.shape)}, which it got when it had that shape: "
                        "set x.grad = None first"
                    ) from None
                have._bump()
        if self.hooks is not None and self.hooks.accumulated:
            run_accumulated_hooks(self.hooks.accumulated, self.variable)
        return ()

    def _own(self, grad: Any) -> Any:
        """A Tensor of `grad` itself when no one else holds it, else of a copy in the variable's
        memory order."""
        # Held by: the engine's tuple, `run`'s frame, this one, and getrefcount's argument. NumPy
        # makes scalars of 0-dim arrays, to which nothing can be added in place.
        array = self.variable._array
        if (
            type(grad) is type(array)
            and sys.getrefcount(grad) <= 4
            and grad.base is None
            and grad.strides == array.strides
        ):
            return Tensor._wrap(grad)
        if isinstance(grad, Tensor):  # a sparse gradient
            return grad.clone()
        own = xp_of(array).empty_like(array)
        own[...] = grad
        return Tensor._wrap(own)
