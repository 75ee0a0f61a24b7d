"""Anomaly mode: which line of the forward pass is behind an error, or a nan, of the backward pass?

A hook on all operations notes at each recorded one the line of the caller's code, and looks at each
gradient as it is made. When the mode is off nothing of it runs. Knows nodes and their hooks.
Lesson 08.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..device import xp_of
from .node import Node, recorded_at
from .watch import OpHook, unwatch, watch, watching

if TYPE_CHECKING:
    from traceback import FrameSummary

_ENGINE = os.path.dirname(os.path.dirname(__file__)) + os.sep


class _Detector(OpHook):
    """Notes where operations are recorded; raises where a gradient holds a nan."""

    check_nan = True

    def after_forward(
        self, op: type[Node], args: tuple[Any, ...], results: tuple[Any, ...], node: Node | None
    ) -> None:
        if node is not None:
            node.metadata["traceback_"] = users_line()

    def after_backward(self, node: Node, grads: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        for place, grad in enumerate(results if self.check_nan else ()):
            array = getattr(grad, "_array", grad)
            if array is not None and bool(xp_of(array).isnan(array).any()):
                raise RuntimeError(
                    f"Function '{node.name()}' returned nan values in its {place}th output: the "
                    f"gradient of its input {place}. {recorded_at(node)}"
                )

    def failed_backward(self, node: Node, error: Exception) -> None:
        line = recorded_at(node)
        if line and line not in str(error):
            error.add_note(line)


_detector = _Detector()


def users_frame(frame: FrameType) -> bool:
    """Whether a frame runs code that is none of the engine's."""
    return not frame.f_code.co_filename.startswith(_ENGINE)


def users_line() -> FrameSummary | None:
    """The innermost line that runs now and is none of the engine's."""
    from traceback import FrameSummary

    frame = sys._getframe(1)
    while not users_frame(frame):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    code = frame.f_code
    # The text of the line is read only when an error shows it.
    return FrameSummary(code.co_filename, frame.f_lineno, code.co_name, lookup_line=False)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _detector in watching


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for nan."""
    return _detector.check_nan


class set_detect_anomaly:
    """Switches anomaly mode on or off at once, for all threads; as a context manager, for the block
    only (torch.autograd.set_detect_anomaly).

    While it is on, an error in a backward pass shows the line of the forward pass that recorded the
    operation, and a nan among the gradients is a RuntimeError, unless `check_nan` is off. It makes
    everything slower.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), _detector.check_nan
        _set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        _set(*self._before)


class detect_anomaly(set_detect_anomaly):
    """Anomaly mode for a block: see `set_detect_anomaly` (torch.autograd.detect_anomaly).

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([0.], requires_grad=True)
    >>> with detect_anomaly():
    ...     (x.sqrt() * 0).backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output: ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)


def _set(mode: bool, check_nan: bool) -> None:
    if mode and not is_anomaly_enabled():
        watch(_detector)
    elif not mode and is_anomaly_enabled():
        unwatch(_detector)
    _detector.check_nan = check_nan
