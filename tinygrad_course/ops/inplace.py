"""In-place forms: x.add_(y) computes what x.add(y) does, writes it into x's memory, and rewrites
history.

The tensor's version goes up, so that nodes which saved the old contents notice. After a change
through a view, the base gets a new history (`CopySlices`), and other views find theirs through the
base when they are next used. Lesson 07.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.hooks import keep_retaining
from ..autograd.mode import mode
from ..autograd.node import FREED, AccumulateGrad, Edge, Node
from ..autograd.variable import Tensor
from ..autograd.watch import watched, watching
from ..device import require_same
from ..dtype import from_numpy_dtype
from .broadcasting import Broadcast, to_float
from .registry import UNRECORDED, Op, by_keyword, edges_of, require_castable, settled
from .window import BlankWindow, Geometry, PutWindow, TakeWindow


def inplace_method(op: type[Op]) -> Callable[..., Any]:
    """The in-place method of an operation."""
    arity = op.arity

    def method(self: Tensor, *args: Any, **params: Any) -> Tensor:
        if op.scales and len(args) == arity:  # x.add_(alpha, y), as in old code
            params["alpha"], args = args[0], args[1:]
        if not op.required <= len(args) + 1 <= op.most:
            args = by_keyword(op, (self, *args), params)[1:]
        if len(args) >= arity:
            names = op.parameters
            params.update(zip(names, args[arity - 1 :], strict=False))
            args = args[: arity - 1]
        if op.scales and args and getattr(args[0], "is_sparse", False):  # a gradient
            args = (args[0].to_dense(), *args[1:])
        if op.scales and (alpha := params.pop("alpha", 1)) != 1:
            args = (op.scaled(self, args[0], alpha),)  # type: ignore[attr-defined]
        return change(op, self, args, params)

    return method


def change(op: type[Op], x: Tensor, others: tuple[Any, ...], params: dict[str, Any]) -> Tensor:
    """x := op(x, *others), in place; the result is x itself.

    RuntimeError when x is a leaf that requires grad (or a view of one), when its elements overlap
    in memory, when the result is larger than x, or of a type that x cannot hold.
    """
    require_changeable(x)
    inputs: tuple[Any, ...] = (x, *others)
    if issubclass(op, Broadcast):
        promoted, *rest = op.promote(*inputs)
        if op.differentiable:  # and so not a comparison, which makes bools of all types
            _require_castable(promoted._array, x._array)
        if not mode.enabled:
            rest = [v.detach() if isinstance(v, Tensor) else v for v in rest]
        inputs = (x, *rest)
    elif op.floats:
        _require_castable(to_float(x._array), x._array)
    for other in others:
        if isinstance(other, Tensor) and other is not x:
            refuse_overlap(x, other)
    arrays = [v._array if isinstance(v, Tensor) else v for v in inputs]
    xp = require_same(arrays)
    # A comparison has no derivative, but cuts off the history of what it overwrites.
    recorded = op.differentiable or op.backward is not Node.backward
    recording = mode.enabled and recorded and x._array.dtype.kind == "f"
    edges = edges_of(inputs) if recording else None
    meta = x._meta
    if (
        recording
        and meta is not None
        and (edges is not None or (meta.origin and meta.base.requires_grad))
    ):
        meta.require_rewritable("it is being changed")
    volatile = recording and edges is None and any(map(_is_volatile, others))
    if volatile and x._base is not None and x.requires_grad:
        raise RuntimeError(
            "a view of a tensor with history cannot be changed in place by a volatile Variable, of "
            "which nothing is recorded: clone() the view first"
        )
    node = _start(op, edges, inputs) if edges is not None else None
    try:
        forward = op.forward if not watching else watched(op, op.forward)
        out = forward(node or UNRECORDED, xp, *arrays, **params)
        if isinstance(out, np.generic):
            out = np.asarray(out) if node is None else settled(node, out)
    except ValueError:
        op.apply(*inputs, **params)  # says in PyTorch's words which shapes don't broadcast
        raise
    target = x._array
    if out.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(out.shape)}"
        )
    _require_castable(out, target)
    before = None if node is None else _snapshot(node, x)
    if out is not target:  # an operation may have written there itself, if it was told to
        target[...] = out
    x._bump()
    if node is None:
        if volatile:
            x._edge, x._make_meta().volatile = None, True
        return x
    _guard(node, inputs, arrays, out, x, before)
    rebase_history(x, node, 0)
    return x


def _is_volatile(x: Any) -> bool:
    return isinstance(x, Tensor) and x._meta is not None and x._meta.volatile


def require_changeable(x: Tensor) -> None:
    """RuntimeError when an in-place operation on `x` is not allowed."""
    require_no_leaf(x)
    if overlaps(x):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            f"single memory location (shape {list(x.shape)}, stride {list(x.stride())}, as expand "
            "makes them). Please clone() the tensor before performing the operation."
        )


def require_no_leaf(x: Tensor) -> None:
    """RuntimeError when `x` is a leaf that requires grad, or a view of one, and this is
    recorded."""
    if mode.enabled and x._edge is None and x._meta is not None:
        edge = x._meta.edge(x)
        if edge is not None and isinstance(edge[0], AccumulateGrad):
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: its "
                "value before the change is what "
                "gradients are taken at. Change it under tg.no_grad(), or make a new tensor "
                "instead."
            )
        base = x._meta.base
        if base is not None and base.is_leaf and base.requires_grad:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation. Change it under "
                "tg.no_grad(), or take a clone() of the leaf first."
            )


def overlaps(x: Tensor) -> bool:
    """Whether elements of `x` share a place in memory."""
    # NumPy writes steps of 0 for an array without elements, which overlaps nothing.
    array = x._array
    return (
        0 in array.strides
        and array.size > 0
        and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True))
    )


def refuse_overlap(x: Tensor, other: Tensor, whole: bool = False) -> None:
    """RuntimeError when `other`, which is read, lies in part of the memory of `x`, which is
    written: the result would depend on the order. `whole` refuses the very same window, too."""
    if other is not x and (other._storage is None or other._storage is not x._storage):
        return
    if not x.numel() or not other.numel():
        return
    reach = []
    for t in (x, other):
        steps = [(n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)]
        if sum(steps) + 1 != t.numel() or overlaps(t):
            return  # with gaps or repetitions it isn't so easily said, and PyTorch lets it pass
        reach.append((t.storage_offset(), t.storage_offset() + t.numel()))
    (start, end), (its_start, its_end) = reach
    same = (start, end) == (its_start, its_end) and x.stride() == other.stride()
    if start < its_end and its_start < end and (whole or not same):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )


def _require_castable(out: Any, target: Any) -> None:
    if out.dtype is not target.dtype:
        require_castable(from_numpy_dtype(out.dtype), from_numpy_dtype(target.dtype))


def _start(op: type[Op], edges: tuple[Edge | None, ...], inputs: tuple[Any, ...]) -> Node:
    node = op().start(edges)
    array = inputs[0]._array
    node.outputs = ((array.shape, array.dtype),)
    if issubclass(op, Broadcast):
        operands = [v._array if isinstance(v, Tensor) else None for v in inputs]
        mixed = any(a is not None and a.dtype != array.dtype for a in operands)
        if mixed or any(a is not None and a.shape != array.shape for a in operands):
            node.restore = tuple(
                None if a is None else (a.shape, a.dtype if mixed else None) for a in operands
            )
    return node


def _snapshot(node: Node, x: Tensor) -> Tensor | None:
    """The contents and the edge of `x` before the change, when the node saved them."""
    if not any(value is x._array for value in node.saved):
        return None
    before = Tensor._wrap(x._array.copy())
    before._edge = node.edges[0]
    return before


def _guard(
    node: Node,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    out: Any,
    x: Tensor,
    before: Tensor | None,
) -> None:
    """Replaces, among the saved values, the overwritten input by its snapshot and the kernel's
    result by x itself."""
    saved = list(node.saved)
    guards: list[tuple[int, Any, int, int]] = []
    counter = x._shared_counter()
    # Other operands on the same memory are overwritten too, and nothing can be computed with them.
    gone = [
        array
        for other, array in zip(inputs[1:], arrays[1:], strict=True)
        if isinstance(other, Tensor) and other._counter is counter
    ]
    for place, value in enumerate(saved):
        if value is out:
            saved[place] = x._array
            guards.append((place, counter, counter[0], 0))
        elif any(value is array for array in gone):
            guards.append((place, counter, counter[0] - 1, 0))
        elif value is x._array:
            saved[place] = before._array  # type: ignore[union-attr]
            guards.append((place, before, 0, -1))
        else:
            for other, array in zip(inputs[1:], arrays[1:], strict=True):
                if value is array and isinstance(other, Tensor):
                    guards.append((place, other, other._version, -1))
    node.saved, node.guards = tuple(saved), guards


def rebase_history(x: Tensor, node: Node, output: int, place: int = 0) -> None:
    """Makes `node` the creator of `x`, whose memory it has just changed; for a view, the base's
    history changes too."""
    base = x._base
    if base is None:
        keep_retaining(x._edge, (node, output))
        x._edge = (node, output)
        return
    window, meta, old = Geometry.of(x), x._make_meta(), base._grad_edge()
    copy = CopySlices(node, output, place, old, Geometry.of(base), window)
    copy.outputs = ((base._array.shape, base._array.dtype),)
    base._edge = (copy, 0)
    keep_retaining(old, base._edge)
    old, meta.own, meta.seen = meta.own, edge_through_base(x, base), x._version
    keep_retaining(old, meta.own)


class CopySlices(Node):
    """The history of a base after an in-place operation on a view of it.

    The gradient outside the view passes by; that of the view goes through the operation, one of
    whose inputs (the one at `place`) was the view.
    """

    __slots__ = ("base", "node", "output", "place", "window")

    node_name = "CopySlices"

    def __init__(
        self,
        node: Node,
        output: int,
        place: int,
        edge: Edge | None,
        base: Geometry,
        window: Geometry,
    ) -> None:
        self.start((edge, *node.edges[:place], *node.edges[place + 1 :]))
        self.node, self.output, self.place = node, output, place
        self.base, self.window = base, window
        self.saved = (node,)  # what there is to free is the operation's

    def run(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        if self.saved is FREED:
            self.check_saved()
        (g,) = grads
        arrived: list[Any] = [None] * len(self.node.outputs)
        arrived[self.output] = TakeWindow.fn(g, self.base, self.window)
        # What it saved of its own result is, for the rest of the graph, a window on the base.
        self.node.outer = through_base(
            (self, 0), self.base, self.window, self.node.outputs[self.output]
        )
        try:
            others = list(self.node.run(tuple(arrived), tensors))
        finally:
            del self.node.outer
        through = others.pop(self.place)
        into_base = None
        if self.edges[0] is not None:
            into_base = BlankWindow.fn(g, self.base, self.window)
            if through is not None:
                into_base = into_base + PutWindow.fn(through, self.base, self.window)
        return (into_base, *others)

    def release(self) -> None:
        self.node.release()
        self.saved = FREED


class ViewThroughBase(Node):
    """The history of a view, found again through its base after the memory was changed in place."""

    __slots__ = ("base", "window")

    base: Geometry
    window: Geometry
    node_name = "AsStridedBackward0"

    def backward(self, g: Any) -> Any:
        return PutWindow.fn(g, self.base, self.window)

    def twin(self) -> Node:
        return self  # it saves no tensors


def edge_through_base(view: Tensor, base: Tensor) -> Edge | None:
    """The edge of `view` as a window on what `base` has become; None when the base has no
    history."""
    edge = base._grad_edge()
    if edge is None:
        return None
    output = view._array.shape, view._array.dtype
    return through_base(edge, Geometry.of(base), Geometry.of(view), output)


def through_base(edge: Edge, base: Geometry, window: Geometry, output: tuple[Any, Any]) -> Edge:
    """The edge of a window, of this shape and dtype, on what `edge` leads to."""
    node = ViewThroughBase().start((edge,))
    node.base, node.window, node.outputs = base, window, (output,)
    return node, 0
