"""Hooks: functions a user hangs on a tensor or a node, called while gradients flow.

`NodeHooks` keeps those of one node (it is made on first use, most nodes have none);
`RemovableHandle` takes one off again. A hook gets Tensors and may return a replacement; None leaves
the gradient as it is. A hook may also ask for a call at the end of the pass. Lesson 08.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

Hooks = dict[int, Callable[..., Any]]
HookDict = OrderedDict[int, Any]  # in the order in which they run

_ids = itertools.count()


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook off; also usable in a `with`
    block."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: HookDict, hook: Any) -> None:
        # Hooks that came out of a file bring numbers of another process.
        self.id = next(i for i in _ids if i not in hooks)
        self._hooks = weakref.ref(hooks)
        hooks[self.id] = hook

    def __getstate__(self) -> tuple[HookDict | None, int]:
        return self._hooks(), self.id

    def __setstate__(self, state: tuple[HookDict | None, int]) -> None:
        hooks, self.id = state
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)

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
    keep it, `pre` before the node's backward, `post` after it, `accumulated` after a leaf's `.grad`
    has changed; and `metadata`, a place for notes."""

    __slots__ = ("accumulated", "metadata", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, HookDict] = {}
        self.retain: dict[int, weakref.ref[Any]] = {}
        self.pre: HookDict = OrderedDict()
        self.post: HookDict = OrderedDict()
        self.accumulated: HookDict = OrderedDict()
        self.metadata: dict[Any, Any] = {}


def add_hook(
    hooks: HookDict, hook: Callable[..., Any], prepend: bool = False, entry: Any = None
) -> RemovableHandle:
    """Registers `hook`, or an `entry` that describes it, after those already there or, to
    `prepend`, before them."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks, hook if entry is None else entry)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def run_tensor_hooks(hooks: Hooks, grad: Any) -> Any:
    """The gradient after each hook of a tensor had its say; RuntimeError/TypeError for a result
    that doesn't fit. Hooks added or removed meanwhile count from the next pass on."""
    for hook in list(hooks.values()):
        result = hook(grad)
        if result is not None:
            grad = _fitting(hook, result, grad)
    return grad


def run_node_hooks(hooks: Hooks, grads: tuple[Any, ...], *given: Any) -> tuple[Any, ...]:
    """The gradients after each hook of a node had its say; a hook may return as many others."""
    for hook in list(hooks.values()):
        result = hook(grads, *given)
        if result is None:
            continue
        if not isinstance(result, tuple):
            raise TypeError(
                f"expected tuple, but hook {_name(hook)!r} returned {type(result).__name__!r}: one "
                f"gradient for each of the {len(grads)} it was given, or None to leave them"
            )
        if len(result) != len(grads):
            raise RuntimeError(
                f"hook {_name(hook)!r} has returned an incorrect number of values (got "
                f"{len(result)}, but expected {len(grads)})"
            )
        pairs = zip(result, grads, strict=True)
        grads = tuple(None if new is None else _fitting(hook, new, old) for new, old in pairs)
    return grads


def run_accumulated_hooks(hooks: Hooks, leaf: Any) -> None:
    """Hands `leaf`, whose `.grad` has just changed, to each hook."""
    for hook in list(hooks.values()):
        result = hook(leaf)
        if result is not None:
            kind = RuntimeError if hasattr(result, "_array") else TypeError
            raise kind(
                "Tensor post accumulate grad hooks should return None: the gradient is in .grad "
                f"already, where hook {_name(hook)!r} may change it"
            )


def _fitting(hook: Callable[..., Any], new: Any, old: Any) -> Any:
    """`new`, which a hook returned to replace `old`; RuntimeError/TypeError when it cannot."""
    if not hasattr(new, "requires_grad"):
        raise TypeError(
            f"hook {_name(hook)!r} returned a {type(new).__name__}; a gradient is a Tensor, and "
            "None leaves it as it is"
        )
    if old is None:
        raise RuntimeError(
            f"can't replace a None gradient with a non-None value: hook {_name(hook)!r} returned a "
            "Tensor where no gradient had arrived"
        )
    if new.shape != old.shape:
        raise RuntimeError(
            f"hook {_name(hook)!r} has changed the size of value: it returned {list(new.shape)} "
            f"for a gradient of shape {list(old.shape)}"
        )
    if new.dtype is not old.dtype:
        raise RuntimeError(
            f"hook {_name(hook)!r} has changed the type of value: {new.type()} for a gradient of "
            f"{old.type()}"
        )
    return new


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


class Pass(threading.local):
    """The backward pass that runs in a thread: `with` encloses it, and makes the calls that its
    hooks have asked for when it ends well. Passes within passes have their own."""

    def __init__(self) -> None:
        self.calls: list[list[Callable[[], None]]] = []

    def __enter__(self) -> None:
        self.calls.append([])

    def __exit__(self, kind: object, *rest: object) -> None:
        try:
            for call in self.calls[-1] if kind is None else ():
                call()
        finally:
            self.calls.pop()


current_pass = Pass()


def queue_callback(callback: Callable[[], None]) -> None:
    """Calls `callback()` at the end of the backward pass that runs now; RuntimeError when none
    does. (torch.autograd.Variable._execution_engine.queue_callback)"""
    if not current_pass.calls:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    current_pass.calls[-1].append(callback)


def keep_retaining(old: Any, new: Any) -> None:
    """Moves a tensor's wish to retain its gradient to the edge it got by an in-place change; hooks
    registered on the tensor stay with the old one."""
    if old is not None and new is not None and old[0].hooks is not None:
        retaining = old[0].hooks.retain.pop(old[1], None)
        if retaining is not None:
            new[0]._node_hooks().retain[new[1]] = retaining
