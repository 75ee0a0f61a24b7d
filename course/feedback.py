"""A verdict in words: points, what failed, expected beside got, the named mistake, a hint.

Text for notebooks, terminals and reports; `course.grid` draws arrays in colour where HTML is shown.
It repeats what a learner's code returned or raised, never the answer and never our own code.
Lesson 00.
"""

from itertools import zip_longest
from typing import Any

import numpy as np

from course.compare import describe, differing, key_text, number_text
from course.files import plain
from course.judge import CaseVerdict, Failure, Verdict
from course.observe import Tree, array_of

Mask = np.ndarray[Any, np.dtype[np.bool_]] | None

ROWS, COLUMNS = 8, 8
LINES = 12
WIDTH = 40


def explain(verdict: Verdict, hint: str = "", columns: bool = True) -> str:
    """All there is to say about a verdict, as lines of plain text.

    Without `columns`, expected and got are left out: the caller draws them.
    """
    lines = [f"{verdict.title} ({verdict.exercise}): {points_text(verdict)}"]
    if verdict.reason:
        lines += ["", verdict.reason]
    else:
        lines += [_case_line(case) for case in verdict.cases]
    lines += [f"note: {note}" for note in verdict.notes]
    if verdict.failed is not None and not verdict.reason:
        lines += ["", *_what_is_wrong(verdict, verdict.failed, columns)]
    if hint and not verdict.explained:
        lines += ["", hint]
    return plain("\n".join(lines), 20_000)


def points_text(verdict: Verdict) -> str:
    """`all 8 points`, or `6 of 8 points`."""
    noun = "point" if verdict.points == 1 else "points"
    if verdict.passed:
        return f"right, {verdict.points:g} {noun}"
    return f"{verdict.earned:g} of {verdict.points:g} {noun}"


def _case_line(case: CaseVerdict) -> str:
    mark = "✓" if case.failure is None else "✗"
    return f"  {mark} {case.earned:g}/{case.points:g}  {case.title}"


def _what_is_wrong(verdict: Verdict, failed: CaseVerdict, columns: bool) -> list[str]:
    """The known mistake, or those of single cases and the first case that nothing explains."""
    if verdict.mistake:
        return [f"What happens here: {verdict.mistake}"]
    titles: dict[str, list[str]] = {}
    for case in verdict.cases:
        if case.mistake:
            titles.setdefault(case.mistake, []).append(f"“{case.title}”")
    lines = [f"What happens in {', '.join(cases)}: {says}" for says, cases in titles.items()]
    if failed.mistake or failed.failure is None:
        return lines
    lines += [*([""] if lines else []), *_failure(verdict, failed, failed.failure, columns)]
    return [*lines, "", f"To look at: {failed.hint}"] if failed.hint else lines


def _failure(verdict: Verdict, failed: CaseVerdict, failure: Failure, columns: bool) -> list[str]:
    tried = f", tried with {failure.tried}" if failure.tried else ""
    head = f"The case “{failed.title}”{tried}:"
    got = failure.got
    if got[0] == "error":
        lines = [head, *error_lines(got)]
        if failure.expected[0] == "error" and not verdict.secret:
            lines.append(f"  {failure.expected[1]} is what should be raised here.")
    elif got[0] == "late":
        lines = [head, f"  it had not come to an end after {got[1]} s."]
    elif got[0] == "skipped":
        lines = [head, "  it was not tried, because the ones before it took too long."]
    elif verdict.secret:
        place = failure.difference.place
        lines = [head, f"  your answer is not right{f' at {place}' if place else ''}."]
    else:
        place, what = failure.difference.place, failure.difference.what
        lines = [head, *_context(failure), f"  {f'at {place}: ' if place else ''}{what}"]
        if columns:
            lines += side_by_side(failure.difference.expected, failure.difference.got)
    if failure.printed.strip():
        printed = failure.printed.strip("\n").split("\n")[-10:]
        lines += ["  Your code printed:", *(f"    {line}" for line in printed)]
    return lines


def error_lines(tree: Tree) -> list[str]:
    """An error of the learner's: class, words and their own line.

    Where none of their lines had a part in it, it came of what their code returned.
    """
    _, name, words, where = tree
    error = f"{name}: {words}" if words else name
    if not where:
        return [f"  what came back could not be used: {error}"]
    return [f"  your code raised {error}", f"    {where}"]


def _context(failure: Failure) -> list[str]:
    """The case's input, where the observation says it under the key "given"."""
    if failure.got[0] != "dict" or failure.difference.place == "['given']":
        return []
    for key, value in failure.got[1]:
        if key == ["str", "given"]:
            shown = render(value)
            if len(shown) == 1:
                return [f"  given {shown[0]}"]
            return ["  given", *(f"    {line}" for line in shown)]
    return []


