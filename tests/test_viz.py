"""tg.viz: the walk, its stable names, DOT and SVG, and the words beside the picture.

The walk is checked against PyTorch's own graph of the same program, the layout against what the
program was: no expected text here was printed by the code under test.
"""

from __future__ import annotations

import base64
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course import viz

ROOT = Path(__file__).parents[1]


def leaf(*shape: int) -> tg.Tensor:
    return tg.ones(*shape, requires_grad=True)


def titles(graph: viz.Graph) -> list[str]:
    return [node.title for node in graph.nodes]


def pairs(graph: viz.Graph) -> list[tuple[str, str]]:
    return [(graph[edge.source].title, graph[edge.target].title) for edge in graph.edges]


# ---------------------------------------------------------------- the walk


def test_reused_leaf_is_one_node_with_two_edges() -> None:
    x = leaf(3)
    graph = viz.trace(x * x, {"x": x})
    assert titles(graph) == ["output", "MulBackward0", "x"]
    assert [(e.source, e.target, e.input) for e in graph.edges] == [
        ("n1", "n0", 0),
        ("n2", "n1", 0),
        ("n2", "n1", 1),
    ]


def test_diamond_visits_the_shared_node_once() -> None:
    x = leaf(3)
    h = x * 2
    graph = viz.trace((h * 3 + h * 4).sum(), {"x": x, "h": h})
    assert titles(graph).count("h = MulBackward0") == 1
    assert pairs(graph).count(("h = MulBackward0", "MulBackward0")) == 2


def test_shapes_dtypes_and_roles() -> None:
    x = tg.ones(2, 3, dtype=tg.float64, requires_grad=True)
    out, total, x_node = viz.trace(x.sum(), {"x": x}).nodes
    assert (out.kind, out.shapes, out.dtypes) == ("output", ((),), ("float64",))
    assert (total.kind, total.op, total.shapes) == ("op", "SumBackward0", ((),))
    assert (x_node.kind, x_node.op, x_node.shapes) == ("leaf", "AccumulateGrad", ((2, 3),))
    assert x_node.tensor is x and x_node.requires_grad
    assert total.function is not None and total.function.name() == "SumBackward0"


def test_constants_are_not_drawn() -> None:
    x = leaf(3)
    assert titles(viz.trace(x * tg.ones(3), {"x": x})) == ["output", "MulBackward0", "x"]


def test_leaves_without_a_name_are_numbered_in_visiting_order() -> None:
    a, b, c = leaf(2), leaf(2), leaf(2)
    assert titles(viz.trace(a * b + c, {"b": b})) == [
        "output", "AddBackward0", "MulBackward0", "leaf 1", "b", "leaf 2",
    ]  # fmt: skip


def test_named_parameters_serve_as_params() -> None:
    x, w = leaf(2), leaf(2)
    pairs_of_names = iter([("x", x), ("layer.weight", w)])
    assert {"x", "layer.weight"} <= set(titles(viz.trace(x * w, pairs_of_names)))


def test_several_results() -> None:
    x = leaf(3)
    loss, other = (x * 2).sum(), x * 3
    graph = viz.trace((loss, other), {"x": x, "loss": loss})
    assert [node.name for node in graph.nodes if node.kind == "output"] == ["loss", "output 2"]
    assert sum(node.kind == "leaf" for node in graph.nodes) == 1


def test_result_that_is_a_leaf() -> None:
    x = leaf(3)
    graph = viz.trace(x, {"x": x})
    assert [(node.title, node.kind) for node in graph.nodes] == [("x", "output"), ("x", "leaf")]


def test_result_without_history() -> None:
    (node,) = viz.trace(tg.ones(3)).nodes
    assert node.kind == "output" and not node.requires_grad
    assert "requires no gradient" in viz.outline(viz.trace(tg.ones(3)))


