"""The engine: one backward pass over the graph of nodes.

First a walk from the roots counts, for every node, how many of its users lie in the graph. Then
nodes run, the latest recorded first, each once all its users have run, so that its gradient is
complete: a topological order. Gradients that meet at a node are added. The engine knows nodes and
edges; what a node computes is its own business. Lesson 05.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from ..device import go_to, xp_of
from ..shape import Size
from . import variable as variables
from .hooks import NodeHooks, current_pass, run_node_hooks, run_tensor_hooks
from .mode import _Switch
from .node import AccumulateGrad, Edge, Node
from .stochastic import StochasticFunction
from .variable import Tensor
from .watch import run_watched, watching

Tensors = Tensor | Sequence[Tensor]


def run(
    roots: Sequence[Edge],
    grads: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    capture: Sequence[Edge] | None = None,
    fill: bool = False,
) -> list[Any]:
    """Sends `grads` into `roots` and on through the graph; returns the gradients at the edges in
    `capture`.

    Without `capture` everything reachable runs and leaves accumulate. With it, only nodes on the
    way to those edges run, and no leaf is touched, or, with `fill`, only leaves among them.
    """
    users = _count_users([node for node, _ in roots])
    wanted: dict[Node, list[tuple[int, int]]] = {}
    if capture is not None:
        for place, (node, output) in enumerate(capture):
            wanted.setdefault(node, []).append((output, place))
        _keep_only_what_leads_to(wanted, users)
    captured: list[Any] = [None] * len(capture or ())

    # The gradients that have arrived at a node that waits for more, one place per output.
    pending: dict[Node, list[Any]] = {}
    summed: set[tuple[Node, int]] = set()  # those that are sums made here: safe to add to in place
    # A heap of the nodes that wait for nothing, and all their gradients.
    ready: list[tuple[int, Node, tuple[Any, ...]]] = []
    for (node, output), grad in zip(roots, grads, strict=True):
        if node in users:
            entering = pending.setdefault(node, [None] * len(node.outputs))
            if entering[output] is None:
                entering[output] = grad
            else:
                _add(entering, summed, node, output, grad, create_graph)
    for node in [node for node in pending if users[node] == 0]:
        heappush(ready, (-node.order, node, tuple(pending.pop(node))))

    arrived: Any
    results: Any
    with _Switch(create_graph), current_pass:
        while ready:
            _, node, arrived = heappop(ready)
            if wanted and node in wanted:
                runs = any(edge is not None and edge[0] in users for edge in node.edges)
                runs = runs or (fill and isinstance(node, AccumulateGrad))
                if not runs and node.hooks is not None:
                    arrived = _before(node.hooks, arrived, create_graph, capturing=True)
                for output, place in wanted[node]:
                    captured[place] = arrived[output]
                if not runs:
                    continue
            if node.hooks is not None:
                arrived = _before(node.hooks, arrived, create_graph)
            if arrived[0] is None and all(grad is None for grad in arrived):
                results = (None,) * len(node.edges)
            else:
                if watching:
                    results = run_watched(node, arrived, create_graph)
                else:
                    results = node.run(arrived, create_graph)
                if node.hooks is not None and node.hooks.post:
                    results = _after(node.hooks, results, arrived, create_graph)
            if not keep_graph and node.saved:
                node.release()
            arrived = None
            place = 0
            for edge in node.edges:
                if edge is not None:
                    user, output = edge
                    waits = users.get(user)
                    if waits is not None:
                        grad = results[place]
                        if waits == 1 and user not in pending and len(user.outputs) == 1:
                            heappush(ready, (-user.order, user, (grad,)))
                        else:
                            slots = pending.get(user)
                            if slots is None:
                                pending[user] = slots = [None] * len(user.outputs)
                            if slots[output] is None:
                                slots[output] = grad
                            elif grad is not None:
                                _add(slots, summed, user, output, grad, create_graph)
                            users[user] = waits - 1
                            if waits == 1:
                                heappush(ready, (-user.order, user, tuple(pending.pop(user))))
                place += 1
            # The next accumulator must be the only holder of its gradient.
            results = grad = slots = None
    return captured


def _count_users(roots: list[Node]) -> dict[Node, int]:
    """For every node that `roots` reach, the number of edges into it."""
    users = dict.fromkeys(roots, 0)
    stack = list(users)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if node in users:
                    users[node] += 1
                else:
                    users[node] = 1
                    stack.append(node)
    return users


def _keep_only_what_leads_to(wanted: dict[Node, Any], users: dict[Node, int]) -> None:
    """Drops from `users` each node from which no wanted node can be reached."""
    # Makers before users: an operation's inputs were recorded before it, and accumulators have no
    # inputs.
    for node in sorted(users, key=lambda node: node.order if node.edges else -1):
        if node not in wanted and not any(e is not None and e[0] in users for e in node.edges):
            del users[node]
            continue
    counts = dict.fromkeys(users, 0)
    for node in users:
        for edge in node.edges:
            if edge is not None and edge[0] in counts:
                counts[edge[0]] += 1
    users.update(counts)


def _add(
    slots: list[Any],
    summed: set[tuple[Node, int]],
    node: Node,
    output: int,
    grad: Any,
    create_graph: bool,
) -> None:
    """Adds `grad` to what has arrived at one output of `node`: in place only in a sum made here."""
    if create_graph or (node, output) not in summed or isinstance(grad, Tensor):  # a sparse one
        slots[output] = slots[output] + grad
        summed.add((node, output))
    else:
        slots[output] += grad


def _tensor(grad: Any) -> Any:
    return None if grad is None else Tensor._wrap_any(grad)


def _like(grad: Any, create_graph: bool) -> Any:
    return grad if create_graph or grad is None or grad.is_sparse else grad._array


def _before(
    hooks: NodeHooks, arrived: tuple[Any, ...], create_graph: bool, capturing: bool = False
) -> tuple[Any, ...]:
    """The gradients of a node's outputs after its tensors' hooks, `retain_grad`, and the node's
    prehooks, which are left out for a node that isn't going to run (`capturing`)."""
    grads = [_tensor(grad) for grad in arrived]
    for output, on_tensor in hooks.tensor.items():
        grads[output] = run_tensor_hooks(on_tensor, grads[output])
    for output, ref in hooks.retain.items():
        tensor, grad = ref(), grads[output]
        if tensor is not None and grad is not None:
            meta = tensor._meta
            meta.grad = grad.clone() if meta.grad is None else meta.grad + grad
    tensors = tuple(grads)
    if hooks.pre and not capturing:
        tensors = run_node_hooks(hooks.pre, tensors)
    return tuple(_like(grad, create_graph) for grad in tensors)


