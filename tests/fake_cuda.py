"""A stand-in for CuPy on NumPy: every operation runs as if on a GPU, on any machine.

`ndarray` is no NumPy array. It refuses what CuPy refuses: NumPy arrays as operands or indices,
implicit conversion, attributes with double underscores, functions, methods and arguments that CuPy
14.2 doesn't have, and, with several devices, what lies on another than the thread's current one.
Nothing crosses between host and device unseen: `count` has the copies each way and the kernels
launched. What it cannot show: kernels that CuPy lacks for a type, asynchronous errors, speed. So
the same tests run on a real GPU where there is one.
"""

from __future__ import annotations

import operator
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from tinygrad_course.device import Backend, _combine_distinct, register, unregister

count: Counter[str] = Counter()

# NumPy's names that CuPy 14.2 lacks, and those of its ndarray: compared on the two packages.
MISSING = set(
    """
    False_ ScalarType True_ asmatrix block bmat busday_count busday_offset busdaycalendar bytes_
    char character clongdouble complex256 core ctypeslib datetime64 datetime_as_string
    datetime_data dtypes einsum_path emath errstate f2py flexible float128 frompyfunc fromregex
    geomspace get_include getbufsize geterr geterrcall histogram_bin_edges info insert is_busday
    isnat little_endian longdouble ma matrix matvec memmap nanpercentile nanquantile ndenumerate
    nditer nested_iters object_ polyder polydiv polyint rec recarray record sctypeDict setbufsize
    seterr seterrcall show_runtime spacing str_ strings test timedelta64 typecodes unstack vecdot
    vecmat void
    """.split()
)
MISSING_METHODS = {"ctypes", "getfield", "resize", "setfield", "setflags", "to_device"}
MISSING_ARGUMENTS = {"where", "initial", "like", "device"}
REDUCING = {"add", "multiply"}  # the ufuncs whose .reduce CuPy has for all types
# What only makes another window launches no kernel.
FREE = set(
    "as_strided broadcast_to diagonal expand_dims moveaxis ravel reshape squeeze swapaxes "
    "transpose view".split()
)


class _Current(threading.local):
    """The number of the device on which a thread's kernels run and its arrays are made."""

    device = 0


current = _Current()


class Device:
    """`cupy.cuda.Device`: makes itself the current one, for good or for a block."""

    def __init__(self, number: int) -> None:
        if not 0 <= number < cuda.runtime.getDeviceCount():
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def use(self) -> None:
        current.device = self.id

    def __enter__(self) -> Device:
        self._former = current.device
        self.use()
        return self

    def __exit__(self, *exc_info: object) -> None:
        current.device = self._former


cuda = SimpleNamespace(Device=Device, runtime=SimpleNamespace(getDeviceCount=lambda: 1))


class ndarray:
    """An array on the pretended device, or on one of several."""

    __slots__ = ("_a", "_device")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, a: np.ndarray, device: int | None = None) -> None:
        self._a = a
        self._device = current.device if device is None else device

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
        # Else __array_interface__ and its like would hand out the memory.
        if name.startswith("_") or name in MISSING_METHODS:
            raise AttributeError(name)
        value = getattr(self._a, name)
        if callable(value):
            return _method(self, name, value)
        return _device(value, self._device) if isinstance(value, np.ndarray) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "shape":
            self._a.shape = value
        else:
            object.__setattr__(self, name, value)

    # --- to the host: each of these waits for the device ------------------------------------------

    def get(self) -> np.ndarray:
        count["to host"] += 1
        return self._a.copy()

    def item(self, *args: Any) -> Any:
        count["to host"] += 1
        return self._a.item(*args)

    def tolist(self) -> Any:
        count["to host"] += 1
        return self._a.tolist()

    def __bool__(self) -> bool:
        count["to host"] += 1
        return bool(self._a)

    def __int__(self) -> int:
        count["to host"] += 1
        return int(self._a)

    def __float__(self) -> float:
        count["to host"] += 1
        return float(self._a)

    def __complex__(self) -> complex:
        count["to host"] += 1
        return complex(self._a)

    def __index__(self) -> int:
        count["to host"] += 1
        return operator.index(self._a)

    def __repr__(self) -> str:
        return f"device {self._a!r}"

    # --- indexing ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._a)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._a)))

    def __getitem__(self, index: Any) -> Any:
        index = _host(index)
        if _picks(index):
            _host(self)
            count["kernels"] += 1
        # A view, also of a single element, which NumPy would hand out as a number.
        part = self._a[(*index, ...) if _complete(self._a, index) else index]
        return _device(part, self._device)

    def __setitem__(self, index: Any, value: Any) -> None:
        count["kernels"] += 1
        _host(self)[_host(index)] = _host(value)


def _picks(index: Any) -> bool:
    return any(
        isinstance(i, np.ndarray | list) for i in (index if type(index) is tuple else (index,))
    )


def _complete(a: np.ndarray, index: Any) -> bool:
    return type(index) is tuple and len(index) == a.ndim and all(isinstance(i, int) for i in index)


def _host(value: Any) -> Any:
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
        return type(value)(map(_host, value)) if type(value) in (list, tuple) else value
    return value


