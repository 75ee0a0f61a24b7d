"""Element types: what one number in a tensor is, and which type two of them give together.

A `DType` names a NumPy type as PyTorch does. `result_type` is PyTorch's promotion, which differs
from NumPy's: a Python number or a 0-dim tensor only matters when its category (bool < integer <
float) is higher than that of the tensors with dimensions. This module knows nothing of tensors.
Lesson 01.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

BOOL, INTEGER, FLOAT = 0, 1, 2


class DType:
    """An element type, e.g. `tg.float32`.

    `name` is the short name, `numpy` the NumPy type, `itemsize` the bytes of one element,
    `tensor_type` the name of the tensor class of the era ("FloatTensor"), `category` 0 for bool, 1
    for integers, 2 for floats.

    >>> float32.itemsize, float32.is_floating_point
    (4, True)
    """

    __slots__ = ("category", "itemsize", "name", "numpy", "tensor_type")

    def __init__(self, name: str, tensor_type: str, category: int) -> None:
        self.name = name
        self.numpy = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.tensor_type = tensor_type
        self.category = category

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_signed(self) -> bool:
        return self.name not in ("bool", "uint8")

    @property
    def is_complex(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name if self.name != "bool" else "bool_"


float16 = half = DType("float16", "HalfTensor", FLOAT)
float32 = float_ = DType("float32", "FloatTensor", FLOAT)
float64 = double = DType("float64", "DoubleTensor", FLOAT)
uint8 = DType("uint8", "ByteTensor", INTEGER)
int8 = DType("int8", "CharTensor", INTEGER)
int16 = short = DType("int16", "ShortTensor", INTEGER)
int32 = int_ = DType("int32", "IntTensor", INTEGER)
int64 = long = DType("int64", "LongTensor", INTEGER)
bool_ = DType("bool", "BoolTensor", BOOL)

ALL = (float16, float32, float64, uint8, int8, int16, int32, int64, bool_)

# Keyed by NumPy's type number: hashing an int is several times cheaper than hashing an np.dtype.
# Two C types may share a width (long and long long), so every type code is listed.
_BY_NUMBER = {
    np.dtype(code).num: dtype
    for code in np.typecodes["All"]
    for dtype in ALL
    if np.dtype(code) == dtype.numpy
}

_default = float32

# Python's own types may be given as dtypes.
_OF_PYTHON = {float: float64, int: int64, bool: bool_}


def from_numpy_dtype(dtype: np.dtype[Any]) -> DType:
    """The DType of a NumPy type; TypeError names the types there are."""
    found = _BY_NUMBER.get(dtype.num)
    if found is None or not dtype.isnative:
        names = ", ".join(d.name for d in ALL)
        raise TypeError(
            f"no tensor can hold NumPy's {dtype}: the types are {names}; convert with .astype first"
        )
    return found


def as_dtype(dtype: Any) -> DType:
    """A DType given as such, or as Python's float (64 bits), int or bool; TypeError for what is
    none.

    >>> as_dtype(float), as_dtype(int8)
    (torch.float64, torch.int8)
    """
    if isinstance(dtype, DType):
        return dtype
    found = _OF_PYTHON.get(dtype) if isinstance(dtype, type) else None
    if found is None:
        raise TypeError(f"dtype must be one of tg.float32, tg.int64, …, not {dtype!r}")
    return found


def get_default_dtype() -> DType:
    """The type of new float tensors: float32 unless changed.

    >>> get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(dtype: DType) -> None:
    """Makes `dtype` (a float type) the type of new float tensors; TypeError for an integer type."""
    global _default
    if not isinstance(dtype, DType) or not dtype.is_floating_point:
        raise TypeError(f"only floating-point types can be the default type, not {dtype!r}")
    _default = dtype


def set_default_tensor_type(t: Any) -> None:
    """Makes the dtype of a tensor type, tg.DoubleTensor or its name "torch.DoubleTensor", the
    default; TypeError for other types than those of floats on the CPU.
    """
    name = t if isinstance(t, str) else getattr(t, "__name__", repr(t))
    found = {d.tensor_type: d for d in ALL}.get(name.removeprefix("torch."))
    if found is None or getattr(t, "is_cuda", False):
        raise TypeError(
            f"only the floating-point types of the CPU (torch.FloatTensor, …) can be the default "
            f"tensor type, not {t!r}"
        )
    set_default_dtype(found)


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of type `from_` may be written into a tensor of type `to` in place.

    >>> can_cast(int64, float16), can_cast(float32, int64)
    (True, False)
    """
    for dtype in (from_, to):
        if not isinstance(dtype, DType):
            raise TypeError(f"can_cast(): two dtypes were expected, one is {dtype!r}")
    return from_.category <= to.category


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type that holds both; any float beats any integer (torch.promote_types).

    >>> promote_types(uint8, int8), promote_types(float16, int64)
    (torch.int16, torch.float16)
    """
    if a is b:
        return a
    if a.category != b.category:
        return a if a.category > b.category else b
    if (
        a.is_signed != b.is_signed
    ):  # uint8 beside a signed integer: int8 cannot hold it, the wider ones can
        signed = a if a.is_signed else b
        return int16 if signed is int8 else signed
    return a if a.itemsize > b.itemsize else b


