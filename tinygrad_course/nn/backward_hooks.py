"""Backward hooks of a module: how a function gets to see gradients that flow long after the call.

`BackwardHook` sends what goes into a module, and what comes out, through an identity: the two
nodes of it stand at the module's borders, and hooks on these nodes see all gradients that cross.
`hang_on_last_node` is how it was done before: no borders, only a hook on the node that made the
output, whose inputs are the module's only when the module is a single operation. Lesson 08.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.function import Function
from ..autograd.mode import is_grad_enabled
from ..autograd.node import Node
from ..autograd.variable import Tensor

Grads = tuple[Tensor | None, ...]


class BackwardHookFunction(Function):
    """The identity on several tensors: its node stands at a module's border."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads


def _cross(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Node | None, list[int]]:
    """The values with their tensors sent through the border, its node, and the tensors' places;
    no node and no places when nothing is recorded."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, None, []
    crossed = BackwardHookFunction.apply(*(values[i] for i in places))
    node = next(tensor.grad_fn for tensor in crossed if tensor.requires_grad)
    result = list(values)
    for i, tensor in zip(places, crossed, strict=True):
        result[i] = tensor
    kind = type(values)
    return tuple(result) if kind is tuple else kind(*result), node, places


def _spread(grads: Grads, places: list[int], count: int) -> Grads:
    """One gradient per argument: None at those that are no tensors."""
    result: list[Tensor | None] = [None] * count
    for i, grad in zip(places, grads, strict=True):
        result[i] = grad
    return tuple(result)


class BackwardHook:
    """The two borders of one call of a module, and the hooks that wait there: `pre_hooks` for the
    gradients of the outputs, `hooks` for both, once those of the inputs are known as well."""

    def __init__(
        self,
        module: Any,
        hooks: Sequence[Callable[..., Any]],
        pre_hooks: Sequence[Callable[..., Any]],
    ) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.input_count = self.output_count = 0
        self.grad_output: Grads | None = None  # arrived, and not yet shown with its grad_input

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, inside the module's border."""
        self.input_count = len(args)
        args, node, self.inputs = _cross(args)
        if node is not None:
            node.register_hook(self._at_inputs)
        return args

    def leave(self, output: Any) -> Any:
        """The output, outside the module's border."""
        if not isinstance(output, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(output)} from {type(self.module).__name__}",
                UserWarning,
                stacklevel=4,
            )
        outputs = output if isinstance(output, tuple) else (output,)
        self.output_count = len(outputs)
        outputs, node, self.outputs = _cross(outputs)
        if node is not None:
            node.register_hook(self._at_outputs)
        return outputs if isinstance(output, tuple) else outputs[0]

    def _at_outputs(self, _: Grads, arrived: Grads) -> Grads:
        grad_output = _spread(arrived, self.outputs, self.output_count)
        for hook in self.pre_hooks:
            new = hook(self.module, grad_output)
            if new is not None:
                grad_output = self._checked(new, grad_output, "pre hook", "grad_output")
        self.grad_output = grad_output
        if not self.inputs:
            self._no_input_to_wait_for()
        return tuple(grad_output[i] for i in self.outputs)

    def _at_inputs(self, arrived: Grads, _: Grads) -> Grads | None:
        if self.grad_output is None:  # not by way of the outputs: as in a second derivative
            return None
        grad_input = _spread(arrived, self.inputs, self.input_count)
        for hook in self.hooks:
            new = hook(self.module, grad_input, self.grad_output)
            if new is not None:
                grad_input = self._checked(new, grad_input, "hook", "grad_input")
        self.grad_output = None
        return tuple(grad_input[i] for i in self.inputs)

    def _no_input_to_wait_for(self) -> None:
        name = type(self.module).__name__
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            f"outputs since no inputs require gradients: {name} was called without any, or under "
            "no_grad()",
            UserWarning,
            stacklevel=2,
        )
        nothing = (None,) * self.input_count
        for hook in self.hooks:
            new = hook(self.module, nothing, self.grad_output)
            if new is not None and not (isinstance(new, tuple) and all(g is None for g in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    f"return None or None for all gradients: {name} got {new!r}"
                )
        self.grad_output = None

    def _checked(self, new: Any, old: Grads, what: str, of: str) -> Grads:
        count = len(new) if isinstance(new, (tuple, list)) else type(new).__name__
        if count != len(old):
            raise RuntimeError(
                f"Backward {what} of {type(self.module).__name__} returned an invalid number of "
                f"{of}, got {count}, but expected a tuple of {len(old)}"
            )
        return tuple(new)


# --- the old way ----------------------------------------------------------------------------------


def hang_on_last_node(
    module: Any, hook: Callable[..., Any], args: tuple[Any, ...], output: Any
) -> None:
    """Registers `hook(module, grad_input, grad_output)` on the node that made the (first) output;
    FutureWarning where its `grad_input` is not the module's."""
    first = output
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return

    @functools.wraps(hook)
    def on_node(grad_input: Grads, grad_output: Grads) -> Any:
        return hook(module, grad_input, grad_output)

    node.register_hook(on_node)
    flaw = _flaw(node, args, output)
    if flaw:
        warnings.warn(
            f"Using a non-full backward hook on {type(module).__name__}, {flaw} is deprecated: the "
            "hook will miss some of the gradients. Please use register_full_backward_hook",
            FutureWarning,
            stacklevel=4,
        )


def _flaw(node: Node, args: tuple[Any, ...], output: Any) -> str:
    """Why a hook on `node` doesn't see all gradients of the module; '' when it does."""
    outputs = output if isinstance(output, tuple) else (output,)
    if not all(isinstance(tensor, Tensor) for tensor in outputs):
        return "which does not return a single Tensor or a tuple of Tensors,"
    if not all(isinstance(tensor, Tensor) for tensor in args):
        return "which does not take as input a single Tensor or a tuple of Tensors,"
    if len({tensor.grad_fn for tensor in outputs} - {None}) > 1:
        return "whose outputs are generated by different autograd Nodes,"
    before = {tensor.grad_fn for tensor in args} - {None}
    if before != {producer for producer, _ in node.next_functions}:
        return "whose forward contains multiple autograd Nodes,"
    return ""
