"""einsum: sums of products, written with one letter per dim.

`einsum("ij,jk->ik", x, y)` multiplies what has equal letters and sums over those that the output
lacks. Operands are brought to a common order of dims and contracted from the left, two at a time,
by one batched matrix product each. Everything here is made of views, sums and products that have
gradients of their own. Lesson 03.
"""

from __future__ import annotations

import math
from typing import Any

from ..autograd.variable import Tensor
from .linalg import bmm
from .permute import movedim, permute
from .registry import function
from .strided import diagonal
from .views import reshape, unsqueeze, view

Label = str | int
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DOTS = "..."


def einsum(*args: Any) -> Tensor:
    """Sums of products over named dims: einsum("ij,jk->ik", x, y) is x @ y.

    Equal letters within an operand take its diagonal; letters missing from the output are summed
    over; "..." stands for any dims, which broadcast. Without "->" the output has the letters that
    occur once, in alphabetical order. Also einsum(x, [0, 1], y, [1, 2], [0, 2]).

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([[1., 2.], [3., 4.]])
    >>> einsum("ij->ji", x), einsum("ii", x), einsum("ij,j->i", x, tg.ones(2))
    (tensor([[1., 3.],
            [2., 4.]]), tensor(5.), tensor([3., 7.]))
    """
    terms, output, operands = _arguments(args)
    # Every term as a list of labels, one per dim; the dims of an ellipsis are labelled from behind.
    labels = [_labels(t, x.ndim, i) for i, (t, x) in enumerate(zip(terms, operands, strict=True))]
    every = [label for term in labels for label in term]
    dots = sorted({label for label in every if isinstance(label, int)})
    letters = {label for label in every if isinstance(label, str)}
    order: list[Any]
    if output is None:
        order = [*dots, *sorted(x for x in letters if every.count(x) == 1)]
    else:
        _check_output(output, letters)
        order = [part for label in output for part in (dots if label == DOTS else [label])]
    kept = len(order)
    order += [label for label in (*dots, *sorted(letters)) if label not in order]
    aligned = [
        _aligned(*_diagonals(x, term, number), order)
        for number, (x, term) in enumerate(zip(operands, labels, strict=True))
    ]
    _check_sizes(aligned, order)
    return _contracted(aligned, kept)


# --- reading the equation -------------------------------------------------------------------------


def _arguments(args: tuple[Any, ...]) -> tuple[list[list[str]], list[str] | None, list[Tensor]]:
    """The letters of each operand, those of the output (None when it isn't given), the operands."""
    if len(args) < 2:
        raise ValueError("einsum(): an equation and at least one operand are needed")
    if isinstance(args[0], Tensor):  # einsum(x, [0, 1], y, [1, 2], [0, 2])
        pairs = len(args) // 2
        terms = [_from_numbers(args[2 * i + 1]) for i in range(pairs)]
        output = _from_numbers(args[-1]) if len(args) % 2 else None
        operands = [args[2 * i] for i in range(pairs)]
    else:
        if not isinstance(args[0], str):
            raise TypeError(f"einsum(): the equation must be a str, not {type(args[0]).__name__}")
        left, arrow, right = args[0].partition("->")
        terms = [_split(term, f"operand {i}") for i, term in enumerate(left.split(","))]
        output = _split(right, "the output") if arrow else None
        listed = len(args) == 2 and isinstance(args[1], list | tuple)
        operands = list(args[1] if listed else args[1:])
    for x in operands:
        if not isinstance(x, Tensor):
            raise TypeError(f"einsum(): operands must be Tensors, not {type(x).__name__}")
    if len(terms) != len(operands):
        which = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation: "
            f"{len(operands)} and {len(terms)}"
        )
    return terms, output, operands


def _split(term: str, where: str) -> list[str]:
    """The letters of one term, in which the three dots count as one."""
    parts, rest = [], term.replace(" ", "")
    while rest:
        part = DOTS if rest.startswith(DOTS) else rest[0]
        if part != DOTS and part not in LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript {part!r} for {where}: subscripts must be in "
                "[a-zA-Z], or three dots"
            )
        if part == DOTS and DOTS in parts:
            raise RuntimeError(f"einsum(): {where} has a second ellipsis")
        parts.append(part)
        rest = rest[len(part) :]
    return parts