def of_number(value: Any) -> DType:
    """The type a Python number stands for: bool, int64, or the default float type."""
    if isinstance(value, bool | np.bool_):
        return bool_
    if isinstance(value, int | np.integer):
        return int64
    if isinstance(value, float | np.floating):
        return _default
    raise TypeError(
        f"a number (bool, int or float) was expected, not {type(value).__name__} {value!r}"
    )


def number_for(value: Any, dtype: DType) -> Any:
    """A Python number as a tensor of `dtype` holds it; TypeError for what is no number,
    RuntimeError for one that is too large.

    >>> number_for(2.7, int8), number_for(-1, uint8)
    (2, 255)
    """
    of_number(value)
    if dtype is bool_:
        return bool(value)
    if dtype.is_floating_point:
        fits = not math.isfinite(value) or abs(value) <= np.finfo(dtype.numpy).max
        result: Any = float(value) if fits else value
    else:
        # A negative whole number wraps around in an unsigned type, as long as its size fits.
        limits = np.iinfo(dtype.numpy)
        low = limits.min if dtype.is_signed else -limits.max
        low = 0 if isinstance(value, float) and not dtype.is_signed else low
        fits = math.isfinite(value) and low <= value <= limits.max
        result = np.array(int(value)).astype(dtype.numpy).item() if fits else value
    if not fits:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.name} without overflow: {value!r}"
        )
    return result


def _outrank(high: DType | None, low: DType | None) -> DType | None:
    """`high` unless `low` is of a higher category: the rule between the three ranks of
    `result_type`."""
    if high is None or low is None:
        return high or low
    return promote_types(high, low) if low.category > high.category or high is bool_ else high


def result_type(*operands: Any) -> DType:
    """The type of a result of `operands`, each an array with `dtype` and `ndim`, or a Python
    number.

    Arrays with dimensions decide; 0-dim arrays, and after them numbers, count only by a higher
    category.

    >>> result_type(np.zeros(2, "int64"), 1.5), result_type(np.zeros(2, "float32"), np.float64(1))
    (torch.float32, torch.float32)
    """
    ranks: list[DType | None] = [None, None, None]
    for x in operands:
        kind = getattr(x, "dtype", None)
        if kind is None or isinstance(x, float):  # NumPy's float64 is one of Python's, too
            rank, dtype = 2, of_number(x)
        else:
            rank, dtype = (0 if x.ndim else 1), from_numpy_dtype(kind)
        seen = ranks[rank]
        ranks[rank] = dtype if seen is None else promote_types(seen, dtype)
    found = _outrank(ranks[0], _outrank(ranks[1], ranks[2]))
    if found is None:
        raise ValueError("result_type needs at least one operand")
    return found


# --- limits ---------------------------------------------------------------------------------------


class finfo:
    """The limits of a float type (of the default one): `max`, `min`, `eps`, `tiny`, `bits`, ….

    TypeError for another type.

    >>> finfo(float16).max
    65504.0
    """

    def __init__(self, dtype: DType | None = None) -> None:
        dtype = _default if dtype is None else dtype
        if not isinstance(dtype, DType) or not dtype.is_floating_point:
            raise TypeError(f"finfo() tells of floating-point types, not {dtype!r}: see iinfo()")
        limits = np.finfo(dtype.numpy)
        self.dtype, self.bits = dtype.name, 8 * dtype.itemsize
        self.max, self.min, self.eps = float(limits.max), float(limits.min), float(limits.eps)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = 10.0**-limits.precision

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        limits = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"finfo({limits}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer type: `max`, `min`, `bits`; TypeError for another type.

    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    def __init__(self, dtype: DType) -> None:
        if not isinstance(dtype, DType) or dtype.category != INTEGER:
            raise TypeError(f"iinfo() tells of integer types, not {dtype!r}: see finfo()")
        limits = np.iinfo(dtype.numpy)
        self.dtype, self.bits = dtype.name, 8 * dtype.itemsize
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"
