"""Schedules by a factor: from one epoch to the next, every rate is multiplied by the same number.

Each says what the factor is. `_get_closed_form_lr` is the rate of an epoch from the rate at the
start, for `step(epoch)`. Lesson 14.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, Rates, attributes_of

Factor = Callable[[int], float]


class FactorLR(LRScheduler):
    """Base of these schedules: rate ← `_factor()` · rate."""

    def _rates(self) -> Rates:
        factor = self._factor()
        return [rate * factor for rate in self._current()]

    def _factor(self) -> float:
        raise NotImplementedError

    def _from_start(self, factor: float) -> Rates:
        return [rate * factor for rate in self.base_lrs]


class _ByFunction(LRScheduler):
    """Base of the two that call functions, one for all groups or a list of one per group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, list | tuple):
            lr_lambda = [lr_lambda] * groups
        if len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """As ever, with the attributes of functions that are objects; other functions are None."""
        state = super().state_dict()
        state["lr_lambdas"] = [attributes_of(function) for function in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As ever; the functions stay and take over their attributes."""
        super().load_state_dict(
            {name: value for name, value in state_dict.items() if name != "lr_lambdas"}
        )
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                vars(function).update(attributes)


class LambdaLR(_ByFunction):
    """The rate of epoch e is lr_lambda(e) · the rate at the start. ValueError for another number of
    functions than groups.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def _rates(self) -> Rates:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]


class MultiplicativeLR(_ByFunction):
    """rate ← lr_lambda(e) · rate in epoch e > 0. ValueError for another number of functions than
    groups.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def _rates(self) -> Rates:
        if self._is_initial:
            return self._current()
        pairs = zip(self._current(), self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]


class StepLR(FactorLR):
    """rate ← gamma · rate every `step_size` epochs.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = StepLR(optimizer, step_size=2, gamma=0.5)
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1.0

    def _get_closed_form_lr(self) -> Rates:
        return self._from_start(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(FactorLR):
    """rate ← gamma · rate at each of the epochs `milestones`.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = MultiStepLR(optimizer, milestones=[1, 5], gamma=0.5)
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        times = self.milestones[self.last_epoch]
        return self.gamma**times if times else 1.0

    def _get_closed_form_lr(self) -> Rates:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return self._from_start(self.gamma**passed)


class ConstantLR(FactorLR):
    """The rates times `factor` for the first `total_iters` epochs, then the rates themselves.
    ValueError for a factor outside [0, 1].

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> ConstantLR(optimizer, factor=0.5).get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(
                f"Constant multiplicative factor expected to be between 0 and 1, got {factor}"
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _get_closed_form_lr(self) -> Rates:
        over = self.last_epoch >= self.total_iters
        return self._from_start(self.factor + over * (1 - self.factor))


class LinearLR(FactorLR):
    """The rates times a number that goes from `start_factor` to `end_factor` in `total_iters` equal
    parts. ValueError for factors outside (0, 1] and [0, 1].

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to "
                f"1, got {start_factor}"
            )
        if not 0 <= end_factor <= 1:
            raise ValueError(
                f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _get_closed_form_lr(self) -> Rates:
        rise = self.end_factor - self.start_factor
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return self._from_start(self.start_factor + rise * part)


class ExponentialLR(FactorLR):
    """rate ← gamma · rate every epoch.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1.0 if self._is_initial else self.gamma

    def _get_closed_form_lr(self) -> Rates:
        return self._from_start(self.gamma**self.last_epoch)


class PolynomialLR(FactorLR):
    """The rate of epoch e is (1 − e / total_iters)^power · the rate at the start, 0 from
    `total_iters` on.

    >>> import tinygrad_course as tg
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> schedule = PolynomialLR(optimizer, total_iters=2, power=2.0)
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        e, total = self.last_epoch, self.total_iters
        if self._is_initial or e > total:
            return 1.0
        factor: float = ((1.0 - e / total) / (1.0 - (e - 1) / total)) ** self.power
        return factor

    def _get_closed_form_lr(self) -> Rates:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return self._from_start((1.0 - part) ** self.power)
