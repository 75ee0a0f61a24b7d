"""What all losses share: the three ways to reduce one number per element to the loss.

Each loss is in a file of its kind: `loss_regression` (numbers), `loss_classes`, `loss_likelihood`
(probabilities), `loss_margin` and `loss_pairs` (scores and distances held apart), `loss_ctc`
(sequences). Here are the reductions and the checks that they have in common. Lesson 13.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.mode import mode
from ..shape import broadcast_shapes
from .reduce import mean, total

REDUCTIONS = ("none", "mean", "sum")


def check_reduction(reduction: str) -> None:
    """ValueError for another word than 'none', 'mean' and 'sum'."""
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"{reduction} is not a valid value for reduction: choose 'none', 'mean' or 'sum'"
        )


def reduced(losses: Any, reduction: str) -> Any:
    """The losses as they are, their mean or their sum: arrays and Tensors alike."""
    if reduction == "none":
        return losses
    return mean(losses) if reduction == "mean" else total(losses)


def shared(g: Any, x: Any, reduction: str) -> Any:
    """The gradient of each loss, given that of what `reduced` made of losses of the shape of x."""
    return g / max(math.prod(x.shape), 1) if reduction == "mean" else g


def broadcast(function: str, input: Any, target: Any, stacklevel: int = 4) -> tuple[Any, Any]:
    """Both in their common shape, with a warning when they had different ones."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"{function}: the target size {target.shape} is different from the input size "
        f"{input.shape}; both are broadcast, which is rarely meant: compare tensors of one shape",
        UserWarning,
        stacklevel=stacklevel,
    )
    shape = broadcast_shapes(input.shape, target.shape)
    return input.expand(shape), target.expand(shape)


def refuse_gradient(function: str, **arguments: Any) -> None:
    """RuntimeError when a gradient is asked for an argument for which there is none."""
    for name, x in arguments.items():
        if x is not None and x.requires_grad and mode.enabled:
            raise RuntimeError(
                f"{function} is not differentiable with respect to argument {name!r}: pass "
                f"{name}.detach()"
            )


def numbered(body: Callable[..., Any]) -> Callable[..., Any]:
    """The form of a loss at the top of the package, where the reduction is a number: 1 for 'mean',
    2 for 'sum', and all others, also where it is left out as in PyTorch's, for 'none'."""
    code = body.__code__
    place = code.co_varnames.index("reduction")

    @wraps(body)
    def call(*args: Any, **params: Any) -> Any:
        if len(args) > place:
            args = (*args[:place], _word(args[place], body), *args[place + 1 :])
        else:
            params["reduction"] = _word(params.get("reduction", 0), body)
        return body(*args, **params)

    return call


def _word(number: Any, body: Callable[..., Any]) -> str:
    if not isinstance(number, int):
        raise TypeError(
            f"{body.__name__}(): argument 'reduction' must be int, not {type(number).__name__}: "
            "words are for nn.functional"
        )
    return REDUCTIONS[number] if number in (1, 2) else "none"
