"""Meta: what autograd knows of a tensor beyond its edge. Most results have none.

Leaves have one (`requires_grad`, `grad`, hooks), and views (`base`, so that an in-place change of
one is seen by all). The plain result of an operation keeps only its edge on the tensor itself.
Lessons 04 and 07.
"""

from __future__ import annotations

from typing import Any, Self
from weakref import ref

from .hooks import NodeHooks, keep_retaining
from .node import AccumulateGrad, Edge, next_accumulator

FROZEN = {
    "several": "a view returned together with others by one operation (split, chunk, unbind)",
    "no_grad": "a view that was made while nothing was recorded (under no_grad)",
    "function": "a view that a custom Function returned",
}


class Meta:
    """`requires_grad` and `grad` of a leaf, its `hooks`; `volatile`; `base` and `own` edge of a
    view.

    `own` is the edge a view got when it was made, and `seen` the version of its memory then: when
    somebody has changed the memory since, the edge is made anew from the base's. That is impossible
    for some views, whose `origin` says why ("" for all others; see `FROZEN`).
    """

    __slots__ = (
        "_accumulator",
        "base",
        "grad",
        "hooks",
        "origin",
        "own",
        "requires_grad",
        "seen",
        "volatile",
    )

    base: Any
    grad: Any
    hooks: NodeHooks | None
    origin: str
    own: Edge | None
    requires_grad: bool
    seen: int
    volatile: bool
    _accumulator: ref[AccumulateGrad] | None

    # Not __init__: a view sets all of it itself.
    def start(self) -> Self:
        """Nothing is known yet."""
        self.requires_grad = self.volatile = False
        self.grad = self.hooks = self._accumulator = None
        self.base = self.own = None
        self.seen, self.origin = 0, ""
        return self

    def edge(self, tensor: Any) -> Edge | None:
        """Where the gradient of `tensor` goes: its accumulator, the node that made the view, or
        nowhere."""
        if self.requires_grad:
            # Weak, since the accumulator holds the leaf: a graph keeps its leaves alive, and not
            # the other way round.
            node = None if self._accumulator is None else self._accumulator()
            if node is None:
                node = AccumulateGrad()
                node.variable, node.hooks, node.order = tensor, self.hooks, next_accumulator()
                self._accumulator = ref(node)
            return node, 0
        if self.base is not None and tensor._counter[0] != self.seen:
            self._follow_base(tensor)
        return self.own

    def needs_grad(self, tensor: Any) -> bool:
        """Whether there is such an edge, without looking for it."""
        if self.requires_grad or self.base is None or tensor._counter[0] == self.seen:
            return self.requires_grad or self.own is not None
        return bool(self.base.requires_grad)

    def require_rewritable(self, what: str) -> None:
        """RuntimeError when the history of this view cannot be made anew."""
        if self.origin:
            raise RuntimeError(
                f"this tensor is {FROZEN[self.origin]}, and {what} in place, so that its history "
                "would have to be made anew, which is impossible for such views. Use an "
                "out-of-place operation, or clone() the view first."
            )

    def _follow_base(self, tensor: Any) -> None:
        from ..ops.inplace import edge_through_base

        if self.own is not None or self.base.requires_grad:
            self.require_rewritable("its base or another view of it was changed")
        old, self.own = self.own, edge_through_base(tensor, self.base)
        keep_retaining(old, self.own)
        self.seen = tensor._counter[0]
