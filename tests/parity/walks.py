"""Random programs, run in both engines: operations, views, in-place changes, detach, no_grad,
backward.

A program is a list of steps of plain data, which `run` carries out in one library, noting what can
be seen after each. `first_difference` compares two such logs, and `shrink` leaves away what a
difference doesn't need. `python -m tests.parity.walks 5000` tries that many programs.
"""

from __future__ import annotations

import random
import sys
import warnings
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np
import torch

import tinygrad_course as tg

from .calls import tensor

Step = tuple[Any, ...]

UNARY = (
    "neg",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "abs",
    "relu",
    "square",
    "exp",
    "clone",
    "contiguous",
    "floor",
)
BINARY = ("add", "sub", "mul", "true_divide", "maximum", "lt", "eq")
REDUCE = ("sum", "mean", "amax", "logsumexp")
CHANGE_UNARY = (
    "neg_",
    "sin_",
    "tanh_",
    "sigmoid_",
    "abs_",
    "relu_",
    "exp_",
    "zero_",
    "sqrt_",
    "square_",
    "floor_",
)
CHANGE_BINARY = ("add_", "sub_", "mul_", "true_divide_", "copy_")


# --- making ---------------------------------------------------------------------------------------


class Maker:
    """Writes one program; keeps the shapes of its tensors to make mostly sensible steps."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shapes: list[tuple[int, ...]] = []
        self.bools: set[int] = set()
        self.steps: list[Step] = []

    def program(self, length: int) -> list[Step]:
        for _ in range(self.random.randint(1, 3)):
            self.leaf()
        kinds = (
            [self.unary] * 3
            + [self.binary] * 4
            + [self.view] * 6
            + [self.change] * 6
            + [self.put] * 3
            + [self.reduce, self.cut, self.cut, self.index, self.leaf, self.backward, self.flag]
            + [self.grad]
        )
        while len(self.steps) < length:
            before = len(self.steps)
            self.random.choice(kinds)()
            kind = self.steps[before][0] if len(self.steps) > before else ""
            # Not for views: PyTorch says that one made under no_grad of a tensor that requires grad
            # requires it too; ours doesn't.
            if kind in ("call", "change", "put", "cut") and self.random.random() < 0.1:
                self.steps[before] = ("no_grad", self.steps[before])
        return self.steps

    def add(self, step: Step, *shapes: Any) -> None:
        self.steps.append(step)
        self.shapes += shapes

    def any(self) -> int:
        # Recent tensors more often than old ones; none of the bools, which end every path.
        while True:
            i = len(self.shapes) - 1 - int(len(self.shapes) * self.random.random() ** 2)
            if i not in self.bools:
                return i

    def like(self, shape: tuple[int, ...]) -> Any:
        """A tensor that broadcasts into `shape`, or a number."""
        fitting = [i for i, s in enumerate(self.shapes) if _fits(s, shape) and i not in self.bools]
        if fitting and self.random.random() < 0.75:
            return ("tensor", self.random.choice(fitting))
        return self.random.choice([0.5, -1.25, 2])

    def leaf(self) -> None:
        shape = tuple(
            self.random.choice([1, 2, 3, 3]) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))
        )
        self.add(("leaf", shape, self.random.random() < 0.6, len(self.shapes)), shape)

    def unary(self) -> None:
        i = self.any()
        self.add(("call", self.random.choice(UNARY), i), self.shapes[i])

    def binary(self) -> None:
        i, name = self.any(), self.random.choice(BINARY)
        if name in ("lt", "eq"):
            self.bools.add(len(self.shapes))
        self.add(("call", name, i, self.like(self.shapes[i])), self.shapes[i])

    def reduce(self) -> None:
        i = self.any()
        shape = self.shapes[i]
        dim = self.random.randrange(len(shape)) if shape else 0
        self.add(("call", self.random.choice(REDUCE), i, dim), shape[:dim] + shape[dim + 1 :])

    def cut(self) -> None:
        i = self.any()
        kind = self.random.choice(["detach", "detach", "data"])
        self.add(("cut", kind, i), self.shapes[i])

    def flag(self) -> None:
        kind = self.random.choice(["requires_grad_", "retain_grad", "detach_", "hook"])
        # Nothing that changes whether there are gradients once there are views: PyTorch makes
        # theirs anew or not, depending on when one looks.
        fresh = self.steps[-1][0] in ("leaf", "call", "cut")
        self.add(("flag", kind, len(self.shapes) - 1 if fresh else self.any()))
        if kind in ("requires_grad_", "detach_") and not fresh:
            self.steps.pop()

    def backward(self) -> None:
        self.add(("backward", self.any(), self.random.random() < 0.5))

    def grad(self) -> None:
        i, j = self.any(), self.any()
        self.add(("grad", i, j, self.random.random() < 0.7), self.shapes[j])

    def change(self) -> None:
        i = self.any()
        if self.random.random() < 0.5:
            self.add(("change", self.random.choice(CHANGE_UNARY), i))
        else:
            self.add(("change", self.random.choice(CHANGE_BINARY), i, self.like(self.shapes[i])))

    def view(self) -> None:
        i = self.any()
        shape = self.shapes[i]
        n, pick = len(shape), self.random
        kinds: list[tuple[Any, ...]] = [
            ("unsqueeze", pick.randrange(n + 1)),
            ("view", -1),
            ("expand", (2, *shape)),
        ]
        if n:
            d = pick.randrange(n)
            kinds += [
                ("select", d, pick.randrange(shape[d])),
                ("squeeze", d),
                ("flatten",),
                ("split", 1, d),
                ("unbind", d),
                ("chunk", 2, d),
            ]
            start = pick.randrange(shape[d])
            kinds += [
                ("narrow", d, start, pick.randint(1, shape[d] - start)),
                ("unfold", d, 1, 1),
                ("expand_as_new",),
            ]
            kinds += [("as_strided", (shape[d],), (1,), 0)]
        if n >= 2:
            kinds += [
                ("transpose", 0, n - 1),
                ("permute", tuple(pick.sample(range(n), n))),
                ("reshape", (-1, shape[0])),
            ]
        kind = pick.choice(kinds)
        if kind[0] == "expand_as_new":
            kind = (
                "expand",
                (pick.choice([1, 2]), *(m if m > 1 else pick.choice([1, 2]) for m in shape)),
            )
        parts = pick.randrange(shape[kind[-1]]) if kind[0] in ("split", "unbind", "chunk") else None
        shadow = np.empty(shape)
        view = getattr(tensor(torch, shadow), kind[0])(*kind[1:])
        if parts is not None:
            parts = min(parts, len(view) - 1)
            view = view[parts]
        self.add(("view", kind, i, parts), tuple(view.shape))

    def place(self, shape: tuple[int, ...]) -> Any:
        """An index into `shape`, written as plain data."""
        pick = self.random
        if not shape:
            return pick.choice(["...", ()])
        n = shape[0]
        return pick.choice(
            [
                pick.randrange(n),
                ("slice", 0, n, 2),
                ("slice", pick.randrange(n), n, 1),
                "...",
                ("None", "..."),
                ("list", [pick.randrange(n) for _ in range(2)]),
                ("mask", [True] + [pick.random() < 0.6 for _ in range(n - 1)]),
                ("tuple", ("slice", 0, n, 1), *(pick.randrange(m) for m in shape[1:2])),
            ]
        )

    def index(self) -> None:
        i = self.any()
        place = self.place(self.shapes[i])
        shape = np.empty(self.shapes[i])[_place(place)].shape
        self.add(("index", i, place), shape)

    def put(self) -> None:
        i = self.any()
        place = self.place(self.shapes[i])
        shape = np.empty(self.shapes[i])[_place(place)].shape
        self.add(("put", i, place, self.like(shape)))


def _fits(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    pairs = zip(reversed(small), reversed(large), strict=False)
    return len(small) <= len(large) and all(n in (1, m) for n, m in pairs)


def _place(place: Any) -> Any:
    """The index that plain data stands for."""
    if place == "...":
        return Ellipsis
    if isinstance(place, tuple) and place:
        kind, *rest = place
        if kind == "slice":
            return slice(*rest)
        if kind == "None":
            return (None, _place(rest[0]))
        if kind == "tuple":
            return tuple(map(_place, rest))
        if kind in ("list", "mask"):
            return rest[0]
    return place


# --- running --------------------------------------------------------------------------------------


class Runner:
    """Carries a program out in one library; `log` has what can be seen after each step."""

    def __init__(self, lib: ModuleType) -> None:
        self.lib = lib
        self.pool: list[Any] = []
        self.log: list[Any] = []
        self.hooked: list[Any] = []

    def run(self, steps: list[Step]) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in steps:
                self.log.append(self.step(step))
            self.finish()
        return self.log

    def step(self, step: Step) -> Any:
        makes = _makes(step)
        if makes:
            self.pool.append(None)
        try:
            result = self.perform(step)
            if makes:
                self.pool[-1] = result
            else:
                self.look()
            return self.seen(result) if isinstance(result, self.lib.Tensor) else result
        except Exception as error:
            return type(error).__name__

    def look(self) -> None:
        """Asks all tensors for their history: until then PyTorch takes a view that was made before
        its base had one for a leaf."""
        for x in self.pool:
            with suppress(RuntimeError, AttributeError):
                x.grad_fn  # noqa: B018

    def operand(self, value: Any) -> Any:
        if isinstance(value, tuple) and value and value[0] == "tensor":
            found = self.pool[value[1]]
            if found is None:
                raise LookupError("an earlier step failed")
            return found
        return value

    def leave_alone(self, kind: str, x: Any, others: list[Any]) -> None:
        """Gives up what has no one right answer: the layout of a result of tensors that lie
        differently, and changes in place where operands share memory but are not the same."""
        for other in others:
            if not isinstance(other, self.lib.Tensor):
                continue
            if kind == "call" and _steps(other) != _steps(x):
                if not (x.is_contiguous() and other.is_contiguous()):
                    raise LookupError("laid out differently")
            elif kind == "put" or (kind == "change" and x is not other):
                if _start(x) != _start(other):
                    continue
                raise LookupError("in the same memory")
        if kind != "call" and 0 in x.stride():
            raise LookupError("overlaps itself")

    def perform(self, step: Step) -> Any:
        kind, *rest = step
        lib = self.lib
        if kind == "no_grad":
            with lib.no_grad():
                return self.perform(rest[0])
        if kind == "leaf":
            shape, requires_grad, seed = rest
            return lib.tensor(
                _numbers(shape, seed).tolist(), dtype=lib.float64, requires_grad=requires_grad
            )
        if kind in ("call", "change"):
            name, i, *others = rest
            x, others = self.operand(("tensor", i)), [*map(self.operand, others)]
            self.leave_alone(kind, x, others)
            return getattr(x, name)(*others)
        if kind == "view":
            (name, *arguments), i, part = rest
            result = getattr(self.operand(("tensor", i)), name)(*arguments)
            return result if part is None else result[part]
        if kind == "cut":
            x = self.operand(("tensor", rest[1]))
            return x.detach() if rest[0] == "detach" else x.data
        if kind == "flag":
            x = self.operand(("tensor", rest[1]))
            if rest[0] == "hook":
                if x._base is not None:  # on some views PyTorch 2.13 dies of this
                    raise LookupError("no hooks on views")
                x.register_hook(lambda g: self.hooked.append(_plain(g)))
            else:
                getattr(x, rest[0])()
            return x
        if kind == "index":
            return self.operand(("tensor", rest[0]))[_place(rest[1])]
        if kind == "put":
            x = self.operand(("tensor", rest[0]))
            value = self.operand(rest[2])
            self.leave_alone(kind, x, [value])
            x[_place(rest[1])] = value
            return x
        x = self.operand(("tensor", rest[0]))
        if kind == "grad":
            # Twice: PyTorch runs the hooks of a single root also where no input is behind it.
            (g,) = lib.autograd.grad(
                [x, x],
                self.operand(("tensor", rest[1])),
                [self.weights(x), self.weights(x)],
                retain_graph=True,
                create_graph=rest[2],
                allow_unused=True,
            )
            # In fresh memory: how a gradient lies, and of which version it is, is nobody's promise.
            # And away from 0, where the last bit would decide comparisons and kinks.
            return None if g is None else g.contiguous() + 0.125
        x.backward(self.weights(x), retain_graph=rest[1])
        return [self.grad(t) for t in self.pool]

    def weights(self, x: Any) -> Any:
        return self.lib.tensor(_numbers(tuple(x.shape), 99).tolist(), dtype=x.dtype)

    def seen(self, x: Any) -> Any:
        fn = x.grad_fn  # first: PyTorch finds the new history of a stale view when asked for this
        # How fresh results lie is in the samples; of several tensors that lie differently it is
        # nobody's promise.
        return (
            tuple(x.shape),
            _steps(x) if x._base is not None else None,
            x.requires_grad,
            fn is None,
            x.is_leaf,
            x._version,
            x.output_nr if fn else 0,
            x._base is None,
        )

    def grad(self, x: Any) -> Any:
        return None if x is None or x.grad is None else _plain(x.grad)

    def finish(self) -> None:
        """Everything that can be seen in the end, then a backward pass through all."""
        alive = [x for x in self.pool if x is not None]
        for x in alive:
            try:
                self.log.append((self.seen(x), _plain(x)))
            except Exception as error:
                self.log.append(type(error).__name__)
        try:
            roots = [x for x in alive if x.requires_grad]
            self.lib.autograd.backward(roots, [self.weights(x) for x in roots])
            self.log.append("backward")
        except Exception as error:
            self.log.append(type(error).__name__)
        self.log += [self.grad(x) for x in alive] + self.hooked


def _steps(x: Any) -> list[int]:
    """The strides of the dims along which there are steps."""
    return [s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1]


def _start(x: Any) -> Any:
    """The address of a tensor's storage."""
    if isinstance(x, torch.Tensor):
        return x.untyped_storage().data_ptr()
    return x.storage().data_ptr() if isinstance(x, tg.Tensor) else None


