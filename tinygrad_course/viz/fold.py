"""Folding: a big graph made small enough to read.

The steps of an unrolled loop, the same operations on the same leaves again and again, become one
step with its count; all that one call of a module recorded becomes one box. A fold is a map from
each node to the box that stands for it, and edges follow the map. It knows nothing of drawing.
Lessons 09 and 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .graph import Edge, Graph, Node
from .notes import Scope

MAX_NODES = 150  # drawn unless told otherwise: more are hard to read and slow to lay out
LONGEST_STEP = 128  # operations in a step of a loop that is still found
FEWEST_STEPS = 3

Collapse = str | Iterable[str] | None
Prefix = tuple[Scope, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A step that was taken `count` times: `members` are the boxes that stand for all of them."""

    members: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded `graph`: `home` says for each node of the whole graph which box stands for it.

    `carried` holds the edges that lead from one step of a cell to the next.
    """

    graph: Graph
    home: dict[str, str]
    cells: tuple[Cell, ...] = ()
    carried: frozenset[Edge] = frozenset()

    def members(self) -> dict[str, list[str]]:
        """By box: the nodes of the whole graph that it stands for."""
        found: dict[str, list[str]] = {}
        for node, box in self.home.items():
            found.setdefault(box, []).append(node)
        return found


def fold(graph: Graph, collapse: Collapse = None, max_nodes: int = MAX_NODES) -> Folded:
    """`graph` with what `collapse` names made one box each.

    "cells" folds the steps of loops, "modules" every outermost module's call, a path such as
    "Net.fc1" the calls of that module; several may be given. "none" folds nothing. None, the
    default, folds a graph of more than `max_nodes` nodes only: loops first, then modules, the
    innermost first, until it is small enough. ValueError for a path that no recording noted.

    >>> import tinygrad_course as tg
    >>> w, h = tg.ones(2, 2, requires_grad=True), tg.ones(1, 2)
    >>> for _ in range(100): h = (h @ w).tanh()
    >>> folded = fold(tg.viz.trace(h), "cells")
    >>> folded.graph, folded.cells[0].count
    (Graph(4 nodes, 4 edges), 100)
    """
    if collapse is None:
        return _until_small(graph, max_nodes)
    wanted = {collapse} if isinstance(collapse, str) else set(collapse)
    if "none" in wanted:
        return _unfolded(graph)
    paths = wanted - {"cells", "modules"}
    known = {scope.path for node in graph.nodes for scope in node.scopes}
    if unknown := sorted(paths - known):
        raise ValueError(
            f'collapse names {unknown[0]!r}: neither "cells", "modules" nor "none", nor a module '
            f"that ran inside tg.viz.record(): {', '.join(sorted(known)) or 'there was none'}"
        )
    folded = fold_cells(graph) if "cells" in wanted else _unfolded(graph)
    if "modules" in wanted or paths:
        folded = _then(folded, _named(paths, "modules" in wanted))
    return folded


def _unfolded(graph: Graph) -> Folded:
    return Folded(graph, {node.id: node.id for node in graph.nodes})


def _until_small(graph: Graph, max_nodes: int) -> Folded:
    folded = _unfolded(graph)
    if len(graph.nodes) <= max_nodes:
        return folded
    folded = fold_cells(graph)
    deepest = max((len(node.scopes) for node in graph.nodes), default=0)
    for depth in range(deepest, 0, -1):
        if len(folded.graph.nodes) <= max_nodes:
            break
        folded = _then(folded, _at_depth(depth))
    return folded


def _then(first: Folded, depth: Callable[[Prefix], int]) -> Folded:
    """Modules folded in what `first` left."""
    second = _fold_modules(first.graph, depth)
    home = {node: second.home[box] for node, box in first.home.items()}
    kept = {node.id for node in second.graph.nodes}
    cells = [Cell(tuple(m for m in c.members if m in kept), c.count) for c in first.cells]
    carried = first.carried & set(second.graph.edges)
    return Folded(second.graph, home, tuple(c for c in cells if c.members), carried)


# ---------------------------------------------------------------- modules


def _named(paths: set[str], outermost: bool) -> Callable[[Prefix], int]:
    def depth(scopes: Prefix) -> int:
        at = (n for n, scope in enumerate(scopes, 1) if outermost or scope.path in paths)
        return next(at, 0)

    return depth


def _at_depth(wanted: int) -> Callable[[Prefix], int]:
    return lambda scopes: wanted if len(scopes) >= wanted else 0


def _fold_modules(graph: Graph, depth: Callable[[Prefix], int]) -> Folded:
    """Every node whose scopes have a `depth` goes into the box of its first so many scopes."""
    home: dict[str, str] = {}
    boxes: dict[Prefix, str] = {}
    for node in graph.nodes:
        if (n := depth(node.scopes)) and node.kind == "op":
            home[node.id] = boxes.setdefault(node.scopes[:n], f"m{len(boxes)}")
        elif (n := depth((*node.scopes, _own(node)))) and node.kind == "module":
            home[node.id] = boxes.setdefault((*node.scopes, _own(node))[:n], f"m{len(boxes)}")
    if any(node.kind == "module" for node in graph.nodes):  # ids of an earlier fold: count on
        first = sum(node.kind == "module" for node in graph.nodes)
        rename = {box: f"m{first + n}" for n, box in enumerate(boxes.values())}
        boxes = {scopes: rename[box] for scopes, box in boxes.items()}
        home = {node: rename[box] for node, box in home.items()}
    users: dict[str, set[str]] = {}
    for edge in graph.edges:
        users.setdefault(edge.source, set()).add(home.get(edge.target, edge.target))
    for node in graph.nodes:  # a leaf that only this box uses is its own
        used_by = users.get(node.id, set())
        if node.kind == "leaf" and len(used_by) == 1 and not used_by.isdisjoint(boxes.values()):
            home[node.id] = next(iter(used_by))
    whole = {node.id: home.get(node.id, node.id) for node in graph.nodes}
    scopes_of = {box: scopes for scopes, box in boxes.items()}
    calls = Counter(scopes[-1].path for scopes in boxes)
    nodes: dict[str, Node] = {}
    for node in graph.nodes:
        box = whole[node.id]
        if box not in nodes:
            scopes = scopes_of.get(box)
            several = scopes is not None and calls[scopes[-1].path] > 1
            nodes[box] = node if scopes is None else _box(box, scopes, graph, whole, several)
    edges = dict.fromkeys(
        edge if (s, t) == (edge.source, edge.target) else Edge(s, t, 0, -1)
        for edge in graph.edges
        if (s := whole[edge.source]) != (t := whole[edge.target])
    )
    failed = whole.get(graph.failed, "")
    folded = Graph(tuple(nodes.values()), tuple(edges), failed, graph.error, graph.error_line)
    return Folded(folded, whole)


def _own(node: Node) -> Scope:
    """The scope that a module's box stands for."""
    return Scope(fold_name(node), node.op)


