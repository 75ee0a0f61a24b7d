"""New lessons and exercises to begin with: small, complete, and passing `course verify`.

An author writes over them piece by piece and sees at each step what is wanting. It adds text to
files and never takes any away. Lesson 00.
"""

import re
from pathlib import Path

from course.files import CourseError, write_atomic
from course.lesson import Lesson, content_folder, read_lesson

_LESSON = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
course:
  number: {number}
  slug: {slug}
  title: "{title}"
---

# {number:02} · {title}

**The question.** What the lesson answers, in two sentences.

**What you can do afterwards.** Three things.

**How long.** About {{{{ reading }}}} minutes of reading and {{{{ exercises }}}} minutes of
exercises.

```{{code-cell}} ipython3
---
course: {{role: setup}}
---
import numpy as np

import tinygrad_course as tg
```
"""
_CHECKS = '''\
"""What the checks of lesson {number:02} try.

A case returns what it saw and holds no expected value: the reference answer is tried the same way.
"""

import numpy as np

from course.checks import Exercise
'''
_ANSWERS = '''\
"""Right and wrong answers of lesson {number:02}. The wrong ones must be caught and named."""

# %% setup
import numpy as np
'''
_EXERCISE = {
    "lesson.md": '''
+++

## {title}

What the learner needs to know, and what to write.

```{{code-cell}} ipython3
---
course: {{role: answer, exercise: {name}}}
---
def {function}(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```
''',
    "checks.py": """

{function} = Exercise(
    "{name}",
    answer="{function}",
    title="{title}",
    points=2,
    difficulty=1,
    hints=(
        "Where to look.",
        "What to do first.",
        "Nearly the answer.",
    ),
)


@{function}.case("a number", points=1)
def {function}_of_a_number(answer, rng):
    return answer(float(rng.integers(3, 99)))


@{function}.property("any array", points=1, draw=lambda st: st.integers(1, 4))
def {function}_of_an_array(answer, rng, size):
    x = rng.integers(3, 99, size=size).astype(np.float32)
    return {{"given": x.copy(), "result": answer(x), "x afterwards": x}}
""",
    "answers.py": """

# %% right {name}: by addition
def {function}(x):
    return x + x


# %% wrong {name}: in place
# says: The result is right, but x itself was changed: `*=` writes into the caller's array.
def {function}(x):
    x *= 2
    return x


# %% wrong {name}: squared
# says: x ** 2 is x times x; twice x is x plus x.
def {function}(x):
    return x**2


# %% wrong {name}: nothing done
# says: x comes back as it was.
def {function}(x):
    return x


# %% wrong {name}: the first entry only
# says: Only the first entry was doubled.
def {function}(x):
    y = x + 0
    if np.ndim(y):
        y[0] = 2 * y[0]
        return y
    return 2 * y
""",
}


def new_lesson(number: int, slug: str, title: str) -> Path:
    """Make a lesson with one exercise; its folder."""
    folder = content_folder() / f"{number:02}_{slug}"
    if not (0 <= number <= 99 and re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", slug)):
        raise CourseError("a lesson has a number up to 99 and a slug like two_words")
    if '"' in title or "\\" in title:
        raise CourseError("a title has no double quotes and no backslashes")
    taken = sorted(path.name for path in content_folder().glob(f"{number:02}_*"))
    if taken:
        raise CourseError(f"number {number:02} is taken by {taken[0]}")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise CourseError(f"cannot make {folder}: {error.strerror or error}") from error
    texts = {"lesson.md": _LESSON, "checks.py": _CHECKS, "answers.py": _ANSWERS}
    for name, text in texts.items():
        filled = text.format(number=number, slug=slug, title=title)
        filled += _filled(name, "a-first-step", "A first step")
        write_atomic(folder / name, filled)
    return folder


def new_exercise(lesson: Lesson, name: str, title: str) -> list[Path]:
    """Add an exercise to the end of a lesson's files; the files."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise CourseError(f"{name!r} is not lower-case words joined by hyphens")
    if name in lesson.exercises:
        raise CourseError(f"{lesson.name} has an exercise {name} already")
    paths = [lesson.folder / file for file in _EXERCISE]
    before = {path: path.read_text(encoding="utf-8") for path in paths}
    try:
        for path in paths:
            write_atomic(path, before[path].rstrip("\n") + "\n" + _filled(path.name, name, title))
        read_lesson(lesson.folder)
    except CourseError:
        for path, text in before.items():
            write_atomic(path, text)
        raise
    return paths


def _filled(file: str, name: str, title: str) -> str:
    return _EXERCISE[file].format(name=name, function=name.replace("-", "_"), title=title)