def _device(value: Any, device: int | None = None) -> Any:
    """What the caller gets for a result: arrays, also where NumPy makes numbers of them."""
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(np.asarray(value), device)
    if isinstance(value, list | tuple):
        items = [_device(v, device) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _called(function: Callable[..., Any], args: Any, kwargs: Any, launches: bool = True) -> Any:
    if unknown := MISSING_ARGUMENTS & kwargs.keys():
        raise TypeError(f"CuPy's functions have no {unknown}")
    count["kernels"] += launches
    out = kwargs.get("out")
    result = function(*map(_host, args), **{k: _host(v) for k, v in kwargs.items()})
    return out if isinstance(out, ndarray) else _device(result)


def _method(array: ndarray, name: str, bound: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if name not in FREE:
            _host(array)
            return _called(bound, args, kwargs)
        with Device(array._device):  # a window is made wherever its array is
            return _called(bound, args, kwargs, launches=False)

    return call


def _operator(name: str) -> None:
    function = getattr(operator, name)
    plain = name.strip("_")

    def forward(self: ndarray, *other: Any) -> Any:
        if other and not isinstance(other[0], ndarray | int | float | complex | np.generic):
            if isinstance(other[0], np.ndarray):
                raise TypeError(f"Unsupported type {type(other[0])}")
            return NotImplemented
        return _called(function, (self, *other), {})

    def reflected(self: ndarray, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            raise TypeError(f"Unsupported type {type(other)}")
        return _called(function, (other, self), {})

    def in_place(self: ndarray, other: Any) -> ndarray:
        count["kernels"] += 1
        self._a = getattr(operator, f"i{plain}")(_host(self), _host(other))
        return self

    setattr(ndarray, f"__{plain}__", forward)
    if hasattr(operator, f"i{plain}"):
        setattr(ndarray, f"__r{plain}__", reflected)
        setattr(ndarray, f"__i{plain}__", in_place)


for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split():
    _operator(_name)
for _name in "eq ne lt le gt ge neg pos abs invert".split():
    _operator(_name)


class _Function:
    """A function of the module, or a ufunc with the methods that CuPy's have."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _called(self._function, args, kwargs, self._function.__name__ not in FREE)

    def __getattr__(self, name: str) -> Any:
        ufunc = self._function
        if not isinstance(ufunc, np.ufunc) or name not in ("at", "reduce", "accumulate", "outer"):
            raise AttributeError(name)
        if name == "reduce" and ufunc.__name__ not in REDUCING:
            raise NotImplementedError(f"CuPy's {ufunc.__name__}.reduce")
        return lambda *args, **kwargs: _called(getattr(ufunc, name), args, kwargs)


class _Module:
    """`cupy`, or a module in it."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name in MISSING or name.startswith("__"):
            raise AttributeError(f"CuPy has no {name}")
        value = getattr(self._module, name)
        if name == "ndarray":
            return ndarray
        if isinstance(value, type) or not callable(value):
            return _Module(value) if type(value) is type(np) else value
        return _Function(value)

    def asarray(self, a: Any, dtype: Any = None, order: Any = None) -> ndarray:
        return self.array(a, dtype, copy=None, order=order or "K")

    def array(self, a: Any, dtype: Any = None, copy: Any = True, order: str = "K") -> ndarray:
        """The way in: here, alone, CuPy takes arrays of the host."""
        if isinstance(a, ndarray):
            count["kernels"] += 1
            made = np.array(_host(a), dtype, copy=copy, order=order)
            return a if made is a._a else ndarray(made)
        count["to device"] += isinstance(a, np.ndarray)
        return ndarray(np.array(_unwrapped(a), dtype, copy=copy or None, order=order))


def _unwrapped(a: Any) -> Any:
    return [_unwrapped(v) for v in a] if isinstance(a, list | tuple) else getattr(a, "_a", a)


xp = _Module(np)
xp.cuda = cuda


def _from_host(array: np.ndarray, index: int | None) -> ndarray:
    count["to device"] += array.ndim > 0  # a single number is no more than an argument
    return ndarray(array.copy(order="K"), Device(index or 0).id)


def _window(buffer: ndarray, shape: Any, strides: Any, offset: int = 0) -> ndarray:
    flat = np.lib.stride_tricks.as_strided(buffer._a, (buffer.size,), (buffer.itemsize,))
    if buffer._a.flags.c_contiguous and buffer.size:
        return ndarray(np.ndarray(shape, buffer.dtype, flat, offset, strides), buffer._device)
    return ndarray(np.lib.stride_tricks.as_strided(buffer._a, shape, strides), buffer._device)


def _scatter(out: ndarray, places: ndarray, values: ndarray, how: str) -> None:
    count["kernels"] += 1
    if how == "multiply":  # as in the real backend, since CuPy's has no .at
        _combine_distinct(xp, out, places, values, how, rounds=-1)
    else:
        getattr(np, how).at(_host(out), _host(places), _host(values))


def _pointer(array: ndarray) -> int:
    address: int = array._a.__array_interface__["data"][0]
    return address


BACKEND = Backend(
    kind="cuda",
    xp=xp,
    array_type=ndarray,
    from_host=_from_host,
    to_host=ndarray.get,
    window=_window,
    pointer=_pointer,
    index_of=lambda array: array._device,
    scatter=_scatter,
    synchronize=lambda: None,
)


@contextmanager
def pretended(devices: int = 1) -> Iterator[Counter[str]]:
    """Within the block there are so many CUDA devices; gives the counts."""
    register(BACKEND)
    cuda.runtime.getDeviceCount = lambda: devices
    count.clear()
    try:
        yield count
    finally:
        unregister("cuda")
        current.device = 0
