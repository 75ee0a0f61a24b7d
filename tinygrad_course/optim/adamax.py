"""Adamax: Adam with the largest gradient of late in place of the root mean square. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .means import into_mean
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero, require_betas


class Adamax(Optimizer):
    """x ← x − lr · m̂ / u, with a running mean m of g and u ← max(β₂ u, |g| + eps) (Kingma and Ba,
    2014, section 7.1).

    m̂ = m / (1 − β₁ᵗ); g includes weight_decay · x, `maximize` goes up. ValueError for a negative
    setting or a beta outside [0, 1).

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Adamax([w], lr=0.1).step(); w.data
    tensor([0.9000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        require_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        beta1, beta2 = group["betas"]
        self._remember(state, x, "exp_avg", "exp_inf")
        t = count_step(state)
        m, u = state["exp_avg"]._array, state["exp_inf"]._array
        g = self._gradient(group, x, g, spare, step)
        into_mean(m, g, beta1, step)
        u *= beta2
        xp.abs(g, out=step)
        step += group["eps"]
        xp.maximum(u, step, out=u)
        xp.divide(m, u, out=step)
        step *= float(group["lr"]) / (1 - beta1**t)
        xp.subtract(x, step, out=x)
