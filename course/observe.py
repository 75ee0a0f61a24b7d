"""What an answer returned, written down as data that can cross a process border.

An observation is a tree of JSON lists: a kind, then its parts. Only exact types are looked into: a
subclass may lie about its length, its entries or its equality, so it is noted by name and equals
nothing. The module knows the engine by duck type alone and must not import it. Lesson 00.
"""

import base64
import binascii
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Tree = list[Any]
"""`[kind, *parts]`, made of what JSON has: see `observe`."""

MOST_BYTES = 4_000_000
MOST_PARTS = 100_000
DEEPEST = 40
KINDS = frozenset("?bhilqBHILQefd")
"""The NumPy dtypes that are data: booleans, integers and floats of 16 to 64 bits, by letter."""
NAMES = frozenset(np.dtype(letter).name for letter in KINDS)


class TooLarge(Exception):
    """The value has more parts than an observation may have."""


def observe(value: object) -> Tree:
    """The plain-data tree of `value`: numbers, text, lists, dicts, arrays and tensors.

    A tensor is its array, whether it requires a gradient, and its gradient. NumPy scalars are
    numbers; a tuple and a list are both a sequence, though each is shown as what it is. Anything
    else is `["other", name of its type]`.

    >>> observe({"steps": (1, 2.5)})
    ['dict', [[['str', 'steps'], ['seq', [['int', '1'], ['float', '2.5']], 'tuple']]]]
    >>> observe(object())
    ['other', 'object']
    """
    try:
        return _Observer().tree(value, 0)
    except TooLarge:
        return ["other", f"{_name_of(value)}, too large to compare"]


class _Observer:
    """One walk over a value, which counts the parts it has seen."""

    def __init__(self) -> None:
        self.parts = 0
        self.bytes = 0

    def tree(self, value: Any, depth: int) -> Tree:
        self.parts += 1
        if self.parts > MOST_PARTS or depth > DEEPEST:
            raise TooLarge
        kind = type(value)
        if value is None:
            return ["none"]
        if kind is bool:
            return ["bool", value]
        if kind is int:
            return self._int(value)
        if kind is float:
            return ["float", float.__repr__(value)]
        if kind is str:
            return self._text(value)
        if kind is list or kind is tuple or _is_engine(value, "Size"):
            parts = [self.tree(part, depth + 1) for part in list(value)]
            return ["seq", parts] if kind is list else ["seq", parts, "tuple"]
        if kind is dict:
            pairs = list(value.items())
            return ["dict", [[self.tree(k, depth + 1), self.tree(v, depth + 1)] for k, v in pairs]]
        if kind is np.ndarray:
            return self._array(value)
        if kind.__module__ == "numpy" and isinstance(value, np.generic):
            return self._scalar(value, depth)
        if _is_engine(value, "Tensor", "Parameter"):
            return self._tensor(value)
        if _is_engine(value, "dtype", "DType", "device", "Device"):
            return ["str", repr(value)]
        return ["other", _name_of(value)]

    def _int(self, value: int) -> Tree:
        if value.bit_length() > 4096:
            raise TooLarge
        return ["int", int.__repr__(value)]

    def _text(self, value: str) -> Tree:
        self._spend(len(value))
        # JSON has no lone surrogates.
        return ["str", value.encode("utf-8", "replace").decode("utf-8")]

    def _scalar(self, value: np.generic, depth: int) -> Tree:
        if value.dtype.char not in KINDS:
            return ["other", f"numpy.{value.dtype.name}"]
        return self.tree(value.item(), depth + 1)

    def _array(self, value: "np.ndarray[Any, Any]") -> Tree:
        if value.dtype.char not in KINDS:
            return ["other", f"ndarray of {value.dtype.name}"]
        self._spend(value.nbytes)
        data = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        text = base64.b64encode(data.tobytes()).decode("ascii")
        return ["array", value.dtype.name, list(value.shape), text]

    def _tensor(self, value: Any) -> Tree:
        """A tensor of the engine; what its methods give back is checked like anything else."""
        array = value.detach().cpu().numpy()
        keeps = bool(value.is_leaf) or bool(getattr(value, "retains_grad", False))
        grad = value.grad if keeps else None
        parts = [self.tree(array, 0), ["none"]]
        if grad is not None:
            parts[1] = self.tree(grad.detach().cpu().numpy(), 0)
        if parts[0][0] != "array" or parts[1][0] not in ("none", "array"):
            return ["other", _name_of(value)]
        return ["tensor", parts[0], bool(value.requires_grad), parts[1]]

    def _spend(self, count: int) -> None:
        self.bytes += count
        if self.bytes > MOST_BYTES:
            raise TooLarge