class TwoOutputs(tg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return x * 2, (x * 3).sum()

    @staticmethod
    def backward(ctx: Any, g2: tg.Tensor, g3: tg.Tensor) -> tg.Tensor:
        return g2 * 2 + g3 * 3


def test_function_with_two_outputs() -> None:
    x = leaf(3)
    double, triple = TwoOutputs.apply(x)
    graph = viz.trace(double * triple, {"x": x})
    both = next(node for node in graph.nodes if node.op == "TwoOutputsBackward")
    assert both.shapes == ((3,), ())
    assert [e.output for e in graph.edges if e.source == both.id] == [0, 1]
    assert {"output 0", "output 1"} <= set(re.findall(r"output \d", viz.digraph(graph).source))


def test_double_backward_graph() -> None:
    x = leaf(3)
    (gradient,) = tg.autograd.grad((x**3).sum(), x, create_graph=True)
    graph = viz.trace(gradient, {"x": x})
    assert "x" in titles(graph) and len(graph.nodes) > 3


def test_chain_of_ten_thousand_nodes() -> None:
    x = leaf(1)
    y = x
    for _ in range(10_000):
        y = y + 1
    graph = viz.trace(y, {"x": x})
    assert len(graph.nodes) == 10_002
    assert viz.outline(graph).splitlines()[-1] == "... 9802 more nodes"
    assert "9999 more nodes" in viz.digraph(graph, max_nodes=3, collapse="none").source
    folded = viz.fold(graph)
    assert len(folded.graph.nodes) == 3 and folded.cells[0].count == 10_000
    assert viz.digraph(graph).source.count("fillcolor") == 3
    assert "9988 more operations" in viz.describe(graph)


def test_unrolled_recurrence_shares_its_weight() -> None:
    w, h = leaf(2, 2), tg.ones(1, 2)
    for _ in range(100):
        h = (h @ w).tanh()
    graph = viz.trace(h.sum(), {"w": w})
    (weight,) = (node for node in graph.nodes if node.kind == "leaf")
    assert sum(edge.source == weight.id for edge in graph.edges) == 100


def test_only_tensors_are_drawn() -> None:
    with pytest.raises(TypeError, match="out must be a Tensor, not int 3"):
        viz.trace(3)
    with pytest.raises(TypeError, match=r"params\['w'\] must be a Tensor, not list"):
        viz.trace(leaf(1), {"w": [1.0]})


def test_the_walk_is_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch's graph of the same program is compared")

    def program(lib: Any) -> Any:
        x = lib.ones(2, 3, requires_grad=True)
        w = lib.ones(3, 4, requires_grad=True)
        h = x @ w
        return (h.tanh() * h + 1).sum()

    expected: list[str] = []
    seen: set[Any] = set()

    def walk(node: Any) -> None:
        if node not in seen:
            seen.add(node)
            expected.append(node.name().removeprefix("torch::autograd::"))
            for source, _ in node.next_functions:
                if source is not None:
                    walk(source)

    walk(program(torch).grad_fn)
    assert [node.op for node in viz.trace(program(tg)).nodes[1:]] == expected


# ---------------------------------------------------------------- stable names, DOT, SVG

PROGRAM = """
import tinygrad_course as tg
junk = [object() for _ in range({junk})]
x, w = tg.ones(2, requires_grad=True), tg.ones(2, requires_grad=True)
h = (x * w).tanh()
out = (h * h + w, h.sum())
graph = tg.viz.trace(out, {{"x": x}})
print(tg.viz.make_dot(out, {{"x": x}}).source)
print(tg.viz.svg(graph), tg.viz.outline(graph), tg.viz.describe(graph), graph, graph.nodes)
"""


def test_same_program_same_bytes_in_every_process() -> None:
    def run(junk: int) -> bytes:
        env = os.environ | {"PYTHONHASHSEED": str(junk), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM.format(junk=junk)]
        return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=True).stdout

    first = run(1)
    assert first == run(977) and b"<svg" in first and b"0x" not in first


def test_equal_programs_give_equal_graphs() -> None:
    assert viz.trace(leaf(3) * 2) == viz.trace(leaf(3) * 2)
    assert viz.trace(leaf(3) * 2) != viz.trace(leaf(4) * 2)


def test_colours_by_role() -> None:
    x = leaf(2)
    source = viz.make_dot(x * 2, {"x": x}).source
    colours = dict(re.findall(r"(n\d) .*fillcolor=(\w+)", source))
    assert colours == {"n0": "darkolivegreen1", "n1": "lightgrey", "n2": "lightblue"}


def test_rankdir() -> None:
    assert "rankdir=LR" in viz.make_dot(leaf(1), rankdir="LR").source
    with pytest.raises(ValueError, match="TB, BT, LR, RL, not 'sideways'"):
        viz.make_dot(leaf(1), rankdir="sideways")


@pytest.mark.parametrize(
    "name",
    [
        'say "x"',
        "<b>x</b>",
        "<x>",
        "a\\nb",
        "a\\",
        "&lt;",
        "{x|y}",
        "x -> y;",
        "ü 変数",
        "ends\\\\",
    ],
)
def test_any_name_is_shown_as_it_is(name: str) -> None:
    x = leaf(2)
    drawing = viz.svg(viz.trace(x * 2, {name: x}))
    assert drawing is not None
    texts = [html.unescape(t) for t in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)]
    assert f"{name} (leaf)" in texts


