"""The reference beside the learner's graph: what differs, and which node stands for which.

It is drawn, and told, as the learner's own graph is; its backward pass is recorded, too, so that
both gradients of a node can be read side by side.
"""

from __future__ import annotations

from typing import Any

from tinygrad_course import viz

from . import values
from .replay import Replay
from .shown import Shown
from .story import Story

WHOLE = "whole gradient"
"""The row of a panel in which both sides' gradients, at the end, can be compared."""


class Beside:
    """`reference`, a result, beside the `mine` of the view; `gradient` is that of the view."""

    def __init__(self, mine: Shown, reference: Any, params: viz.Params, gradient: Any) -> None:
        graph = viz.trace(reference, params)
        try:
            replay = Replay(graph, gradient)
        except RuntimeError:  # its result has another shape, for which there is no gradient
            replay = Replay(graph)
        self.mine, self.shown = mine, Shown(graph, None, mine.max_nodes)
        self.story = Story(graph, replay)
        found = viz.compare(mine.graph, graph)
        self.words = str(found)
        self.label = f"The reference. {viz.describe(graph)}"
        self.twins = found.pairs
        self.back = {twin: key for key, twin in found.pairs.items()}
        self.here = found.changed | dict.fromkeys(found.extra, "only here")
        self.there = {found.pairs[key]: words for key, words in found.changed.items()}
        self.there |= dict.fromkeys(found.missing, "missing in yours")

    def twin(self, key: str) -> str:
        """The reference's node for one of the learner's, "" where there is none."""
        return self.twins.get(key) or _same_box(self.mine, self.shown, key)

    def own(self, key: str) -> str:
        """The learner's node for one of the reference's, "" where there is none."""
        return self.back.get(key) or _same_box(self.shown, self.mine, key)

    def differs(self) -> dict[str, str]:
        """What differs, in a word or two, at the boxes of the learner's drawing."""
        return self.mine.on_boxes({key: _short(words) for key, words in self.here.items()})

    def differs_there(self) -> dict[str, str]:
        """The same at those of the reference's."""
        return self.shown.on_boxes({key: _short(words) for key, words in self.there.items()})

    def drawing(self) -> dict[str, Any]:
        """The reference's drawing, for the browser."""
        return {
            "svg": self.shown.svg or "",
            "label": self.label,
            "nodes": self.shown.boxes(),
            "differs": self.differs_there(),
            "words": self.words,
        }

    def panel(self, key: str) -> list[list[str]]:
        """What there is to say of one of the reference's nodes, after its backward pass."""
        if (node := self.shown.find(key)) is None:
            return []
        gradients = {WHOLE: self.story.last}
        rows = self.story.panel(node, gradients, self.shown.members.get(node.id, [node.id]))
        return _with_difference(rows, self.there.get(node.id) or self.differs_there().get(node.id))

    def heats(self, key: str) -> list[dict[str, Any]]:
        """The heat maps of one of the reference's nodes."""
        if (node := self.shown.find(key)) is None:
            return []
        value = None if node.tensor is None else node.tensor.numpy(force=True)
        gradient = self.story.replay.adjoint(node.id, self.story.last).get(0)
        return values.heats(reference_value=value, reference_gradient=gradient)

    def own_panel(self, key: str, rows: list[list[str]]) -> list[list[str]]:
        """The `rows` about one of the learner's nodes, with what differs."""
        return _with_difference(rows, self.here.get(key) or self.differs().get(key))


def _with_difference(rows: list[list[str]], words: str | None) -> list[list[str]]:
    return [*rows[:1], ["difference", words or "none"], *rows[1:]] if rows else []


def _short(words: str) -> str:
    """The words as they are where they name the side, else that there is a difference."""
    return words if words in ("only here", "missing in yours") else "differs"


def _same_box(here: Shown, there: Shown, key: str) -> str:
    """The other side's box for a collapsed module: that of the same call."""
    node = here.find(key)
    if node is None or node.kind != "module":
        return ""
    twin = there.find(node.name)
    return "" if twin is None or twin.kind != "module" else twin.id
