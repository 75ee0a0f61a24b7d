"""Sorting and selecting beyond their rows of samples: along any dim, among equals, at random."""

import numpy as np
import pytest

import tinygrad_course as tg

torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")

RNG = np.random.default_rng(0)
DISTINCT = RNG.permutation(7 * 6 * 5).reshape(7, 6, 5).astype("float32")
REPEATED = RNG.integers(0, 4, (6, 9))


def both(name, array, *args, **kwargs):
    """(ours, PyTorch's) of name(x, …), as lists of arrays."""
    found = []
    for lib in (tg, torch):
        result = getattr(lib, name)(lib.tensor(array), *args, **kwargs)
        result = result if isinstance(result, tuple) else (result,)
        found.append([np.asarray(r.tolist()) for r in result])
    return found


@pytest.mark.parametrize("dim", [0, 1, 2, -2])
@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("topk", (3,), {}),
        ("topk", (3,), {"largest": False}),
        ("topk", (5,), {}),
        ("kthvalue", (4,), {}),
        ("kthvalue", (1,), {"keepdim": True}),
        ("sort", (), {}),
        ("sort", (), {"descending": True}),
        ("median", (), {}),
        ("nanmedian", (), {"keepdim": True}),
        ("mode", (), {}),
    ],
)
def test_selection_along_each_dim(name, args, kwargs, dim):
    ours, theirs = both(name, DISTINCT, *args, dim=dim, **kwargs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["topk", "kthvalue", "median", "mode"])
def test_among_equals_the_place_is_of_the_value_and_has_the_gradient(name):
    args = {"topk": (4,), "kthvalue": (3,)}.get(name, ())
    (values, places), (expected, _) = both(name, REPEATED, *args, dim=1)
    np.testing.assert_array_equal(values, expected)
    rows = np.atleast_2d(places.T).T
    np.testing.assert_array_equal(
        np.take_along_axis(REPEATED, rows, 1).reshape(values.shape), values
    )
    x = tg.tensor(REPEATED.astype("float32"), requires_grad=True)
    getattr(tg, name)(x, *args, dim=1)[0].sum().backward()
    wanted = np.zeros(REPEATED.shape)
    np.put_along_axis(wanted, rows, 1, 1)
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


@pytest.mark.parametrize("descending", [False, True])
def test_sorting_keeps_the_order_of_equals(descending):
    ours, theirs = both("sort", REPEATED, dim=1, descending=descending, stable=True)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_distinct_values_at_random(name, dim):
    rng = np.random.default_rng(3)
    for shape in ((5, 4), (30, 2), (2, 30), (1, 1)):
        array = rng.integers(0, 2, shape)
        ours, theirs = both(name, array, return_inverse=True, return_counts=True, dim=dim)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_unique_has_no_derivative():
    x = tg.tensor([1.0, 2.0, 1.0], requires_grad=True)
    values = tg.unique(x)
    assert values.requires_grad
    with pytest.raises(RuntimeError, match="no derivative"):
        values.sum().backward()


@pytest.mark.parametrize("right", [False, True])
def test_places_in_sorted_rows_at_random(right):
    rng = np.random.default_rng(4)
    rows, wanted = np.sort(rng.integers(0, 9, (4, 3, 7)), -1), rng.integers(-1, 10, (4, 3, 5))
    results = [
        lib.searchsorted(lib.tensor(rows), lib.tensor(wanted), right=right).tolist()
        for lib in (tg, torch)
    ]
    assert results[0] == results[1]


def test_histograms_at_random():
    rng = np.random.default_rng(6)
    for dtype in ("float32", "float64"):
        array = rng.normal(size=500).astype(dtype)
        for bins, low, high in ((10, 0, 0), (7, -1, 1), (3, -0.5, 2.5)):
            ours, theirs = both("histc", array, bins, low, high)
            np.testing.assert_array_equal(ours, theirs)
    counts, expected = both("bincount", rng.integers(0, 20, 300), minlength=25)
    np.testing.assert_array_equal(counts, expected)


# --- long rows ------------------------------------------------------------------------------------


def test_a_product_of_many_factors_has_a_gradient_without_a_long_graph():
    x = 1 + np.random.default_rng(7).normal(size=20_000) / 1000
    x[[3, 900]] = 0, 1.5
    grads = []
    for lib in (tg, torch):
        leaf = lib.tensor(x).requires_grad_()
        leaf.prod().backward()
        grads.append(np.asarray(leaf.grad.tolist()))
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-9)
    assert np.count_nonzero(grads[0]) == 1


def test_scans_by_doubling_agree_with_those_of_numpy():
    from tinygrad_course.ops.scan import accumulate

    class Other:
        """An array library whose ufuncs cannot accumulate."""

        maximum = staticmethod(np.maximum)
        logaddexp = staticmethod(np.logaddexp)
        concatenate = staticmethod(np.concatenate)

    for n in (1, 2, 5, 8, 13):
        x = np.random.default_rng(n).normal(size=(3, n, 2))
        for name in ("maximum", "logaddexp"):
            expected = getattr(np, name).accumulate(x, 1)
            np.testing.assert_allclose(accumulate(Other, name, x, 1), expected, rtol=1e-12)
