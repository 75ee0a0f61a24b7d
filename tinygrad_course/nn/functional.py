"""nn.functional: layers as plain functions, which get their weights as arguments.

Here are the spellings of PyTorch, old ones included; what is computed is in `ops`. A layer of `nn`
is one of these functions plus the parameters it owns. Lessons 09 and 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..dtype import DType
from ..ops import exponential, loss
from ..ops import softmax as _softmax
from ..ops.conv import conv2d
from ..ops.linear import linear
from ..ops.masks import one_hot
from ..ops.pool import max_pool2d

__all__ = [
    "conv2d",
    "cross_entropy",
    "linear",
    "log_softmax",
    "max_pool2d",
    "max_pool2d_with_indices",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "relu_",
    "sigmoid",
    "softmax",
    "tanh",
]

# --- activations ---------------------------------------------------------------------------------


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


# --- pooling -------------------------------------------------------------------------------------


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """`max_pool2d` with `return_indices=True`."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


# --- losses --------------------------------------------------------------------------------------


def legacy_reduction(
    size_average: bool | None, reduce: bool | None, reduction: str, stacklevel: int = 3
) -> str:
    """The reduction that the flags of old mean, with a warning; `reduction` itself when neither is
    given.

    >>> legacy_reduction(None, None, "sum")
    'sum'
    """
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        meant = "none"
    else:
        meant = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return meant


def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """(input − target)²: its 'mean', its 'sum', or as it is ('none'). See `ops.loss.mse_loss`.

    >>> import tinygrad_course as tg
    >>> mse_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]), reduction="sum")
    tensor(4.)
    """
    return loss.mse_loss(input, target, legacy_reduction(size_average, reduce, reduction), weight)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood −weight[t] · input[n, t] of the classes t = target[n]. See
    `ops.loss.nll_loss`.

    >>> import tinygrad_course as tg
    >>> nll_loss(tg.tensor([[-1., -2.]]), tg.tensor([1]))
    tensor(2.)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss.nll_loss(input, target, weight, ignore_index, reduction)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The negative log-likelihood of `target` under softmax(input). See `ops.loss.cross_entropy`.

    >>> import tinygrad_course as tg
    >>> cross_entropy(tg.zeros(1, 2), tg.tensor([1]))
    tensor(0.6931)
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return loss.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
