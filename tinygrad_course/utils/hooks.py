"""PyTorch's address of what registering a hook returns, and of the borders around a module; they
live in `autograd.hooks` and `nn.backward_hooks`."""

from ..autograd.hooks import RemovableHandle
from ..nn.backward_hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle"]