def _after(
    hooks: NodeHooks, results: tuple[Any, ...], arrived: tuple[Any, ...], create_graph: bool
) -> tuple[Any, ...]:
    """The gradients of a node's inputs after the node's hooks."""
    inputs, outputs = (tuple(_tensor(grad) for grad in grads) for grads in (results, arrived))
    inputs = run_node_hooks(hooks.post, inputs, outputs)
    return tuple(_like(grad, create_graph) for grad in inputs)


# --- the public functions -------------------------------------------------------------------------


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensors | None = None,
    *,
    retain_variables: bool | None = None,
) -> None:
    """Adds to the leaves' `.grad` the sum over `tensors` of grad_tensors[i]^T · (d tensors[i] / d
    leaf).

    A gradient may be None (or left out) for a tensor of one element. `grad_variables` and
    `retain_variables` are the names before PyTorch 0.4. `inputs` restricts the pass to those
    tensors. (torch.autograd.backward)
    """
    outputs = _sequence(tensors)
    if grad_tensors is not None and grad_variables is not None:
        raise RuntimeError(
            "grad_tensors and grad_variables, its old name, were both passed to backward(): pass "
            "grad_tensors alone"
        )
    given = grad_variables if grad_tensors is None else grad_tensors
    edges, grads = _roots(outputs, given, create_graph)
    keep = _keep(retain_graph, retain_variables, create_graph)
    if inputs is None:
        run(edges, grads, keep, create_graph)
        return
    targets = _sequence(inputs)
    if not targets:
        raise RuntimeError(
            "`inputs` argument to backward() cannot be empty: leave it out to reach all leaves"
        )
    into = [_edge_of(t, "One of the differentiated Tensors does not require grad") for t in targets]
    for target in targets:
        target.retain_grad()  # a leaf's accumulator fills .grad anyway, and this does nothing
    run(edges, grads, keep, create_graph, into, fill=True)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, as a tuple; no `.grad` is touched
    (torch.autograd.grad).

    RuntimeError when an input doesn't require grad, or was not used (unless `allow_unused`, which
    gives None, or `materialize_grads`, which gives zeros).

    >>> import tinygrad_course as tg
    >>> x = tg.tensor(3., requires_grad=True)
    >>> (dy,) = grad(x ** 3, x, create_graph=True); grad(dy, x)
    (tensor(18.),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs=False is ignored: to add to the .grad of all leaves call backward()",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "materialize_grads=True gives zeros for unused inputs, so allow_unused cannot be False"
        )
    sources, targets = _sequence(outputs), _sequence(inputs)
    if not targets:
        raise RuntimeError(
            "`inputs` argument to `grad()` cannot be empty: name the tensors whose gradient is "
            "wanted, or call backward()"
        )
    edges, grads = _roots(sources, grad_outputs, create_graph)
    into = [_edge_of(t, "One of the differentiated Tensors does not require grad") for t in targets]
    found = run(edges, grads, _keep(retain_graph, None, create_graph), create_graph, into)
    results: list[Tensor | None] = []
    for i, (target, value) in enumerate(zip(targets, found, strict=True)):
        if value is None and materialize_grads:
            value = target.new_zeros(target.shape)
        if value is None and not allow_unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph: "
                f"inputs[{i}]. Set "
                "allow_unused=True if this is the desired behavior."
            )
        results.append(_tensor(value))
    return tuple(results)