def _box(key: str, scopes: Prefix, graph: Graph, home: dict[str, str], several: bool) -> Node:
    """The box of one call of a module, with the shapes of what leaves it."""
    leaving = dict.fromkeys(
        (edge.source, edge.output)
        for edge in graph.edges
        if home[edge.source] == key != home[edge.target]
    )
    pairs = []
    for source, output in leaving:
        node = graph[source]
        place = min(output, len(node.shapes) - 1)
        pairs.append((node.shapes[place], node.dtypes[place]))
    shapes, dtypes = tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
    scope = scopes[-1]
    name = f"{scope.path} (call {scope.call})" if several else scope.path
    return Node(key, "module", scope.kind, name, shapes, dtypes, True, None, None, scopes[:-1])


# ---------------------------------------------------------------- the steps of loops


def fold_cells(graph: Graph) -> Folded:
    """One step for every stretch of equal steps: the same operations, shapes, modules and shared
    leaves, wired in the same way. The last one stands for all."""
    order = sorted(
        (node for node in graph.nodes if node.kind == "op" and node.function is not None),
        key=lambda node: node.function.order,  # type: ignore[union-attr]
    )
    sources: dict[str, list[Edge]] = graph.incoming()
    uses = Counter(edge.source for edge in graph.edges)
    place = {node.id: at for at, node in enumerate(order)}

    def token(node: Node) -> tuple[object, ...]:
        into = [e.source for e in sources[node.id]]
        shared = tuple(s for s in into if graph[s].kind == "leaf" and uses[s] > 1)
        paths = tuple(scope.path for scope in node.scopes)
        return node.op, node.shapes, paths, shared

    def wiring(start: int, length: int) -> list[list[tuple[int, int, int]]]:
        """For each operation of a step: which of the step's own operations it reads, and where."""
        return [
            [
                (place[e.source] - start, e.output, e.input)
                for e in sources[order[at].id]
                if start <= place.get(e.source, -1) < start + length
            ]
            for at in range(start, start + length)
        ]

    home = {node.id: node.id for node in graph.nodes}
    block: dict[str, tuple[int, int]] = {}  # (number of the cell, of the step)
    cells: list[Cell] = []
    for start, length, most in _periods([token(node) for node in order]):
        first = wiring(start, length)
        count = 1
        while count < most and wiring(start + count * length, length) == first:
            count += 1
        if count < FEWEST_STEPS:
            continue
        last = start + (count - 1) * length
        for at in range(start, start + count * length):
            node, stands = order[at], order[last + (at - start) % length]
            home[node.id] = stands.id
            block[node.id] = len(cells), (at - start) // length
            own = {e.input: e.source for e in sources[stands.id] if _single(graph, uses, e)}
            home |= {
                e.source: own[e.input]
                for e in sources[node.id]
                if e.input in own and _single(graph, uses, e)
            }
        members = [order[at].id for at in range(last, last + length)]
        members += [s for m in members for e in sources[m] if _single(graph, uses, e)
                    for s in [e.source]]  # fmt: skip
        cells.append(Cell(tuple(dict.fromkeys(members)), count))
    if not cells:
        return _unfolded(graph)
    carried = set()
    edges: dict[Edge, None] = {}
    for edge in graph.edges:
        drawn = Edge(home[edge.source], home[edge.target], edge.output, edge.input)
        from_, to = block.get(edge.source), block.get(edge.target)
        if from_ and to and from_[0] == to[0] and from_ != to:
            carried.add(drawn)
        edges[drawn] = None
    nodes = tuple(node for node in graph.nodes if home[node.id] == node.id)
    failed = home.get(graph.failed, "")
    folded = Graph(nodes, tuple(edges), failed, graph.error, graph.error_line)
    return Folded(folded, home, tuple(cells), frozenset(carried))


