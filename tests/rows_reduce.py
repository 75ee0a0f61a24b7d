"""Samples of reductions and scans beyond the everyday ones."""

import math

from tests.samples import (
    NO_DIM,
    OVER,
    SEVERAL,
    TWICE,
    Own,
    call,
    given,
    mask,
    real,
    reduced,
    row,
    special,
)

NAN, INF = math.nan, math.inf

# --- scans ----------------------------------------------------------------------------------------

ALONG = reduced(*OVER[1:3])
row(
    "cumsum",
    *ALONG,
    call(real(7), 0),
    call(real(2, 3), 1, dtype=Own("float64")),
    call(mask(3), 0),
    call(given([1, 2], "uint8"), 0),
    special(given([1.0, INF, -INF, NAN, 1.0]), 0),
    bad=(*NO_DIM, call(real(2, 3), (0, 1)), call(real(2))),
)
row(
    "cumprod",
    *ALONG,
    call(real(7), 0),
    call(real(2, 3), 1, dtype=Own("float64")),
    call(mask(3), 0),
    special(given([[1.0, 0.0, 3.0, 2.0], [2.0, 3.0, 4.0, 5.0]]), 1),
    special(given([2.0, 0.0, 3.0, 0.0, 4.0]), 0),
    special(given([0.0, 2.0]), 0),
    bad=(*NO_DIM, call(real(2, 3), (0, 1)), call(real(2))),
)
row(
    "cummax cummin",
    *ALONG,
    call(real(9), 0),
    special(given([1.0, 3.0, 2.0, 3.0, 1.0, 1.0]), 0),
    special(given([1.0, NAN, 2.0, NAN, 0.0]), 0),
    special(given([INF, -INF, INF]), 0),
    call(mask(4), 0),
    bad=(*NO_DIM, call(real(2))),
)
row(
    "logcumsumexp",
    *ALONG,
    call(real(9), 0),
    special(given([1000.0, 1000.0, -1000.0]), 0),
    special(given([1.0, INF, NAN]), 0),
    bad=(*NO_DIM, call(real(2))),
)
row(
    "diff",
    call(real(5)),
    call(real(2, 3, 4)),
    call(real(2, 3, 4), 2, 1),
    call(real(3, 2), 1, 0),
    call(real(2, 3), n=5),
    call(real(2, 3), 0),
    call(real(5), prepend=real(2), append=real(1)),
    call(real(2, 3), dim=0, prepend=real(1, 3)),
    call(real(4), append=given([1, 2])),
    call(mask(4)),
    call(mask(4), 2),
    call(real(0)),
    call(real(2, 0)),
    bad=(
        call(real()),
        call(real(3), -1),
        call(real(3), 1, 1),
        call(real(3), prepend=real()),
        call(real(2, 3), prepend=real(3, 3)),
    ),
)

# --- sums -----------------------------------------------------------------------------------------

row(
    "nansum",
    *reduced(*OVER, *SEVERAL),
    call(real(2, 3), dtype=Own("float64")),
    call(mask(3)),
    special(given([[1.0, NAN, 2.0], [NAN, NAN, NAN]])),
    special(given([[1.0, NAN, 2.0], [NAN, NAN, NAN]]), 1),
    bad=(*NO_DIM, *TWICE),
)
row(
    "nanmean",
    *reduced(*OVER, *SEVERAL),
    special(given([[1.0, NAN, 2.0], [NAN, NAN, NAN]])),
    special(given([[1.0, NAN, 2.0], [NAN, NAN, NAN]]), 1, True),
    bad=(*NO_DIM[:3], *TWICE, call(given([1, 2]))),
)
row(
    "count_nonzero",
    *reduced({}, {"dim": 0}, {"dim": -1}, {"dim": (0, 2)}),
    call(given([[1, 0, 3], [0, 0, 1]]), 1),
    call(mask(4)),
    call(real(2, 3), ()),
    special(given([0.0, NAN])),
    bad=(*NO_DIM[:3], *TWICE),
)
row(
    "trace",
    call(real(2, 3)),
    call(real(3, 2)),
    call(real(1, 1)),
    call(real(0, 3)),
    call(given([[1, 2], [3, 4]])),
    bad=(call(real()), call(real(3)), call(real(2, 2, 2))),
)

# --- extremes -------------------------------------------------------------------------------------

row(
    "aminmax",
    *reduced({}, {"dim": 0}, {"dim": -1}, {"dim": 1, "keepdim": True}, empty=False),
    call(real(2, 0, 3), dim=0),
    special(given([3.0, 1.0, 3.0, 1.0])),
    special(given([[1.0, 1.0, 3.0], [2.0, 2.0, 2.0]]), dim=1),
    special(given([1.0, NAN])),
    bad=(
        call(real(2, 3), dim=2),
        call(real(2, 3), 1),
        call(real(0)),
        call(real(2, 0), dim=1),
        call(real(2, 3), dim=(0, 1)),
    ),
)

