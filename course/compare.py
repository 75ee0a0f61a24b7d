"""Whether two observations are the same, and if not, the smallest place where they part.

Numbers and arrays agree to a tolerance that forgives rounding and nothing else; dtypes, shapes,
`requires_grad` and kinds agree exactly. The module sees observation trees only, never an answer.
Lesson 00.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course.observe import Tree, array_of

RTOL = 1e-5
HALF_RTOL = 2e-3


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two observations part: a path such as `['grad'][1, 2]`, a sentence, the two sides."""

    place: str
    what: str
    expected: Tree
    got: Tree


def compare(expected: Tree, got: Tree, place: str = "") -> Difference | None:
    """The first difference between two observations, or None where they are equal.

    Two errors are equal when their classes are; the words of an error are free.

    >>> compare(["seq", [["int", "1"]]], ["seq", [["float", "2.5"]]]).what
    '1 is expected, not 2.5'
    """
    kind, other = expected[0], got[0]
    if kind in ("int", "float") and other in ("int", "float"):
        same = _same_number(expected, got)
        what = f"{number_text(expected)} is expected, not {number_text(got)}"
        return None if same else Difference(place, what, expected, got)
    if kind != other:
        what = f"{describe(expected)} is expected, not {describe(got)}"
        return Difference(place, what, expected, got)
    if kind == "seq":
        return _compare_sequences(expected, got, place)
    if kind == "dict":
        return _compare_dicts(expected, got, place)
    if kind == "array":
        return compare_arrays(expected, got, place)
    if kind == "tensor":
        return _compare_tensors(expected, got, place)
    if kind == "error":
        if expected[1] == got[1]:
            return None
        return Difference(place, f"{expected[1]} is expected, not {got[1]}", expected, got)
    if kind in ("bool", "str", "none"):
        what = f"{describe(expected)} is expected, not {describe(got)}"
        return None if expected == got else Difference(place, what, expected, got)
    # An object of some class of the answer's own, or a run that never came to its end.
    return Difference(place, f"{describe(got)} cannot be compared", expected, got)


def alike(one: Tree, two: Tree) -> bool:
    """Whether two answers behaved alike: as `compare`, and for errors the words as well."""
    if one[0] == two[0] == "error":
        # In which words Python gives up on nested calls depends on what it was just doing.
        words = 2 if one[1] == "RecursionError" else 3
        return bool(one[1:words] == two[1:words])
    if one[0] == two[0] and one[0] in ("late", "skipped", "other"):
        return one[0] != "other" or one == two
    return compare(one, two) is None


def _same_number(expected: Tree, got: Tree) -> bool:
    if expected[0] == got[0] == "int":
        return int(expected[1]) == int(got[1])
    a, b = float(expected[1]), float(got[1])
    if expected[0] == "int" or not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return math.isclose(a, b, rel_tol=RTOL, abs_tol=1e-8)


def _compare_sequences(expected: Tree, got: Tree, place: str) -> Difference | None:
    ours, theirs = expected[1], got[1]
    if len(ours) != len(theirs):
        what = f"{_count(len(ours), 'entry')} expected, not {len(theirs)}"
        return Difference(place, what, expected, got)
    pairs = enumerate(zip(ours, theirs, strict=True))
    return next((d for i, (a, b) in pairs if (d := compare(a, b, f"{place}[{i}]"))), None)


def _compare_dicts(expected: Tree, got: Tree, place: str) -> Difference | None:
    ours = {repr(key): value for key, value in expected[1]}
    theirs = {repr(key): value for key, value in got[1]}
    names = {repr(key): key_text(key) for key, _ in [*expected[1], *got[1]]}
    for key, value in ours.items():
        if key not in theirs:
            return Difference(place, f"the entry {names[key]} is missing", expected, got)
        found = compare(value, theirs[key], f"{place}[{names[key]}]")
        if found:
            return found
    extra = [names[key] for key in theirs if key not in ours]
    if extra:
        return Difference(place, f"the entry {extra[0]} should not be there", expected, got)
    return None


