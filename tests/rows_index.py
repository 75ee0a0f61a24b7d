"""Rows of samples: indexing, gather and scatter, masks."""

import math

from tests.samples import call, given, mask, places, real, row, special

# --- x[...] ---------------------------------------------------------------------------------------

LONG = given([2, 0, 2])
EVERY = slice(None)
row(
    "Tensor.__getitem__",
    *(
        call(real(3, 4, 5), index)
        for index in (
            *(1, -1, (0, 2), (0, 1, -2), (EVERY, 1), (..., 2), (1, ..., 2), ..., ()),
            *(slice(1, None), slice(None, -1, 2), (EVERY, slice(1, 3)), slice(2, 1), slice(5, 9)),
            *((slice(0, 2), EVERY, slice(None, None, 3)), (slice(1, 3), 0), (EVERY, EVERY)),
            *(None, (None, 1), (1, None), (EVERY, None, 1), (..., None), (slice(1, 3), None, 0)),
            *((None, slice(1, 3)), (None, None, EVERY, 2)),
            *(LONG, [2, 0], (LONG, [1, 3, 0]), (EVERY, LONG), (..., LONG), (LONG, EVERY, LONG)),
            *((0, EVERY, LONG), (EVERY, 0, LONG), (LONG, 0, LONG), (LONG, 1), (1, LONG)),
            *((LONG, slice(1, 3), 0), (slice(1, 3), given([0, 3]), 1), (EVERY, LONG, LONG)),
            *((given([[0], [2]]), given([0, 1, 3])), (given([[0], [2]]), EVERY, given([0, 1]))),
            *((None, LONG), (LONG, None), (LONG, None, LONG), given([[0, 1], [2, 2]])),
            *(given([-1, -3]), given(1), (given(1), EVERY, LONG), given([1, 0], "int32")),
            *(places(0, below=3), [], ([], 0), places(2, 0, below=3), range(2), (range(2), 1)),
            *(mask(3), mask(3, 4), mask(3, 4, 5), (EVERY, mask(4)), (mask(3), 0), (0, mask(4, 5))),
            *((mask(3), EVERY, given([0, 2])), (mask(3), given([1, 0])), (..., mask(5))),
            *([True, False, True], (EVERY, [False] * 4), given([False] * 3)),
            *(True, False, (True, 0), (0, True), (LONG, True), given(True), given(False)),
            *((slice(0, 2), mask(4), None, 1), (mask(3), None, mask(5))),
        )
    ),
    *(call(real(), index) for index in (..., (), None, True, False, given(True), (None, 0))),
    *(call(real(0, 3), index) for index in (slice(None), places(0, below=1), (EVERY, LONG))),
    *(call(real(3, 0), index) for index in (0, LONG, mask(3), (EVERY, places(0, below=1)))),
    call(real(3), given([1, 0, 1], "uint8")),
    call(real(3, 4), [slice(None), 1]),
    call(real(3, 4), [[0, 1], [1, 2]]),
    bad=(
        *(
            call(real(3, 4), index)
            for index in (
                *(3, -4, (0, 4), (0, 0, 0), (..., 0, 0, 0), given([3]), given([0, -4])),
                *(1.0, "a", (0.5, 0), given([0.5]), given([1], "int8"), given([1], "int16")),
                *(mask(4), mask(3, 3), (EVERY, mask(3)), mask(3, 4, 1), [True, False]),
                *((LONG, given([0, 1])), (mask(3), LONG), {0}, [["a"]]),
                *(slice(None, None, -1), slice(None, None, 0), slice(0.5, None), slice("a")),
                *((LONG, LONG, LONG), (None, 3)),
            )
        ),
        *(call(real(), index) for index in (0, slice(None), LONG, given(0), (0, 0))),
        call(real(0, 3), LONG),
    ),
    syncs=True,
)
row(
    "index_put",
    call(real(4), (given([0, 2]),), real(2)),
    call(real(4), [given([0, -1])], real()),
    call(real(3, 4), (given([0, 2]),), real(4)),
    call(real(3, 4), (given([0, 2]), given([1, 1])), real(2)),
    call(real(3, 4), (given([[0], [2]]), given([1, 3])), real(2, 2)),
    call(real(3, 4), (given(1),), real(4)),
    call(real(3, 4), (mask(3, 4),), real()),
    call(real(3, 4), (mask(3),), real(1, 4)),
    call(real(3, 4), (mask(3),), given([7])),
    call(real(4), (given([0, 2, 0]),), real(3), True),
    call(real(3, 4), (given([0, 2, 0]),), real(3, 4), accumulate=True),
    call(real(3, 4, 2), (given([0, 2, 0]), given([1, 1, 1])), real(3, 2), accumulate=True),
    call(real(3, 4), (places(0, below=3),), real(0, 4)),
    bad=(
        call(real(4), given([0]), real(1)),
        call(real(4), (given([4]),), real(1)),
        call(real(4), (given([0]), given([0])), real(1)),
        call(real(4), (given([0, 1]),), real(3)),
        call(real(4), (given([0.5]),), real(1)),
        call(real(4), (given([0]),), given([1])),
        call(real(4), (0,), real(1)),
        call(real(4), (), real(1)),
        call(real(3, 4), (mask(4),), real(1)),
        call(real(4), (given([0, 1]),), real(1, 2)),
        call(real(4), (given([0]),), 1.0),
    ),
    syncs=True,
)

