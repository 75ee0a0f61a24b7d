"""Drawings other than graphs: memory, tables of numbers, curves, images, boxes and arrows.

Each function returns a `Drawing`, an SVG with alternative text, equal for equal input. Colours
differ in lightness as well as in hue, and nothing is told by colour alone. It draws what it is
given and computes nothing. Lesson 00.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

INK, FAINT, PAPER = "#202124", "#9aa0a6", "#ffffff"
FILLS = ("#d2e3fc", "#fdd9a0", "#c8e6c9", "#f3c6d3", "#e1d5f5", "#cfd8dc")
LINES = ("#1a56c4", "#b34700", "#1e7d32", "#a3195b", "#5b3fa8", "#455a64")
DASHES = ("", "6 3", "2 2", "8 3 2 3", "12 4", "1 3")
CELL = 38
# Processors round differently. Drawings are kept in steps that hide it, and this keeps what lies
# just between two steps, as one half does, on the same side everywhere.
UNEVEN = 1e-3


class Drawing:
    """An SVG image with alternative text."""

    def __init__(self, parts: Iterable[str], width: float, height: float, alt: str) -> None:
        if not alt.strip():
            raise ValueError("a drawing needs alt: say in words what there is to see")
        self.alt = alt
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13">'
            f'<rect width="100%" height="100%" fill="{PAPER}"/>{"".join(parts)}</svg>'
        )

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        return f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}">'


def _text(x: float, y: float, text: object, anchor: str = "middle", color: str = INK) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}">'
        f"{escape(str(text))}</text>"
    )


def _box(x: float, y: float, width: float, height: float, fill: str, thick: bool = False) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        f'stroke="{INK}" stroke-width="{2.5 if thick else 1}"/>'
    )


def _tick(value: float, span: float) -> str:
    """The number at a mark of an axis; what rounding left of 0 is 0."""
    return f"{value if abs(value) > 1e-3 * span else 0.0:.3g}"


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)


# ------------------------------------------------------------------ numbers in boxes


def numbers(
    values: Any,
    alt: str,
    *,
    marked: Any = None,
    title: str = "",
    rows: Sequence[object] = (),
    columns: Sequence[object] = (),
) -> Drawing:
    """A vector or matrix as a table of boxes; those where `marked` is true are filled, with a thick
    border. `rows` and `columns` are labels.

    >>> numbers([[1, 2], [3, 4]], alt="two rows of two numbers")
    two rows of two numbers
    """
    array = np.atleast_2d(_array(values))
    chosen = np.zeros(array.shape, bool) if marked is None else np.atleast_2d(_array(marked))
    left = 12 + (9 * max((len(str(r)) for r in rows), default=0))
    top = 12 + (18 if title else 0) + (18 if len(columns) else 0)
    cell = max(CELL, 14 + 8 * max((len(_number(v)) for v in array.flat), default=1))
    parts = [_text(left, 20, title, "start")] if title else []
    for j, label in enumerate(columns):
        parts.append(_text(left + (j + 0.5) * cell, top - 6, label, color=LINES[0]))
    for i, row in enumerate(array):
        y = top + i * CELL
        if len(rows):
            parts.append(_text(left - 8, y + 24, rows[i], "end", LINES[0]))
        for j, value in enumerate(row):
            fill = FILLS[1] if chosen[i, j] else PAPER
            parts.append(_box(left + j * cell, y, cell, CELL, fill, bool(chosen[i, j])))
            parts.append(_text(left + (j + 0.5) * cell, y + 24, _number(value)))
    return Drawing(parts, left + cell * array.shape[1] + 12, top + CELL * len(array) + 12, alt)


def memory(tensor: Any, alt: str) -> Drawing:
    """The storage of a tensor cell by cell, those that the tensor reaches filled, and under each of
    them the places of the tensor that read it.

    >>> import tinygrad_course as tg
    >>> memory(tg.arange(4)[1:3], alt="two of four cells are read")
    two of four cells are read
    """
    stored = tensor.storage().tolist()
    readers: dict[int, list[str]] = {}
    for place in np.ndindex(*tensor.shape):
        cell = tensor.storage_offset() + sum(
            i * s for i, s in zip(place, tensor.stride(), strict=True)
        )
        readers.setdefault(cell, []).append("[" + ",".join(map(str, place)) + "]")
    texts = [*map(_number, stored), *(name for names in readers.values() for name in names)]
    width = max(CELL, 14 + 8 * max((len(text) for text in texts), default=1))
    most = max((len(names) for names in readers.values()), default=0)
    facts = (
        f"shape {tuple(tensor.shape)}   stride {tensor.stride()}   offset {tensor.storage_offset()}"
    )
    parts = [_text(12, 20, facts, "start")]
    for i, value in enumerate(stored):
        x = 12 + i * width
        parts.append(_text(x + width / 2, 42, i, color=FAINT))
        parts.append(_box(x, 48, width, CELL, FILLS[0] if i in readers else PAPER, i in readers))
        parts.append(_text(x + width / 2, 72, _number(value)))
        for line, name in enumerate(readers.get(i, [])):
            parts.append(_text(x + width / 2, 104 + 16 * line, name, color=LINES[0]))
    wide = max(24 + width * len(stored), 24 + 7 * len(facts))
    return Drawing(parts, wide, 100 + 16 * most + 12, alt)


def _array(values: Any) -> Any:
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


# ------------------------------------------------------------------ curves


def curves(
    series: Mapping[str, Sequence[float]],
    alt: str,
    *,
    x: Sequence[float] | None = None,
    x_label: str = "",
    y_label: str = "",
    width: int = 460,
    height: int = 240,
) -> Drawing:
    """Lines over common axes, each with its name at its end and a dash pattern of its own.

    `x` are the places of the points, 0, 1, 2, … unless given.

    >>> curves({"loss": [3.0, 2.0, 1.5]}, alt="a loss that falls from 3 to 1.5")
    a loss that falls from 3 to 1.5
    """
    lines = {name: np.asarray([float(v) for v in values]) for name, values in series.items()}
    places = {
        name: np.arange(len(values)) if x is None else np.asarray(x, float)[: len(values)]
        for name, values in lines.items()
    }
    finite = np.concatenate([v[np.isfinite(v)] for v in lines.values()] or [np.zeros(1)])
    across = np.concatenate(list(places.values()))
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    high = high if high > low else low + 1.0
    first, last = (float(across.min()), float(across.max())) if across.size else (0.0, 1.0)
    last = last if last > first else first + 1.0
    left, bottom, top = 62, height - 42, 32 if y_label else 16
    right = width - 12 - 8 * max(len(name) for name in lines)

    def at(px: float, py: float) -> tuple[float, float]:
        return (
            round(left + (px - first) / (last - first) * (right - left), 1),
            float(round(bottom - (py - low) / (high - low) * (bottom - top) + UNEVEN)),
        )

    parts = [f'<path d="M{left} {top}V{bottom}H{right:g}" fill="none" stroke="{INK}"/>']
    for value in (low, (low + high) / 2, high):
        y = at(first, value)[1]
        parts += [
            f'<path d="M{left - 4} {y:g}h4" stroke="{INK}"/>',
            _text(left - 8, y + 4, _tick(value, high - low), "end"),
        ]
    parts += [_text(at(v, low)[0], bottom + 17, f"{v:.4g}") for v in (first, last)]
    parts += [_text((left + right) / 2, bottom + 34, x_label), _text(8, 14, y_label, "start")]
    ends: list[float] = []
    for number, (name, values) in enumerate(lines.items()):
        points = [
            at(px, py) for px, py in zip(places[name], values, strict=True) if np.isfinite(py)
        ]
        if not points:
            continue
        color, dash = LINES[number % len(LINES)], DASHES[number % len(DASHES)]
        path = "L".join(f"{px:g} {py:g}" for px, py in points)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        # Beside its last point, or as near as the other names leave room for.
        free = (
            points[-1][1] + 4 + side * 14 * n for n in range(2 * len(lines)) for side in (1, -1)
        )
        room = [y for y in free if y <= bottom + 4 and all(abs(y - end) >= 14 for end in ends)]
        y = room[0]
        ends.append(y)
        parts.append(_text(points[-1][0] + 6, y, name, "start", color))
    return Drawing(parts, width, height, alt)


# ------------------------------------------------------------------ images


def images(
    pictures: Sequence[Any], alt: str, *, titles: Sequence[object] = (), pixel: int = 6
) -> Drawing:
    """Matrices side by side as grey images, dark for the largest value of each.

    >>> images([np.eye(2)], alt="a dark diagonal")
    a dark diagonal
    """
    parts: list[str] = []
    left, tallest = 12.0, 0
    for number, picture in enumerate(pictures):
        array = _array(picture).astype(float)
        span = float(np.ptp(array)) or 1.0
        shade = np.round(245 - 15 * np.round(15 * (array - array.min()) / span + UNEVEN)).astype(
            int
        )
        wide = max(pixel * array.shape[1], 8 * len(str(titles[number])) if len(titles) else 0)
        for i, row in enumerate(shade):
            start = 0
            for j in range(1, len(row) + 1):  # equal neighbours become one rectangle
                if j == len(row) or row[j] != row[start]:
                    v = row[start]
                    parts.append(
                        f'<rect x="{left + start * pixel:g}" y="{12 + i * pixel}" '
                        f'width="{(j - start) * pixel}" height="{pixel}" '
                        f'fill="#{v:02x}{v:02x}{v:02x}"/>'
                    )
                    start = j
        if len(titles):
            parts.append(
                _text(
                    left + pixel * array.shape[1] / 2, 28 + pixel * array.shape[0], titles[number]
                )
            )
        tallest = max(tallest, pixel * array.shape[0])
        left += wide + 12
    return Drawing(parts, left, tallest + 24 + (16 if len(titles) else 0), alt)


# ------------------------------------------------------------------ boxes and arrows


def diagram(
    boxes: Mapping[str, tuple[str, float, float]],
    arrows: Iterable[tuple[str, str]],
    alt: str,
    *,
    marked: Iterable[str] = (),
) -> Drawing:
    """Boxes joined by arrows. A box has a name, and (label, column, row) on a grid; an arrow goes
    from name to name. The `marked` boxes are filled, with a thick border.

    >>> diagram({"a": ("x", 0, 0), "b": ("y", 1, 0)}, [("a", "b")], alt="x leads to y")
    x leads to y
    """
    chosen = set(marked)
    wide = max(CELL, 16 + 8 * max((len(label) for label, _, _ in boxes.values()), default=0))
    high, middles = 32, {}
    for name, (_, column, row) in boxes.items():
        middles[name] = 12 + wide / 2 + column * (wide + 34), 12 + high / 2 + row * (high + 34)
    tip = (
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
    )
    parts = [tip]
    for start, end in arrows:
        (x0, y0), (x1, y1) = middles[start], middles[end]
        # The share of the line that lies within a box, at either end.
        within = min(
            wide / 2 / abs(x1 - x0) if x1 != x0 else 1, high / 2 / abs(y1 - y0) if y1 != y0 else 1
        )
        dx, dy = within * (x1 - x0), within * (y1 - y0)
        parts.append(
            f'<path d="M{x0 + dx:g} {y0 + dy:g}L{x1 - dx:g} {y1 - dy:g}" stroke="{INK}" '
            f'marker-end="url(#tip)"/>'
        )
    for name, (label, _, _) in boxes.items():
        x, y = middles[name]
        fill = FILLS[1] if name in chosen else PAPER
        parts.append(_box(x - wide / 2, y - high / 2, wide, high, fill, name in chosen))
        parts.append(_text(x, y + 4, label))
    right = max((x for x, _ in middles.values()), default=0.0) + wide / 2 + 12
    bottom = max((y for _, y in middles.values()), default=0.0) + high / 2 + 12
    return Drawing(parts, right, bottom, alt)
