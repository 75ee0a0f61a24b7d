"""What hangs on a recorded node beside its edges: saved values, hooks, and notes of a recording.

A node's `saved` holds what its backward needs, its `guards` at which version; a recording, or
anomaly mode, leaves in `metadata` where the node was made. This module reads all that and says it
in plain values. It never runs anything. Lessons 07 and 08.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..autograd.node import FREED
from ..autograd.node import Node as GradFn


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that forward kept for backward.

    `shape`, `dtype` and `nbytes` are those of an array, empty for a plain value, whose `text` says
    it. `version` is that of the memory when it was saved (None where nobody can overwrite it) and
    `now` today's: when they differ, backward refuses to run.
    """

    text: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    nbytes: int = 0
    version: int | None = None
    now: int | None = None
    counter: list[int] | None = field(default=None, repr=False, compare=False)
    value: Any = field(default=None, repr=False, compare=False)

    @property
    def clash(self) -> bool:
        """Whether somebody has written to the memory since."""
        return self.version != self.now

    def writes(self, function: GradFn) -> list[Write]:
        """Who wrote since, as far as a recording at `function` noted."""
        noted = notes_of(function).get("writes_", {}).get(id(self.counter), (None, []))[1]
        return [write for write in noted if write.version > (self.version or 0)]


@dataclass(frozen=True, slots=True)
class Scope:
    """The `call`-th call of a module: its `path`, e.g. `Net.fc1`, and the name of its class."""

    path: str
    kind: str
    call: int = 1


@dataclass(frozen=True, slots=True)
class Border:
    """An input at which the graph ends though a gradient was needed before it.

    `why` is "detached", "no_grad" or "volatile"; `source` is the node whose memory it shares, ""
    where it only came from such values.
    """

    slot: int
    why: str
    shape: tuple[int, ...]
    dtype: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """An in-place change: the version it made, and the line of the program."""

    version: int
    line: str


def inner(function: GradFn) -> Any:
    """The operation inside a CopySlices, which stands for it; any other node itself."""
    return getattr(function, "node", function)


def notes_of(function: GradFn) -> dict[Any, Any]:
    """What a recording noted at a node."""
    hooks = inner(function).hooks
    return {} if hooks is None else hooks.metadata


def saved_of(function: GradFn) -> tuple[Saved, ...]:
    """What a node keeps for its backward; ("freed",) is said once it is gone."""
    node = inner(function)
    if node.saved is FREED:
        return (Saved("freed"),)
    guards = {place: (owner, version, output) for place, owner, version, output in node.guards}
    return tuple(_saved(value, guards.get(place)) for place, value in enumerate(node.saved))


def _saved(value: Any, guard: Any) -> Saved:
    array = getattr(value, "_array", value)
    if type(array) is np.ndarray and not array.ndim and not array.flags.writeable:
        value = array = str(array).removesuffix(".0")  # a number, which the kernel got as an array
    if not hasattr(array, "strides"):
        return Saved(" ".join(str(value).split())[:60])
    shape, dtype = tuple(array.shape), str(array.dtype)
    version = now = counter = None
    if guard is not None:
        owner, version, output = guard
        counter = owner._counter if output < 0 else owner
        now = 0 if counter is None else counter[0]
    text = f"{shape} {dtype}" + ("" if version is None else f", version {version}")
    return Saved(text, shape, dtype, array.nbytes, version, now, counter, array)


def hooks_of(function: GradFn) -> tuple[str, ...]:
    """The hooks of a node and of the tensors it made, in the order in which they run."""
    hooks = function.hooks
    if hooks is None:
        return ()
    found = [f"tensor hook {_called(h)}" for each in hooks.tensor.values() for h in each.values()]
    found += ["retain_grad" for ref in hooks.retain.values() if ref() is not None]
    found += [f"prehook {_called(hook)}" for hook in hooks.pre.values()]
    found += [f"hook {_called(hook)}" for hook in hooks.post.values()]
    found += [f"accumulate-grad hook {_called(hook)}" for hook in hooks.accumulated.values()]
    return tuple(found)


def _called(hook: Any) -> str:
    return str(getattr(hook, "__name__", type(hook).__name__))


def line_of(function: GradFn) -> str:
    """The line of the program that recorded a node, when somebody noted it, else ""."""
    return line_text(notes_of(function).get("traceback_"))


def line_text(frame: Any) -> str:
    """`model.py, line 3: y = x * 2`; a notebook's cell is called so, since its file changes."""
    if frame is None:
        return ""
    name = frame.filename
    temporary = "ipykernel" in name or name.startswith("<")
    where = "cell" if temporary else Path(name).name
    text = linecache.getline(name, frame.lineno or 0).strip()
    return f"{where}, line {frame.lineno}" + (f": {text}" if text else "")
