"""Sample inputs of random operations, beside those in `samples.py`: both libraries are seeded."""

from .samples import Own, call, given, real, row

row(
    "randint_like",
    call(real(2, 3), 10),
    call(real(2, 3), 2, 10),
    call(real(20), -5, 5, dtype=Own("int64")),
    call(real(3), high=4),
    call(real(3), low=3, high=4),
    call(given([1, 2, 3]), 7),
    call(given([1, 2, 3], "uint8"), 256),
    bad=(call(real(2), 5, 5), call(real(2)), call(given([1], "uint8"), 257), call(real(2), 1.5)),
    seeded=True,
    dtypes=False,
)
row(
    "normal",
    # No gradients: without a reward they are an error. test_stochastic has them.
    call(real(3, fixed=True), real(3, low=0, high=2, fixed=True)),
    call(real(2, 1, fixed=True), real(3, low=0, high=2, fixed=True)),
    call(real(20, fixed=True), 0.5),
    call(1.0, real(20, low=0, high=2, fixed=True)),
    call(real(17, fixed=True)),
    call(real(fixed=True), real(low=0, high=1, fixed=True)),
    call(0.5, 2.0, (3,)),
    call(0, 1, (20,)),
    call(1.0, 2.0, (2, 10), dtype=Own("float64")),
    bad=(
        call(real(3), real(2, low=0)),
        call(real(2), given([1.0, -1.0])),
        call(real(2), -1.0),
        call(0.0, 1.0),
        call(given([1, 2]), 1.0),
    ),
    seeded=True,
    dtypes=False,
)
row(
    "multinomial",
    call(real(6, low=0, high=1), 4),
    call(real(3, 5, low=0, high=1), 2),
    call(real(3, 5, low=0, high=1), 9, True),
    call(real(4, low=0, high=1), 1, replacement=True),
    call(given([0.0, 1.0, 0.0]), 1),
    call(real(0, 3), 1),
    bad=(
        call(given([1, 2, 3]), 2),
        call(real(3, low=0), 4),
        call(given([0.0, 0.0]), 1),
        call(given([1.0, -1.0]), 1),
        call(real(), 1),
        call(real(2, 2, 2, low=0), 1),
        call(real(2, low=0), 0),
    ),
    seeded=True,
    dtypes=False,
)
FILLED = (call(real(3, fixed=True)), call(real(4, 5, fixed=True)), call(real(0, fixed=True)))
row(
    "exponential_",
    *FILLED,
    call(real(20, fixed=True), 2.5),
    bad=(call(given([1, 2])), call(real(2, fixed=True), 0), call(real(2, fixed=True), -1.0)),
    seeded=True,
    dtypes=False,
)
row(
    "cauchy_",
    *FILLED,
    call(real(20, fixed=True), 1, 0.5),
    bad=(call(given([1, 2])), call(real(2, fixed=True), 0, 0)),
    seeded=True,
    dtypes=False,
)
row(
    "log_normal_",
    *FILLED,
    call(real(21, fixed=True), -1, 0.5),
    bad=(call(given([1, 2])), call(real(2, fixed=True), 0, 0)),
    seeded=True,
    dtypes=False,
)
row(
    "geometric_",
    call(real(4, 5, fixed=True), 0.3),
    call(given([1, 2, 3]), 0.9),
    call(given([1, 2, 3], "uint8"), 0.01),
    bad=(
        call(real(2, fixed=True), 0),
        call(real(2, fixed=True), 1),
        call(real(2, fixed=True)),
        call(given([True]), 0.5),
    ),
    seeded=True,
    dtypes=False,
)
row(
    "bernoulli_",
    *FILLED,
    call(real(4, 5, fixed=True), 0.3),
    call(real(4, 5, fixed=True), real(5, low=0, high=1, fixed=True)),
    call(given([1, 2, 3]), 0.5),
    call(given([True, False]), 0.5),
    bad=(call(real(2, fixed=True), 1.5), call(real(2, fixed=True), given([2.0, 0.5]))),
    seeded=True,
    dtypes=False,
)
row(
    "random_",
    *FILLED,
    call(real(4, 5, fixed=True), 10),
    call(real(4, 5, fixed=True), -3, 10),
    call(given([1, 2, 3]), 1 << 40),
    call(given([1, 2, 3]), 5, None),
    call(given([1, 2, 3], "uint8"), 0, 256),
    call(given([1, 2, 3], "uint8"), 5, None),
    call(given([True, False, True])),
    bad=(
        call(real(2, fixed=True), 5, 5),
        call(real(2, fixed=True), 0),
        call(real(2, fixed=True), 1.5),
        call(given([1], "uint8"), 0, 300),
        call(given([1], "uint8"), -1, 3),
    ),
    seeded=True,
    dtypes=False,
)
