"""Pooling as functions: one number for each window of an image or a sequence.

Here are PyTorch's spellings; what a window does is in `ops.pool`. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from ...ops.pool import max_pool2d


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
