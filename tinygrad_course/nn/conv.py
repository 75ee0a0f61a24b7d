"""Convolution layers.

A layer owns its kernels and remembers the geometry; the windows and products are in `ops.conv`.
Lesson 10.
"""

from __future__ import annotations

import math
from typing import Any

from ..ops.conv import conv2d
from ..ops.creation import empty
from . import init
from .module import Module
from .parameter import Parameter


def _two(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


class Conv2d(Module):
    """Convolution with kernels of its own: (N, in, H, W) → (N, out, P, Q), P = ⌊(H + 2 padding −
    dilation (k − 1) − 1) / stride⌋ + 1.

    `kernel_size`, `stride`, `padding`, `dilation` are an int or a pair; `padding` may be 'same' or
    'valid'. `weight` (out, in / groups, k, k) and `bias` (out) start uniform over ±1/√(in / groups
    · k · k). ValueError for channels that `groups` does not divide; NotImplementedError for a
    `padding_mode` other than 'zeros'.

    >>> import tinygrad_course as tg
    >>> tg.nn.Conv2d(16, 33, 3, stride=2)(tg.zeros(20, 16, 50, 100)).shape
    torch.Size([20, 33, 24, 49])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(
                    f"{name} must be divisible by groups: {name}={channels}, groups={groups}"
                )
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}: choose 'valid' or 'same'")
            if padding == "same" and any(s != 1 for s in _two(stride)):
                raise ValueError(
                    f"padding='same' is not supported for strided convolutions, got stride={stride}"
                )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got "
                f"padding_mode={padding_mode!r}"
            )
        if padding_mode != "zeros":
            raise NotImplementedError(
                f"Conv2d: padding_mode={padding_mode!r} is not there yet; pad the input yourself "
                "and use padding=0"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _two(kernel_size)
        self.stride = _two(stride)
        self.padding = padding if isinstance(padding, str) else _two(padding)
        self.dilation = _two(dilation)
        self.groups = groups
        self.padding_mode = padding_mode
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        # This slope makes the bound √3 · √(2/6) / √fan = 1/√fan.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0, 0):
            text += f", padding={self.padding}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else f"{text}, bias=False"
