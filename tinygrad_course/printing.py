"""How a tensor prints: PyTorch's text, character for character.

One `_Format` looks at all the numbers that will be shown and chooses a notation and a width for
them, so that columns line up; the layout below it breaks lines and leaves out the middle of large
tensors. This module knows a tensor's array and its attributes; it calls no operation, so printing
can neither record nor change anything.

Lesson 01: what is printed is rounded to four digits; `x.tolist()` shows what is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .device import backend_of
from .dtype import bool_, get_default_dtype, int64
from .legacy_printing import legacy_text

Array = np.ndarray[Any, np.dtype[Any]]


# ---------------------------------------------------------------- options


class PrintOptions(NamedTuple):
    """The settings of `set_printoptions`, with PyTorch's defaults."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None
    legacy: bool = False


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
    "legacy": PrintOptions(legacy=True),
}
_options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors print from now on; what is None stays, except `sci_mode`.

    `precision` digits after the point; more than `threshold` elements are summarised to `edgeitems`
    at both ends of each dimension; lines are at most `linewidth` wide; `sci_mode` forces 1.0000e+00
    (True) or forbids it (False), None lets the numbers decide. `profile` is "default", "short",
    "full" or "legacy" (the looks of before 0.4, without `sci_mode`) and is applied first. Raises
    ValueError for a negative number or an unknown profile.

    >>> set_printoptions(precision=2)
    >>> set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"profile {profile!r} is unknown: use one of {', '.join(_PROFILES)}")
    given: dict[str, Any] = {"precision": precision, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None and (not isinstance(value, int) or value < 0):
            raise ValueError(f"{name} must be an integer of 0 or more, got {value!r}")
    given["threshold"] = threshold
    changes = {name: value for name, value in given.items() if value is not None}
    base = _options if profile is None else _PROFILES[profile]
    _options = base._replace(**changes, sci_mode=sci_mode)


# ---------------------------------------------------------------- the whole text


def tensor_repr(x: Any) -> str:
    """The text of tensor x, e.g. `tensor([1., 2.], grad_fn=<MulBackward0>)`.

    Behind the numbers stands what they do not show: device, size of an empty tensor, dtype, and
    where the gradient goes. Long suffixes move to a line of their own.
    """
    array = backend_of(x._array).to_host(x._array)
    if _options.legacy:
        text = legacy_text(array, x.type(), _options)
        return f"Variable containing:{text}" if _is_variable(x) else text
    indent = len("tensor(")
    text = "tensor(" + ("[]" if array.size == 0 else _numbers(array, indent))
    return _with_suffixes(text, _suffixes(x, array), indent)


def sparse_repr(x: Any) -> str:
    """The text of a sparse tensor x: its indices and values, then what they do not show."""
    indent = len("tensor(")
    parts = []
    for name, part in (("indices", x._indices()), ("values", x._values())):
        array = backend_of(part._array).to_host(part._array)
        start = f"{name}=tensor("
        empty = f"[], size={array.shape}"
        numbers = _numbers(array, indent + len(start)) if array.size else empty
        parts.append(f"{start}{numbers})")
    text = "tensor(" + (",\n" + " " * indent).join(parts) + ",\n" + " " * indent
    suffixes = [f"size={tuple(x.shape)}", f"nnz={x._nnz()}"]
    if x.device.type != "cpu":
        suffixes.append(f"device='{x.device}'")
    if x.dtype != get_default_dtype():
        suffixes.append(f"dtype={x.dtype}")
    suffixes.append(f"layout={x.layout}")
    if x.grad_fn is not None:
        suffixes.append(f"grad_fn=<{x.grad_fn.name()}>")
    return _with_suffixes(text + suffixes[0], suffixes[1:], indent)


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    width = len(text) - text.rfind("\n") + 1  # as PyTorch counts it: one more than there is
    for suffix in suffixes:
        if width + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            width = indent + len(suffix)
        else:
            text += ", " + suffix
            width += len(suffix) + 2
    return text + ")"


def parameter_repr(x: Any) -> str:
    """The text of a Parameter."""
    if _options.legacy:
        array = backend_of(x._array).to_host(x._array)
        return f"Parameter containing:{legacy_text(array, x.type(), _options)}"
    return f"Parameter containing:\n{tensor_repr(x)}"


def storage_repr(storage: Any) -> str:
    """The text of a storage: its elements, one a line, its type and size."""
    lines = "".join(f" {value}\n" for value in storage.tolist())
    kind = f"torch.storage.TypedStorage(dtype={storage.dtype}, device={storage.device})"
    return f"{lines}[{storage.type() if _options.legacy else kind} of size {storage.size()}]"


def _is_variable(x: Any) -> bool:
    """Whether `x` would have been a Variable: autograd knows it, or the tensor it is a view of."""
    if x._meta is not None and x._meta.base is not None and not x.requires_grad:
        return _is_variable(x._meta.base)
    return x._meta is not None or x._edge is not None


def _suffixes(x: Any, array: Array) -> list[str]:
    found = []
    if x.device.type != "cpu":
        found.append(f"device='{x.device}'")
    usual = [get_default_dtype()]
    if array.size == 0:
        if array.ndim != 1:
            found.append(f"size={array.shape}")
    else:
        usual += [int64, bool_]  # their digits say so themselves
        if _options.edgeitems == 0:
            found.append(f"size={array.shape}")
    if x.dtype not in usual:
        found.append(f"dtype={x.dtype}")
    if x.grad_fn is not None:
        found.append(f"grad_fn=<{x.grad_fn.name()}>")
    elif x.requires_grad:
        found.append("requires_grad=True")
    return found


# ---------------------------------------------------------------- one number


class _Format:
    """How to write each of some numbers, so that all come out equally wide: `write(number)`.

    Integers and booleans as they are; floating point numbers as `1.` when all are whole, else with
    `precision` digits; with an exponent when they span more than three orders of magnitude or leave
    1e-4 ... 1e8.
    """

    __slots__ = ("_plain", "width")

    _plain: Callable[[Any], str]
    width: int

    def __init__(self, numbers: Array) -> None:
        self._plain, self.width = str, 1
        measured = numbers
        if numbers.dtype.kind == "f":
            measured = numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float64)
            self._plain = self._notation(measured)
        for number in measured.tolist():
            self.width = max(self.width, len(self._plain(number)))

    @staticmethod
    def _notation(x: Array) -> Callable[[float], str]:
        """The notation for floating point numbers of which the finite, nonzero ones are x."""
        scientific = _options.sci_mode if x.size else False
        if scientific is None:
            small, large = float(np.abs(x).min()), float(np.abs(x).max())
            scientific = large / small > 1000.0 or large > 1e8 or small < 1e-4
        if scientific:
            return f"{{:.{_options.precision}e}}".format
        if (x == np.ceil(x)).all():
            return lambda number: f"{number:.0f}." if math.isfinite(number) else str(number)
        return f"{{:.{_options.precision}f}}".format

    def write(self, number: Any) -> str:
        return self._plain(number).rjust(self.width)


