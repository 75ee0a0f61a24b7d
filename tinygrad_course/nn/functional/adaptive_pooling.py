"""Pooling to a size as functions: windows that divide an image, adaptive or at fractional steps.

Here are PyTorch's spellings, and the draws that decide the fractional steps; what a window does is
in `ops`. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from ...ops import adaptive_pool as _adaptive
from ...ops.arguments import require_tensors
from ...ops.fractional_pool import fractional_max_pool
from ...ops.sampling import rand


def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool1d` with `return_indices=True`."""
    return _adaptive.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool2d` with `return_indices=True`."""
    return _adaptive.adaptive_max_pool2d(input, output_size)


def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> Any:
    """`adaptive_max_pool3d` with `return_indices=True`."""
    return _adaptive.adaptive_max_pool3d(input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of `output_size` windows that cover a sequence: (N, C, L) → (N, C, P).

    >>> import tinygrad_course as tg
    >>> adaptive_max_pool1d(tg.tensor([[1., 2., 4., 3.]]), 2)
    tensor([[2., 4.]])
    """
    pooled = _adaptive.adaptive_max_pool1d(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of P × Q windows that cover an image: (N, C, H, W) → (N, C, P, Q).

    `output_size` is (P, Q) or one int for both; None leaves a size as it is. With `return_indices`
    also the places of the maxima in the flattened H × W plane.

    >>> import tinygrad_course as tg
    >>> adaptive_max_pool2d(tg.arange(12.).reshape(1, 3, 4), (1, 2))
    tensor([[[ 9., 11.]]])
    """
    pooled = _adaptive.adaptive_max_pool2d(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of O × P × Q windows that cover a volume: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> adaptive_max_pool3d(tg.arange(8.).reshape(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    pooled = _adaptive.adaptive_max_pool3d(input, output_size)
    return pooled if return_indices else pooled[0]


# --- maxima at fractional steps -------------------------------------------------------------------


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool2d` with `return_indices=True`."""
    return _fractional(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """`fractional_max_pool3d` with `return_indices=True`."""
    return _fractional(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples
    )


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The maxima of windows at random steps: (N, C, H, W) → (N, C, P, Q), where P × Q is the
    `output_size`, or `output_ratio` times the input's.

    The numbers in [0, 1) that decide, (N, C, 2), are drawn unless `_random_samples` gives them.
    ValueError without a size and a ratio, RuntimeError for windows that do not fit.

    >>> import tinygrad_course as tg
    >>> fractional_max_pool2d(tg.arange(9.).reshape(1, 3, 3), 2, output_size=2)
    tensor([[[4., 5.],
             [7., 8.]]])
    """
    pooled = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return pooled if return_indices else pooled[0]


def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The maxima of windows of a volume at random steps: (N, C, D, H, W) → (N, C, O, P, Q).

    The arguments are those of `fractional_max_pool2d`.

    >>> import tinygrad_course as tg
    >>> fractional_max_pool3d(tg.ones(1, 3, 3, 3), 2, output_size=1)
    tensor([[[[1.]]]])
    """
    pooled = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
    return pooled if return_indices else pooled[0]


def _fractional(
    name: str, dims: int, x: Any, kernel_size: Any, size: Any, ratio: Any, samples: Any
) -> Any:
    require_tensors(name, input=x)
    if size is None and ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    shape = tuple(x.shape)
    if len(shape) <= dims:
        raise IndexError(
            f"{name}: Dimension out of range: expected images of {dims} dims, with channels, but "
            f"got {list(shape)}"
        )
    if size is None:
        size = [int(n * r) for n, r in zip(shape[-dims:], ratio, strict=True)]
    if samples is None:
        batch = 1 if len(shape) == dims + 1 else shape[0]
        samples = rand(batch, shape[-dims - 1], dims, dtype=x.dtype, device=x.device)
    return fractional_max_pool(name, dims, x, kernel_size, size, samples)
