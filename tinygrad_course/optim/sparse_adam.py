"""SparseAdam: Adam for the rows of a table that a batch looked up. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .optimizer import Group, Optimizer, State, rows_of
from .settings import require_betas, require_one_element


class SparseAdam(Optimizer):
    """Adam's step for those rows of x of which there is a gradient: the others, and their means m
    and v, stay as they are, though the count of steps goes on for all.

    `maximize` goes up. For layers with `sparse=True`. ValueError for an lr or eps that is not above
    0 or a beta outside [0, 1), RuntimeError for a dense gradient.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(3, 1, requires_grad=True)
    >>> tg.nn.functional.embedding(tg.tensor([1]), w, sparse=True).sum().backward()
    >>> SparseAdam([w], lr=0.5).step(); w.data.view(-1)
    tensor([ 0.0000, -0.5000,  0.0000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        require_one_element(lr)
        for name, value in (("learning rate", lr), ("epsilon value", eps)):
            if not value > 0:
                raise ValueError(f"Invalid {name}: {value}, it must be above 0")
        require_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _update(self, group: Group, state: State, x: Array, g: Array) -> None:
        raise RuntimeError(
            "SparseAdam does not support dense gradients, please consider Adam instead"
        )

    def _update_rows(self, group: Group, state: State, x: Array, g: SparseTensor) -> None:
        xp = xp_of(x)
        beta1, beta2 = group["betas"]
        self._remember(state, x, "exp_avg", "exp_avg_sq")
        state["step"] = t = int(state["step"]) + 1  # a plain number, as in PyTorch
        m, v = state["exp_avg"]._array, state["exp_avg_sq"]._array
        rows, values = rows_of(-g if group["maximize"] else g)
        m[rows] += (1 - beta1) * (values - m[rows])
        v[rows] += (1 - beta2) * (values**2 - v[rows])
        rate = float(group["lr"]) * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        x[rows] -= rate * m[rows] / (xp.sqrt(v[rows]) + group["eps"])
