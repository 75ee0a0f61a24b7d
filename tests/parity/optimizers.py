"""Optimizers and schedules in both libraries: where the parameters and the rates go.

`optimizers()` takes 20 steps in float64 with each row of options, the second half from a state dict
that came from the other library; `schedules()` compares the rates of 40 steps in the same way. Both
yield a `Verdict` per row, as the checks of operations do, of the names given or of all.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch

import tinygrad_course as tg

from ..optimizers import (
    BOWLS,
    SCHEDULES,
    STEPS,
    advance,
    groups_of,
    parameters,
    schedule_of,
    take_steps,
)
from .checks import Verdict


def converted(value: Any, lib: ModuleType) -> Any:
    """A state dict with its tensors made anew in `lib`."""
    if isinstance(value, dict):
        return type(value)({key: converted(entry, lib) for key, entry in value.items()})
    if isinstance(value, list | tuple):
        return type(value)(converted(entry, lib) for entry in value)
    return lib.tensor(value.detach().numpy()) if hasattr(value, "detach") else value


def optimizer_problem(name: str, options: dict[str, Any], rtol: float) -> str | None:
    """How the two paths differ; they go on with each other's state after half of the steps."""
    half, end = range(STEPS // 2), range(STEPS // 2, STEPS)
    made: dict[Any, Any] = {}
    for lib in (tg, torch):
        ps = parameters(lib)
        optimizer = getattr(lib.optim, name)(ps, **options)
        made[lib] = ps, optimizer, take_steps(optimizer, ps, half)
    paths = []
    for lib, other in ((tg, torch), (torch, tg)):
        ps, _, path = made[lib]
        resumed = getattr(lib.optim, name)(ps, lr=99.0)
        resumed.load_state_dict(converted(copy.deepcopy(made[other][1].state_dict()), lib))
        paths.append(path + take_steps(resumed, ps, end))
    for step, (a, b) in enumerate(zip(*paths, strict=True)):
        if not np.allclose(a, b, rtol=rtol, atol=rtol):
            return f"step {step}: ours {a}, PyTorch's {b}"
    return None


def optimizers(*names: str) -> Iterator[Verdict]:
    """A verdict per optimizer and options."""
    for name in names or BOWLS:
        for options in BOWLS[name]:
            # L-BFGS divides by small differences of gradients, so that rounding errors grow.
            rtol = 1e-5 if name == "LBFGS" else 1e-11
            yield Verdict(f"{name}{options}", optimizer_problem(name, options, rtol))


# --- schedules ------------------------------------------------------------------------------------


def schedule_problem(name: str, args: Any, options: Any, **making: Any) -> str | None:
    """How the rates differ; a state dict from the other library takes over after half of them."""
    made: dict[Any, Any] = {}
    for lib in (tg, torch):
        optimizer = groups_of(lib, **making)
        schedule = schedule_of(lib, name, args, options, optimizer)
        start = [float(rate) for rate in schedule.get_last_lr()]
        made[lib] = optimizer, schedule, [start, *advance(schedule, range(20))]
    paths = []
    for lib, other in ((tg, torch), (torch, tg)):
        optimizer = groups_of(lib, **making)
        schedule = schedule_of(lib, name, args, options, optimizer)
        optimizer.load_state_dict(converted(made[other][0].state_dict(), lib))
        schedule.load_state_dict(converted(made[other][1].state_dict(), lib))
        paths.append(made[lib][2] + advance(schedule, range(20, 40)))
    for step, (a, b) in enumerate(zip(*paths, strict=True)):
        if not np.allclose(a, b, rtol=1e-12, atol=1e-15):
            return f"step {step}: ours {a}, PyTorch's {b}"
    return None


def schedules(*names: str) -> Iterator[Verdict]:
    """A verdict per schedule, options, and kind of momentum or of rate."""
    for name in names or SCHEDULES:
        for args, options in SCHEDULES[name]:
            for making in ({}, {"kind": "Adam"}, {"tensor": True}):
                problem = schedule_problem(name, args, options, **making)
                yield Verdict(f"{name}{args}{options} {making}", problem)
