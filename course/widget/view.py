"""GraphView: an autograd graph in a notebook, with a panel for each node and backward by steps.

Python draws the SVG, records the pass and writes every word; the ES module beside this file shows
them and reports two things back, which node is selected and which step is wanted. Values travel to
the browser as short texts, and only those of the selected node and the current step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from tinygrad_course import viz
from tinygrad_course.device import backend_of
from tinygrad_course.viz import Node

from .replay import Array, Replay, Step

_HERE = Path(__file__).parent


class GraphView(anywidget.AnyWidget):
    """The graph behind `loss` (a tensor or a tuple of them) and one backward pass through it.

    `params` names tensors, as for `tg.viz.trace`; `gradient` is needed where backward() needs it.
    `selected` is the id of a node ("n3"; a tensor's name may be assigned) or "", `step` counts from
    0 (nothing yet) to `last`; set here or in the browser, they call what `observe` registered. The
    learner's `.grad` and the graph's buffers stay as they are; hooks that were registered do run.
    TypeError for what is no tensor, RuntimeError for a `gradient` of another shape.
    """

    _esm = _HERE / "graph_view.js"
    _css = _HERE / "graph_view.css"

    selected = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    # What is shown, one way: fixed ones first, then those that follow `selected` and `step`.
    last = traitlets.Int(0).tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)
    outline = traitlets.Unicode("").tag(sync=True)
    nodes: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    sums: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    panel: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    active: traitlets.List[str] = traitlets.List().tag(sync=True)

    def __init__(self, loss: Any, params: viz.Params = None, gradient: Any = None) -> None:
        self.graph = viz.trace(loss, params)
        self._replay = Replay(self.graph, gradient)
        self._names = self.graph.names()
        self._into = self.graph.incoming()
        users: dict[str, list[str]] = {node.id: [] for node in self.graph.nodes}
        for edge in self.graph.edges:
            users[edge.source].append(edge.target)
        self._users = users
        super().__init__()
        drawing = viz.svg(self.graph)
        self._fallback = viz.Picture(self.graph, None, drawing)
        with self.hold_trait_notifications():
            self.last = len(self._replay.steps)
            self.svg = drawing or ""
            self.label = f"Autograd graph of {len(self.graph.nodes)} nodes"
            self.outline = viz.outline(self.graph)
            self.note = self._replay.note
            self.nodes = [
                {
                    "id": node.id,
                    "label": f"{self._names[node.id]}, {node.kind}, {node.signature}",
                    "inputs": [edge.source for edge in self._into[node.id]],
                    "users": users[node.id],
                }
                for node in self.graph.nodes
            ]
        self._refresh()

    def __repr__(self) -> str:
        return f"GraphView({len(self.graph.nodes)} nodes)"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = self._fallback._repr_html_()
        return bundle

    @traitlets.validate("selected")
    def _check_selected(self, proposal: dict[str, Any]) -> str:
        wanted: str = proposal["value"]
        ids = {node.name: node.id for node in self.graph.nodes if node.name}
        ids |= {node.id: node.id for node in self.graph.nodes} | {"": ""}
        if wanted not in ids:
            raise traitlets.TraitError(
                f"there is no node {wanted!r}: the ids are n0 to n{len(self.graph.nodes) - 1}"
            )
        return ids[wanted]

    @traitlets.validate("step")
    def _check_step(self, proposal: dict[str, Any]) -> int:
        step: int = proposal["value"]
        if not 0 <= step <= self.last:
            raise traitlets.TraitError(f"step {step} is not between 0 and the last, {self.last}")
        return step

    @traitlets.observe("selected", "step")
    def _refresh(self, change: Any = None) -> None:
        current = self._replay.steps[self.step - 1] if self.step else None
        with self.hold_sync():
            self.status = self._status(current)
            self.sums = self._sums(current)
            self.panel = self._panel(self.graph[self.selected]) if self.selected else []
            self.marks = self._marks(current)
            self.active = [
                f"{message.target}->{key}"
                for key in (current.nodes if current else ())
                for message in (current.sent if current else ())
            ]

    # ------------------------------------------------------------ the words

    def _status(self, current: Step | None) -> str:
        """The step in one sentence, for the live region and the slider."""
        if self.note:
            return self.note
        if current is None:
            return f"Before backward: no gradient has arrived yet. {self.last} steps follow."
        who = " and ".join(self._names[key] for key in current.nodes)
        first = self.graph[current.nodes[0]]
        if first.kind == "output":
            given = " and ".join(map(summary, current.received))
            text = f"backward() starts: {who} receives the gradient {given}."
        elif first.kind == "leaf":
            parts = self._replay.expected[first.id]
            text = (
                f"{who} has its whole gradient, {summary(current.received[0])}, the sum of "
                f"{parts} {'contribution' if parts == 1 else 'contributions'}. "
                f"Now backward() would do {who}.grad += this."
            )
        else:
            given = " and ".join(map(summary, current.received))
            sent = "; ".join(
                f"to {self._names[m.target]}: {summary(m.value)}" for m in current.sent
            )
            text = f"{who} runs on its gradient, {given}. It sends {sent or 'nothing'}."
        return f"Step {self.step} of {self.last}: {text}"

    def _sums(self, current: Step | None) -> list[list[str]]:
        """What the step adds: where, how much, the sum now, and how many of how many have come."""
        if current is None:
            return []
        first = self.graph[current.nodes[0]]
        if first.kind == "leaf" and first.tensor is not None:
            grad, total = first.tensor.grad, current.received[0]
            old = None if grad is None else grad.numpy(force=True)
            new = total if old is None or total is None else old + total
            return [[f"{self._names[first.id]}.grad", _cell(total), _cell(new), "not done here"]]
        rows = []
        running = {m.target: self._replay.adjoint(m.target, self.step - 1) for m in current.sent}
        count = {
            m.target: len(self._replay.arrivals(m.target, self.step - 1)) for m in current.sent
        }
        for m in current.sent:
            sums = running[m.target]
            if m.value is not None:
                sums[m.output] = sums[m.output] + m.value if m.output in sums else m.value
            count[m.target] += 1
            several = len(self.graph[m.target].shapes) > 1
            where = self._names[m.target] + (f", output {m.output}" if several else "")
            came = f"{count[m.target]} of {self._replay.expected[m.target]}"
            rows.append([where, _cell(m.value), _cell(sums.get(m.output)), came])
        return rows

    def _marks(self, current: Step | None) -> dict[str, str]:
        """A short word at each node that something has happened to."""
        marks = {}
        for node in self.graph.nodes:
            if current is not None and node.id in current.nodes:
                marks[node.id] = "now"
            elif self._replay.fired.get(node.id, self.last + 1) <= self.step:
                marks[node.id] = "done"
            elif came := self._replay.arrivals(node.id, self.step):
                marks[node.id] = f"{len(came)} of {self._replay.expected[node.id]}"
        return marks

    def _panel(self, node: Node) -> list[list[str]]:
        """What there is to say of one node, as rows of a name and a text."""
        rows = [
            ["node", f"{self._names[node.id]} [{node.id}]"],
            ["kind", KINDS[node.kind]],
            ["shape", "; ".join(map(str, node.shapes))],
            ["dtype", "; ".join(node.dtypes)],
        ]
        if not self.note:
            rows.append([f"gradient at step {self.step}", self._gradient(node)])
        if node.kind == "leaf" and node.tensor is not None:
            grad = node.tensor.grad
            rows.append(["own .grad", "None" if grad is None else _cell(grad.numpy(force=True))])
        if node.tensor is not None:
            rows.append(["value", _cell(node.tensor.numpy(force=True))])
        if node.kind == "op" and node.function is not None:
            sources = {edge.input: self._names[edge.source] for edge in self._into[node.id]}
            slots = range(len(node.function.next_functions))
            kept = "; ".join(map(_saved, node.function.saved))
            rows.append(["grad_fn", node.op])
            rows.append(["inputs", ", ".join(sources.get(i, "no gradient") for i in slots)])
            rows.append(["saved for backward", kept or "nothing"])
        if users := self._users[node.id]:
            rows.append(["used by", ", ".join(self._names[key] for key in users)])
        return rows

    def _gradient(self, node: Node) -> str:
        """The running gradient of a node, and how much of it has come."""
        sums = self._replay.adjoint(node.id, self.step)
        texts = [_cell(sums.get(output)) for output in sorted(sums)]
        if len(node.shapes) > 1:
            texts = [f"output {n}: {text}" for n, text in zip(sorted(sums), texts, strict=True)]
        came = len(self._replay.arrivals(node.id, self.step))
        total = self._replay.expected[node.id]
        if self._replay.fired.get(node.id, self.last + 1) <= self.step:
            return "; ".join(texts) or "none"
        return f"{'; '.join(texts) or 'none'} (so far: {came} of {total})" if came else "not yet"


def _saved(value: Any) -> str:
    """One thing that forward kept: an array in words, a plain value as it is."""
    if hasattr(value, "strides"):
        array = backend_of(value).to_host(value)
        return f"{array.shape} {array.dtype} {summary(array)}"
    return str(value)[:60]


KINDS = {"op": "operation", "leaf": "leaf variable", "output": "result"}


def summary(array: Array | None, few: int = 4) -> str:
    """An array in one line: all values when they are `few`, else their range and mean."""
    if array is None:
        return "none"
    if array.size <= few:
        return " ".join(_values(array).split())
    low, high = array.min(), array.max()
    if low == high:
        return f"{array.size} values, all {low:.5g}"
    return f"{array.size} values from {low:.5g} to {high:.5g}, mean {array.mean():.5g}"


def _cell(array: Array | None) -> str:
    """An array for a table's cell: up to 16 values in their rows, else as in `summary`."""
    return summary(array) if array is None or array.size > 16 else _values(array)


def _values(array: Array) -> str:
    formatter: Any = {"float_kind": "{:.5g}".format, "bool": str}
    return np.array2string(array, separator=", ", formatter=formatter)
