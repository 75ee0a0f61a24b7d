"""Samples of dropout: one seed gives PyTorch's masks; tests/test_dropout.py has the in-place
forms."""

import math

from tests.samples import call, given, real, row, special

P = (-0.1, 1.1, math.nan)

row(
    "nn.functional.dropout",
    call(real(3, 4)),
    call(real(20, 5), 0.2),
    call(real()),
    call(real(2, 0)),
    call(real(3, 4), 0.0),
    call(real(3, 4), 1.0),
    call(real(3, 4), 1),
    call(real(3, 4), 0.3, False),
    special(given([math.inf, math.nan, 1.0]), 1.0),
    bad=(*(call(real(3), p) for p in P), call(real(3), "a"), call(real(3), None), call(2.0)),
    seeded=True,
)
row(
    "dropout feature_dropout alpha_dropout feature_alpha_dropout",
    call(real(3, 4), 0.3, True),
    call(real(4, 3, 2, 2), 0.5, True),
    call(real(3, 4), 0.3, False),
    call(real(3, 4), 1.0, True),
    call(real(2, 0), 0.5, True),
    bad=(*(call(real(3, 2), p, True) for p in P), call(real(3)), call(2.0, 0.5, True)),
    seeded=True,
    dtypes=False,
)
row(
    "nn.functional.alpha_dropout nn.functional.feature_alpha_dropout",
    call(real(3, 4)),
    call(real(4, 3, 2), 0.3, True),
    call(real(3, 4), 0.0, True),
    call(real(3, 4), 1.0, True),
    bad=tuple(call(real(3, 2), p, True) for p in P),
    seeded=True,
)
row(
    "nn.functional.dropout1d",
    call(real(4, 3, 2)),
    call(real(4, 3), 0.3),
    call(real(4, 3), 0.3, False),
    call(real(2, 0, 3)),
    bad=(call(real(3)), call(real(2, 3, 4, 2)), *(call(real(3, 2), p) for p in P)),
    seeded=True,
    dtypes=False,
)
row(
    "nn.functional.dropout2d nn.functional.dropout3d",
    call(real(4, 3, 2, 2), 0.3),
    call(real(4, 3, 2)),
    call(real(4, 3)),
    call(real(2, 3, 2, 1, 2)),
    call(real(4, 3, 2, 2), 0.3, False),
    bad=(call(real()), *(call(real(3, 2, 2, 2), p) for p in P)),
    seeded=True,
    dtypes=False,
)
