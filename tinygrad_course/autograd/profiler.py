"""Two tools made of hooks on all operations: a timer and a tracer.

Each is an `OpHook` of some thirty lines, and an example of how to write one. Lesson 08.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from time import perf_counter
from typing import Any

from .node import Node
from .watch import OpHook, op_name


class Timer(OpHook):
    """How often each operation ran, and how long: `seconds[name]` and `calls[name]`, forward under
    the operation's name and backward under its node's; printed as a table, the longest first.

    What an operation calls in turn counts for the inner one alone.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> with Timer() as timer: (x * 2 + x * 3).sum().backward()
    >>> timer.calls["Mul"], timer.calls["MulBackward0"], timer.calls["Add"]
    (2, 2, 1)
    """

    def __init__(self) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.seconds: dict[str, float] = defaultdict(float)
        self._running: list[tuple[Any, float, float]] = []  # what, since when, spent in others

    def _start(self, what: Any) -> None:
        self._running.append((what, perf_counter(), 0.0))

    def _stop(self, what: Any, name: str) -> None:
        while self._running:  # one that raised an error was never stopped
            running, since, elsewhere = self._running.pop()
            if running is what:
                break
        spent = perf_counter() - since
        self.calls[name] += 1
        self.seconds[name] += spent - elsewhere
        if self._running:
            outer, began, others = self._running.pop()
            self._running.append((outer, began, others + spent))

    def before_forward(self, op: type[Node], args: tuple[Any, ...]) -> None:
        self._start(op)

    def after_forward(self, op: type[Node], *rest: Any) -> None:
        self._stop(op, op_name(op))

    def before_backward(self, node: Node, grads: tuple[Any, ...]) -> None:
        self._start(node)

    def after_backward(self, node: Node, *rest: Any) -> None:
        self._stop(node, node.name())

    def __repr__(self) -> str:
        rows = sorted(self.seconds.items(), key=lambda item: -item[1])
        lines = [f"{name:<28}{self.calls[name]:>8}{s * 1e3:>12.3f}" for name, s in rows]
        return "\n".join([f"{'operation':<28}{'calls':>8}{'ms':>12}", *lines])


class Tracer(OpHook):
    """Hands `write` a line for each operation as it runs, with the shapes that go in and come out;
    what an operation calls in turn is indented.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(2, 3, requires_grad=True)
    >>> with Tracer(): (x * 2).sum().backward()
    Mul (2, 3) 2.0 -> (2, 3)
    Sum (2, 3) -> ()
    SumBackward0 () -> (2, 3)
    MulBackward0 (2, 3) -> (2, 3) None
    AccumulateGrad (2, 3)
    """

    def __init__(self, write: Callable[[str], Any] = print) -> None:
        self._write = write
        self._depth = 0

    def _line(self, name: str, given: tuple[Any, ...], made: tuple[Any, ...] = ()) -> None:
        self._depth -= 1
        arrow = ["->"] if made else []
        words = [name, *map(_shape, given), *arrow, *map(_shape, made)]
        self._write("  " * self._depth + " ".join(words))

    def before_forward(self, op: type[Node], args: tuple[Any, ...]) -> None:
        self._depth += 1

    def after_forward(
        self, op: type[Node], args: tuple[Any, ...], results: tuple[Any, ...], node: Node | None
    ) -> None:
        self._line(op_name(op), args, results)

    def failed_forward(self, op: type[Node], error: Exception) -> None:
        self._line(f"{op_name(op)} raised {type(error).__name__}", ())

    def before_backward(self, node: Node, grads: tuple[Any, ...]) -> None:
        self._depth += 1

    def after_backward(self, node: Node, grads: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        self._line(node.name(), grads, results)

    def failed_backward(self, node: Node, error: Exception) -> None:
        self._line(f"{node.name()} raised {type(error).__name__}", ())


def _shape(value: Any) -> str:
    return str(tuple(value.shape)) if hasattr(value, "shape") else repr(value)