# --- norms ----------------------------------------------------------------------------------------

ORDERS = (0, 0.5, 1, 1.5, 2, 3, -1, INF, -INF)
row(
    "norm",
    call(real(2, 3)),
    call(real()),
    call(real(0)),
    *(call(real(2, 3), p) for p in ORDERS),
    *(call(given([300.0, 300.0, -7.0]), p) for p in (0.5, 1.5, 2, 3)),  # squares beyond float16
    *(call(real(2, 3, 4), p, 1) for p in ORDERS),
    *(call(real(2, 3, 4), p, (0, 2), True) for p in (1, 2, INF)),
    call(real(2, 3), "fro"),
    call(real(2, 3), "fro", 1),
    call(real(2, 3), "fro", (0, 1)),
    call(real(2, 3), dim=-1),
    call(real(2, 3), dtype=Own("float64")),
    call(real(2, 0, 3), 2, 1),
    *(special(given([[0.0, 0.0], [3.0, 0.0]]), p, 1) for p in ORDERS),
    special(given([3.0, -3.0, 1.0]), INF),
    special(given([1.0, NAN])),
    bad=(
        call(real(2, 3), 2, 2),
        call(real(2, 3), 2, (0, 0)),
        call(real(2, 3), "x"),
        call(real(0), INF),
        call(real(0), -1),
        call(given([1, 2])),
    ),
)
row(
    "dist",
    call(real(2, 3), real(2, 3)),
    call(real(2, 3), real(3)),
    call(real(), real()),
    call(real(0), real(0)),
    *(call(real(2, 3), real(2, 3, low=-1, high=4), p) for p in ORDERS[1:]),
    special(given([1.0, 2.0]), given([1.0, 2.0])),
    special(given([1.0, 2.0]), given([1.0, 2.0]), 1),
    bad=(call(real(2), real(3)), call(real(2), 1.0), call(given([1]), given([2]))),
)

# --- statistics -----------------------------------------------------------------------------------

row(
    "var_mean std_mean",
    *reduced(*OVER, *SEVERAL, empty=False),
    call(real(4), False),
    call(real(2, 3), 1, False),
    call(real(5), correction=2),
    call(real(5), dim=0, correction=0),
    special(given([1.0, 1.0])),
    bad=(*NO_DIM[:3], *TWICE, call(given([1, 2]))),
)
row(
    "median nanmedian",
    *reduced({}, {"dim": -1}, {"dim": 1, "keepdim": True}, empty=False),
    call(real(2, 0, 3), 0),
    call(real(7)),
    call(real(4, 5), 1),
    special(given([1.0, NAN, 2.0])),
    special(given([[1.0, NAN, 2.0], [3.0, 1.0, 2.0]]), 1),
    special(given([[1.0, NAN, 2.0], [NAN, NAN, NAN]]), 1, True),
    special(given([2.0, 1.0, 2.0, 3.0])),
    special(given([NAN, NAN])),
    call(given([[5, -3, 7, 2]]), 1),
    call(given([5, 3, 7, 5], "uint8")),
    call(given([[2.0, 5.0, 1.0]], "float16"), 1),
    bad=(*NO_DIM[:3], call(real(2, 0), 1), call(real(2, 3), (0, 1))),
    dtypes=False,  # as integers some become equal, and which of those is chosen is left open
)
row("Tensor.median", call(real(2, 3), 1), dtypes=False)
row(
    "mode",
    call(real(5)),
    call(real(2, 3, 4), 1),
    call(real()),
    call(real(0, 2)),
    call(given([[1, 2, 2, 1], [3, 3, 1, 1]])),
    call(given([2, 1, 2, 1, 1, 2, 0]), 0, True),
    call(mask(5)),
    special(given([1.0, 2.0, 2.0, 5.0])),
    special(given([NAN, NAN, 1.0, 1.0])),
    bad=(*NO_DIM[:3], call(real(2, 0))),
)
row(
    "quantile",
    *(
        call(real(3, 5), 0.3, interpolation=how)
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    call(real(7), 0.5),
    call(real(2, 3, 4), 0.25, 1),
    call(real(2, 3, 4), 0.25, 1, True),
    call(real(2, 3, 4), 0.25, keepdim=True),
    call(real(2, 3, 4), real(3, low=0, high=1, fixed=True)),
    call(real(2, 3, 4), real(3, low=0, high=1, fixed=True), 1),
    call(real(2, 3, 4), real(3, low=0, high=1, fixed=True), 0, True),
    call(real(), 0.5),
    call(real(4), 0),
    call(real(4), 1),
    special(given([1.0, NAN, 3.0]), 0.5),
    special(given([[1.0, NAN], [2.0, 3.0]]), 0.0, 1),
    bad=(
        call(real(3), 1.5),
        call(real(0), 0.5),
        call(real(3), 0.5, 1),
        call(real(3), 0.5, interpolation="cubic"),
        call(real(3), given([[0.5]])),
        call(given([1, 2]), 0.5),
    ),
)
