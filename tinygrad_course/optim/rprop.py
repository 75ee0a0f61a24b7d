"""Rprop: the sign of the gradient alone, with a step size for each weight. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .optimizer import Group, Optimizer, State, count_step
from .settings import require_at_least_zero


class Rprop(Optimizer):
    """x ← x − sign(g) · s, with a step size s per weight that grows while the gradient keeps its
    sign (Riedmiller and Braun, 1993).

    s begins at `lr`; times etas[1] when g has the sign of the last g, times etas[0] when it has the
    other, which then also skips the step; s stays within `step_sizes`. For gradients of the whole
    data set: noise of batches changes signs. `maximize` goes up. ValueError for a negative lr or
    etas that are not 0 < etas[0] < 1 < etas[1].

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); Rprop([w]).step(); w.data
    tensor([0.9900])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_at_least_zero(lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(
                f"Invalid eta values: {etas[0]}, {etas[1]}, they must be below and above 1"
            )
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        xp = xp_of(x)
        spare, step = self._spare(x, 2)
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        new = not state
        self._remember(state, x, "prev", "step_size")
        count_step(state)
        previous, size = state["prev"]._array, state["step_size"]._array
        if new:
            size[...] = float(group["lr"])
        if group["maximize"]:
            g = xp.negative(g, out=spare)
        agreement = xp.multiply(g, previous, out=step)  # its sign counts
        previous[...] = g
        agreed, turned = agreement > 0, agreement < 0
        # So that the step after a turn neither grows nor shrinks.
        xp.copyto(previous, 0, where=turned)
        step.fill(1)
        xp.copyto(step, grow, where=agreed)
        xp.copyto(step, shrink, where=turned)
        size *= step
        xp.clip(size, smallest, largest, out=size)
        xp.sign(previous, out=step)
        xp.copyto(step, 0, where=step != step)  # a gradient that is no number moves nothing
        step *= size
        xp.subtract(x, step, out=x)
