"""Activations as functions: the bends between the linear parts of a model.

Here are PyTorch's spellings, e.g. the `inplace` flag; what is computed is in `ops`. Lessons 09 and
13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...dtype import DType
from ...ops import exponential
from ...ops import softmax as _softmax


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0) elementwise; `inplace=True` overwrites the input.

    >>> import tinygrad_course as tg
    >>> relu(tg.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return input.relu_() if inplace else exponential.Relu.fn(input)


def relu_(input: Any) -> Any:
    """max(x, 0) in place."""
    return input.relu_()


def tanh(input: Any) -> Any:
    """The hyperbolic tangent, elementwise."""
    return exponential.Tanh.fn(input)


def sigmoid(input: Any) -> Any:
    """1 / (1 + exp(−x)), elementwise."""
    return exponential.Sigmoid.fn(input)


def softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Any:
    """exp(x) / Σ exp(x) along `dim`; without a dim it guesses one, with a warning.

    >>> import tinygrad_course as tg
    >>> softmax(tg.zeros(4), 0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _softmax.softmax(input, _dim(dim, "softmax", input.ndim, _stacklevel), dtype)


def log_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Any:
    """x − log Σ exp(x) along `dim`; without a dim it guesses one, with a warning.

    >>> import tinygrad_course as tg
    >>> log_softmax(tg.tensor([0., 1e4]), 0)
    tensor([-10000.,      0.])
    """
    return _softmax.log_softmax(input, _dim(dim, "log_softmax", input.ndim, _stacklevel), dtype)


def _dim(dim: int | None, name: str, ndim: int, stacklevel: int) -> int:
    if dim is not None:
        return dim
    guess = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated: dim={guess} is taken for "
        f"{ndim} dims. Pass dim=.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return guess
