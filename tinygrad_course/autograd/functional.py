"""Derivatives of functions: jacobian, hessian, and their products with vectors.

A function of tensors goes in and arrays of derivatives come out; no `requires_grad`, no `.grad`.
One backward pass gives one row of a Jacobian, v^T J; a column, J v, takes a pass through that pass.
Built on `grad` alone. Lesson 06.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .engine import grad
from .mode import enable_grad
from .variable import Tensor

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func` and v^T · J: a tensor of its shape for each input.

    `v` has the outputs' shapes, and may be left out for one output of one element. With `strict` an
    output or a derivative that doesn't depend on the inputs is a RuntimeError, else it is zero.
    `create_graph` makes the results differentiable. (torch.autograd.functional.vjp)

    >>> import tinygrad_course as tg
    >>> vjp(lambda x: x * x, tg.tensor([1., 2.]), tg.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    call = _Call("vjp", func, inputs, create_graph, strict)
    given = call.vectors(v, call.outputs, "the user-provided function returns a single Tensor")
    found = call.pull(call.outputs, given, call.inputs)
    return call.shown(call.outputs, call.outputs), call.shown(found, call.inputs)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func` and J · v: a tensor of its shape for each output.

    `v` has the inputs' shapes, and may be left out for one input of one element. Computed by two
    backward passes: u^T · J is linear in u, and its derivative by u is J. The other arguments are
    those of `vjp`. (torch.autograd.functional.jvp)

    >>> import tinygrad_course as tg
    >>> jvp(lambda x: x * x, tg.tensor([1., 2.]), tg.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    call = _Call("jvp", func, inputs, create_graph, strict)
    given = call.vectors(v, call.inputs, "the input is a single Tensor")
    u = tuple(y.new_zeros(y.shape).requires_grad_() for y in call.outputs)
    found = call.pull(call.pull(call.outputs, u, call.inputs, again=True), given, u)
    return call.shown(call.outputs, call.outputs), call.shown(found, call.outputs)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, a single number, and v^T · H, the product with its second derivatives:
    the gradient of the product of `v` and the gradient.

    `v` has the inputs' shapes. The other arguments are those of `vjp`.
    (torch.autograd.functional.vhp)

    >>> import tinygrad_course as tg
    >>> vhp(lambda x: (x ** 3).sum(), tg.tensor([1., 2.]), tg.tensor([1., 1.]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, a single number, and H · v, which is v^T · H since H is symmetric: see
    `vhp`. (torch.autograd.functional.hvp)

    >>> import tinygrad_course as tg
    >>> hvp(lambda x: x[0] * x[1], tg.tensor([3., 5.]), tg.tensor([1., 0.]))
    (tensor(15.), tensor([0., 1.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(
    name: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    call = _Call(name, func, inputs, create_graph, strict)
    number = call.number()
    given = call.vectors(v, call.inputs, "the input is a single Tensor")
    gradient = call.pull((number,), (number.new_ones(number.shape),), call.inputs, again=True)
    found = call.pull(gradient, given, call.inputs)
    return call.shown(call.outputs, call.outputs), call.shown(found, call.inputs)


def jacobian(func: Function, inputs: Any, create_graph: bool = False, strict: bool = False) -> Any:
    """All first derivatives of `func`: for each output and input a tensor of shape (*output's,
    *input's).

    A tuple of inputs gives a tuple, a tuple of outputs one around it. The other arguments are those
    of `vjp`. (torch.autograd.functional.jacobian)

    >>> import tinygrad_course as tg
    >>> jacobian(lambda x, y: x * y, (tg.tensor([1., 2.]), tg.tensor(3.)))
    (tensor([[3., 0.],
            [0., 3.]]), tensor([1., 2.]))
    """
    call = _Call("jacobian", func, inputs, create_graph, strict)
    made = tuple(call.shown(call.rows(y), call.inputs) for y in call.outputs)
    return made if call.outputs_are_tuple else made[0]


def hessian(func: Function, inputs: Any, create_graph: bool = False, strict: bool = False) -> Any:
    """All second derivatives of `func`, which returns a single number: for each pair of inputs a
    tensor of both their shapes.

    A tuple of inputs gives a tuple of tuples. The other arguments are those of `vjp`.
    (torch.autograd.functional.hessian)

    >>> import tinygrad_course as tg
    >>> hessian(lambda x: x[0] ** 2 * x[1], tg.tensor([1., 3.]))
    tensor([[6., 2.],
            [2., 0.]])
    """

    def gradient(*args: Tensor) -> Tensors:
        call = _Call("hessian", func, args, True, strict)
        return tuple(
            rows.reshape(x.shape) for rows, x in zip(call.rows(call.number()), args, strict=True)
        )

    blocks: tuple[tuple[Tensor, ...], ...]
    several = inputs if isinstance(inputs, tuple) else (inputs,)
    blocks = jacobian(gradient, several, create_graph, strict)
    return blocks if isinstance(inputs, tuple) else blocks[0][0]


class _Call:
    """One call of a function that records, and how to differentiate through it."""

    def __init__(
        self, name: str, func: Function, inputs: Any, create_graph: bool, strict: bool
    ) -> None:
        self.name, self.create_graph, self.strict = name, create_graph, strict
        self.inputs_are_tuple = isinstance(inputs, tuple)
        given = self.tensors(inputs, "inputs")
        with enable_grad():
            if create_graph:  # new tensors on the same graph: `func` may change its arguments
                self.inputs = tuple(
                    x.view(x.shape) if x.requires_grad else x.detach().requires_grad_()
                    for x in given
                )
            else:
                self.inputs = tuple(x.detach().requires_grad_() for x in given)
            result = func(*self.inputs)
        self.outputs_are_tuple = isinstance(result, tuple)
        self.outputs = self.tensors(result, "outputs of the user-provided function")
        for i, y in enumerate(self.outputs):
            if strict and not y.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The "
                    "outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode."
                )

    def tensors(self, values: Any, what: str) -> Tensors:
        several = values if isinstance(values, tuple) else (values,)
        for value in several:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"The {what} given to {self.name} must be either a Tensor or a tuple of "
                    f"Tensors, and there is a {type(value).__name__}"
                )
        return several

    def number(self) -> Tensor:
        """The output, which must be one number."""
        if self.outputs_are_tuple:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        (output,) = self.outputs
        if output.numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self.name} should contain a single "
                f"element, and has shape {list(output.shape)}"
            )
        return output

    def vectors(self, v: Any, like: Tensors, when: str) -> Tensors:
        """`v` as tensors of the shapes of `like`; a single 1 when it was left out."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise RuntimeError(
                    f"The vector v can only be None if {when} with a single element: pass one of "
                    f"shape {', '.join(str(list(x.shape)) for x in like)}"
                )
            return (like[0].new_ones(like[0].shape),)
        given = self.tensors(v, "v")
        if len(given) != len(like):
            raise RuntimeError(f"v has invalid length: should be {len(like)} but got {len(given)}")
        for w, x in zip(given, like, strict=True):
            if w.shape != x.shape:
                raise RuntimeError(f"v has invalid size: should be {x.shape} but got {w.shape}")
        return given

    def pull(
        self, outputs: Tensors, weights: Tensors, inputs: Tensors, again: bool = False
    ) -> Tensors:
        """The gradients of `inputs` when `weights` enter `outputs`: zeros, or an error in strict
        mode, for those that don't matter. `again` says that another pass follows."""
        differentiable = again or self.create_graph
        pairs = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
        found: tuple[Tensor | None, ...] = (None,) * len(inputs)
        if pairs:
            found = grad(
                [y for y, _ in pairs],
                inputs,
                [w for _, w in pairs],
                retain_graph=True,
                create_graph=differentiable,
                allow_unused=True,
            )
        for i, g in enumerate(found if self.strict else ()):
            if g is None:
                raise RuntimeError(
                    f"{self.name}: the output of the user-provided function is independent of "
                    f"input {i}. This is not allowed in strict mode."
                )
            if differentiable and not g.requires_grad:
                raise RuntimeError(
                    f"{self.name}: the jacobian of the user-provided function is independent of "
                    f"input {i}, so that its own derivative is zero. This is not allowed in strict "
                    "mode."
                )
        return tuple(
            x.new_zeros(x.shape) if g is None else g for g, x in zip(found, inputs, strict=True)
        )

    def rows(self, output: Tensor) -> Tensors:
        """The Jacobian of one output by each input: a backward pass for each of its elements."""
        from ..ops.join import stack

        passes = []
        for place in np.ndindex(output.shape):
            weights = output.new_zeros(output.shape)
            weights[place] = 1
            passes.append(self.pull((output,), (weights,), self.inputs))
        return tuple(
            stack([found[i] for found in passes]).reshape(*output.shape, *x.shape)
            if passes
            else x.new_zeros((*output.shape, *x.shape))
            for i, x in enumerate(self.inputs)
        )

    def shown(self, found: Tensors, like: Tensors) -> Any:
        """Results for the caller: detached unless differentiable, a tuple where `like` was one."""
        if not self.create_graph:
            found = tuple(x.detach() for x in found)
        are_tuple = self.inputs_are_tuple if like is self.inputs else self.outputs_are_tuple
        return found if are_tuple else found[0]