def _compare_tensors(expected: Tree, got: Tree, place: str) -> Difference | None:
    found = compare_arrays(expected[1], got[1], place)
    if found:
        return found
    if expected[2] != got[2]:
        what = f"requires_grad={expected[2]} is expected, not {got[2]}"
        return Difference(f"{place}.requires_grad", what, ["bool", expected[2]], ["bool", got[2]])
    return compare(expected[3], got[3], f"{place}.grad")


def compare_arrays(expected: Tree, got: Tree, place: str = "") -> Difference | None:
    """The difference between two array observations: dtype, shape, then entries."""
    if expected[2] != got[2]:
        what = f"shape {_shape(expected)} is expected, not {_shape(got)}"
        return Difference(place, what, expected, got)
    if expected[1] != got[1]:
        what = f"dtype {expected[1]} is expected, not {got[1]}"
        return Difference(place, what, expected, got)
    wrong = differing(expected, got)
    if not wrong.any():
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    a, b = array_of(expected)[first], array_of(got)[first]
    where = f" at {list(first)}" if first else ""
    if count > 1:
        what = (
            f"{count} of {wrong.size} entries differ, the first one{where}: {a:.6g} is expected, "
            f"not {b:.6g}"
        )
    else:
        what = f"{a:.6g} is expected{where}, not {b:.6g}"
    return Difference(place, what, expected, got)


def differing(expected: Tree, got: Tree) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Which entries of two array observations of one shape differ by more than rounding.

    An entry may be off by 1e-5 of itself, or by a few units in the last place of the array's
    largest entry: what a different order of additions can cost.
    """
    a, b = array_of(expected), array_of(got)
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    eps = float(np.finfo(a.dtype).eps)
    rtol = max(RTOL, HALF_RTOL if a.dtype.itemsize == 2 else 0.0)
    a, b = a.astype(np.float64), b.astype(np.float64)
    scale = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
    return np.asarray(~np.isclose(b, a, rtol=rtol, atol=8 * eps * scale, equal_nan=True))


# ------------------------------------------------------------------ words for observations


def number_text(tree: Tree) -> str:
    """A number as a learner would write it."""
    return str(tree[1]) if tree[0] == "int" else f"{float(tree[1]):.7g}"


def key_text(tree: Tree) -> str:
    """A key of a dict in one word."""
    return repr(tree[1]) if tree[0] == "str" else describe(tree)


def _count(number: int, noun: str) -> str:
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"


def _shape(tree: Tree) -> str:
    return str(tuple(tree[2]))


def describe(tree: Tree) -> str:
    """An observation in a few words.

    >>> describe(["str", "sum"]), describe(["seq", [["none"]]]), describe(["late", "2.0"])
    ("the text 'sum'", 'a list of 1 entry', 'no end within 2.0 s')
    """
    kind, *parts = tree
    words: dict[str, Callable[[], str]] = {
        "none": lambda: "None",
        "bool": lambda: str(parts[0]),
        "int": lambda: number_text(tree),
        "float": lambda: number_text(tree),
        "str": lambda: f"the text {_short(parts[0])!r}",
        "seq": lambda: f"a {'tuple' if parts[1:] else 'list'} of {_count(len(parts[0]), 'entry')}",
        "dict": lambda: f"a dict of {_count(len(parts[0]), 'entry')}",
        "array": lambda: f"an array of dtype {parts[0]} and shape {_shape(tree)}",
        "tensor": lambda: f"a tensor of dtype {parts[0][1]} and shape {_shape(parts[0])}",
        "other": lambda: f"an object of type {parts[0]}",
        "error": lambda: f"the error {parts[0]}",
        "missing": lambda: f"{parts[0]}, which is not there,",
        "late": lambda: f"no end within {parts[0]} s",
        "skipped": lambda: "a run that was left out",
    }
    return words[kind]()


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
