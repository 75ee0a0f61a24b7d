"""GraphView without a browser: the recorded pass, the words of each step, the stored fallback."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import traitlets

import tinygrad_course as tg
from course.widget import GraphView
from course.widget.predictions import read_shape
from course.widget.replay import Replay
from course.widget.values import heat, summary
from tinygrad_course import nn, viz


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


# ---------------------------------------------------------------- heat maps, memory, hooks


def test_heat_maps_travel_for_the_selected_node_only() -> None:
    y, names = program()
    view = GraphView(y, names)
    assert view.heat == []
    view.selected = "w"  # 3, -1
    (value,) = view.heat
    assert value["cells"] == [[1.0, -0.33]] and "from -1 to 3" not in value["words"]
    view.step = view.last
    assert [each["name"] for each in view.heat] == ["value", "gradient"]


@pytest.mark.parametrize(
    ("array", "cells"),
    [
        (np.array([[2.0, -1.0], [0.0, 4.0]]), [[0.5, -0.25], [0.0, 1.0]]),
        (np.array([np.nan, 2.0]), [[0.0, 1.0]]),
        (np.zeros((2, 1)), [[0.0], [0.0]]),
        (np.ones((1, 24)), [[1.0] * 12]),
    ],
)
def test_cells_of_a_heat_map(array: Any, cells: list[list[float]]) -> None:
    assert heat("value", array)["cells"] == cells


def test_no_heat_map_of_a_scalar() -> None:
    assert heat("value", np.array(1.0)) is None and heat("value", None) is None


def test_memory_curve() -> None:
    """exp keeps its 3 floats until it has run; then only x's gradient is left."""
    x = leaf(1.0, 2.0, 3.0)
    view = GraphView(x.exp().sum(), {"x": x})
    kept, gradients = zip(*view.memory, strict=True)
    assert kept == (12, 12, 12, 0, 0)
    assert gradients == (0, 4, 12, 12, 12)
    view.step = 3
    assert "free 12 bytes that forward kept" in view.status


def test_values_of_leaves_are_not_freed() -> None:
    x = leaf(1.0, 2.0)
    assert all(kept == 0 for kept, _ in GraphView((x * x).sum()).memory)


def test_hooks_are_told_when_they_run() -> None:
    def halve(grad: Any) -> Any:
        return grad / 2

    x = leaf(1.0)
    h = x * 2
    h.register_hook(halve)
    view = GraphView(h.sum(), {"x": x, "h": h})
    view.selected = "h"
    assert rows(view)["hooks"] == "tensor hook halve"
    view.step = 3
    assert "Hooks on it run: tensor hook halve." in view.status


def test_the_formula_and_the_lesson_of_an_operation() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.selected = "h"
    assert rows(view)["formula"] == "x·y; dx = g·y, dy = g·x."
    assert view.lesson[:2].isdigit() and "_" in view.lesson


def test_all_running_gradients_on_request() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.step = view.last
    assert view.gradients == []
    view.listing = True
    told = dict(view.gradients)
    expected = tg.autograd.grad(y, [names["x"]], retain_graph=True)[0]
    assert told["x"] == summary(expected.numpy()).replace(" ", ", ", 0)


# ---------------------------------------------------------------- Python beside the mouse


def test_undo_goes_through_the_steps_that_were_shown() -> None:
    view = GraphView(*program())
    for step in (1, 5, 3):
        view.step = step
    shown = []
    for _ in range(4):
        view.undo()
        shown.append(view.step)
    assert shown == [5, 1, 0, 0]


def test_play_and_pause_are_a_switch() -> None:
    view = GraphView(*program())
    view.play()
    assert view.playing
    view.pause()
    assert not view.playing


def test_callbacks() -> None:
    y, names = program()
    view = GraphView(y, names)
    heard: list[Any] = []
    view.on_step(heard.append)
    view.on_select(heard.append)
    view.step, view.selected = 2, "x"
    assert heard == [2, view.selected] and view.graph[view.selected].name == "x"


def test_find() -> None:
    view = GraphView(*program())
    assert {view.graph[key].title for key in view.find("ADDback")} == {"AddBackward0"}
    assert view.find("no such node") == []


