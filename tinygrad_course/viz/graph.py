"""The walk: from a result back to the leaves, as nodes and edges.

`trace` visits every node once and numbers it; a `Graph` is what it found. It reads names, shapes
and notes, and knows no operation. How a graph is drawn or said is the business of the files beside
this one. Lesson 04.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..autograd.node import AccumulateGrad
from ..autograd.node import Node as GradFn
from ..autograd.variable import Tensor
from ..nn.parameter import Parameter
from .notes import Border, Saved, Scope, hooks_of, line_of, notes_of, saved_of
from .record import Failure, record

Params = Mapping[str, Any] | Iterable[tuple[str, Any]] | None

# ---------------------------------------------------------------- nodes and edges


@dataclass(frozen=True, slots=True)
class Node:
    """One box: a recorded operation ("op"), a leaf variable ("leaf") or a result ("output"); where
    a recording failed, what raised the error ("failed"); in a folded graph, a whole call of a
    module ("module").

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
    scopes: tuple[Scope, ...] = ()

    @property
    def title(self) -> str:
        """What to call the node: its tensor's name, its operation, or `name = operation`."""
        if self.kind == "failed":
            return f"{self.op} failed"
        if self.kind == "op" and self.name:
            return f"{self.name} = {self.op}"
        return self.name or self.op

    @property
    def signature(self) -> str:
        """Shape and dtype of every output in use, e.g. `(3, 4) float32`."""
        pairs = zip(self.shapes, self.dtypes, strict=True)
        return "; ".join(f"{shape} {dtype}" for shape, dtype in pairs)

    @property
    def role(self) -> str:
        """The kind, where a leaf that is a module's is a "parameter"."""
        return "parameter" if self.kind == "leaf" and type(self.tensor) is Parameter else self.kind

    @property
    def module(self) -> str:
        """The path of the module whose forward made the node, as far as a recording noted it."""
        return self.scopes[-1].path if self.scopes else ""

    @property
    def line(self) -> str:
        """The line of the program that made it, noted by a recording or by anomaly mode, or ""."""
        return line_of(self.function) if self.function is not None else ""

    @property
    def saved(self) -> tuple[Saved, ...]:
        """What forward kept for backward."""
        return saved_of(self.function) if self.kind == "op" and self.function is not None else ()

    @property
    def hooks(self) -> tuple[str, ...]:
        """The hooks on it and on the tensors it made, by kind and name."""
        return hooks_of(self.function) if self.function is not None else ()

    @property
    def borders(self) -> tuple[Border, ...]:
        """The inputs at which a recording saw the graph being cut off."""
        return notes_of(self.function).get("borders_", ()) if self.function is not None else ()


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
    failed: str = ""  # the id of the node that raised an error
    error: str = ""
    error_line: str = ""  # of the program
    _by_id: dict[str, Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {node.id: node for node in self.nodes})

    def __repr__(self) -> str:
        return f"Graph({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def __getitem__(self, key: str) -> Node:
        return self._by_id[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_id

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


Box = _Result | Failure | GradFn
Names = dict[tuple[GradFn, int], tuple[str, Tensor]]  # by (node, number of its output)


def trace(out: Any, params: Params = None) -> Graph:
    """The graph behind `out`, a tensor or a tuple of them, as nodes and edges.

    `params` gives tensors their names: a dict, or pairs like `model.named_parameters()`; other
    leaves are `leaf 1`, `leaf 2`, … in visiting order. The walk is iterative, so a chain may have
    any length. A `record` whose block raised an error may stand in place of `out`: then the graph
    is the part that was recorded, with what failed. TypeError for what is no tensor.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> [node.title for node in trace((x * x).sum(), {"x": x}).nodes]
    ['output', 'SumBackward0', 'MulBackward0', 'x']
    """
    roots, failure = _roots(out)
    results = [root for root in roots if isinstance(root, _Result)]
    names = _names(params, results)
    boxes = _visit(roots)
    ids = {_key(box): f"n{number}" for number, box in enumerate(boxes)}
    edges: list[Edge] = []
    used: dict[str, set[int]] = {}
    for box in boxes:
        for slot, (source, output) in enumerate(_sources(box)):
            if source is not None:
                edges.append(Edge(ids[source], ids[_key(box)], output, slot))
                used.setdefault(ids[source], set()).add(output)

    nodes: list[Node] = []
    number = itertools.count(1)
    for box in boxes:
        key = ids[_key(box)]
        if isinstance(box, Failure):
            nodes.append(Node(key, "failed", box.op, "", (), (), False, None, None, box.scopes))
        elif isinstance(box, _Result):
            nodes.append(_tensor_node(key, "output", box.name, None, box.tensor))
        elif isinstance(box, AccumulateGrad):
            name, _ = names.get((box, 0)) or (f"leaf {next(number)}", None)
            nodes.append(_tensor_node(key, "leaf", name, box, box.variable))
        else:
            nodes.append(_op_node(key, box, sorted(used.get(key, {0})), names))
    if failure is None:
        return Graph(tuple(nodes), tuple(edges))
    failed = ids.get(_key(failure if failure.node is None else failure.node), "")
    return Graph(tuple(nodes), tuple(edges), failed, failure.error, failure.line)


def _key(box: Box) -> Any:
    """Boxes are told apart by identity."""
    return box if isinstance(box, GradFn) else id(box)


def _roots(out: Any) -> tuple[list[Box], Failure | None]:
    """Where the walk starts: at the results, or at what failed."""
    if isinstance(out, record):
        failure = out.failure
        if failure is None:
            raise TypeError("out is a recording in which nothing failed: give the result itself")
        if failure.node is None:
            return [failure], failure
        out = failure.tensors
    else:
        failure = None
    return [*_results(out)], failure


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


def _visit(roots: Sequence[Box]) -> list[Box]:
    """Every box once, depth first, inputs in their order."""
    boxes: dict[Any, Box] = {}
    stack: list[Box] = [*reversed(roots)]
    while stack:
        box = stack.pop()
        if _key(box) not in boxes:
            boxes[_key(box)] = box
            stack += [source for source, _ in reversed(_sources(box)) if source is not None]
    return list(boxes.values())


def _sources(box: Box) -> Sequence[tuple[GradFn | None, int]]:
    """Where each input of a box comes from: (node or None, number of that node's output)."""
    if isinstance(box, _Result):
        edge = box.tensor._grad_edge()
        return () if edge is None else (edge,)
    if isinstance(box, Failure):
        return [tensor._grad_edge() or (None, 0) for tensor in box.tensors]
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
    scopes = notes_of(function).get("scopes_", ())
    return Node(key, "op", function.name(), name, shapes, dtypes, True, function, tensor, scopes)


def _tensor_node(key: str, kind: str, name: str, function: GradFn | None, tensor: Tensor) -> Node:
    op = "" if function is None else function.name()
    shapes, dtypes = (tuple(tensor.shape),), (tensor.dtype.name,)
    return Node(key, kind, op, name, shapes, dtypes, tensor.requires_grad, function, tensor)


def printable(text: str) -> str:
    """`text` with line breaks and other control characters written as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
