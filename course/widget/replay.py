"""One backward pass, recorded: which node fired when, what had reached it and what it sent on.

The engine itself runs, through `autograd.grad` with the graph retained, and hooks on every node
write down what passes. So order and numbers are the engine's, while the learner's `.grad` and the
saved buffers stay as they were. This module knows no notebook: `story` says what was recorded.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tinygrad_course as tg
from tinygrad_course.viz import Graph, Node, error_text

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """A gradient sent to output number `output` of node `target`; None where there is none."""

    target: str
    output: int
    value: Array | None


@dataclass(frozen=True, slots=True)
class Step:
    """The nodes that fired (several only for results), on what, and what they sent."""

    nodes: tuple[str, ...]
    received: tuple[Array | None, ...]
    sent: list[Message] = field(default_factory=list)


class Replay:
    """The steps of one backward pass through `graph`, and what holds after each of them.

    Step 1 is the arrival of `gradient` at the results (1 for a result of one element); after it
    comes one step for every node that fires, a leaf's when its sum is complete. Where nothing could
    run there are no steps and `note` says why. RuntimeError for a `gradient` that doesn't fit.
    """

    def __init__(self, graph: Graph, gradient: Any = None) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.note = self.failed = self.error = ""
        self.hooks = {node.id: node.hooks for node in graph.nodes if node.hooks}
        self.fired: dict[str, int] = {}  # by node id: the number of the step in which it fires
        self.mail: dict[str, list[tuple[int, Message]]] = {}  # by node id: (step, what came)
        self.expected = Counter(edge.source for edge in graph.edges)
        self._ids = {node.function: node.id for node in graph.nodes if node.function is not None}
        results = [n for n in graph.nodes if n.kind == "output" and n.requires_grad]
        if graph.failed and not results:
            self.note = f"{graph[graph.failed].title}. {graph.error}"
            return
        if not results:
            self.note = "No leaf here requires a gradient, so no operation was recorded."
            return
        seeds = _seeds(results, gradient)
        if seeds is None:
            self.note = (
                "backward() needs to know how much each element of the result counts: "
                "GraphView(out, gradient=...), a tensor of the result's shape."
            )
            return
        with _Failing() as failing:
            try:
                self._run(results, seeds)
            except Exception as error:  # whatever a formula or a hook of the learner's raises
                self.failed = self._ids.get(failing.node, "") if failing.node else ""
                self.error = error_text(error)
        for when, step in enumerate(self.steps, 1):
            if self.failed not in step.nodes:
                self.fired |= dict.fromkeys(step.nodes, when)
            for message in step.sent:
                self.mail.setdefault(message.target, []).append((when, message))

    def arrivals(self, key: str, step: int) -> list[Message]:
        """What has been sent to node `key` in the first `step` steps, in order."""
        return [message for when, message in self.mail.get(key, ()) if when <= step]

    def adjoint(self, key: str, step: int) -> dict[int, Array]:
        """The running gradient of node `key` after `step` steps, by number of its output."""
        fired = self.fired.get(key, step + 1)
        if fired <= step:  # what it really received: a hook may have changed the sum
            done = self.steps[fired - 1]
            several = len(done.nodes) > 1
            received = done.received[done.nodes.index(key) :][:1] if several else done.received
            return {output: value for output, value in enumerate(received) if value is not None}
        sums: dict[int, Array] = {}
        for message in self.arrivals(key, step):
            if message.value is not None:
                have = sums.get(message.output)
                sums[message.output] = message.value if have is None else have + message.value
        return sums

    # ------------------------------------------------------------ recording

    def _run(self, results: list[Node], seeds: list[tg.Tensor]) -> None:
        into = self.graph.incoming()
        start = Step(tuple(n.id for n in results), tuple(_copy(seed) for seed in seeds))
        for node, value in zip(results, start.received, strict=True):
            edge = into[node.id][0]
            start.sent.append(Message(edge.source, edge.output, value))
        self.steps.append(start)
        with contextlib.ExitStack() as stack:
            for node in self.graph.nodes:
                if node.function is None:
                    continue
                function = node.function
                if node.kind == "leaf":  # a node whose gradient is only asked for doesn't run
                    on_leaf = self._on_leaf(node.id)
                    stack.enter_context(_tensor(node).register_hook(on_leaf))
                else:
                    stack.enter_context(function.register_prehook(self._on_fire(node.id)))
                    stack.enter_context(function.register_hook(self._on_sent(function)))
                stack.enter_context(_retained_grads_untouched(function))
            tg.autograd.grad(
                [_tensor(node) for node in results],
                [_tensor(node) for node in self.graph.nodes if node.kind == "leaf"],
                seeds,
                retain_graph=True,
                allow_unused=True,
            )

    def _on_leaf(self, key: str) -> Any:
        def hook(grad: Any) -> None:
            self.steps.append(Step((key,), (_copy(grad),)))

        return hook

    def _on_fire(self, key: str) -> Any:
        def hook(grad_outputs: tuple[Any, ...]) -> None:
            self.steps.append(Step((key,), tuple(map(_copy, grad_outputs))))

        return hook

    def _on_sent(self, function: Any) -> Any:
        def hook(grad_inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> None:
            for (source, output), grad in zip(function.next_functions, grad_inputs, strict=True):
                if source is not None:
                    self.steps[-1].sent.append(Message(self._ids[source], output, _copy(grad)))

        return hook


class _Failing(tg.autograd.OpHook):
    """Remembers the node whose backward raised an error."""

    node: Any = None

    def failed_backward(self, node: Any, error: Exception) -> None:
        self.node = node


@contextlib.contextmanager
def _retained_grads_untouched(function: Any) -> Iterator[None]:
    """`retain_grad()` makes every pass write to `.grad` of an intermediate; not this pass."""
    hooks = function.hooks
    retained, hooks.retain = hooks.retain, {}
    try:
        yield
    finally:
        hooks.retain = retained


def _seeds(results: list[Node], gradient: Any) -> list[Any] | None:
    """The gradient of each result; None when one is missing that can't be guessed."""
    seeds = list(gradient) if isinstance(gradient, tuple | list) else [gradient] * len(results)
    if len(seeds) != len(results):
        raise RuntimeError(f"{len(results)} results need as many gradients, not {len(seeds)}")
    for number, (node, seed) in enumerate(zip(results, seeds, strict=True)):
        if seed is None:
            if _tensor(node).numel() != 1:
                return None
            seeds[number] = tg.ones_like(_tensor(node))
        elif not isinstance(seed, tg.Tensor):
            raise TypeError(f"gradient must be a Tensor, not {type(seed).__name__}")
        elif tuple(seed.shape) != node.shapes[0]:
            raise RuntimeError(
                f"gradient has shape {tuple(seed.shape)} and {node.name} has {node.shapes[0]}: "
                "it says how much each element of the result counts, so it has the result's shape"
            )
    return seeds


def _tensor(node: Node) -> Any:
    """The tensor of a leaf or a result, which have one."""
    return node.tensor


def _copy(grad: Any) -> Array | None:
    return None if grad is None else np.array(grad.numpy(force=True))
