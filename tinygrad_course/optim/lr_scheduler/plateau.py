"""ReduceLROnPlateau: a smaller rate when a metric has stopped getting better. Lesson 14."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, copied, require_optimizer, set_setting, warn_of_epoch


class ReduceLROnPlateau(LRScheduler):
    """rate ← max(factor · rate, min_lr) after more than `patience` steps in a row without a better
    metric.

    Better is below best · (1 − threshold), or best − threshold with `threshold_mode="abs"`; above
    the like with `mode="max"`. After a reduction `cooldown` steps don't count; one by `eps` or less
    is not done. ValueError for a factor of 1 or more, another mode, and another number of `min_lr`
    than groups.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    >>> schedule.step(3.0); schedule.step(3.0); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0, got {factor}")
        require_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        if not isinstance(min_lr, list | tuple):
            min_lr = [min_lr] * groups
        if len(min_lr) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It is 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is 'rel' or 'abs'")
        self.optimizer = optimizer
        self.factor = factor
        self.min_lrs: list[Any] = list(min_lr)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = [copied(rate) for rate in self._current()]
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes in the metric of an epoch, a number or a tensor of one element."""
        current = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [copied(rate) for rate in self._current()]

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        added = len(groups) - len(self.min_lrs)
        if added > 0 and self.default_min_lr is None:
            raise RuntimeError(
                f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}): append the least "
                "rates of the new groups to `min_lrs`"
            )
        self.min_lrs += [self.default_min_lr] * added
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_setting(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether a reduction is so recent that steps don't count."""
        return self.cooldown_counter > 0

    def _is_better(self, current: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            bound = self.best * (1 - sign * self.threshold)
        else:
            bound = self.best - sign * self.threshold
        return current < bound if self.mode == "min" else current > bound