def _makes(step: Step) -> bool:
    kind = step[1][0] if step[0] == "no_grad" else step[0]
    return kind in ("leaf", "call", "view", "cut", "index", "grad")


def _numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    count = int(np.prod(shape, dtype=int))
    spots = (np.arange(1, count + 1) * 0.6180339887 + seed * 0.4142135623) % 1
    return (0.1 + 1.7 * spots).reshape(shape)


def _plain(x: Any) -> Any:
    return (
        x.detach().numpy().tolist()
        if isinstance(x, tg.Tensor)
        else x.detach().numpy(force=True).tolist()
    )


# --- comparing ------------------------------------------------------------------------------------


def same(a: Any, b: Any) -> bool:
    """Whether two notes agree: numbers to rounding, all else exactly."""
    if isinstance(a, float) and isinstance(b, float):
        # Where infinity met zero, anything may have come out.
        return not np.isfinite([a, b]).all() or bool(np.isclose(a, b, rtol=1e-8, atol=1e-10))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def first_difference(steps: list[Step]) -> str | None:
    """Where the two engines first differ on a program, None when they agree throughout."""
    ours, theirs = Runner(tg).run(steps), Runner(torch).run(steps)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if not same(a, b):
            where = (
                f"step {i} {steps[i]}" if i < len(steps) else f"note {i - len(steps)} of the end"
            )
            return f"{where}: ours {a}, PyTorch's {b}"
    return (
        None if len(ours) == len(theirs) else f"ours has {len(ours)} notes, PyTorch's {len(theirs)}"
    )


