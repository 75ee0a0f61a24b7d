"""`cupy.ndarray` on NumPy's, which it is not: it refuses what CuPy refuses.

These are NumPy arrays as operands or indices, implicit conversion, attributes with double
underscores, methods and arguments that CuPy lacks, and, with several devices, what lies on another
than the thread's current one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .counts import launched, sent_to_device, sent_to_host
from .names import ATTRIBUTES, METHODS
from .runtime import Device, current, pool

# What makes another window on its array where it can, and copies where it can't.
WINDOWS = set(
    "array_split as_strided asfortranarray ascontiguousarray astype atleast_1d atleast_2d "
    "atleast_3d broadcast_arrays broadcast_to diagonal dsplit expand_dims flip fliplr flipud "
    "hsplit matrix_transpose moveaxis permute_dims ravel reshape rollaxis rot90 "
    "sliding_window_view split squeeze swapaxes transpose view vsplit".split()
)
EMPTY = {"empty", "empty_like"}  # memory alone
# What depends on the values: the size of the result, or an error. So the host waits for them.
WAITING = set(
    "argwhere average bincount choose compress extract flatnonzero histogram intersect1d nonzero "
    "percentile place putmask quantile setdiff1d setxor1d tril_indices triu_indices union1d unique "
    "unique_all unique_counts unique_inverse unique_values".split()
)


class ndarray:
    """An array on the pretended device, or on one of several."""

    __slots__ = ("_a", "_device")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, a: np.ndarray, device: int | None = None) -> None:
        self._a = a
        self._device = current.device if device is None else device
        pool.note(a, self._device)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"numpy.{ufunc.__name__} was called on a device array: use xp")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{function.__name__} was called on a device array: use xp")

    def __getattr__(self, name: str) -> Any:
        # No other name: __array_interface__ and its like would hand out the memory.
        if name in _CHECKS:
            return _method(self, name)
        if name not in ATTRIBUTES:
            raise AttributeError(f"cupy.ndarray has no {name!r} that names.py lists")
        value = getattr(self._a, name)
        return wrapped(value, self._device) if isinstance(value, np.ndarray) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "shape":
            self._a.shape = value
        else:
            object.__setattr__(self, name, value)

    @property
    def device(self) -> Device:
        return Device(self._device)

    def copy(self, order: str = "C") -> ndarray:
        launched("copy")  # on the current device, whichever the array is on
        return ndarray(self._a.copy(order=order))  # type: ignore[arg-type]

    # --- to the host: each of these waits for the device ------------------------------------------

    def get(self, stream: Any = None, order: str = "C", out: Any = None) -> np.ndarray:
        sent_to_host("get")
        return self._a.copy(order=order)  # type: ignore[arg-type]

    def item(self) -> Any:
        sent_to_host("item")
        return self._a.item()

    def tolist(self) -> Any:
        sent_to_host("tolist")
        return self._a.tolist()

    def __bool__(self) -> bool:
        sent_to_host("bool()")
        return bool(self._a)

    def __int__(self) -> int:
        sent_to_host("int()")
        return int(self._a)

    def __float__(self) -> float:
        sent_to_host("float()")
        return float(self._a)

    def __complex__(self) -> complex:
        sent_to_host("complex()")
        return complex(self._a)

    def __index__(self) -> int:
        sent_to_host("index()")
        return operator.index(self._a)

    def __repr__(self) -> str:
        return f"device {self._a!r}"

    # --- indexing ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._a)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._a)))

    def __getitem__(self, index: Any) -> Any:
        index = _places(index)
        if _picks(index):
            unwrapped(self)
            launched("getitem")
        # A view, also of a single element, which NumPy would hand out as a number.
        part = self._a[(*index, ...) if _complete(self._a, index) else index]
        return wrapped(part, self._device)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = _places(index)
        launched("setitem")
        if not isinstance(value, ndarray) and _picks(index):
            sent_to_device("setitem")  # CuPy makes an array of the number here, and only here
        unwrapped(self)[index] = unwrapped(value)


def _places(index: Any) -> Any:
    """What NumPy gets for an index; a list is sent to the device, a mask waited for."""
    for part in index if type(index) is tuple else (index,):
        if isinstance(part, list):
            sent_to_device("index by a list")
        elif isinstance(part, ndarray) and part.dtype == bool:
            sent_to_host("index by a mask")
    return unwrapped(index)


def _picks(index: Any) -> bool:
    return any(
        isinstance(i, np.ndarray | list) for i in (index if type(index) is tuple else (index,))
    )


def _complete(a: np.ndarray, index: Any) -> bool:
    return type(index) is tuple and len(index) == a.ndim and all(isinstance(i, int) for i in index)


# --- in and out -----------------------------------------------------------------------------------


def unwrapped(value: Any) -> Any:
    """What NumPy gets for an argument; TypeError for an array of the host, ValueError for one of
    another device."""
    if isinstance(value, ndarray):
        if value._device != current.device:
            raise ValueError(
                "Array device must be same as the current device: array device = "
                f"{value._device} while current = {current.device}"
            )
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)(map(unwrapped, value)) if type(value) in (list, tuple) else value
    return value


def wrapped(value: Any, device: int | None = None) -> Any:
    """What the caller gets for a result: arrays, also where NumPy makes numbers of them."""
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value), device)
    if isinstance(value, list | tuple):
        items = [wrapped(v, device) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def called(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result of a call in CuPy, noted: as a launch unless it is only another window."""
    out = kwargs.get("out")
    given = [unwrapped(arg) for arg in args]
    result = function(*given, **{k: unwrapped(v) for k, v in kwargs.items()})
    if name not in EMPTY and not (name in WINDOWS and _shares(result, given)):
        launched(name)
    if name in WAITING:
        sent_to_host(name)
    return out if isinstance(out, ndarray) else wrapped(result)


