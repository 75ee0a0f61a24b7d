"""`cupy`, the module: NumPy's functions, under the names and with the arguments that CuPy has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import names
from .array import called, ndarray, signatures, unwrapped
from .counts import launched, sent_to_device
from .runtime import cuda, pool


class _Function:
    """A function of the module: `check` refuses arguments that CuPy's does not take."""

    def __init__(self, name: str, function: Any, check: Callable[..., None]) -> None:
        self._name, self._function, self._check = name, function, check

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._check(*args, **kwargs)
        return called(self._name, self._function, args, kwargs)


class _Ufunc(_Function):
    """A ufunc, with the methods that CuPy's have, some of which always raise."""

    def __init__(self, name: str, function: Any) -> None:
        super().__init__(name, function, _check_ufunc)

    def _having(self, method: str, known: set[str]) -> Callable[..., Any]:
        if self._name not in known:
            raise NotImplementedError(f"CuPy's {self._name}.{method}")
        function, title = getattr(self._function, method), f"{self._name}.{method}"
        return lambda *args, **kwargs: called(title, function, args, kwargs)

    @property
    def at(self) -> Callable[..., Any]:
        return self._having("at", names.AT)

    @property
    def reduce(self) -> Callable[..., Any]:
        return self._having("reduce", names.REDUCING)

    @property
    def accumulate(self) -> Callable[..., Any]:
        return self._having("accumulate", names.REDUCING)

    @property
    def outer(self) -> Callable[..., Any]:
        return self._having("outer", {self._name})


def _check_ufunc(
    *args: Any, out: Any = None, casting: Any = None, dtype: Any = None, where: Any = None
) -> None:
    pass


def _functions(source: Any, table: str) -> dict[str, Any]:
    checks = signatures(table)
    return {name: _Function(name, getattr(source, name), check) for name, check in checks.items()}


class _Module:
    """`cupy`, or a module in it: what is listed, and nothing else."""

    def __init__(self, contents: dict[str, Any]) -> None:
        vars(self).update(contents)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"cupy has no {name!r} that tests/fake_cuda/names.py lists")


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> ndarray:
    return array(a, dtype, copy, order or "K")


def array(
    obj: Any, dtype: Any = None, copy: Any = True, order: str = "K", *, ndmin: int = 0
) -> ndarray:
    """The way in: here, alone, CuPy takes arrays of the host."""
    if isinstance(obj, ndarray):
        made = np.array(unwrapped(obj), dtype, copy=copy or None, order=order, ndmin=ndmin)
        if made is obj._a:
            return obj
        launched("array")
        return ndarray(made)
    sent_to_device("array")
    return ndarray(np.array(_plain(obj), dtype, copy=copy or None, order=order, ndmin=ndmin))


def _plain(a: Any) -> Any:
    return [_plain(v) for v in a] if isinstance(a, list | tuple) else getattr(a, "_a", a)


xp = _Module(
    {
        **{name: getattr(np, name) for name in names.VALUES},
        **_functions(np, names.FUNCTIONS),
        **{name: _Ufunc(name, getattr(np, name)) for name in names.UFUNCS},
        "array": array,
        "asarray": asarray,
        "cuda": cuda,
        "get_default_memory_pool": lambda: pool,
        "lib": _Module(
            {"stride_tricks": _Module(_functions(np.lib.stride_tricks, names.STRIDE_TRICKS))}
        ),
        "linalg": _Module(_functions(np.linalg, names.LINALG)),
        "ndarray": ndarray,
    }
)
