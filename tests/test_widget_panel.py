"""What GraphView tells of a node: values, heat maps, memory, hooks; and what a notebook stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from course.widget import GraphView
from course.widget.values import heat, summary
from tests.graphs import leaf, program, rows

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


def test_a_picture_of_thousands_is_stored_folded() -> None:
    y = leaf(1.0)
    for _ in range(300):
        y = (y * leaf(1.0)).tanh()
    view = GraphView(y, collapse="none", max_nodes=1000)
    assert len(view.nodes) == 902
    assert len(view._repr_mimebundle_()[0]["text/html"]) < 12_000 < len(view.svg)


def test_the_lesson_is_linked_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    y, names = program()
    view = GraphView(y, names)
    view.selected = "h"
    assert view.lesson and view.lesson_file == ""
    (tmp_path / f"{view.lesson}.ipynb").touch()
    view.selected = "x"
    view.selected = "h"
    assert view.lesson_file == f"{view.lesson}.ipynb"


def test_what_backward_lets_go_of_is_told_from_then_on() -> None:
    y, names = program()
    view = GraphView(y, names)
    view.selected = "h"
    fires = view._replay.fired[view.selected]
    view.step = fires - 1
    assert "freed" not in rows(view)
    view.step = fires
    assert rows(view)["freed"] == f"backward() lets go of it in step {fires}"


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
