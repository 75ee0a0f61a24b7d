"""Pooling layers: they have no parameters and only remember their windows.

What a window does is in `ops.pool`. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from ..ops.pool import max_pool2d
from .module import Module


class MaxPool2d(Module):
    """The maximum of each window: (N, C, H, W) → (N, C, P, Q); `stride` is `kernel_size` unless
    given.

    P = ⌊(H + 2 padding − dilation (k − 1) − 1) / stride⌋ + 1, or ⌈…⌉ with `ceil_mode`. With
    `return_indices` also where in the H × W plane each maximum was.

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxPool2d(3, stride=2)(tg.zeros(20, 16, 50, 32)).shape
    torch.Size([20, 16, 24, 15])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )
