"""Flat: the parameters of a group side by side in one vector, so that a step takes a few calls.

Steps of optimizers are elementwise, and calling a kernel costs more than hundreds of numbers do. So
the parameters that are at the same stage move onto slices of one vector, and what is remembered of
them onto others: a step is then taken by whole vectors, and seen by every tensor on that memory.
Memory that somebody outside knows stays where it is, and its parameter moves alone. So do all, for
a step, when one lacks a gradient or lies elsewhere by now. Knows nothing of the algorithms. Lesson
14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from operator import is_not
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, go_to, xp_of
from ..kernels.many import gather, gatherable

Memory = dict[Tensor, dict[str, Any]]  # what an optimizer remembers of each parameter

# The numbers of a parameter above which a copy of its gradient costs more than calls of its own do.
SMALL = {"cpu": 8_192, "cuda": 4_194_304}


class Flat:
    """`parameters` as one vector: `x` are their numbers, `g` their gradients, `state` what is
    remembered of them, vectors as well and numbers that count for all."""

    def __init__(self, parameters: list[Tensor], memory: Memory) -> None:
        self.parameters = parameters
        self.stands = True  # until something is put elsewhere; then the next step plans anew
        self.x = _side_by_side(parameters)
        self.g = xp_of(self.x).empty_like(self.x)
        self.arrays = [p._array for p in parameters]
        self.shapes = [a.shape for a in self.arrays]
        self.state: dict[str, Tensor] = {}
        self.numbers: dict[str, Array] = {}  # a number of `state`, once for each parameter
        for name, value in memory.get(parameters[0], {}).items():
            vector = _side_by_side([memory[p][name] for p in parameters])
            if not value.ndim:
                self.numbers[name], vector = vector, vector[:1].copy().reshape(())
            self.state[name] = Tensor._wrap(vector)
        self._note_places(memory)

    def gather(self, memory: Memory) -> bool:
        """Fills `g`; or False when the parameters must move one by one this time: a gradient is
        missing, or something lies or is remembered elsewhere than before."""
        try:
            grads = [p._meta.grad._array for p in self.parameters]  # type: ignore[union-attr]
            kept = [entry[name]._array for name in self.state for entry in self.entries]
        except (AttributeError, KeyError, NotImplementedError):  # no gradient, or a sparse one
            return False
        arrays = [p._array for p in self.parameters]
        same = not any(map(is_not, chain(arrays, kept), chain(self.arrays, self.kept)))
        if not same or [g.shape for g in grads] != self.shapes or not self._remembered(memory):
            self.stands = False
            return False
        if gatherable([self.g, *grads]):
            gather(grads, self.g)
        else:
            xp_of(self.g).concatenate(grads, axis=None, out=self.g)
        return True

    def _remembered(self, memory: Memory) -> bool:
        """Whether `state` is what is remembered, and its numbers count for all."""
        if not self.state:
            return not any(map(memory.get, self.parameters))
        if any(map(is_not, map(memory.get, self.parameters), self.entries)):
            return False
        for name, numbers in self.numbers.items():
            if not (numbers == numbers[0]).all():
                return False
            self.state[name]._array[...] = numbers[0]
        return True

    def tell(self, memory: Memory) -> None:
        """Counts the change of every parameter, and gives it its part of what is new in `state`."""
        for parameter in self.parameters:
            parameter._bump()
        for name, numbers in self.numbers.items():
            numbers[...] = self.state[name]._array
        new = [name for name in self.state if name not in memory.get(self.parameters[0], {})]
        for name in new:
            for parameter, window in zip(self.parameters, self._windows(name), strict=True):
                memory[parameter][name] = Tensor._wrap(window)
        if new:
            self._note_places(memory)

    def _windows(self, name: str) -> list[Array]:
        """What is remembered by that name, for each parameter."""
        value, n = self.state[name]._array, len(self.parameters)
        if not value.ndim:
            self.numbers[name] = value = xp_of(value).full(n, value, value.dtype)
            return [value[i : i + 1].reshape(()) for i in range(n)]
        places = _places(self.arrays)
        return [value[p].reshape(shape) for p, shape in zip(places, self.shapes, strict=True)]

    def _note_places(self, memory: Memory) -> None:
        self.entries = [memory[p] for p in self.parameters if self.state]
        self.kept = [entry[name]._array for name in self.state for entry in self.entries]


def _side_by_side(tensors: list[Tensor]) -> Array:
    """A vector that the storages of `tensors` moved to."""
    arrays = [t._array for t in tensors]
    go_to(arrays[0])
    vector = xp_of(arrays[0]).empty(sum(a.size for a in arrays), arrays[0].dtype)
    for tensor, place in zip(tensors, _places(arrays), strict=True):
        tensor.storage().move_to(vector[place])
    return vector


def _places(arrays: list[Array]) -> list[slice]:
    """Where each array is when all stand side by side."""
    ends = accumulate((a.size for a in arrays), initial=0)
    return [slice(start, end) for start, end in pairwise(ends)]


# --- who moves with whom --------------------------------------------------------------------------


class Plan:
    """How the parameters of a group move: some in `flats`, the others `alone`."""

    def __init__(self, parameters: Sequence[Tensor], memory: Memory) -> None:
        self.seen = list(parameters)
        self.flats = [Flat(members, memory) for members in _alike(parameters, memory)]
        flat = {id(p) for members in self.flats for p in members.parameters}
        self.alone = [p for p in parameters if id(p) not in flat]

    def fits(self, parameters: Sequence[Tensor]) -> bool:
        """Whether these are the parameters that the plan was made for, as they were then."""
        if len(parameters) != len(self.seen) or any(map(is_not, parameters, self.seen)):
            return False
        return all(flat.stands for flat in self.flats)


def _alike(parameters: Sequence[Tensor], memory: Memory) -> list[list[Tensor]]:
    """Those that can move as one, in groups of one type, device and stage."""
    times = Counter(
        id(tensor.storage())
        for p in parameters
        for tensor in (p, *memory.get(p, {}).values())
        if _dense(tensor)
    )
    alike: dict[Any, list[Tensor]] = {}
    for parameter in parameters:
        grad, entry = parameter.grad, memory.get(parameter, {})
        if (
            _dense(grad)
            and parameter.ndim  # a lone number would be taken for one that counts for all
            and 0 < parameter.numel() <= SMALL[parameter.device.type]
            and all(_apart(tensor, times) for tensor in (parameter, *entry.values()))
            and all(v.shape == parameter.shape for v in entry.values() if v.ndim)
        ):
            alike.setdefault(_stage(parameter, entry), []).append(parameter)
    # Sizes that large powers of 2 divide come first, so that each begins at a multiple of its own:
    # where a GPU's matrix products read four numbers at once.
    for members in alike.values():
        members.sort(key=lambda p: -(p.numel() & -p.numel()))
    return [members for members in alike.values() if len(members) > 1]


def _dense(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_sparse


def _apart(tensor: Any, times: Counter[int]) -> bool:
    """Whether `tensor` has a storage of its own that can be put elsewhere."""
    if not _dense(tensor) or not tensor.is_contiguous():
        return False
    storage = tensor.storage()
    alone = times[id(storage)] == 1 and storage.size() == tensor.numel()
    return alone and storage.movable()


def _stage(parameter: Tensor, entry: dict[str, Any]) -> Any:
    """What is equal for those that move as one: types, devices, names and numbers in their
    state."""
    remembered = (
        (name, value.dtype, value.device, None if value.ndim else float(value))
        for name, value in entry.items()
    )
    return parameter.dtype, parameter.device, *remembered
