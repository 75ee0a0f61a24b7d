"""Reader: runs a pickle that holds data alone, without the pickle module.

Python's own `pickle.load` imports and calls whatever a file names. This machine knows a short list
of instructions and of names, and refuses all others; nothing is ever imported, no foreign function
called. Lesson 18.
"""

from __future__ import annotations

import pickletools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, ClassVar

from ..autograd.variable import Tensor
from ..device import Device
from ..dtype import DType
from ..nn.parameter import Parameter
from ..ops.interchange import leaf_on
from ..ops.window import Geometry
from ..shape import Size
from ..storage import Storage
from .names import (
    BYTES,
    DEVICE,
    DTYPE_NAMES,
    ENCODE,
    ORDERED_DICT,
    PARAMETER,
    SET,
    SIZE,
    STORAGE_NAMES,
    TENSOR,
    Global,
)

# What the machine's steps raise where the program makes no sense.
_DAMAGE = (
    *(ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError),
    DeprecationWarning,
)

LoadStorage = Callable[[DType, str, str, int], Storage]


class Reader:
    """Runs a pickle that holds data alone.

    `load_storage(dtype, key, location, numel)` gives the storage that the file keeps under `key`.
    """

    def __init__(self, load_storage: LoadStorage) -> None:
        self._load_storage = load_storage
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def value(self, program: bytes) -> Any:
        """What the program builds; UnpicklingError for a damaged one, and for instructions and
        names that are not on the list."""
        at: int | None = 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of names that are written in a wrong way
                for instruction, argument, place in pickletools.genops(program):
                    at = place
                    self._step(instruction.name, argument)
            (value,) = self._stack
            return value
        except _DAMAGE as error:
            raise UnpicklingError(f"the pickle is damaged at byte {at}: {error}") from error

    def _step(self, name: str, argument: Any) -> None:
        step = self._STEPS.get(name)
        if step is None:
            raise UnpicklingError(
                f"the file holds the pickle instruction {name}, which data alone does not need: "
                "tg.load runs no code from files"
            )
        step(self, argument)

    # --- values on the stack ----------------------------------------------------------------------

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _above_mark(self) -> list[Any]:
        mark = self._marks.pop()
        items = self._stack[mark:]
        del self._stack[mark:]
        return items

    def _last(self, n: int) -> list[Any]:
        if len(self._stack) < n:
            raise IndexError("the stack is too short")
        items = self._stack[-n:]
        del self._stack[-n:]
        return items

    def _skip(self, argument: Any) -> None:
        pass

    def _mark(self, argument: Any) -> None:
        self._marks.append(len(self._stack))

    def _none(self, argument: Any) -> None:
        self._push(None)

    def _true(self, argument: Any) -> None:
        self._push(True)

    def _false(self, argument: Any) -> None:
        self._push(False)

    def _put(self, number: int) -> None:
        self._memo[number] = self._stack[-1]

    def _memoize(self, argument: Any) -> None:
        self._put(len(self._memo))

    def _get(self, number: int) -> None:
        self._push(self._memo[number])

    # --- containers -------------------------------------------------------------------------------

    def _empty_list(self, argument: Any) -> None:
        self._push([])

    def _empty_dict(self, argument: Any) -> None:
        self._push({})

    def _empty_set(self, argument: Any) -> None:
        self._push(set())

    def _empty_tuple(self, argument: Any) -> None:
        self._push(())

    def _tuple(self, argument: Any) -> None:
        self._push(tuple(self._above_mark()))

    def _tuple1(self, argument: Any) -> None:
        self._push(tuple(self._last(1)))

    def _tuple2(self, argument: Any) -> None:
        self._push(tuple(self._last(2)))

    def _tuple3(self, argument: Any) -> None:
        self._push(tuple(self._last(3)))

    def _append(self, argument: Any) -> None:
        self._extend(self._last(1))

    def _appends(self, argument: Any) -> None:
        self._extend(self._above_mark())

    def _extend(self, items: list[Any]) -> None:
        self._top(list).extend(items)

    def _set_item(self, argument: Any) -> None:
        self._update(self._last(2))

    def _set_items(self, argument: Any) -> None:
        self._update(self._above_mark())

    def _update(self, items: list[Any]) -> None:
        target = self._top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[_hashable(key)] = value

    def _add_items(self, argument: Any) -> None:
        items = self._above_mark()
        self._top(set).update(map(_hashable, items))

    def _top(self, kind: type) -> Any:
        if not isinstance(self._stack[-1], kind):
            raise TypeError(f"a {kind.__name__} was to be filled, not a {type(self._stack[-1])}")
        return self._stack[-1]

    # --- names, and what is made with them --------------------------------------------------------

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._push(self._known(Global(module, name)))

    def _stack_global(self, argument: Any) -> None:
        module, name = self._last(2)
        self._push(self._known(Global(module, name)))

    def _known(self, name: Global) -> Any:
        if name.module == "builtins":
            name = Global("__builtin__", name.name)
        if name in DTYPE_NAMES:
            return DTYPE_NAMES[name]
        if name in STORAGE_NAMES or name in MAKERS:
            return name
        raise UnpicklingError(
            f"the file asks for {name}, which is not among what tg.load builds: it makes tensors "
            "and plain containers, and never runs or imports code that a file names"
        )

    def _reduce(self, argument: Any) -> None:
        name, arguments = self._last(2)
        if not isinstance(name, Global) or not isinstance(arguments, tuple):
            raise TypeError("something that is no name was to be called")
        self._push(MAKERS[name](*arguments))

    def _build(self, state: Any) -> None:
        (state,) = self._last(1)
        target = self._top(OrderedDict)
        if not isinstance(state, dict) or state.keys() - {"_metadata"}:
            raise UnpicklingError("the file sets attributes of a dict other than its _metadata")
        vars(target).update(state)

    def _persistent(self, argument: Any) -> None:
        (reference,) = self._last(1)
        what, kind, key, location, numel = reference
        if what != "storage" or kind not in STORAGE_NAMES:
            raise UnpicklingError(f"the file refers to a {what!r} of {kind}, not to a storage")
        if not (isinstance(key, str) and isinstance(location, str) and _is_count(numel)):
            raise TypeError(f"no reference to a storage: {reference!r}")
        self._push(self._load_storage(STORAGE_NAMES[kind], key, location, numel))

    _STEPS: ClassVar[dict[str, Callable[[Reader, Any], None]]] = {
        "PROTO": _skip,
        "FRAME": _skip,
        "STOP": _skip,
        "MARK": _mark,
        "NONE": _none,
        "NEWTRUE": _true,
        "NEWFALSE": _false,
        **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"), _push),
        **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"), _push),
        **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"), _push),
        "EMPTY_LIST": _empty_list,
        "EMPTY_DICT": _empty_dict,
        "EMPTY_SET": _empty_set,
        "EMPTY_TUPLE": _empty_tuple,
        "TUPLE": _tuple,
        "TUPLE1": _tuple1,
        "TUPLE2": _tuple2,
        "TUPLE3": _tuple3,
        "APPEND": _append,
        "APPENDS": _appends,
        "SETITEM": _set_item,
        "SETITEMS": _set_items,
        "ADDITEMS": _add_items,
        "BINPUT": _put,
        "LONG_BINPUT": _put,
        "MEMOIZE": _memoize,
        "BINGET": _get,
        "LONG_BINGET": _get,
        "GLOBAL": _global,
        "STACK_GLOBAL": _stack_global,
        "REDUCE": _reduce,
        "BUILD": _build,
        "BINPERSID": _persistent,
    }


