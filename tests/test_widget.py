"""GraphView without a browser: the recorded pass, the words of each step, the stored fallback."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import traitlets

import tinygrad_course as tg
from course.widget import GraphView
from course.widget.replay import Replay
from course.widget.view import summary
from tinygrad_course import viz


def leaf(*values: float) -> tg.Tensor:
    return tg.tensor(list(values), requires_grad=True)


def program() -> tuple[tg.Tensor, dict[str, tg.Tensor]]:
    """x is used twice and h three times, so gradients meet at both."""
    x, w = leaf(1.0, 2.0), leaf(3.0, -1.0)
    h = x * w
    y = (h * h + h * x).sum()
    return y, {"x": x, "w": w, "h": h, "y": y}


def rows(view: GraphView) -> dict[str, str]:
    return dict(view.panel)


# ---------------------------------------------------------------- the recorded pass


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


def test_freed_buffers_leave_the_structure_and_a_note() -> None:
    y, names = program()
    y.backward()
    view = GraphView(y, names)
    assert view.last == 0 and len(view.nodes) == len(view.graph.nodes)
    assert "cannot run" in view.status and "retain_graph=True" in view.status
    view.selected = "h"
    assert rows(view)["saved for backward"] == "freed" and "gradient at step 0" not in rows(view)


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


# ---------------------------------------------------------------- selected, step, words


def test_steps_in_words() -> None:
    x = leaf(3.0)
    view = GraphView((x * x).sum(), {"x": x})
    said = []
    for step in range(view.last + 1):
        view.step = step
        said.append(view.status)
    assert "no gradient has arrived yet" in said[0]
    assert "output receives the gradient 1" in said[1]
    assert "SumBackward0 runs on its gradient, 1. It sends to MulBackward0: [1]." in said[2]
    assert "MulBackward0 runs on its gradient, [1]. It sends to x: [3]; to x: [3]." in said[3]
    assert "x has its whole gradient, [6], the sum of 2 contributions" in said[4]
    assert len(said) == 5


def test_contributions_add_into_a_leaf() -> None:
    x = leaf(3.0)
    view = GraphView((x * x).sum(), {"x": x})
    view.step = 3
    assert view.sums == [["x", "[3]", "[3]", "1 of 2"], ["x", "[3]", "[6]", "2 of 2"]]
    assert view.marks == {"n0": "done", "n1": "done", "n2": "now", "n3": "2 of 2"}
    assert view.active == ["n3->n2", "n3->n2"]


def test_leaf_step_shows_what_backward_would_accumulate() -> None:
    x = leaf(3.0)
    x.grad = tg.tensor([100.0])
    view = GraphView((x * x).sum(), {"x": x})
    view.step = view.last
    assert view.sums == [["x.grad", "[6]", "[106]", "not done here"]]
    assert x.grad.tolist() == [100.0]


def test_panel() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.selected = "h"
    panel = rows(view)
    assert panel["grad_fn"] == "MulBackward0"
    assert (panel["shape"], panel["dtype"]) == ("(2,)", "float32")
    assert panel["inputs"] == "x, w"
    assert panel["value"] == "[3, -2]"
    assert "(2,) float32 [1, 2]" in panel["saved for backward"]
    assert panel["gradient at step 0"] == "not yet"


def test_inputs_without_gradient_are_listed_as_such() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView((tg.ones(2) * x).sum(), {"x": x})
    view.selected = "n2"
    assert rows(view)["inputs"] == "no gradient, x"


def test_selection_by_id_name_and_nothing() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.selected = "x"
    assert view.graph[view.selected].name == "x"
    view.selected = ""
    assert view.panel == []
    with pytest.raises(traitlets.TraitError, match="no node 'z': the ids are n0 to n"):
        view.selected = "z"


def test_steps_outside_the_pass_are_refused() -> None:
    y, names = program()
    view = GraphView(y, names)
    for step in (-1, view.last + 1):
        with pytest.raises(traitlets.TraitError, match="is not between 0 and the last"):
            view.step = step
    assert view.step == 0


def test_observers_hear_of_selection_and_steps() -> None:
    y, names = program()
    view = GraphView(y, names)
    heard: list[Any] = []
    view.observe(lambda change: heard.append(change["new"]), names=["selected", "step"])
    view.selected, view.step = "n0", 2
    assert heard == ["n0", 2]


def test_only_tensors() -> None:
    with pytest.raises(TypeError, match="out must be a Tensor"):
        GraphView(1.0)


# ---------------------------------------------------------------- what is stored


def test_stored_output_has_a_picture_with_words() -> None:
    y, names = program()
    data, _ = GraphView(y, names)._repr_mimebundle_()
    assert data["text/plain"] == repr(GraphView(y, names)) == "GraphView(8 nodes)"
    assert data["text/html"].startswith('<img src="data:image/svg+xml;base64,')
    assert 'alt="Autograd graph of' in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_large_values_travel_as_summaries() -> None:
    x = tg.zeros(100, 100, requires_grad=True)
    view = GraphView((x * 2).sum(), {"x": x})
    view.selected, view.step = "x", view.last
    assert rows(view)["value"] == "10000 values, all 0"
    assert len(str(view.get_state(["panel", "status", "sums", "marks"]))) < 3_000


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array(1.5, dtype=np.float32), "1.5"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.array([1 / 3]), "[0.33333]"),
        (np.array([True, False]), "[True, False]"),
        (np.zeros((0, 3)), "[]"),
        (np.array([np.nan, np.inf]), "[nan, inf]"),
        (np.arange(20.0), "20 values from 0 to 19, mean 9.5"),
        (np.arange(20) > 4, "20 values from 0 to 1, mean 0.75"),
        (None, "none"),
    ],
)
def test_summary(array: Any, words: str) -> None:
    assert summary(array) == words
