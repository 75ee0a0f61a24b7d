"""GraphView: an autograd graph in a notebook, with a panel for each node and backward by steps.

Python draws the SVG, records the pass and writes every word (`story`); the ES modules in `js` show
them and report what the learner does. All that the mouse can do, Python can, through the traits
below and a few methods. Values travel to the browser as short texts and small heat maps, and only
those of the selected node and the current step.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tinygrad_course import viz

from . import predictions, story, values
from .beside import WHOLE, Beside
from .bundle import bundle
from .replay import Replay
from .shown import Shown

_HERE = Path(__file__).parent
MOST_FOUND = 1000
"""So many matches of a search travel to the browser."""


class GraphView(anywidget.AnyWidget):
    """The graph behind `loss` (a tensor or a tuple of them) and one backward pass through it.

    `params` names tensors, as for `tg.viz.trace`; `gradient` is needed where backward() needs it.
    A `tg.viz.record` in which something failed may stand for `loss`. `collapse` and `max_nodes` are
    those of `tg.viz.fold`. `reference`, another result, is drawn beside, the differences marked.

    `selected` is the id of a node ("n3"; a tensor's name may be assigned) or "", `twin` that of the
    reference's node that corresponds (set one and the other follows), `step` counts from 0
    (nothing yet) to `last`, `collapsed` lists what is folded, `playing` and `predicting` switch
    those modes; set here or in the browser, they call what `observe` (or `on_step`, `on_select`)
    registered. The learner's `.grad` and the graph's buffers stay as they are; hooks that were
    registered do run. TypeError for what is no tensor, RuntimeError for a `gradient` of another
    shape.
    """

    _esm = bundle(_HERE / "js")
    _css = _HERE / "graph_view.css"

    selected = traitlets.Unicode("").tag(sync=True)
    twin = traitlets.Unicode("", help="What is selected in the reference.").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    collapsed: traitlets.List[str] = traitlets.List(traitlets.Unicode()).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    pace = traitlets.Float(1.0, help="Seconds for each step of play().").tag(sync=True)
    search = traitlets.Unicode("", help="Which nodes are marked: those `find` finds.").tag(
        sync=True
    )
    predicting = traitlets.Bool(False).tag(sync=True)
    listing = traitlets.Bool(False, help="Whether all running gradients are shown.").tag(sync=True)

    # What is shown, one way: fixed ones first, then those that follow the traits above.
    last = traitlets.Int(0).tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    clashes: traitlets.List[str] = traitlets.List().tag(sync=True)
    modules: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    memory: traitlets.List[list[int]] = traitlets.List().tag(sync=True)
    reference = traitlets.Dict().tag(sync=True)
    differs = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)
    outline = traitlets.Unicode("").tag(sync=True)
    nodes: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    told = traitlets.Int(0, help="The step that all this is about.").tag(sync=True)
    sums: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    panel: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    heat: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    lesson = traitlets.Unicode("").tag(sync=True)
    lesson_file = traitlets.Unicode("", help="Where it lies beside the notebook.").tag(sync=True)
    highlight = traitlets.Unicode("").tag(sync=True)
    twin_panel: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    twin_highlight = traitlets.Unicode("").tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    active: traitlets.List[str] = traitlets.List().tag(sync=True)
    gradients: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    found = traitlets.Dict({"text": "", "nodes": []}).tag(sync=True)
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
        self._shown = Shown(self.graph, collapse, max_nodes)
        self._beside = None if reference is None else (
            Beside(self._shown, reference, reference_params, gradient))  # fmt: skip
        self._steps = [0]  # those that were shown, for undo
        self.predictions: list[predictions.Prediction] = []
        self._fallback = self._picture()
        super().__init__()
        memory = self._story.memory
        with self.hold_trait_notifications():
            self.last = len(self._replay.steps)
            self.note = self._replay.note
            self.outline = viz.outline(self.graph)
            self.clashes = [text for node in self.graph.nodes for text in story.clashes(node)]
            self.memory = [list(pair) for pair in zip(memory.kept, memory.gradients, strict=True)]
        self.set_trait("collapsed", self._shown.collapsed)
        self._show_drawing()
        self.observe(self._refold, "collapsed")
        self.on_msg(self._on_browser)
        self._refresh()

    def __repr__(self) -> str:
        return f"GraphView({len(self.graph.nodes)} nodes)"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        stored = super()._repr_mimebundle_(**kwargs)
        if stored is not None:
            stored[0]["text/html"] = self._fallback
        return stored

    def _picture(self) -> str:
        """What is stored: an image with alternative text, and one of the reference."""
        mine = viz.Picture(self.graph, None, self._shown.stored())._repr_html_()
        if self._beside is None:
            return mine
        theirs = self._beside.shown
        other = viz.Picture(theirs.graph, self._beside.label, theirs.stored())._repr_html_()
        return f"{mine}\n{other}\n<pre>{html.escape(self._beside.words)}</pre>"

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """All traits, also for a web page, which is otherwise not told of those at their default:
        the browser's half has no defaults of its own."""
        state: dict[str, Any] = super().get_state(key)
        return state

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
        """The ids of the nodes whose name, kind, shapes, module or line holds `text`."""
        return self._story.find(text)

    def on_step(self, callback: Callable[[int], Any]) -> None:
        """Calls `callback(step)` whenever another step is shown."""
        self.observe(lambda change: callback(change["new"]), "step")

    def on_select(self, callback: Callable[[str], Any]) -> None:
        """Calls `callback(id)` whenever another node is selected, or "" for none."""
        self.observe(lambda change: callback(change["new"]), "selected")

    def predict(self, node: str, shape: str | Sequence[int]) -> predictions.Prediction:
        """Says which node fires in the next step and which shape its gradient has; the answer is
        graded, kept in `predictions` and counted in the progress file, and the step is shown.
        RuntimeError at the start and at the end, where there is nothing to ask."""
        right = predictions.right_answer(self._replay, self.step + 1)
        if right is None:
            raise RuntimeError(f"there is nothing to predict at step {self.step} of {self.last}")
        said = shape if isinstance(shape, str) else str(tuple(shape))
        node = _known(self._shown, node)
        if node not in self.graph:
            raise traitlets.TraitError(f"{node!r} is no node that fires, but a box of several")
        answer = predictions.Prediction(self.step + 1, node, predictions.read_shape(said), *right)
        self.predictions.append(answer)
        told = predictions.verdict(answer, self.graph, self._replay)
        self.step += 1
        told += " {} of {} predictions were right.".format(*self.score)
        self.verdict = told + predictions.note(answer)
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

    @traitlets.validate("selected", "twin")
    def _check_node(self, proposal: dict[str, Any]) -> str:
        wanted: str = proposal["value"]
        if proposal["trait"].name == "selected":
            return _known(self._shown, wanted)
        if wanted and self._beside is None:
            raise traitlets.TraitError("there is no reference: GraphView(out, reference=...)")
        return wanted and _known(self._beside.shown, wanted)  # type: ignore[union-attr]

    @traitlets.validate("step")
    def _check_step(self, proposal: dict[str, Any]) -> int:
        step: int = proposal["value"]
        if not 0 <= step <= self.last:
            raise traitlets.TraitError(f"step {step} is not between 0 and the last, {self.last}")
        return step

    @traitlets.validate("collapsed")
    def _check_collapsed(self, proposal: dict[str, Any]) -> list[str]:
        wanted: list[str] = proposal["value"]
        if unknown := [name for name in wanted if name not in self._shown.foldable]:
            raise traitlets.TraitError(
                f"collapse names {unknown[0]!r}: neither a module that ran inside "
                f'tg.viz.record() nor "cells", the steps of a loop: {list(self._shown.foldable)}'
            )
        return wanted

    def _refold(self, change: Any) -> None:
        with self.hold_sync():
            self._shown.fold_known(self.collapsed)
            if self._beside is not None:
                self._beside.shown.fold_known(self.collapsed)
                self.twin = self.twin if self._beside.shown.find(self.twin) else ""
            self.selected = self.selected if self._shown.find(self.selected) else ""
            self._show_drawing()
            self._refresh()

    @traitlets.observe("selected", "twin")
    def _pair(self, change: Any) -> None:
        """Lets the other side follow. What has no twin leaves nothing selected there, and is not
        deselected by that."""
        beside, key = self._beside, change["new"]
        if beside is None:
            return
        if change["name"] == "selected":
            if key or beside.own(self.twin):
                self.twin = beside.twin(key)
        elif key or beside.twin(self.selected):
            self.selected = beside.own(key)

    @traitlets.observe("selected", "twin", "step", "predicting", "listing")
    def _refresh(self, change: Any = None) -> None:
        tale, step = self._story, self.step
        if change and change["name"] == "step" and self._steps[-1:] != [step]:
            self._steps = [*self._steps[-999:], step]
        with self.hold_sync():
            self.status, self.told = tale.status(step), step
            self.sums = tale.sums(step)
            self._show_node()
            self.marks = tale.marks(step, self._shown.folded)
            self.active = tale.arrows(step, self._shown.folded)
            self.gradients = tale.gradients(step) if self.listing else []
            self.verdict = ""
            asked = (
                predictions.candidates(self.graph, self._replay, step + 1)
                if self.predicting
                else []
            )
            self.question = [[key, tale.names[key]] for key in asked]

    def _show_node(self) -> None:
        self.highlight = self._shown.box(self.selected)
        panel, heat, lesson = [], [], ""
        beside, step = self._beside, self.step
        if self.selected and (node := self._shown.find(self.selected)):
            gradients = {f"gradient at step {step}": step}
            if beside is not None:
                gradients[WHOLE] = self.last
            panel = self._story.panel(node, gradients, self._shown.members.get(node.id, [node.id]))
            gradient = self._replay.adjoint(node.id, step).get(0)
            value = None if node.tensor is None else node.tensor.numpy(force=True)
            heat = values.heats(value=value, gradient=gradient)
            lesson = "" if node.function is None else story.lesson(node)
        if beside is not None:
            self.twin_highlight = beside.shown.box(self.twin)
            self.twin_panel = beside.panel(self.twin)
            heat += beside.heats(self.twin)
            panel = beside.own_panel(self.selected, panel)
        self.panel, self.heat, self.lesson = panel, heat, lesson
        file = f"{lesson}.ipynb"
        self.lesson_file = file if lesson and Path(file).is_file() else ""

    @traitlets.observe("search")
    def _find(self, change: Any = None) -> None:
        keys = self.find(self.search) if self.search else []
        pairs: Any = [[key, self._shown.box(key)] for key in keys[:MOST_FOUND]]
        self.found = {"text": self.search, "nodes": pairs}

    def _show_drawing(self) -> None:
        with self.hold_sync():
            self.nodes = self._shown.boxes()
            self.modules = self._shown.modules()
            self.label = self._shown.label
            self.svg = self._shown.svg or ""
            if self._beside is not None:
                self.differs = self._beside.differs()
                self.reference = self._beside.drawing()
            self._find()


def _known(shown: Shown, wanted: str) -> str:
    """The id of the node with this id or name."""
    node = shown.find(wanted) if wanted else None
    if node is None and wanted:
        raise traitlets.TraitError(
            f"there is no node {wanted!r}: the ids are n0 to n{len(shown.graph.nodes) - 1}"
        )
    return "" if node is None else node.id