def _from_numbers(numbers: Any) -> list[str]:
    term = []
    for n in numbers:
        if n is not Ellipsis and not 0 <= n < len(LETTERS):
            raise ValueError(
                f"einsum(): subscript {n} is not within the valid range [0, {len(LETTERS)})"
            )
        term.append(DOTS if n is Ellipsis else LETTERS[n])
    return term


def _check_output(output: list[str], letters: set[str]) -> None:
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label != DOTS and label not in letters:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input "
                "operand"
            )


def _labels(term: list[str], ndim: int, number: int) -> list[Label]:
    """One label per dim: letters, and -1, -2, … for those of an ellipsis."""
    dots = ndim - len(term) + 1 if DOTS in term else 0
    if dots < 0 or (DOTS not in term and len(term) != ndim):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the "
            f"number of dimensions ({ndim}) for operand {number}"
        )
    found: list[Label] = []
    for label in term:
        found += range(-dots, 0) if label == DOTS else [label]
    return found


# --- bringing the operands into line --------------------------------------------------------------


def _diagonals(x: Tensor, labels: list[Label], number: int) -> tuple[Tensor, list[Label]]:
    """The operand without repeated labels: x[i, i] for those."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if x.shape[i] != x.shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {x.shape[j]} != {x.shape[i]}"
                )
            x = movedim(diagonal(x, 0, i, j), -1, i)
            labels = labels[:j] + labels[j + 1 :]
    return x, labels


def _aligned(x: Tensor, labels: list[Label], order: list[Label]) -> Tensor:
    """The operand with its dims in the common order, of size 1 where it has none."""
    x = permute(x, [labels.index(label) for label in order if label in labels])
    for dim, label in enumerate(order):
        if label not in labels:
            x = unsqueeze(x, dim)
    return x


def _check_sizes(operands: list[Tensor], order: list[Label]) -> None:
    for dim, label in enumerate(order):
        sizes = {x.shape[dim] for x in operands} - {1}
        if len(sizes) > 1:
            raise RuntimeError(
                f"einsum(): subscript {label} has sizes {sorted(sizes)} in different operands, "
                "which do not broadcast"
            )


# --- contracting ----------------------------------------------------------------------------------


def _contracted(operands: list[Tensor], kept: int) -> Tensor:
    """The product of all operands, summed over the dims from `kept` on: each as soon as all but one
    operand that extend along it have been multiplied in."""
    result, ndim = operands[0], operands[0].ndim
    left = [sum(x.shape[d] != 1 for x in operands) for d in range(ndim)]
    for x in operands[1:]:
        together, mine, its = [], [], []
        for d in range(kept, ndim):
            if result.shape[d] != 1 and x.shape[d] != 1:
                left[d] -= 1
                if left[d] == 1:
                    together.append(d)
            elif left[d] == 1:
                if result.shape[d] != 1:
                    mine.append(d)
                elif x.shape[d] != 1:
                    its.append(d)
        for d in (*together, *mine, *its):
            left[d] = 0
        result = result.sum(mine, keepdim=True) if mine else result
        x = x.sum(its, keepdim=True) if its else x
        result = _product(result, x, together) if together else result * x
    if ndim == kept:
        return result
    if len(operands) == 1:
        return result.sum(list(range(kept, ndim)))
    return view(result, result.shape[:kept])


def _product(x: Tensor, y: Tensor, summed: list[int]) -> Tensor:
    """Σ x·y over some dims, which keep size 1: as one batched matrix product."""
    both = [d for d in range(x.ndim) if d not in summed and x.shape[d] != 1 and y.shape[d] != 1]
    only_x = [d for d in range(x.ndim) if x.shape[d] != 1 and y.shape[d] == 1]
    only_y = [d for d in range(x.ndim) if d not in both + summed + only_x]
    if only_x and only_y and only_y[-1] < only_x[0]:  # so that the result comes out in order
        x, y, only_x, only_y = y, x, only_y, only_x
    n, rows, inner, columns = (
        math.prod(v.shape[d] for d in dims)
        for v, dims in ((x, both), (x, only_x), (x, summed), (y, only_y))
    )
    left = reshape(permute(x, (*both, *only_x, *summed, *only_y)), (n, rows, inner))
    right = reshape(permute(y, (*both, *summed, *only_y, *only_x)), (n, inner, columns))
    order = (*both, *only_x, *summed, *only_y)
    size = [1 if d in summed else y.shape[d] if x.shape[d] == 1 else x.shape[d] for d in order]
    return permute(view(bmm(left, right), size), [order.index(d) for d in range(x.ndim)])


function(einsum)
