"""The memory of a backward pass: what forward kept for it, and gradients on their way, by step.

The recorded pass keeps its graph; told here is what `backward()` does when it may free as it goes:
what a node kept goes when the node has run, unless a leaf or a node that still waits needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tinygrad_course.viz import Graph

from .replay import Replay


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes after each step from 0 to the last: `kept` by forward, `gradients` that live; `freed`
    are those of what was kept that the step sets free."""

    kept: list[int]
    gradients: list[int]
    freed: list[int]


def memory_of(graph: Graph, replay: Replay) -> Memory:
    """The curve of one pass."""
    tensors = [node.tensor for node in graph.nodes if node.kind == "leaf"]
    leaves = {_block(tensor._array) for tensor in tensors if tensor is not None}
    size: dict[int, int] = {}  # by block of memory
    last_use: dict[int, int] = {}  # the step after which it is free
    never = len(replay.steps) + 1
    for node in graph.nodes:
        for saved in node.saved:
            if saved.dtype and (block := _block(saved.value)) not in leaves:
                size[block] = max(size.get(block, 0), saved.nbytes)
                fires = replay.fired.get(node.id, never)
                last_use[block] = max(last_use.get(block, 0), fires)
    freed = [0] * (never + 1)
    for block, step in last_use.items():
        freed[step] += size[block]
    changes = [0] * (never + 1)
    for key, mail in replay.mail.items():
        places: dict[int, tuple[int, int]] = {}  # by output: (first arrival, bytes)
        for when, message in mail:
            if message.value is not None:
                places.setdefault(message.output, (when, message.value.nbytes))
        gone = never if graph[key].kind == "leaf" else replay.fired.get(key, never)
        for when, nbytes in places.values():
            changes[when] += nbytes
            changes[gone] -= nbytes
    kept, gradients, alive, now = [], [], sum(size.values()), 0
    for step in range(never):
        alive -= freed[step]
        now += changes[step]
        kept.append(alive)
        gradients.append(now)
    return Memory(kept, gradients, freed[:never])


def _block(array: Any) -> int:
    """The identity of the memory under an array."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "strides"):
        array = array.base
    return id(array)