def _shares(result: Any, given: list[Any]) -> bool:
    """Whether all of a result lies in the memory of an argument."""
    parts = result if isinstance(result, list | tuple) else [result]
    arrays = [a for a in given if isinstance(a, np.ndarray)]
    return all(any(np.may_share_memory(part, a) for a in arrays) for part in parts if part.size)


def signatures(table: str) -> dict[str, Callable[..., None]]:
    """For each line `name(arguments)` of a table, what raises TypeError for any others."""
    lines = [line.partition("(") for line in table.split("\n") if line]
    return {name: eval(f"lambda {rest[:-1]}: None") for name, _, rest in lines}


_CHECKS = signatures(METHODS)


def _method(array: ndarray, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        _CHECKS[name](*args, **kwargs)
        function = getattr(np.ndarray, name)
        if name not in WINDOWS:
            return called(name, function, (array, *args), kwargs)
        with Device(array._device):  # a window is made wherever its array is
            return called(name, function, (array, *args), kwargs)

    return call


# --- operators ------------------------------------------------------------------------------------


# The operators by their ufuncs: only these write into an array of no dims, too.
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
COMPARING = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


def _operator(name: str, ufunc: np.ufunc) -> None:
    def forward(self: ndarray, *other: Any) -> Any:
        if other and not isinstance(other[0], ndarray | int | float | complex | np.generic):
            if isinstance(other[0], np.ndarray):
                raise TypeError(f"Unsupported type {type(other[0])}")
            return NotImplemented
        return called(name, ufunc, (self, *other), {})

    def reflected(self: ndarray, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            raise TypeError(f"Unsupported type {type(other)}")
        return called(name, ufunc, (other, self), {})

    def in_place(self: ndarray, other: Any) -> ndarray:
        called(f"i{name}", ufunc, (self, other), {"out": self})
        return self

    setattr(ndarray, f"__{name}__", forward)
    if name in BINARY:
        setattr(ndarray, f"__r{name}__", reflected)
        setattr(ndarray, f"__i{name}__", in_place)


for _name, _ufunc in (BINARY | COMPARING | UNARY).items():
    _operator(_name, _ufunc)