def _single(graph: Graph, uses: Counter[str], edge: Edge) -> bool:
    """Whether an edge comes from a leaf that nothing else reads."""
    return graph[edge.source].kind == "leaf" and uses[edge.source] == 1


def _periods(tokens: list[tuple[object, ...]]) -> list[tuple[int, int, int]]:
    """Stretches of `tokens` that repeat: (start, length of a step, number of steps), from left to
    right, each time the longest that begins there."""
    numbers: dict[tuple[object, ...], int] = {}
    t = np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int64)
    longest = min(LONGEST_STEP, len(t) // FEWEST_STEPS)
    cover = np.zeros(len(t), dtype=np.int64)
    period = np.ones(len(t), dtype=np.int64)
    for p in range(1, longest + 1):
        # How far from each place on every token equals the one p further on.
        ends = np.where(np.append(t[p:] != t[:-p], True), np.arange(len(t) - p + 1), len(t))
        run = np.minimum.accumulate(ends[::-1])[::-1][:-1] - np.arange(len(t) - p)
        steps = run // p + 1
        covered = np.where(steps >= FEWEST_STEPS, steps * p, 0)
        better = covered > cover[: len(covered)]
        cover[: len(covered)][better] = covered[better]
        period[: len(covered)][better] = p
    found = []
    at = 0
    while at < len(t):
        if cover[at]:
            found.append((at, int(period[at]), int(cover[at] // period[at])))
        at += max(int(cover[at]), 1)
    return found


# ---------------------------------------------------------------- what can be folded


def fold_name(node: Node) -> str:
    """The path of the module that a box stands for."""
    return node.name.partition(" (call ")[0]


def foldable(graph: Graph) -> dict[str, str]:
    """What `fold` can collapse in this graph, in the order of visiting: each name with words."""
    found = {}
    if cells := fold_cells(graph).cells:
        steps = ", ".join(str(cell.count) for cell in cells)
        found["cells"] = f"Steps of a loop: {steps}"
    for node in graph.nodes:
        for scope in node.scopes:
            found.setdefault(scope.path, f"{scope.path}: {scope.kind}")
    return found
