"""Observations: what counts as data, what counts as equal, and who cannot lie about it."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course.compare import alike, compare
from course.observe import array_of, is_observation, observe

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | hnp.arrays(hnp.floating_dtypes(sizes=(32, 64)), hnp.array_shapes(max_dims=3, max_side=3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(plain)
def test_data_equals_itself_after_a_trip_through_json(value: object) -> None:
    tree = observe(value)
    back = json.loads(json.dumps(tree))
    assert is_observation(back)
    assert compare(tree, back) is None and alike(tree, back)


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(
    st.sampled_from(["int", "float", "str", "seq", "dict", "array", "tensor", "error", "none"]),
    st.lists(json_data, max_size=4),
)
def test_foreign_json_is_told_from_an_observation(kind: str, parts: list[Any]) -> None:
    tree = [kind, *parts]
    if is_observation(tree):  # then all that works on observations must take it
        compare(tree, tree)
        alike(tree, tree)


class EqualToAll:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class LyingFloat(float):
    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "2.0"

    __hash__ = None  # type: ignore[assignment]


class LyingArray(np.ndarray):
    def tobytes(self, *args: Any) -> bytes:
        return np.ones(2).tobytes()


@pytest.mark.parametrize(
    "value",
    [
        EqualToAll(),
        LyingFloat(1.0),
        np.zeros(2).view(LyingArray),
        type("Text", (str,), {})("x"),
        type("List", (list,), {})(),
        object(),
        lambda: 1,
        np.array([object()]),
        np.array([1j]),
        iter([1]),
        {1, 2},
    ],
)
def test_what_is_no_plain_data_equals_nothing(value: object) -> None:
    tree = observe(value)
    assert tree[0] == "other"
    for expected in (2.0, np.ones(2), "x", [], None, value):
        assert compare(observe(expected), tree) is not None


def test_numbers_forgive_rounding_only() -> None:
    assert compare(observe(0.1 + 0.2), observe(0.3)) is None
    assert compare(observe(1.0), observe(1.001)) is not None
    assert compare(observe(6), observe(6.0)) is None
    assert compare(observe(6), observe(6.00001)) is not None
    assert compare(observe(2**60), observe(2**60 + 1)) is not None
    assert compare(observe(math.nan), observe(math.nan)) is None
    assert compare(observe(math.inf), observe(-math.inf)) is not None
    assert compare(observe(True), observe(1)) is not None
    assert compare(observe(np.float32(0.5)), observe(0.5)) is None


@pytest.mark.parametrize(
    ("expected", "got", "place", "words"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2)), "", "shape (2, 3) is expected, not (3, 2)"),
        (np.zeros(2, np.float32), np.zeros(2), "", "dtype float32 is expected, not float64"),
        (
            {"a": [1, np.array([[1.0, 2.0]])]},
            {"a": [1, np.array([[1.0, 5.0]])]},
            "['a'][1]",
            "2 is expected at [0, 1], not 5",
        ),
        (
            np.array([1, 2, 3]),
            np.array([0, 2, 0]),
            "",
            "2 of 3 entries differ, the first one at [0]",
        ),
        ([1, 2], [1, 2, 3], "", "2 entries expected, not 3"),
        ({"a": 1}, {}, "", "the entry 'a' is missing"),
        ({}, {"a": 1}, "", "the entry 'a' should not be there"),
        ("sum", "mean", "", "the text 'sum' is expected, not the text 'mean'"),
        (None, 0, "", "None is expected, not 0"),
        (
            [1.0],
            [np.array(1.0)],
            "[0]",
            "1 is expected, not an array of dtype float64 and shape ()",
        ),
    ],
)
def test_the_smallest_difference_is_named(
    expected: object, got: object, place: str, words: str
) -> None:
    found = compare(observe(expected), observe(got))
    assert found is not None
    assert found.place == place
    assert words in found.what


def test_small_entries_beside_large_ones_are_not_forgiven() -> None:
    big, off = np.array([1e6, 1.0], np.float32), np.array([1e6, 5.0], np.float32)
    assert compare(observe(big), observe(off)) is not None
    # One unit in the last place of 1e6 is what cancelling leaves behind.
    near = np.array([1e6, 1.0 + 0.06], np.float32)
    assert compare(observe(big), observe(near)) is None


def test_errors_are_equal_by_class_and_alike_by_words() -> None:
    one, two = ["error", "RuntimeError", "freed", ""], ["error", "RuntimeError", "other", "line 3"]
    assert compare(one, two) is None
    assert not alike(one, two)
    assert compare(one, ["error", "ValueError", "freed", ""]) is not None
    # Where the nested calls had got to when Python stopped them is chance.
    deep = [["error", "RecursionError", words, ""] for words in ("too deep", "too deep in calling")]
    assert alike(*deep)


def test_a_tensor_is_its_array_its_flag_and_its_gradient() -> None:
    tg = pytest.importorskip("tinygrad_course", reason="the engine is not importable")
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    tree = observe(x)
    assert tree[0] == "tensor" and tree[2] is True
    np.testing.assert_array_equal(array_of(tree[3]), [2.0, 4.0])
    assert compare(tree, observe(x.detach())) is not None
    other = tg.tensor([1.0, 2.0], requires_grad=True)
    found = compare(tree, observe(other))
    assert found is not None and found.place == ".grad"
    assert observe(x.shape) == observe((2,))
    assert observe(x.dtype) == ["str", "torch.float32"]


def test_a_subclass_of_tensor_is_not_looked_into() -> None:
    tg = pytest.importorskip("tinygrad_course", reason="the engine is not importable")

    class Sly(tg.Tensor):  # type: ignore[misc, name-defined]
        def numpy(self) -> object:
            return np.ones(2, np.float32)

    sly = object.__new__(Sly)
    assert observe(sly)[0] == "other"


def test_too_much_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    loop: list[Any] = []
    loop.append(loop)
    for value in (deep, loop, np.zeros(10**7), list(range(200_000)), 1 << 10_000):
        assert observe(value)[0] == "other"
