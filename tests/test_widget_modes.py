"""GraphView's modes: predict first, folded modules and loops, a reference beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import traitlets

import tinygrad_course as tg
from course.progress import FILE, Predictions, read_progress
from course.widget import GraphView
from course.widget.predictions import read_shape, right_answer
from tests.graphs import leaf, network, program, rows
from tinygrad_course import nn, viz

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


def test_predictions_are_counted_in_the_progress_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_WORKSPACE", raising=False)
    monkeypatch.setenv("JPY_SESSION_NAME", "work/05_backward.ipynb")
    monkeypatch.chdir(tmp_path)
    view = GraphView(*program())
    view.step = 1
    view.predict("n1", "()")  # no workspace here: nothing to write to, and nothing fails
    assert list(tmp_path.iterdir()) == [] and view.verdict.endswith("predictions were right.")
    read_progress(tmp_path).save()
    view.predict("x", "()")
    monkeypatch.setenv("JPY_SESSION_NAME", "my own.ipynb")
    view.predict(view.graph[right_answer(view._replay, 4)[0]].id, (2,))
    told = read_progress(tmp_path).predictions
    assert told == {"05_backward": Predictions(1, 0), "": Predictions(1, 1)}


def test_a_progress_file_that_cannot_be_used_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSE_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    for text, words in (('{"schema": 99}', "was not noted"), ("{", "could not be read")):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        view = GraphView(*program())
        view.step = 1
        assert view.predict("n1", "()").right and words in view.verdict


def test_a_box_of_several_nodes_is_no_answer() -> None:
    view = GraphView(*network())
    view.collapse("Sequential")
    view.step = 1
    with pytest.raises(traitlets.TraitError, match="is no node that fires"):
        view.predict("Sequential", "()")


@pytest.mark.parametrize(
    ("text", "shape"),
    [("(2, 3)", (2, 3)), ("2x3", (2, 3)), ("[4]", (4,)), ("()", ()), ("scalar", ()), ("", None),
     ("two", None), ("-1", None)],
)  # fmt: skip
def test_shapes_as_people_write_them(text: str, shape: Any) -> None:
    assert read_shape(text) == shape


# ---------------------------------------------------------------- modules and loops


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


# ---------------------------------------------------------------- a reference beside


def beside() -> GraphView:
    """Where the learner has ExpBackward0, the reference has AddBackward0."""
    x = leaf(1.0, 2.0)
    y = leaf(1.0, 2.0)
    return GraphView(
        (x * 2).exp().sum(), {"x": x}, reference=(y * 2 + 1).sum(), reference_params={"y": y}
    )


def named(view: GraphView, op: str) -> str:
    return next(node.id for node in view.graph.nodes if node.op == op)


def test_differences_are_marked_on_both_sides() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView((x * 2).exp().sum(), reference=(x * 2).sum())
    assert view.reference["words"] == "only here: ExpBackward0 (2,) float32"
    assert view.differs == {named(view, "ExpBackward0"): "only here"}
    assert view.reference["differs"] == {} and view.reference["svg"].startswith("<svg")
    view = GraphView((x * 2).exp().sum(), reference=(x * 2).exp().mean())
    assert list(view.differs.values()) == ["differs"]
    assert list(view.reference["differs"].values()) == ["differs"]
    view = GraphView((x * 2).sum(), reference=(x * 2).exp().sum())
    assert view.differs == {}
    assert list(view.reference["differs"].values()) == ["missing in yours"]


def test_the_twin_is_selected_with_a_node_and_the_other_way() -> None:
    view = beside()
    view.selected = "x"
    assert dict(view.twin_panel)["node"].startswith("y")
    view.twin = "n1"  # the reference's SumBackward0
    assert view.selected == named(view, "SumBackward0") and view.twin == "n1"
    view.selected = ""
    assert view.twin == "" and view.panel == view.twin_panel == []
    view.twin = "y"
    view.twin = ""
    assert view.selected == ""


def test_a_node_without_a_twin_stands_alone() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView((x * 2).sum(), reference=(x * 2).exp().sum())
    (alone,) = (key for key, words in view.reference["differs"].items() if "missing" in words)
    view.selected = "n1"
    view.twin = alone
    assert (view.selected, view.twin, view.panel) == ("", alone, [])
    assert dict(view.twin_panel)["difference"] == "missing in yours"
    view.selected = "n1"
    assert view.twin == "n1" and rows(view)["difference"] == "none"


def test_both_gradients_are_told_at_the_end() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView((x * 2).sum(), {"x": x}, reference=(x * 3).sum(), reference_params={"x": x})
    view.selected = "x"
    assert (
        rows(view)["whole gradient"] == "[2, 2]" and rows(view)["gradient at step 0"] == "not yet"
    )
    assert dict(view.twin_panel)["whole gradient"] == "[3, 3]"
    names = ["value", "reference value", "reference gradient"]
    assert [each["name"] for each in view.heat] == names


def test_a_reference_of_another_shape_has_no_gradient() -> None:
    x = leaf(1.0, 2.0)
    view = GraphView(x * 2, {"x": x}, tg.ones(2), reference=tg.cat([x * 2, x]))
    view.twin = "n1"
    assert "whole gradient" not in dict(view.twin_panel) and view.last > 0


def test_a_twin_needs_a_reference_that_has_it() -> None:
    with pytest.raises(traitlets.TraitError, match="there is no reference"):
        GraphView(*program()).twin = "n0"
    with pytest.raises(traitlets.TraitError, match="no node 'n9': the ids are n0 to n4"):
        beside().twin = "n9"


def test_both_sides_fold_together_and_keep_their_marks() -> None:
    tg.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    x = tg.ones(4, 2)
    with viz.record():
        mine = (net(x) * 2).sum()
        reference = net(x).exp().sum()
    view = GraphView(mine, net.named_parameters(), reference=reference)
    view.collapse("Sequential")
    (box,) = (node for node in view.nodes if node["box"])
    (other,) = (node for node in view.reference["nodes"] if node["box"])
    view.selected = box["id"]
    assert view.twin == other["id"] and dict(view.twin_panel)["class"] == "Sequential"
    view.expand()
    assert view.twin == "" and all(not node["box"] for node in view.reference["nodes"])


def test_a_difference_inside_a_box_is_counted() -> None:
    x = tg.ones(4, 2)
    with viz.record():
        mine = nn.Sequential(nn.Tanh(), nn.Sigmoid())(x.requires_grad_()).sum()
    view = GraphView(mine, reference=x.tanh().sum())
    view.collapse("Sequential")
    (box,) = (node["id"] for node in view.nodes if node["box"])
    assert view.differs[box] == "1 inside differ"
    view.selected = box
    assert rows(view)["difference"] == "1 inside differ"


def test_the_pictures_of_both_are_stored() -> None:
    stored = beside()._repr_mimebundle_()[0]["text/html"]
    assert stored.count("<img ") == 2 and 'alt="The reference. Autograd graph' in stored
    assert "ExpBackward0: the reference has AddBackward0" in stored
