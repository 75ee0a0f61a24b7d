"""A recording: while code runs, notes at each node what the graph alone does not say.

Which module's forward made it, at which line of the program, where the graph was cut off on
purpose, who changed memory in place, and what failed. It is made of the hooks that anyone may
register, on operations and on modules, so nothing of it costs a thing when nobody records.
Lessons 08 and 09.
"""

from __future__ import annotations

import re
import traceback
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ..autograd.anomaly import users_frame, users_line
from ..autograd.mode import mode
from ..autograd.node import Node as GradFn
from ..autograd.variable import Tensor
from ..autograd.watch import OpHook, op_name
from ..tensor import written
from .notes import Border, Scope, Write, line_text

BACKWARD = Scope("backward pass", "create_graph=True")
WRAPPERS = ("_operator", "call", "method")  # of the registry, around what has the name


@dataclass(frozen=True, slots=True)
class Failure:
    """What raised an error: the operation, the Tensors that it got, the line, the modules around.

    `node` is the node whose backward failed, None for a failure in forward.
    """

    op: str
    error: str
    line: str
    tensors: tuple[Tensor, ...] = field(repr=False, compare=False)
    scopes: tuple[Scope, ...] = ()
    node: GradFn | None = field(default=None, repr=False, compare=False)


class record(OpHook):
    """Notes modules, lines, cuts and in-place changes at all nodes recorded in its `with` block.

    When the block raises an error, `failure` tells what failed, and the recording itself can be
    drawn in place of a result: `tg.viz.picture(tape)`. It keeps the results of all operations
    alive for as long as it lives, which takes memory: for looking, not for training.

    >>> import tinygrad_course as tg
    >>> from tinygrad_course import nn
    >>> with record():
    ...     y = nn.Sequential(nn.Linear(2, 3), nn.Tanh())(tg.ones(1, 2))
    >>> [node.module for node in tg.viz.trace(y).nodes if node.kind == "op"]
    ['Sequential.1', 'Sequential.0']
    """

    def __init__(self) -> None:
        self.failure: Failure | None = None
        # By id of the version counter, which stands beside them so that the id stays its own.
        self.writes: dict[int, tuple[Any, list[Write]]] = {}
        self._alive: list[Any] = []  # whose ids are used
        self._made: dict[int, str] = {}  # memory with a history: the node that made it
        self._cut: dict[int, str] = {}  # memory computed from such, without one: why
        self._scopes: list[Scope] = []
        self._paths: dict[int, str] = {}  # by id of the module
        self._calls: Counter[str] = Counter()
        self._passes = 0  # how many nodes of a backward pass are running
        self._failed: tuple[str, GradFn | None, BaseException] | None = None
        self._handles: list[Any] = []

    def __enter__(self) -> record:
        from ..nn.hooks import register_module_forward_hook, register_module_forward_pre_hook

        self._handles = [
            register_module_forward_pre_hook(self._enter_module),
            register_module_forward_hook(self._leave_module, always_call=True),
        ]
        written.append(self._on_write)
        super().__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        super().__exit__()
        written.remove(self._on_write)
        for handle in self._handles:
            handle.remove()
        error, trace = exc_info[1], exc_info[2]
        if error is not None:
            self.failure = self._what_failed(error, trace)

    # --- modules ----------------------------------------------------------------------------------

    def _enter_module(self, module: Any, args: Any) -> None:
        if id(module) not in self._paths:
            root = type(module).__name__
            taken = sum(path.split(" ")[0] == root for path in self._paths.values())
            root = f"{root} {taken + 1}" if taken else root
            for path, child in module.named_modules():
                self._paths.setdefault(id(child), f"{root}.{path}" if path else root)
                self._alive.append(child)
        path = self._paths[id(module)]
        self._calls[path] += 1
        self._scopes.append(Scope(path, type(module).__name__, self._calls[path]))

    def _leave_module(self, module: Any, args: Any, output: Any) -> None:
        self._scopes.pop()

    # --- operations -------------------------------------------------------------------------------

    def after_forward(
        self, op: type[GradFn], args: tuple[Any, ...], results: tuple[Any, ...], node: GradFn | None
    ) -> None:
        arrays = [getattr(x, "_array", x) for x in args]
        roots = [id(_root(a)) if hasattr(a, "strides") else None for a in arrays]
        if node is None:
            why = next((self._cut[key] for key in roots if key in self._cut), "")
            if any(key in self._made for key in roots) or why:
                why = why or ("volatile" if mode.enabled else "no_grad")
                if op.differentiable:  # type: ignore[attr-defined]
                    self._cut |= dict.fromkeys(self._keep(results), why)
            return
        node.metadata["traceback_"] = users_line()
        node.metadata["scopes_"] = (BACKWARD,) if self._passes else tuple(self._scopes)
        borders = []
        for slot, (edge, key) in enumerate(zip(node.edges, roots, strict=False)):
            if key is None:
                continue
            if edge is not None:
                self._made.setdefault(key, edge[0].name())
                self._alive.append(_root(arrays[slot]))
            elif why := self._cut.get(key) or ("detached" if key in self._made else ""):
                array = arrays[slot]
                shape, dtype = tuple(array.shape), str(array.dtype)
                borders.append(Border(slot, why, shape, dtype, self._made.get(key, "")))
        if borders:
            node.metadata["borders_"] = tuple(borders)
        self._made |= dict.fromkeys(self._keep(results), node.name())
        node.metadata["writes_"] = self.writes

    def _keep(self, results: tuple[Any, ...]) -> list[int]:
        arrays = [getattr(x, "_array", x) for x in results]
        roots = [_root(array) for array in arrays if hasattr(array, "strides")]
        self._alive += roots
        return list(map(id, roots))

    def _on_write(self, tensor: Any) -> None:
        counter = tensor._shared_counter()
        writes = self.writes.setdefault(id(counter), (counter, []))[1]
        writes.append(Write(counter[0], line_text(users_line())))

    def before_backward(self, node: GradFn, grads: tuple[Any, ...]) -> None:
        self._passes += 1

    def after_backward(
        self, node: GradFn, grads: tuple[Any, ...], results: tuple[Any, ...]
    ) -> None:
        self._passes -= 1

    # --- failures ---------------------------------------------------------------------------------

    def failed_forward(self, op: type[GradFn], error: Exception) -> None:
        if self._failed is None or self._failed[2] is not error:
            self._failed = op_name(op), None, error

    def failed_backward(self, node: GradFn, error: Exception) -> None:
        self._passes -= 1
        self._failed = node.name(), node, error

    def _what_failed(self, error: BaseException, trace: TracebackType | None) -> Failure:
        frames = [frame for frame, _ in traceback.walk_tb(trace)]
        lines = [line for _, line in traceback.walk_tb(trace)]
        last = max((i for i, frame in enumerate(frames) if users_frame(frame)), default=-1)
        op, node = self._failed[:2] if self._failed and self._failed[2] is error else ("", None)
        tensors: dict[int, Tensor] = {}
        ops: list[type[GradFn]] = []
        if last + 1 < len(frames):
            callee = frames[last + 1]  # the engine's function that the program called
            inside_op = (frame.f_locals.get("cls") for frame in frames[last + 1 :])
            ops = [cls for cls in inside_op if isinstance(cls, type) and issubclass(cls, GradFn)]
            called = [frame.f_code.co_name for frame in frames[last + 1 :]]
            name = next((each for each in called if each not in WRAPPERS), called[0])
            op = op or (op_name(ops[0]) if ops else name.strip("_"))
            for value in callee.f_locals.values():
                several = value if isinstance(value, tuple | list) else (value,)
                tensors |= {id(v): v for v in several if isinstance(v, Tensor)}
        summary = None
        if last >= 0:
            code = frames[last].f_code
            summary = traceback.FrameSummary(
                code.co_filename, lines[last], code.co_name, lookup_line=False
            )
        inside = [frame.f_locals["self"] for frame in frames
                  if frame.f_code.co_name == "_call_hooked"]  # fmt: skip
        paths = [(self._paths.get(id(m), type(m).__name__), type(m).__name__) for m in inside]
        scopes = tuple(Scope(path, kind, self._calls[path]) for path, kind in paths)
        if scopes and not ops and node is None:
            op = scopes[-1].kind
        text = error_text(error)
        return Failure(op, text, line_text(summary), tuple(tensors.values()), scopes, node)


def error_text(error: BaseException) -> str:
    """The kind and the words of an error in one line, without the place that anomaly mode adds:
    files have other names elsewhere."""
    said = re.split(r"\w+ was recorded here in the forward pass", str(error))[0]
    return f"{type(error).__name__}: {' '.join(said.split())}"


def _root(array: Any) -> Any:
    """The array that owns the memory under `array`."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "strides"):
        array = array.base
    return array
