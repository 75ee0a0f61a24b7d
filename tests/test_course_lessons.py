"""The course's own lessons in the grader: solved ones earn every point, and sly answers none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.course_helpers import grades, notebook, points

ROOT = Path(__file__).parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COURSE_CONTENT", raising=False)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_a_solved_lesson_earns_every_point(path: Path, tmp_path: Path) -> None:
    verdicts = grades(json.loads(path.read_text("utf-8")), tmp_path)
    assert {name: v.earned for name, v in verdicts.items()} == {
        name: v.points for name, v in verdicts.items()
    }


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_a_solved_lesson_runs_cell_by_cell(path: Path) -> None:
    """Every output is the stored one, as nbval sees it: the second tool that says so."""
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider", str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-4000:]


# Answers that look right to a check that reads them more than once, or believes what they say.
SLY = {
    "a sequence of many faces": """
class Shifty(list):
    turn = 0
    def __iter__(self):
        self.turn += 1
        return list.__iter__(self) if self.turn % 3 == 0 else iter(())
def topological_order(root):
    return Shifty(every_node(root))
""",
    "nodes that deny their edges": """
class Copy:
    next_functions = ()
    def __init__(self, node): self.label, self.name = getattr(node, 'label', ''), node.name
def topological_order(root):
    return [Copy(node) for node in every_node(root)]
""",
}
EVERY_NODE = """
def every_node(root):
    found = [root]
    for node in found:
        for child, _ in node.next_functions:
            if child is not None and all(child is not other for other in found):
                found.append(child)
    return found
"""


@pytest.mark.parametrize("name", SLY)
def test_a_sly_order_earns_no_more_than_an_honest_wrong_one(name: str, tmp_path: Path) -> None:
    lesson = "05_backward"
    found = notebook({"topological-order": EVERY_NODE + SLY[name]}, lesson)
    honest = EVERY_NODE + "topological_order = every_node"
    other = notebook({"topological-order": honest}, lesson)
    got, limit = (points(grades(f, tmp_path))["topological-order"] for f in (found, other))
    assert got <= limit < 8
