"""Samples of the elementwise operations beyond the everyday ones."""

import math

from tests.samples import (
    EXTREMES,
    NOT_BROADCAST,
    SHAPES,
    binary,
    call,
    given,
    mask,
    real,
    row,
    special,
    unary,
)

NAN, INF = math.nan, math.inf

# --- angles ---------------------------------------------------------------------------------------

row("tan sinh cosh asinh arcsinh atan arctan deg2rad rad2deg", *unary())
row("asin arcsin acos arccos atanh arctanh", *unary(-0.9, 0.9))
row("acosh arccosh", *unary(1.1, 3))
row(
    "sinc",
    *(call(real(*s)) for s in SHAPES),
    special(given([0.0, 1.0, -2.0, 0.5, NAN, INF])),
    special(given([1e-3, -1e-3, 20.3])),
)
row(
    "atan2 arctan2",
    *binary(0.3, 2),
    special(given([0.0, 0.0, -0.0, 1.0, -1.0]), given([0.0, -1.0, -1.0, -0.0, 0.0])),
    bad=(NOT_BROADCAST, call(real(2), 1.0)),
)
row("hypot", *binary(0.3, 2), bad=(NOT_BROADCAST, call(real(2), 1.0)))

# --- division -------------------------------------------------------------------------------------

DIVIDENDS = given([7.0, -7.0, 7.0, -7.0, 0.0]), given([2.0, 2.0, -2.0, -2.0, 3.0])
row(
    "div divide",
    *binary(0.5, 2, 3, 2.5),
    *(special(*DIVIDENDS, rounding_mode=mode) for mode in (None, "floor", "trunc")),
    call(real(2, 3), real(3, low=0.5), rounding_mode="floor"),
    call(given([7, -7, 8]), 2, rounding_mode="trunc"),
    call(given([7, -7, 8]), given([2, -3, -3]), rounding_mode="floor"),
    call(given([7, -7, 8]), 2.5, rounding_mode="trunc"),
    bad=(
        NOT_BROADCAST,
        call(real(2), None),
        call(real(2), 2, rounding_mode="up"),
        call(given([1, 2]), 0, rounding_mode="trunc"),
        call(given([1, 2]), given([1, 0]), rounding_mode="floor"),
    ),
)
row(
    "fmod",
    *binary(0.6, 2, 3, 0.75),
    special(*DIVIDENDS),
    bad=(
        NOT_BROADCAST,
        call(given([1, 2]), given([1, 0])),
        call(given([1, 2]), 0),
        call(3, given([1, 2])),
    ),
)
row("frac", *unary())
row(
    "rsub",
    *binary(-2, 2, 3, 2.5),
    call(real(2, 3), real(3), alpha=2),
    call(real(2, 3), 1.5, alpha=-0.5),
    bad=(NOT_BROADCAST, call(real(2), "a"), call(mask(2), 1), call(given([1]), 2, alpha=1.5)),
)

# --- powers and logarithms ------------------------------------------------------------------------

row("exp2", *unary())
row("log2 log10", *unary(0.5, 4), special(given([-1.0, 0.0])))
row(
    "float_power",
    *binary(0.5, 2, 2, 0.5, -1),
    call(2, real(3)),
    call(given([1, 2, 3]), 2),
    bad=(NOT_BROADCAST, call(2, 2)),
)
row("logaddexp logaddexp2", *binary(), bad=(NOT_BROADCAST, call(real(2), 1.0)))
row(
    "xlogy",
    *binary(0.5, 2, 3, 2.5),
    call(2, real(3, low=0.5)),
    special(given([0.0, 1.0, 0.0, 0.0, 2.0, 0.0]), given([0.0, 0.0, -1.0, 2.0, 3.0, NAN])),
    bad=(NOT_BROADCAST, call(2, 3)),
)
row(
    "logit",
    *unary(0.1, 0.9),
    call(real(2, 3, low=0.2, high=0.8), 0.1),
    special(given([0.0, 0.05, 0.5, 0.95, 1.0, 2.0, -1.0]), 0.1),
    special(given([0.0, 0.05, 0.5, 1.0, NAN]), eps=0.2),
)

# --- special functions ----------------------------------------------------------------------------

row("erf erfc", *unary(), special(given([1e-8, 0.3, 0.46875, 0.5, 3.9, 4.1, 9.0, -6.0, 27.0])))
row("erfinv", *unary(-0.95, 0.95), special(given([1e-10, 0.5, -0.999, 0.999999, 1.0 - 1e-15])))
row("lgamma", *unary(0.2, 6), special(given([1e-5, 1.0, 2.0, 150.0, -0.5, -2.3, -20.7, 1e6])))
row(
    "digamma",
    *(call(real(*s, low=0.2, high=6)) for s in SHAPES),
    special(given([0.0, -0.0, 1.0, NAN, INF, -INF])),
    special(given([1e-5, 1.0, 150.0, -0.5, -2.3, -20.7, 1e6, 1.4616])),
)

# --- mixing ---------------------------------------------------------------------------------------

row(
    "lerp",
    call(real(2, 3), real(2, 3), 0.3),
    call(real(2, 3), real(3), 0.7),
    call(real(2, 3), real(1, 3), real(2, 1, low=0)),
    call(real(), real(), real()),
    call(real(2, 3), real(2, 3), 2),
    call(real(3), real(), real()),
    call(real(0), real(0), 0.5),
    special(given([1.0, 2.0]), given([3.0, INF]), 1.0),
    bad=(
        call(real(2), real(3), 0.5),
        call(real(2), 1.0, 0.5),
        call(real(2), given([1, 2]), 0.5),
        call(real(2), real(2), "a"),
    ),
)
row(
    "addcmul addcdiv",
    *(
        call(real(*a), real(*b), real(*c, low=0.5))
        for a, b, c in (
            ((2, 3), (2, 3), (2, 3)),
            ((2, 3), (3,), (2, 1)),
            ((2, 3), (), (1,)),
            ((), (), ()),
            ((0,), (1,), ()),
        )
    ),
    call(real(2, 3), real(2, 3), real(3, low=0.5), value=2.5),
    call(real(3), 2, real(3), real(3, low=0.5)),
    call(real(3), given([1, 2, 3]), real(3, low=0.5), value=2),
    bad=(
        call(real(2), real(3), real(2)),
        call(real(2), 1.0, real(2)),
        call(real(2), real(2), real(2), value="a"),
    ),
)

# --- bounds and signs -----------------------------------------------------------------------------

row(
    "clamp clip",
    *(call(real(*s), -1.1, 0.9) for s in SHAPES),
    call(real(2, 3), min=0.1),
    call(real(2, 3), max=0.1),
    call(real(2, 3), None, 1),
    call(real(2), 1, -1),
    call(given([1, 5, 9]), 2, 7),
    call(given([1, 5, 9]), 2.5),
    special(given(EXTREMES), -1, 1),
    special(given([1.0, 2.0, 3.0]), 1, 2),
    special(given([1.0, 2.0]), NAN, 1.0),
    call(real(2, 3), real(3, high=-1), real(2, 1, low=1)),
    call(real(2, 3), real(2, 3)),
    call(real(2, 3), max=real(2, 3)),
    call(real(2, 3), real(3), 1.0),
    call(real(3), real(2, 3)),
    call(real(), real(), real()),
    call(given([1, 5]), given([2.0, 2.0])),
    special(
        given([0.0, 1.0, 2.0, 3.0, NAN, 1.0, 1.0]),
        given([0.0, 2.0, 1.0, 2.0, 1.0, 3.0, 1.0]),
        given([0.0, 3.0, 1.5, 2.5, 2.0, 2.0, 1.0]),
    ),
    bad=(call(real(2)), call(real(2), "a"), call(real(2), real(3))),
)
row(
    "clamp_min clamp_max",
    *binary(-2, 2, 1, 0.5),
    call(given([1, 5, 9]), 2.5),
    special(given([1.0, 2.0, NAN, 1.0]), given([1.0, 3.0, 1.0, NAN])),
    bad=(NOT_BROADCAST, call(real(2), "a")),
)
row("fmax fmin", *binary(), bad=(NOT_BROADCAST, call(real(2), 1.0)))
row("sgn signbit", *unary())
row("copysign", *binary(-2, 2, 3, -2.5), bad=(NOT_BROADCAST, call(1.5, real(2))))
row(
    "heaviside",
    *binary(),
    call(given([0, 1, -1]), given([5, 6, 7])),
    bad=(NOT_BROADCAST, call(real(2), 0.5), call(real(2), given([1, 2]))),
)
row(
    "nan_to_num",
    *unary(),
    special(given([NAN, INF, -INF, 1.0]), 1.5),
    special(given([NAN, INF, -INF, 1.0]), posinf=2.0),
    special(given([NAN, INF, -INF, 1.0]), nan=-1.0, neginf=3.0),
    bad=(call(real(2), "a"),),
)

# --- logic ----------------------------------------------------------------------------------------

row(
    "logical_xor",
    *binary(),
    special(given([0.0, 0.0, 1.0]), given([0.0, 2.0, 0.0])),
    bad=(NOT_BROADCAST, call(real(2), 1)),
)
row(
    "bitwise_left_shift bitwise_right_shift",
    call(given([12, 5, -3, 0]), given([1, 3, 2, 5])),
    call(given([[1], [2]]), given([3, 5])),
    call(given(6), given(3)),
    call(given([12, -5]), 2),
    call(given([1, -1]), 70),
    call(given([1, -1]), -1),
    call(given([3, 5], "uint8"), given([1, 7], "uint8")),
    call(given([100, -5], "int8"), 1),
    call(given([100, -5], "int8"), given([1, 2])),
    bad=(call(real(2), 1), call(given([1, 2]), 1.5), call(given([1, 2]), given([1, 2, 3]))),
)
row(
    "isin",
    call(real(2, 3), real(4)),
    call(given([[1, 2], [3, 4]]), given([2, 3])),
    call(given([1, 2, 3]), 2),
    call(2, given([1, 2, 3])),
    call(given([1, 2, 3]), given([2, 5]), invert=True),
    call(given([1, 2, 3]), given([2, 5]), assume_unique=True),
    call(given([1.0, NAN]), given([NAN, 1.0])),
    call(real(2, 0), real(2)),
    call(real(2), real(0)),
    call(real(), real(3)),
    bad=(call(1, 1), call(given([1]), [1])),
)
