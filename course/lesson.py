"""A lesson's sources: the notebook text, the checks, the right and wrong answers.

`course/content/NN_slug/` holds three files, and this module reads and cross-checks them; every
complaint names a file and a line. It knows the formats and nothing of kernels, grades or learners.
Lesson 00.
"""

import hashlib
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from course.checks import Exercise, load_exercises
from course.files import CourseError
from course.forms import Question
from course.myst import Block, read_myst

FILES = ("lesson.md", "checks.py", "answers.py")
ROLES = ("setup", "answer", "given")
KEYS = {"role", "exercise", "alt", "volatile"}
BEGIN, END, STUB = "### BEGIN SOLUTION", "### END SOLUTION", "### STUB: "
_BARE_PICTURE = re.compile(r"!\[\s*\]\(|<img\b(?![^>]*\balt=[\"'][^\"'])", re.IGNORECASE)
LEAST_HINTS, LEAST_RIGHT, LEAST_WRONG = 3, 2, 4


class Cell(Block):
    """One cell of a lesson's notebook text, and what its metadata say to the course."""

    @property
    def course(self) -> dict[str, Any]:
        """What the cell's metadata say to the course."""
        found = self.metadata.get("course", {})
        return found if isinstance(found, dict) else {}

    @property
    def role(self) -> str:
        """`setup`, `answer` or `given`."""
        return str(self.course.get("role", "given"))

    @property
    def exercise(self) -> str:
        """The exercise whose answer this cell is."""
        return str(self.course.get("exercise", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """One known answer: the text that stands in for the learner's cell, and what it is about."""

    exercise: str
    right: bool
    name: str
    source: str
    says: str
    line: int


@dataclass
class Lesson:
    """A lesson read from its folder, complete and consistent."""

    folder: Path
    number: int
    slug: str
    title: str
    cells: list[Cell]
    exercises: dict[str, Exercise]
    answers: list[Answer]
    digest: str
    """A fingerprint of the three source files."""

    @property
    def name(self) -> str:
        """The folder's name, `05_backward`: what commands and notebooks call the lesson."""
        return self.folder.name

    @property
    def seed(self) -> int:
        """The seed of a learner's own checks, the same each time: a counterexample stays."""
        return zlib.crc32(self.name.encode())

    @property
    def setup(self) -> list[Cell]:
        """The cells that run before anything else."""
        return [cell for cell in self.cells if cell.role == "setup"]

    def answer_cell(self, exercise: str) -> Cell:
        """The cell of the notebook that holds the exercise's reference answer."""
        return next(c for c in self.cells if c.role == "answer" and c.exercise == exercise)

    def reference(self, exercise: str) -> str:
        """The reference answer: the answer cell with its solution in place."""
        return solved(self.answer_cell(exercise).source)

    def stub(self, exercise: str) -> str:
        """The answer cell as the learner finds it."""
        text = stubbed(self.answer_cell(exercise).source, exercise)
        if self.exercises[exercise].form is None:
            return text
        call = f'ask("{self.name}", "{exercise}", globals())'
        return f"{text.rstrip()}\n\nfrom course import ask\n\n{call}  # a form, if you like one\n"

    def rights(self, exercise: str) -> list[Answer]:
        """The right answers, the reference first."""
        cell = self.answer_cell(exercise)
        first = Answer(exercise, True, "reference", self.reference(exercise), "", cell.line)
        return [first, *(a for a in self.answers if a.exercise == exercise and a.right)]

    def wrongs(self, exercise: str) -> list[Answer]:
        """The known wrong answers, each with the sentence that explains it."""
        return [a for a in self.answers if a.exercise == exercise and not a.right]

    def all_needs(self, exercise: str) -> list[str]:
        """Every exercise that this one builds upon, directly or not, in the lesson's order."""
        wanted, open_ = set[str](), list(self.exercises[exercise].needs)
        while open_:
            name = open_.pop()
            if name not in wanted:
                wanted.add(name)
                open_.extend(self.exercises[name].needs)
        return [name for name in self.exercises if name in wanted]


# ------------------------------------------------------------------ finding lessons


def content_folder() -> Path:
    """Where the lessons' sources are: `COURSE_CONTENT`, or the folder beside this module."""
    chosen = os.environ.get("COURSE_CONTENT")
    return Path(chosen) if chosen else Path(__file__).with_name("content")


def lesson_folders() -> list[Path]:
    """The lessons' folders in order."""
    root = content_folder()
    found = sorted(root.glob("[0-9][0-9]_*/lesson.md")) if root.is_dir() else []
    if not found:
        raise CourseError(f"no lessons in {root}")
    return [path.parent for path in found]


def find_lesson(text: str) -> Path:
    """The folder of the lesson that `text` names: `05_backward`, `backward`, `05` or `5`."""
    folders = lesson_folders()
    wanted = Path(text).name.removesuffix(".ipynb")
    for folder in folders:
        number, slug = folder.name.split("_", 1)
        if wanted in (folder.name, slug, number, str(int(number))):
            return folder
    known = ", ".join(folder.name for folder in folders)
    raise CourseError(f"there is no lesson {text!r}; the lessons are: {known}")


_read: dict[Path, tuple[float, Lesson]] = {}


def load_lesson(text: str) -> Lesson:
    """The lesson that `text` names, read once and read anew when its text has changed."""
    folder = find_lesson(text)
    changed = max((folder / name).stat().st_mtime for name in os.listdir(folder))
    known = _read.get(folder)
    if known is None or known[0] != changed:
        known = _read[folder] = (changed, read_lesson(folder))
    return known[1]


# ------------------------------------------------------------------ reading one lesson


def read_lesson(folder: Path) -> Lesson:
    """Read and check the sources in `folder`; CourseError lists all that is wrong, a line each."""
    for name in FILES:
        if not (folder / name).is_file():
            raise CourseError(f"{folder / name}: this file of the lesson is missing")
    front, cells = read_notebook_text(folder / "lesson.md")
    exercises = load_exercises(folder / "checks.py")
    order = [cell.exercise for cell in cells if cell.role == "answer"]
    lesson = Lesson(
        folder=folder,
        number=front["number"],
        slug=front["slug"],
        title=front["title"],
        cells=cells,
        # The notebook decides the order; exercises it does not have are complained about below.
        exercises={n: exercises[n] for n in [*dict.fromkeys(order), *exercises] if n in exercises},
        answers=read_answers(folder / "answers.py"),
        digest=_digest(folder),
    )
    problems = [*_notebook_problems(lesson), *_exercise_problems(lesson)]
    if problems:
        raise CourseError("\n".join(problems))
    return lesson


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for name in FILES:
        # Line ends do not count: a checkout on Windows is the same lesson.
        total.update(folder.joinpath(name).read_bytes().replace(b"\r\n", b"\n"))
    return total.hexdigest()[:16]


def read_notebook_text(path: Path) -> tuple[dict[str, Any], list[Cell]]:
    """Front matter and cells of a MyST notebook text."""
    matter, blocks = read_myst(path)
    cells = [Cell(b.kind, b.source, b.metadata, b.line) for b in blocks]
    found = matter.get("course")
    front: dict[str, Any] = found if isinstance(found, dict) else {}
    wanted = {"number": int, "slug": str, "title": str}
    for key, kind in wanted.items():
        if not isinstance(front.get(key), kind):
            _fail(path, 1, f"the front matter needs course: {key}, of type {kind.__name__}")
    if f"{front['number']:02}_{front['slug']}" != path.parent.name:
        _fail(path, 1, f"number and slug do not make the folder's name, {path.parent.name}")
    return front, cells


def read_answers(path: Path) -> list[Answer]:
    """The answers of a percent script: `# %% right NAME: what` or `# %% wrong NAME: what`."""
    found: list[Answer] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        title = lines[start].removeprefix("# %%").strip()
        if title == "setup":
            continue
        head = re.fullmatch(r"(right|wrong) ([\w-]+): *(\S.*)", title)
        if head is None:
            _fail(path, start + 1, "a cell begins '# %% right NAME: what' or 'wrong' instead")
        says, body = _split_says(lines[start + 1 : end])
        source = "\n".join(body).strip("\n") + "\n"
        found.append(Answer(head[2], head[1] == "right", head[3], source, says, start + 1))
    return found


def _split_says(lines: list[str]) -> tuple[str, list[str]]:
    """The comment that begins `# says:` with its continuation lines, and what follows it."""
    if not lines or not lines[0].startswith("# says:"):
        return "", lines
    count = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    words = [line.lstrip("#").strip() for line in lines[:count]]
    return " ".join([words[0].removeprefix("says:").strip(), *words[1:]]), lines[count:]


def _fail(path: Path, line: int, what: str) -> NoReturn:
    raise CourseError(f"{path}:{line}: {what}")


# ------------------------------------------------------------------ solution regions


def regions(source: str) -> list[tuple[int, int]]:
    """Line numbers, from 0, of the begin and end marks; ValueError(line, what) on a bad pair."""
    found: list[tuple[int, int]] = []
    begun: int | None = None
    for i, line in enumerate(source.split("\n")):
        mark = line.strip()
        if mark == BEGIN:
            if begun is not None:
                raise ValueError(i, "a solution region begins inside another one")
            begun = i
        elif mark == END:
            if begun is None:
                raise ValueError(i, "a solution region ends that did not begin")
            found.append((begun, i))
            begun = None
    if begun is not None:
        raise ValueError(begun, "this solution region does not end")
    return found


def solved(source: str) -> str:
    """The cell's text with the solution in place and the marks gone."""
    lines = source.split("\n")
    return "\n".join(x for x in lines if not x.strip().startswith((BEGIN, END, STUB)))


def stubbed(source: str, exercise: str) -> str:
    """The cell's text with each solution replaced by its stub.

    >>> print(stubbed("### BEGIN SOLUTION\\nx = 1\\n### END SOLUTION", "set-x"))
    raise NotImplementedError("set-x: write your answer here")
    """
    lines = source.split("\n")
    for begin, end in reversed(regions(source)):
        indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
        stub = [
            x.strip().removeprefix(STUB) for x in lines[begin:end] if x.strip().startswith(STUB)
        ]
        stub = stub or [f'raise NotImplementedError("{exercise}: write your answer here")']
        lines[begin : end + 1] = [indent + line for line in stub]
    return "\n".join(lines)


# ------------------------------------------------------------------ what can be wrong


def _notebook_problems(lesson: Lesson) -> list[str]:
    path = lesson.folder / "lesson.md"
    found: list[str] = []

    def complain(line: int, what: str) -> None:
        found.append(f"{path}:{line}: {what}")

    answered: set[str] = set()
    for cell in lesson.cells:
        unknown = set(cell.course) - KEYS
        if unknown:
            complain(cell.line, f"unknown course metadata: {', '.join(sorted(unknown))}")
        if cell.role not in ROLES:
            complain(cell.line, f"unknown role {cell.role!r}; there are {', '.join(ROLES)}")
        if cell.kind == "markdown":
            for picture in _BARE_PICTURE.finditer(cell.source):
                line = cell.line + cell.source.count("\n", 0, picture.start())
                complain(line, "a picture has no alternative text")
        if cell.role != "answer":
            if cell.kind == "code" and BEGIN in cell.source:
                complain(cell.line, "a solution region in a cell that is no answer")
            continue
        if cell.exercise not in lesson.exercises:
            complain(cell.line, f"checks.py has no exercise {cell.exercise!r}")
        if cell.exercise in answered:
            complain(cell.line, f"a second answer cell for {cell.exercise}")
        answered.add(cell.exercise)
        try:
            if not regions(cell.source):
                complain(cell.line, f"the answer cell of {cell.exercise} has no solution region")
        except ValueError as error:
            offset, what = error.args
            complain(cell.line + offset, what)
    return found


def _exercise_problems(lesson: Lesson) -> list[str]:
    found: list[str] = []
    order = list(lesson.exercises)
    cells = {cell.exercise for cell in lesson.cells if cell.role == "answer"}

    def complain(name: str, line: int, what: str) -> None:
        found.append(f"{lesson.folder / name}:{line}: {what}")

    for answer in lesson.answers:
        if answer.exercise not in lesson.exercises:
            complain("answers.py", answer.line, f"checks.py has no exercise {answer.exercise!r}")
        if not answer.right and not answer.says:
            complain("answers.py", answer.line, "a wrong answer needs a '# says:' line")
    for exercise in lesson.exercises.values():
        name = exercise.name
        right = sum(a.right for a in lesson.answers if a.exercise == name) + 1
        wrong = len(lesson.wrongs(name))
        total = sum(case.points for case in exercise.cases)
        rules = {
            "has no answer cell in lesson.md": name in cells,
            "has a name that is not lower-case words joined by hyphens": bool(
                re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
            ),
            f"is worth {exercise.points} points, its cases {total}": total == exercise.points,
            f"needs {LEAST_HINTS} hints": len(exercise.hints) >= LEAST_HINTS,
            f"needs {LEAST_RIGHT} right answers": right >= LEAST_RIGHT,
            f"needs {LEAST_WRONG} wrong answers": wrong >= LEAST_WRONG,
            "has a form that asks for what its answer cell does not": name not in cells
            or _asks_for_its_own(lesson, exercise),
            "has two cases of the same title": len({c.title for c in exercise.cases})
            == len(exercise.cases),
        }
        for need in exercise.needs:
            earlier = order[: order.index(name)]
            rules[f"needs {need!r}, which is no earlier exercise"] = need in earlier
        for what, good in rules.items():
            if not good:
                complain("checks.py", exercise.line, f"the exercise {name} {what}")
    return found


def _asks_for_its_own(lesson: Lesson, exercise: Exercise) -> bool:
    """Whether every entry that a form names stands in the answer cell."""
    if exercise.form is None or isinstance(exercise.form, Question):
        return True
    source = lesson.answer_cell(exercise.name).source
    return all(f'"{entry}"' in source for entry in exercise.form)
