"""The autograd graph as a picture: nodes and edges, DOT, SVG and words.

Whoever holds a result holds its whole history: `grad_fn` is the last operation and every node's
`next_functions` are the ones before it. This module walks those names, knows no operation and
changes nothing in what it draws. Nodes are numbered in visiting order, never named by address, so
that one program gives one picture, byte for byte. Lesson 04.
"""

from __future__ import annotations

import base64
import html
import itertools
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .autograd.node import AccumulateGrad
from .autograd.node import Node as GradFn
from .autograd.variable import Tensor

__all__ = ["Edge", "Graph", "Node", "Picture", "make_dot", "picture", "trace"]

Params = Mapping[str, Any] | Iterable[tuple[str, Any]] | None

# The colours that torchviz's users know; the words in each box say the same.
COLOURS = {"leaf": "lightblue", "op": "lightgrey", "output": "darkolivegreen1"}
DIRECTIONS = ("TB", "BT", "LR", "RL")
MAX_NODES = (
    150  # drawn unless told otherwise: more are hard to read and may take a minute to lay out
)


# ---------------------------------------------------------------- nodes and edges


@dataclass(frozen=True, slots=True)
class Node:
    """One box: a recorded operation ("op"), a leaf variable ("leaf") or a result ("output").

    `id` is `n0`, `n1`, … in visiting order; `op` the autograd node's name ("" for a result), `name`
    the tensor's name or "". `shapes` and `dtypes` have one entry per output in use. `function` is
    the autograd node (None for a result), `tensor` the leaf, the result or the named output (None
    for an operation without a name); `==` and `repr` leave these two out.
    """

    id: str
    kind: str
    op: str
    name: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    requires_grad: bool
    function: GradFn | None = field(repr=False, compare=False)
    tensor: Tensor | None = field(repr=False, compare=False)

    @property
    def title(self) -> str:
        """What to call the node: its tensor's name, its operation, or `name = operation`."""
        if self.kind == "op" and self.name:
            return f"{self.name} = {self.op}"
        return self.name or self.op

    @property
    def signature(self) -> str:
        """Shape and dtype of every output in use, e.g. `(3, 4) float32`."""
        pairs = zip(self.shapes, self.dtypes, strict=True)
        return "; ".join(f"{shape} {dtype}" for shape, dtype in pairs)


