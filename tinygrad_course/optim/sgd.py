"""SGD: down the gradient, with momentum if wanted. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from ..kernels import steps
from .optimizer import Group, Optimizer, State, require_beside, rows_of
from .settings import require_at_least_zero


class SGD(Optimizer):
    """x ← x − lr · v, where v ← momentum · v + (1 − dampening) · (g + weight_decay · x), and v = g
    without momentum.

    The first step takes v = g. `nesterov` moves by g + momentum · v; `maximize` goes up. A sparse
    gradient moves the rows that it has. ValueError for a negative setting, or for `nesterov`
    without momentum or with dampening; RuntimeError for a sparse gradient with weight_decay.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); SGD([w], lr=0.1).step(); w.data
    tensor([0.7000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"Nesterov momentum requires a momentum and zero dampening, got {momentum} and "
                f"{dampening}"
            )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp, lr = xp_of(x), float(group["lr"])
        v, first = None, False
        if group["momentum"] != 0:
            first = state.get("momentum_buffer") is None
            if first:
                state["momentum_buffer"] = Tensor._wrap(xp.empty_like(x))
            require_beside(x, state, "momentum_buffer")
            v = state["momentum_buffer"]._array
        if steps.movable(x, g, v):
            names = "momentum", "dampening", "weight_decay", "nesterov", "maximize"
            steps.sgd(x, g, v, first, lr=lr, **{name: group[name] for name in names})
            return

        spare, step = self._spare(x, 2)
        g = self._gradient(group, x, g, spare, step)
        if v is not None:
            g = self._velocity(group, v, g, first, step)
        xp.multiply(g, lr, out=step)
        xp.subtract(x, step, out=x)

    def _velocity(self, group: Group, v: Array, g: Array, first: bool, spare: Array) -> Array:
        """The direction of the step, after the velocity took in `g`."""
        xp, momentum = xp_of(v), group["momentum"]
        if first:
            v[...] = g
        else:
            v *= momentum
            v += xp.multiply(g, 1 - group["dampening"], out=spare) if group["dampening"] else g
        if not group["nesterov"]:
            return v
        xp.multiply(v, momentum, out=spare)
        return xp.add(g, spare, out=spare)

    def _update_rows(self, group: Group, state: State, x: Array, g: SparseTensor) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError(
                f"weight_decay={group['weight_decay']} is not supported with sparse gradients: it "
                "would move every row"
            )
        if group["maximize"]:
            g = -g
        momentum = group["momentum"]
        if momentum != 0:
            v = state.get("momentum_buffer")
            v = g.clone() if v is None else v * momentum + g * (1 - group["dampening"])
            state["momentum_buffer"] = v.coalesce()
            g = g + v * momentum if group["nesterov"] else v
        rows, values = rows_of(g)
        x[rows] -= float(group["lr"]) * values
