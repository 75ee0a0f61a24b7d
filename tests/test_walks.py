"""Random walks over views and in-place changes of one memory, in step with PyTorch.

A walk starts at a tensor and goes on from any tensor it has made: by a view, by a change in place,
by an index that reads or writes. After each step both libraries must agree on everything that can
be seen of all the tensors: shape, stride, place in memory, contents, version, and the class of any
exception. Hypothesis chooses the steps, shrinks a walk that goes apart to its shortest form, and
prints it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import tinygrad_course as tg

torch = pytest.importorskip("torch", reason="PyTorch decides what is right")

Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]
Pair = tuple[Any, Any]  # of tensors: ours and PyTorch's
Call = Callable[..., Any]  # (library, tensor, another tensor)


def in_step(call: Call, *pairs: Pair, classes: bool = True) -> Pair | None:
    """`call` on our tensors and on PyTorch's: the pair of results, or None where both refuse, with
    exceptions of the same class unless told otherwise."""
    outcomes = []
    for lib, tensors in zip((tg, torch), zip(*pairs, strict=True), strict=True):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes.append(call(lib, *tensors))
        except Exception as error:
            outcomes.append(error)
    ours, theirs = outcomes
    if not isinstance(ours, Exception) and not isinstance(theirs, Exception):
        return ours, theirs
    if classes or not isinstance(ours, Exception) or not isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__, f"{ours!r}, PyTorch: {theirs!r}"
    return None


def seen(lib: Any, x: Any, base: Any) -> dict[str, Any]:
    """What can be seen of `x`; what there is of memory is told from the memory of `base`."""
    facts = {
        "shape": tuple(x.shape),
        "dtype": str(x.dtype),
        "version": x._version,
        "values": x.tolist(),
    }
    if x.numel():  # tensors without elements have no place, and no steps between elements
        mine, its = (t.storage() if lib is tg else t.untyped_storage() for t in (x, base))
        facts["stride"] = x.stride()
        facts["contiguous"] = x.is_contiguous()
        facts["offset"] = x.storage_offset()
        facts["same memory"] = mine.data_ptr() == its.data_ptr()
        facts["address"] = (x.data_ptr() - mine.data_ptr()) // x.element_size()
    return facts


def agree(pool: list[Pair]) -> None:
    for ours, theirs in pool:
        assert seen(tg, ours, pool[0][0]) == seen(torch, theirs, pool[0][1])


# --- views ----------------------------------------------------------------------------------------


def dim(draw: Draw, shape: Shape) -> int:
    """Mostly a dim that is there, from either end."""
    n = max(len(shape), 1)
    return draw(st.integers(-n, n - 1) | st.integers(-n, n))


def size(shape: Shape, d: int) -> int:
    return shape[d] if -len(shape) <= d < len(shape) else 1


def some(draw: Draw, low: int, high: int) -> int:
    return draw(st.integers(low, max(low, high)))


VIEWS: dict[str, Callable[[Draw, Shape, int], tuple[Any, ...]]] = {
    "transpose": lambda draw, shape, d: (d, dim(draw, shape)),
    "movedim": lambda draw, shape, d: (d, dim(draw, shape)),
    "permute": lambda draw, shape, d: tuple(draw(st.permutations(range(len(shape))))),
    "t": lambda draw, shape, d: (),
    "unsqueeze": lambda draw, shape, d: (d,),
    "squeeze": lambda draw, shape, d: draw(st.sampled_from([(), (d,)])),
    "select": lambda draw, shape, d: (d, some(draw, -size(shape, d), size(shape, d))),
    "narrow": lambda draw, shape, d: (d, some(draw, 0, size(shape, d)), some(draw, 0, 2)),
    "unfold": lambda draw, shape, d: (d, some(draw, 0, size(shape, d)), some(draw, 1, 2)),
    "diagonal": lambda draw, shape, d: (some(draw, -2, 2), d, dim(draw, shape)),
    "view": lambda draw, shape, d: (some(draw, 1, 3), -1),
    "reshape": lambda draw, shape, d: (-1, some(draw, 1, 3)),
    "flatten": lambda draw, shape, d: (d, dim(draw, shape)),
    "unflatten": lambda draw, shape, d: (d, (-1, some(draw, 1, 2))),
    "ravel": lambda draw, shape, d: (),
    "expand": lambda draw, shape, d: draw(
        st.sampled_from([(2, *shape), tuple(2 if n == 1 else -1 for n in shape) or (1,)])
    ),
    "split": lambda draw, shape, d: (some(draw, 1, 2), d),
    "chunk": lambda draw, shape, d: (2, d),
    "unbind": lambda draw, shape, d: (d,),
    "tensor_split": lambda draw, shape, d: (2, d),
    "as_strided": lambda draw, shape, d: ((3,), (some(draw, 0, 2),), some(draw, 0, 3)),
    "detach": lambda draw, shape, d: (),
}


def view(draw: Draw, shape: Shape) -> tuple[str, Call]:
    name = draw(st.sampled_from(sorted(VIEWS)))
    arguments = VIEWS[name](draw, shape, dim(draw, shape))
    return f"{name}{arguments}", lambda lib, x, other: getattr(x, name)(*arguments)


# --- what stands in brackets ----------------------------------------------------------------------


def index(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    """A tuple of ints, slices, None, Ellipsis, True, lists and arrays (for masks)."""
    parts: list[Any] = []
    for n in shape[: some(draw, 0, len(shape))]:
        places = st.integers(-n, max(n - 1, -n))
        bounds = st.none() | places
        part = (
            places
            | st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2]))
            | st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
        )
        if n:
            part |= st.lists(places, min_size=1, max_size=3)
        parts.append(draw(part))
    for extra in draw(st.lists(st.sampled_from([None, True]), max_size=2)):
        parts.insert(some(draw, 0, len(parts)), extra)
    # At the end, so that all places stay in range: PyTorch begins to write before it finds others.
    return (*parts, *draw(st.sampled_from([(), (...,)])))


def made(lib: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index as `lib` takes it: lists and masks as tensors."""
    kinds = {list: lambda part: lib.tensor(part), np.ndarray: lambda part: lib.tensor(part) > 0}
    return tuple(kinds.get(type(part), lambda part: part)(part) for part in parts)


