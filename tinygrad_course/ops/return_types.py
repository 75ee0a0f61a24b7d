"""Named results: what `max(dim)`, `sort` and their like return, tuples whose items have names.

One type per operation, printed as PyTorch prints its own. They know nothing of tensors. Lesson 03.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar


class Named(tuple[Any, ...]):
    """A tuple whose items can also be asked for by name: `result.values` is `result[0]`."""

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]]

    def __new__(cls, items: Iterable[Any]) -> Named:
        result = super().__new__(cls, items)
        if len(result) != len(cls._fields):
            raise TypeError(
                f"{cls.__name__} takes {len(cls._fields)} items ({', '.join(cls._fields)}), not "
                f"{len(result)}"
            )
        return result

    def __repr__(self) -> str:
        pairs = zip(self._fields, self, strict=True)
        items = ",\n".join(f"{name}={item!r}" for name, item in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{items})"


def named(name: str, *fields: str) -> type[Named]:
    """A new type of named result.

    >>> named("pair", "first", "second")((1, 2)).second
    2
    """
    places: dict[str, Any] = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    contents = {"__slots__": (), "__module__": __name__, "_fields": fields, **places}
    return type(name, (Named,), contents)


aminmax = named("aminmax", "min", "max")
cummax = named("cummax", "values", "indices")
cummin = named("cummin", "values", "indices")
kthvalue = named("kthvalue", "values", "indices")
max = named("max", "values", "indices")
median = named("median", "values", "indices")
min = named("min", "values", "indices")
mode = named("mode", "values", "indices")
nanmedian = named("nanmedian", "values", "indices")
sort = named("sort", "values", "indices")
topk = named("topk", "values", "indices")
