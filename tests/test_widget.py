"""GraphView without a browser: its traits, its words, and Python beside the mouse."""

from __future__ import annotations

from typing import Any

import pytest
import traitlets

import tinygrad_course as tg
from course.widget import GraphView
from tests.graphs import leaf, network, program, rows

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


def test_a_search_finds_what_is_inside_boxes() -> None:
    view = GraphView(*network())
    view.collapse("Sequential.0")
    (box,) = (node["id"] for node in view.nodes if node["box"])
    view.search = "0.weight"
    ((key, where),) = view.found["nodes"]
    assert view.graph[key].name == "0.weight" and where == box
    view.selected = key
    assert view.highlight == box and rows(view)["node"].startswith("0.weight")
    view.expand()
    assert view.found == {"text": "0.weight", "nodes": [[key, key]]}
    view.search = ""
    assert view.found["nodes"] == []


def test_the_bundle_imports_nothing() -> None:
    source = GraphView._esm if isinstance(GraphView._esm, str) else str(GraphView._esm)
    assert "import {" not in source and source.count("export default") == 1
    assert len(source) < 40_000
