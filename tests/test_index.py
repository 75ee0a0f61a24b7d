"""Indexing beyond the table of samples: x[...] = v in its forms, index gradients of every density,
indices that somebody changes, and einsum on random equations. PyTorch decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinygrad_course as tg
from tinygrad_course.device import CPU

torch = pytest.importorskip("torch", reason="PyTorch decides what is right")

EVERY = slice(None)
LONG, MASK = np.array([2, 0]), np.array([True, False, True])
VALUES: dict[str, Any] = {
    "number": lambda lib: 7,
    "float": lambda lib: 2.7,
    "bool": lambda lib: True,
    "0-dim": lambda lib: lib.tensor(5.0, dtype=lib.float64, requires_grad=True),
    "one": lambda lib: lib.tensor([5.0], dtype=lib.float64, requires_grad=True),
    "row": lambda lib: lib.arange(4.0, dtype=lib.float64, requires_grad=True),
    "matrix": lambda lib: lib.arange(8.0, dtype=lib.float64).reshape(2, 4).requires_grad_(),
    "leading ones": lambda lib: (
        lib.arange(4.0, dtype=lib.float64).reshape(1, 1, 4).requires_grad_()
    ),
    "other dtype": lambda lib: lib.tensor([1, 2, 3, 4]),
    "no elements": lambda lib: lib.zeros(0, dtype=lib.float64),
    "list": lambda lib: [1.0, 2.0],
    "array": lambda lib: np.ones(4),
    "NumPy float": lambda lib: np.float32(2),
    "NumPy int": lambda lib: np.int64(2),
    "text": lambda lib: "a",
    "None": lambda lib: None,
}
INDICES = {
    "int": 1,
    "two ints": (0, -1),
    "slice": slice(0, 2),
    "step": (EVERY, slice(None, None, 2)),
    "Ellipsis": ...,
    "nothing": (),
    "new dim": (None, 0),
    "places": (LONG,),
    "pairs": (LONG, np.array([1, 1])),
    "columns": (EVERY, LONG),
    "place and int": (LONG, 1),
    "int and place": (1, LONG),
    "mask": (MASK,),
    "mask and slice": (MASK, slice(0, 2)),
    "whole mask": (np.arange(12).reshape(3, 4) % 3 == 0,),
    "negative": (np.array([-1, -3]),),
    "none": (np.array([], dtype=np.int64),),
    "True": True,
    "False": False,
    "too far": (0, 4),
    "places too far": (np.array([0, 3]),),
    "too many": (0, 0, 0),
    "float": 0.5,
    "text": "a",
    "backwards": slice(None, None, -1),
}


def written(lib: Any, index: Any, value: Any, how: str) -> Any:
    """What x[index] = value leaves behind, or the class of the exception."""
    x = lib.arange(12.0, dtype=lib.float64).reshape(3, 4).requires_grad_()
    target = lib.stack([x, x])[1] if how == "view" else x * 1
    v = VALUES[value](lib)
    parts = index if isinstance(index, tuple) else (index,)
    parts = tuple(
        lib.tensor(p.tolist(), dtype=getattr(lib, str(p.dtype))) if isinstance(p, np.ndarray) else p
        for p in parts
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target[parts if isinstance(index, tuple) else parts[0]] = v
    except Exception as error:
        return type(error).__name__
    leaves = [x, v] if isinstance(v, lib.Tensor) and v.requires_grad else [x]
    grads = lib.autograd.grad((target * target).sum(), leaves, allow_unused=True)
    found = [target.detach().tolist(), target._version]
    return [*found, *(g if g is None else g.tolist() for g in grads)]


@pytest.mark.parametrize("how", ["whole", "view"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("index", INDICES)
def test_writing(index: str, value: str, how: str) -> None:
    """The contents, the version, the gradients of tensor and value, the class of the exception."""
    ours, theirs = (written(lib, INDICES[index], value, how) for lib in (tg, torch))
    if index == "places too far" and value in ("other dtype", "no elements"):
        assert isinstance(ours, str) and isinstance(
            theirs, str
        )  # two reasons: either may come first
    else:
        assert ours == theirs


def test_writing_what_lies_in_the_same_memory() -> None:
    for lib in (tg, torch):
        x = lib.arange(5.0)
        with pytest.raises(RuntimeError):
            x[1:] = x[:-1]
        with pytest.raises(RuntimeError):
            x[lib.tensor([1])] = x[2]
        x[lib.tensor([1, 2])] = x[lib.tensor([2, 1])]
        assert x.tolist() == [0, 2, 1, 3, 4]


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, i: x[i],
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.take(i),
        lambda x, i: x.index_fill(0, i, 0),
        lambda x, i: x.scatter(0, i.reshape(-1, 1), 0.0),
    ],
)
def test_an_index_changed_before_backward(pick: Any) -> None:
    """It was saved: in PyTorch, too, backward says so."""
    for lib in (tg, torch):
        x, i = lib.ones(3, 2, requires_grad=True), lib.tensor([0, 2])
        y = pick(x, i)
        i[0] = 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


@pytest.mark.parametrize("rows", [None, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 30, 400])
def test_scattered_sums_at_every_density(rows: int | None, count: int) -> None:
    """Few places, most of them once; many; one that repeats more often than there are rounds."""
    random = np.random.RandomState(count)
    for repeated in (0, min(count, 20)):
        places = random.randint(0, 50, count)
        places[:repeated] = 7
        values = random.randn(count, *([rows] if rows else []))
        out = random.randn(50, *([rows] if rows else []))
        expected = out.copy()
        for place, value in zip(places, values, strict=True):
            expected[place] += value
        CPU.scatter(out, places, values, "add")
        np.testing.assert_allclose(out, expected)


@pytest.mark.parametrize("form", ["index", "index_select", "gather", "index_add", "scatter_add"])
def test_gradients_of_repeated_places(form: str) -> None:
    random = np.random.RandomState(1)
    places, weights = random.randint(0, 6, (40,)), random.randn(40, 4)

    def gradient(lib: Any) -> Any:
        x = lib.ones(6, 4, dtype=lib.float64, requires_grad=True)
        i, w = lib.from_numpy(places), lib.from_numpy(weights)
        wide = i.reshape(-1, 1).expand(40, 4)
        y = {
            "index": lambda: x[i] * w,
            "index_select": lambda: x.index_select(0, i) * w,
            "gather": lambda: x.gather(0, wide) * w,
            "index_add": lambda: (x * 2).index_add(0, i, w * x.sum()) ** 2,
            "scatter_add": lambda: (x * 2).scatter_add(0, wide, w * x.sum()) ** 2,
        }[form]()
        return lib.autograd.grad(y.sum(), x)[0].numpy()

    np.testing.assert_allclose(gradient(tg), gradient(torch), rtol=1e-12)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_einsum(data: st.DataObject) -> None:
    """Random equations over five letters of sizes 1 to 3: value, shape and gradients."""
    letters = "abcde"
    sizes = {x: data.draw(st.integers(1, 3)) for x in letters}
    term = st.text(letters, min_size=1, max_size=3)
    terms = data.draw(st.lists(term, min_size=1, max_size=3))
    output = "".join(data.draw(st.permutations(sorted(set("".join(terms))))))
    equation = ",".join(terms) + "->" + output[: data.draw(st.integers(0, len(output)))]
    random = np.random.RandomState(0)
    arrays = [random.randn(*(sizes[x] for x in t)) for t in terms]

    def result(lib: Any) -> tuple[Any, Any]:
        xs = [lib.tensor(a.tolist(), dtype=lib.float64, requires_grad=True) for a in arrays]
        y = lib.einsum(equation, *xs)
        return y.detach().numpy(), [g.numpy() for g in lib.autograd.grad((y * y).sum(), xs)]

    (ours, grads), (theirs, their_grads) = result(tg), result(torch)
    assert ours.shape == theirs.shape
    for a, b in ((ours, theirs), *zip(grads, their_grads, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_names_that_linalg_lacks() -> None:
    with pytest.raises(AttributeError, match="linalg has no 'qr'"):
        tg.linalg.qr  # noqa: B018
