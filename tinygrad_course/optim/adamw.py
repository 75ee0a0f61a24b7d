"""AdamW: Adam whose weight decay goes past the running means. Lesson 14."""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor
from .adam import Adam


class AdamW(Adam):
    """x ← (1 − lr · weight_decay) x, and then Adam's step (Loshchilov and Hutter, 2017).

    Weights so decay at one rate, however large their gradients are. Arguments and
    errors are Adam's.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([1.]))
    >>> (w * 3).sum().backward(); AdamW([w], lr=0.1, weight_decay=1.).step(); w.data
    tensor([0.8000])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # also after loading what Adam saved
            group["decoupled_weight_decay"] = True
