"""Samples of the activations as functions; tests/test_activations.py has their in-place forms."""

import math

from tests.samples import call, given, real, row, special, unary

NAN, INF = math.nan, math.inf
FAR = special(given([-1e4, -40.0, -1e-3, 1e-3, 40.0, 1e4]))


def bent(*bends: float, **settings: float) -> tuple:
    """Calls f(x, **settings) over shapes, at the extremes, far out, and at the bends."""
    return (
        *(call(*c.args, **settings) for c in unary()[:-1]),
        *(special(*c.args, **settings) for c in (unary()[-1], FAR)),
        *([special(given(list(bends)), **settings)] if bends else []),
    )


NO_TENSOR = call(2.0)
NAMES = "relu6 silu hardsigmoid hardswish logsigmoid softsign tanhshrink"
row(" ".join(f"nn.functional.{name}" for name in NAMES.split()), *bent(-3.0, 3.0, 6.0))
row("nn.functional.mish", *bent()[:-1])  # PyTorch's has nan for a second derivative far out
row("selu nn.functional.selu", *bent(), bad=(NO_TENSOR,))
row("celu nn.functional.celu", *bent(), *bent(alpha=0.5), bad=(call(real(2), 0.0),))
row(
    "nn.functional.elu",
    *bent(),
    *bent(alpha=0.3),
    *bent(alpha=-0.5),
    bad=(call(real(2), "a"), NO_TENSOR),
)
row(
    "nn.functional.leaky_relu",
    *bent(),
    *bent(negative_slope=0.3),
    *bent(negative_slope=-0.1),
    bad=(call(real(2), None), call([1.0])),
)
# Without the infinities, of which PyTorch's vectorised kernel makes nan.
row(
    "nn.functional.gelu",
    *(
        c
        for kind in ({}, {"approximate": "tanh"})
        for c in bent(**kind)
        if c.args[0].array.size != 7
    ),
    bad=(call(real(2), approximate="x"),),
)
row("nn.functional.softplus", *bent(19.9, 20.1), *bent(beta=2.0, threshold=1.0), *bent(beta=-2.0))
row(
    "nn.functional.hardtanh",
    *bent(),
    *bent(-0.5, 1.5, min_val=-0.5, max_val=1.5),
    special(given([0.0, 1.0]), 1.0, 1.0),
    bad=(call(real(2), 1.0, -1.0),),
)
row(
    "hardshrink nn.functional.hardshrink",
    *bent(0.5, -0.5),
    *bent(lambd=1.2),
    special(given([0.5, -2.0]), -1.0),
)
row(
    "nn.functional.softshrink",
    *bent(0.5, -0.5),
    *bent(lambd=1.2),
    bad=(call(real(2), -1.0), call(real(2), INF)),
)
row(
    "threshold nn.functional.threshold",
    *bent(0.5, threshold=0.5, value=7.0),
    call(real(2, 3), 0.3, 0.2),
    special(given([1.0, 2.0, 3.0]), 1.5, 2.7),
    bad=(call(real(2), 0.5), call(2.0, 0.5, 1.0)),
)
row(
    "nn.functional.glu",
    call(real(2, 4)),
    call(real(2, 4, 3), 1),
    call(real(4, 3), dim=0),
    call(real(0, 4)),
    call(real(4, 0), -2),
    special(given([NAN, INF, 1.0, -1e4, 1e4, 0.0])),
    bad=(call(real(2, 3)), call(real()), call(real(2, 4), 2)),
)
row(
    "prelu nn.functional.prelu",
    call(real(2, 3), real(1)),
    call(real(2, 3), real(3)),
    call(real(2, 3, 2), real(3)),
    call(real(3), real(1)),
    call(real(), real(1)),
    call(real(), real()),
    call(real(2, 3), real()),
    call(real(0, 3), real(3)),
    special(given([0.0, -0.0, NAN, INF, -INF, 1e4, -1e4]), given([0.25])),
    bad=(
        call(real(2, 3), real(2)),
        call(real(3), real(3)),
        call(real(), real(2)),
        call(real(2, 3), real(1, 3)),
        call(real(2, 3), 0.25),
        call(real(2, 3), given([1])),
    ),
)
row(
    "rrelu nn.functional.rrelu",
    *bent(),
    call(real(2, 3), 0.1, 0.5),
    call(real(4, 5), training=True),
    call(real(3), 0.2, 0.2, True),
    special(given([0.0, -0.0, -1.0, NAN, -1.0]), training=True),
    call(real(0), training=True),
    bad=(call(real(2), 2.0, 1.0), call(real(2), NAN, 1.0), call(real(2), 0.0, INF)),
    seeded=True,
    syncs=True,
)
row(
    "nn.functional.softmin",
    call(real(2, 3), 1),
    call(real(2, 3, 2), dim=0),
    special(given([1e4, -1e4, 0.0]), 0),
    bad=(call(real(2, 3), 2), call(given([True]), 0)),
    dtypes=False,
)
row(
    "nn.functional.gumbel_softmax",
    call(real(2, 3)),
    call(real(2, 3), 0.5, dim=0),
    call(real(2, 3), hard=True),
    bad=(call(given([1, 2])), call(real(2), dim=1)),
    dtypes=False,
    seeded=True,
)
