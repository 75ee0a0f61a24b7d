"""Grad mode: whether operations are being recorded, one switch per thread.

`no_grad`, `enable_grad`, `set_grad_enabled` and `inference_mode` work as context managers and as
decorators. This module knows nothing of tensors; the registry and the engine read `mode.enabled`.
Lesson 05.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(threading.local):
    """One per thread, made when the thread runs its first operation."""

    def __init__(self) -> None:
        self.enabled = True
        # PyTorch computes 1/0 = inf and 0/0 = nan without a word. NumPy would warn at each, and
        # keeps that setting per thread too.
        np.seterr(all="ignore")


mode = _Mode()


class _Switch:
    """Sets the mode on entry and puts the former one back on exit, also around each call of a
    decorated function."""

    def __init__(self, enabled: bool) -> None:
        self._target = enabled
        self._former: list[bool] = []  # a stack: one object may be entered again inside itself

    def __enter__(self) -> None:
        self._former.append(mode.enabled)
        mode.enabled = self._target

    def __exit__(self, *exc_info: object) -> None:
        mode.enabled = self._former.pop()

    def __call__(self, function: F) -> F:
        target = self._target
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any) -> Any:
                # Only while the generator's own code runs: between two values the caller's mode
                # holds.
                with _Switch(target):
                    iterator = function(*args, **kwargs)
                while True:
                    with _Switch(target):
                        try:
                            value = next(iterator)
                        except StopIteration as stop:
                            return stop.value
                    yield value

            return generator  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _Switch(target):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(_Switch):
    """Nothing is recorded inside: results don't require gradients (torch.no_grad).

    >>> import tinygrad_course as tg
    >>> with tg.no_grad(): (tg.ones(2, requires_grad=True) * 2).requires_grad
    False
    """

    def __new__(cls, function: Any = None) -> Any:  # @no_grad, without (), is called with one
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(False)


class inference_mode(_Switch):
    """As `no_grad`; `inference_mode(False)` records (torch.inference_mode)."""

    def __new__(cls, mode: Any = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)


class enable_grad(_Switch):
    """Records inside, also within a `no_grad` block (torch.enable_grad)."""

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Switch):
    """Switches recording on or off at once; as a context manager, for the block only
    (torch.set_grad_enabled)."""

    def __init__(self, mode_: bool) -> None:
        super().__init__(bool(mode_))
        self._before = mode.enabled
        mode.enabled = self._target

    def __enter__(self) -> None:
        self._former.append(self._before)
        mode.enabled = self._target

    def __call__(self, function: F) -> F:
        mode.enabled = (
            self._before
        )  # used as a decorator: the switch belongs to the function's calls
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread now."""
    return mode.enabled
