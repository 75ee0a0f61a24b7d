"""GraphView: an autograd graph in a notebook, with a panel for each node and backward by steps.

Python draws the SVG, records the pass and writes every word (`story`); the ES modules in `js` show
them and report what the learner does. All that the mouse can do, Python can, through the traits
below and a few methods. Values travel to the browser as short texts and small heat maps, and only
those of the selected node and the current step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tinygrad_course import viz
from tinygrad_course.viz import Folded, Node

from . import predictions, story, values
from .bundle import bundle
from .replay import Replay

_HERE = Path(__file__).parent


class GraphView(anywidget.AnyWidget):
    """The graph behind `loss` (a tensor or a tuple of them) and one backward pass through it.

    `params` names tensors, as for `tg.viz.trace`; `gradient` is needed where backward() needs it.
    A `tg.viz.record` in which something failed may stand for `loss`. `collapse` and `max_nodes` are
    those of `tg.viz.fold`. `reference`, another result, is drawn beside, the differences marked.

    `selected` is the id of a node ("n3"; a tensor's name may be assigned) or "", `step` counts from
    0 (nothing yet) to `last`, `collapsed` lists what is folded, `playing` and `predicting` switch
    those modes; set here or in the browser, they call what `observe` (or `on_step`, `on_select`)
    registered. The learner's `.grad` and the graph's buffers stay as they are; hooks that were
    registered do run. TypeError for what is no tensor, RuntimeError for a `gradient` of another
    shape.
    """

    _esm = bundle(_HERE / "js")
    _css = _HERE / "graph_view.css"

    selected = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    collapsed: traitlets.List[str] = traitlets.List(traitlets.Unicode()).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    pace = traitlets.Float(1.0, help="Seconds for each step of play().").tag(sync=True)
    predicting = traitlets.Bool(False).tag(sync=True)
    listing = traitlets.Bool(False, help="Whether all running gradients are shown.").tag(sync=True)

    # What is shown, one way: fixed ones first, then those that follow the traits above.
    last = traitlets.Int(0).tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    clashes: traitlets.List[str] = traitlets.List().tag(sync=True)
    modules: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    memory: traitlets.List[list[int]] = traitlets.List().tag(sync=True)
    reference = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)
    outline = traitlets.Unicode("").tag(sync=True)
    nodes: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    sums: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    panel: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    heat: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    lesson = traitlets.Unicode("").tag(sync=True)
    highlight = traitlets.Unicode("").tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    active: traitlets.List[str] = traitlets.List().tag(sync=True)
    gradients: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    question: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    verdict = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        loss: Any,
        params: viz.Params = None,
        gradient: Any = None,
        *,
        collapse: Any = None,
        max_nodes: int = viz.MAX_NODES,
        reference: Any = None,
        reference_params: viz.Params = None,
    ) -> None:
        self.graph = viz.trace(loss, params)
        self._replay = Replay(self.graph, gradient)
        self._story = story.Story(self.graph, self._replay)
        self._max_nodes = max_nodes
        self._foldable = viz.foldable(self.graph)
        self._steps = [0]  # those that were shown, for undo
        self.predictions: list[predictions.Prediction] = []
        folded = viz.fold(self.graph, collapse, max_nodes)
        super().__init__()
        drawing = self._draw(folded)
        self._fallback = viz.Picture(self.graph, None, drawing)
        memory = self._story.memory
        with self.hold_trait_notifications():
            self.last = len(self._replay.steps)
            self.note = self._replay.note
            self.outline = viz.outline(self.graph)
            self.clashes = [text for node in self.graph.nodes for text in story.clashes(node)]
            self.memory = [list(pair) for pair in zip(memory.kept, memory.gradients, strict=True)]
            self.reference = self._against(reference, reference_params)
        self.set_trait("collapsed", _boxes(folded))
        self.observe(self._refold, "collapsed")
        self.on_msg(self._on_browser)
        self._refresh()

    def __repr__(self) -> str:
        return f"GraphView({len(self.graph.nodes)} nodes)"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        stored = super()._repr_mimebundle_(**kwargs)
        if stored is not None:
            stored[0]["text/html"] = self._fallback._repr_html_()
        return stored

    # ---------------------------------------------------------------- what the mouse can do

    def play(self) -> None:
        """Runs through the steps, one every `pace` seconds, where the view is shown."""
        self.playing = True

    def pause(self) -> None:
        """Stops playing."""
        self.playing = False

    def undo(self) -> None:
        """Goes back to the step that was shown before this one."""
        if len(self._steps) > 1:
            self._steps.pop()
            self.step = self._steps[-1]

    def collapse(self, *names: str) -> None:
        """Folds the modules of these paths, or the steps of loops ("cells"), into one box each."""
        self.collapsed = [*dict.fromkeys([*self.collapsed, *names])]

    def expand(self, *names: str) -> None:
        """Unfolds them; all without a name."""
        self.collapsed = [name for name in self.collapsed if names and name not in names]

    def find(self, text: str) -> list[str]:
        """The ids of the nodes whose title, module or line holds `text`."""
        wanted = text.lower()
        return [
            node.id
            for node in self.graph.nodes
            if wanted in " ".join((node.title, node.module, node.line)).lower()
        ]

    def on_step(self, callback: Callable[[int], Any]) -> None:
        """Calls `callback(step)` whenever another step is shown."""
        self.observe(lambda change: callback(change["new"]), "step")

    def on_select(self, callback: Callable[[str], Any]) -> None:
        """Calls `callback(id)` whenever another node is selected, or "" for none."""
        self.observe(lambda change: callback(change["new"]), "selected")

    def predict(self, node: str, shape: str | Sequence[int]) -> predictions.Prediction:
        """Says which node fires in the next step and which shape its gradient has; the answer is
        graded and kept in `predictions`, and the step is shown. RuntimeError at the start and at
        the end, where there is nothing to ask."""
        right = predictions.right_answer(self._replay, self.step + 1)
        if right is None:
            raise RuntimeError(f"there is nothing to predict at step {self.step} of {self.last}")
        said = shape if isinstance(shape, str) else str(tuple(shape))
        node = self._known(node)
        answer = predictions.Prediction(self.step + 1, node, predictions.read_shape(said), *right)
        self.predictions.append(answer)
        told = predictions.verdict(answer, self.graph, self._replay)
        self.step += 1
        self.verdict = f"{told} {self.score[0]} of {self.score[1]} predictions were right."
        return answer

    @property
    def score(self) -> tuple[int, int]:
        """How many predictions were right, of how many."""
        return sum(answer.right for answer in self.predictions), len(self.predictions)

    def _on_browser(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        if content.get("do") == "undo":
            self.undo()
        elif content.get("do") == "predict" and self.question:
            self.predict(content["node"], content["shape"])

    # ---------------------------------------------------------------- traits that depend on others

    def _known(self, wanted: str) -> str:
        ids = {node.name: node.id for node in self.graph.nodes if node.name}
        ids |= {node.id: node.id for node in (*self._folded.graph.nodes, *self.graph.nodes)}
        if wanted not in ids and wanted:
            raise traitlets.TraitError(
                f"there is no node {wanted!r}: the ids are n0 to n{len(self.graph.nodes) - 1}"
            )
        return ids.get(wanted, "")

    @traitlets.validate("selected")
    def _check_selected(self, proposal: dict[str, Any]) -> str:
        return self._known(proposal["value"])

    @traitlets.validate("step")
    def _check_step(self, proposal: dict[str, Any]) -> int:
        step: int = proposal["value"]
        if not 0 <= step <= self.last:
            raise traitlets.TraitError(f"step {step} is not between 0 and the last, {self.last}")
        return step

    @traitlets.validate("collapsed")
    def _check_collapsed(self, proposal: dict[str, Any]) -> list[str]:
        wanted: list[str] = proposal["value"]
        try:
            viz.fold(self.graph, wanted or "none")
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return wanted

    def _refold(self, change: Any) -> None:
        with self.hold_sync():
            self._draw(viz.fold(self.graph, self.collapsed or "none"))
            if self.selected and self.selected not in self._known_ids():
                self.selected = ""
            self._refresh()

    def _known_ids(self) -> set[str]:
        return {node.id for node in (*self._folded.graph.nodes, *self.graph.nodes)}

    @traitlets.observe("selected", "step", "predicting", "listing")
    def _refresh(self, change: Any = None) -> None:
        tale, step = self._story, self.step
        if change and change["name"] == "step" and self._steps[-1:] != [step]:
            self._steps = [*self._steps[-999:], step]
        current = tale.step(step)
        home = self._folded.home
        with self.hold_sync():
            self.status = tale.status(step)
            self.sums = tale.sums(step)
            self._show_node()
            self.marks = tale.marks(step, self._folded)
            self.active = [
                f"{home[message.target]}->{home[key]}"
                for key in (current.nodes if current else ())
                for message in (current.sent if current else ())
            ]
            self.gradients = tale.gradients(step) if self.listing else []
            self.verdict = ""
            asked = predictions.candidates(self.graph, self._replay, step + 1)
            self.question = [[key, tale.names[key]] for key in asked] if self.predicting else []

    def _show_node(self) -> None:
        self.highlight = self._folded.home.get(self.selected, self.selected)
        if not self.selected:
            self.panel, self.heat, self.lesson = [], [], ""
            return
        drawn = {node.id: node for node in self._folded.graph.nodes}
        node: Node = drawn[self.selected] if self.selected in drawn else self.graph[self.selected]
        members = self._folded.members().get(node.id, [node.id])
        self.panel = self._story.panel(node, self.step, members)
        gradient = self._replay.adjoint(node.id, self.step).get(0)
        value = None if node.tensor is None else node.tensor.numpy(force=True)
        maps = [values.heat("value", value), values.heat("gradient", gradient)]
        self.heat = [each for each in maps if each is not None]
        self.lesson = "" if node.function is None else story.lesson(node)

    # ---------------------------------------------------------------- drawing

    def _draw(self, folded: Folded) -> str | None:
        """Shows `folded`; returns its SVG."""
        self._folded = folded
        drawing = viz.svg(folded, max_nodes=self._max_nodes)
        names = folded.graph.names()
        into = folded.graph.incoming()
        users: dict[str, list[str]] = {node.id: [] for node in folded.graph.nodes}
        for edge in folded.graph.edges:
            users[edge.source].append(edge.target)
        boxes = set(_boxes(folded))
        with self.hold_sync():
            self.nodes = [
                {
                    "id": node.id,
                    "label": f"{names[node.id]}, {node.kind}, {node.signature}",
                    "inputs": [edge.source for edge in into[node.id]],
                    "users": users[node.id],
                    "box": viz.fold_name(node) if node.kind == "module" else "",
                    "module": node.module,
                }
                for node in folded.graph.nodes
            ]
            self.modules = [
                {"path": path, "words": words, "collapsed": path in boxes}
                for path, words in self._foldable.items()
            ]
            folds = "" if folded.graph is self.graph else f", folded to {len(folded.graph.nodes)}"
            self.label = f"Autograd graph of {len(self.graph.nodes)} nodes{folds}"
            self.svg = drawing or ""
        return drawing

    def _against(self, other: Any, params: viz.Params) -> dict[str, Any]:
        """The reference's drawing, and what differs: by node here, by node there, in words."""
        if other is None:
            return {}
        graph = viz.trace(other, params)
        found = viz.compare(self.graph, graph)
        here = dict.fromkeys(found.extra, "only here") | dict.fromkeys(found.changed, "differs")
        there = dict.fromkeys(found.missing, "missing here")
        there |= {found.pairs[key]: "differs" for key in found.changed}
        return {
            "svg": viz.svg(viz.fold(graph, max_nodes=self._max_nodes)) or "",
            "label": f"The reference. {viz.describe(graph)}",
            "here": here,
            "there": there,
            "words": str(found),
        }


def _boxes(folded: Folded) -> list[str]:
    """What is collapsed in a folded graph, as `fold` takes it."""
    paths = {viz.fold_name(node): None for node in folded.graph.nodes if node.kind == "module"}
    return [*(["cells"] if folded.cells else []), *paths]
