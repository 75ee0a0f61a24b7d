"""ASGD: SGD that also keeps the mean of the points it visits. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .optimizer import Group, Optimizer, State, count_step, scalar
from .settings import require_at_least_zero


class ASGD(Optimizer):
    """x ← (1 − lambd · ηₜ) x − ηₜ · g, with ηₜ = lr / (1 + lambd · lr · t)^alpha; state 'ax' is the
    mean of x from step `t0` on, the last x until then (Polyak and Juditsky, 1992).

    g includes weight_decay · x, `maximize` goes up. ValueError for a negative lr or weight_decay.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); ASGD([w]).step(); w.data
    tensor([0.9700])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
        lr, lambd = float(group["lr"]), group["lambd"]
        self._remember(state, x, "ax", eta=lr, mu=1.0)
        t = count_step(state)
        eta, mu, mean = float(state["eta"]._array), float(state["mu"]._array), state["ax"]._array
        g = self._gradient(group, x, g, spare, step)
        x *= 1 - lambd * eta
        xp.multiply(g, eta, out=step)
        xp.subtract(x, step, out=x)
        if mu == 1:
            mean[...] = x
        else:
            xp.subtract(x, mean, out=step)
            step *= mu
            mean += step
        for name, value in (
            ("eta", lr / (1 + lambd * lr * t) ** group["alpha"]),
            ("mu", 1 / max(1, t - group["t0"])),
        ):
            # Rounded to the type of a count, also after a load has given them the parameter's.
            state[name]._array[...] = scalar(value).item()
