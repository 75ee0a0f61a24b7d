"""Folded graphs, frames of modules, files, and two graphs compared."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import tinygrad_course as tg
from tinygrad_course import nn, viz


def leaf(*shape: int) -> tg.Tensor:
    return tg.ones(*shape, requires_grad=True)


def unrolled(steps: int) -> tuple[tg.Tensor, dict[str, tg.Tensor]]:
    w, u, h = leaf(2, 2), leaf(3, 2), tg.zeros(1, 2)
    for _ in range(steps):
        h = (h @ w + tg.ones(1, 3) @ u).tanh()
    return h.sum(), {"w": w, "u": u}


def stack() -> tuple[nn.Module, tg.Tensor]:
    net = nn.Sequential(
        nn.Sequential(nn.Linear(2, 3), nn.Tanh()), nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    )
    with viz.record():
        loss = net(tg.ones(1, 2)).sum()
    return net, loss


# ---------------------------------------------------------------- the steps of loops


def test_an_unrolled_loop_becomes_one_step() -> None:
    loss, names = unrolled(100)
    whole = viz.trace(loss, names)
    folded = viz.fold(whole, "cells")
    (cell,) = folded.cells
    assert cell.count == 100
    assert sorted(folded.graph[key].op for key in cell.members) == [
        "AddBackward0", "MmBackward0", "MmBackward0", "TanhBackward0",
    ]  # fmt: skip
    (carried,) = folded.carried
    ends = folded.graph[carried.source].op, folded.graph[carried.target].op
    assert ends == ("TanhBackward0", "MmBackward0")
    assert {n.title for n in folded.graph.nodes if n.kind == "leaf"} == {"w", "u"}
    source = viz.digraph(folded).source
    assert 'label="100 times"' in source and "to the next of 100" in source


def test_every_node_has_a_home_that_is_drawn() -> None:
    loss, names = unrolled(20)
    folded = viz.fold(viz.trace(loss, names), "cells")
    drawn = {node.id for node in folded.graph.nodes}
    assert set(folded.home.values()) == drawn
    for edge in folded.graph.edges:
        assert {edge.source, edge.target} <= drawn


def test_inputs_of_each_step_fold_with_it() -> None:
    w, h, xs = leaf(2, 2), tg.zeros(1, 2), [leaf(1, 2) for _ in range(5)]
    for x in xs:
        h = (h @ w + x).tanh()
    folded = viz.fold(viz.trace(h, {"w": w}), "cells")
    assert sum(node.kind == "leaf" for node in folded.graph.nodes) == 2  # w, and one x for all


def test_different_leaves_are_no_repetition() -> None:
    h = tg.ones(1, 2)
    for w in [leaf(2, 2) for _ in range(5)]:
        h = h @ (w * w)
    assert len(viz.fold(viz.trace(h), "cells").graph.nodes) == len(viz.trace(h).nodes)


def test_two_steps_are_no_loop() -> None:
    loss, names = unrolled(2)
    assert not viz.fold(viz.trace(loss, names), "cells").cells


def test_a_loop_in_modules_counts_its_calls() -> None:
    cell = nn.RNNCell(3, 2)
    h = tg.zeros(1, 2)
    with viz.record():
        for _ in range(10):
            h = cell(tg.ones(1, 3), h)
    folded = viz.fold(viz.trace(h, cell.named_parameters()), "cells")
    assert [c.count for c in folded.cells] == [10]
    assert "10 times" in viz.digraph(folded).source


def test_big_graphs_fold_by_themselves_and_quickly() -> None:
    loss, names = unrolled(2_500)
    graph = viz.trace(loss, names)
    assert len(graph.nodes) > 10_000
    start = time.perf_counter()
    drawing = viz.svg(graph)
    print(f"10,000 nodes: {time.perf_counter() - start:.2f} s")
    assert drawing is not None and "2500 times" in drawing


def test_what_cannot_be_folded_is_cut_and_counted() -> None:
    y = leaf(1)
    for step in range(600):
        y = y.repeat(2) if step % 7 == step % 11 and step < 99 else y + leaf(1)
    source = viz.make_dot(y, max_nodes=10, collapse="none").source
    assert source.count("fillcolor") == 10 and "more nodes" in source


def test_a_layout_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    x = leaf(1)
    y = x
    for _ in range(300):
        y = y * x
    monkeypatch.setattr(viz.dot, "PATIENCE", 1e-3)
    drawing = viz.svg(viz.trace(y), max_nodes=1_000, collapse="none")
    assert drawing is not None and "... 152 more nodes" in drawing


# ---------------------------------------------------------------- modules


def test_modules_are_frames() -> None:
    _, loss = stack()
    source = viz.make_dot(loss).source
    assert source.count("subgraph") == 7  # the whole, two inner ones, four layers
    assert "Sequential.0.1: Tanh" in source


def test_one_module_as_one_box() -> None:
    net, loss = stack()
    graph = viz.trace(loss, net.named_parameters())
    folded = viz.fold(graph, "Sequential.1").graph
    (box,) = (node for node in folded.nodes if node.kind == "module")
    assert (box.name, box.op, box.shapes) == ("Sequential.1", "Sequential", ((1, 2),))
    leaves = {node.title for node in folded.nodes if node.kind == "leaf"}
    assert leaves == {"0.0.weight", "0.0.bias"}  # the others went into the box
    into = [folded[e.source].op for e in folded.edges if e.target == box.id]
    assert into == ["TanhBackward0"]


def test_outermost_modules() -> None:
    _, loss = stack()
    folded = viz.fold(viz.trace(loss), "modules").graph
    assert [node.title for node in folded.nodes] == ["output", "SumBackward0", "Sequential"]


def test_modules_fold_from_the_inside_until_it_fits() -> None:
    _, loss = stack()
    graph = viz.trace(loss)
    sizes = [len(viz.fold(graph, max_nodes=limit).graph.nodes) for limit in (100, 6, 4, 3)]
    assert sizes[0] == len(graph.nodes) and sizes[1:] == [6, 4, 3]


def test_unknown_modules_are_named() -> None:
    _, loss = stack()
    with pytest.raises(ValueError, match=r"collapse names 'Net': .*Sequential, Sequential\.0"):
        viz.make_dot(loss, collapse="Net")
    with pytest.raises(ValueError, match="there was none"):
        viz.make_dot(leaf(2) * 2, collapse="Net")


# ---------------------------------------------------------------- files


def test_files_by_their_ending(tmp_path: Path) -> None:
    loss, names = unrolled(2)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "dot": b"digraph", "gv": b"digraph", "json": b"{",
              "txt": b"output"}  # fmt: skip
    for ending, begin in begins.items():
        path = viz.save(loss, tmp_path / f"graph.{ending}", names)
        first = path.read_bytes()
        assert first.startswith(begin)
        assert viz.save(loss, path, names).read_bytes() == first
    with pytest.raises(ValueError, match="svg, png, dot, json, txt, not 'pdf'"):
        viz.save(loss, tmp_path / "graph.pdf", names)


def test_json_says_what_the_graph_says() -> None:
    x = leaf(2)
    graph = json.loads(viz.render((x * x).sum(), "json", {"x <1>": x}))
    assert [node["id"] for node in graph["nodes"]] == ["n0", "n1", "n2", "n3"]
    mul = graph["nodes"][2]
    assert mul["op"] == "MulBackward0" and mul["saved"][0]["bytes"] == 8
    assert graph["nodes"][3]["name"] == "x <1>"
    assert {"source": "n3", "target": "n2", "output": 0, "input": 1} in graph["edges"]


def test_without_a_program_files_of_text_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.dot, "program_named", lambda name: None)
    with pytest.raises(RuntimeError, match="pip install graphviz graphviz-pure"):
        viz.render(leaf(2) * 2, "png")
    assert viz.render(leaf(2) * 2, "dot").startswith(b"digraph")


# ---------------------------------------------------------------- two graphs


def test_equal_programs_compare_equal() -> None:
    a, b = (viz.trace((leaf(2) * leaf(2)).sum()) for _ in range(2))
    comparison = viz.compare(a, b)
    assert comparison.equal and "same structure" in str(comparison)
    assert comparison.pairs == {node.id: node.id for node in a.nodes}


def test_an_operation_too_many() -> None:
    x = leaf(2)
    comparison = viz.compare(viz.trace((x * 2).exp().sum()), viz.trace((x * 2).sum()))
    assert [comparison.mine[key].op for key in comparison.extra] == ["ExpBackward0"]
    assert not comparison.missing and not comparison.changed


def test_an_operation_missing() -> None:
    x = leaf(2)
    comparison = viz.compare(viz.trace(x.sum()), viz.trace((x * 2).sum()))
    assert "only in the reference: MulBackward0 (2,) float32" in str(comparison)


def test_large_graphs_are_compared_by_what_differs() -> None:
    """A thousand equal steps around one more operation, and then thousands that all differ."""

    def chain(steps: int, more: str = "", other: str = "tanh") -> viz.Graph:
        y = leaf(2)
        for step in range(steps):
            y = getattr(y * 2, other if step % 2 else "exp")()
            if more and step == steps // 2:
                y = getattr(y, more)()
        return viz.trace(y)

    one = viz.compare(chain(1000, "sigmoid"), chain(1000))
    assert [one.mine[key].op for key in one.extra] == ["SigmoidBackward0"]
    assert not one.missing and not one.changed and len(one.pairs) == 2002
    other = viz.compare(chain(1000, other="sin"), chain(1001))
    assert not other.equal and len(other.pairs) >= 2


def test_another_shape_and_another_wiring() -> None:
    x, y = leaf(2), leaf(2)
    shapes = viz.compare(viz.trace(leaf(3).sum()), viz.trace(leaf(2).sum()))
    assert "(3,) float32, in the reference (2,) float32" in str(shapes)
    wiring = viz.compare(viz.trace((x.exp() - y.exp()) * x), viz.trace((x.exp() - y.exp()) * y))
    assert not wiring.equal and "reads from other nodes" in str(wiring)
