"""Normalisation as functions.

Here are PyTorch's spellings for layers, in another order of arguments than those of `tg`, and the
question whether there is a variance to divide by; what is computed is in `ops.norm`. Lesson 11.
"""

from __future__ import annotations

import math
from typing import Any

from ...ops import normalization as _norm
from ...ops.norm import channel_windows
from ...ops.normalization import layer_norm, rms_norm
from ...ops.registry import write_out

__all__ = ["layer_norm", "rms_norm"]


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of (N, C, …) moved and scaled to mean 0 and variance 1, then to `weight` and
    `bias` (C): in `training` by its own statistics, which the running ones (C) follow at the rate
    `momentum`, else by those.

    ValueError for a single number per channel in training; RuntimeError for sizes and types that do
    not fit.

    >>> import tinygrad_course as tg
    >>> batch_norm(tg.tensor([[1.], [3.]]), tg.zeros(1), tg.ones(1))
    tensor([[1.0000],
            [3.0000]])
    """
    if training:
        size = input.shape
        _require_several("value per channel", size, size[0] * math.prod(size[2:]))
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        if (running_mean is None) != (running_var is None):
            raise ValueError(
                "running_mean and running_var must either both be None or neither be None"
            )
    return _norm.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def _require_several(what: str, size: Any, count: int) -> None:
    """ValueError for a single number, which has no variance."""
    if count == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {size}")


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """As `batch_norm`, with the statistics of each channel of each sample of (N, C, …), or where
    not `use_input_stats` the running ones. ValueError for a single number per channel.

    >>> import tinygrad_course as tg
    >>> instance_norm(tg.tensor([[[1., 3.]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats:
        _require_several("spatial element", input.shape, math.prod(input.shape[2:]))
    return _norm.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
    )


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """The channels of each sample of (N, C, …), in `num_groups` groups, moved and scaled to mean 0
    and variance 1, then to `weight` and `bias` (C).

    ValueError for a single number per group; RuntimeError for sizes and types that do not fit.

    >>> import tinygrad_course as tg
    >>> group_norm(tg.tensor([[1., 3., 2., 6.]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    n, c, *places = input.shape
    count = n * c // num_groups * math.prod(places)
    _require_several("value per channel", list(input.shape), count)
    return _norm.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """x / (k + alpha·mean of x² over `size` neighbouring channels)^beta, for (N, C, …); beyond the
    first and the last channel count zeros.

    ValueError for fewer than 3 dims, RuntimeError for a size below 1.

    >>> import tinygrad_course as tg
    >>> local_response_norm(tg.ones(1, 3, 1), 3, alpha=3.0, beta=1.0).flatten()
    tensor([0.3333, 0.2500, 0.3333])
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    if size < 1:
        raise RuntimeError(f"kernel size should be greater than zero, but got {size}")
    neighbours = channel_windows(input * input, size // 2, (size - 1) // 2)
    return input / (neighbours * (alpha / size) + k) ** beta


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """x over its p-norm along `dim`, or over eps where that is larger.

    IndexError for a dim that does not exist.

    >>> import tinygrad_course as tg
    >>> normalize(tg.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    return write_out(input / input.norm(p, dim, True).clamp_min(eps), out)