def _hashable(key: Any) -> Any:
    """`key`, if it is plain: what is nested deeply could exhaust the machine's stack in hash()."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(not isinstance(v, str | bytes | int | float | None | DType) for v in parts):
        raise TypeError(f"the key of a dict, or an element of a set, is a {type(key).__name__}")
    return key


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _counts(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple) or not all(map(_is_count, values)):
        raise TypeError(f"sizes, strides and offsets are whole numbers, not {values!r}")
    return values


def _make_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, *more: Any
) -> Tensor:
    window = Geometry(_counts(size), _counts(stride), *_counts((offset,)))
    if not isinstance(storage, Storage) or type(requires_grad) is not bool:
        raise TypeError("a tensor is to be made of something that is no storage")
    if len(window.shape) != len(window.stride) or window.end() > storage.size():
        raise ValueError(
            f"a tensor of size {list(window.shape)}, stride {list(window.stride)} and offset "
            f"{offset} reaches outside of its storage of {storage.size()} elements"
        )
    if hooks or any(more):
        raise UnpicklingError("a tensor with hooks or metadata, which would have to run code")
    if requires_grad and not storage.dtype.is_floating_point:
        raise TypeError(f"a tensor of {storage.dtype!r} is to require a gradient")
    return leaf_on(Tensor, storage, window, requires_grad)


def _make_parameter(data: Any, requires_grad: Any, hooks: Any) -> Parameter:
    if type(data) is not Tensor or type(requires_grad) is not bool or hooks:
        raise TypeError("a Parameter is to be made of something that is no tensor")
    return Parameter(data, requires_grad)


def _make_ordered_dict(*items: Any) -> OrderedDict[Any, Any]:
    result: OrderedDict[Any, Any] = OrderedDict()
    for pairs in items:
        result.update((_hashable(key), value) for key, value in pairs)
    return result


def _make_set(items: Any) -> set[Any]:
    return set(map(_hashable, items))


def _make_size(sizes: Any) -> Size:
    return Size(_counts(sizes))


def _make_bytes(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise TypeError("bytes are kept as text in latin1")
    return text.encode("latin1")


def _make_no_bytes() -> bytes:
    return b""


def _make_device(*what: Any) -> Device:
    return Device(*what)


MAKERS: dict[Global, Callable[..., Any]] = {
    TENSOR: _make_tensor,
    PARAMETER: _make_parameter,
    ORDERED_DICT: _make_ordered_dict,
    SET: _make_set,
    SIZE: _make_size,
    ENCODE: _make_bytes,
    BYTES: _make_no_bytes,
    DEVICE: _make_device,
}
