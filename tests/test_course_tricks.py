"""More tricks on the grader: in memory, in files, in the notebook's ids and in the reports.

`test_course_exploits.py` has the first half. What is tried here is answered wrong and must score
nothing; what is written into a report must stay text.
"""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from course.cli import app
from course.files import CourseError
from course.grade.classroom import grade_all
from course.grade.grader import grade
from course.grade.report import Reports, Row, as_csv, as_junit, exercise_row
from course.grade.submission import read_submission
from course.judge import judge
from course.lesson import load_lesson
from course.observe import is_observation
from course.oracle import oracle_for
from course.trial import Run, from_json
from tests.course_helpers import CONTENT, LIMITS, RIGHT, answer_cell, grades, notebook, points, save
from tests.test_course_exploits import WRONG, doubles

LESSON = "07_fixture"


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))


# ------------------------------------------------------------------ in the answer's process

TRICKS = {
    "class-getitem": """
class Any:
    def __class_getitem__(cls, key): return 6.0
    def __instancecheck__(self, other): return True
double = Any""",
    "all-objects": """
import gc
def double(x):
    for thing in gc.get_objects():
        if type(thing).__name__ == 'Oracle':
            return thing.expected
    return 2 * x""",
    "who-refers": """
import gc
def double(x):
    return gc.get_referrers(x) and 2 * x""",
    "the-callers-case": """
import sys
def double(x):
    frame = sys._getframe(1)
    while frame and 'example' not in frame.f_locals:
        frame = frame.f_back
    frame.f_locals['case'].function.__code__ = (lambda answer, rng: None).__code__
    return 3 * x""",
    "examples-patched": WRONG
    + """
import hypothesis, course.draws, course.memory, course.graphs, course
hypothesis.given = hypothesis.seed = lambda *a, **k: lambda test: lambda: None
course.draws.examples_of = lambda *a: [[None], [0]]
course.memory.layout = course.memory.shares_with = lambda *a, **k: {}
course.ask = course.check = lambda *a, **k: None
course.ask('08_doubles', 'honest', globals())""",
    "numpy-patched": WRONG
    + """
import numpy as np
np.isclose = np.allclose = np.array_equal = lambda *a, **k: True
np.testing.assert_allclose = lambda *a, **k: None""",
    "later": """
import threading
import course.observe
def double(x):
    threading.Timer(0.01, lambda: setattr(course.observe, 'LATE', 1)).start()
    return 3 * x""",
    "a-pth-file": WRONG
    + """
import pathlib, site, sys
code = "import sys; sys.modules['course.compare'] = None"
for folder in (site.getusersitepackages(), sys.path[-1], pathlib.Path.home()):
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        pathlib.Path(folder, 'evil.pth').write_text(code)
        pathlib.Path(folder, 'sitecustomize.py').write_text(code)
    except OSError:
        pass""",
    "a-link": """
import os
def double(x):
    os.symlink('/etc/hostname', 'results/honest.json')
    return 2 * x""",
    "the-environment": """
import os
os.environ.update(COURSE_CONTENT='.', COURSE_WORKSPACE='.', PYTHONPATH='.', PYTEST_ADDOPTS='-k no')
def double(x):
    return 3 * x""",
    "at-exit": WRONG
    + """
import atexit, pathlib
atexit.register(lambda: pathlib.Path('results', 'at-exit.json').write_text('[]'))""",
    "terminal-bombs": """
def double(x):
    print('\\x1b[2J\\x1b]0;owned\\x07\\x1b[31m' * 50, '\\u202e' * 9)
    raise ValueError('\\x1b[2J<script>alert(1)</script>]]>' + '\\x00\\ufffe')""",
}


def test_tricks_in_the_process_get_nothing_and_harm_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = doubles(TRICKS, tmp_path, monkeypatch)
    assert points(verdicts) == {**dict.fromkeys(TRICKS, 0), "honest": 3}
    row = Row("a", exercises=[exercise_row(verdict) for verdict in verdicts.values()])
    text = json.dumps([e["feedback"] for e in row.exercises])
    assert "\\u001b" not in text and "\\u202e" not in text and "\\u0000" not in text
    assert ElementTree.fromstring(as_junit([row])).find(".//failure") is not None


def test_what_a_process_says_of_a_graph_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether an order is right is said by the grader, of the reference's own graph."""
    monkeypatch.delenv("COURSE_CONTENT")
    answer = """
import course.graphs as g
def order_of(root, order):
    steps = [g.name(node) for node in g.nodes(root)]
    facts = {"steps": sorted(steps), "in the wrong order": []}
    return {**facts, "names": steps, "reads": [[]] * len(steps), "order": [*range(len(steps))]}
g.order_of, g.read_order = order_of, lambda ours, theirs: ours
def topological_order(root):
    return []"""
    found = notebook({"topological-order": answer}, "05_backward")
    submission = read_submission(save(found, tmp_path / "a.ipynb"))
    (verdict,) = grade(submission, 5, ["topological-order"], LIMITS)
    passed = [case.title for case in verdict.cases if case.earned]
    # Numbered by layers, which is right where no step is read by one of its own layer or below.
    assert passed == ["inputs that need no gradient are left out"]


