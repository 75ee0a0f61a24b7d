"""Weight normalization: a weight split into how long it is and where it points.

w = g · v / ‖v‖, with g and v as the parameters; a hook before each forward computes w. Knows of a
module its parameters and hooks alone. Lesson 14.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from ...autograd.variable import Tensor
from ..module import Module
from ..parameter import Parameter

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook: sets `module.<name>` from `<name>_g` and `<name>_v`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """g · v / ‖v‖."""
        g, v = (getattr(module, self.name + ending) for ending in ("_g", "_v"))
        weight: Tensor = v * (g / norm_except(v, self.dim))
        return weight

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def norm_except(v: Tensor, dim: int) -> Tensor:
    """‖v‖₂ over all dims but `dim`, kept; of all of v, 0-dim, when `dim` is -1."""
    if dim == -1:
        return v.norm()
    v.size(dim)  # IndexError for a dim that is not there
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    norm: Tensor = v.norm(2, others, keepdim=True) if others else v.abs()
    return norm


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Puts `<name>_g` and `<name>_v` in the place of the parameter `name`, and returns `module`
    (Salimans and Kingma, 2016).

    One length per index of `dim`, or one for all with None. RuntimeError when `name` is split
    already; FutureWarning, as PyTorch has a newer way.

    >>> import warnings
    >>> import tinygrad_course as tg
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = weight_norm(tg.nn.Linear(3, 2))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
    [('bias', (2,)), ('weight_g', (2, 1)), ('weight_v', (2, 3))]
    """
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of PyTorch's "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    g = norm_except(weight.detach(), hook.dim)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(g))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes `name` one parameter again, with the values that it has, and returns `module`;
    ValueError when it is not split.

    >>> import warnings
    >>> import tinygrad_course as tg
    >>> with warnings.catch_warnings(action="ignore"):
    ...     layer = remove_weight_norm(weight_norm(tg.nn.Linear(3, 2)))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    number, hook = found
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    module.register_parameter(name, Parameter(weight.detach()))
    del module._own_hooks().before[number]
    return module


def _hook_of(module: Module, name: str) -> tuple[int, WeightNorm] | None:
    """The number and the hook of a weight that is split."""
    for number, hook in module._own_hooks().before.items():
        if isinstance(hook.function, WeightNorm) and hook.function.name == name:
            return number, hook.function
    return None
