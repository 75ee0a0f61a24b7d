"""Adam: steps measured in standard deviations of the gradient. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..ops.data import tensor as make_tensor
from .optimizer import Group, Optimizer, require_at_least_zero


class Adam(Optimizer):
    """x ← x − lr · m̂ / (√v̂ + eps), with running means m of g and v of g², freed of their bias
    towards 0 (Kingma and Ba, 2014).

    m ← β₁ m + (1 − β₁) g, m̂ = m / (1 − β₁ᵗ), and v likewise with β₂ and g²; g includes
    weight_decay · x. `amsgrad` divides by the largest v so far; `maximize` goes up. ValueError for
    a negative setting or a beta outside [0, 1).

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Adam([w], lr=0.1).step(); w.data
    tensor([0.9000])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        for i in (0, 1):
            if not 0 <= betas[i] < 1:
                raise ValueError(
                    f"Invalid beta parameter at index {i}: {betas[i]}, it must be in [0, 1)"
                )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, parameter: Tensor, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        beta1, beta2 = group["betas"]
        state = self.state[parameter]
        if not state:
            state["step"] = make_tensor(0.0)
            state["exp_avg"] = Tensor._wrap(xp.zeros_like(x))
            state["exp_avg_sq"] = Tensor._wrap(xp.zeros_like(x))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = Tensor._wrap(xp.zeros_like(x))
        count = state["step"]._array
        count += 1  # on the host: asking a device would wait for it
        t = float(count)
        m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array

        if group["maximize"]:
            g = xp.negative(g, out=spare)
        if group["weight_decay"] != 0:
            xp.multiply(x, group["weight_decay"], out=step)
            g = xp.add(g, step, out=spare)
        m *= beta1
        m += xp.multiply(g, 1 - beta1, out=step)
        v *= beta2
        xp.multiply(g, g, out=step)
        step *= 1 - beta2
        v += step
        if group["amsgrad"]:
            v = xp.maximum(state["max_exp_avg_sq"]._array, v, out=state["max_exp_avg_sq"]._array)
        # Both corrections as factors: lr · m̂ / (√v̂ + eps) = rate · m / (√v + eps · root), in two
        # operations fewer.
        root = math.sqrt(1 - beta2**t)
        rate = float(group["lr"]) * root / (1 - beta1**t)
        xp.sqrt(v, out=step)
        step += group["eps"] * root
        xp.divide(m, step, out=step)
        step *= rate
        xp.subtract(x, step, out=x)