def test_results_recorded_from_the_learners_own_checks_get_nothing(tmp_path: Path) -> None:
    """A notebook's check always uses one seed, whose inputs and results could be written down."""
    lesson = load_lesson(LESSON)
    seen: dict[str, Any] = {}

    def double(x: Any) -> Any:
        seen[repr(x)] = 2 * x
        return 2 * x

    oracle = oracle_for(lesson, "double", lesson.seed)
    assert judge(oracle.try_names({"double": double}), oracle).passed
    table = f"import numpy as np\nfrom numpy import array, float32\nSEEN = {seen!r}\n"
    answer = table + "def double(x):\n    return SEEN.get(repr(x), 0 * x)"
    assert points(grades(notebook({"double": answer}), tmp_path))["double"] == 0


# Each changes what all others need, so each has a kernel of its own.
SPOILERS = {
    "no-imports": """
import builtins
there = builtins.__import__
class Fake:
    probe = staticmethod(lambda *a: None)
builtins.__import__ = lambda name, *a, **k: Fake if 'probe' in name else there(name, *a, **k)""",
    "other-checks": """
import course.checks, course.grade.probe
class Easy(course.checks.Exercise):
    def _registered(self, title, points, draw, hint):
        return super()._registered(title, points, draw, hint)
def easy(path):
    found = course.checks.load_exercises(path)
    for exercise in found.values():
        exercise.cases[:] = exercise.cases[:0]
    return found
course.grade.probe.load_exercises = easy
def double(x): return 2 * x + 1""",
    "other-code": """
import ast
class Change(ast.NodeTransformer):
    def visit_Call(self, node):
        if getattr(node.func, 'id', '') == '_probe':
            node.args[3] = ast.List([ast.List([], ast.Load())] * 2, ast.Load())
        return node
get_ipython().ast_transformers.append(Change())
def double(x): return 2 * x + 1""",
    "easy-inputs": """
import numpy as np
class Zero:
    integers = staticmethod(lambda *a, **k: 0)
    standard_normal = staticmethod(lambda shape, *a: np.zeros(shape))
np.random.default_rng = lambda *a: Zero
def double(x): return x""",
}


@pytest.mark.parametrize("name", SPOILERS)
def test_spoiling_the_probe_gets_nothing(name: str, tmp_path: Path) -> None:
    answers = {"double": WRONG + SPOILERS[name]}
    assert points(grades(notebook(answers), tmp_path)) == {
        "double": 0,
        "quadruple": 0,
        "predict": 0,
    }


# ------------------------------------------------------------------ what it writes down

HOSTILE = [
    ["array", ",", [], ""],
    ["array", "f8,f8", [1], "AAAAAAAAAAA="],
    ["array", "float64", [2**70], ""],
    ["array", "float64", [-1], ""],
    ["array", "float64", [1], "é"],
    ["array", "object", [0], ""],
    ["array", "U99999999999", [], ""],
    ["int", "9" * 5000],
    ["int", "three"],
    ["float", []],
    ["seq", "ab"],
    ["dict", [[["int", "1"]]]],
    ["tensor", ["none"], True, ["none"]],
    ["bool", 1],
    ["unknown"],
    [["int", "1"]],
]


@pytest.mark.parametrize("tree", HOSTILE, ids=repr)
def test_data_of_another_form_are_refused(tree: Any) -> None:
    assert not is_observation(tree)
    with pytest.raises(ValueError, match="not an observation"):
        from_json([[[tree, ""]]], [[None]])


def test_odd_data_of_the_right_form_are_judged_as_wrong() -> None:
    """Numbers in other spellings, empty arrays of vast shapes, keys that come twice."""
    oracle = oracle_for(load_lesson(LESSON), "double", 5)
    odd = (
        ["array", "float64", [0, 10**18], ""],
        ["float", "infinity"],
        ["int", "9" * 1400],
        ["dict", [[["str", "a"], ["int", "1"]], [["str", "a"], ["int", "2"]]]],
        ["str", "\ud800"],
        ["other", "\x1b[2J"],
    )
    for tree in odd:
        seen = [[Run(tree) for _ in tried] for tried in oracle.examples]
        verdict = judge(seen, oracle)
        assert verdict.earned == 0
        assert exercise_row(verdict)["feedback"].encode("utf-8")


def test_a_fault_in_judging_costs_that_submission_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever we have not thought of: the class's other results are kept."""
    bad = save(notebook({}), tmp_path / "bad.ipynb")
    good = save(notebook(RIGHT), tmp_path / "good.ipynb")
    real = read_submission(bad).digest

    def fails(submission: Any, seed: int, attempts: Any) -> Any:
        if submission.digest == real:
            raise OverflowError("unthought of")
        from course.grade.grader import verdicts_on

        return verdicts_on(submission, seed, attempts)

    monkeypatch.setattr("course.grade.classroom.verdicts_on", fails)
    rows = grade_all([bad, good], 5, None, limits=LIMITS)
    assert rows[0].problem.endswith("could not be graded: OverflowError('unthought of')")
    assert (rows[1].earned, rows[1].points) == (7, 7)


