"""What the tests of the course's machinery share: small lessons, and notebooks a learner saves."""

import json
from pathlib import Path
from typing import Any

from course.build import lesson_notebook
from course.grade.grader import grade
from course.grade.sandbox import Limits
from course.grade.submission import read_submission
from course.judge import Verdict
from course.lesson import load_lesson

CONTENT = Path(__file__).with_name("course_content")
LESSON = "07_fixture"
# Short, since a test that hangs costs this much; the processor's time, so not short for busy cores.
LIMITS = Limits(cell_seconds=12.0, wall_seconds=180.0)

RIGHT = {
    "double": "def double(x):\n    return x + x",
    "quadruple": "def quadruple(x):\n    return double(double(x))",
    "predict": "prediction = (3, 2)",
}
WRONG = {"double": "def double(x):\n    return 3 * x"}


def lesson_of_doubles(content: Path, names: list[str]) -> str:
    """Write a lesson with an exercise like `double` under each of these names; its own name."""
    folder = content / "08_doubles"
    folder.mkdir(parents=True)
    cells = ["---\ncourse: {role: setup}\n---\nimport numpy as np"]
    cells += [
        f"---\ncourse: {{role: answer, exercise: {name}}}\n---\ndef double(x):\n"
        "    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
        for name in names
    ]
    text = "\n".join(f"```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells)
    front = "---\ncourse: {number: 8, slug: doubles, title: Doubles}\n---\n"
    (folder / "lesson.md").write_text(front + text, encoding="utf-8")
    (folder / "checks.py").write_text(f"NAMES = {names!r}\n{CHECKS}", encoding="utf-8")
    answers = "".join(
        f"# %% right {name}: by addition\ndef double(x):\n    return x + x\n"
        + "".join(
            f"# %% wrong {name}: times {n}\n# says: That is {n} times x.\n"
            f"def double(x):\n    return {n} * x\n"
            for n in (0, 1, 3, 4)
        )
        for name in names
    )
    (folder / "answers.py").write_text(answers, encoding="utf-8")
    return folder.name


CHECKS = """
import numpy as np
from course.checks import Exercise

def number(answer, rng):
    return answer(float(rng.integers(3, 99)))

def any_array(answer, rng, size):
    return answer(rng.standard_normal((size, 3)).astype(np.float32))

for name in NAMES:
    exercise = Exercise(name, answer="double", title=name, points=3, difficulty=1,
                        hints=("Add.", "Add x.", "Add x to x."))
    exercise.case("a number", points=1)(number)
    exercise.property("any array", points=2, draw=lambda st: st.integers(1, 4))(any_array)
    globals()[name.replace("-", "_")] = exercise
"""


def notebook(answers: dict[str, str], lesson: str = LESSON) -> dict[str, Any]:
    """The learner's notebook of a lesson with these answers typed in."""
    found: dict[str, Any] = json.loads(lesson_notebook(load_lesson(lesson)))
    for cell in found["cells"]:
        course = cell["metadata"].get("course", {})
        if course.get("role") == "answer" and course["exercise"] in answers:
            cell["source"] = answers[course["exercise"]]
    return found


def answer_cell(found: dict[str, Any], exercise: str) -> dict[str, Any]:
    """The cell of a notebook that answers an exercise."""
    return next(
        cell
        for cell in found["cells"]
        if cell["metadata"].get("course", {}).get("role") == "answer"
        and cell["metadata"]["course"]["exercise"] == exercise
    )


def save(found: dict[str, Any], path: Path) -> Path:
    """Write a notebook as JupyterLab would."""
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return path


def grades(
    found: dict[str, Any], tmp_path: Path, seed: int = 5, limits: Limits = LIMITS
) -> dict[str, Verdict]:
    """The verdicts of the grader on a notebook, by exercise."""
    submission = read_submission(save(found, tmp_path / "handed-in.ipynb"))
    return {v.exercise: v for v in grade(submission, seed, limits=limits)}


def points(verdicts: dict[str, Verdict]) -> dict[str, int]:
    """Earned points by exercise."""
    return {name: verdict.earned for name, verdict in verdicts.items()}