def shrink(steps: list[Step]) -> list[Step]:
    """A shorter program on which the engines still differ: steps are left away one by one."""
    changed = True
    while changed:
        changed = False
        for i in range(len(steps) - 1, -1, -1):
            shorter = _without(steps, i)
            if shorter is not None and first_difference(shorter) is not None:
                steps, changed = shorter, True
    return steps


def _without(steps: list[Step], i: int) -> list[Step] | None:
    """The program without step i; None when a later one uses its result."""
    if not _makes(steps[i]):
        return steps[:i] + steps[i + 1 :]
    number = sum(map(_makes, steps[:i]))
    try:
        return steps[:i] + [_renumbered(step, number) for step in steps[i + 1 :]]
    except LookupError:
        return None


def _renumbered(step: Step, gone: int) -> Step:
    def down(i: int) -> int:
        if i == gone:
            raise LookupError
        return i - (i > gone)

    def operand(value: Any) -> Any:
        return (
            ("tensor", down(value[1]))
            if isinstance(value, tuple) and value[:1] == ("tensor",)
            else value
        )

    kind, *rest = step
    if kind == "no_grad":
        return ("no_grad", _renumbered(rest[0], gone))
    if kind == "leaf":
        return step
    if kind in ("call", "change"):
        return (kind, rest[0], down(rest[1]), *map(operand, rest[2:]))
    if kind == "view":
        return (kind, rest[0], down(rest[1]), rest[2])
    if kind in ("cut", "flag"):
        return (kind, rest[0], down(rest[1]))
    if kind == "grad":
        return (kind, down(rest[0]), down(rest[1]), rest[2])
    return (kind, down(rest[0]), *map(operand, rest[1:]))


def program(seed: int) -> list[Step]:
    """The program of that number."""
    maker = Maker(seed)
    return maker.program(4 + seed % 21)


def main() -> int:
    """Tries programs first … first + count - 1; prints those on which the engines differ,
    shrunk."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = 0
    for seed in range(first, first + count):
        if first_difference(program(seed)) is not None:
            found += 1
            short = shrink(program(seed))
            print(
                f"program {seed}:", *short, f"-> {first_difference(short)}", sep="\n  ", flush=True
            )
            if found == 10:
                break
    print(f"{found} of {count} programs differ")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
