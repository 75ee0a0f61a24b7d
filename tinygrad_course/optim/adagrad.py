"""Adagrad: the more a weight was pulled, the smaller its steps. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import Array, go_to, xp_of
from .optimizer import Group, Optimizer, State, count_step, require_beside, rows_of
from .settings import require_at_least_zero


class Adagrad(Optimizer):
    """x ← x − lrₜ · g / (√s + eps), with s the sum of all g² so far (Duchi et al., 2011).

    lrₜ = lr / (1 + (t − 1) · lr_decay), s begins at `initial_accumulator_value`; g includes
    weight_decay · x, `maximize` goes up. State is there before the first step, as in PyTorch.
    ValueError for a negative setting.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Adagrad([w], lr=0.1).step(); w.data
    tensor([0.9000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_at_least_zero(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        require_beside(x, state, "sum")
        t = count_step(state)
        s = state["sum"]._array
        g = self._gradient(group, x, g, spare, step)
        s += xp.multiply(g, g, out=step)
        xp.sqrt(s, out=step)
        step += group["eps"]
        xp.divide(g, step, out=step)
        step *= float(group["lr"]) / (1 + (t - 1) * group["lr_decay"])
        xp.subtract(x, step, out=x)

    def _update_rows(self, group: Group, state: State, x: Array, g: SparseTensor) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError(
                "weight_decay option is not compatible with sparse gradients: it would move every "
                f"row, by {group['weight_decay']}"
            )
        require_beside(x, state, "sum")
        t = count_step(state)
        s = state["sum"]._array
        rows, values = rows_of(-g if group["maximize"] else g)
        s[rows] += values**2
        rate = float(group["lr"]) / (1 + (t - 1) * group["lr_decay"])
        x[rows] -= rate * values / (xp_of(x).sqrt(s[rows]) + group["eps"])

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        for parameter in param_group["params"]:
            go_to(parameter._array)
            self._remember(self.state[parameter], parameter._array, "sum")
            self.state[parameter]["sum"]._array[...] = param_group["initial_accumulator_value"]
