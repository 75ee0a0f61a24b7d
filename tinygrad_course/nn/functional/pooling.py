"""Pooling over sliding windows as functions: one number for each window of a sequence, an image or
a volume.

Here are PyTorch's spellings; what a window does is in `ops`. Windows that divide an image are in
`adaptive_pooling`. Lesson 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ops import avg_pool as _avg
from ...ops import max_pool as _max
from ...ops.arguments import per_dim, require_tensors
from ...ops.max_unpool import max_unpool

# --- maxima ---------------------------------------------------------------------------------------


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of a sequence, (N, C, L) → (N, C, P), as by `tg.max_pool1d`; with
    `return_indices` also their places.

    >>> import tinygrad_course as tg
    >>> max_pool1d(tg.tensor([[1., 5., 2., 0.]]), 2)
    tensor([[5., 2.]])
    """
    pool = _max.max_pool1d_with_indices if return_indices else _max.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _with_indices(pool: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`pool` that gives the places, too, whatever its last argument says."""

    def pooled(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    pooled.__name__ = pooled.__qualname__ = name
    pooled.__doc__ = f"`{pool.__name__}` with `return_indices=True`."
    return pooled


max_pool1d_with_indices = _with_indices(max_pool1d, "max_pool1d_with_indices")
max_pool2d_with_indices = _with_indices(_max.max_pool2d, "max_pool2d_with_indices")
max_pool3d_with_indices = _with_indices(_max.max_pool3d, "max_pool3d_with_indices")


# --- back from the maxima -------------------------------------------------------------------------


def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Sequences with the input's values at `indices`, as `max_pool1d` returns them, and zeros
    elsewhere: (N, C, P) → (N, C, L).

    L = (P − 1) stride − 2 padding + kernel_size, or the `output_size`, less than a stride from it.
    ValueError for another size, RuntimeError for indices outside.

    >>> import tinygrad_course as tg
    >>> max_unpool1d(tg.tensor([[5., 2.]]), tg.tensor([[1, 2]]), 2)
    tensor([[0., 5., 2., 0.]])
    """
    require_tensors("max_unpool1d", input=input, indices=indices)
    (size,) = _unpooled("max_unpool1d", 1, input, kernel_size, stride, padding, output_size)
    images = input.unsqueeze(-1), indices.unsqueeze(-1)
    return max_unpool("max_unpool1d", 2, *images, (size, 1)).squeeze(-1)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Images with the input's values at `indices`, as `max_pool2d` returns them, and zeros
    elsewhere: (N, C, P, Q) → (N, C, H, W), sized as by `max_unpool1d`.

    >>> import tinygrad_course as tg
    >>> max_unpool2d(tg.tensor([[[5.]]]), tg.tensor([[[1]]]), 2)
    tensor([[[0., 5.],
             [0., 0.]]])
    """
    require_tensors("max_unpool2d", input=input, indices=indices)
    size = _unpooled("max_unpool2d", 2, input, kernel_size, stride, padding, output_size)
    return max_unpool("max_unpool2d", 2, input, indices, size)


def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Volumes with the input's values at `indices`, as `max_pool3d` returns them, and zeros
    elsewhere: (N, C, O, P, Q) → (N, C, D, H, W), sized as by `max_unpool1d`.

    >>> import tinygrad_course as tg
    >>> max_unpool3d(tg.tensor([[[[5.]]]]), tg.tensor([[[[0]]]]), (1, 1, 2))
    tensor([[[[5., 0.]]]])
    """
    require_tensors("max_unpool3d", input=input, indices=indices)
    size = _unpooled("max_unpool3d", 3, input, kernel_size, stride, padding, output_size)
    if min(per_dim(kernel_size if stride is None else stride, 3, "stride", "max_unpool3d")) < 1:
        raise RuntimeError(f"max_unpool3d: strides should be greater than zero, got {stride}")
    return max_unpool("max_unpool3d", 3, input, indices, size)


def _unpooled(
    name: str, dims: int, x: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> list[int]:
    """The size of the images that a pooling with these arguments made x of, or the one that was
    given, if it could be."""
    kernel = per_dim(kernel_size, dims, "kernel_size", name)
    steps = kernel if stride is None else per_dim(stride, dims, "stride", name)
    frame = per_dim(padding, dims, "padding", name)
    windows = zip(x.shape[-dims:], steps, kernel, frame, strict=True)
    size = [(count - 1) * s + k - 2 * p for count, s, k, p in windows]
    if output_size is not None:
        given = list(output_size)
        given = given[2:] if len(given) == dims + 2 else given
        if len(given) != dims:
            raise ValueError(
                f"{name}: output_size should be a sequence containing {dims} or {dims + 2} "
                f"elements, but it has a length of {len(given)}"
            )
        for n, usual, s in zip(given, size, steps, strict=True):
            if not usual - s < n < usual + s:
                raise ValueError(
                    f"{name}: invalid output_size {output_size}: {n} must be between {usual - s} "
                    f"and {usual + s}"
                )
        size = given
    if min(size) < 0:
        raise ValueError(
            f"{name}: output_size must contain non-negative spatial dimensions, but got {size}"
        )
    return size


# --- power means ----------------------------------------------------------------------------------


def lp_pool1d(
    input: Any, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(Σ xᵖ)^(1/p) over each window of a sequence, p being the `norm_type`: (N, C, L) → (N, C, P).

    Infinity gives the largest |x|, minus infinity the smallest.

    >>> import tinygrad_course as tg
    >>> lp_pool1d(tg.tensor([[3., 4., 6., 8.]]), 2, 2)
    tensor([[ 5., 10.]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(Σ xᵖ)^(1/p) over each window of an image, p being the `norm_type`: (N, C, H, W) → (N, C, P,
    Q).

    >>> import tinygrad_course as tg
    >>> lp_pool2d(tg.tensor([[[3., 0.], [0., 4.]]]), 2, 2)
    tensor([[[5.]]])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(Σ xᵖ)^(1/p) over each window of a volume, p being the `norm_type`: (N, C, D, H, W) → (N, C,
    O, P, Q).

    >>> import tinygrad_course as tg
    >>> lp_pool3d(tg.ones(1, 1, 2, 2), 2, (1, 2, 2))
    tensor([[[[2.]]]])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


_MAXIMA = {1: _max.max_pool1d, 2: _max.max_pool2d, 3: _max.max_pool3d}
_MEANS = {1: _avg.avg_pool1d, 2: _avg.avg_pool2d, 3: _avg.avg_pool3d}


def _lp_pool(dims: int, x: Any, p: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    require_tensors(f"lp_pool{dims}d", input=x)
    if math.isinf(p):
        sign = 1 if p > 0 else -1
        return sign * _MAXIMA[dims](sign * x.abs(), kernel_size, stride, 0, 1, ceil_mode)
    cells = math.prod(per_dim(kernel_size, dims, "kernel_size", f"lp_pool{dims}d"))
    means = _MEANS[dims](x.pow(p), kernel_size, stride, 0, ceil_mode)
    # Equal to the mean, but of gradient 0 at 0, where that of the root alone is infinite.
    return (means.sign() * means.abs().relu()).mul(cells).pow(1 / p)
