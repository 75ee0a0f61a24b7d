"""OneCycleLR: one cycle for the whole training, up and far down. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, Rates, per_group
from .cyclic import set_momentum, uses_beta1


class OneCycleLR(LRScheduler):
    """From max_lr / div_factor up to `max_lr` in the share `pct_start` of the steps, then down to
    the first rate / final_div_factor (Smith and Topin, 2017); momentum the other way.

    With `three_phase` down to the first rate in as many steps, and further down in those left. In
    between along half a cosine or, with `anneal_strategy="linear"`, a line. `total_steps`, or
    `epochs` times `steps_per_epoch`, are all steps. ValueError for counts that are no positive
    ints, a pct_start outside [0, 1], lists of another length than the groups, an optimizer without
    momentum unless `cycle_momentum=False`, and for a step too many.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1., momentum=0.9)
    >>> schedule = OneCycleLR(optimizer, max_lr=1., total_steps=10, anneal_strategy="linear")
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.total_steps = _all_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        up, last = pct_start * self.total_steps - 1, self.total_steps - 1
        names = ["initial_lr", "max_lr", "initial_lr", "min_lr"]
        momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
        ends: list[float] = [up, 2 * up, last]
        if not three_phase:
            ends = [up, last]
            del names[2], momenta[3]
        self._schedule_phases: list[dict[str, Any]] = [
            {
                "end_step": end,
                "start_lr": names[i],
                "end_lr": names[i + 1],
                "start_momentum": momenta[i],
                "end_momentum": momenta[i + 1],
            }
            for i, end in enumerate(ends)
        ]
        rates = per_group(optimizer, "max_lr", max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                lows = per_group(optimizer, "base_momentum", base_momentum)
                highs = per_group(optimizer, "max_momentum", max_momentum)
                for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
                    set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        begin = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        part = (step - begin) / (end - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._between(first, last, part))
        return rates

    def _between(self, start: Any, end: Any, part: float) -> Any:
        """What lies a `part` of the way from start to end."""
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * part))


def _all_steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    if total is None and (epochs is None or per_epoch is None):
        raise ValueError(
            "You must define either total_steps OR (epochs AND steps_per_epoch): got total_steps="
            f"{total}, epochs={epochs}, steps_per_epoch={per_epoch}"
        )
    if total is None:
        counts = {"epochs": epochs, "steps_per_epoch": per_epoch}
    else:
        counts = {"total_steps": total}
    product = 1
    for name, count in counts.items():
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
        product *= count
    return product