@dataclass(frozen=True, slots=True)
class Edge:
    """Output number `output` of node `source` is input number `input` of node `target`."""

    source: str
    target: str
    output: int
    input: int


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in visiting order, results first; edges in the direction of the data."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __repr__(self) -> str:
        return f"Graph({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def __getitem__(self, key: str) -> Node:
        return self.nodes[int(key[1:])]

    def incoming(self) -> dict[str, list[Edge]]:
        """By node id: the edges that lead to the node, in the order of its inputs."""
        edges: dict[str, list[Edge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            edges[edge.target].append(edge)
        return edges

    def names(self) -> dict[str, str]:
        """By node id: its title, with the id in brackets where several nodes have that title."""
        count = Counter(node.title for node in self.nodes)
        return {
            node.id: printable(node.title) + (f" ({node.id})" if count[node.title] > 1 else "")
            for node in self.nodes
        }


class _Result:
    """Stands for a tensor handed to `trace`, so that every box of the walk is one object."""

    def __init__(self, tensor: Tensor, name: str) -> None:
        self.tensor = tensor
        self.name = name


Box = _Result | GradFn
Names = dict[tuple[GradFn, int], tuple[str, Tensor]]  # by (node, number of its output)


def trace(out: Any, params: Params = None) -> Graph:
    """The graph behind `out`, a tensor or a tuple of them, as nodes and edges.

    `params` gives tensors their names: a dict, or pairs like `model.named_parameters()`; other
    leaves are `leaf 1`, `leaf 2`, … in visiting order. The walk is iterative, so a chain may have
    any length. TypeError for what is no tensor.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> [node.title for node in trace((x * x).sum(), {"x": x}).nodes]
    ['output', 'SumBackward0', 'MulBackward0', 'x']
    """
    results = _results(out)
    names = _names(params, results)
    boxes = _visit(results)
    ids = {box: f"n{number}" for number, box in enumerate(boxes)}
    edges: list[Edge] = []
    used: dict[str, set[int]] = {}
    for box in boxes:
        for slot, (source, output) in enumerate(_sources(box)):
            if source is not None:
                edges.append(Edge(ids[source], ids[box], output, slot))
                used.setdefault(ids[source], set()).add(output)

    nodes: list[Node] = []
    number = itertools.count(1)
    for box, key in ids.items():
        if isinstance(box, _Result):
            nodes.append(_tensor_node(key, "output", box.name, None, box.tensor))
        elif isinstance(box, AccumulateGrad):
            name, _ = names.get((box, 0)) or (f"leaf {next(number)}", None)
            nodes.append(_tensor_node(key, "leaf", name, box, box.variable))
        else:
            nodes.append(_op_node(key, box, sorted(used[key]), names))
    return Graph(tuple(nodes), tuple(edges))


def _results(out: Any) -> list[_Result]:
    tensors = out if isinstance(out, tuple | list) else (out,)
    for tensor in tensors:
        _check_tensor(tensor, "out")
    if len(tensors) == 1:
        return [_Result(tensors[0], "output")]
    return [_Result(tensor, f"output {number}") for number, tensor in enumerate(tensors, 1)]


def _names(params: Params, results: Sequence[_Result]) -> Names:
    """The names that were given, with their tensors; a result's goes to its own box."""
    names: Names = {}
    for name, tensor in params.items() if isinstance(params, Mapping) else params or ():
        _check_tensor(tensor, f"params[{name!r}]")
        own = [result for result in results if result.tensor is tensor]
        for result in own:
            result.name = str(name)
        edge = tensor._grad_edge()
        if edge is not None and (tensor.is_leaf or not own):
            names[edge] = str(name), tensor
    return names


def _check_tensor(value: Any, where: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{where} must be a Tensor, not {type(value).__name__} {value!r}")


def _visit(results: Sequence[_Result]) -> list[Box]:
    """Every box once, depth first, inputs in their order."""
    boxes: dict[Box, None] = {}
    stack: list[Box] = [*reversed(results)]
    while stack:
        box = stack.pop()
        if box not in boxes:
            boxes[box] = None
            stack += [source for source, _ in reversed(_sources(box)) if source is not None]
    return list(boxes)


def _sources(box: Box) -> Sequence[tuple[GradFn | None, int]]:
    """Where each input of a box comes from: (node or None, number of that node's output)."""
    if isinstance(box, _Result):
        edge = box.tensor._grad_edge()
        return () if edge is None else (edge,)
    return box.next_functions


def _op_node(
    key: str,
    function: GradFn,
    outputs: list[int],
    names: Names,
) -> Node:
    metadata = [function.metadata_of(output) for output in outputs]
    shapes = tuple(tuple(shape) for shape, _ in metadata)
    dtypes = tuple(dtype.name for _, dtype in metadata)
    named = [names[function, output] for output in outputs if (function, output) in names]
    tensor = named[0][1] if len(named) == len(outputs) == 1 else None
    name = ", ".join(name for name, _ in named)
    return Node(key, "op", function.name(), name, shapes, dtypes, True, function, tensor)


def _tensor_node(key: str, kind: str, name: str, function: GradFn | None, tensor: Tensor) -> Node:
    op = "" if function is None else function.name()
    shapes, dtypes = (tuple(tensor.shape),), (tensor.dtype.name,)
    return Node(key, kind, op, name, shapes, dtypes, tensor.requires_grad, function, tensor)


# ---------------------------------------------------------------- words


def outline(graph: Graph, max_lines: int = 200) -> str:
    """The graph as indented text, inputs below and right of what uses them.

    A node met again is named and not repeated; after `max_lines` the rest is counted.
    """
    into = graph.incoming()
    lines: list[str] = []
    seen: set[str] = set()
    stack = [(node.id, 0) for node in reversed(graph.nodes) if node.kind == "output"]
    while stack:
        key, depth = stack.pop()
        if len(lines) == max_lines:
            lines.append(f"... {len(graph.nodes) - len(seen)} more nodes")
            break
        node = graph[key]
        text = "  " * depth + printable(node.title)
        if key in seen:
            lines.append(f"{text} ({key}, see above)")
            continue
        seen.add(key)
        lines.append(f"{text}{_kind(node)} {node.signature} {key}")
        stack += [(edge.source, depth + 1) for edge in reversed(into[key])]
    return "\n".join(lines)


def describe(graph: Graph, max_items: int = 12) -> str:
    """The graph in sentences, from the leaves to the results: a picture's alternative text."""
    into, names = graph.incoming(), graph.names()
    leaves = [node for node in graph.nodes if node.kind == "leaf"]
    ops = [node for node in reversed(graph.nodes) if node.kind == "op"]

    def inputs(node: Node) -> str:
        return " and ".join(names[edge.source] for edge in into[node.id])

    listed = ", ".join(f"{names[leaf.id]} {leaf.signature}" for leaf in leaves[:max_items])
    rest = f" and {len(leaves) - max_items} more" if len(leaves) > max_items else ""
    sentences = [
        f"Autograd graph of {_count(len(ops), 'operation', 'operations')} on"
        f" {_count(len(leaves), 'leaf', 'leaves')}{': ' if leaves else ''}{listed}{rest}."
    ]
    sentences += [f"{names[node.id]} takes {inputs(node)}." for node in ops[:max_items]]
    if len(ops) > max_items:
        sentences.append(f"{_count(len(ops) - max_items, 'more operation', 'more operations')}.")
    for node in graph.nodes:
        if node.kind == "output":
            story = f"comes from {inputs(node)}" if into[node.id] else "requires no gradient"
            sentences.append(f"{names[node.id]} {node.signature} {story}.")
    return " ".join(sentences)


def printable(text: str) -> str:
    """`text` with line breaks and other control characters written as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _kind(node: Node) -> str:
    """What stands in brackets after a tensor's name, so that no colour says it alone."""
    known = node.kind == "op" or node.name.startswith(node.kind)
    words = [] if known else [node.kind]
    words += [] if node.requires_grad else ["requires no gradient"]
    return f" ({', '.join(words)})" if words else ""


# ---------------------------------------------------------------- pictures


def make_dot(
    out: Any, params: Params = None, rankdir: str = "TB", max_nodes: int = MAX_NODES
) -> Any:
    """The graph behind `out` as a `graphviz.Digraph`, which a notebook draws.

    `out` and `params` are those of `trace`; data flows along `rankdir` ("TB", "BT", "LR", "RL"). Of
    a graph with more than `max_nodes` nodes those nearest to the results are drawn and the others
    counted in one box. Needs the package graphviz, and for drawing a `dot` or graphviz-pure.
    ImportError without the first; ValueError for another direction.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> print(make_dot(x.sum(), {"x": x}).source.splitlines()[-2].strip())
    n2 -> n1
    """
    return digraph(trace(out, params), rankdir, max_nodes)


def digraph(graph: Graph, rankdir: str = "TB", max_nodes: int = MAX_NODES) -> Any:
    """`make_dot` for a graph that is traced already."""
    if rankdir not in DIRECTIONS:
        raise ValueError(f"rankdir must be one of {', '.join(DIRECTIONS)}, not {rankdir!r}")
    graphviz = _graphviz()
    # Courier: its widths are known without the font. In others the words may outgrow their boxes.
    dot = graphviz.Digraph(
        graph_attr={"rankdir": rankdir, "ranksep": "0.3", "nodesep": "0.2"},
        node_attr={"shape": "box", "style": "filled", "fontname": "Courier", "fontsize": "10",
                   "height": "0.2"},
        edge_attr={"fontname": "Courier", "fontsize": "9", "arrowsize": "0.7"},
    )  # fmt: skip
    kept = _nearest(graph, max_nodes)
    if len(kept) > 50:
        # Bounds the search for the best positions: a leaf that all steps of a loop use, such as a
        # recurrent weight, makes it 20 times slower than the rest of the layout.
        dot.graph_attr["nslimit"] = "2"
    for node in graph.nodes:
        if node.id in kept:
            label = graphviz.nohtml(_escape(_label(node)))
            dot.node(node.id, label, fillcolor=COLOURS[node.kind])
    hidden = len(graph.nodes) - len(kept)
    if hidden:
        dot.node("more", f"... {_count(hidden, 'more node', 'more nodes')}", style="dashed")
    cut: set[str] = set()
    for edge in graph.edges:
        several = len(graph[edge.source].shapes) > 1
        if edge.source in kept and edge.target in kept:
            dot.edge(edge.source, edge.target, f"output {edge.output}" if several else None)
        elif edge.target in kept and edge.target not in cut:
            cut.add(edge.target)
            dot.edge("more", edge.target, style="dashed")
    return dot


def _label(node: Node) -> str:
    return f"{printable(node.title)}{_kind(node)}\n{node.signature}"


def _escape(text: str) -> str:
    """`text` as DOT's label: no backslash and no entity of the learner's is interpreted."""
    return text.replace("\\", "\\\\").replace("&", "&amp;").replace("\n", "\\n")


def _nearest(graph: Graph, limit: int) -> set[str]:
    """Ids of at most `limit` nodes, breadth first from the results."""
    into = graph.incoming()
    queue = deque(node.id for node in graph.nodes if node.kind == "output")
    kept: set[str] = set()
    while queue and len(kept) < limit:
        key = queue.popleft()
        if key not in kept:
            kept.add(key)
            queue.extend(edge.source for edge in into[key])
    return kept


def _graphviz() -> Any:
    """The package graphviz, told of graphviz-pure's program where the system has no `dot`."""
    try:
        import graphviz
        from graphviz.backend import dot_command
    except ImportError as error:
        raise ImportError(
            "drawing a graph needs the package graphviz: pip install graphviz graphviz-pure"
        ) from error
    if shutil.which("dot") is None and (program := _program("graphviz-pure")):
        dot_command.DOT_BINARY = Path(program)
    return graphviz


def _program(name: str) -> str | None:
    """Where `name` is: beside this Python (its environment may not be active), or on the PATH."""
    folders = (sysconfig.get_path("scripts"), str(Path(sys.executable).parent), None)
    found = (shutil.which(name, path=folder) for folder in folders)
    return next(filter(None, found), None)


def svg(graph: Graph, rankdir: str = "TB", max_nodes: int = MAX_NODES) -> str | None:
    """The graph as an `<svg>` element, or None where no program can lay it out.

    graphviz-pure goes before a system's `dot` here: its release is the course's, so that stored
    pictures are the same on every machine.
    """
    program = _program("graphviz-pure") or _program("dot")
    if program is None:
        return None
    done = subprocess.run(
        [program, "-Kdot", "-Tsvg"],
        input=digraph(graph, rankdir, max_nodes).source,
        capture_output=True,
        check=True,
        encoding="utf-8",
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows would flash a console
    )
    text = done.stdout[done.stdout.index("<svg") :]
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).replace("\r\n", "\n")


class Picture:
    """A drawn graph: an `<img>`, which untrusted notebooks show too, and an outline in text."""

    def __init__(self, graph: Graph, alt: str | None, drawing: str | None) -> None:
        self.graph = graph
        self.alt = describe(graph) if alt is None else alt
        self.svg = drawing

    def __repr__(self) -> str:
        return f"Picture({len(self.graph.nodes)} nodes)"

    def _repr_html_(self) -> str:
        if self.svg is None:
            note = "No program to draw with: pip install graphviz-pure"
            return f"<pre>{html.escape(outline(self.graph))}\n\n{note}</pre>"
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(self.alt)}">'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": outline(self.graph)}


def picture(out: Any, params: Params = None, alt: str | None = None) -> Picture:
    """The graph behind `out` as an image with alternative text (`alt`, or the graph in words).

    >>> import tinygrad_course as tg
    >>> picture(tg.ones(3, requires_grad=True).sum())
    Picture(3 nodes)
    """
    graph = trace(out, params)
    return Picture(graph, alt, svg(graph))
