"""Sample optimizers and schedules: their options, and the problem on which they are tried.

`BOWLS` are rows of options for each optimizer, `SCHEDULES` of arguments for each schedule; like the
rows in `samples` they can be made in either library, and on any device.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

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
