"""Module: a tree of layers that can be called, saved, moved and switched as one.

What belongs to a module, and how to walk over it, is in `tree`; here is what is done on these
walks. A Module knows nothing of the computation in its `forward`, of gradients or of optimizers.
Lesson 09.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from ..autograd.mode import no_grad
from ..autograd.variable import Tensor
from ..device import Device
from ..dtype import DType, float16, float32, float64
from .parameter import Parameter
from .tree import Tree, join

Self = TypeVar("Self", bound="Module")


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self.missing_keys, self.unexpected_keys
        return f"IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class Module(Tree):
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

    def __init__(self) -> None:
        super().__init__()
        self.training = True

    # --- computing ------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output; every subclass writes its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function: '
            "define it in the class"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    # --- state ----------------------------------------------------------------------------------

    def _persistent(self) -> Iterator[tuple[str, Tensor]]:
        """(name, tensor) of this module's own part of the state."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._temporary_buffers:
                yield name, buffer

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Dotted name → tensor, for every parameter and persistent buffer; the tensors share the
        module's memory.

        `keep_vars` returns them as they are instead of detached.
        """
        destination = OrderedDict() if destination is None else destination
        for name, tensor in self._persistent():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies tensors into the parameters and buffers of the same names; returns the keys that
        found no partner.

        `assign` takes the tensors themselves over. RuntimeError lists all that does not fit:
        shapes, and unless `strict=False` keys that are missing or left over.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict).__name__}")
        owners = {
            join(path, name): (module, name, tensor)
            for path, module in self.named_modules(remove_duplicate=False)
            for name, tensor in module._persistent()
        }
        keys = IncompatibleKeys(
            [key for key in owners if key not in state_dict],
            [key for key in state_dict if key not in owners],
        )
        problems = [
            f"{what} in state_dict: {', '.join(map(repr, names))}"
            for what, names in (
                ("Unexpected key(s)", keys.unexpected_keys),
                ("Missing key(s)", keys.missing_keys),
            )
            if names and strict
        ]
        for key, (module, name, tensor) in owners.items():
            if key in state_dict:
                problem = _misfit(key, tensor, state_dict[key])
                if problem:
                    problems.append(problem)
                else:
                    module._take(name, tensor, state_dict[key], assign)
        if problems:
            lines = "".join(f"\n\t{problem}." for problem in problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{lines}")
        return keys

    def _take(self, name: str, tensor: Tensor, new: Tensor, assign: bool) -> None:
        if not assign:
            with no_grad():
                tensor.copy_(new)
        elif isinstance(tensor, Parameter):
            same = isinstance(new, Parameter)
            setattr(self, name, new if same else Parameter(new, requires_grad=tensor.requires_grad))
        else:
            setattr(self, name, new)

    # --- conversion and modes -------------------------------------------------------------------

    def _convert(self: Self, convert: Callable[[Tensor], Tensor]) -> Self:
        """Replaces the memory of every parameter, gradient and buffer; the Parameter objects stay
        the same."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    grad = parameter.grad
                    parameter.grad = None
                    parameter.data = convert(parameter.data)
                    parameter.grad = None if grad is None else convert(grad.detach())
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = convert(buffer)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Moves or converts everything in place: `to(device)`, `to(dtype)`, `to(device, dtype)`,
        `to(tensor)`; returns self.

        A dtype applies to floating point tensors only; TypeError for one that is not.
        """
        device, dtype = _destination(*args, **kwargs)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point dtypes, but got {dtype!r}")

        def convert(tensor: Tensor) -> Tensor:
            if device is not None:
                tensor = tensor.to(device)
            if dtype is not None and tensor.is_floating_point():
                tensor = tensor.to(dtype)
            return tensor

        return self._convert(convert)

    def float(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float32."""
        return self.to(float32)

    def double(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float64."""
        return self.to(float64)

    def half(self: Self) -> Self:
        """Converts all floating point parameters and buffers to float16."""
        return self.to(float16)

    def cpu(self: Self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self: Self, device: int | Device | None = None) -> Self:
        """Moves all parameters and buffers to a CUDA device, the first unless given."""
        return self.to(Device("cuda") if device is None else Device(device))

    def train(self: Self, mode: bool = True) -> Self:
        """Sets training mode here and below (dropout and batch norm care); returns self."""
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, got {mode!r}")
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
    return text.replace("\n", "\n  ")


def _misfit(key: str, tensor: Tensor, new: Any) -> str:
    """Why `new` cannot be loaded as `key`; '' when it can."""
    if not isinstance(new, Tensor):
        return f"expected a Tensor for {key!r} in the state_dict but received {type(new).__name__}"
    if new.shape != tensor.shape:
        return (
            f"size mismatch for {key}: the state_dict has shape {new.shape}, the current model has "
            f"{tensor.shape}"
        )
    return ""


def _destination(*args: Any, **kwargs: Any) -> tuple[Device | None, DType | None]:
    """The device and the dtype that the arguments of `to` name."""
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument {next(iter(kwargs))!r}")
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, DType):
            dtype = value
        elif not isinstance(value, bool):  # a bool is non_blocking, which has no meaning here
            device = value
    return None if device is None else Device(device), dtype
