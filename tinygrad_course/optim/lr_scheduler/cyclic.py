"""CyclicLR: the rate goes up and down between two bounds, and momentum down and up.

Knows, besides rates, which setting of the optimizer is the momentum: 'momentum', or the first of
'betas'. Lesson 14.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Group, Optimizer
from .base import LRScheduler, Rates, attributes_of, per_group, set_setting

SCALES: dict[str, tuple[Callable[[float, float], float], str]] = {
    "triangular": (lambda x, gamma: 1.0, "cycle"),
    "triangular2": (lambda x, gamma: 1 / 2.0 ** (x - 1), "cycle"),
    "exp_range": (lambda x, gamma: gamma**x, "iterations"),
}


class CyclicLR(LRScheduler):
    """From `base_lr` to `max_lr` in `step_size_up` steps, back in `step_size_down` (as many), and
    so on (Smith, 2015); momentum from `max_momentum` to `base_momentum` and back.

    The height of a cycle is 1 with mode "triangular", halved each time with "triangular2", and
    gamma^step with "exp_range"; or `scale_fn` of the cycle's number, of the step with
    `scale_mode="iterations"`. Rates and momenta are numbers or lists of one per group. ValueError
    for another mode, for lists of another length, and for an optimizer without momentum unless
    `cycle_momentum=False`.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1., momentum=0.9)
    >>> schedule = CyclicLR(optimizer, base_lr=1., max_lr=2., step_size_up=2)
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [1.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        base_lrs = per_group(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                set_setting(group, "lr", rate)
        self.max_lrs = per_group(optimizer, "max_lr", max_lr)
        step_size_down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(step_size_down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in SCALES and scale_fn is None:
            raise ValueError(
                f"mode is invalid and scale_fn is None: {mode!r} is none of {[*SCALES]}"
            )
        self.mode = mode
        self.gamma = gamma
        self.scale_mode = scale_mode if scale_fn is not None else SCALES[mode][1]
        self._scale_fn_custom = scale_fn
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            self.base_momentums = per_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = per_group(optimizer, "max_momentum", max_momentum)
            momenta = zip(
                optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            )
            for group, low, high in momenta:
                if last_epoch == -1:
                    set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return SCALES[self.mode][0](x, self.gamma)

    def _rates(self) -> Rates:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x <= self.step_ratio
        part = x / self.step_ratio if up else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, momenta, strict=True):
                set_momentum(group, high - (high - low) * part * scale)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * part * scale for low, high in pairs]

    def state_dict(self) -> dict[str, Any]:
        """As ever; of a `scale_fn` the attributes, if it is an object."""
        return {
            **super().state_dict(),
            "_scale_fn_custom": attributes_of(self._scale_fn_custom),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As ever; a `scale_fn` stays and takes over its attributes."""
        state_dict = dict(state_dict)
        attributes = state_dict.pop("_scale_fn_custom")
        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)
        super().load_state_dict(state_dict)


def uses_beta1(optimizer: Optimizer) -> bool:
    """Whether momentum is the first of 'betas'; ValueError where there is no momentum."""
    if "betas" not in optimizer.defaults and "momentum" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled, and "
            f"{type(optimizer).__name__} does not: pass cycle_momentum=False"
        )
    return "betas" in optimizer.defaults


def set_momentum(group: Group, momentum: float) -> None:
    """Writes the momentum, which is the first of 'betas' where there are some."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