def _is_engine(value: object, *names: str) -> bool:
    """Whether the type of `value` itself (no subclass) is the engine's class of that name."""
    kind = type(value)
    engine = sys.modules.get("tinygrad_course")
    return engine is not None and kind.__name__ in names and _from_engine(kind)


def _from_engine(kind: type) -> bool:
    return str(kind.__module__).split(".")[0] == "tinygrad_course"


def _name_of(value: object) -> str:
    return str(type(value).__qualname__)[:200]


# ------------------------------------------------------------------ reading observations back


def array_of(tree: Tree) -> "np.ndarray[Any, Any]":
    """The NumPy array of an `["array", ...]` observation.

    >>> array_of(observe(np.arange(3.0)))
    array([0., 1., 2.])
    """
    _, dtype, shape, text = tree
    data = base64.b64decode(text, validate=True)
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)


def value_of(tree: Tree) -> Any:
    """The plain value behind an observation; ValueError where it is none.

    >>> value_of(observe({"steps": ["a", 2]}))
    {'steps': ['a', 2]}
    """
    kind, *parts = tree
    if kind == "none":
        return None
    if kind in ("bool", "str"):
        return parts[0]
    if kind in ("int", "float"):
        return (int if kind == "int" else float)(parts[0])
    if kind == "seq":
        return [value_of(part) for part in parts[0]]
    if kind == "dict" and all(key[0] == "str" for key, _ in parts[0]):
        return {key[1]: value_of(value) for key, value in parts[0]}
    raise ValueError(kind)


def is_observation(tree: object, depth: int = 0) -> bool:
    """Whether data from an untrusted process has the form that `observe` makes.

    >>> is_observation(["int", "3"]), is_observation(["int", 3]), is_observation("int")
    (True, False, False)
    """
    if type(tree) is not list or not tree or type(tree[0]) is not str or depth > DEEPEST + 3:
        return False
    kind, *parts = tree
    rule = _FORMS.get(kind)
    return rule is not None and rule(parts, depth + 1)


def _texts(parts: list[Any], count: int) -> bool:
    return len(parts) == count and all(type(p) is str for p in parts)


def _is_number(parts: list[Any], kind: type) -> bool:
    if not _texts(parts, 1) or len(parts[0]) > 1500:
        return False
    try:
        kind(parts[0])
    except ValueError:
        return False
    return True


def _is_array(parts: list[Any]) -> bool:
    if len(parts) != 3 or type(parts[0]) is not str or type(parts[2]) is not str:
        return False
    dtype, shape, text = parts
    if type(shape) is not list or not all(type(n) is int and n >= 0 for n in shape):
        return False
    try:
        return dtype in NAMES and array_of(["array", dtype, shape, text]) is not None
    except (TypeError, ValueError, OverflowError, binascii.Error):
        return False


def _is_tensor(parts: list[Any], depth: int) -> bool:
    return (
        len(parts) == 3
        and type(parts[1]) is bool
        and all(is_observation(p, depth) for p in (parts[0], parts[2]))
        and parts[0][0] == "array"
        and parts[2][0] in ("array", "none")
    )


def _is_list(parts: list[Any], depth: int) -> bool:
    return (
        len(parts) == 1
        and type(parts[0]) is list
        and all(is_observation(p, depth) for p in parts[0])
    )


def _is_dict(parts: list[Any], depth: int) -> bool:
    return (
        len(parts) == 1
        and type(parts[0]) is list
        and all(type(p) is list and len(p) == 2 for p in parts[0])
        and all(is_observation(p, depth) for pair in parts[0] for p in pair)
    )


_FORMS: dict[str, Callable[[list[Any], int], bool]] = {
    "none": lambda parts, depth: not parts,
    "bool": lambda parts, depth: len(parts) == 1 and type(parts[0]) is bool,
    "int": lambda parts, depth: _is_number(parts, int),
    "float": lambda parts, depth: _is_number(parts, float),
    "str": lambda parts, depth: _texts(parts, 1),
    "seq": lambda parts, depth: _is_list(parts[:1], depth) and parts[1:] in ([], ["tuple"]),
    "dict": _is_dict,
    "array": lambda parts, depth: _is_array(parts),
    "tensor": _is_tensor,
    "other": lambda parts, depth: _texts(parts, 1),
    # Written by `course.trial`: what happened instead of a value.
    "error": lambda parts, depth: _texts(parts, 3),
    "missing": lambda parts, depth: _texts(parts, 1),
    "late": lambda parts, depth: _is_number(parts, float),
    "skipped": lambda parts, depth: not parts,
}
