"""All operations: importing this package defines them, which binds their functions and methods (see
`registry`)."""

from . import (
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
    pool,
    reduce,
    softmax,
    views,
    window,
)
from .registry import FUNCTIONS

__all__ = [
    "FUNCTIONS",
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
    "pool",
    "reduce",
    "softmax",
    "views",
    "window",
]
