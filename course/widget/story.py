"""What there is to say of a graph and of each step of its backward pass, in plain words.

The same words serve the live region, the panels and a learner's Python. This module knows the graph
and the recorded pass, and nothing of traits or browsers.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tinygrad_course.device import backend_of
from tinygrad_course.viz import Folded, Graph, Node, Saved

from .memory import memory_of
from .replay import Replay, Step
from .values import cell, summary

CONTENT = Path(__file__).parents[1] / "content"
KINDS = {
    "op": "operation",
    "leaf": "leaf variable",
    "parameter": "parameter of a module",
    "output": "result",
    "module": "module, collapsed",
    "failed": "what raised the error",
}


class Story:
    """The words for `graph` and `replay`; `step` counts from 0, nothing yet, to the last."""

    def __init__(self, graph: Graph, replay: Replay) -> None:
        self.graph, self.replay = graph, replay
        self.names = graph.names()
        self.last = len(replay.steps)
        self.memory = memory_of(graph, replay)
        self.into = graph.incoming()
        self.users: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
        for edge in graph.edges:
            self.users[edge.source].append(edge.target)

    def step(self, number: int) -> Step | None:
        return self.replay.steps[number - 1] if number else None

    # ---------------------------------------------------------------- the step

    def status(self, number: int) -> str:
        """The step in a few sentences, for the live region and the slider."""
        current = self.step(number)
        if self.replay.note:
            return self.replay.note
        if current is None:
            text = f"Before backward: no gradient has arrived yet. {self.last} steps follow."
            if self.replay.error:
                where = self.names.get(self.replay.failed, "a hook")
                text += f" The backward pass cannot run to its end: {where} fails. "
                text += self.replay.error
            return text
        return f"Step {number} of {self.last}: {self._told(number, current)}"

    def _told(self, number: int, current: Step) -> str:
        who = " and ".join(self.names[key] for key in current.nodes)
        first = self.graph[current.nodes[0]]
        given = " and ".join(map(summary, current.received))
        if first.kind == "output":
            return f"backward() starts: {who} receives the gradient {given}."
        if self.replay.error and number == self.last and self.replay.failed in ("", first.id):
            who = who if self.replay.failed else f"A hook at or after {who}"
            return f"{who} fails on the gradient {given}. {self.replay.error}"
        if first.kind == "leaf":
            parts = self.replay.expected[first.id]
            text = (
                f"{who} has its whole gradient, {summary(current.received[0])}, the sum of "
                f"{parts} {'contribution' if parts == 1 else 'contributions'}. "
                f"Now backward() would do {who}.grad += this."
            )
        else:
            sent = "; ".join(f"to {self.names[m.target]}: {summary(m.value)}" for m in current.sent)
            text = f"{who} runs on its gradient, {given}. It sends {sent or 'nothing'}."
        if hooks := self.replay.hooks.get(first.id):
            text += f" Hooks on it run: {', '.join(hooks)}."
        if freed := self.memory.freed[number]:
            text += f" backward() would now free {size(freed)} that forward kept."
        return text

    def sums(self, number: int) -> list[list[str]]:
        """What the step adds: where, how much, the sum now, and how many of how many have come."""
        current = self.step(number)
        if current is None:
            return []
        first = self.graph[current.nodes[0]]
        if first.kind == "leaf" and first.tensor is not None:
            grad, total = first.tensor.grad, current.received[0]
            old = None if grad is None else grad.numpy(force=True)
            new = total if old is None or total is None else old + total
            return [[f"{self.names[first.id]}.grad", cell(total), cell(new), "not done here"]]
        rows = []
        before = {m.target: self.replay.adjoint(m.target, number - 1) for m in current.sent}
        count = {m.target: len(self.replay.arrivals(m.target, number - 1)) for m in current.sent}
        for m in current.sent:
            sums = before[m.target]
            if m.value is not None:
                sums[m.output] = sums[m.output] + m.value if m.output in sums else m.value
            count[m.target] += 1
            several = len(self.graph[m.target].shapes) > 1
            where = self.names[m.target] + (f", output {m.output}" if several else "")
            came = f"{count[m.target]} of {self.replay.expected[m.target]}"
            rows.append([where, cell(m.value), cell(sums.get(m.output)), came])
        return rows

    def arrows(self, number: int, folded: Folded) -> list[str]:
        """The arrows on which the step sends gradients back, by the boxes at their ends."""
        current, home = self.step(number), folded.home
        if current is None:
            return []
        return [f"{home[m.target]}->{home[key]}" for key in current.nodes for m in current.sent]

    def marks(self, number: int, folded: Folded) -> dict[str, str]:
        """A short word at each box that something has happened to."""
        marks: dict[str, str] = {}
        members = folded.members()
        for node in folded.graph.nodes:
            each = [self._mark(key, number) for key in members[node.id]]
            done = sum(mark == "done" for mark in each)
            if len(each) == 1 or done == len(each):
                mark = each[0]
            elif loud := [mark for mark in each if mark in ("now", "failed")]:
                mark = loud[0]
            else:
                mark = f"{done} of {len(each)} done" if any(each) else ""
            if mark:
                marks[node.id] = mark
        return marks

    def _mark(self, key: str, number: int) -> str:
        current = self.step(number)
        if key == self.graph.failed or (key == self.replay.failed and number == self.last):
            return "failed"
        if current is not None and key in current.nodes:
            return "now"
        if self.replay.fired.get(key, self.last + 1) <= number:
            return "done"
        came = len(self.replay.arrivals(key, number))
        return f"{came} of {self.replay.expected[key]}" if came else ""

    def gradients(self, number: int, most: int = 200) -> list[list[str]]:
        """The running gradient of every node that has received one, the latest first."""
        keys = [key for key in self.names if self.replay.arrivals(key, number)]
        keys.sort(key=lambda key: -self.replay.mail[key][0][0])
        rows = [[self.names[key], self.gradient(self.graph[key], number)] for key in keys[:most]]
        return rows + ([["...", f"{len(keys) - most} more"]] if len(keys) > most else [])

    # ---------------------------------------------------------------- nodes

    def find(self, text: str) -> list[str]:
        """The ids of the nodes whose name, kind, shapes, module or line holds `text`."""
        wanted = text.strip().lower()
        found = []
        for node in self.graph.nodes:
            words = (self.names[node.id], node.role, node.signature, node.module, node.line)
            if wanted in " ".join(words).lower():
                found.append(node.id)
        return found

    def panel(
        self, node: Node, gradients: Mapping[str, int], members: Sequence[str]
    ) -> list[list[str]]:
        """What there is to say of one node, as rows of a name and a text; `gradients` names the
        rows for its running gradient, each after a number of steps."""
        rows = [
            ["node", f"{self.names.get(node.id, node.name)} [{node.id}]"],
            ["kind", KINDS[node.role]],
            ["shape", "; ".join(map(str, node.shapes))],
            ["dtype", "; ".join(node.dtypes)],
        ]
        if node.kind == "failed":
            line = [["line", self.graph.error_line]] if self.graph.error_line else []
            return [*rows[:2], ["error", self.graph.error], *_place(node), *line]
        if node.kind == "module":
            leaves = [self.names[key] for key in members if self.graph[key].kind == "leaf"]
            inside = len(members) - len(leaves)
            more = [["leaves inside", ", ".join(leaves)]] if leaves else []
            return [*rows, ["class", node.op], ["operations inside", str(inside)], *more]
        if len(members) > 1:
            rows.append(["stands for", f"{len(members)} nodes, one in each step of the loop"])
        if not self.replay.note:
            rows += [[name, self.gradient(node, step)] for name, step in gradients.items()]
        if node.kind == "leaf" and node.tensor is not None:
            grad = node.tensor.grad
            rows.append(["own .grad", "None" if grad is None else cell(grad.numpy(force=True))])
        if node.tensor is not None:
            rows.append(["value", cell(node.tensor.numpy(force=True))])
            rows.append(["version", str(node.tensor._version)])
        if node.kind == "op" and node.function is not None:
            sources = {edge.input: self.names[edge.source] for edge in self.into[node.id]}
            slots = range(len(node.function.next_functions))
            rows.append(["grad_fn", node.op])
            rows += [["formula", text] for text in [formula(node)] if text]
            rows.append(["inputs", ", ".join(sources.get(i, "no gradient") for i in slots)])
            rows += [["cut off", f"input {b.slot}: {b.why} {b.source}".rstrip()]
                     for b in node.borders]  # fmt: skip
            kept = "; ".join(saved_words(s) for s in node.saved)
            rows.append(["saved for backward", kept or "nothing"])
            step = self.replay.fired.get(node.id, self.last + 1)
            if kept and step <= min(gradients.values(), default=0):
                rows.append(["freed", f"backward() lets go of it in step {step}"])
            rows += [["clash", text] for text in clashes(node)]
        if users := self.users[node.id]:
            rows.append(["used by", ", ".join(self.names[key] for key in users)])
        if hooks := self.replay.hooks.get(node.id):
            rows.append(["hooks", ", ".join(hooks)])
        return rows + _place(node)

    def gradient(self, node: Node, number: int) -> str:
        """The running gradient of a node, and how much of it has come."""
        sums = self.replay.adjoint(node.id, number)
        texts = [cell(sums.get(output)) for output in sorted(sums)]
        if len(node.shapes) > 1:
            texts = [f"output {n}: {text}" for n, text in zip(sorted(sums), texts, strict=True)]
        came = len(self.replay.arrivals(node.id, number))
        total = self.replay.expected[node.id]
        if self.replay.fired.get(node.id, self.last + 1) <= number:
            return "; ".join(texts) or "none"
        return f"{'; '.join(texts) or 'none'} (so far: {came} of {total})" if came else "not yet"


def _place(node: Node) -> list[list[str]]:
    calls = " > ".join(f"{s.path} ({s.kind}), call {s.call}" for s in node.scopes)
    rows = [["module", calls]] if calls else []
    return rows + ([["line", node.line]] if node.line else [])


def saved_words(saved: Saved) -> str:
    """One thing that forward kept: an array with its size and values, a plain value as it is."""
    if not saved.dtype:
        return saved.text
    host = backend_of(saved.value).to_host(saved.value)
    now = f" (now {saved.now})" if saved.clash else ""
    version = "" if saved.version is None else f", version {saved.version}{now}"
    return f"{saved.shape} {saved.dtype} {summary(host)}, {size(saved.nbytes)}{version}"


def clashes(node: Node) -> list[str]:
    """Who saved which version, and who wrote since."""
    told: dict[int, str] = {}
    for saved in node.saved:
        if saved.clash and node.function is not None:
            writers = [f"version {w.version} by {w.line}" for w in saved.writes(node.function)]
            told[id(saved.counter)] = "; ".join(
                [f"{node.op} saved {saved.shape} at version {saved.version}, it is at "
                 f"{saved.now} now", *writers]
            )  # fmt: skip
    return list(told.values())


def formula(node: Node) -> str:
    """The docstring of a node's operation: its formula."""
    text = vars(type(node.function)).get("__doc__") or ""
    return inspect.cleandoc(text).partition("\n\n")[0].replace("\n", " ")


def lesson(node: Node) -> str:
    """The lesson that the file of a node's operation names, e.g. "05_backward", or ""."""
    module = sys.modules.get(type(node.function).__module__)
    found = re.search(r"Lessons? (\d\d)", (module.__doc__ if module else None) or "")
    return next((path.name for path in CONTENT.glob(f"{found[1]}_*")), "") if found else ""


def size(nbytes: int) -> str:
    """Bytes in words: 96 bytes, 1.5 KiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= factor:
            return f"{nbytes / factor:.1f} {unit}"
    return f"{nbytes} {'byte' if nbytes == 1 else 'bytes'}"
