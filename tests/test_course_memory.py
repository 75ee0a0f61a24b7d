"""Observing a graph and memory: what cases can say beside values, and that it tells right from
wrong."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from course import graphs
from course.memory import layout, shares_with
from course.observe import observe
from tinygrad_course import nn


@pytest.mark.parametrize("make", [tg.zeros, lambda *n: np.zeros(n, np.float32)])
def test_layout_of_views(make: Any) -> None:
    x = make(4, 6)
    assert layout(x) == {"shape": (4, 6), "stride": (6, 1), "offset": 0}
    assert layout(x[1:, 2]) == {"shape": (3,), "stride": (6,), "offset": 8}
    assert layout(x.T) == {"shape": (6, 4), "stride": (1, 6), "offset": 0}


def test_memory_is_shared_by_element_and_not_by_storage() -> None:
    x = tg.zeros(4, requires_grad=True)
    halves = {"left": x[:2], "right": x[2:], "copy": x.clone(), "x": x}
    assert shares_with(x[1:3], **halves) == ["left", "right", "x"]
    assert shares_with(x[:2], **halves) == ["left", "x"]
    array = np.zeros(3)
    assert shares_with(tg.from_numpy(array), array=array, other=array.copy()) == ["array"]


def node(label: str, *reads: Any) -> SimpleNamespace:
    return SimpleNamespace(label=label, next_functions=tuple((child, 0) for child in reads))


def test_edges_and_orders_of_a_graph() -> None:
    x = node("x")
    a = node("a", x)
    b = node("b", a, x)
    loss = node("loss", b, None, a)
    assert graphs.edges(loss) == "loss reads b, None, a\nb reads a, x\na reads x"
    right = {"given": "", **graphs.order_of(loss, [loss, b, a, x])}

    def read(*order: Any, **said: Any) -> Any:
        return graphs.read_order(right, {"given": "", **graphs.order_of(loss, order), **said})

    assert read(loss, b, a, x) == {
        "given": "",
        "steps": ["a", "b", "loss", "x"],
        "in the wrong order": [],
    }
    assert read(loss, a, b, x)["in the wrong order"] == ["a before b"]
    assert read(loss, b, a)["steps"] == ["a", "b", "loss"]
    assert "no step of the graph" in read(loss, node("b"))["steps"]
    # What an answer's process says of the graph does not count.
    assert read(loss, a, b, x, reads=[[]] * 4)["in the wrong order"] == ["a before b"]
    assert graphs.nodes(None) == []


def test_what_is_recorded_runs_and_is_freed() -> None:
    x = tg.ones(3, requires_grad=True)
    with graphs.Watched() as seen:
        with tg.no_grad():
            x * 2
        y = x.exp()
        loss = (y * y).sum()
        before = graphs.saved(loss.grad_fn)
        loss.backward()
    assert seen.recorded == ["ExpBackward0", "MulBackward0", "SumBackward0"]
    assert seen.ran == ["SumBackward0", "MulBackward0", "ExpBackward0", "AccumulateGrad"]
    assert before["MulBackward0"] == [(3,), (3,)] and before["ExpBackward0"] == [(3,)]
    assert graphs.saved(loss.grad_fn)["MulBackward0"] == "freed"
    assert seen.alive() == 3
    kept = y  # its own node stays, those above go
    del loss, y
    assert seen.alive() == 1 and kept.grad_fn is not None


def test_hooks_are_seen_until_they_are_removed() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    handles = [
        net.register_forward_hook(lambda *a: None),
        net[1][0].register_full_backward_hook(lambda *a: None),
    ]
    assert graphs.hooked(net) == ["", "1.0"]
    for handle in handles:
        handle.remove()
    assert graphs.hooked(net) == []


def test_all_of_it_is_plain_data() -> None:
    x = tg.ones(2, requires_grad=True)
    y = x * x
    for seen in (graphs.saved(y.grad_fn), graphs.edges(y.grad_fn), layout(x), shares_with(y, x=x)):
        assert "other" not in repr(observe(seen))
