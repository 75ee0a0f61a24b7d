"""Sums by matrix products are the plain sums, whatever the dims, the type and the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tinygrad_course.ops.dims import sums

DIMS: list[tuple[int, ...]] = [
    (0,),
    (3,),
    (1,),
    (0, 1),
    (2, 3),
    (3, 2),
    (0, 3),
    (0, 1, 2),
    (0, 1, 2, 3),
]


def draw(dtype: str, memory: str, shape: tuple[int, ...]) -> Any:
    x = np.random.default_rng(0).integers(-8, 8, shape).astype(dtype)
    if memory == "transposed":
        return np.ascontiguousarray(x.transpose(3, 1, 0, 2)).transpose(2, 1, 3, 0)
    return np.repeat(x, 2, 3)[..., ::2] if memory == "gaps" else x


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("memory", ["row-major", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("shape", [(5, 6, 7, 11), (1, 60, 1, 50), (2, 3, 1, 2)])
def test_sums_of_whole_numbers_are_exact(dtype: str, memory: str, dims: Any, shape: Any) -> None:
    x = draw(dtype, memory, shape)
    wide = np.dtype("int64") if x.dtype.kind in "ib" else x.dtype
    for keepdim in (False, True):
        found = sums(np, x, dims, keepdim, wide)
        expected = x.astype("int64").sum(dims, keepdims=keepdim)
        assert found.shape == expected.shape and found.dtype == wide
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dims", [(0,), (1,)])
def test_sums_of_infinities_and_nan(dims: tuple[int, ...]) -> None:
    x = np.ones((50, 60), "float32")
    x[3], x[:, 4], x[7, 8] = np.inf, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sums(np, x, dims, False), x.sum(dims))


def test_sums_in_another_type() -> None:
    x = np.full((3, 1000), 0.1, "float32")
    found = sums(np, x, (1,), False, np.dtype("float64"))
    assert found.dtype == "float64"
    np.testing.assert_allclose(found, 1000 * np.float64(np.float32(0.1)), rtol=1e-14)
