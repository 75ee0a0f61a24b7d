"""Hooks: functions a user hangs on a tensor or a node, called while gradients flow.

`NodeHooks` keeps those of one node (it is made on first use, most nodes have none);
`RemovableHandle` takes one off again. A hook gets Tensors and may return a replacement; None leaves
the gradient as it is. Lesson 08.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

Hooks = dict[int, Callable[..., Any]]

_ids = itertools.count()


class _HookDict(dict[int, Callable[..., Any]]):
    """A dict that can be weakly referred to, so that a handle doesn't keep it alive."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook off; also usable in a `with`
    block."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: _HookDict, hook: Callable[..., Any]) -> None:
        self.id = next(_ids)
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Takes the hook off; a second time does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class NodeHooks:
    """The hooks of one node: `tensor[i]` on the gradient of output i, `retain[i]` the tensors that
    keep it, `pre` before the node's backward, `post` after it."""

    __slots__ = ("post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, _HookDict] = {}
        self.retain: dict[int, weakref.ref[Any]] = {}
        self.pre = _HookDict()
        self.post = _HookDict()


def add_hook(hooks: _HookDict, hook: Callable[..., Any]) -> RemovableHandle:
    """Registers `hook`, after those already there."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    return RemovableHandle(hooks, hook)


def run_tensor_hooks(hooks: Hooks, grad: Any) -> Any:
    """The gradient after each hook of a tensor had its say; RuntimeError/TypeError for a result
    that doesn't fit."""
    for hook in list(hooks.values()):
        result = hook(grad)
        if result is None:
            continue
        name = getattr(hook, "__name__", type(hook).__name__)
        if not hasattr(result, "_array"):
            raise TypeError(
                f"hook {name!r} returned a {type(result).__name__}; a hook returns a Tensor or None"
            )
        if result.shape != grad.shape:
            raise RuntimeError(
                f"hook {name!r} has changed the size of value: it returned {list(result.shape)} "
                "for a gradient of "
                f"shape {list(grad.shape)}"
            )
        if result.dtype is not grad.dtype:
            raise RuntimeError(
                f"hook {name!r} has changed the type of value: {result.type()} for a gradient of "
                f"{grad.type()}"
            )
        grad = result
    return grad


def keep_retaining(old: Any, new: Any) -> None:
    """Moves a tensor's wish to retain its gradient to the edge it got by an in-place change; hooks
    registered on the tensor stay with the old one."""
    if old is not None and new is not None and old[0].hooks is not None:
        retaining = old[0].hooks.retain.pop(old[1], None)
        if retaining is not None:
            new[0]._node_hooks().retain[new[1]] = retaining
