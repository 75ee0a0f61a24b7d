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
from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import Array, device_of, go_to, xp_of
from ..dtype import float32, float64, get_default_dtype
from ..nn.module import clear_grad
from ..ops.data import tensor as make_tensor
from .blocks import blocks
from .flat import Plan
from .hooks import Hooks, with_hooks
from .settings import require_one_way, required

Group = dict[str, Any]
State = dict[str, Any]  # what is remembered of one parameter, or of many in one vector


class Optimizer(Hooks):
    """Base of the optimizers. `params` is an iterable of parameters, of (name, parameter), or of
    groups: dicts with 'params' and settings of their own, for which `defaults` stand in.

    `state[parameter]` is what the algorithm remembers of it, `param_groups` the groups; a changed
    setting, e.g. `param_groups[0]['lr'] = 0.01`, counts from the next step. A default of `required`
    must be in every group. TypeError and ValueError for what cannot be optimized.
    """

    _has_stepped = False

    def __init_subclass__(cls) -> None:
        if "step" in vars(cls):
            cls.step = with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got "
                f"{params.type()}: put it in a list"
            )
        require_one_way(defaults)
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._forget_memory()
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
        group = param_group
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the order "
                "of a set changes from run to run: use a list"
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    f"missing: {named.count(False)} of {len(named)}"
                )
            group["param_names"] = [name for name, _ in params]
            params = [parameter for _, parameter in params]
        for parameter in params:
            _require_optimizable(parameter)
        group["params"] = params
        if self.param_groups and ("param_names" in group) != (
            "param_names" in self.param_groups[0]
        ):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if any(named) else 'without'} names to the optimizer"
            )
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
            if value is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, value)
        self.param_groups.append(group)

    # --- stepping -------------------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or with `set_to_none=False` fills them with
        zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    @with_hooks
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
            plan = self._plans.get(id(group))
            if plan is not None and plan.fits(group["params"]):
                self._move(group, plan)
                continue
            plan = self._plans[id(group)] = Plan(group["params"], self.state)
            self._move(group, plan)
            for parameter in group["params"]:  # states in the order of the parameters
                if parameter in self.state:
                    self.state[parameter] = self.state.pop(parameter)
        return loss

    def _move(self, group: Group, plan: Plan) -> None:
        """Moves the parameters of a group."""
        alone = plan.alone
        for flat in plan.flats:
            go_to(flat.x)
            if flat.gather(self.state):
                self._update(group, flat.state, flat.x, flat.g)
                flat.tell(self.state)
            else:
                alone = alone + flat.parameters
        for parameter in alone:
            self._move_one(group, parameter)

    def _move_one(self, group: Group, parameter: Tensor) -> None:
        """Moves one parameter, if it has a gradient."""
        grad = parameter.grad
        if grad is None:
            return
        go_to(parameter._array)
        state = self.state.get(parameter, {})
        if isinstance(grad, SparseTensor):
            self._update_rows(group, state, parameter._array, grad)
        else:
            for part in blocks(state, parameter._array, grad._array):
                self._update(group, *part)
        if state:
            self.state[parameter] = state
        parameter._bump()

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        """Moves `x`, the array of a parameter or the vector of many, in place, element by element;
        `g` is its gradient and stays as it is, `state` what is remembered of it."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a parameter moves")

    def _update_rows(self, group: Group, state: State, x: Array, g: SparseTensor) -> None:
        """Moves those rows of `x` of which `g` has a gradient; RuntimeError where the algorithm
        has no meaning for a part of a parameter."""
        raise RuntimeError(
            f"{type(self).__name__} does not support sparse gradients: take SGD, Adagrad or "
            "SparseAdam, or a dense gradient (sparse=False in the layer)"
        )

    def _gradient(self, group: Group, x: Array, g: Array, out: Array, spare: Array) -> Array:
        """What to descend along: g, or −g with 'maximize', plus weight_decay · x; in `out` when it
        is not `g` itself.

        Decoupled weight decay shrinks `x` at once instead, past the running means (Loshchilov and
        Hutter, 2017).
        """
        xp, decay = xp_of(x), group["weight_decay"]
        if group["maximize"]:
            g = xp.negative(g, out=out)
        if decay != 0:
            if group.get("decoupled_weight_decay"):
                x *= 1 - float(group["lr"]) * decay
            else:
                xp.multiply(x, decay, out=spare)
                g = xp.add(g, spare, out=out)
        return g

    def _remember(self, state: State, x: Array, *names: str, **scalars: float) -> None:
        """Begins the state of a parameter: 'step' is 0, `names` arrays of zeros like `x` and
        `scalars` numbers on the host, as asking a device would wait for it. RuntimeError when the
        arrays are on another device than `x` by now."""
        if not state:
            state["step"] = scalar(0.0)
            for name, value in scalars.items():
                state[name] = scalar(value)
            for name in names:
                state[name] = Tensor._wrap(xp_of(x).zeros_like(x))
        require_beside(x, state, *names)

    def _spare(self, x: Array, n: int) -> list[Array]:
        """`n` arrays like `x` for intermediate results; all parameters of one shape and type share
        them."""
        key = (x.shape, x.dtype, device_of(x))
        spare = self._scratch.setdefault(key, [])
        while len(spare) < n:
            spare.append(xp_of(x).empty_like(x))
        return spare

    def _forget_memory(self) -> None:
        """Spare arrays and plans: made anew when needed, and no part of the state."""
        self._scratch: dict[tuple[Any, ...], list[Array]] = {}
        self._plans: dict[int, Plan] = {}

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{'state': place → what is remembered, 'param_groups': settings}, with parameters numbered
        in order."""
        self._tell("state_pre")
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
        return self._ask("state_post", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a copy of what `state_dict` returned; ValueError when the groups are not of
        the same sizes.

        Tensors are converted to their parameter's type and device, all but the count of steps.
        """
        state_dict = self._ask("load_pre", state_dict.copy())
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
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": groups})
        self._tell("load_post")

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over what `__getstate__` gave, or a load brings; settings that an older version
        lacked are the defaults."""
        if "_hooks" not in vars(self):
            Hooks.__init__(self)
        self._forget_memory()
        vars(self).update(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        groups = []
        for number, group in enumerate(self.param_groups):
            lines = [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
            groups.append("\n".join([f"Parameter Group {number}", *lines]))
        return f"{type(self).__name__} (\n" + "\n\n".join(groups) + "\n)"


def _require_optimizable(parameter: Any) -> None:
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


def require_beside(x: Array, state: State, *names: str) -> None:
    """RuntimeError unless these parts of the state are on the device of `x`."""
    here = device_of(x)
    for name in names:
        there = state[name].device
        if there != here:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{here} and {there}! The parameter was moved after its {name!r} was made: "
                "optimizer.load_state_dict(optimizer.state_dict()) moves that, too."
            )


def _fitted(value: Any, parameter: Tensor, name: Any = None) -> Any:
    """A copy of what is remembered of one parameter, of its type and on its device; the count of
    steps stays as it is."""
    if isinstance(value, Tensor):
        value = value.clone()
        return value if name == "step" else value.to(parameter.device).to(parameter.dtype)
    if isinstance(value, dict):
        return {key: _fitted(entry, parameter, key) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_fitted(entry, parameter, name) for entry in value)
    return copy.deepcopy(value)


def rows_of(g: SparseTensor) -> tuple[Array, Array]:
    """The numbers of the rows, each once, and the gradient of each."""
    g = g.coalesce()
    return g.indices()._array[0], g.values()._array


def scalar(value: float) -> Tensor:
    """A number that an optimizer counts with, on the host: float32, or float64 where that is the
    default type."""
    dtype = float64 if get_default_dtype() is float64 else float32
    return make_tensor(value, dtype=dtype, device="cpu")


def count_step(state: dict[str, Any]) -> float:
    """The number of this step, from 1. Files of older versions have a plain number there."""
    if not isinstance(state["step"], Tensor):
        state["step"] = scalar(state["step"])
    count = state["step"]._array
    count += 1
    return float(count)