def test_control_characters_in_names_become_escapes() -> None:
    x = leaf(2)
    drawing = viz.svg(viz.trace(x * 2, {"a\nb\0c": x}))
    assert drawing is not None and "a\\nb\\x00c (leaf)" in drawing


def test_big_graphs_are_cut_and_say_so() -> None:
    x = leaf(1)
    y = x
    for _ in range(20):
        y = y + 1
    source = viz.make_dot(y, max_nodes=5, collapse="none").source
    assert "... 17 more nodes" in source and source.count("fillcolor") == 5


# ---------------------------------------------------------------- programs that may be missing


def test_drawing_without_a_system_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphviz.backend import dot_command

    monkeypatch.setattr(dot_command, "DOT_BINARY", Path("dot"))
    monkeypatch.setenv("PATH", "")  # as when the environment was not activated
    svg = viz.make_dot(leaf(2) * 2).pipe(format="svg", encoding="utf-8")
    assert "MulBackward0" in svg and "(graphviz-pure)" in svg


def test_a_system_dot_is_used_by_make_dot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from graphviz.backend import dot_command

    monkeypatch.setattr(dot_command, "DOT_BINARY", Path("dot"))
    own = tmp_path / ("dot.exe" if os.name == "nt" else "dot")
    shutil.copy(viz.dot.program_named("graphviz-pure") or "", own)
    monkeypatch.setenv("PATH", str(tmp_path))
    viz.make_dot(leaf(2))
    assert Path("dot") == dot_command.DOT_BINARY


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match="pip install graphviz graphviz-pure"):
        viz.make_dot(leaf(2))
    shown = viz.picture(leaf(2) * 2)._repr_html_()
    assert "MulBackward0 (2,) float32 n1" in shown and "pip install graphviz" in shown
    with pytest.raises(RuntimeError, match="pip install graphviz"):
        viz.render(leaf(2) * 2, "svg")


def test_without_any_program_there_is_the_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.dot, "program_named", lambda name: None)
    x = leaf(2)
    shown = viz.picture(x * 2, {"x <1>": x})._repr_html_()
    assert "pip install graphviz graphviz-pure" in shown and "digraph {" in shown
    assert "x &lt;1&gt; (leaf) (2,) float32" in shown


# ---------------------------------------------------------------- picture and words


def test_picture_is_an_img_with_alternative_text() -> None:
    x = leaf(2)
    bundle = viz.picture(x * 2, {'"x"': x})._repr_mimebundle_()
    found = re.fullmatch(
        r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)">', bundle["text/html"]
    )
    assert found is not None
    assert base64.b64decode(found[1]).decode().startswith("<svg")
    assert 'MulBackward0 takes "x".' in html.unescape(found[2])
    assert bundle["text/plain"] == "\n".join(
        [
            "output (2,) float32 n0",
            "  MulBackward0 (2,) float32 n1",
            '    "x" (leaf) (2,) float32 n2',
        ]
    )


def test_picture_with_own_words() -> None:
    assert 'alt="two &lt; three"' in viz.picture(leaf(2), alt="two < three")._repr_html_()


def test_repr_is_fixed() -> None:
    assert repr(viz.picture(leaf(2) * 2)) == "Picture(3 nodes)"
    assert repr(viz.trace(leaf(2) * 2)) == "Graph(3 nodes, 2 edges)"


def test_outline_names_a_node_again_without_its_inputs() -> None:
    x = leaf(2)
    h = x * 2
    lines = viz.outline(viz.trace(h * h, {"x": x, "h": h})).splitlines()
    assert lines[2:] == [
        "    h = MulBackward0 (2,) float32 n2",
        "      x (leaf) (2,) float32 n3",
        "    h = MulBackward0 (n2, see above)",
    ]


def test_describe_tells_repeated_operations_apart() -> None:
    x = leaf(2)
    words = viz.describe(viz.trace((x * 2) * 3, {"x": x}))
    assert "2 operations on 1 leaf: x (2,) float32." in words
    assert "MulBackward0 (n2) takes x. MulBackward0 (n1) takes MulBackward0 (n2)." in words


def test_nothing_in_the_graph_is_changed() -> None:
    x = leaf(2)
    y = (x * x).sum()
    viz.picture(y, {"x": x})
    assert x.grad is None
    y.backward()  # the buffers are still there
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]
