"""`@both`: a test that runs one short program in both engines and compares all that it returns.

The program gets the library as its argument and returns what it saw: numbers, strings, tensors,
lists of them. Exceptions are seen through `attempt`, by their class. `@refused(message)` is for a
program that both engines refuse.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg


def attempt(action: Callable[[], Any]) -> Any:
    """What the action returns, or the name of the class of the exception that it raises."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__


def seen(value: Any) -> Any:
    """A tensor as plain data: shape, dtype, stride, whether it requires grad, values."""
    if isinstance(value, list | tuple):
        return [seen(v) for v in value]
    if isinstance(value, dict):
        return {k: seen(v) for k, v in value.items()}
    if not hasattr(value, "requires_grad"):
        return value.item() if isinstance(value, np.generic) else value
    numbers = (
        value.detach().numpy() if isinstance(value, tg.Tensor) else value.detach().numpy(force=True)
    )
    stride = value.stride() if value.numel() else None
    return [tuple(value.shape), str(value.dtype), stride, value.requires_grad, numbers.tolist()]


def same(a: Any, b: Any) -> bool:
    """Whether two observations agree: floats to rounding, all else exactly."""
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-6, atol=1e-8, equal_nan=True))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and bool(a == b)


def both(program: Callable[[Any], Any]) -> Callable[[], None]:
    """The test that `program` sees the same in both engines."""

    @functools.wraps(program)
    def test() -> None:
        torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = seen(program(tg)), seen(program(torch))
        if not same(ours, theirs):
            parts = enumerate(zip(ours, theirs, strict=False)) if isinstance(ours, list) else ()
            wrong = [f"[{i}] ours {a}, PyTorch's {b}" for i, (a, b) in parts if not same(a, b)]
            pytest.fail("\n".join(wrong or [f"ours {ours}, PyTorch's {theirs}"]))

    del test.__wrapped__  # or pytest would look for a fixture called `lib`
    return test


def refused(message: str) -> Callable[[Callable[[Any], Any]], Callable[[], None]]:
    """Makes the test that a program raises the same class of exception in both engines, ours with
    `message`, a regular expression, in its text."""

    def decorate(program: Callable[[Any], Any]) -> Callable[[], None]:
        @functools.wraps(program)
        def test() -> None:
            torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
            errors = []
            for lib in (torch, tg):
                with warnings.catch_warnings(), pytest.raises(Exception) as caught:
                    warnings.simplefilter("ignore")
                    program(lib)
                errors.append(caught.value)
            theirs, ours = errors
            assert type(ours).__name__ == type(theirs).__name__, f"{ours!r}, {theirs!r}"
            assert re.search(message, str(ours)), str(ours)

        del test.__wrapped__
        return test

    return decorate
