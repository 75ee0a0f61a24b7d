"""Operations that run where their tensors are, on machines with several CUDA devices.

CuPy computes on one device per thread, PyTorch on that of the operands. With one GPU these are the
same; from the first use of another one on, CuPy is told the operands' device before each operation,
forward and backward. What "cuda" without a number means does not change with that. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..device import elsewhere, go_to
from .node import Node
from .watch import OpHook, watch, watching


class FollowDevices(OpHook):
    """Lets CuPy compute on the device of the arrays that meet in an operation."""

    def before_forward(self, op: type[Node], args: tuple[Any, ...]) -> None:
        _follow(args)

    def before_backward(self, node: Node, grads: tuple[Any, ...]) -> None:
        _follow(grads)

    def after_backward(self, node: Node, grads: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        _follow(results)  # which the engine may add to others


def follow_devices() -> None:
    """From now on operations run where their tensors are."""
    if not any(isinstance(hook, FollowDevices) for hook in watching):
        watch(FollowDevices())


def _follow(values: Iterable[Any]) -> None:
    for value in values:
        array = getattr(value, "_array", value)
        if type(array) is not np.ndarray and hasattr(array, "strides"):
            go_to(array)
            return


elsewhere.append(follow_devices)
