"""Schedules along half a cosine: slow, fast, slow; once, up again, or with warm restarts.

The rate of epoch t is eta_min + (base − eta_min) (1 + cos(π t / T)) / 2 (Loshchilov and Hutter,
2016). Lesson 14.
"""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, Rates


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` in `T_max` epochs, up again in as many, and so on.

    From the rate that is there: the way to eta_min is multiplied by
    (1 + cos(π t / T)) / (1 + cos(π (t − 1) / T)).

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        t, T, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and t > 0:
            return self._get_closed_form_lr()
        if (t - 1 - T) % (2 * T) == 0:  # at the bottom there is no way to eta_min to multiply
            rise = (1 - math.cos(math.pi / T)) / 2
            pairs = zip(self._current(), self.base_lrs, strict=True)
            return [rate + (base - low) * rise for rate, base in pairs]
        factor = (1 + math.cos(math.pi * t / T)) / (1 + math.cos(math.pi * (t - 1) / T))
        return [factor * (rate - low) + low for rate in self._current()]

    def _get_closed_form_lr(self) -> Rates:
        return _cosine(self.base_lrs, self.eta_min, self.last_epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down to `eta_min` in `T_0` epochs, back at once, down in `T_mult` times as many, and so on.

    `step(epoch)` takes parts of an epoch, too, e.g. epoch + batch / batches. ValueError for a T_0
    that is no positive int, a T_mult below 1 or an epoch below 0.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> schedule.step(); schedule.step(); schedule.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Rates:
        return _cosine(self.base_lrs, self.eta_min, self.T_cur / self.T_i)

    def step(self, epoch: float | None = None) -> None:
        """Goes to the next epoch, or to `epoch`."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = epoch or 0
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            self._set(self.get_lr())
        finally:
            self._get_lr_called_within_step = False

    def _go_to(self, epoch: float) -> None:
        """Sets the number of epochs since the last restart, and that until the next."""
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_i = self.T_0 * self.T_mult**restarts
        self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)


def _cosine(bases: Rates, low: Any, part: float) -> Rates:
    return [low + (base - low) * (1 + math.cos(math.pi * part)) / 2 for base in bases]
