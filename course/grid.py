"""Expected beside got as two coloured grids, for front ends that show HTML.

Each differing entry is coloured and starred, so that no colour has to be seen to read it, and the
grids are described in words for screen readers. It draws verdicts and decides nothing. Lesson 00.
"""

from html import escape
from typing import Any

import numpy as np

from course.compare import differing
from course.feedback import window
from course.judge import Verdict
from course.observe import Tree, array_of

# Text keeps a contrast above 4.5:1 on both fills, in light and in dark themes.
_GOOD = "padding:2px 8px;text-align:right;background:#e8f0fe;color:#202124"
_BAD = "padding:2px 8px;text-align:right;background:#fce0d4;color:#7a1f00;font-weight:bold"


def grid_html(verdict: Verdict) -> str:
    """HTML of the failing arrays, or nothing where arrays of one shape are not what failed."""
    failure = verdict.failure
    if failure is None or verdict.secret or verdict.explained or verdict.reason:
        return ""
    expected, got = failure.difference.expected, failure.difference.got
    if expected[0] != "array" or expected[1:3] != got[1:3]:
        return ""
    mark = differing(expected, got)
    count = int(mark.sum())
    label = f"{count} of {mark.size} entries differ from what is expected"
    tables = _table("expected", expected, mark) + _table("got", got, mark)
    return (
        f'<div role="group" aria-label="{label}" style="display:flex;gap:2em;margin:0.5em 0">'
        f"{tables}</div>"
    )


def _table(title: str, tree: Tree, mark: "np.ndarray[Any, np.dtype[np.bool_]]") -> str:
    values, cut = window(array_of(tree), mark)
    marks, _ = window(mark, mark)
    rows = "".join(
        "<tr>" + "".join(_cell(v, bad) for v, bad in zip(row, bads, strict=True)) + "</tr>"
        for row, bads in zip(np.atleast_2d(values), np.atleast_2d(marks), strict=True)
    )
    caption = escape(f"{title}: {tree[1]}, shape {tuple(tree[2])}{cut}")
    style = "border-collapse:collapse;font-family:monospace"
    caption = f'<caption style="white-space:nowrap">{caption}</caption>'
    return f'<table style="{style}">{caption}{rows}</table>'


def _cell(value: Any, bad: bool) -> str:
    text = f"{value:.4g}" if isinstance(value, np.floating) else str(value)
    return f'<td style="{_BAD if bad else _GOOD}">{escape(text)}{"*" if bad else ""}</td>'
