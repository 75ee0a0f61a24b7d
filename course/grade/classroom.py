"""Grades many submissions: two at a time, results written as they come, a second run resumes.

Learners' code runs in the sandboxes; this process reads, judges and writes. A submission that
cannot be read or graded gets a line of its own, and the others go on. Lesson 00.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from course.files import CourseError
from course.grade.grader import Attempt, attempt, attempt_lent, to_lend, verdicts_on, with_lent
from course.grade.plan import Plan, is_late, scaled
from course.grade.report import Reports, Row, exercise_row
from course.grade.sandbox import Limits, sweep
from course.grade.submission import Submission, read_submission
from course.judge import Verdict
from course.progress import FILE, parse
from course.update import KEPT

Job = Future[dict[str, Attempt]]
Waiting = dict[Job, tuple[Row, Submission, list[Verdict]]]
"""What is running, with the verdicts of the first attempt where it is the second."""
SKIPPED = {".ipynb_checkpoints", KEPT}


def notebooks_in(paths: list[Path]) -> list[Path]:
    """The files named, and every notebook below the folders named."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(
                p for p in path.rglob("*.ipynb") if not SKIPPED & {*p.relative_to(path).parts}
            )
            if not below:
                raise CourseError(f"{path}: there is no notebook in this folder")
            found += below
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def learner_of(path: Path, roots: list[Path]) -> str:
    """Whose a file is: the first folder below the one that was named, or else the file's name."""
    for root in roots:
        if root.is_dir() and path.is_relative_to(root):
            first, *rest = path.relative_to(root).parts
            return first if rest else path.stem
    return path.stem


def grade_all(
    paths: list[Path],
    seed: int,
    reports: Reports | None,
    *,
    resume_seed: int | None = None,
    jobs: int | None = None,
    limits: Limits = Limits(),  # noqa: B008  (immutable)
    on_row: Callable[[Row], None] = lambda row: None,
    roots: list[Path] | None = None,
    plan: Plan | None = None,
) -> list[Row]:
    """Grade every file; the rows in the order of `paths`. `on_row` hears of each as it is done.

    `roots` are the folders named, from which learners get their names.
    """
    sweep()
    jobs = jobs or min(os.cpu_count() or 1, 8)
    rows: dict[str, Row] = {}
    if reports is not None:
        reports.order = [str(path) for path in paths]

    def done(row: Row) -> None:
        rows[row.file] = row
        row.learner = learner_of(Path(row.file), roots or [])
        if reports is not None:
            reports.add(row)
        on_row(row)

    queue = iter(paths)
    with ThreadPoolExecutor(jobs) as pool:
        waiting: Waiting = {}
        exhausted = False
        while waiting or not exhausted:
            while not exhausted and len(waiting) < jobs:
                path = next(queue, None)
                if path is None:
                    exhausted = True
                    break
                for row, submission in _opened(
                    path, seed, reports, resume_seed, plan, roots or paths
                ):
                    if submission is None:
                        done(row)
                    else:
                        job = pool.submit(attempt, submission, seed, None, limits)
                        waiting[job] = (row, submission, [])
            if waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for job in finished:
                    row, submission, first = waiting.pop(job)
                    lent = _judged(row, submission, first, job, seed, plan)
                    if lent:
                        again = pool.submit(attempt_lent, submission, seed, lent[1], limits)
                        waiting[again] = (row, submission, lent[0])
                    else:
                        done(row)
    if reports is not None:
        reports.write_tables()
    return [rows[str(path)] for path in paths]


def _opened(
    path: Path,
    seed: int,
    reports: Reports | None,
    resume_seed: int | None,
    plan: Plan | None,
    roots: list[Path],
) -> Iterator[tuple[Row, Submission | None]]:
    """The row of a file, with its submission where that is yet to be run."""
    try:
        if path.is_symlink() and path not in roots:
            raise CourseError(f"{path}: is a link to another file: the notebook itself is wanted")
        submission = read_submission(path)
        planned = plan.of(submission.lesson) if plan else None
    except CourseError as error:
        known = str(error)
        problem = known if known.startswith(str(path)) else f"{path}: {known}"
        yield Row(str(path), problem=problem), None
        return
    # Another text of the lesson, or other points, are another task.
    source, digest = submission.lesson.digest, submission.digest
    source += planned.digest if planned else ""
    earlier = reports.earlier(path, digest, source, resume_seed) if reports else None
    row = earlier or Row(str(path), submission.lesson.name, digest, source, seed)
    row.late = planned is not None and is_late(path, planned)
    yield row, None if earlier else submission


def _judged(
    row: Row,
    submission: Submission,
    first: list[Verdict],
    job: Job,
    seed: int,
    plan: Plan | None,
) -> tuple[list[Verdict], dict[str, list[str]]] | None:
    """Complete the row, or give the verdicts so far with the answers of ours to lend."""
    try:
        again = job.result() if first else {}
        verdicts = first or verdicts_on(submission, seed, job.result())
        lent = {} if first else to_lend(submission, verdicts)
        if lent:
            return verdicts, lent
        verdicts = with_lent(submission, seed, verdicts, again)
    except Exception as error:
        # Whatever it was: the others go on, and this one has a line that says so.
        what = str(error) if isinstance(error, CourseError | OSError) else repr(error)
        row.problem = f"{row.file}: could not be graded: {what}"
        return None
    lesson = submission.lesson.name
    points = plan.lessons[lesson].points if plan else {v.exercise: v.points for v in verdicts}
    hints = _hints(submission)
    row.exercises = [
        exercise_row(scaled(verdict, points[verdict.exercise]), hints.get(verdict.exercise))
        for verdict in verdicts
        if points[verdict.exercise]
    ]
    return None


def _hints(submission: Submission) -> dict[str, int]:
    """The hints opened, by exercise, where the learner's progress file lies beside the notebook.

    The learner could have written anything there: it is counted and scores nothing.
    """
    try:
        entries = parse(submission.path.with_name(FILE)).entries
    except (CourseError, OSError):
        return {}
    return {name: entry.hints for name, entry in entries.get(submission.lesson.name, {}).items()}
