"""What a class found hard: statistics of each exercise and case, from graded reports.

A low share of right answers shows a hard item; an item whose points go with all the others' tells
learners apart, and one that does not measures something else. It reads numbers alone. Lesson 00.
"""

import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from course.files import CourseError

FILE = "grades.json"
LEAST_FOR_CORRELATION = 5


def read_rows(paths: list[Path]) -> list[dict[str, Any]]:
    """The graded submissions of result folders or of grades.json files."""
    rows: list[dict[str, Any]] = []
    for path in paths:
        file = path / FILE if path.is_dir() else path
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            rows += [row for row in data["submissions"] if not row["problem"]]
        except OSError as error:
            raise CourseError(
                f"{file}: cannot be read: {error.strerror}: `course grade … --out {path}` makes it"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise CourseError(f"{file}: is no report of `course grade`") from error
    return rows


def statistics(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each exercise, in the order in which the reports have them."""
    items: dict[tuple[str, str], list[tuple[dict[str, Any], float]]] = defaultdict(list)
    for row in rows:
        for exercise in row["exercises"]:
            rest = row["earned"] - exercise["earned"]
            items[row["lesson"], exercise["exercise"]].append((exercise, rest))
    return [_item(lesson, name, found) for (lesson, name), found in items.items()]


def _item(lesson: str, name: str, found: list[tuple[dict[str, Any], float]]) -> dict[str, Any]:
    results = [exercise for exercise, _ in found]
    cases: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        for case in result["cases"]:
            cases[case["title"]].append(case["earned"] == case["points"])
    mistakes = Counter(result["mistake"] for result in results if result["mistake"])
    hints = [r["hints"] for r in results if r.get("hints") is not None]
    shares = [r["earned"] / r["points"] if r["points"] else 1.0 for r in results]
    return {
        "lesson": lesson,
        "exercise": name,
        "title": results[-1]["title"],
        "submissions": len(results),
        "passed": _share([r["earned"] == r["points"] for r in results]),
        "mean": round(sum(shares) / len(shares), 3),
        "correlation": correlation(shares, [rest for _, rest in found]),
        "hints": round(sum(hints) / len(hints), 2) if hints else None,
        "cases": [{"title": title, "passed": _share(good)} for title, good in cases.items()],
        "mistakes": [{"name": n, "count": c} for n, c in mistakes.most_common()],
    }


def _share(good: list[bool]) -> float:
    return round(sum(good) / len(good), 3)


def correlation(xs: list[float], ys: list[float]) -> float | None:
    """Pearson's correlation, or None where there are too few numbers or all are equal.

    >>> correlation([0, 0, 1, 1, 1], [1, 2, 3, 4, 5])
    0.866
    """
    n = len(xs)
    if n < LEAST_FOR_CORRELATION:
        return None
    mx, my = sum(xs) / n, sum(ys) / n
    both = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True))
    spread = math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))
    return round(both / spread, 3) if spread else None
