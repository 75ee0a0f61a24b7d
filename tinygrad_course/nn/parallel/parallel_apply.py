"""Runs several modules at the same time, each in a thread of its own.

NumPy and CuPy let other threads run while they compute; a GPU has its work handed over and computes
on its own. An error in a thread is raised again where the threads were started. Lesson 16.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Sequence
from typing import Any

from ...autograd.mode import is_grad_enabled, set_grad_enabled
from ..module import Module
from .reducer import tensors_in


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """modules[i](*inputs[i], **kwargs_tup[i]) for all i; an input that is no tuple is the only one.

    Operations run where their inputs are; `devices` are named in errors. An error of a module has
    its class and tells which replica it was. AssertionError for lists of different lengths.

    >>> import tinygrad_course as tg
    >>> parallel_apply([tg.nn.Identity(), tg.nn.ReLU()], [tg.ones(1), (-tg.ones(1),)])
    [tensor([1.]), tensor([0.])]
    """
    number = len(modules)
    kwargs_tup = [{}] * number if kwargs_tup is None else kwargs_tup
    for what, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != number:
            raise AssertionError(
                f"The number of modules {number} is not equal to the number of {what} {len(given)}"
            )
    results: list[Any] = [None] * number
    failed: dict[int, Exception] = {}
    grad = is_grad_enabled()

    def run(i: int) -> None:
        args = inputs[i] if isinstance(inputs[i], tuple | list) else (inputs[i],)
        try:
            with set_grad_enabled(grad):  # the switch is one per thread
                results[i] = modules[i](*args, **kwargs_tup[i])
        except Exception as error:
            found = next(tensors_in([args, kwargs_tup[i]]), None)
            device = devices[i] if devices is not None else getattr(found, "device", None)
            failed[i] = _told(error, f"replica {i} on device {device}")

    threads = [threading.Thread(target=run, args=(i,)) for i in range(number)]
    if number == 1:
        run(0)
    else:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failed:
        first = failed[min(failed)]
        raise first from first.__cause__
    return results


def _told(error: Exception, where: str) -> Exception:
    """An error of the same class that says where it happened."""
    kind = type(error)
    text = (
        f"Caught {kind.__name__} in {where}.\nOriginal {''.join(traceback.format_exception(error))}"
    )
    try:
        told = kind(text)
    except TypeError:  # its class wants other arguments
        told = RuntimeError(text)
    told.__cause__ = error
    return told
