"""Samples of sorting, distinct values, places in sorted rows, and counts."""

import math

from tests.samples import call, given, mask, real, row, special

NAN, INF = math.nan, math.inf

SORTED = (
    call(real(5)),
    call(real(2, 3, 4)),
    call(real(2, 3, 4), 1),
    call(real(2, 3), 0, True),
    call(real(2, 3), dim=1, descending=True),
    call(real()),
    call(real(0)),
    call(real(2, 0)),
    call(real(0, 2), 0),
    call(given([3, 1, 3, 1, 2])),
    call(given([3, 1, 3, 1, 2]), descending=True, stable=True),
    call(mask(5)),
    call(mask(5), descending=True),
    special(given([1.0, NAN, -INF, NAN, 2.0])),
    special(given([1.0, NAN, -INF, NAN, 2.0]), descending=True),
)
row("sort argsort", *SORTED, bad=(call(real(2, 3), 2), call(real(2, 3), -3), call(real(2), "a")))
row("msort", call(real(5)), call(real(3, 4)), call(real()), call(real(0, 2)))
# Which of several equal elements is chosen is left open, and in rows expanded from one element all
# are equal: so these are tried along the last dim of two. tests/test_sort.py has the other cases.
row(
    "topk",
    call(real(2, 6), 3),
    call(real(2, 6), 3, 1, False),
    call(real(2, 6), 6, largest=False),
    call(real(2, 6), 6, 1, False, True),
    call(real(2, 5), 0),
    call(real(3, 2, 5), 2, -1),
    call(real(), 1),
    call(real(2, 0), 0),
    call(given([[5, 3, 9, 1]]), 2),
    special(given([[1.0, NAN, 2.0]]), 2),
    special(given([[1.0, NAN, 2.0]]), 2, largest=False),
    bad=(
        call(real(5), 6),
        call(real(5), -1),
        call(real(5), 2.0),
        call(real(5), 1, 1),
        call(real(), 2),
        call(mask(3), 1),
    ),
    dtypes=False,
)
row(
    "kthvalue",
    call(real(2, 6), 3),
    call(real(2, 6), 1, 1, True),
    call(real(2, 5), 5),
    call(real(), 1),
    call(real(0, 2), 1, 1),
    call(given([[5, 3, 9, 1]]), 2),
    special(given([[1.0, NAN, 2.0]]), 3),
    bad=(
        call(real(5), 6),
        call(real(5), 0),
        call(real(5), 1, 1),
        call(real(0), 1),
        call(real(5), 1.5),
    ),
    dtypes=False,
)

# --- distinct values ------------------------------------------------------------------------------

