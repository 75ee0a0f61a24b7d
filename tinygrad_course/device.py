"""Devices: the one place that knows which array library holds a tensor's numbers.

A `Backend` is a small record for one kind of device: its array module (`xp`) and the few things on
which NumPy and CuPy truly differ. Everything above asks this module for `xp` and calls names both
libraries share. CuPy is imported here alone, and only when a CUDA device is first asked for. Lesson
16.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Array = Any  # an ndarray of NumPy or CuPy


class Backend:
    """What the engine needs to know of one kind of device.

    `xp` is the array module (with CUDA's runtime as `xp.cuda` on a GPU), `array_type` its array
    class, `from_host(array, index)` and `to_host(array)` copy, `window(buffer, shape, strides,
    offset)` lays a view with byte strides and a byte offset on a flat buffer, `pointer(array)` is
    the address of its first element, `index_of(array)` the number of its device. `scatter(out,
    places, values, how)` combines each values[i] with out[places[i]], also where places repeat:
    `how` is "add", "multiply", "maximum" or "minimum", `out` a vector or a matrix of rows in
    row-major memory. `kernel(source, name)`
    compiles CUDA C++ into what is called with grid, block and arguments; None where there is none.
    """

    __slots__ = (
        "array_type",
        "from_host",
        "index_of",
        "kernel",
        "kind",
        "pointer",
        "scatter",
        "to_host",
        "window",
        "xp",
    )

    def __init__(
        self,
        kind: str,
        xp: Any,
        array_type: type,
        from_host: Callable[[Any, Any], Array],
        to_host: Callable[[Array], Any],
        window: Callable[..., Array],
        pointer: Callable[[Array], int],
        index_of: Callable[[Array], int | None],
        scatter: Callable[[Array, Array, Array, str], None],
        kernel: Callable[[str, str], Callable[..., None]] | None = None,
    ) -> None:
        self.kind = kind
        self.xp = xp
        self.array_type = array_type
        self.from_host = from_host
        self.to_host = to_host
        self.window = window
        self.pointer = pointer
        self.index_of = index_of
        self.scatter = scatter
        self.kernel = kernel


def _numpy_window(
    buffer: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
) -> Array:
    try:
        return np.ndarray(shape, buffer.dtype, buffer, offset, strides)
    except ValueError:  # the buffer has gaps, or is empty: as_strided takes ten times as long
        return np.lib.stride_tricks.as_strided(buffer, shape, strides)


def _numpy_scatter(out: Array, places: Array, values: Array, how: str) -> None:
    if out.ndim == 2 and places.size <= len(out):
        places, values = _combine_distinct(np, out, places, values, how, rounds=5)
    if out.ndim == 2:  # ufunc.at is fast on vectors alone: 1.3 instead of 6 ms for 1e5 rows of 8
        width = out.shape[1]
        places = (places[:, None] * width + np.arange(width)).reshape(-1)
        out, values = out.reshape(-1), values.reshape(-1)
    getattr(np, how).at(out, places, values)


def _combine_distinct(
    xp: Any, out: Array, places: Array, values: Array, how: str, rounds: int
) -> tuple[Array, Array]:
    """Combines the values in rounds in which no place comes twice, six times as fast for rows as
    one by one; returns those that are left after so many rounds, where a place repeats often."""
    first = xp.empty(len(out), xp.int64)
    left = xp.arange(places.size)
    while left.size and rounds:
        here = places[left]
        first[here[::-1]] = left[::-1]  # of those with equal places, one stays written
        now = first[here] == left
        chosen = left[now]
        there = places[chosen]
        rows = out.take(there, 0)  # in half the time of brackets
        out[there] = getattr(xp, how)(rows, values.take(chosen, 0), out=rows)
        left, rounds = left[~now], rounds - 1
    return places[left], values[left]


def _numpy_pointer(array: Array) -> int:
    pointer: int = array.__array_interface__["data"][0]
    return pointer


CPU = Backend(
    kind="cpu",
    xp=np,
    array_type=np.ndarray,
    from_host=lambda array, index: array,
    to_host=lambda array: array,
    window=_numpy_window,
    pointer=_numpy_pointer,
    index_of=lambda array: None,
    scatter=_numpy_scatter,
)

_by_type: dict[type, Backend] = {np.ndarray: CPU}
_by_kind: dict[str, Backend] = {"cpu": CPU}
_unavailable: dict[str, str] = {}


def register(backend: Backend) -> None:
    """Makes `backend` the one of its kind; the tests register a stand-in for CUDA this way."""
    _by_kind[backend.kind] = backend
    _by_type[backend.array_type] = backend


def unregister(kind: str) -> None:
    """Forgets the backend of `kind`; arrays that live on it stay as they are."""
    backend = _by_kind.pop(kind)
    del _by_type[backend.array_type]
    _unavailable.pop(kind, None)


def backend_of(array: Array) -> Backend:
    """The backend on which `array` lives; a NumPy scalar lives on the CPU."""
    return _by_type.get(type(array), CPU)


def xp_of(array: Array) -> Any:
    """The array module of `array`: numpy or cupy."""
    return _by_type.get(type(array), CPU).xp


def _load_cupy() -> Backend:
    try:
        import cupy
    except ImportError as error:
        raise RuntimeError(
            "CUDA needs CuPy, which is not installed: pip install 'tinygrad-course[cuda12]' (or "
            "cuda13)"
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"CuPy is installed but finds no usable CUDA driver: {error}") from error
    if count == 0:
        raise RuntimeError("CuPy is installed but this machine has no CUDA device")

    def from_host(array: Any, index: int) -> Array:
        cupy.cuda.Device(index).use()
        if array.ndim == 0:  # goes along as an argument, without a copy
            return cupy.full((), array.item(), array.dtype)
        return cupy.asarray(array)

    def window(
        buffer: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
    ) -> Array:
        return cupy.ndarray(shape, buffer.dtype, buffer.data + offset, strides)

    def scatter(out: Array, places: Array, values: Array, how: str) -> None:
        if how == "add" and out.dtype == "int64":  # the sum has the same bits
            out, values = out.view("uint64"), values.view("uint64")
        atomic = ("float32", "float64", "int32", "uint64")
        if how != "multiply" and out.dtype in atomic:
            getattr(cupy, how).at(out, places, values)
        else:  # CuPy has no .at for these
            _combine_distinct(cupy, out, places, values, how, rounds=-1)

    return Backend(
        kind="cuda",
        xp=cupy,
        array_type=cupy.ndarray,
        from_host=from_host,
        to_host=cupy.asnumpy,
        window=window,
        pointer=lambda array: int(array.data.ptr),
        index_of=lambda array: int(array.device.id),
        scatter=scatter,
        kernel=lambda source, name: cupy.RawModule(code=source).get_function(name),
    )


def backend_for(kind: str) -> Backend:
    """The backend of a kind of device; RuntimeError says why when there is none."""
    backend = _by_kind.get(kind)
    if backend is None:
        if kind not in _unavailable:
            try:
                register(_load_cupy())
                return _by_kind[kind]
            except RuntimeError as error:
                _unavailable[kind] = str(error)
        raise RuntimeError(f"device {kind!r} cannot be used: {_unavailable[kind]}")
    return backend


def loaded(kind: str) -> bool:
    """Whether the backend of `kind` has been asked for, and is there."""
    return kind in _by_kind


def unavailable_reason() -> str | None:
    """Why no CUDA device can be used, or None when one can (tg.cuda.unavailable_reason)."""
    try:
        backend_for("cuda")
    except RuntimeError as error:
        return str(error)
    return None


class Device:
    """Where a tensor lives: `tg.device("cpu")`, `tg.device("cuda:0")`, `tg.device("cuda", 0)`.

    "cuda" without a number is the current device, `tg.device(1)` is "cuda:1" where there is CUDA.
    Within `with tg.device("cuda"):` factories make tensors there unless told otherwise.

    >>> Device("cuda:1").type, Device("cuda:1").index
    ('cuda', 1)
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | Device | int, index: int | None = None) -> None:
        if isinstance(type, Device) and index is None:
            self.type, self.index = type.type, type.index
            return
        if index is None and type in ("cpu", "cuda"):
            self.type, self.index = str(type), None
            return
        if isinstance(type, int) and not isinstance(type, bool) and index is None:
            type, index = "cuda", int(type)
            if index >= 0 and (reason := unavailable_reason()):
                raise RuntimeError(
                    f"Cannot access accelerator device when none is available: {reason}"
                )
        if not isinstance(type, str) or not isinstance(index, int | None):
            raise TypeError(
                f"device() takes a name like 'cuda:0', a name and a number, or a number, not "
                f"{type!r} and {index!r}"
            )
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, and is {index}")
        kind, colon, number = type.partition(":")
        if kind not in ("cpu", "cuda"):
            raise RuntimeError(
                f"Expected one of cpu, cuda device type at start of device string: {type!r}"
            )
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: "
                    f"{type!r} and {index}"
                )
            if not re.fullmatch(r"0|[1-9][0-9]*", number):
                raise RuntimeError(f"Invalid device string: {type!r}; e.g. 'cuda:0' is one")
            index = int(number)
        self.type = kind
        self.index = index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, tuple[str, int | None]]:
        return Device, (self.type, self.index)

    def __enter__(self) -> Device:
        defaults.former.append(defaults.device)
        set_default_device(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        defaults.device = defaults.former.pop()


_CPU_DEVICE = Device("cpu")


class _Defaults(threading.local):
    """The device on which a thread's factories make tensors when none is given, None for the CPU,
    and those of the blocks around; and the number of its current CUDA device."""

    device: Device | None = None
    current = 0

    def __init__(self) -> None:
        self.former: list[Device | None] = []


defaults = _Defaults()
# Called when a device is named that is not the current one: operations then have to follow.
elsewhere: list[Callable[[], None]] = []


def set_default_device(device: Any) -> None:
    """From now on this thread's factories make tensors on `device`; None is the CPU.

    >>> set_default_device("cpu"); get_default_device()
    device(type='cpu')
    """
    device = _CPU_DEVICE if device is None else Device(device)
    defaults.device = None if device.type == "cpu" else device


def get_default_device() -> Device:
    """The device on which factories make tensors when none is given."""
    return _CPU_DEVICE if defaults.device is None else with_index(defaults.device)


def chosen(device: Any) -> Device | None:
    """The device that a factory was given, or the default one; None is the CPU."""
    return defaults.device if device is None else Device(device)


def with_index(device: Device) -> Device:
    """The device as a tensor there names it: "cuda" is the current one, "cpu" has no number.

    RuntimeError for a device that is not there.
    """
    if device.type == "cpu":
        return _CPU_DEVICE
    backend = backend_for(device.type)
    if device.index is None:
        return Device(device.type, defaults.current)
    if device.index != defaults.current:
        count = backend.xp.cuda.runtime.getDeviceCount()
        if device.index >= count:
            raise RuntimeError(
                f"CUDA error: invalid device ordinal: {device} is not one of the {count} devices"
            )
        for follow in elsewhere:
            follow()
    return device


def make_current(index: int) -> None:
    """Makes a CUDA device the thread's current one."""
    backend_for("cuda").xp.cuda.Device(index).use()
    defaults.current = index


def go_to(array: Array) -> None:
    """Lets CuPy compute where `array` is until told otherwise; the current device stays."""
    backend = backend_of(array)
    if backend.kind == "cuda":
        backend.xp.cuda.Device(backend.index_of(array)).use()


def device_of(array: Array) -> Device:
    """The device on which `array` lives."""
    if type(array) is np.ndarray:
        return _CPU_DEVICE
    backend = backend_of(array)
    return Device(backend.kind, backend.index_of(array))


def move(array: Array, device: Device) -> Array:
    """`array` on `device`: itself when it is there already, else a copy in its memory order."""
    here, there = backend_of(array), backend_for(device.type)
    if there is CPU:
        return here.to_host(array)
    index = with_index(device).index
    if here is not there:
        return there.from_host(here.to_host(array), index)
    return array if here.index_of(array) == index else _between(array, there, index)


def _between(array: Array, backend: Backend, index: int | None) -> Array:
    """A copy from one CUDA device to another, which CuPy makes of row-major arrays alone."""
    axes = sorted(range(array.ndim), key=lambda dim: -array.strides[dim])
    backend.xp.cuda.Device(index).use()
    copy = array.transpose(axes).copy()
    return copy.transpose(np.argsort(axes).tolist())


def constant(table: Array, device: Device) -> Array:
    """A small NumPy array that many calls need alike, on a device, to which it is sent once."""
    if device.type == "cpu":
        return table
    return _sent(table.tobytes(), table.dtype.str, table.shape, with_index(device))


@lru_cache(maxsize=256)
def _sent(content: bytes, dtype: str, shape: tuple[int, ...], device: Device) -> Array:
    return move(np.frombuffer(content, dtype).reshape(shape), device)


def require_same(values: list[Any]) -> Any:
    """The array module of the arrays among `values`; RuntimeError, before any kernel runs, when
    they live on several devices, TypeError when there are none."""
    first: Device | None = None
    for value in values:
        if type(value) is np.ndarray:
            device = _CPU_DEVICE
        elif hasattr(value, "strides"):
            device = device_of(value)
        else:
            continue
        if first is None:
            first, xp = device, xp_of(value)
        elif device is not first and device != first:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{first} and "
                f"{device}! Move one with .to({str(first)!r}) or .to({str(device)!r})."
            )
    if first is None:
        raise TypeError("none of the arguments is a Tensor: wrap numbers in tg.tensor(...)")
    return xp
