"""Two graphs side by side: what one has and the other lacks.

Nodes are matched in visiting order by operation and shape, as two texts are line by line; matched
nodes must also read from matched nodes. It compares structure, never values. Lesson 06.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from .graph import Graph, Node

LARGEST = 10**6  # pairs of nodes that are compared for the best match, which takes half a second


@dataclass(frozen=True, slots=True)
class Comparison:
    """`pairs` of node ids that correspond; what is `changed` in a pair, in words, by the first
    graph's id; the ids that only the one graph (`extra`) or the other (`missing`) has."""

    mine: Graph
    reference: Graph
    pairs: dict[str, str]
    changed: dict[str, str]
    extra: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return not (self.changed or self.extra or self.missing)

    def __str__(self) -> str:
        """The differences in words, a line each."""
        if self.equal:
            return "The two graphs have the same structure."
        names, others = self.mine.names(), self.reference.names()
        lines = [f"{names[key]}: {words}" for key, words in self.changed.items()]
        lines += [f"only here: {names[key]} {self.mine[key].signature}" for key in self.extra]
        lines += [
            f"only in the reference: {others[key]} {self.reference[key].signature}"
            for key in self.missing
        ]
        return "\n".join(lines)


def compare(mine: Graph, reference: Graph) -> Comparison:
    """The differences between two graphs.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(2, requires_grad=True)
    >>> print(compare(tg.viz.trace((x * 2).sum()), tg.viz.trace((x * 2).mean())))
    SumBackward0: the reference has MeanBackward0
    """
    pairs: dict[str, str] = {}
    changed: dict[str, str] = {}
    a, b = [_token(n) for n in mine.nodes], [_token(n) for n in reference.nodes]
    extra: list[str] = []
    missing: list[str] = []
    for what, i, i_end, j, j_end in _opcodes(a, b):
        here, there = mine.nodes[i:i_end], reference.nodes[j:j_end]
        if what == "equal" or (what == "replace" and len(here) == len(there)):
            for node, other in zip(here, there, strict=True):
                pairs[node.id] = other.id
                if node.kind != other.kind or node.op != other.op:
                    changed[node.id] = f"the reference has {other.op or other.kind}"
                elif (node.shapes, node.dtypes) != (other.shapes, other.dtypes):
                    changed[node.id] = f"{node.signature}, in the reference {other.signature}"
        else:
            extra += [node.id for node in here]
            missing += [node.id for node in there]
    into, others = mine.incoming(), reference.incoming()
    names = reference.names()
    for key, twin in pairs.items():
        have = [(pairs.get(e.source), e.output, e.input) for e in into[key]]
        want = [(e.source, e.output, e.input) for e in others[twin]]
        told = any(source is None for source, *_ in have) or any(s in missing for s, *_ in want)
        if key not in changed and have != want and not told:  # of extra and missing nodes it is
            reads = " and ".join(names[e.source] for e in others[twin]) or "nothing"
            changed[key] = f"reads from other nodes; in the reference from {reads}"
    return Comparison(mine, reference, pairs, changed, tuple(extra), tuple(missing))


def _opcodes(a: list[Any], b: list[Any]) -> Iterator[tuple[str, int, int, int, int]]:
    """How `a` becomes `b`. What both begin and end with is taken off first: the best match takes
    the time of the rest squared, so that thousands of nodes are matched by the rare ones only."""
    shorter = min(len(a), len(b))
    same = (at for at in range(shorter) if a[at] != b[at])
    start = next(same, shorter)
    ends = (at for at in range(shorter - start) if a[-1 - at] != b[-1 - at])
    end = next(ends, shorter - start)
    middle = a[start : len(a) - end], b[start : len(b) - end]
    yield "equal", 0, start, 0, start
    big = len(middle[0]) * len(middle[1]) > LARGEST
    for what, *places in SequenceMatcher(None, *middle, autojunk=big).get_opcodes():
        i, i_end, j, j_end = (start + place for place in places)
        yield what, i, i_end, j, j_end
    yield "equal", len(a) - end, len(a), len(b) - end, len(b)


def _token(node: Node) -> tuple[object, ...]:
    return node.kind, node.op, node.shapes, node.dtypes
