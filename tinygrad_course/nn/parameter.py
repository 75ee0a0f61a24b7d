"""Parameter and Buffer: tensors that a Module takes for its own, to be learned or only kept.

Nothing but its class sets one apart: `Module.__setattr__` files it by that, and optimizers are
given the parameters that were filed. Results computed from one are plain Tensors. Lesson 09.
"""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..ops.creation import empty
from ..printing import parameter_repr


class Parameter(Tensor):
    """A tensor to be learned, on the memory of `data`; it requires a gradient unless told
    otherwise.

    TypeError when `data` is no Tensor; RuntimeError when it is volatile, or of a type that has no
    gradients.

    >>> import tinygrad_course as tg
    >>> Parameter(tg.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"a Parameter is made of a Tensor, not {type(data).__name__}: wrap it in "
                "tg.tensor(...)"
            )
        if data.volatile:
            raise RuntimeError(
                "a Parameter can't be volatile: nothing would be learned; give it plain data"
            )
        parameter: Parameter = _leaf_of(cls, data)
        parameter.requires_grad_(requires_grad)
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A Parameter on memory of its own, without a gradient."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        copy: Parameter = memo[id(self)]
        return copy

    @property
    def volatile(self) -> bool:
        """Always False."""
        return False

    @volatile.setter
    def volatile(self, value: bool) -> None:
        if value:
            raise RuntimeError(
                "a Parameter can't be volatile: freeze it with requires_grad_(False)"
            )

    def __repr__(self) -> str:
        return parameter_repr(self)


class Buffer(Tensor):
    """A tensor that is filed as a buffer when it is assigned: part of the state, but not learned;
    `persistent=False` keeps it out of `state_dict`.

    >>> from tinygrad_course import nn, ones
    >>> module = nn.Module(); module.scale = nn.Buffer(ones(1))
    >>> list(module.buffers())
    [tensor([1.])]
    """

    persistent = True

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = empty(0) if data is None else data
        if not isinstance(data, Tensor):
            raise AttributeError(
                f"a Buffer is made of a Tensor, not {type(data).__name__}: wrap it in "
                "tg.tensor(...)"
            )
        buffer: Buffer = _leaf_of(cls, data)
        buffer.persistent = persistent
        buffer.requires_grad_(data.requires_grad)
        return buffer


def _leaf_of(cls: type[Tensor], data: Tensor) -> Any:
    """A leaf of that class on the memory of `data`."""
    storage = data.storage()
    leaf = object.__new__(cls)
    leaf._array, leaf._storage = data._array, storage
    leaf._counter = data._shared_counter()
    leaf._edge = leaf._meta = None
    storage.add_window(leaf)
    return leaf
