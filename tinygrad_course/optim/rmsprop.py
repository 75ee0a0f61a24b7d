"""RMSprop: the gradient in units of its own root mean square. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .means import into_mean, into_mean_square
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero


class RMSprop(Optimizer):
    """x ← x − lr · g / (√v + eps), with v a running mean of g² (Hinton's lecture 6e, 2012).

    v forgets at the rate `alpha`; `centered` subtracts the square of the running mean of g, which
    leaves the variance (Graves, 2013). `momentum` moves by b ← momentum · b + g / (√v + eps)
    instead. g includes weight_decay · x, `maximize` goes up. ValueError for a negative setting.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); RMSprop([w], lr=0.01).step(); w.data
    tensor([0.9000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_at_least_zero(
            lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha
        )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        alpha, momentum, centered = group["alpha"], group["momentum"], group["centered"]
        names = ("momentum_buffer",) * (momentum > 0) + ("grad_avg",) * bool(centered)
        self._remember(state, x, "square_avg", *names)
        count_step(state)
        v = state["square_avg"]._array
        g = self._gradient(group, x, g, spare, step)
        into_mean_square(v, g, alpha, step)
        if centered:
            mean = state["grad_avg"]._array
            into_mean(mean, g, alpha, step)
            xp.multiply(mean, mean, out=step)
            xp.subtract(v, step, out=step)
            xp.sqrt(step, out=step)
        else:
            xp.sqrt(v, out=step)
        step += group["eps"]
        xp.divide(g, step, out=step)
        if momentum > 0:
            b = state["momentum_buffer"]._array
            b *= momentum
            b += step
            step[...] = b
        step *= float(group["lr"])
        xp.subtract(x, step, out=x)
