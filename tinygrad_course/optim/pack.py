"""Pack: small parameters that move as one vector.

Steps of optimizers are elementwise, and a call of a kernel costs far more than ten numbers do. So
small parameters that take their first step together, or whose state is loaded, are gathered into a
vector, moved in one go and written back. What is remembered of them is one vector from the start,
on which every parameter's state is a window: nothing that a user can hold is ever put elsewhere.
Knows nothing of the algorithms. Lesson 14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from operator import attrgetter, is_not
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, backend_of, device_of, xp_of

Memory = dict[Tensor, dict[str, Any]]  # what an optimizer remembers of each parameter

SMALL = 16_384  # the numbers of a parameter above which copying them costs more than its own calls
FEW = 8  # as many parameters are quick one by one

_array_of = attrgetter("_array")
_grad_of = attrgetter("_meta.grad._array")  # AttributeError without a gradient, or for a sparse one


class Pack:
    """`parameters` as one vector: `x` their numbers, `g` their gradients, `state` what is
    remembered of them, vectors as well and numbers that count for all."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self.parameters = parameters
        self.arrays = [p._array for p in parameters]
        self.shapes = [a.shape for a in self.arrays]
        ends = accumulate((a.size for a in self.arrays), initial=0)
        self.places = [slice(start, end) for start, end in pairwise(ends)]
        xp, size = xp_of(self.arrays[0]), self.places[-1].stop
        self.x, self.g = (xp.empty(size, self.arrays[0].dtype) for _ in range(2))
        self.moved = self._windows(self.x)
        self.state: dict[str, Tensor] = {}
        self.numbers: dict[str, Array] = {}  # a number of `state`, once for each parameter
        self.entries: list[Any] = [None] * len(parameters)  # of the optimizer's memory
        self.kept: list[Array] = []  # the windows that are in `entries`

    def adopt(self, memory: Memory) -> None:
        """Lays what was loaded for the parameters on vectors."""
        entries = [memory[p] for p in self.parameters]
        for name, value in entries[0].items():
            arrays = [entry[name]._array for entry in entries]
            xp = xp_of(arrays[0])
            whole = xp.concatenate(arrays, axis=None) if value.ndim else arrays[0].copy()
            self.state[name] = Tensor._wrap(whole)
        for name in self.state:
            self._share(name, memory)

    def gather(self, memory: Memory) -> bool:
        """Fills `x` and `g`; or False when the parameters must move one by one this time: a
        gradient is missing, or something lies or is remembered elsewhere than before."""
        try:
            grads = list(map(_grad_of, self.parameters))
        except AttributeError:
            return False
        if (
            any(map(is_not, map(_array_of, self.parameters), self.arrays))
            or any(map(is_not, map(memory.get, self.parameters), self.entries))
            or (self.state and not self._intact())
            or [g.shape for g in grads] != self.shapes
        ):
            return False
        xp = xp_of(self.x)
        xp.concatenate(self.arrays, axis=None, out=self.x)
        xp.concatenate(grads, axis=None, out=self.g)
        return True

    def _intact(self) -> bool:
        """Whether every entry still holds its windows, and the numbers still agree."""
        held = list(map(_array_of, chain.from_iterable(map(dict.values, self.entries))))
        if len(held) != len(self.kept) or any(map(is_not, held, self.kept)):
            return False
        for name, numbers in self.numbers.items():
            if not (numbers == numbers[0]).all():
                return False
            self.state[name]._array[...] = numbers[0]
        return True

    def scatter(self, memory: Memory) -> None:
        """Writes the moved numbers back, and gives every parameter its part of what is new in
        `state`."""
        for parameter, array, moved in zip(self.parameters, self.arrays, self.moved, strict=True):
            array[...] = moved
            parameter._bump()
        for name, numbers in self.numbers.items():
            numbers[...] = self.state[name]._array
        for name in [name for name in self.state if name not in (self.entries[0] or ())]:
            self._share(name, memory)

    def _share(self, name: str, memory: Memory) -> None:
        value = self.state[name]._array
        if value.ndim:
            windows = self._windows(value)
        else:
            xp, n = xp_of(value), len(self.parameters)
            self.numbers[name] = numbers = xp.full(n, value, value.dtype)
            windows = [numbers[i : i + 1].reshape(()) for i in range(n)]
        for parameter, window in zip(self.parameters, windows, strict=True):
            memory[parameter][name] = Tensor._wrap(window)
        self.entries = [memory[p] for p in self.parameters]
        self.kept = [v._array for entry in self.entries for v in entry.values()]

    def _windows(self, vector: Array) -> list[Array]:
        pairs = zip(self.places, self.shapes, strict=True)
        return [vector[place].reshape(shape) for place, shape in pairs]


class Plan:
    """How the parameters of a group move: some in `packs`, the others `alone`."""

    def __init__(self, parameters: Sequence[Tensor], memory: Memory, loaded: bool = False) -> None:
        self.seen = list(parameters)
        self.packs = list(_packs(parameters, memory, _loaded if loaded else _first))
        if loaded:
            for pack in self.packs:
                pack.adopt(memory)
        packed = {id(p) for pack in self.packs for p in pack.parameters}
        self.alone = [p for p in parameters if id(p) not in packed]

    def fits(self, parameters: Sequence[Tensor]) -> bool:
        """Whether these are the parameters that the plan was made for."""
        same_number = len(parameters) == len(self.seen)
        return same_number and not any(map(is_not, parameters, self.seen))


def _packs(
    parameters: Sequence[Tensor], memory: Memory, kind: Callable[[Tensor, Memory], Any]
) -> Iterator[Pack]:
    """Packs of small parameters of one type and device and of one `kind`, None for those that stay
    alone."""
    alike: dict[Any, list[Tensor]] = {}
    for parameter in _apart(parameters):
        array, which = parameter._array, kind(parameter, memory)
        # A lone number would be taken for one that counts for all.
        small = array.ndim and 0 < array.size <= SMALL and array.flags.c_contiguous
        if small and which is not None:
            key = array.dtype, str(device_of(array)), which
            alike.setdefault(key, []).append(parameter)
    yield from (Pack(members) for members in alike.values() if len(members) >= FEW)


def _first(parameter: Tensor, memory: Memory) -> Any:
    """All that take their first step now are of one kind."""
    grad = parameter.grad
    return () if parameter not in memory and grad is not None and not grad.is_sparse else None


def _loaded(parameter: Tensor, memory: Memory) -> Any:
    """Of one kind are those for which the same was loaded: vectors of the same names, and the same
    numbers."""
    entry = memory.get(parameter)
    if not entry or not all(isinstance(v, Tensor) and not v.is_sparse for v in entry.values()):
        return None
    if any(v.ndim and v.shape != parameter.shape for v in entry.values()):
        return None
    return tuple((k, v.dtype, None if v.ndim else float(v)) for k, v in entry.items())


def _apart(parameters: Sequence[Tensor]) -> list[Tensor]:
    """The parameters without those that share memory with another one: a step of the one must see
    the other's."""
    spans = []
    for place, parameter in enumerate(parameters):
        array = parameter._array
        start = backend_of(array).pointer(array) if array.size else 0
        steps = ((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
        spans.append((str(device_of(array)), start, start + sum(steps) + array.itemsize, place))
    shared, furthest = set(), ("", 0, 0, 0)
    for span in sorted(spans):
        device, start, end, place = span
        if device == furthest[0] and start < furthest[2]:
            shared |= {place, furthest[3]}
        if device != furthest[0] or end > furthest[2]:
            furthest = span
    return [p for place, p in enumerate(parameters) if place not in shared]