def read(draw: Draw, shape: Shape) -> tuple[str, Call]:
    at = index(draw, shape)
    return f"[{at}]", lambda lib, x, other: x[made(lib, at)]


def write(draw: Draw, shape: Shape) -> tuple[str, Call]:
    at, number = index(draw, shape), draw(NUMBER)
    return f"[{at}] = {number}", lambda lib, x, other: x.__setitem__(made(lib, at), number)


# --- changes in place -----------------------------------------------------------------------------

NUMBER = st.sampled_from([-1, 0, 2])


def apart(x: Any, other: Any) -> Any:
    """`other`, or a copy where it may share some places with `x` and PyTorch doesn't look: then the
    result depends on the order of writing."""

    def dense(t: Any) -> bool:
        return (
            sum((n - 1) * step for n, step in zip(t.shape, t.stride(), strict=True)) + 1
            == t.numel()
        )

    return other if dense(x) and dense(other) else other.clone()


def change(draw: Draw, shape: Shape) -> tuple[str, Call]:
    names = ("neg_", "zero_", "fill_", "add_", "mul_", "copy_", "masked_fill_", "put_")
    name, number = draw(st.sampled_from(names)), draw(NUMBER)
    if name in ("add_", "mul_", "copy_") and draw(st.booleans()):
        return f"{name}(other)", lambda lib, x, other: getattr(x, name)(apart(x, other))
    arguments: dict[str, Call] = {
        "neg_": lambda lib, x: (),
        "zero_": lambda lib, x: (),
        "copy_": lambda lib, x: (lib.tensor(number, dtype=x.dtype),),
        "masked_fill_": lambda lib, x: (x > number, number),
        "put_": lambda lib, x: (lib.tensor([0, -1]), lib.tensor([number] * 2, dtype=x.dtype)),
    }
    given = arguments.get(name, lambda lib, x: (number,))
    return f"{name}({number})", lambda lib, x, other: getattr(x, name)(*given(lib, x))