def _sequence(tensors: Any) -> tuple[Tensor, ...]:
    if isinstance(tensors, Tensor):
        return (tensors,)
    found = tuple(tensors)
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"a Tensor was expected, not {type(t).__name__}")
    return found


def _keep(retain_graph: bool | None, retain_variables: bool | None, create_graph: bool) -> bool:
    if retain_graph is None:
        retain_graph = retain_variables
    return create_graph if retain_graph is None else bool(retain_graph)


def _edge_of(tensor: Tensor, complaint: str) -> Edge:
    edge = tensor._grad_edge()
    if edge is None:
        raise RuntimeError(
            f"{complaint}: a tensor of shape {list(tensor.shape)}; call .requires_grad_() on the "
            "leaf first"
        )
    return edge


def _roots(
    outputs: Sequence[Tensor], given: Any, create_graph: bool
) -> tuple[list[Edge], list[Any]]:
    """The edges at which a pass over `outputs` starts, and the gradient that enters each."""
    gradients = (
        [given] * len(outputs)
        if given is None
        else [given]
        if isinstance(given, Tensor)
        else list(given)
    )
    for gradient in gradients:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
            )
    if len(gradients) != len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(gradients)} gradients: one for each is needed"
        )
    edges: list[Edge] = []
    values: list[Any] = []
    for i, (output, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        if output.volatile:
            raise RuntimeError(
                "calling backward on a volatile variable: nothing was recorded for it"
            )
        edge = output._grad_edge()
        drew = output.creator
        if isinstance(drew, StochasticFunction) and gradient is None:
            reward = drew.required_reward()
            edges.append((drew, 0))
            values.append(reward if create_graph else reward._array)
            continue
        if edge is None:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn: no "
                "leaf with "
                "requires_grad=True took part in computing it, or recording was off (no_grad, "
                "detach)"
            )
        edges.append(edge)
        if gradient is None:
            gradient = _implicit_one(output)
        elif gradient.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {Size(gradient.shape)} and "
                f"output[{i}] has a shape "
                f"of {Size(output.shape)}: the gradient weighs each element of the output, so it "
                "has its shape"
            )
        elif gradient.device != output.device:
            raise RuntimeError(
                f"grad_output[{i}] is on {gradient.device} and output[{i}] on {output.device}"
            )
        elif gradient.dtype is not output.dtype:
            gradient = gradient.to(output.dtype)
        values.append(gradient if create_graph else gradient._array)
    return edges, values


def _implicit_one(output: Tensor) -> Tensor:
    if output.numel() != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs, not for one of shape "
            f"{list(output.shape)}: pass "
            "gradient= (how much each element counts), or reduce it first, e.g. with .sum()"
        )
    array = output._array
    go_to(array)
    one = xp_of(array).empty(array.shape, array.dtype)
    one.fill(1)
    return Tensor._wrap(one)


variables.backward = backward
