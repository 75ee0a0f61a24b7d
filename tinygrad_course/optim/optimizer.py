"""Optimizer: parameters in groups, settings per group, and what an algorithm remembers per
parameter.

A subclass names its settings and says how one parameter moves; who has a gradient, closures, saving
and loading are settled here. Works on the raw arrays of parameters and gradients: nothing is
recorded, nothing is allocated that can be reused. Knows nothing of models. Lesson 14.
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..autograd.mode import enable_grad
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..nn.module import clear_grad

Group = dict[str, Any]


class Optimizer:
    """Base of the optimizers. `params` is an iterable of parameters, of (name, parameter), or of
    groups: dicts with 'params' and settings of their own, for which `defaults` stand in.

    `state[parameter]` is what the algorithm remembers of it, `param_groups` the groups; a changed
    setting, e.g. `param_groups[0]['lr'] = 0.01`, counts from the next step. TypeError and
    ValueError for what cannot be optimized.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got "
                f"{params.type()}: put it in a list"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._scratch: dict[tuple[Any, ...], list[Array]] = {}
        params = list(params)
        if not params:
            raise ValueError(
                "optimizer got an empty parameter list: a generator such as model.parameters() "
                "can be used only once"
            )
        for group in params if isinstance(params[0], dict) else [{"params": params}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Adds a group: {'params': parameter(s), setting: value, …}; settings it lacks are the
        defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the order "
                "of a set changes from run to run: use a list"
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and all(isinstance(p, tuple) for p in params):
            group["param_names"] = [name for name, _ in params]
            params = [parameter for _, parameter in params]
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(parameter).__name__}"
                )
            if not parameter.is_leaf:
                raise ValueError(
                    f"can't optimize a non-leaf Tensor: it is computed by {parameter.grad_fn}; "
                    "give the leaves it is computed from, or x.detach().requires_grad_()"
                )
        group["params"] = params
        if len(set(map(id, params))) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; each is moved "
                "several times a step",
                UserWarning,
                stacklevel=3,
            )
        taken = {id(parameter) for other in self.param_groups for parameter in other["params"]}
        if any(id(parameter) in taken for parameter in params):
            raise ValueError("some parameters appear in more than one parameter group")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self.param_groups.append(group)

    # --- stepping -------------------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or with `set_to_none=False` fills them with
        zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Moves every parameter that has a gradient, once.

        `closure`, when given, computes the loss and its gradients anew; step returns what it
        returns, else None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is not None:
                    self._update(group, parameter, parameter._array, grad._array)
                    parameter._bump()
        return loss

    def _update(self, group: Group, parameter: Tensor, x: Array, g: Array) -> None:
        """Moves `x`, the parameter's array, in place; `g` is its gradient and stays as it is."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a parameter moves")

    def _spare(self, x: Array, n: int) -> list[Array]:
        """`n` arrays like `x` for intermediate results; all parameters of one shape and type share
        them."""
        key = (x.shape, x.dtype, type(x))
        spare = self._scratch.setdefault(key, [])
        while len(spare) < n:
            spare.append(xp_of(x).empty_like(x))
        return spare

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{'state': place → what is remembered, 'param_groups': settings}, with parameters numbered
        in order."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
        groups = [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [numbers[id(parameter)] for parameter in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {numbers[id(parameter)]: entry for parameter, entry in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a copy of what `state_dict` returned; ValueError when the groups are not of
        the same sizes.

        Floating point state is converted to its parameter's type and device.
        """
        groups = copy.deepcopy(state_dict["param_groups"])
        sizes, loaded = ([len(g["params"]) for g in some] for some in (self.param_groups, groups))
        if len(sizes) != len(loaded):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(loaded)}, and "
                f"the optimizer {len(sizes)}"
            )
        if sizes != loaded:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                f"optimizer's group: sizes {loaded}, and the optimizer's {sizes}"
            )
        state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        for group, new in zip(self.param_groups, groups, strict=True):
            for parameter, number in zip(group["params"], new["params"], strict=True):
                if number in state_dict["state"]:
                    state[parameter] = _fitted(state_dict["state"][number], parameter)
        for group, new in zip(self.param_groups, groups, strict=True):
            new["params"] = group["params"]
        self.state, self.param_groups = state, groups

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _fitted(entry: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
    """A copy of one parameter's state, of its type and on its device; the count of steps keeps its
    type."""
    fitted = copy.deepcopy(entry)
    for name, value in fitted.items():
        if isinstance(value, Tensor) and name != "step" and value.is_floating_point():
            fitted[name] = value.to(parameter.device).to(parameter.dtype)
    return fitted


def require_at_least_zero(**settings: Any) -> None:
    """ValueError for a setting below zero (or nan)."""
    names = {"lr": "learning rate", "eps": "epsilon value", "momentum": "momentum value"}
    for name, value in settings.items():
        if not value >= 0:
            raise ValueError(
                f"Invalid {names.get(name, f'{name} value')}: {value}, it must be 0 or more"
            )
