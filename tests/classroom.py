"""A generated class: `python -m tests.classroom 200` grades so many submissions and prints numbers.

Each submission answers every exercise of a lesson with one of its known answers, right or wrong, or
not at all; some never end, kill their kernel or are cut off. `--lesson 01` names another lesson.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from course.lesson import Lesson, load_lesson
from tests.course_helpers import notebook

ROOT = Path(__file__).parents[1]
ODD = {"deadly": "import os; os._exit(0)", "endless": "while True: pass", "cut off": ""}


def submissions(lesson: Lesson, count: int, odd: int = 25) -> Iterator[tuple[str, str]]:
    """So many learners' names and files; one in `odd` is an odd one."""
    rng = random.Random(count)
    for number in range(count):
        answers = {}
        for name in lesson.exercises:
            rights, wrongs = lesson.rights(name), lesson.wrongs(name)
            chosen = rng.choice([*rights * 3, *wrongs, None])
            if chosen is not None:
                answers[name] = chosen.source
        kind = list(ODD)[number // odd % len(ODD)] if number % odd == odd - 1 else ""
        if ODD.get(kind):
            answers[next(iter(lesson.exercises))] = ODD[kind]
        text = json.dumps(notebook(answers, lesson.name))
        yield f"learner-{number:03}", text[: len(text) // 2] if kind == "cut off" else text


def write_class(folder: Path, lesson: Lesson, count: int, odd: int = 25) -> None:
    """Write the submissions as a teacher collects them, a folder for each learner."""
    for name, text in submissions(lesson, count, odd):
        (folder / name).mkdir(parents=True)
        (folder / name / f"{lesson.name}.ipynb").write_text(text, encoding="utf-8")


def peak_kilobytes(pid: int) -> int:
    """The most memory that a process has had so far, on Linux."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(x.split()[1]) for x in status.splitlines() if x.startswith("VmHWM")), 0)


def main() -> None:
    """Write a class, grade it in a process of its own, print as it goes."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--lesson", default="00")
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    lesson = load_lesson(options.lesson)
    with tempfile.TemporaryDirectory() as folder:
        write_class(Path(folder, "in"), lesson, options.count)
        out = Path(folder, "out")
        command = [sys.executable, "-m", "course", "grade", str(Path(folder, "in"))]
        command += ["--out", str(out), "--jobs", options.jobs, "--seed", "1"]
        started = time.monotonic()
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            told, peak = 0, 0
            while process.poll() is None:
                time.sleep(0.2)
                peak = max(peak, peak_kilobytes(process.pid))
                done = len(list(out.glob("submissions/*.json")))
                if done >= told + options.count / 8:
                    told = done
                    seconds = time.monotonic() - started
                    print(
                        f"{done:4} graded, {seconds:6.1f} s, peak {peak / 1024:.0f} MB", flush=True
                    )
        seconds = time.monotonic() - started
        rows = json.loads((out / "grades.json").read_text("utf-8"))["submissions"]
        problems = sum(bool(row["problem"]) for row in rows)
        print(
            f"{len(rows)} submissions of {lesson.name}, {problems} not gradable: {seconds:.0f} s, "
            f"{seconds / len(rows):.2f} s each, peak {peak / 1024:.0f} MB"
        )


if __name__ == "__main__":
    main()
