"""Views: operations whose result lies in the memory of their input.

The engine has to know: a view shares its base's storage and version counter, and a change of it
rewrites the history of the base. Lessons 02 and 07.
"""

from __future__ import annotations

from typing import Any

from ..autograd.meta import Meta
from ..autograd.mode import mode
from ..autograd.node import Edge, next_order
from ..autograd.variable import Tensor
from ..autograd.watch import watched, watching
from ..device import Array, xp_of
from .registry import UNRECORDED, Op

_new = object.__new__


class View(Op):
    """An operation whose result is a window on its input's memory, or a tuple of them: nothing is
    copied."""

    __slots__ = ()

    @classmethod
    def apply(cls, x: Any, *args: Any, **params: Any) -> Any:
        if not isinstance(x, Tensor):
            return cls.forward(UNRECORDED, xp_of(x), x, *args, **params)
        a, edge, meta = x._array, x._edge, x._meta
        recording = mode.enabled
        if edge is None and meta is not None and recording and not meta.volatile:
            edge = meta.edge(x)
        forward = cls.forward if not watching else watched(cls, cls.forward)
        if edge is None or not recording:
            out = forward(UNRECORDED, xp_of(a), a, *args, **params)
            if type(out) is tuple:
                return tuple([as_view(piece, x, None, "several") for piece in out])
            return as_view(out, x, None)
        node = _new(cls)
        node.edges, node.saved, node.guards = (edge,), (), ()
        node.hooks = node.restore = None
        node.order = next_order()
        out = forward(node, xp_of(a), a, *args, **params)
        if type(out) is tuple:
            node.outputs = tuple([(piece.shape, piece.dtype) for piece in out])
            pieces = enumerate(out)
            return tuple([as_view(piece, x, (node, i), "several") for i, piece in pieces])
        node.outputs = ((out.shape, out.dtype),)
        return as_view(out, x, (node, 0))


def as_view(array: Array, x: Tensor, edge: Edge | None, origin: str = "") -> Tensor:
    """The Tensor of `array`, a window on the memory of `x`: it shares storage and version counter,
    and knows its base."""
    storage = x._storage
    if storage is None:
        storage = x.storage()
    counter = x._counter
    if counter is None:
        counter = x._counter = [0]
    view = _new(Tensor)
    view._array, view._storage, view._counter, view._edge = array, storage, counter, None
    storage.add_window(view)
    view._meta = meta = Meta()
    source = x._meta
    if source is None or source.base is None:
        meta.base = x
    else:
        meta.base, meta.origin = source.base, source.origin
    if source is not None and source.volatile:
        meta.volatile = True
    if not mode.enabled:
        meta.origin = "no_grad"
    elif origin:
        meta.origin = origin
    meta.own, meta.seen = edge, counter[0]
    return view