def side_by_side(expected: Tree, got: Tree) -> list[str]:
    """Two columns; in arrays of one shape the entries that differ carry a star."""
    mark = None
    arrays = expected[0] == got[0] == "array"
    if arrays and expected[1:3] == got[1:3]:
        mark = differing(expected, got)
    left, right = render(expected, mark), render(got, mark)
    if len(left) == len(right) == 1 and not arrays:
        simple = {"none", "bool", "int", "float"}
        if expected[0] in simple and got[0] in simple:
            return []  # the sentence above has said it all
    width = max(len("expected"), *(len(line) for line in left))
    pairs = [("expected", "got"), *zip_longest(left, right, fillvalue="")]
    return [f"    {a:<{width}}   {b}".rstrip() for a, b in pairs]


# ------------------------------------------------------------------ observations as text


def render(tree: Tree, mark: Mask = None) -> list[str]:
    """An observation as a few lines of text.

    >>> render(["seq", [["int", "1"], ["str", "a"]]]), render(["seq", [["int", "3"]], "tuple"])
    (["[1, 'a']"], ['(3,)'])
    """
    lines = _lines(tree, mark)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"… {len(lines) - LINES + 1} lines more"]
    return [line if len(line) <= 200 else line[:200] + "…" for line in lines]


def _lines(tree: Tree, mark: Mask = None) -> list[str]:
    kind = tree[0]
    if kind in ("int", "float"):
        return [number_text(tree)]
    if kind == "str":
        return [repr(tree[1])] if "\n" not in tree[1] else tree[1].split("\n")
    if kind == "array":
        return array_lines(tree, mark)
    if kind == "tensor":
        lines = [*array_lines(tree[1]), f"requires_grad={tree[2]}"]
        return lines if tree[3] == ["none"] else [*lines, "grad:", *array_lines(tree[3])]
    if kind == "seq":
        parts = [_lines(part) for part in tree[1]]
        if not tree[2:]:
            return _joined("[", parts, "]")
        return _joined("(", parts, ",)" if len(parts) == 1 else ")")
    if kind == "dict":
        parts = [_entry(key_text(key), _lines(value)) for key, value in tree[1]]
        return _joined("{", parts, "}")
    return [describe(tree)]


def _entry(key: str, value: list[str]) -> list[str]:
    if len(value) == 1:
        return [f"{key}: {value[0]}"]
    return [f"{key}:", *(f"  {line}" for line in value)]


def _joined(begin: str, parts: list[list[str]], end: str) -> list[str]:
    """Short entries beside each other on lines of WIDTH, long ones one after the other."""
    if any(len(part) > 1 for part in parts):
        return [line for part in parts for line in part]
    lines = [begin]
    for i, (text,) in enumerate(parts):
        text += ", " if i < len(parts) - 1 else end
        if len(lines[-1]) + len(text.rstrip()) > WIDTH and lines[-1].strip() not in ("", begin):
            lines.append(" ")
        lines[-1] += text
    return [line.rstrip() for line in lines] if parts else [begin + end]


def array_lines(tree: Tree, mark: Mask = None) -> list[str]:
    """A window of the array's entries, around the first marked one, and its dtype and shape."""
    array, cut = window(array_of(tree), mark)
    stars, _ = window(mark, mark) if mark is not None else (np.zeros(array.shape, bool), "")
    texts = [
        [_number(number) + ("*" if star else "") for number, star in zip(row, marks, strict=True)]
        for row, marks in zip(np.atleast_2d(array), np.atleast_2d(stars), strict=True)
    ]
    width = max((len(text) for row in texts for text in row), default=0)
    lines = ["  ".join(f"{text:>{width}}" for text in row) for row in texts]
    return [*lines, f"{tree[1]}, shape {tuple(tree[2])}{cut}"]


def _number(number: Any) -> str:
    return f"{number:.6g}" if isinstance(number, np.floating) else str(number)


def window(array: "np.ndarray[Any, Any]", mark: Mask) -> "tuple[np.ndarray[Any, Any], str]":
    """At most ROWS x COLUMNS entries of an array, those around the first marked one."""
    first = tuple(np.argwhere(mark)[0]) if mark is not None and mark.any() else (0,) * array.ndim
    leading = first[:-2] if array.ndim > 2 else ()
    plane = array[leading]
    sides = []
    for size, at, most in zip(
        plane.shape, first[len(leading) :], (ROWS, COLUMNS)[2 - plane.ndim :], strict=True
    ):
        start = int(max(0, min(at - most // 2, size - most)))
        sides.append(slice(start, start + most))
    shown = plane[tuple(sides)]
    if shown.size == array.size:
        return shown, ""
    spans = [f"{s.start}:{min(s.stop, n)}" for s, n in zip(sides, plane.shape, strict=True)]
    return shown, f", entries [{', '.join([*map(str, leading), *spans])}] of it"
