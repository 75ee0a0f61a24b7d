"""Samples of the functions that normalise; tests/test_norms.py has what they do to running
statistics and to large means."""

from tests.samples import call, given, real, row, special

EPS = 1e-3


def kept(n: int) -> tuple:
    """A running mean and a running variance of n channels."""
    return real(n, fixed=True), real(n, low=0.5, high=2.0, fixed=True)


def lone(n: int):
    """A bias without a weight: PyTorch cannot differentiate by it, or not twice."""
    return real(n, fixed=True)


NONE = (None, None)
BAD_BATCH = (
    call(real(4, 3), *NONE),
    call(real(4, 3), real(3, fixed=True), None, None, None, False),
    call(real(4, 3), *kept(2), training=True),
    call(real(4, 3), *kept(3), real(2), real(3), True),
    call(real(4, 3), *kept(3), real(3), real(2)),
    call(real(3), *kept(3), training=True),
    call(given([[1, 2], [3, 4]]), *NONE, None, None, True),
    call([1.0], *NONE, None, None, True),
)
row(
    "nn.functional.batch_norm",
    call(real(4, 3), *NONE, None, None, True, 0.1, EPS),
    call(real(4, 3), *kept(3), real(3), real(3), True, 0.3, EPS),
    call(real(2, 3, 4), *kept(3), real(3), real(3), True, eps=EPS),
    call(real(2, 3, 2, 3), *NONE, real(3), None, True, eps=EPS),
    call(real(2, 2, 1, 3, 2), *NONE, None, lone(2), True, eps=EPS),
    call(real(4, 3), *kept(3), real(3), real(3)),
    call(real(2, 3, 2, 2), *kept(3)),
    call(real(0, 3), *kept(3), real(3), real(3), True),
    call(real(0, 3, 2), *kept(3), real(3), real(3)),
    call(real(2, 0, 3), *NONE, None, None, True),
    bad=(
        *BAD_BATCH,
        call(real(1, 3), *kept(3), training=True),
        call(real(1, 3, 1), *NONE, training=True),
        call(real(4, 3), real(3, fixed=True), None, training=True),
        call(real(4, 3), *kept(3), training=True, eps=0.0),
        call(real(), *kept(3), training=True),
    ),
    dtypes=False,
)
row(
    "batch_norm",
    call(real(4, 3), real(3), real(3), *kept(3), True, 0.1, EPS, False),
    call(real(2, 3, 4), real(3), None, *kept(3), False, 0.1, EPS, True),
    bad=(call(real(4, 3)), call(real(4, 3), None, None, None, None, False, 0.1, EPS, False)),
    dtypes=False,
)
row(
    "nn.functional.instance_norm",
    call(real(2, 3, 4), eps=EPS),
    call(real(2, 3, 2, 2), *kept(3), real(3), real(3), eps=EPS),
    call(real(2, 2, 1, 2, 3), weight=real(2), eps=EPS),
    call(real(2, 3, 4), *kept(3), real(3), real(3), False),
    call(real(0, 3, 4)),
    bad=(
        call(real(4, 3)),
        call(real(3)),
        call(real(2, 3, 1)),
        call(real(2, 3, 4), use_input_stats=False),
        call(real(2, 3, 4), weight=real(2)),
        call(real(2, 3, 4), *kept(2)),
        call(given([[[1, 2]]])),
    ),
    dtypes=False,
)
row(
    "instance_norm",
    call(real(2, 3, 4), real(3), real(3), *kept(3), True, 0.1, EPS, False),
    bad=(call(real(2, 3, 4)),),
    dtypes=False,
)
SHAPES_REFUSED = (
    call(real(2, 3), (2,)),
    call(real(2, 3), ()),
    call(real(3), (2, 3)),
    call(real(2, 3), (3,), real(2)),
    call(real(2, 3), "a"),
    call(real(2, 3), 3),
    call(given([[1, 2]]), (2,)),
)
row(
    "layer_norm nn.functional.layer_norm",
    call(real(2, 3), (3,), eps=EPS),
    call(real(2, 3, 2), [3, 2], real(3, 2), real(3, 2), EPS),
    call(real(2, 2, 3), (3,), real(3), None, EPS),
    call(real(4), (4,), None, lone(4), EPS),
    call(real(0, 3), (3,)),
    call(real(2, 0), (0,)),
    bad=(
        *SHAPES_REFUSED,
        call(real(2, 3), (2, 3), real(3)),
        call(real(2, 3), (3,), None, real(1)),
        call(real(2, 3), (3,), given([1, 2, 3])),
    ),
    dtypes=False,
)
row(
    "rms_norm nn.functional.rms_norm",
    call(real(2, 3), (3,)),
    call(real(2, 3, 2), [3, 2], real(3, 2), EPS),
    call(real(2, 2, 3), (3,), real(3)),
    call(real(4), (4,), eps=0.5),
    call(real(2, 0), (0,)),
    special(given([[1e-3, 2e-3, 3e-3], [0.0, 0.0, 0.0]]), (3,)),
    bad=SHAPES_REFUSED,
    dtypes=False,
)
row(
    "group_norm nn.functional.group_norm",
    call(real(2, 4, 3), 2, eps=EPS),
    call(real(2, 4), 2, real(4), real(4), EPS),
    call(real(2, 6, 2, 2), 3, real(6), None, EPS),
    call(real(2, 3, 2), 1, None, lone(3), EPS),
    call(real(0, 4, 3), 2),
    call(real(2, 4, 0), 2),
    bad=(
        call(real(4), 2),
        call(real(2, 4, 3), 3),
        call(real(2, 4, 3), -2),
        call(real(2, 4, 3), 2, real(3)),
        call(given([[1, 2], [3, 4]]), 1),
    ),
    dtypes=False,
)
row(
    "nn.functional.local_response_norm",
    call(real(2, 5, 3), 3, alpha=0.5),
    call(real(2, 5, 3), 2, 0.5, 0.5, 2.0),
    call(real(1, 3, 2, 2), 9, alpha=1.0),
    call(real(2, 3, 2, 1, 2), 1),
    call(real(0, 3, 4), 2),
    bad=(call(real(2, 3), 2), call(real(2, 3, 4), 0), call(real(2, 3, 4), -1)),
    dtypes=False,
)
row(
    "nn.functional.normalize",
    call(real(2, 3)),
    call(real(3), dim=0),
    call(real(2, 3), 1, 0),
    call(real(2, 3), p=3.0),
    call(real(2, 3), float("inf"), 1),
    call(real(2, 3), dim=(0, 1)),
    call(real(2, 0)),
    special(given([[0.0, 0.0], [3.0, -4.0]])),
    special(given([[1e-3, 0.0], [1.0, 2.0]]), eps=0.1),
    bad=(call(real(3)), call(real(2, 3), dim=2), call(given([[1, 2]]))),
    dtypes=False,
)
