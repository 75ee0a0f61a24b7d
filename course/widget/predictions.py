"""Predict first: before a step is shown, the learner says which node fires and what shape arrives.

Answers are graded against the recorded pass and kept, right and wrong ones; the learner's progress
file counts them. A wrong one is told why: a node that still waits for a gradient cannot fire.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from course.files import CourseError
from tinygrad_course.viz import Graph

from .replay import Replay


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was said of step `step`, and what was right."""

    step: int
    node: str
    shape: tuple[int, ...] | None
    right_node: str
    right_shape: tuple[int, ...]

    @property
    def node_right(self) -> bool:
        return self.node == self.right_node

    @property
    def shape_right(self) -> bool:
        return self.shape == self.right_shape

    @property
    def right(self) -> bool:
        return self.node_right and self.shape_right


def right_answer(replay: Replay, step: int) -> tuple[str, tuple[int, ...]] | None:
    """The node that fires in step `step` and the shape of its gradient; None where there is nothing
    to ask: past the end, and at the start, which is always the result."""
    if not 1 < step <= len(replay.steps):
        return None
    now = replay.steps[step - 1]
    arrived = next((value for value in now.received if value is not None), None)
    return now.nodes[0], (() if arrived is None else tuple(arrived.shape))


def candidates(graph: Graph, replay: Replay, step: int, most: int = 40) -> list[str]:
    """The nodes to choose from for step `step`: those that have not fired, the right one among
    them, those that have received something before the others."""
    answer = right_answer(replay, step)
    if answer is None:
        return []
    waiting = [node.id for node in graph.nodes
               if node.kind != "output" and replay.fired.get(node.id, step) >= step]  # fmt: skip
    waiting.sort(key=lambda key: not replay.arrivals(key, step - 1))
    kept = waiting[:most]
    kept = kept if answer[0] in kept else [*kept[:-1], answer[0]]
    return [node.id for node in graph.nodes if node.id in kept]  # no order that gives it away


def read_shape(text: str) -> tuple[int, ...] | None:
    """`(2, 3)`, `2 x 3`, `2, 3` are a shape, `()` and `scalar` a scalar's; None for others."""
    numbers = re.findall(r"\d+", text)
    rest = re.sub(r"\d+|[\s,x×()\[\]]|scalar", "", text)
    empty = not numbers and not text.strip()
    return None if rest or empty else tuple(map(int, numbers))


def verdict(prediction: Prediction, graph: Graph, replay: Replay) -> str:
    """The grading in words."""
    names = graph.names()
    right = names[prediction.right_node]
    if prediction.node_right:
        first = f"Right: {right} fires."
    else:
        came = len(replay.arrivals(prediction.node, prediction.step - 1))
        wanted = replay.expected[prediction.node]
        why = (
            f"has received {came} of {wanted} gradients and must wait"
            if came < wanted
            else "could fire too, but the engine takes the node that was recorded last"
        )
        first = f"Not yet: {names[prediction.node]} {why}. {right} fires."
    shape = prediction.right_shape
    if prediction.shape_right:
        return f"{first} Right: its gradient has the shape {shape}."
    return f"{first} Its gradient has the shape {shape}, that of what the node made in forward."


def note(answer: Prediction) -> str:
    """Counts the answer in the progress file, where there is one; what went wrong, in words."""
    from course.lesson import lesson_folders
    from course.progress import changing
    from course.workspace import workspace_of

    try:
        workspace = workspace_of(Path.cwd())
        if workspace is None:
            return ""
        notebook = Path(os.environ.get("JPY_SESSION_NAME", "")).stem  # Jupyter tells its kernels
        known = notebook in {folder.name for folder in lesson_folders()}
        with changing(workspace) as progress:
            progress.predict(notebook if known else "", answer.right)
    except (CourseError, OSError) as error:
        return f" (Your progress was not noted: {error})"
    if progress.set_aside:
        return f" (The progress file could not be read; it is kept as {progress.set_aside}.)"
    return ""