ROWS = given([[1, 2], [1, 2], [0, 3], [1, 2]])
DISTINCT = (
    call(given([5, -3, 7, 5])),
    call(given([5, -3, 7, 5]), return_inverse=True),
    call(given([5, -3, 7, 5]), return_counts=True),
    call(given([[2, 1], [1, 1]]), return_inverse=True, return_counts=True),
    call(given([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True),
    call(ROWS, dim=0),
    call(ROWS, dim=0, return_inverse=True, return_counts=True),
    call(given([[1, 2, 1], [1, 2, 1]]), dim=1),
    call(given([[1, 1, 2], [1, 1, 2]]), dim=-1, return_inverse=True),
    call(real(3, 4)),
    call(real(2, 3, 2), dim=1),
    call(real(0)),
    call(real(0), return_inverse=True, return_counts=True),
    call(real(0, 2), dim=0),
    call(real(2, 0)),
    call(given(3)),
    call(mask(5), return_counts=True),
    special(given([NAN, 1.0, NAN]), return_inverse=True, return_counts=True),
    special(given([0.0, -0.0, 1.0])),
)
row(
    "unique",
    *DISTINCT,
    call(given([3, 1, 3]), True, True, True),
    bad=(call(real(0, 2), dim=1), call(real(), dim=0), call(real(2), dim=1), call(real(2), 1)),
    dtypes=False,
)
row(
    "unique_consecutive",
    *DISTINCT,
    call(given([3, 3, 1, 3]), True, True),
    bad=(call(real(0, 2), dim=1), call(real(), dim=0), call(real(2), dim=1)),
    dtypes=False,
)

# --- places in a sorted row -----------------------------------------------------------------------

STEPS = given([1.0, 3.0, 5.0])
row(
    "searchsorted",
    call(STEPS, real(2, 3)),
    call(STEPS, given([0.0, 1.0, 3.0, 6.0])),
    call(STEPS, given([0.0, 1.0, 3.0, 6.0]), right=True),
    call(STEPS, given([1.0]), side="right"),
    call(STEPS, given([1.0]), side="left"),
    call(STEPS, given([1.0]), out_int32=True),
    call(STEPS, 2.0),
    call(STEPS, 2),
    call(STEPS, real()),
    call(STEPS, given([2, 3])),
    call(given([[1.0, 2.0], [3.0, 4.0]]), given([[1.5, 2.0, 0.0], [3.5, 5.0, 3.0]])),
    call(given([5.0, 1.0, 3.0]), given([2.0]), sorter=given([1, 2, 0])),
    call(real(0), real(2)),
    call(STEPS, real(0)),
    call(STEPS, real(2, 0)),
    special(STEPS, given([NAN, INF])),
    bad=(
        call(STEPS, given([1.0]), side="left", right=True),
        call(STEPS, given([1.0]), side="up"),
        call(given([[1.0, 2.0], [3.0, 4.0]]), given([1.5])),
        call(given([[1.0, 2.0], [3.0, 4.0]]), 1.5),
        call(given(1.0), given([1.0])),
        call(STEPS, given([2.0]), sorter=given([1, 2, 7])),
        call(STEPS, given([2.0]), sorter=given([1, 2])),
    ),
)
row(
    "bucketize",
    call(given([[0.0, 1.0], [3.0, 6.0]]), STEPS),
    call(given([[0.0, 1.0], [3.0, 6.0]]), STEPS, right=True),
    call(given([0.0, 1.0]), STEPS, out_int32=True),
    call(2.5, STEPS),
    call(given([0, 1, 7]), STEPS),
    call(real(), STEPS),
    call(real(2, 0), STEPS),
    bad=(call(STEPS, real(2, 3)), call(STEPS, real())),
)

# --- counts ---------------------------------------------------------------------------------------

row(
    "histc",
    call(real(50)),
    call(real(50), 7),
    call(real(4, 5), 4),
    call(real(50), 5, -1, 1),
    call(real(50), bins=3, min=0, max=9),
    call(real(0), 3),
    call(given([1.0, 1.0]), 3),
    call(given([1.0, 2.0, 1.0, 3.0]), 4, 0, 3),
    special(given([1.0, NAN, 5.0, INF]), 3, 0, 6),
    bad=(
        call(real(3), 0),
        call(real(3), -1),
        call(real(3), 3, 2, 1),
        call(real(3), 3.5),
        call(real(3), 3, NAN, 1),
        call(given([1.0, INF]), 3),
        call(given([1, 2]), 3),
    ),
    dtypes=False,
)
row(
    "bincount",
    call(given([1, 3, 1])),
    call(given([1, 3, 1]), minlength=6),
    call(given([1, 3, 1]), given([0.5, 1.0, 2.0], "float32")),
    call(given([1, 3, 1]), given([1, 2, 3])),
    call(given([1, 3], "uint8")),
    call(given([], "int64")),
    call(given([], "int64"), minlength=3),
    bad=(
        call(given([-1])),
        call(given([[1]])),
        call(given(1)),
        call(real(3)),
        call(mask(2)),
        call(given([1, 2]), real(1)),
        call(given([1]), minlength=-1),
    ),
    dtypes=False,
)
