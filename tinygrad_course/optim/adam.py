"""Adam: steps measured in standard deviations of the gradient. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..kernels import steps
from .means import into_mean, into_mean_square
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero, require_betas, require_tensors_alike


class Adam(Optimizer):
    """x ← x − lr · m̂ / (√v̂ + eps), with running means m of g and v of g², freed of their bias
    towards 0 (Kingma and Ba, 2014).

    m ← β₁ m + (1 − β₁) g, m̂ = m / (1 − β₁ᵗ), and v likewise with β₂ and g²; g includes
    weight_decay · x, unless with `decoupled_weight_decay` x shrinks by lr · weight_decay instead.
    `amsgrad` divides by the largest v so far (Reddi et al., 2018); `maximize` goes up. ValueError
    for a negative setting or a beta outside [0, 1).

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Adam([w], lr=0.1).step(); w.data
    tensor([0.9000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        require_betas(betas)
        require_tensors_alike(lr, betas, bool(foreach))
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        beta1, beta2 = map(float, group["betas"])
        largest = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        self._remember(state, x, "exp_avg", "exp_avg_sq", *largest)
        t = count_step(state)
        m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array
        # Both corrections as factors: lr · m̂ / (√v̂ + eps) = rate · m / (√v + eps · root), in two
        # operations fewer.
        root, lr = math.sqrt(1 - beta2**t), float(group["lr"])
        rate, eps = lr * root / (1 - beta1**t), group["eps"] * root
        if not group["amsgrad"] and steps.movable(x, g, m, v):
            decay, kept = group["weight_decay"], 1.0
            if group["decoupled_weight_decay"]:
                decay, kept = 0.0, 1 - lr * decay
            steps.adam(x, g, m, v, (beta1, beta2), rate, eps, decay, kept, group["maximize"])
            return

        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        g = self._gradient(group, x, g, spare, step)
        into_mean(m, g, beta1, step)
        into_mean_square(v, g, beta2, step)
        if group["amsgrad"]:
            v = xp.maximum(state["max_exp_avg_sq"]._array, v, out=state["max_exp_avg_sq"]._array)
        xp.sqrt(v, out=step)
        step += eps
        xp.divide(m, step, out=step)
        step *= rate
        xp.subtract(x, step, out=x)
