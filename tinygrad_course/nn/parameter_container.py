"""Containers of parameters: ParameterList and ParameterDict.

Each is a Module that owns what is put into it, under the names '0', '1', … or those of a dict, so
that an optimizer finds it; a Tensor becomes a Parameter on the way in, and other values are kept as
they are. Not to be called. Lesson 09.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ..autograd.variable import Tensor
from ..shape import as_int
from .container import pairs_of
from .module import Module
from .parameter import Parameter


class ParameterContainer(Module):
    """What both have in common: values become parameters, and are written with type and size."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{type(self).__name__} should not be called: it only keeps parameters")

    def _file(self, name: str, value: Any) -> None:
        plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
        setattr(self, name, Parameter(value) if plain else value)

    def _contents(self) -> Iterable[tuple[Any, Any]]:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {self._text(value)}" for key, value in self._contents())

    def _text(self, value: Any) -> str:
        if not isinstance(value, Tensor):
            return f"Object of type: {type(value).__name__}"
        size = "x".join(map(str, value.shape))
        device = f" ({value.device})" if value.is_cuda else ""
        return f"Parameter containing: [{self._type(value)} of size {size}{device}]"

    def _type(self, value: Tensor) -> Any:
        return value.dtype


class ParameterList(ParameterContainer):
    """A list of parameters; a slice is a ParameterList of the same ones.

    IndexError for a place that does not exist.

    >>> import tinygrad_course as tg
    >>> tg.nn.ParameterList([tg.zeros(2, 3)])
    ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _place(self, index: Any) -> str:
        place = as_int(index, "index")
        if not -len(self) <= place < len(self):
            raise IndexError(
                f"index {place} is out of range for a {type(self).__name__} of {len(self)} values"
            )
        return str(place % len(self))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._place(index))

    def __setitem__(self, index: int, param: Any) -> None:
        self._file(self._place(index), param)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(place)) for place in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> ParameterList:
        return self.extend(parameters)

    def append(self, value: Any) -> ParameterList:
        """Adds a value at the end; returns self."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds values at the end, in order; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def _contents(self) -> Iterable[tuple[Any, Any]]:
        return enumerate(self)


class ParameterDict(ParameterContainer):
    """A dict of parameters, in the order of insertion; `update` from a plain dict sorts its keys.

    KeyError for a key that does not exist, TypeError for one that is no string.

    >>> import tinygrad_course as tg
    >>> tg.nn.ParameterDict({"w": tg.zeros(2)})["w"]
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to {type(self).__name__} cannot be used as a key as it is not a "
                f"string (type is {type(key).__name__})"
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._file(self._attribute(key), value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another ParameterDict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value at a key, where `default` is put if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Takes all values out."""
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes the value at a key out and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes the last (key, value) out and returns it; KeyError when empty."""
        if not self._keys:
            raise KeyError(f"popitem(): {type(self).__name__} is empty")
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value at a key, or `default`."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A ParameterDict with `default` at each of the keys."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The keys, in order."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """(key, value), in order."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values, in order."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Takes values over from a mapping, or from pairs of key and value."""
        pairs = pairs_of(parameters, self)
        unordered = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(pairs) if unordered else pairs:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def _contents(self) -> Iterable[tuple[Any, Any]]:
        return self.items()

    def _type(self, value: Tensor) -> Any:
        return value.type()
