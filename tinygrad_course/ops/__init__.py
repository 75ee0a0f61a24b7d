"""All operations: importing this package defines them, which binds their functions and methods (see
`registry`)."""

from . import (
    bounds,
    compare,
    conv,
    convert,
    creation,
    elementwise,
    index,
    inplace,
    linalg,
    linear,
    loss,
    pointwise,
    pool,
    reduce,
    softmax,
    special,
    trigonometry,
    views,
    window,
)
from .registry import FUNCTIONS

__all__ = [
    "FUNCTIONS",
    "bounds",
    "compare",
    "conv",
    "convert",
    "creation",
    "elementwise",
    "index",
    "inplace",
    "linalg",
    "linear",
    "loss",
    "pointwise",
    "pool",
    "reduce",
    "softmax",
    "special",
    "trigonometry",
    "views",
    "window",
]
