"""Values in few words: an array as a line of text, as a table's cell, as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from .replay import Array

MOST_ROWS, MOST_COLUMNS = 8, 12


def summary(array: Array | None, few: int = 4) -> str:
    """An array in one line: all values when they are `few`, else their range and mean."""
    if array is None:
        return "none"
    if array.size <= few:
        return " ".join(_values(array).split())
    low, high = array.min(), array.max()
    if low == high:
        return f"{array.size} values, all {low:.5g}"
    return f"{array.size} values from {low:.5g} to {high:.5g}, mean {array.mean():.5g}"


def cell(array: Array | None) -> str:
    """An array for a table's cell: up to 16 values in their rows, else as in `summary`."""
    return summary(array) if array is None or array.size > 16 else _values(array)


def _values(array: Array) -> str:
    formatter: Any = {"float_kind": "{:.5g}".format, "bool": str}
    # Rows as they are: whoever shows them knows how wide a line may be.
    return np.array2string(array, separator=", ", formatter=formatter, max_line_width=10**6)


def heats(**arrays: Array | None) -> list[dict[str, Any]]:
    """The heat maps of the arrays that have one, named as they are here."""
    maps = [heat(name.replace("_", " "), array) for name, array in arrays.items()]
    return [each for each in maps if each is not None]


def heat(name: str, array: Array | None) -> dict[str, Any] | None:
    """A heat map: at most 8 rows of 12 cells, each the mean of its part of the array, from -1 to 1
    of the largest magnitude; None for what has fewer than two values, or none that is finite."""
    if array is None or array.size < 2:
        return None
    table = np.asarray(array, dtype=np.float64)
    table = table.reshape(-1, table.shape[-1]) if table.ndim > 1 else table.reshape(1, -1)
    finite = np.where(np.isfinite(table), table, 0.0)
    rows = np.array_split(np.arange(finite.shape[0]), min(MOST_ROWS, finite.shape[0]))
    columns = np.array_split(np.arange(finite.shape[1]), min(MOST_COLUMNS, finite.shape[1]))
    means = np.array([[finite[np.ix_(r, c)].mean() for c in columns] for r in rows])
    top = float(np.abs(means).max())
    words = (
        f"Heat map of the {name}, {len(rows)} by {len(columns)} cells: {summary(array)}. Darker "
        "against the ground means larger, a minus sign below zero."
    )
    cells = [[round(float(v) / top, 2) if top else 0.0 for v in row] for row in means]
    return {"name": name, "cells": cells, "words": words}
