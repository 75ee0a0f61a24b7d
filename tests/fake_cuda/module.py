"""`cupy`, the module: NumPy's functions under CuPy's names, and what CuPy lacks refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import called, ndarray, unwrapped
from .counts import launched, sent_to_device
from .runtime import cuda, pool

# NumPy's names that CuPy 14.2 lacks: compared on the two packages.
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
REDUCING = {"add", "multiply"}  # the ufuncs whose .reduce CuPy has for all types


class _Function:
    """A function of the module, or a ufunc with the methods that CuPy's have."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return called(self._function.__name__, self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        ufunc = self._function
        if not isinstance(ufunc, np.ufunc) or name not in ("at", "reduce", "accumulate", "outer"):
            raise AttributeError(name)
        if name == "reduce" and ufunc.__name__ not in REDUCING:
            raise NotImplementedError(f"CuPy's {ufunc.__name__}.reduce")
        title = f"{ufunc.__name__}.{name}"
        return lambda *args, **kwargs: called(title, getattr(ufunc, name), args, kwargs)


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
            made = np.array(unwrapped(a), dtype, copy=copy, order=order)
            if made is a._a:
                return a
            launched("array")
            return ndarray(made)
        sent_to_device("array")
        return ndarray(np.array(_plain(a), dtype, copy=copy or None, order=order))


def _plain(a: Any) -> Any:
    return [_plain(v) for v in a] if isinstance(a, list | tuple) else getattr(a, "_a", a)


xp = _Module(np)
xp.cuda = cuda
xp.get_default_memory_pool = lambda: pool
