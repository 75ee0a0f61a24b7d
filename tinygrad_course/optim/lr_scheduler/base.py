"""A schedule: epoch by epoch, it writes new learning rates into an optimizer's groups.

Most give the next rate from the one that is there, so that several schedules can work on one
optimizer, and a closed form for an epoch that is named. It knows groups and their settings; nothing
of parameters or gradients. Lesson 14.
"""

from __future__ import annotations

import types
import warnings
from typing import Any

from ...autograd.variable import Tensor
from ..optimizer import Group, Optimizer

Rates = list[Any]  # per group, a float or a tensor of one element


class LRScheduler:
    """Base of the schedules. `step()` after each epoch (or batch) sets the rates of the next one;
    the constructor sets the first ones.

    A subclass gives the rates of epoch `last_epoch` by `_rates()`, or by `get_lr()` as in PyTorch;
    `base_lrs` are the rates at the start, which groups keep as 'initial_lr'. A `last_epoch` of 0 or
    more goes on from there. TypeError for what is no optimizer, KeyError for groups without
    'initial_lr' to go on from.
    """

    optimizer: Optimizer
    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    f"scheduler with last_epoch {last_epoch}: load the optimizer's state dict first"
                )
        self.base_lrs: Rates = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.optimizer = optimizer
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    # --- rates ------------------------------------------------------------------------------------

    def get_last_lr(self) -> Rates:
        """The rates set last, per group."""
        return self._last_lr

    def get_lr(self) -> Rates:
        """The rates for `last_epoch`, given those of the epoch before; for use within `step`."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`: get_lr() computes the rates that would come next.",
                UserWarning,
                stacklevel=2,
            )
        return self._rates()

    def _rates(self) -> Rates:
        raise NotImplementedError(f"{type(self).__name__} does not say how the rate changes")

    def _current(self) -> Rates:
        return [group["lr"] for group in self.optimizer.param_groups]

    # --- stepping ---------------------------------------------------------------------------------

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch, or, as in old programs, to `epoch` (with a warning)."""
        if self._step_count == 1 and not self.optimizer._has_stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: in this order "
                "the first learning rate is never used. Call `optimizer.step()` first.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = getattr(self, "_get_closed_form_lr", self.get_lr)
            self._set(self.get_lr() if epoch is None else closed())
        finally:
            self._get_lr_called_within_step = False

    def _set(self, rates: Rates) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_setting(group, "lr", rate)
        self._last_lr = [copied(rate) for rate in self._current()]

    # --- state ------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that it knows, but for the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` returned; the rates in the optimizer come with the
        optimizer's own state."""
        vars(self).update(state_dict)


def require_optimizer(optimizer: Any) -> None:
    """TypeError unless `optimizer` is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(rate: Any) -> Any:
    """The rate itself, or a copy of the tensor, which changes with the group's."""
    return rate.clone() if isinstance(rate, Tensor) else rate


def set_setting(group: Group, name: str, value: Any) -> None:
    """Writes a setting; one that is a tensor stays that tensor."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def attributes_of(function: Any) -> dict[str, Any] | None:
    """What a state dict keeps of a function that the user gave: the attributes of an object, of a
    plain function nothing."""
    if function is None or isinstance(function, types.FunctionType):
        return None
    return dict(vars(function))


def per_group(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """`value` for every group, or the list of a value for each; ValueError for another number of
    them."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
            f"values, param_groups has {groups}."
        )
    return list(value)


def warn_of_epoch() -> None:
    """The warning for the argument `epoch` of `step`."""
    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
        "possible. Please use `scheduler.step()` to step the scheduler.",
        UserWarning,
        stacklevel=3,
    )
