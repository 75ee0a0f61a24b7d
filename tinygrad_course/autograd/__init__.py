"""Autograd: recording operations as a graph of nodes, and running it backward. See README.md in
this folder."""

from .engine import backward, grad
from .function import Function, once_differentiable
from .mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "set_grad_enabled",
]