# ---------------------------------------------------------------- predict first


def test_a_right_prediction() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.predicting = True
    assert view.question == []  # the start is no question
    view.step = 1
    assert names["y"].grad_fn.name() in {name.split(" ")[0] for _, name in view.question}
    answer = view.predict("n1", "()")
    assert answer.right and view.step == 2 and view.score == (1, 1)
    assert view.verdict.startswith(
        "Right: SumBackward0 fires. Right: its gradient has the shape ()"
    )


def test_a_wrong_prediction_says_why() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.step = 1
    answer = view.predict("x", (2, 2))
    assert not answer.node_right and not answer.shape_right and view.score == (0, 1)
    assert "x has received 0 of 2 gradients and must wait" in view.verdict
    assert view.predictions == [answer] and answer.right_node == "n1"


def test_a_browser_can_answer_and_undo() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.step, view.predicting = 1, True
    view._handle_custom_msg({"do": "predict", "node": "n1", "shape": "scalar"}, [])
    assert view.score == (1, 1)
    view._handle_custom_msg({"do": "undo"}, [])
    assert view.step == 1


def test_nothing_to_predict_at_the_end() -> None:
    view = GraphView(*program())
    view.step = view.last
    with pytest.raises(RuntimeError, match="nothing to predict"):
        view.predict("n1", "()")


@pytest.mark.parametrize(
    ("text", "shape"),
    [("(2, 3)", (2, 3)), ("2x3", (2, 3)), ("[4]", (4,)), ("()", ()), ("scalar", ()), ("", None),
     ("two", None), ("-1", None)],
)  # fmt: skip
def test_shapes_as_people_write_them(text: str, shape: Any) -> None:
    assert read_shape(text) == shape


# ---------------------------------------------------------------- modules, failures, two graphs


def network() -> tuple[tg.Tensor, Any]:
    tg.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    with viz.record():
        loss = net(tg.ones(4, 2)).sum()
    return loss, net.named_parameters()


def test_modules_collapse_and_expand() -> None:
    view = GraphView(*network())
    before = len(view.nodes)
    assert view.modules[0]["path"] == "Sequential" and view.collapsed == []
    view.collapse("Sequential.0")
    assert len(view.nodes) == before - 2  # its two parameters went with it
    (box,) = (node for node in view.nodes if node["box"])
    view.selected = box["id"]
    panel = rows(view)
    assert panel["class"] == "Linear" and panel["leaves inside"] == "0.bias, 0.weight"
    view.expand()
    assert len(view.nodes) == before and view.selected == ""
    with pytest.raises(traitlets.TraitError, match="collapse names 'nothing'"):
        view.collapse("nothing")


def test_a_collapsed_module_shows_how_far_it_is() -> None:
    view = GraphView(*network())
    view.collapse("Sequential")
    (box,) = (node["id"] for node in view.nodes if node["box"])
    seen = []
    for step in range(view.last + 1):
        view.step = step
        seen.append(view.marks.get(box, ""))
    assert seen[0] == "" and "now" in seen and seen[-1] in ("now", "done")


def test_a_loop_is_folded_and_its_steps_are_counted() -> None:
    w, h = leaf(0.5), leaf(1.0)
    for _ in range(200):
        h = (h * w).tanh()
    view = GraphView(h, {"w": w})
    assert view.collapsed == ["cells"] and len(view.nodes) < 8
    view.step = 1 + 2 * 50
    assert any("of 200 done" in mark for mark in view.marks.values()) or "now" in str(view.marks)
    view.expand("cells")
    assert len(view.nodes) == len(view.graph.nodes)


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


def test_the_reference_beside() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView((x * 2).exp().sum(), reference=(x * 2).sum())
    assert view.reference["words"] == "only here: ExpBackward0 (2,) float32"
    assert list(view.reference["here"].values()) == ["only here"]
    assert view.reference["svg"].startswith("<svg")


def test_the_bundle_imports_nothing() -> None:
    source = GraphView._esm if isinstance(GraphView._esm, str) else str(GraphView._esm)
    assert "import {" not in source and source.count("export default") == 1
    assert len(source) < 40_000
