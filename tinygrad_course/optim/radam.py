"""RAdam: Adam that waits until its mean square has seen enough gradients. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .means import into_mean, into_mean_square
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero, require_betas


class RAdam(Optimizer):
    """x ← x − lr · r · m̂ / (√v̂ + eps) once ρ > 5, and x ← x − lr · m̂ before (Liu et al., 2019).

    m and v are Adam's; ρ = ρ∞ − 2 t β₂ᵗ / (1 − β₂ᵗ) is the number of gradients that v is worth, of
    at most ρ∞ = 2 / (1 − β₂) − 1, and r² = (ρ − 4)(ρ − 2) ρ∞ / ((ρ∞ − 4)(ρ∞ − 2) ρ) makes up for
    the spread of 1/√v. Weight decay, `maximize` and errors are those of NAdam.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); RAdam([w], lr=0.1).step(); w.data
    tensor([0.7000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        require_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        beta1, beta2 = group["betas"]
        self._remember(state, x, "exp_avg", "exp_avg_sq")
        t = count_step(state)
        m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array
        g = self._gradient(group, x, g, spare, step)
        into_mean(m, g, beta1, step)
        into_mean_square(v, g, beta2, step)
        left = 1 - beta2**t
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * t * beta2**t / left
        rate = float(group["lr"]) / (1 - beta1**t)
        if rho > 5:
            xp.sqrt(v, out=step)
            step += group["eps"]
            xp.divide(m, step, out=step)
            spread = (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)
            step *= rate * math.sqrt(left * spread)
        else:
            xp.multiply(m, rate, out=step)
        xp.subtract(x, step, out=x)
