"""What tg.viz.record notes: modules, lines, cuts, in-place changes, and what failed.

The programs are small enough to say by hand what must be noted; versions and failures are checked
against what the engine itself says of them.
"""

from __future__ import annotations

from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course import nn, viz
from tinygrad_course.autograd.watch import watching
from tinygrad_course.nn.hooks import everywhere
from tinygrad_course.tensor import written


def leaf(*shape: int) -> tg.Tensor:
    return tg.ones(*shape, requires_grad=True)


def node(graph: viz.Graph, title: str) -> viz.Node:
    (found,) = (node for node in graph.nodes if node.title == title)
    return found


class Net(nn.Module):
    """`shared` runs twice, inside `body` and outside it."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, x: tg.Tensor) -> tg.Tensor:
        return self.head(self.body[2](self.body(x)).exp())


def recorded(net: nn.Module | None = None) -> viz.Graph:
    net = net or Net()
    with viz.record():
        y = net(tg.ones(5, 3))
    return viz.trace(y, net.named_parameters())


# ---------------------------------------------------------------- modules and lines


def test_modules_of_nodes() -> None:
    made = {(n.op, n.module) for n in recorded().nodes if n.kind == "op"}
    assert {module for _, module in made} == {"Net", "Net.body.0", "Net.body.1", "Net.body.2",
                                              "Net.head"}  # fmt: skip
    assert ("ExpBackward0", "Net") in made and ("TanhBackward0", "Net.body.1") in made


def test_a_shared_module_counts_its_calls() -> None:
    calls = {n.scopes for n in recorded().nodes if n.module == "Net.body.2"}
    assert sorted([scope.path + f" {scope.call}" for scope in scopes] for scopes in calls) == [
        ["Net 1", "Net.body 1", "Net.body.2 1"],
        ["Net 1", "Net.body.2 2"],
    ]


def test_two_networks_of_a_class_have_two_names() -> None:
    with viz.record():
        y = nn.Linear(2, 2)(nn.Linear(2, 2)(tg.ones(1, 2)))
    modules = {n.module for n in viz.trace(y).nodes if n.module}
    assert modules == {"Linear", "Linear 2"}


def test_lines_are_the_programs() -> None:
    x = leaf(2)
    with viz.record():
        y = x * 2  # this line
    assert node(viz.trace(y), "MulBackward0").line.endswith(": y = x * 2  # this line")
    assert node(viz.trace(y), "MulBackward0").line.startswith("test_viz_record.py, line ")


def test_anomaly_mode_notes_lines_too() -> None:
    with tg.autograd.detect_anomaly():
        y = leaf(2) * 3
    assert "y = leaf(2) * 3" in node(viz.trace(y), "MulBackward0").line


def test_nothing_is_noted_and_nothing_left_outside_the_block() -> None:
    with viz.record():
        assert watching and written
    assert not watching and not written and everywhere.empty
    y = nn.Linear(2, 2)(tg.ones(1, 2))
    assert all(n.module == n.line == "" for n in viz.trace(y).nodes)


def test_a_second_backward_pass_is_told_from_the_first() -> None:
    x = leaf(3)
    with viz.record():
        (gradient,) = tg.autograd.grad(x.exp().sum(), x, create_graph=True)
    modules = {n.module for n in viz.trace(gradient).nodes if n.kind == "op"}
    assert modules == {"backward pass", ""}
    assert "backward pass: create_graph=True" in viz.make_dot(gradient).source


# ---------------------------------------------------------------- saved values and hooks


def test_saved_tensors_with_size_and_version() -> None:
    x, w = leaf(2, 3), leaf(2, 3)
    with tg.no_grad():
        w += 1
    saved = node(viz.trace((x * w).sum()), "MulBackward0").saved
    assert [(s.shape, s.dtype, s.nbytes, s.version) for s in saved] == [
        ((2, 3), "float32", 24, x._version),
        ((2, 3), "float32", 24, w._version),
    ]
    assert w._version == x._version + 1
    dot = viz.make_dot((x * w).sum(), show_saved=True).source
    assert dot.count("24 bytes") == 2 and dot.count("fillcolor=orange") == 2


def test_freed_buffers_are_said_to_be() -> None:
    y = (leaf(2) * leaf(2)).sum()
    y.backward()
    assert [s.text for s in node(viz.trace(y), "MulBackward0").saved] == ["freed"]


def test_hooks_by_kind_and_name() -> None:
    def double(grad: Any) -> Any:
        return grad * 2

    x = leaf(2)
    h = x * 2
    h.register_hook(double)
    h.retain_grad()
    h.grad_fn.register_hook(lambda *_: None)
    x.register_post_accumulate_grad_hook(double)
    graph = viz.trace(h.sum(), {"x": x})
    assert node(graph, "MulBackward0").hooks == (
        "tensor hook double",
        "retain_grad",
        "hook <lambda>",
    )
    assert node(graph, "x").hooks == ("accumulate-grad hook double",)
    assert "tensor hook double" in viz.make_dot(h.sum(), show_attrs=True).source


def test_the_base_of_a_view() -> None:
    y = (leaf(2, 3) * 2).view(6)
    dot = viz.make_dot(y, show_saved=True).source
    assert "view base\\n(2, 3) float32" in dot and "darkolivegreen3" in dot
    assert "view base" not in viz.make_dot(y + 1, show_saved=True).source


# ---------------------------------------------------------------- where the graph was cut


def test_cuts_are_told_apart() -> None:
    x = leaf(2)
    with viz.record():
        h = x * 2
        with tg.no_grad():
            still = h * 3
        silent = tg.autograd.Variable(tg.ones(2), volatile=True)
        y = h * h.detach() + (still + 1) * h + h * tg.ones(2)
    graph = viz.trace(y, {"x": x})
    cuts = [(b.why, b.source, b.shape) for n in graph.nodes for b in n.borders]
    assert sorted(cuts) == [("detached", "MulBackward0", (2,)), ("no_grad", "", (2,))]
    assert silent.volatile and "volatile" in viz.outline(viz.trace(silent * h))
    assert viz.make_dot(y).source.count("filled,dashed") == 2


# ---------------------------------------------------------------- in-place clashes


def test_a_clash_names_both_versions_and_the_writer() -> None:
    x = leaf(3)
    with viz.record():
        h = x * 2
        y = (h * h).sum()
        h += 1
    graph = viz.trace(y, {"x": x})
    clashing = [n for n in graph.nodes if any(s.clash for s in n.saved)]
    assert [n.op for n in clashing] == ["MulBackward0"]
    saved = clashing[0].saved[0]
    assert (saved.version, saved.now) == (0, 1)
    (write,) = saved.writes(clashing[0].function)
    assert write.version == 1 and write.line.endswith(": h += 1")
    dot = viz.make_dot(y).source
    assert dot.count("label=clash") == 1 and "h += 1" in dot
    with pytest.raises(RuntimeError, match="at version 0 and is at version 1"):
        y.backward()


# ---------------------------------------------------------------- failures


def test_failed_forward_leaves_the_part_before_it() -> None:
    x, w = leaf(2, 3), leaf(4, 5)
    with pytest.raises(RuntimeError) as caught, viz.record() as tape:
        h = x * 2
        h @ w.tanh()
    graph = viz.trace(tape, {"x": x, "w": w})
    failed = graph[graph.failed]
    assert failed.kind == "failed" and str(caught.value) in graph.error
    inputs = [graph[e.source].op for e in graph.edges if e.target == failed.id]
    assert inputs == ["MulBackward0", "TanhBackward0"]
    assert tape.failure is not None and tape.failure.line.endswith(": h @ w.tanh()")
    assert "failed with RuntimeError" in viz.outline(graph).splitlines()[0]
    assert "lightsalmon" in viz.digraph(graph).source and "failed" in viz.describe(graph)


@pytest.mark.parametrize(
    ("op", "program"),
    [
        ("matmul", lambda x: x @ tg.ones(3)),
        ("matmul", lambda x: tg.matmul(x, tg.ones(3))),
        ("mm", lambda x: x.mm(x)),
        ("getitem", lambda x: x[5]),
        ("View", lambda x: x.reshape(3)),
        ("Add", lambda x: x + tg.ones(3)),
    ],
)
def test_what_failed_has_its_own_name(op: str, program: Any) -> None:
    x = leaf(2)
    with pytest.raises((RuntimeError, IndexError)), viz.record() as tape:
        program(x)
    assert tape.failure is not None and tape.failure.op == op


def test_failed_forward_inside_modules() -> None:
    net = Net()
    with pytest.raises(RuntimeError), viz.record() as tape:
        net(leaf(5, 7) * 2)
    assert tape.failure is not None
    assert [scope.path for scope in tape.failure.scopes] == ["Net", "Net.body", "Net.body.0"]
    assert "Net.body.0: Linear" in viz.make_dot(tape).source


def test_failed_backward_marks_the_node() -> None:
    x = leaf(3)
    with pytest.raises(RuntimeError), viz.record() as tape:
        h = x * 2
        loss = (h * h).sum()
        h += 1
        loss.backward()
    graph = viz.trace(tape, {"x": x, "loss": loss})
    assert graph[graph.failed].op == "MulBackward0" and graph.nodes[0].title == "loss"
    assert graph[graph.failed].function is loss.grad_fn.next_functions[0][0]


def test_a_failure_outside_the_engine_has_no_inputs() -> None:
    with pytest.raises(ZeroDivisionError), viz.record() as tape:
        1 / 0  # noqa: B018
    graph = viz.trace(tape)
    assert len(graph.nodes) == 1 and "ZeroDivisionError" in graph.error


def test_a_recording_without_failure_is_no_graph() -> None:
    with viz.record() as tape:
        leaf(1) * 2
    with pytest.raises(TypeError, match="nothing failed"):
        viz.trace(tape)