def change_along(draw: Draw, shape: Shape) -> tuple[str, Call]:
    """A change of some slices of one dim. All places are in range: of others PyTorch says now
    IndexError and now RuntimeError, and some of them it finds when it has begun to write."""
    name, d = draw(st.sampled_from(["index_fill_", "index_add_"])), dim(draw, shape)
    n, number = size(shape, d), draw(NUMBER)
    places = draw(st.lists(st.integers(0, n - 1), max_size=2)) if n else []

    def call(lib: Any, x: Any, other: Any) -> Any:
        at = lib.tensor(places, dtype=lib.int64)
        if name == "index_fill_":
            return x.index_fill_(d, at, number)
        sizes = [len(places) if i == d % x.ndim else m for i, m in enumerate(x.shape)]
        return x.index_add_(d, at, lib.full(sizes, number, dtype=x.dtype))

    return f"{name}({d}, {places}, {number})", call


def turn(draw: Draw, shape: Shape) -> tuple[str, Call]:
    """Another window under the same tensor."""
    name = draw(st.sampled_from(["t_", "transpose_", "squeeze_", "unsqueeze_"]))
    count = {"t_": 0, "transpose_": 2, "squeeze_": some(draw, 0, 1), "unsqueeze_": 1}[name]
    arguments = tuple(dim(draw, shape) for _ in range(count))
    return f"{name}{arguments}", lambda lib, x, other: getattr(x, name)(*arguments)


# --- the walks ------------------------------------------------------------------------------------

SHAPES = st.sampled_from([(2, 3), (3, 2, 2), (4, 1), ()]) | st.lists(
    st.integers(0, 4), max_size=3
).map(tuple)


def start(shape: Shape, dtype: str) -> Pair:
    values = np.arange(int(np.prod(shape, dtype=int))) - 3
    ours, theirs = (lib.tensor(values.tolist(), dtype=getattr(lib, dtype)) for lib in (tg, torch))
    return ours.reshape(shape), theirs.reshape(shape)


def overlapping(x: Any) -> bool:
    """Whether elements of `x` share a place, so that the order of writing would show."""
    reach = 0
    for step, n in sorted(zip(x.stride(), x.shape, strict=True)):
        if n > 1:
            if step <= reach:
                return True
            reach += (n - 1) * step
    return False


def walk(draw: Draw, pool: list[Pair], classes: bool = True) -> None:
    """One step from one tensor of the pool, which may add to the pool."""
    at, beside = some(draw, 0, len(pool) - 1), some(draw, 0, len(pool) - 1)
    kinds = [view, view, read] + [write, change, change_along, turn] * (
        not overlapping(pool[at][1])
    )
    kind = draw(st.sampled_from(kinds))
    text, call = kind(draw, tuple(pool[at][1].shape))
    note(
        f"x{at}.{text}".replace("other", f"x{beside}")
        + f"  -> x{len(pool)}" * (kind in (view, read))
    )
    results = in_step(call, pool[at], pool[beside], classes=classes)
    if results is None or kind not in (view, read):
        return
    ours, theirs = (r if isinstance(r, tuple | list) else [r] for r in results)
    pool += zip(ours, theirs, strict=True)
    del pool[8:]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), SHAPES, st.sampled_from(["float32", "int64"]))
def test_views_and_changes(data: st.DataObject, shape: Shape, dtype: str) -> None:
    """Everything that can be seen, after every step."""
    pool = [start(shape, dtype)]
    for _ in range(data.draw(st.integers(1, 8))):
        walk(data.draw, pool)
        agree(pool)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data(), SHAPES)
def test_gradients_of_a_walk(data: st.DataObject, shape: Shape) -> None:
    """The gradient of all the tensors of a walk, in which everything has a history."""
    leaf = start(shape, "float64")
    pool = [tuple(x.requires_grad_() * 1 for x in leaf)]
    for _ in range(data.draw(st.integers(1, 6))):
        walk(data.draw, pool, classes=False)  # there may be two reasons to refuse

    def gradient(lib: Any, x: Any, *ends: Any) -> Any:
        total = sum((end * (i + 1.5)).sum() for i, end in enumerate(ends))
        return lib.autograd.grad(total, x)[0]

    ends = [pair for pair in pool if pair[1].requires_grad]
    assert [x.requires_grad for x, _ in pool] == [y.requires_grad for _, y in pool]
    if ends and (found := in_step(gradient, leaf, *ends)):
        assert np.allclose(found[0].numpy(), found[1].numpy())
