"""DOT and SVG: the graph as boxes and arrows, laid out by Graphviz.

Boxes say in words what their colours say, too; modules and the steps of loops are frames around
their nodes. The layout is that of the wheel graphviz-pure, the same on every machine. It draws what
`graph` and `fold` hand over and looks up nothing but notes. Lesson 04.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections import deque
from pathlib import Path
from typing import Any

from .fold import MAX_NODES, Collapse, Folded, fold
from .graph import Graph, Node, Params, printable, trace
from .notes import Scope
from .words import count, remark

# The colours that torchviz's users know; the words in each box say the same.
COLOURS = {
    "leaf": "lightblue",
    "op": "lightgrey",
    "output": "darkolivegreen1",
    "module": "lightgoldenrod1",
    "failed": "lightsalmon",
}
SAVED, BASE = "orange", "darkolivegreen3"
DIRECTIONS = ("TB", "BT", "LR", "RL")
PATIENCE = 20  # seconds for the layout of a graph that was wanted larger than MAX_NODES


def make_dot(
    out: Any,
    params: Params = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    collapse: Collapse = None,
    rankdir: str = "TB",
    max_nodes: int = MAX_NODES,
) -> Any:
    """The graph behind `out` as a `graphviz.Digraph`, which a notebook draws.

    `out` and `params` are those of `trace`, `collapse` is that of `fold`; data flows along
    `rankdir` ("TB", "BT", "LR", "RL"). `show_attrs` writes into each box what its forward kept,
    `show_saved` draws kept tensors, and the base of a result that is a view, as boxes of their own.
    A graph of more than `max_nodes` nodes is
    folded; if that is not enough, those nearest to the results are drawn and the others counted in
    one box. Needs the package graphviz, and for drawing a `dot` or graphviz-pure. ImportError
    without the first; ValueError for another direction.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> print(make_dot(x.sum(), {"x": x}).source.splitlines()[-2].strip())
    n2 -> n1
    """
    return digraph(trace(out, params), rankdir, max_nodes, collapse, show_attrs, show_saved)


def digraph(
    graph: Graph | Folded,
    rankdir: str = "TB",
    max_nodes: int = MAX_NODES,
    collapse: Collapse = None,
    show_attrs: bool = False,
    show_saved: bool = False,
) -> Any:
    """`make_dot` for a graph that is traced, or folded, already."""
    if rankdir not in DIRECTIONS:
        raise ValueError(f"rankdir must be one of {', '.join(DIRECTIONS)}, not {rankdir!r}")
    folded = fold(graph, collapse, max_nodes) if isinstance(graph, Graph) else graph
    return _Drawing(folded, rankdir, max_nodes, show_attrs, show_saved).dot


class _Drawing:
    """A `graphviz.Digraph` being filled: frames and nodes, what hangs on them, arrows."""

    def __init__(
        self, folded: Folded, rankdir: str, max_nodes: int, show_attrs: bool, show_saved: bool
    ) -> None:
        self.folded, self.graph = folded, folded.graph
        self.show_attrs, self.show_saved = show_attrs, show_saved
        self.graphviz = _graphviz()
        # Courier: its widths are known without the font. In others the words may outgrow theirs.
        self.dot = self.graphviz.Digraph(
            graph_attr={"rankdir": rankdir, "ranksep": "0.3", "nodesep": "0.2"},
            node_attr={"shape": "box", "style": "filled", "fontname": "Courier", "fontsize": "10",
                       "height": "0.2"},
            edge_attr={"fontname": "Courier", "fontsize": "9", "arrowsize": "0.7"},
        )  # fmt: skip
        kept = _nearest(self.graph, max_nodes)
        if len(kept) > 50:
            # Bounds the search for the best positions: a leaf that all steps of a loop use, such as
            # a recurrent weight, makes it 20 times slower than the rest of the layout.
            self.dot.graph_attr["nslimit"] = "2"
        self._nodes(kept)
        self._edges(kept)

    # ---- boxes in their frames

    def _nodes(self, kept: set[str]) -> None:
        cell_of = {key: cell for cell in self.folded.cells for key in cell.members}
        common = {
            cell.members: _common([self.graph[key].scopes for key in cell.members])
            for cell in self.folded.cells
        }
        frames: dict[Any, Any] = {}  # a frame's path -> (frames inside, nodes inside)
        tree: tuple[dict[Any, Any], list[Node]] = (frames, [])
        for node in self.graph.nodes:
            if node.id not in kept:
                continue
            path: list[Any] = [*node.scopes]
            if cell := cell_of.get(node.id):
                path.insert(common[cell.members], cell)
            place = tree
            for frame in path:
                place = place[0].setdefault(frame, ({}, []))
            place[1].append(node)
        self._number = 0
        self._fill(self.dot, tree)
        if hidden := len(self.graph.nodes) - len(kept):
            text = f"... {count(hidden, 'more node', 'more nodes')}"
            self.dot.node("more", text, style="dashed")

    def _fill(self, dot: Any, tree: tuple[dict[Any, Any], list[Node]]) -> None:
        for node in tree[1]:
            label = self.graphviz.nohtml(_escape(self._label(node)))
            more = {"peripheries": "2"} if node.kind in ("module", "failed") else {}
            if node.id == self.graph.failed:
                more = {"peripheries": "2", "fillcolor": COLOURS["failed"]}
            dot.node(node.id, label, **{"fillcolor": COLOURS[node.kind]} | more)
            self._attached(dot, node)
        for frame, inside in tree[0].items():
            if isinstance(frame, Scope):
                call = f", call {frame.call}" if frame.call > 1 else ""
                words, style = f"{frame.path}: {frame.kind}{call}", "rounded"
            else:
                words, style = f"{frame.count} times", "rounded,bold"
            name = f"cluster_{self._number}"
            self._number += 1
            with dot.subgraph(name=name) as sub:
                label = self.graphviz.nohtml(_escape(printable(words)))
                sub.attr(label=label, style=style, fontname="Courier", fontsize="10", labeljust="l")
                self._fill(sub, inside)

    def _label(self, node: Node) -> str:
        lines = [f"{printable(node.title)}{remark(node)}", node.signature]
        if node.id == self.graph.failed:
            lines[0] += "" if node.kind == "failed" else " (failed)"
            lines += _wrapped(printable(self.graph.error))
            lines += [printable(self.graph.error_line)]
        if self.show_attrs:
            lines += [f"keeps {printable(s.text)}" for s in node.saved if s.text != "None"]
            lines += [printable(hook) for hook in node.hooks]
        return "\n".join(line for line in lines if line or node.kind != "failed")

    def _attached(self, dot: Any, node: Node) -> None:
        """Boxes that are no nodes: kept tensors, the base of a view, cuts, and clashes."""
        told: set[int] = set()  # one box for each memory that was written
        for place, saved in enumerate(node.saved):
            if self.show_saved and saved.dtype:
                key = f"{node.id}_saved{place}"
                text = f"saved {saved.text}\n{count(saved.nbytes, 'byte', 'bytes')}"
                self._note(dot, key, text, SAVED)
                dot.edge(key, node.id, dir="none", style="dotted")
            if saved.clash and id(saved.counter) not in told and node.function is not None:
                told.add(id(saved.counter))
                key = f"{node.id}_clash{place}"
                lines = [f"version {saved.version} was saved, it is {saved.now} now"]
                lines += [f"version {write.version} by {printable(write.line)}"
                          for write in saved.writes(node.function)]  # fmt: skip
                self._note(dot, key, "\n".join(lines), COLOURS["failed"], style="filled,dashed")
                dot.edge(key, node.id, "clash", style="dashed")
        for border in node.borders:
            key = f"{node.id}_border{border.slot}"
            source = f" from {border.source}" if border.source else ""
            text = f"{border.why}{source}\n{border.shape} {border.dtype}"
            self._note(dot, key, text, "white", style="filled,dashed")
            dot.edge(key, node.id, style="dashed")
        tensor = node.tensor if node.kind == "output" and self.show_saved else None
        if tensor is not None and (base := tensor._base) is not None:
            key = f"{node.id}_base"
            self._note(dot, key, f"view base\n{tuple(base.shape)} {base.dtype.name}", BASE)
            dot.edge(key, node.id, style="dotted")

    def _note(self, dot: Any, key: str, text: str, colour: str, **more: str) -> None:
        dot.node(key, self.graphviz.nohtml(_escape(text)), fillcolor=colour, **more)

    # ---- arrows

    def _edges(self, kept: set[str]) -> None:
        cut: set[str] = set()
        counts = {key: cell.count for cell in self.folded.cells for key in cell.members}
        for edge in self.graph.edges:
            source = self.graph[edge.source]
            several = len(source.shapes) > 1 and source.kind != "module"
            if edge.source in kept and edge.target in kept:
                words = f"output {edge.output}" if several else None
                if edge in self.folded.carried:
                    words = f"{words or ''} to the next of {counts[edge.target]}".strip()
                    self.dot.edge(edge.source, edge.target, words, style="dashed")
                else:
                    self.dot.edge(edge.source, edge.target, words)
            elif edge.target in kept and edge.target not in cut:
                cut.add(edge.target)
                self.dot.edge("more", edge.target, style="dashed")


def _common(paths: list[tuple[Scope, ...]]) -> int:
    """How many scopes all `paths` begin with."""
    depth = 0
    while len({path[depth : depth + 1] for path in paths}) == 1 and depth < len(paths[0]):
        depth += 1
    return depth


def _wrapped(text: str, width: int = 60, most: int = 4) -> list[str]:
    words, lines = text.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return [line.strip() for line in lines[:most]] + (["..."] if len(lines) > most else [])


def _escape(text: str) -> str:
    """`text` as DOT's label: no backslash and no entity of the learner's is interpreted."""
    return text.replace("\\", "\\\\").replace("&", "&amp;").replace("\n", "\\n")


def _nearest(graph: Graph, limit: int) -> set[str]:
    """Ids of at most `limit` nodes, breadth first from the results."""
    into = graph.incoming()
    queue = deque(node.id for node in graph.nodes if node.kind in ("output", "failed"))
    kept: set[str] = set()
    while queue and len(kept) < limit:
        key = queue.popleft()
        if key not in kept:
            kept.add(key)
            queue.extend(edge.source for edge in into[key])
    return kept


# ---------------------------------------------------------------- programs


def _graphviz() -> Any:
    """The package graphviz, told of graphviz-pure's program where the system has no `dot`."""
    try:
        import graphviz
        from graphviz.backend import dot_command
    except ImportError as error:
        raise ImportError(
            "drawing a graph needs the package graphviz: pip install graphviz graphviz-pure"
        ) from error
    if shutil.which("dot") is None and (program := program_named("graphviz-pure")):
        dot_command.DOT_BINARY = Path(program)
    return graphviz


