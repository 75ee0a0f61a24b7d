"""A graph as it is drawn: folded, laid out by Graphviz, with the boxes that a browser can select.

The view has one for the learner's graph, and one for a reference beside it. It knows no traits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tinygrad_course import viz
from tinygrad_course.viz import Graph, Node


class Shown:
    """`graph` folded as `collapse` says, which is that of `tg.viz.fold`; `fold` changes it."""

    def __init__(self, graph: Graph, collapse: Any, max_nodes: int) -> None:
        self.graph, self.max_nodes = graph, max_nodes
        self.foldable = viz.foldable(graph)
        self.fold(collapse)

    def fold(self, collapse: Any) -> None:
        """Folds and draws it anew. ValueError for what cannot be folded."""
        self.folded = viz.fold(self.graph, collapse, self.max_nodes)
        self.members = self.folded.members()
        self.svg = viz.svg(self.folded, max_nodes=self.max_nodes)

    def fold_known(self, names: Iterable[str]) -> None:
        """Folds what this graph has of `names`; nothing where it has none of them."""
        self.fold([name for name in names if name in self.foldable] or "none")

    def stored(self) -> str | None:
        """The drawing that a notebook stores: no larger than an ordinary one."""
        small = len(self.folded.graph.nodes) <= viz.MAX_NODES
        return self.svg if small else viz.svg(viz.fold(self.graph))

    @property
    def collapsed(self) -> list[str]:
        """What is folded, as `fold` takes it."""
        paths = {viz.fold_name(n): None for n in self.folded.graph.nodes if n.kind == "module"}
        return [*(["cells"] if self.folded.cells else []), *paths]

    def find(self, wanted: str) -> Node | None:
        """The node of this id, or else of this name, drawn or inside a box."""
        if wanted in self.folded.graph:
            return self.folded.graph[wanted]
        if wanted in self.graph:
            return self.graph[wanted]
        nodes = (*self.graph.nodes, *self.folded.graph.nodes)
        return next((n for n in nodes if n.name == wanted and wanted), None)

    def box(self, key: str) -> str:
        """The box that stands for a node, which may be one itself."""
        return self.folded.home.get(key, key)

    def boxes(self) -> list[dict[str, Any]]:
        """What a browser has to know of every box: its words, and where the arrows lead."""
        folded = self.folded.graph
        names, into = folded.names(), folded.incoming()
        users: dict[str, list[str]] = {node.id: [] for node in folded.nodes}
        for edge in folded.edges:
            users[edge.source].append(edge.target)
        return [
            {
                "id": node.id,
                "label": f"{names[node.id]}, {node.kind}, {node.signature}",
                "inputs": [edge.source for edge in into[node.id]],
                "users": users[node.id],
                "box": viz.fold_name(node) if node.kind == "module" else "",
                "module": node.module,
            }
            for node in folded.nodes
        ]

    def modules(self) -> list[dict[str, Any]]:
        """What can be folded, and whether it is."""
        folded = self.collapsed
        return [
            {"path": path, "words": words, "collapsed": path in folded}
            for path, words in self.foldable.items()
        ]

    @property
    def label(self) -> str:
        """The picture's name in one line."""
        folds = "" if len(self.folded.graph.nodes) == len(self.graph.nodes) else (
            f", folded to {len(self.folded.graph.nodes)}")  # fmt: skip
        return f"Autograd graph of {len(self.graph.nodes)} nodes{folds}"

    def on_boxes(self, words: Mapping[str, str]) -> dict[str, str]:
        """`words` about nodes as words at boxes; a box of several nodes counts those inside."""
        told = {}
        for box, members in self.members.items():
            found = [words[key] for key in members if key in words]
            if found:
                told[box] = found[0] if len(members) == 1 else f"{len(found)} inside differ"
        return told
