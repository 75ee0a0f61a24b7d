"""Views: operations whose result lies in the memory of their input.

The engine has to know: a view shares its base's storage and version counter, and a change of it
rewrites the history of the base. Lessons 02 and 07.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from weakref import ref

import numpy as np

from ..autograd.meta import Meta
from ..autograd.mode import mode
from ..autograd.node import Edge, next_order
from ..autograd.variable import Tensor
from ..autograd.watch import watched, watching
from ..device import Array, xp_of
from .inplace import require_no_leaf
from .registry import UNRECORDED, Op, edges_of

_new = object.__new__
_ndarray = np.ndarray


class View(Op):
    """An operation whose result is a window on its input's memory: nothing is copied. Its one
    parameter says how to look: forward(ctx, xp, x, /, how). It saves sizes and places, no arrays:
    there is nothing to guard or to free."""

    __slots__ = ()
    guards = ()
    restore = None

    def start(self, edges: tuple[Edge | None, ...]) -> Self:
        self.edges, self.saved, self.hooks, self.order = edges, (), None, next_order()
        return self

    @classmethod
    def _function(cls) -> Callable[..., Any]:
        forward = cls.forward

        def look(x: Any, how: Any = None) -> Any:
            if not isinstance(x, Tensor):
                return forward(UNRECORDED, xp_of(x), x, how)
            array, edge, meta = x._array, x._edge, x._meta
            xp = np if type(array) is _ndarray else xp_of(array)
            kernel = watched(cls, forward) if watching else forward
            if not mode.enabled:
                return as_view(kernel(UNRECORDED, xp, array, how), x, None, "no_grad")
            if edge is None and meta is not None and not meta.volatile:
                edge = meta.edge(x)
            if edge is None:
                return as_view(kernel(UNRECORDED, xp, array, how), x, None)
            node = cls()
            node.edges, node.saved, node.hooks, node.order = (edge,), (), None, next_order()
            seen = kernel(node, xp, array, how)
            node.outputs = ((seen.shape, seen.dtype),)
            return as_view(seen, x, (node, 0))

        return look

    @classmethod
    def apply(cls, x: Any, how: Any = None) -> Any:
        return cls.fn(x, how)

    def twin(self) -> View:
        return self

    def release(self) -> None:
        pass


class Views(View):
    """The same with a tuple of windows, the outputs of one node."""

    __slots__ = ()

    @classmethod
    def _function(cls) -> Callable[..., Any]:
        forward = cls.forward

        def look(x: Any, how: Any = None) -> Any:
            if not isinstance(x, Tensor):
                return forward(UNRECORDED, xp_of(x), x, how)
            recording = mode.enabled
            edges = edges_of((x,)) if recording else None
            node = None if edges is None else cls().start(edges)
            kernel = watched(cls, forward) if watching else forward
            pieces = kernel(UNRECORDED if node is None else node, xp_of(x._array), x._array, how)
            if node is not None:
                node.outputs = tuple([(piece.shape, piece.dtype) for piece in pieces])
            origin = "several" if recording else "no_grad"
            return tuple(
                [
                    as_view(piece, x, None if node is None else (node, i), origin)
                    for i, piece in enumerate(pieces)
                ]
            )

        return look


def as_view(array: Array, x: Tensor, edge: Edge | None, origin: str = "") -> Tensor:
    """The Tensor of `array`, a window on the memory of `x`: it shares storage and version counter,
    and knows its base. `origin` says why its history cannot be made anew (see `Meta`)."""
    storage, counter, source = x._storage, x._counter, x._meta
    if storage is None:
        storage = x.storage()
    if counter is None:
        counter = x._counter = [0]
    view = _new(Tensor)
    view._array, view._storage, view._counter, view._edge = array, storage, counter, None
    windows = storage._windows
    if len(windows) >= storage._limit:
        windows = storage.forget()
    windows.append(ref(view))
    view._meta = meta = Meta()
    meta.requires_grad = meta.volatile = False
    meta.grad = meta.hooks = meta._accumulator = None
    meta.base, meta.own, meta.seen, meta.origin = x, edge, counter[0], origin
    if source is not None:
        if source.base is not None:
            meta.base, meta.origin = source.base, origin or source.origin
        meta.volatile = source.volatile
    return view


def looking_inplace(body: Any) -> Any:
    """The in-place form of a view: the tensor itself becomes what `body` would return."""

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        require_no_leaf(self)
        seen = body(self, *args, **kwargs)
        meta, edge = self._meta, seen._meta.own
        if edge is not None and meta is not None:
            meta.require_rewritable("it is being changed")
        self._array = seen._array
        self._bump()
        if meta is not None and meta.base is not None:
            meta.own, meta.seen = edge, self._version
        elif edge is not None:
            self._edge = edge
        return self

    inplace.__doc__ = f"As `{body.__name__}`, of this tensor itself."
    return inplace
