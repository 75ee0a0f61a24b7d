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

from .checks import Verdict

BOWLS = {  # options that most of them know, then their own
    "SGD": [
        {"lr": 0.1},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.5},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.9, "weight_decay": 0.1, "dampening": 0.2, "maximize": True},
    ],
    "Adam": [
        {},
        {"betas": (0.5, 0.9), "eps": 0.1},
        {"weight_decay": 0.1, "amsgrad": True},
        {"weight_decay": 0.1, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "AdamW": [{}, {"weight_decay": 0.3, "amsgrad": True}, {"weight_decay": 0.3, "maximize": True}],
    "Adagrad": [
        {},
        {"lr_decay": 0.1, "eps": 0.1},
        {"weight_decay": 0.1, "initial_accumulator_value": 0.5},
        {"weight_decay": 0.1, "maximize": True},
    ],
    "Adadelta": [{}, {"rho": 0.5, "eps": 1e-3}, {"weight_decay": 0.1, "maximize": True}],
    "RMSprop": [
        {},
        {"alpha": 0.5, "eps": 1e-3},
        {"centered": True},
        {"momentum": 0.9, "weight_decay": 0.1},
        {"momentum": 0.5, "centered": True, "maximize": True},
    ],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (1e-2, 0.2)}, {"maximize": True}],
    "ASGD": [
        {},
        {"lambd": 0.1, "alpha": 0.5, "t0": 4},
        {"weight_decay": 0.1, "t0": 0, "maximize": True},
    ],
    "Adamax": [
        {},
        {"betas": (0.5, 0.9), "eps": 0.1},
        {"weight_decay": 0.1, "maximize": True},
    ],
    "NAdam": [
        {},
        {"betas": (0.5, 0.9), "momentum_decay": 0.1},
        {"weight_decay": 0.1, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "RAdam": [
        {},
        {"betas": (0.5, 0.9), "eps": 0.1},
        {"weight_decay": 0.1, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "LBFGS": [
        {"max_iter": 4},
        {"lr": 0.5, "max_iter": 3, "history_size": 2},
        {"max_iter": 5, "line_search_fn": "strong_wolfe"},
        {"max_iter": 4, "max_eval": 60, "lr": 5.0, "line_search_fn": "strong_wolfe"},
        {"max_iter": 4, "max_eval": 60, "lr": 0.01, "line_search_fn": "strong_wolfe"},
        {"max_iter": 8, "max_eval": 5, "tolerance_grad": 1e-2},
        {"max_iter": 8, "tolerance_change": 1e-2, "line_search_fn": "strong_wolfe"},
    ],
}
STEPS = 20


def parameters(lib: ModuleType, dtype: str = "float64") -> list[Any]:
    """Those to move: a matrix, a vector, a number, nothing at all, and one that takes no part in
    the loss."""
    rng = np.random.default_rng(0)
    shapes: tuple[tuple[int, ...], ...] = ((2, 3), (3,), (), (0, 2), (1,))
    return [lib.nn.Parameter(lib.tensor(rng.standard_normal(s).astype(dtype))) for s in shapes]


def loss_of(ps: list[Any], step: int) -> Any:
    """A valley whose bottom moves, so that steps differ."""
    w, b, c, nothing, _ = ps
    bowl = (w * w).sum() + (w * (step % 3 - 1.0)).sum() + ((b - step) ** 2).sum()
    return (bowl + (c * w.sum() - 1) ** 2 + c**4 + nothing.sum()) / 7


def take_steps(optimizer: Any, ps: list[Any], steps: range) -> list[list[float]]:
    """All numbers of the parameters after each step."""
    path = []
    for step in steps:

        def closure(step: int = step) -> Any:
            optimizer.zero_grad()
            # The Hessian that L-BFGS reads off changes is that of one loss.
            loss = loss_of(ps, 0 if type(optimizer).__name__ == "LBFGS" else step)
            loss.backward()
            return loss

        optimizer.step(closure)
        path.append([x for p in ps for x in p.detach().reshape(-1).tolist()])
    return path


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


class Decay:
    """A function with a state of its own."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, epoch: int) -> float:
        return self.rate**epoch


SCHEDULES: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "LambdaLR": [((lambda e: 0.9**e,), {}), (([Decay(0.8), lambda e: 1 / (1 + e)],), {})],
    "MultiplicativeLR": [((lambda e: 0.95,), {}), (([Decay(0.9), lambda e: 1 / (1 + e)],), {})],
    "StepLR": [((3,), {}), ((7,), {"gamma": 0.5})],
    "MultiStepLR": [(([4, 4, 9],), {}), (([9, 2],), {"gamma": 0.5})],
    "ConstantLR": [((), {}), ((0.5, 9), {})],
    "LinearLR": [((), {}), ((0.1, 0.7, 12), {}), ((1.0, 0.0, 30), {})],
    "ExponentialLR": [((0.9,), {})],
    "PolynomialLR": [((), {}), ((20, 2.0), {})],
    "CosineAnnealingLR": [((10,), {}), ((7,), {"eta_min": 0.01})],
    "CosineAnnealingWarmRestarts": [((5,), {}), ((3, 2), {"eta_min": 0.01})],
    "CyclicLR": [
        ((0.1, 1.0), {"step_size_up": 4}),
        (([0.1, 0.2], [1.0, 2.0], 3, 5), {"mode": "triangular2"}),
        ((0.1, 1.0, 4), {"mode": "exp_range", "gamma": 0.95, "base_momentum": [0.5, 0.6]}),
        ((0.1, 1.0, 4), {"scale_fn": lambda x: 1 / x, "cycle_momentum": False}),
        ((0.1, 1.0, 4), {"scale_fn": lambda x: 0.9**x, "scale_mode": "iterations"}),
    ],
    "OneCycleLR": [
        ((1.0, 50), {}),
        (([1.0, 0.5],), {"epochs": 6, "steps_per_epoch": 8, "anneal_strategy": "linear"}),
        ((1.0, 45), {"three_phase": True, "pct_start": 0.2, "max_momentum": [0.9, 0.8]}),
        ((1.0, 45), {"div_factor": 5.0, "final_div_factor": 10.0, "cycle_momentum": False}),
    ],
    "ReduceLROnPlateau": [
        ((), {"patience": 2}),
        (("max", 0.5), {"patience": 1, "threshold_mode": "abs", "threshold": 0.1}),
        ((), {"patience": 0, "cooldown": 3, "min_lr": [0.01, 0.2]}),
        (("max",), {"patience": 1, "eps": 0.01}),
        (("min",), {"patience": 1, "threshold_mode": "abs", "threshold": 0.3}),
    ],
    "SequentialLR": [(([5], "ConstantLR", "ExponentialLR"), {}), (([4, 9], *["StepLR"] * 3), {})],
    "ChainedScheduler": [
        (("ConstantLR", "ExponentialLR"), {}),
        (("CosineAnnealingLR", "StepLR", "LinearLR"), {}),
    ],
}


def groups_of(lib: ModuleType, kind: str = "SGD", tensor: bool = False) -> Any:
    """An optimizer with two groups and momentum."""
    ps = [lib.nn.Parameter(lib.ones(2, dtype=lib.float64)) for _ in range(2)]
    rates = [lib.tensor(rate, dtype=lib.float64) if tensor else rate for rate in (0.5, 0.3)]
    groups = [{"params": [p], "lr": rate} for p, rate in zip(ps, rates, strict=True)]
    return getattr(lib.optim, kind)(groups, **({"momentum": 0.9} if kind == "SGD" else {}))


def schedule_of(lib: ModuleType, name: str, args: Any, options: Any, optimizer: Any) -> Any:
    """The schedule; the parts of composite ones are given by name."""
    made = lib.optim.lr_scheduler

    def part(name: str) -> Any:
        (args, options), *_ = SCHEDULES[name]
        return getattr(made, name)(optimizer, *args, **options)

    if name == "SequentialLR":
        return made.SequentialLR(optimizer, [part(n) for n in args[1:]], args[0])
    if name == "ChainedScheduler":
        return made.ChainedScheduler([part(n) for n in args])
    return getattr(made, name)(optimizer, *args, **options)


def advance(schedule: Any, steps: range) -> list[Any]:
    """After each step: the rates, what `get_last_lr` says, and the momenta."""
    path = []
    schedule.optimizer.step()
    for step in steps:
        bumpy = (1 / (1 + step), 1.0 + step % 3)[step // 5 % 2]
        schedule.step(*[bumpy] * (type(schedule).__name__ == "ReduceLROnPlateau"))
        groups = schedule.optimizer.param_groups
        momenta = [g["betas"][0] if "betas" in g else g["momentum"] for g in groups]
        path.append([*(g["lr"] for g in groups), *schedule.get_last_lr(), *momenta])
    return [[float(x) for x in row] for row in path]


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
