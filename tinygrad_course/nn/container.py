"""Containers of modules: Sequential, ModuleList, ModuleDict.

A container is a Module whose children are its contents, under the names '0', '1', … or those of a
dict. Sequential alone can be called; it knows nothing of what its modules compute. Lesson 09.
"""

from __future__ import annotations

import textwrap
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import Any, TypeVar

from ..shape import as_int
from .module import Module

Self = TypeVar("Self", bound="ModuleRow")


class ModuleRow(Module):
    """What Sequential and ModuleList have in common: children in a row, found by place.

    IndexError for a place that does not exist, TypeError for what is no Module.
    """

    def _name_at(self, index: Any) -> str:
        place = as_int(index, "index")
        if not -len(self) <= place < len(self):
            raise IndexError(
                f"index {place} is out of range for a {type(self).__name__} of {len(self)} modules"
            )
        return list(self._modules)[place]

    def _part(self: Self, index: slice) -> Self:
        raise NotImplementedError

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self))

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self: Self, module: Module) -> Self:
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end, in order; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self: Self, index: int, module: Module) -> Self:
        """Puts a module before the one at `index`; returns self. The names are numbered anew.
        AssertionError for what is no Module."""
        if not isinstance(module, Module):
            raise AssertionError(
                f"module should be of type Module: {type(module).__name__} can't be put into a "
                f"{type(self).__name__}"
            )
        if not -len(self) <= index <= len(self):
            raise IndexError(
                f"index {index} is out of range for a {type(self).__name__} of {len(self)} modules"
            )
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Takes the module at a place, or a slice of them, out and returns it."""
        module = self[key]
        del self[key]
        return module


class Sequential(ModuleRow):
    """Passes its input through its modules in order: `Sequential(a, b)(x)` is `b(a(x))`.

    Takes modules, or one OrderedDict of name → module. An index gives a module, a slice a
    Sequential of the same modules; `+` joins two, `* n` repeats. TypeError for what is no Module,
    IndexError for a place that does not exist.

    >>> from tinygrad_course import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def _part(self, index: slice) -> Sequential:
        return type(self)(OrderedDict(list(self._modules.items())[index]))

    def __add__(self, other: Sequential) -> Sequential:
        self._require_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        self._require_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * self._factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        return self.extend(list(self) * (self._factor(other) - 1))

    def _require_sequential(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other).__name__} is given: use append or extend"
            )

    def _factor(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {type(self).__name__} and "
                f"{type(other).__name__}"
            )
        if other <= 0:
            raise ValueError(
                f"Non-positive multiplication factor {other} for {type(self).__name__}"
            )
        return other


class ModuleList(ModuleRow):
    """A list of modules that are filed as children, so that they are trained, moved and saved; it
    does not call them.

    TypeError for what is no Module, IndexError for a place that does not exist.

    >>> from tinygrad_course import nn
    >>> nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    ModuleList(
      (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _part(self, index: slice) -> ModuleList:
        return type(self)(list(self)[index])

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Neighbours that read the same are written once."""
        runs: list[tuple[int, int, str]] = []  # first and last place, text
        for place, module in enumerate(self):
            text = repr(module)
            first = runs.pop()[0] if runs and runs[-1][2] == text else place
            runs.append((first, place, text))
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        body = textwrap.indent("\n".join(lines), "  ")
        return f"{self._get_name()}(\n{body}\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dict of modules that are filed as children under their keys, in the order of insertion.

    KeyError for a key that does not exist or can't be a child's name, TypeError for what is no
    Module.

    >>> from tinygrad_course import nn
    >>> nn.ModuleDict({"act": nn.ReLU()})["act"]
    ReLU()
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Takes all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Takes the module at a key out and returns it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The keys, in order."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """(key, module), in order."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules, in order."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Takes modules over from a mapping, or from pairs of key and module."""
        for key, module in pairs_of(modules, self):
            self[key] = module


def pairs_of(values: Any, owner: Module) -> Iterable[tuple[str, Any]]:
    """(key, value) of a mapping, of a module that is like one, or of an iterable of pairs;
    TypeError or ValueError for what is none of them."""
    name = f"{type(owner).__name__}.update"
    if isinstance(values, Mapping) or hasattr(values, "items"):
        return list(values.items())
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{name} should be called with an iterable of key/value pairs, but got "
            f"{type(values).__name__}"
        )
    pairs = []
    for place, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name} sequence element #{place} should be Iterable; is {type(pair).__name__}"
            )
        if len(pair := tuple(pair)) != 2:
            raise ValueError(
                f"{name} sequence element #{place} has length {len(pair)}; 2 is required"
            )
        pairs.append(pair)
    return pairs
