"""What can be seen of a graph, as plain data for a case to return.

A graph is given by its root: a node of the engine, or of a lesson's own, with `next_functions` and
a `label` or `name()`. Whoever calls `Watched` sees what is recorded, runs and stays. Lesson 00.
"""

import gc
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from tinygrad_course.autograd import OpHook
from tinygrad_course.autograd.node import FREED


def nodes(root: Any) -> list[Any]:
    """Every node below `root` once, in the order in which a walk by layers meets them."""
    found = [] if root is None else [root]
    seen = {id(root)}
    for node in found:
        for child, _ in node.next_functions:
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append(child)
    return found


def name(node: Any) -> str:
    """A node's label, or the name of its operation."""
    if node is None:
        return "None"
    return str(node.label if hasattr(node, "label") else node.name())


def edges(root: Any) -> str:
    """A line for each node that reads something: `loss reads a, None`; known slopes in brackets."""
    lines = []
    for node in nodes(root):
        slopes = getattr(node, "slopes", ())
        parts = [
            name(child) + (f" ({slopes[place]:g})" if slopes else "")
            for place, (child, _) in enumerate(node.next_functions)
        ]
        if parts:
            lines.append(f"{name(node)} reads {', '.join(parts)}")
    return "\n".join(lines)


def order_of(root: Any, order: Iterable[Any]) -> dict[str, Any]:
    """A graph's steps, what each reads, and an order of them, by their places in `nodes(root)`.

    Several orders are right: a case that returns one has `read=read_order`.
    """
    found = nodes(root)
    place = {id(node): number for number, node in enumerate(found)}
    return {
        "names": [name(node) for node in found],
        "reads": [
            [place[id(child)] for child, _ in node.next_functions if child is not None]
            for node in found
        ],
        "order": [place.get(id(node), -1) for node in order],
    }


def read_order(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """What can be said about an order that is the same for every right one.

    The graph is the reference's own: what an answer's process says of it could be made up.
    """
    names, reads, order = ours["names"], ours["reads"], theirs["order"]
    found = {"given": theirs["given"]}
    if not all(type(step) is int and 0 <= step < len(names) for step in order):
        return {**found, "steps": "there is something in it that is no step of the graph"}
    place: dict[int, int] = {}
    for position, step in enumerate(order):
        place.setdefault(step, position)
    early = [
        f"{names[child]} before {names[step]}"
        for position, step in enumerate(order)
        for child in reads[step]
        if place.get(child, position + 1) < position
    ]
    steps = sorted(names[step] for step in order)
    return {**found, "steps": steps, "in the wrong order": sorted(early)}


def steps(st: Any) -> Any:
    """A strategy for any graph: for each step the places of what it reads, among those before."""
    read = st.lists(st.integers(0, 5), min_size=1, max_size=3)
    return st.lists(read, min_size=1, max_size=6)


def built(steps: list[list[int]], leaf: Any, make: Callable[[int, list[Any]], Any]) -> list[Any]:
    """The nodes of such a graph after its leaf; `make(number, what it reads)` makes each.

    >>> built([[0], [0, 1]], "x", lambda number, read: f"n{number}({', '.join(read)})")
    ['x', 'n0(x)', 'n1(x, n0(x))']
    """
    found = [leaf]
    for number, places in enumerate(steps):
        found.append(make(number, [found[place % len(found)] for place in places]))
    return found


def saved(root: Any) -> dict[str, Any]:
    """For each of the engine's nodes that keeps arrays: their shapes, or "freed".

    >>> import tinygrad_course as tg
    >>> x = tg.ones(2, requires_grad=True)
    >>> y = x * x
    >>> saved(y.grad_fn)
    {'MulBackward0': [(2,), (2,)]}
    >>> y.backward(tg.ones(2))
    >>> saved(y.grad_fn)
    {'MulBackward0': 'freed'}
    """
    found: dict[str, Any] = {}
    for node in nodes(root):
        if node.saved is FREED:
            found[name(node)] = "freed"
        elif shapes := [tuple(value.shape) for value in node.saved if hasattr(value, "shape")]:
            found[name(node)] = shapes
    return found


def hooked(module: Any) -> list[str]:
    """The names of the parts of a module that hooks hang on; the module itself is "".

    >>> from tinygrad_course import nn
    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    >>> handle = net[1].register_forward_hook(lambda module, x, y: None)
    >>> hooked(net)
    ['1']
    """
    kept = {where: part._module_hooks for where, part in module.named_modules()}
    return [where for where, hooks in kept.items() if hooks is not None and not hooks.empty]


class Watched(OpHook):
    """In its `with` block it notes the engine's nodes that are recorded and that run.

    >>> import tinygrad_course as tg
    >>> x = tg.ones(2, requires_grad=True)
    >>> with Watched() as seen:
    ...     y = (x * x).sum()
    ...     y.backward()
    >>> seen.recorded, seen.ran[:2], seen.alive()
    (['MulBackward0', 'SumBackward0'], ['SumBackward0', 'MulBackward0'], 2)
    >>> del y
    >>> seen.alive()
    0
    """

    def __init__(self) -> None:
        self.recorded: list[str] = []
        self.ran: list[str] = []
        self._nodes: list[weakref.ref[Any]] = []

    def after_forward(self, op: Any, args: Any, results: Any, node: Any) -> None:
        """Note what was recorded."""
        if node is not None:
            self.recorded.append(name(node))
            self._nodes.append(weakref.ref(node))

    def before_backward(self, node: Any, grads: Any) -> None:
        """Note what runs."""
        self.ran.append(name(node))

    def alive(self) -> int:
        """How many of the recorded nodes somebody still holds."""
        gc.collect()
        return sum(node() is not None for node in self._nodes)