def program_named(name: str) -> str | None:
    """Where `name` is: beside this Python (its environment may not be active), or on the PATH."""
    folders = (sysconfig.get_path("scripts"), str(Path(sys.executable).parent), None)
    found = (shutil.which(name, path=folder) for folder in folders)
    return next(filter(None, found), None)


def laid_out(source: str, kind: str, timeout: float | None = None) -> bytes | None:
    """What Graphviz makes of DOT `source` ("svg", "png"), or None where there is no program;
    TimeoutExpired after `timeout` seconds.

    graphviz-pure goes before a system's `dot` here: its release is the course's, so that stored
    pictures are the same on every machine.
    """
    program = program_named("graphviz-pure") or program_named("dot")
    if program is None:
        return None
    return subprocess.run(
        [program, "-Kdot", f"-T{kind}"],
        input=source.encode(),
        capture_output=True,
        check=True,
        timeout=timeout,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows would flash a console
    ).stdout


def svg(
    graph: Graph | Folded, rankdir: str = "TB", max_nodes: int = MAX_NODES, **options: Any
) -> str | None:
    """The graph as an `<svg>` element, or None where nothing can lay it out; `options` are those
    of `digraph`. Thousands of nodes with a leaf that all of them read could take minutes: when the
    layout isn't done after 20 s, the usual number of nodes is drawn and the others are counted.
    """
    patience = PATIENCE if max_nodes > MAX_NODES else None
    try:
        done = laid_out(digraph(graph, rankdir, max_nodes, **options).source, "svg", patience)
    except subprocess.TimeoutExpired:
        return svg(graph, rankdir, MAX_NODES, **options)
    except ImportError:  # without the package graphviz there is no DOT to lay out
        return None
    if done is None:
        return None
    text = done.decode().replace("\r\n", "\n")
    return re.sub(r"<!--.*?-->\n?", "", text[text.index("<svg") :], flags=re.DOTALL)
