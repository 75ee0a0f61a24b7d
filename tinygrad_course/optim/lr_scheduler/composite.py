"""Schedules made of schedules: one after the other, or several at once. Lesson 14."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, copied, set_setting
from .plateau import ReduceLROnPlateau


class _Composite(LRScheduler):
    """Base of both: their state is that of their parts."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """All that it and its parts know, but for the optimizer."""
        state = super().state_dict()
        state["_schedulers"] = [schedule.state_dict() for schedule in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` returned."""
        super().load_state_dict(
            {name: value for name, value in state_dict.items() if name != "_schedulers"}
        )
        for schedule, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            schedule.load_state_dict(state)

    def _require_one_optimizer(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler]
    ) -> None:
        for i, schedule in enumerate(schedulers):
            if isinstance(schedule, ReduceLROnPlateau):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler, got it "
                    f"at index {i}: it steps by a metric"
                )
            if schedule.optimizer is not optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same optimizer,"
                    f" but the {type(schedule).__name__} at index {i} has another one"
                )


class SequentialLR(_Composite):
    """The first of `schedulers` until the epoch milestones[0], then the second, and so on; each
    begins with its epoch 0.

    ValueError for no schedule, schedules of different optimizers and another number of milestones
    than schedules but one.

    >>> import tinygrad_course as tg
    >>> from tinygrad_course.optim.lr_scheduler import ConstantLR, ExponentialLR
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> parts = [ConstantLR(optimizer, factor=0.1), ExponentialLR(optimizer, gamma=0.5)]
    >>> schedule = SequentialLR(optimizer, parts, milestones=[1])
    >>> optimizer.step(); schedule.step(); schedule.step(); schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got 0")
        self._require_one_optimizer(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got {len(schedulers)} and {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Making the parts has set each one's first rates: back, and those of the first one alone.
        for group in optimizer.param_groups:
            set_setting(group, "lr", group["initial_lr"])
        _undo(schedulers)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Goes to the next epoch."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


def _undo(schedulers: Sequence[LRScheduler]) -> None:
    """Takes back the step to epoch 0 that making a schedule has done."""
    for schedule in schedulers:
        if isinstance(schedule, _Composite):
            _undo(schedule._schedulers)
        elif hasattr(schedule, "last_epoch"):
            schedule.last_epoch -= 1


class ChainedScheduler(_Composite):
    """All of `schedulers` at each step, in order: what they multiply the rates by is multiplied.

    ValueError for no schedule and schedules of different optimizers.

    >>> import tinygrad_course as tg
    >>> from tinygrad_course.optim.lr_scheduler import ConstantLR, ExponentialLR
    >>> optimizer = tg.optim.SGD([tg.ones(1)], lr=1.)
    >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.5)]
    >>> schedule = ChainedScheduler(parts)
    >>> optimizer.step(); schedule.step(); schedule.get_last_lr()
    [0.25]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got 0"
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._require_one_optimizer(optimizer, schedulers)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = [copied(rate) for rate in self._current()]

    def step(self) -> None:  # type: ignore[override]
        """Goes to the next epoch in all of them."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = [copied(rate) for rate in self._current()]