# --- along one dim --------------------------------------------------------------------------------

BAD_ALONG = (
    call(real(3), 0, given([3]), real(1)),
    call(real(3), 0, given([-1]), real(1)),
    call(real(3), 0, given([1, 2]), real(1)),
    call(real(3), 0, given([0.5]), real(1)),
    call(real(3), 1, given([0]), real(1)),
    call(real(3, 3), 0, given([1]), real(3)),
    call(real(3, 3), 0, given([[1]]), real(3)),
    call(real(2, 3), 0, places(1, 4, below=2), real(1, 4)),
    call(real(3), 0, given([0]), given([1])),
)
row(
    "scatter",
    call(real(3, 4), 1, given([[0, 1], [3, 2], [1, 0]]), real(3, 2)),
    call(real(3, 4), 0, given([[2, 0, 1, 1]]), real(3, 4, fixed=True)),
    call(real(5), -1, given([1, 3]), real(3, fixed=True)),
    call(real(3, 4), 1, given([[0, 1], [3, 2], [1, 0]]), 2.5),
    call(real(3), 0, given([0, 2]), value=1),
    call(real(3), 0, given([0, 2]), src=real(2)),
    call(real(3), 0, given(1), real()),
    call(real(), 0, given(0), 2.0),
    call(real(3), 0, places(0, below=3), real(3, fixed=True)),
    call(real(2, 3), 0, places(0, 3, below=2), 1.0),
    call(real(2, 3), 0, places(0, below=2), 1.0),
    call(given([1, 2, 3]), 0, given([0]), 2.7),
    call(real(3), 0, given([0, 2, 0]), real(3), reduce="add"),
    call(real(3), 0, given([0, 2, 0]), 2.0, reduce="multiply"),
    bad=(
        *BAD_ALONG,
        call(real(3), 0, given([0])),
        call(real(3), 0, given([0]), real(1), reduce="sum"),
        call(real(3), 0, given([0]), "a"),
    ),
)
row(
    "Tensor.scatter_add",
    call(real(), 0, given([0, 0]), real(2)),
    call(real(2, 3, 2), 1, places(2, 2, 2, below=3), real(2, 3, 2, fixed=True)),
    call(real(3), 0, given([0, 2], "int32"), real(2)),
    bad=(*BAD_ALONG, call(real(3), 0, given([0]), 1.0)),
)
row(
    "scatter_reduce",
    *(
        call(real(3, 4), 1, places(3, 3, below=4), real(3, 3), how, **self)
        for how in ("sum", "prod", "mean", "amax", "amin")
        for self in ({}, {"include_self": False})
    ),
    *(call(real(3), 0, given([0, 0, 2]), real(3), how) for how in ("prod", "mean", "amax")),
    special(given([2.0, 3.0]), 0, given([0, 0, 1]), given([0.0, 4.0, 5.0]), "prod"),
    special(given([0.0, 3.0]), 0, given([0, 0, 1]), given([2.0, 4.0, 5.0]), "prod"),
    special(given([2.0, 3.0]), 0, given([0, 0, 1]), given([2.0, 2.0, 1.0]), "amax"),
    special(given([2.0, 3.0]), 0, given([0, 1, 1]), given([math.nan, 5.0, 1.0]), "amin"),
    call(real(2, 3), 0, places(1, 3, below=2), real(2, 3, fixed=True), reduce="sum"),
    call(real(), 0, given(0), real(), "prod"),
    call(real(3), 0, places(0, below=3), real(2, fixed=True), "sum"),
    bad=(
        *(call(*c.args, "sum") for c in BAD_ALONG),
        call(real(3), 0, given([0]), real(1), "median"),
        call(real(3), 0, given([0]), real(1)),
    ),
)
row(
    "Tensor.gather",
    call(real(2, 3, 2), 1, places(2, 2, 2, below=3)),
    call(real(), 0, given([0, 0])),
    call(real(3), 0, given([0, 2], "int32")),
    call(real(2, 3), 1, places(2, 4, below=3), sparse_grad=False),
    bad=(
        call(real(3), 0, given([0], "int16")),
        call(real(3), 0, given([0], "uint8")),
        call(real(3), 0, given([3])),
        call(real(), 0, given([1])),
    ),
)
row(
    "take_along_dim",
    call(real(3, 4), places(3, 2, below=4), 1),
    call(real(3, 4), given([[0], [2], [1]]), dim=1),
    call(real(3, 4), given([[1, 0, 2, -1]]), 0),
    call(real(3, 4), given([[0, 11], [5, 5]])),
    call(real(2, 1, 3), places(1, 4, 2, below=3), -1),
    call(real(), given(0)),
    bad=(
        call(real(3, 4), given([0]), 1),
        call(real(3, 4), given([[0], [1]]), 1),
        call(real(3, 4), given([[0]], "int32"), 1),
        call(real(3, 4), given([[0.5]]), 1),
        call(real(3, 4), given([[0]]), 2),
        call(real(), given(0), 0),
    ),
)
row(
    "Tensor.index_select",
    call(real(2, 3, 2), 1, given([2, 0, 0])),
    call(real(2, 3), dim=0, index=given(1)),
    bad=(
        call(real(3), 0, given([1], "int16")),
        call(real(), 0, given([0, 0])),
        call(real(), 0, given([1])),
    ),
)
row(
    "Tensor.index_add",
    call(real(2, 3, 2), 1, given([2, 0, 0]), real(2, 3, 2)),
    call(real(), 0, given(0), real()),
    call(given([1, 2]), 0, given([0]), given([5]), alpha=2.5),
    call(real(3), 0, given([0], "int32"), real(1), alpha=2.5),
    bad=(
        call(real(3), 0, given([0, 1]), real()),
        call(real(3), 0, given([-1]), real(1)),
        call(real(3), 0, given([0]), given([1])),
        call(real(), 0, given([0]), real(1)),
        call(real(3), 0, given([[0]]), real(1)),
        call(real(3), 1, given([0]), real(1)),
    ),
)
row(
    "index_copy",
    call(real(3, 4), 1, given([3, 0]), real(3, 2)),
    call(real(3, 4), 0, given([1]), real(1, 4)),
    call(real(3), 0, given([0, 2]), real(2)),
    call(real(3), 0, given(1), real()),
    call(real(3), 0, given([1]), real()),
    call(real(), 0, given([0]), real(1)),
    call(real(3), 0, places(0, below=3), real(0)),
    bad=(
        call(real(3), 0, given([3]), real(1)),
        call(real(3), 0, given([-1]), real(1)),
        call(real(3), 0, given([0, 1]), real(1)),
        call(real(3), 0, given([0], "int32"), real(1)),
        call(real(3), 0, given([0]), given([1])),
        call(real(3, 2), 0, given([0]), real(1, 3)),
        call(real(3, 2), 0, given([[0]]), real(1, 2)),
        call(real(3, 2), 0, given([0]), real(2)),
        call(real(3, 2), 2, given([0]), real(1, 2)),
    ),
)
row(
    "index_fill",
    call(real(3, 4), 1, given([3, 0]), 7),
    call(real(3, 4), 0, given([1, -1]), 2.5),
    call(real(3), 0, given(1), real()),
    call(real(3), 0, given([1]), given(2)),
    call(given([1, 2]), 0, given([1]), 2.7),
    call(real(), 0, given([0]), 3),
    call(real(3), 0, places(0, below=3), 1),
    bad=(
        call(real(3), 0, given([3]), 1),
        call(real(3), 0, given([0], "int32"), 1),
        call(real(3), 0, given([[0]]), 1),
        call(real(3), 0, given([0]), real(1)),
        call(real(3), 0, given([0]), "a"),
        call(real(3), 1, given([0]), 1),
    ),
)
row(
    "take",
    call(real(3, 4), given([0, 11, 0])),
    call(real(3, 4), given([[0, -1], [5, 5]])),
    call(real(3, 4), given(3)),
    call(real(), given([0, 0])),
    call(real(0), places(0, below=1)),
    bad=(
        call(real(3, 4), given([12])),
        call(real(3, 4), given([-13])),
        call(real(3, 4), given([0], "int32")),
        call(real(0), given([0])),
    ),
)
row(
    "put",
    call(real(3, 4), given([0, -1]), real(2)),
    call(real(3, 4), given([[0, 5], [7, 3]]), real(4)),
    call(real(3, 4), given([0, 2, 0]), real(3), True),
    call(real(), given(0), real()),
    call(real(3), places(0, below=3), real(0)),
    bad=(
        call(real(3), given([3]), real(1)),
        call(real(3), given([0]), real(2)),
        call(real(3), given([0]), given([1])),
        call(real(3), given([0], "int32"), real(1)),
        call(real(0), given([0]), real(1)),
        call(real(3), given([0]), 1.0),
    ),
)

