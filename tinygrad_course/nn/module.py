"""Module: a tree of layers that can be called, saved, moved and switched as one.

What belongs to a module, and how to walk over it, is in `tree`; how it is saved in `state`; what
runs around a call in `hooks`. Here is what else is done on these walks. A Module knows nothing of
the computation in its `forward`, of gradients or of optimizers. Lesson 09.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from ..autograd.variable import Tensor
from ..device import Device
from ..dtype import DType, float16, float32, float64
from ..layout import MemoryFormat, preserve_format
from ..ops.convert import what_to
from ..ops.creation import empty_like
from .hooks import Hooked
from .state import Stateful

Self = TypeVar("Self", bound="Module")


class Module(Stateful, Hooked):
    """Base of all layers and models: call `super().__init__()`, assign the parts, write `forward`.

    >>> from tinygrad_course import nn
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(2, 1)
    ...     def forward(self, x):
    ...         return self.fc(x).tanh()
    >>> [name for name, parameter in Net().named_parameters()]
    ['fc.weight', 'fc.bias']
    """

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}: Module.__init__() takes no arguments, but got "
                f"{len(args) + len(kwargs)}"
            )
        self.training = True
        super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # --- computing ------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output; every subclass writes its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function: '
            "define it in the class"
        )

    # --- conversion and modes -------------------------------------------------------------------

    def _apply(self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the memory of every parameter, gradient and buffer; parameters and gradients
        stay the same objects."""
        for child in self.children() if recurse else ():
            child._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                parameter.data = fn(parameter.data)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(
        self: Self,
        *args: Any,
        device: Any = None,
        dtype: DType | None = None,
        non_blocking: bool = False,
        memory_format: MemoryFormat | None = None,
    ) -> Self:
        """Moves or converts everything in place: `to(device)`, `to(dtype)`, `to(device, dtype)`,
        `to(tensor)`; returns self.

        A dtype applies to floating point tensors only (TypeError for one that is not), a
        `memory_format` to those of four and five dims.
        """
        dtype, device, _ = what_to(args, dtype, device, non_blocking, False)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point dtypes, but got {dtype!r} for a "
                f"{type(self).__name__}"
            )

        def convert(tensor: Tensor) -> Tensor:
            own = dtype if tensor.is_floating_point() else None
            order = memory_format if tensor.ndim in (4, 5) else None
            return tensor.to(device=device, dtype=own, memory_format=order or preserve_format)

        return self._apply(convert)

    def type(self: Self, dst_type: DType | str) -> Self:
        """Converts all parameters and buffers, integers as well, to a dtype or 'torch.…Tensor'."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Moves everything to a device without its values, which are arbitrary afterwards."""
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse)

    def float(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float32."""
        return self.to(float32)

    def double(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float64."""
        return self.to(float64)

    def half(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float16."""
        return self.to(float16)

    def bfloat16(self) -> Any:
        raise NotImplementedError(
            f"{self._get_name()}.bfloat16(): there is no bfloat16 here, as NumPy has none; half() "
            "converts to float16"
        )

    def cpu(self: Self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self: Self, device: int | Device | None = None) -> Self:
        """Moves all parameters and buffers to a CUDA device, the current one unless given."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self) -> Any:
        raise NotImplementedError(
            f"{self._get_name()}.share_memory(): tensors here lie in memory of their process "
            "alone; send the state_dict() to the other ones"
        )

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{self._get_name()}.compile(): there is no compiler here, operations run as they are "
            "called"
        )

    def train(self: Self, mode: bool = True) -> Self:
        """Sets training mode here and below (dropout and batch norm care); returns self."""
        if not isinstance(mode, bool):
            raise ValueError(
                f"training mode is expected to be boolean, got {mode!r} for a {self._get_name()}"
            )
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Sets evaluation mode here and below; returns self."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Freezes (False) or releases all parameters; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or with `set_to_none=False` fills them with
        zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # --- printing -------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What to print between the parentheses besides the children."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(child))}" for name, child in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        lines += children
        body = "".join(f"  {line}\n" for line in lines)
        return f"{self._get_name()}(\n{body})" if lines else f"{self._get_name()}()"


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Drops a gradient, or fills it with zeros and cuts it off from its history."""
    if set_to_none:
        parameter.grad = None
    elif parameter.grad is not None:
        if parameter.grad.requires_grad:
            parameter.grad = parameter.grad.detach()
        parameter.grad.zero_()


def _indented(text: str) -> str:
    """All lines but the first and blank ones indented."""
    return textwrap.indent(text, "  ").removeprefix("  ")
