"""Adadelta: steps in the unit of the weights, without a learning rate of one's own. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .means import into_mean_square
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero


class Adadelta(Optimizer):
    """x ← x − lr · Δ, with Δ = g · √(d + eps) / √(v + eps) and running means v of g² and d of Δ²
    (Zeiler, 2012).

    Both means forget at the rate `rho`; g includes weight_decay · x, `maximize` goes up. ValueError
    for a negative setting or rho outside [0, 1].

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Adadelta([w]).step(); w.data
    tensor([0.9968])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}, it must be in [0, 1]")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step, delta = self._spare(x, 3)
        rho, eps = group["rho"], group["eps"]
        self._remember(state, x, "square_avg", "acc_delta")
        count_step(state)
        v, d = state["square_avg"]._array, state["acc_delta"]._array
        g = self._gradient(group, x, g, spare, step)
        into_mean_square(v, g, rho, step)
        xp.add(v, eps, out=step)
        xp.add(d, eps, out=delta)
        xp.sqrt(step, out=step)
        xp.sqrt(delta, out=delta)
        delta /= step
        delta *= g
        into_mean_square(d, delta, rho, step)
        delta *= float(group["lr"])
        xp.subtract(x, delta, out=x)
