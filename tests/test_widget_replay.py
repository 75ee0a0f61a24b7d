"""GraphView's recorded pass: the order and numbers of the engine, and what can go wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from course.widget import GraphView
from course.widget.replay import Replay
from tests.graphs import leaf, program, rows
from tinygrad_course import viz


def test_adjoints_are_the_engines() -> None:
    y, names = program()
    graph = viz.trace(y, names)
    replay = Replay(graph)
    last = len(replay.steps)
    inner = [names[name] for name in ("x", "w", "h")]
    for name, expected in zip(("x", "w", "h"), tg.autograd.grad(y, inner), strict=True):
        (node,) = (node for node in graph.nodes if node.name == name)
        np.testing.assert_array_equal(replay.adjoint(node.id, last)[0], expected.numpy())


def test_adjoints_are_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch's gradients are compared")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, -1.0], requires_grad=True)
    h = x * w
    h.retain_grad()
    (h * h + h * x).sum().backward()
    y, names = program()
    view = GraphView(y, names)
    view.step = view.last
    for name, expected in (("x", x.grad), ("w", w.grad), ("h", h.grad)):
        view.selected = name
        shown = [
            float(v) for v in re.findall(r"-?[\d.]+", rows(view)[f"gradient at step {view.last}"])
        ]
        assert shown == expected.tolist()


def test_order_is_that_of_backward() -> None:
    y, names = program()
    graph = viz.trace(y, names)
    order = [key for step in Replay(graph).steps[1:] for key in step.nodes]
    really: list[str] = []
    for node in graph.nodes:
        if node.function is not None:
            node.function.register_prehook(lambda grads, key=node.id: really.append(key))
    y.backward()
    assert order == really and len(order) == len(graph.nodes) - 1


def test_running_sums_add_up_message_by_message() -> None:
    y, names = program()
    graph = viz.trace(y, names)
    replay = Replay(graph)
    for node in graph.nodes:
        if node.kind == "output":
            continue
        total = np.zeros(node.shapes[0], dtype=np.float32)
        for step in range(1, len(replay.steps) + 1):
            total = total + sum(m.value for m in replay.steps[step - 1].sent if m.target == node.id)
            for value in replay.adjoint(node.id, step).values():
                np.testing.assert_allclose(value, total)
        assert len(replay.arrivals(node.id, len(replay.steps))) == replay.expected[node.id]


def test_learners_gradients_and_buffers_stay() -> None:
    y, names = program()
    x, h = names["x"], names["h"]
    h.retain_grad()
    y.backward(retain_graph=True)
    before = x.grad.tolist(), h.grad.tolist()
    mine = x.grad
    view = GraphView(y, names)
    view.step = view.last
    assert x.grad is mine and (x.grad.tolist(), h.grad.tolist()) == before
    y.backward()  # not freed; and retain_grad still works
    assert x.grad.tolist() == [2 * g for g in before[0]]
    assert h.grad.tolist() == [2 * g for g in before[1]]


def test_hooks_of_the_view_are_gone_afterwards() -> None:
    y, names = program()
    view = GraphView(y, names)
    steps = view.last
    y.backward()
    assert len(view._replay.steps) == steps


def test_learners_hook_is_seen_to_change_the_gradient() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2
    h.register_hook(lambda grad: grad * 10)
    view = GraphView(h.sum(), {"x": x, "h": h})
    view.selected, view.step = "x", view.last
    assert rows(view)[f"gradient at step {view.last}"] == "[20, 20]"


def test_own_hook_survives_the_recording() -> None:
    x = leaf(1.0)
    calls: list[float] = []
    x.register_hook(lambda grad: calls.append(grad.item()))
    y = (x * 3).sum()
    GraphView(y)
    assert calls == [3.0]
    y.backward()
    assert calls == [3.0, 3.0]


# ---------------------------------------------------------------- when nothing can run


def test_freed_buffers_end_the_pass_at_the_node_that_misses_them() -> None:
    y, names = program()
    y.backward()
    view = GraphView(y, names)
    assert "cannot run to its end" in view.status and "retain_graph=True" in view.status
    view.step = view.last
    (failed,) = [key for key, mark in view.marks.items() if mark == "failed"]
    assert view.graph[failed].op == "MulBackward0" and "fails on the gradient" in view.status
    view.selected = failed
    assert rows(view)["saved for backward"] == "freed"


def test_vector_without_gradient_is_explained() -> None:
    view = GraphView(leaf(1.0, 2.0) * 2)
    assert view.last == 0 and "GraphView(out, gradient=...)" in view.note


def test_vector_with_gradient() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView(x * x, {"x": x}, gradient=tg.tensor([1.0, 10.0]))
    view.selected, view.step = "x", view.last
    assert rows(view)[f"gradient at step {view.last}"] == "[2, 40]"


def test_wrong_gradient_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"shape \(3,\) and output has \(2,\)"):
        GraphView(leaf(1.0, 2.0) * 2, gradient=tg.ones(3))
    with pytest.raises(TypeError, match="gradient must be a Tensor, not float"):
        GraphView(leaf(1.0, 2.0) * 2, gradient=1.0)
    with pytest.raises(RuntimeError, match="1 results need as many gradients, not 2"):
        GraphView(leaf(1.0), gradient=(tg.ones(1), tg.ones(1)))


def test_result_without_history() -> None:
    view = GraphView(tg.ones(2))
    assert view.last == 0 and "requires a gradient" in view.note


def test_several_results_start_together() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView(((x * 2).sum(), (x * 3).sum()), {"x": x})
    view.step = 1
    assert "output 1 and output 2" in view.status
    view.selected, view.step = "x", view.last
    assert rows(view)[f"gradient at step {view.last}"] == "[5, 5]"


# ---------------------------------------------------------------- failures


def test_a_failed_forward_is_shown() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError), viz.record() as tape:
        h = x * 2
        h @ tg.ones(3)
    view = GraphView(tape, {"x": x})
    assert view.last == 0 and "failed" in view.marks.values() and "RuntimeError" in view.status
    view.selected = view.graph.failed
    assert "RuntimeError" in rows(view)["error"] and rows(view)["line"].endswith("h @ tg.ones(3)")


class Broken(tg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: tg.Tensor) -> tg.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: tg.Tensor) -> tg.Tensor:
        raise ValueError("a mistake of the learner's")


def test_a_failing_backward_is_shown_up_to_the_node() -> None:
    x = leaf(1.0)
    view = GraphView(Broken.apply(x).sum(), {"x": x})
    view.step = view.last
    assert "BrokenBackward fails" in view.status and "a mistake of the learner's" in view.status
    assert list(view.marks.values()) == ["done", "done", "failed"]


def test_clashes_are_told() -> None:
    x = leaf(1.0, 2.0)
    with viz.record():
        h = x * 2
        y = (h * h).sum()
        h += 1
    view = GraphView(y, {"x": x})
    (told,) = view.clashes
    assert "MulBackward0 saved (2,) at version 0, it is at 1 now" in told and "h += 1" in told
