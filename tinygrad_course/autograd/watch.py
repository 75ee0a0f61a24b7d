"""Watching: hooks around every operation, forward and backward, while a `with` block lasts.

Hooks on a tensor or a node see one gradient; an `OpHook` sees each operation that runs, whoever
calls it: to time it, to print it, to look for a nan. The registry and the engine ask whether
somebody watches, and know nothing of what for. Lesson 08.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .node import Node

watching: list[OpHook] = []


class OpHook:
    """Base of hooks on all operations; a subclass overrides what it wants to see.

    In its `with` block each operation on Tensors calls `before_forward(op, args)` and
    `after_forward(op, args, results, node)`, where `op` is the operation's class, `args` and
    `results` are the arrays and parameters of its kernel (Tensors for a Function), and `node` is
    what is being recorded (None when nothing is). Each node of a backward pass calls
    `before_backward(node, grads)` and `after_backward(node, grads, results)`; gradients are arrays,
    or Tensors under create_graph. What raises an error calls `failed_forward(op, error)` or
    `failed_backward(node, error)` instead of the latter. Several hooks nest like their blocks.
    Threads share them.

    >>> import tinygrad_course as tg
    >>> class Count(tg.autograd.OpHook):
    ...     ops = 0
    ...     def before_forward(self, op, args): self.ops += 1
    >>> with Count() as count: _ = (tg.ones(2) * 3).sum()
    >>> count.ops
    2
    """

    def before_forward(self, op: type[Node], args: tuple[Any, ...]) -> None:
        """An operation is about to compute."""

    def after_forward(
        self, op: type[Node], args: tuple[Any, ...], results: tuple[Any, ...], node: Node | None
    ) -> None:
        """It has computed."""

    def failed_forward(self, op: type[Node], error: Exception) -> None:
        """It has raised `error`, which goes on to the caller."""

    def before_backward(self, node: Node, grads: tuple[Any, ...]) -> None:
        """A node is about to turn the gradients of its outputs into those of its inputs."""

    def after_backward(self, node: Node, grads: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        """It has done so."""

    def failed_backward(self, node: Node, error: Exception) -> None:
        """It has raised `error`, which goes on to the caller."""

    def __enter__(self) -> Any:
        watch(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        unwatch(self)


def op_name(op: type[Node]) -> str:
    """The name of an operation: that of its node without the ending, 'Mul' for 'MulBackward0'."""
    return op.node_name.removesuffix("Backward0") or op.__name__


def watch(hook: OpHook) -> None:
    """Calls `hook` from now on."""
    from ..ops.broadcasting import close_short_way

    watching.append(hook)
    close_short_way(True)


def unwatch(hook: OpHook) -> None:
    """Calls it no longer."""
    from ..ops.broadcasting import close_short_way

    watching.remove(hook)
    close_short_way(bool(watching))


def watched(op: type[Node], forward: Callable[..., Any]) -> Callable[..., Any]:
    """`forward`, the kernel of `op`, with the hooks' calls around it."""

    def run(ctx: Any, xp: Any, *args: Any, **params: Any) -> Any:
        hooks = tuple(watching)
        for hook in hooks:
            hook.before_forward(op, args)
        try:
            result = forward(ctx, xp, *args, **params)
            results = result if type(result) is tuple else (result,)
            for hook in reversed(hooks):
                hook.after_forward(op, args, results, ctx if isinstance(ctx, Node) else None)
        except Exception as error:
            for hook in reversed(hooks):
                hook.failed_forward(op, error)
            raise
        return result

    return run


def run_watched(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """`node.run(grads, tensors)`, with the hooks' calls around it."""
    hooks = tuple(watching)
    for hook in hooks:
        hook.before_backward(node, grads)
    try:
        results = node.run(grads, tensors)
        for hook in reversed(hooks):
            hook.after_backward(node, grads, results)
    except Exception as error:
        for hook in reversed(hooks):
            hook.failed_backward(node, error)
        raise
    return results