# ---------------------------------------------------------------- the layout


def _numbers(array: Array, indent: int) -> str:
    summarize = array.size > _options.threshold
    shown = array
    if summarize:
        for axis, size in enumerate(array.shape):
            shown = shown.take(_ends(size), axis)
    return _nested(array, _Format(shown.reshape(-1)), indent, summarize)


def _ends(size: int) -> list[int]:
    """The positions to show of a dimension: all, or `edgeitems` at both ends."""
    k = _options.edgeitems
    return [*range(k), *range(size - k, size)] if size > 2 * k else list(range(size))


def _nested(array: Array, form: _Format, indent: int, summarize: bool) -> str:
    if array.ndim == 0:
        return form.write(array.item())
    positions = _ends(len(array)) if summarize else list(range(len(array)))
    gap = len(positions) // 2 if len(positions) < len(array) else None  # where "..." goes
    indent += 1
    if array.ndim == 1:
        items = [form.write(number) for number in array[positions].tolist()]
        if gap is not None:
            # The space before the dots is PyTorch's; without items around, it is absent.
            items.insert(gap, " ..." if items else "...")
        per_line = max(1, (_options.linewidth - indent + 1) // (form.width + 2))
        rows = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * indent).join(rows) + "]"
    blocks = [_nested(array[i], form, indent, summarize) for i in positions]
    if gap is not None:
        blocks.insert(gap, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * indent).join(blocks) + "]"
