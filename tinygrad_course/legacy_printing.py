"""How tensors printed before PyTorch 0.4: the `"legacy"` profile of `set_printoptions`.

Numbers stand in columns without brackets, a common factor is pulled out in front of them, and the
last line names the type and the size. This module knows arrays and the print options; which tensor
is a Variable, and its type, it is told. Lessons 01 and 04, which read texts of that time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# Dots for what is left out: of the columns, of the rows, and of both.
ACROSS, DOWN, ASLANT = "...", "\u22ee", "\u22f1"


class _Style(NamedTuple):
    """How each number is written: `form` gives the text of number / scale, `width` wide."""

    form: str
    scale: float
    width: int

    def row(self, numbers: Array) -> str:
        return " ".join(self.form.format(number / self.scale) for number in numbers.tolist())

    @property
    def heading(self) -> str:
        return "" if self.scale == 1 else f"{self.scale:.5e} *\n"

    @property
    def indent(self) -> str:
        return "" if self.scale == 1 else " "


def legacy_text(array: Array, type_name: str, options: Any) -> str:
    """The text of a tensor of type `type_name`, e.g. 'torch.FloatTensor'.

    A tensor without dims, which there was none of, prints as the one of size 1 that stood for it.

    >>> from .printing import PrintOptions
    >>> print(legacy_text(np.array([[1.5, 2.0]]), "torch.DoubleTensor", PrintOptions()))
    <BLANKLINE>
     1.5000  2.0000
    [torch.DoubleTensor of size 1x2]
    <BLANKLINE>
    """
    if array.ndim == 1 and array.size == 0:
        return f"[{type_name} with no dimension]\n"
    array = np.atleast_1d(array)
    size = "x".join(map(str, array.shape))
    if array.size == 0:
        body = ""
    elif array.ndim == 1:
        body = _vector(array, options)
    elif array.ndim == 2:
        body = _matrix(array, options)
    else:
        body = _stack(array, options)
    return f"\n{body}[{type_name} of size {size}]\n"


def _digits(number: float) -> int:
    """Digits before the point: 1 for 0 and 1.5, 2 for 10, 0 for 0.5, -1 for 0.05."""
    return 1 if number == 0 else math.floor(math.log10(number)) + 1


def _style(array: Array, options: Any, least: int = 0) -> _Style:
    """The notation for all numbers of `array`, at least `least` wide."""
    precision = options.precision
    numbers = np.abs(array.astype(np.float64))
    finite = numbers[np.isfinite(numbers)]
    width = max(least, 2 if finite.size == numbers.size else 3)
    if finite.size == 0:
        finite = np.zeros(1)
    small, large = _digits(float(finite.min())), _digits(float(finite.max()))
    if (finite == np.ceil(finite)).all():
        if large > precision + 1:
            return _Style(f"{{:11.{precision}e}}", 1, max(width, 7 + precision))
        width = max(width, large + 1)
        return _Style(f"{{:{width}.0f}}", 1, width)
    if large - small > precision:
        width = max(width, 7 + precision + (abs(large) > 99 or abs(small) > 99))
        return _Style(f"{{:{width}.{precision}e}}", 1, width)
    scale = 1.0
    if large > precision + 1 or large < 0:
        width, scale = max(width, 7), 10.0 ** max(large - 1, -323)
    else:
        width = max(width, large + 6 if large else 7)
    return _Style(f"{{:{width}.{precision}f}}", scale, width)


def _vector(array: Array, options: Any) -> str:
    style, edge = _style(array, options), options.edgeitems

    def column(numbers: Array) -> str:
        return "".join(
            f"{style.indent}{style.row(numbers[i : i + 1])}\n" for i in range(len(numbers))
        )

    if array.size < options.threshold:
        return style.heading + column(array)
    dots = f"{style.indent}{DOWN:^{style.width}}\n"
    return style.heading + column(array[:edge]) + dots + column(array[-edge:])


def _matrix(
    array: Array, options: Any, indent: str = "", style: _Style | None = None, dots: bool = False
) -> str:
    """The rows of a matrix; `dots`: it is part of a large tensor, and so shortened in any case."""
    rows, columns = (n > 2 * options.edgeitems for n in array.shape)  # too many of them
    whole = not rows and not columns
    style = style or _style(array, options, 0 if whole else 5)
    if not dots and (array.size < options.threshold or whole):
        return "".join(_in_blocks(array, options, indent, style))
    edge = options.edgeitems

    def line(numbers: Array) -> str:
        if not columns:
            return f"{indent}{style.row(numbers)}\n"
        left, right = style.row(numbers[:edge]), style.row(numbers[-edge:])
        return f"{indent}{left} {ACROSS:^5} {right}\n"

    if not rows:
        return style.heading + "".join(map(line, array))
    if columns:
        side = (style.width + 1) * edge - 1
        middle = f"{indent}{ACROSS:^{side}} {ASLANT:^5} {ACROSS:^{side}}\n"
    else:
        middle = f"{DOWN:^{len(style.row(array[0])) + 1}}\n"
    return style.heading + "".join([*map(line, array[:edge]), middle, *map(line, array[-edge:])])


def _in_blocks(array: Array, options: Any, indent: str, style: _Style) -> Iterator[str]:
    """All rows, with as many columns at a time as a line has room for."""
    columns = array.shape[1]
    per_line = max(1, (options.linewidth - len(indent)) // (style.width + 1))
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns) - 1
        if per_line < columns:
            yield f"\nColumns {first} to {last} \n{indent}"
        yield style.heading
        for row in array[:, first : last + 1]:
            yield f"{indent}{style.indent}{style.row(row)}\n"


def _stack(array: Array, options: Any) -> str:
    """A tensor of three and more dims: one matrix after the other, each under its place."""
    edge, outer = options.edgeitems, array.shape[:-2]
    rows, columns = (n > 2 * edge for n in array.shape[-2:])
    style = _style(array, options, 3 if rows or columns else 0)
    dots = array.size >= options.threshold
    width = max(2, max(len(str(n)) for n in array.shape))
    shown = [
        [i for i in range(n) if not dots or n <= 2 * edge or i < edge or i >= n - edge]
        for n in outer
    ]
    text, before = "", None
    for place in _places(shown):
        if dots and before is not None:
            text += _gaps(before, place, width)
        text += "\n" if text else ""
        text += f"({','.join(f'{i:^{width}}' for i in place)},.,.) = \n"
        text += _matrix(array[place], options, " ", style, dots)
        before = place
    return text


def _places(shown: list[list[int]]) -> Iterator[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for numbers in shown:
        places = [(*place, i) for place in places for i in numbers]
    yield from places


def _gaps(before: tuple[int, ...], place: tuple[int, ...], width: int) -> str:
    """The lines between two matrices of a shortened tensor: where places were left out, and where
    counting began anew."""
    skipped = [b - a > 1 for a, b in zip(before, place, strict=True)]
    anew = [b < a for a, b in zip(before, place, strict=True)]
    text = ""
    for marks, dots, start in ((skipped, ACROSS, ""), (anew, DOWN, " ")):
        if any(marks):
            text += start + "".join(f"{dots if m else '':^{width + 1}}" for m in marks) + "\n"
    return text