# --- masks ----------------------------------------------------------------------------------------

row(
    "masked_scatter",
    call(real(2, 3), mask(2, 3), real(6)),
    call(real(2, 3), mask(3), real(2, 2)),
    call(real(3), mask(2, 3), real(4)),
    call(real(), mask(), real(1)),
    call(real(2, 0), mask(2, 0), real(0)),
    bad=(
        call(real(3), mask(3), real(1)),
        call(real(3), mask(3), given([1, 2, 3])),
        call(real(3), real(3), real(3)),
        call(real(3), mask(2), real(3)),
        call(real(3), mask(3), 1.0),
    ),
    syncs=True,
)
row(
    "Tensor.masked_fill",
    call(real(3), mask(2, 3), 1),
    call(real(2, 3), mask(2, 3), real()),
    call(real(2, 3), mask(2, 3), given(3)),
    call(given([1, 2]), given([True, False]), 2.7),
    call(mask(3), mask(3), 2),
    bad=(call(real(2), mask(2), real(1)), call(real(3), given([1, 0, 1], "uint8"), 0)),
)
row(
    "Tensor.masked_select",
    call(real(3), mask(2, 1)),
    call(real(2, 3), given(True)),
    bad=(call(real(3), given([1, 0, 1], "uint8")),),
    syncs=True,
)
row(
    "argwhere",
    call(given([[0, 1, 2], [3, 0, 0]])),
    call(mask(4)),
    call(given(3)),
    call(given(0)),
    call(real(2, 0)),
    syncs=True,
)
row(
    "repeat_interleave",
    call(real(2, 3), 2),
    call(real(2, 3), 2, 0),
    call(real(2, 3), 3, dim=-1),
    call(real(2, 3), given([1, 2]), 0),
    call(real(2, 3), given([2]), 1),
    call(real(2, 3), given(2), 1),
    call(real(3), given([0, 2, 1]), output_size=3),
    call(real(3), given([0, 2, 1], "int32")),
    call(real(2, 3), 0, 1),
    call(real(), 3),
    call(real(0, 2), 2, 0),
    bad=(
        call(real(2, 3), given([1, 2, 3]), 0),
        call(real(2, 3), -1),
        call(real(3), given([1, -1, 1])),
        call(real(2, 3), 2.0),
        call(real(2, 3), [1, 2], 0),
        call(real(2, 3), given([[1, 2]]), 0),
        call(real(2, 3), 2, 2),
        call(real(3), given([0, 2, 1]), output_size=4),
        call(real(3), 2, output_size=5),
        call(real(), 3, 0),
    ),
    syncs=True,
)
row(
    "nn.functional.one_hot",
    call(given([0, 2, 1])),
    call(given([0, 2, 1]), 5),
    call(given([[0, 1], [1, 1]]), num_classes=2),
    call(given(1), 3),
    call(places(0, below=1), 3),
    bad=(
        call(given([0, 2]), 2),
        call(given([-1])),
        call(given([0.5])),
        call(given([1], "int32")),
        call(places(0, below=1)),
    ),
    syncs=True,
)
