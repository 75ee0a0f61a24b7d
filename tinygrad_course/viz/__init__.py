"""The autograd graph as a picture: nodes and edges, DOT, SVG and words.

Whoever holds a result holds its whole history: `grad_fn` is the last operation and every node's
`next_functions` are the ones before it. `graph` walks those names, `record` notes while code runs
what the graph does not say (modules, lines), `fold` makes big graphs small, `dot`, `words` and
`compare` show them. Nothing here changes what it draws, and one program gives one picture, byte
for byte: nodes are numbered in visiting order, never named by address. Lesson 04.
"""

from .compare import Comparison, compare
from .dot import digraph, make_dot, svg
from .fold import MAX_NODES, Folded, fold, fold_name, foldable
from .graph import Edge, Graph, Node, Params, trace
from .notes import Saved, Scope
from .picture import Picture, picture, render, save
from .record import Failure, error_text, record
from .words import describe, outline, printable

__all__ = [
    "MAX_NODES",
    "Comparison",
    "Edge",
    "Failure",
    "Folded",
    "Graph",
    "Node",
    "Params",
    "Picture",
    "Saved",
    "Scope",
    "compare",
    "describe",
    "digraph",
    "error_text",
    "fold",
    "fold_name",
    "foldable",
    "make_dot",
    "outline",
    "picture",
    "printable",
    "record",
    "render",
    "save",
    "svg",
    "trace",
]
