"""NAdam: Adam that looks ahead, by Nesterov's momentum. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .means import into_mean, into_mean_square
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero, require_betas


class NAdam(Optimizer):
    """x ← x − lr · (a · g + b · m) / (√v̂ + eps), with running means m of g and v of g² (Dozat,
    2016).

    With μₜ = β₁ (1 − ½ · 0.96^(t · momentum_decay)) and P the product of μ₁ to μₜ:
    a = (1 − μₜ) / (1 − P) weighs this gradient and b = μₜ₊₁ / (1 − P · μₜ₊₁) the mean as the next
    step will. v̂ = v / (1 − β₂ᵗ); g includes weight_decay · x, unless with `decoupled_weight_decay`
    x shrinks by lr · weight_decay instead; `maximize` goes up. ValueError for a negative setting or
    a beta outside [0, 1).

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); NAdam([w], lr=0.1).step(); w.data
    tensor([0.8944])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_at_least_zero(
            lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay
        )
        require_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step, root = self._spare(x, 3)
        lr, (beta1, beta2), decay = float(group["lr"]), group["betas"], group["momentum_decay"]
        self._remember(state, x, "exp_avg", "exp_avg_sq", mu_product=1.0)
        t = count_step(state)
        m, v, product = (state[k]._array for k in ("exp_avg", "exp_avg_sq", "mu_product"))
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (n * decay)) for n in (t, t + 1))
        product *= mu
        g = self._gradient(group, x, g, spare, step)
        into_mean(m, g, beta1, step)
        into_mean_square(v, g, beta2, step)
        xp.sqrt(v, out=root)
        root *= 1 / math.sqrt(1 - beta2**t)
        root += group["eps"]
        for vector, weight in (
            (g, (1 - mu) / (1 - float(product))),
            (m, mu_next / (1 - float(product) * mu_next)),
        ):
            xp.divide(vector, root, out=step)
            step *= lr * weight
            xp.subtract(x, step, out=x)
