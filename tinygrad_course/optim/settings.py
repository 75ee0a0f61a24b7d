"""Settings of optimizers: which values are refused, with PyTorch's classes of exceptions.

Every optimizer checks its own in its constructor; what concerns all of them, the choice between
implementations of one step, is checked once in `Optimizer`. A rate or a beta may be a tensor of one
element. Lesson 14.
"""

from __future__ import annotations

from typing import Any

from ..autograd.variable import Tensor

NAMES = {"lr": "learning rate", "eps": "epsilon value", "momentum": "momentum value"}


class Required:
    """The default of a setting that every group must bring."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = Required()


def require_at_least_zero(**settings: Any) -> None:
    """ValueError for a setting below zero (or nan), and for a learning rate of several elements."""
    for name, value in settings.items():
        if name == "lr":
            require_one_element(value)
        if not value >= 0:
            raise ValueError(
                f"Invalid {NAMES.get(name, f'{name} value')}: {value}, it must be 0 or more"
            )


def require_one_element(lr: Any) -> None:
    """ValueError for a learning rate that is a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, got shape {tuple(lr.shape)}")


def require_betas(betas: Any) -> None:
    """ValueError unless both decay rates of the running means are in [0, 1)."""
    for i in (0, 1):
        if not 0 <= betas[i] < 1:
            raise ValueError(
                f"Invalid beta parameter at index {i}: {betas[i]}, it must be in [0, 1)"
            )


def require_one_way(defaults: dict[str, Any]) -> None:
    """Refuses what only another implementation of the step could do.

    `foreach` and `fused` name PyTorch's faster ways to the same numbers: they are taken and there
    is one way. `capturable` and `differentiable` promise more than numbers.
    """
    if defaults.get("fused") and defaults.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`: choose one of them")
    if defaults.get("fused") and defaults.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together: choose one of them")
    for name in ("capturable", "differentiable"):
        if defaults.get(name):
            raise NotImplementedError(
                f"{name}=True is not implemented: a step runs on plain arrays, at once and "
                "unrecorded"
            )


def require_tensors_alike(lr: Any, betas: Any, foreach: bool) -> None:
    """ValueError for one beta that is a tensor beside one that is none, and, as in PyTorch, for
    tensors with foreach=True."""
    tensors = [isinstance(beta, Tensor) for beta in betas]
    if any(tensors) and not all(tensors):
        raise ValueError(f"betas must be either both floats or both Tensors, got {betas}")
    if foreach and (any(tensors) or isinstance(lr, Tensor)):
        raise ValueError(
            "lr or betas as a Tensor is not supported for capturable=False and foreach=True: "
            "leave foreach out"
        )
