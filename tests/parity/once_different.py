"""Programs on which the two engines once differed, as `walks.shrink` left them: they stay as tests.

A program and not its seed, since a seed means another program as soon as the maker learns a step.
"""

from __future__ import annotations

from .walks import Step

PROGRAMS: dict[str, list[Step]] = {
    "x[:] = value changes x itself, and saves nothing for a second pass": [
        ("leaf", (3,), False, 0),
        ("leaf", (3,), True, 1),
        ("no_grad", ("call", "true_divide", 0, ("tensor", 1))),
        ("put", 2, ("slice", 0, 3, 1), ("tensor", 1)),
        ("backward", 2, False),
    ],
    "what NumPy made a scalar is added to all the same": [
        ("leaf", (), True, 0),
        ("view", ("expand", (2,)), 0, None),
        ("backward", 1, True),
    ],
}
