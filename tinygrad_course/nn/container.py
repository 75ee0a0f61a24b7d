"""Sequential: modules that run one after the other.

A container is a Module whose children are its contents, under the names '0', '1', … or those of a
dict. Knows nothing of what they compute. Lesson 09.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from ..shape import as_int
from .module import Module


class Sequential(Module):
    """Passes its input through its modules in order: `Sequential(a, b)(x)` is `b(a(x))`.

    Takes modules, or one dict of name → module. An index gives a module, a slice a Sequential of
    the same modules. TypeError for what is no Module, IndexError for a place that does not exist.

    >>> from tinygrad_course import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def _name_at(self, index: Any) -> str:
        place = as_int(index, "index")
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range for {len(self)} modules")
        return list(self._modules)[place]

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        for place, module in enumerate(modules):
            self.add_module(str(place), module)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Sequential:
        """Adds a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        """Adds modules at the end, in order; returns self."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Puts a module before the one at `index`; returns self. The names are numbered anew."""
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} modules")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Takes the module at `index` (the last) out and returns it."""
        module: Module = self[index]
        del self[index]
        return module