# ------------------------------------------------------------------ in the notebook's ids


def test_a_name_that_looks_like_an_exercise_is_none(tmp_path: Path) -> None:
    found = notebook({"double": WRONG})
    cell = json.loads(json.dumps(answer_cell(found, "double")))
    cell["source"] = RIGHT["double"]
    for number, name in enumerate(("dоuble", "double ", "DOUBLE", "double\u200b", "../double")):
        look = json.loads(json.dumps(cell))
        look["metadata"]["course"]["exercise"], look["id"] = name, f"answer-{number}"
        found["cells"].append(look)
        bare = {**look, "id": f"answer-{name}", "metadata": {}}
        found["cells"].append(bare)
    submission = read_submission(save(found, tmp_path / "a.ipynb"))
    assert submission.answers["double"] == [WRONG]
    assert not any(RIGHT["double"] in sources for sources in submission.answers.values())


def test_two_cells_of_one_id_are_no_notebook(tmp_path: Path) -> None:
    found = notebook({"double": WRONG})
    again = {**answer_cell(found, "double"), "source": RIGHT["double"]}
    found["cells"].append(again)
    with pytest.raises(CourseError, match="two cells have the id 'answer-double'"):
        read_submission(save(found, tmp_path / "a.ipynb"))


def test_two_answers_with_ids_of_their_own_are_one_text(tmp_path: Path) -> None:
    """As when a cell was split: the last definition holds, for better or worse."""
    found = notebook({"double": RIGHT["double"]})
    again = {**answer_cell(found, "double"), "source": WRONG, "id": "another"}
    found["cells"].append(again)
    assert points(grades(found, tmp_path))["double"] == 0


def test_a_link_in_a_folder_of_submissions_is_not_followed(tmp_path: Path) -> None:
    """It could lead to the work of somebody else, or to a solved notebook on the same computer."""
    secret = save(notebook(RIGHT), tmp_path / "solved.ipynb")
    folder = tmp_path / "handed-in" / "mallory"
    folder.mkdir(parents=True)
    try:
        (folder / "a.ipynb").symlink_to(secret)
    except OSError:
        pytest.skip("this system makes no links")
    done = CliRunner().invoke(app, ["grade", str(folder.parent)])
    assert done.exit_code == 2
    assert "is a link to another file: the notebook itself is wanted" in done.output


# ------------------------------------------------------------------ in the reports

NASTY = (
    "=HYPERLINK('http://x')",
    "\t=1+1",
    "\r\n@SUM(A1)",
    " -2+3",
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "\x1b[31mred\x1b[0m",
    "[/bold][link=http://x]",
    ":smile:",
    "]]><x/>",
)


ALLOWED = {
    *("!doctype", "html", "head", "body", "meta", "title", "style"),
    *("h1", "h2", "h3", "p", "pre", "table", "tr", "th", "td", "a"),
}


@pytest.mark.parametrize("name", NASTY)
def test_names_stay_text_in_every_report(name: str, tmp_path: Path) -> None:
    feedback = f"{name} said the answer"
    exercise = {
        "exercise": "double", "title": name, "earned": 1, "points": 3, "mistake": name,
        "hints": None, "cases": [{"title": name, "earned": 1, "points": 3}], "feedback": feedback,
    }  # fmt: skip
    row = Row(name, LESSON, "d", "s", 1, "", name, False, [exercise])
    broken = Row(f"{name}2", problem=name, learner=name)
    reports = Reports(tmp_path)
    reports.order = [row.file, broken.file]
    for one in (row, broken):
        reports.add(one)
    reports.write_tables()
    pages = [*(tmp_path / "pages").iterdir(), tmp_path / "index.html"]
    for page in pages:
        text = page.read_text("utf-8")
        tags = {found.lower() for found in re.findall(r"<\s*/?\s*([^\s>]+)", text)}
        assert tags <= ALLOWED and "\x1b" not in text
        assert not re.search(r"<[^>]*\bon\w+\s*=", text)
    for line in csv.reader(io.StringIO(as_csv([row, broken]))):
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in line)
        assert not any(ord(letter) < 32 for cell in line for letter in cell)
    suites = ElementTree.fromstring(as_junit([row, broken]))
    assert [suite.tag for suite in suites] == ["testsuite", "testsuite"]
    assert {element.tag for element in suites.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["[/bold].ipynb", "[red]x.ipynb", ":boom:.ipynb", "\x1b[2J.ipynb"])
def test_a_files_name_is_text_in_the_terminal(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)  # the closing tag makes a folder called "["
    (tmp_path / name).write_text("{}", "utf-8")
    save(notebook({}), tmp_path / "other.ipynb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(app, ["grade", "."])
    assert done.exit_code == 2 and "\x1b" not in done.output
    assert name.replace("\x1b", "?") in done.output
