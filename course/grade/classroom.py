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
from course.grade.report import Reports, Row, exercise_row
from course.grade.sandbox import Limits
from course.grade.submission import Submission, read_submission
from course.judge import Verdict
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
            below = sorted(p for p in path.rglob("*.ipynb") if not SKIPPED & set(p.parts))
            if not below:
                raise CourseError(f"{path}: there is no notebook in this folder")
            found += below
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def grade_all(
    paths: list[Path],
    seed: int,
    reports: Reports | None,
    *,
    resume_seed: int | None = None,
    jobs: int | None = None,
    limits: Limits = Limits(),  # noqa: B008  (immutable)
    on_row: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Grade every file; the rows in the order of `paths`. `on_row` hears of each as it is done."""
    jobs = jobs or min(os.cpu_count() or 1, 8)
    rows: dict[str, Row] = {}
    if reports is not None:
        reports.order = [str(path) for path in paths]

    def done(row: Row) -> None:
        rows[row.file] = row
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
                for row, submission in _opened(path, seed, reports, resume_seed):
                    if submission is None:
                        done(row)
                    else:
                        job = pool.submit(attempt, submission, seed, None, limits)
                        waiting[job] = (row, submission, [])
            if waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for job in finished:
                    row, submission, first = waiting.pop(job)
                    lent = _judged(row, submission, first, job, seed)
                    if lent:
                        again = pool.submit(attempt_lent, submission, seed, lent[1], limits)
                        waiting[again] = (row, submission, lent[0])
                    else:
                        done(row)
    return [rows[str(path)] for path in paths]


def _opened(
    path: Path, seed: int, reports: Reports | None, resume_seed: int | None
) -> Iterator[tuple[Row, Submission | None]]:
    """The row of a file, with its submission where that is yet to be run."""
    try:
        submission = read_submission(path)
    except CourseError as error:
        yield Row(str(path), problem=str(error)), None
        return
    source, digest = submission.lesson.digest, submission.digest
    known = reports.earlier(path, digest, source, resume_seed) if reports else None
    row = known or Row(str(path), submission.lesson.name, digest, source, seed)
    yield row, None if known else submission


def _judged(
    row: Row, submission: Submission, first: list[Verdict], job: Job, seed: int
) -> tuple[list[Verdict], dict[str, list[str]]] | None:
    """Complete the row, or give the verdicts so far with the answers of ours to lend."""
    try:
        again = job.result() if first else {}
        verdicts = first or verdicts_on(submission, seed, job.result())
        lent = {} if first else to_lend(submission, verdicts)
        if lent:
            return verdicts, lent
        verdicts = with_lent(submission, seed, verdicts, again)
    except (CourseError, OSError) as error:
        row.problem = f"{row.file}: could not be graded: {error}"
        return None
    row.exercises = [exercise_row(verdict) for verdict in verdicts]
    return None
