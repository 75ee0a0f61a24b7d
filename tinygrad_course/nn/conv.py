"""Convolution layers: of sequences, images and volumes, forward and transposed.

A layer owns its kernels and remembers how they lie on the input; all six share one base and differ
in the number of spatial dims and the function they call. The windows and products are in `ops`.
Lesson 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from ..ops.conv import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.creation import empty
from ..ops.pad import pad
from . import init
from .module import Module
from .parameter import Parameter


def spread(value: Any, times: int) -> tuple[Any, ...]:
    """A number as a tuple of so many; several numbers as they are.

    >>> spread(2, 3), spread([1, 2], 2)
    ((2, 2, 2), (1, 2))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * times


class _ConvNd(Module):
    """What all have: weight (out, in / groups, k, …), bias (out), and the geometry."""

    dims: ClassVar[int]
    function: ClassVar[Callable[..., Any]]
    transposed: ClassVar[bool] = False

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
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = spread(kernel_size, self.dims)
        self.stride = spread(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else spread(padding, self.dims)
        self.dilation = spread(dilation, self.dims)
        self.output_padding: tuple[Any, ...] = (0,) * self.dims
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        outer, inner = (
            (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        )
        shape = (outer, inner // groups, *self.kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {self.groups}")
        for name in ("in_channels", "out_channels"):
            channels = getattr(self, name)
            if channels % self.groups:
                raise ValueError(
                    f"{name} must be divisible by groups: {name}={channels}, groups={self.groups}"
                )
        if isinstance(self.padding, str) and self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {self.padding!r}: choose 'valid' or 'same'")
        if self.padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(
                "padding='same' is not supported for strided convolutions, got "
                f"stride={self.stride}"
            )
        if self.padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got "
                f"padding_mode={self.padding_mode!r}"
            )

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
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = pad(input, self._around(), self.padding_mode), 0
        return type(self).function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _around(self) -> list[int]:
        """What `pad` wants to hear: (before, after) from the last dim to the first."""
        if self.padding == "same":
            totals = [d * (k - 1) for k, d in zip(self.kernel_size, self.dilation, strict=True)]
        else:
            given = (0,) * self.dims if self.padding == "valid" else self.padding
            totals = [2 * p for p in given]
        return [side for total in reversed(totals) for side in (total // 2, total - total // 2)]

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


class Conv1d(_ConvNd):
    """Convolution of sequences with kernels of its own: (N, in, L) → (N, out, P); arguments and
    errors are those of `Conv2d`, with one spatial dim.

    >>> import tinygrad_course as tg
    >>> tg.nn.Conv1d(16, 33, 3, stride=2)(tg.zeros(20, 16, 50)).shape
    torch.Size([20, 33, 24])
    """

    dims = 1
    function = conv1d


class Conv2d(_ConvNd):
    """Convolution with kernels of its own: (N, in, H, W) → (N, out, P, Q), P = ⌊(H + 2 padding −
    dilation (k − 1) − 1) / stride⌋ + 1.

    `kernel_size`, `stride`, `padding`, `dilation` are an int or a pair; `padding` may be 'same' or
    'valid', and `padding_mode` says what is put there: 'zeros', 'reflect', 'replicate' or
    'circular'. `weight` (out, in / groups, k, k) and `bias` (out) start uniform over ±1/√(in /
    groups · k · k). ValueError for channels that `groups` does not divide and unknown words.

    >>> import tinygrad_course as tg
    >>> tg.nn.Conv2d(16, 33, 3, stride=2)(tg.zeros(20, 16, 50, 100)).shape
    torch.Size([20, 33, 24, 49])
    """

    dims = 2
    function = conv2d


class Conv3d(_ConvNd):
    """Convolution of volumes with kernels of its own: (N, in, D, H, W) → (N, out, P, Q, R);
    arguments and errors are those of `Conv2d`, with three spatial dims.

    >>> import tinygrad_course as tg
    >>> tg.nn.Conv3d(2, 3, 3, stride=2)(tg.zeros(2, 2, 5, 7, 9)).shape
    torch.Size([2, 3, 2, 3, 4])
    """

    dims = 3
    function = conv3d


class _ConvTransposeNd(_ConvNd):
    """The same the other way: weight (in, out / groups, k, …)."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, got '
                f"{padding_mode!r}"
            )
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            spread(padding, self.dims),
            dilation,
            groups,
            bias,
            device=device,
            dtype=dtype,
        )
        self.output_padding = spread(output_padding, self.dims)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """`output_size` chooses among the sizes that have an input of this size."""
        return type(self).function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding if output_size is None else self._missing(input, output_size),
            self.groups,
            self.dilation,
        )

    def _missing(self, input: Any, output_size: Sequence[int]) -> list[int]:
        """The output padding that gives `output_size`; ValueError where none does."""
        dims, before = self.dims, input.ndim - self.dims
        if len(output_size) not in (dims, dims + before):
            raise ValueError(
                f"{type(self).__name__}: for {input.ndim}D input, output_size must have {dims} or "
                f"{dims + before} elements (got {len(output_size)})"
            )
        size, wanted = input.shape[before:], tuple(output_size)[-dims:]
        geometry = zip(
            size, self.kernel_size, self.stride, self.padding, self.dilation, strict=True
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in geometry]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        missing = [n - low for n, low in zip(wanted, least, strict=True)]
        if any(not 0 <= m < s for m, s in zip(missing, self.stride, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to "
                f"{most} (for an input of {list(size)})"
            )
        return missing


class ConvTranspose1d(_ConvTransposeNd):
    """The adjoint of `Conv1d`, with kernels of its own: (N, in, L) → (N, out, P); arguments and
    errors are those of `ConvTranspose2d`, with one spatial dim.

    >>> import tinygrad_course as tg
    >>> tg.nn.ConvTranspose1d(16, 33, 3, stride=2)(tg.zeros(20, 16, 24)).shape
    torch.Size([20, 33, 49])
    """

    dims = 1
    function = conv_transpose1d


class ConvTranspose2d(_ConvTransposeNd):
    """The adjoint of `Conv2d`, with kernels of its own: (N, in, H, W) → (N, out, P, Q), P = (H − 1)
    stride − 2 padding + dilation (k − 1) + output_padding + 1.

    Numbers are an int or a pair. `weight` (in, out / groups, k, k) and `bias` (out) start uniform
    over ±1/√(out / groups · k · k). Called as `layer(input, output_size)` it chooses the output
    padding itself. ValueError for channels that `groups` does not divide, a `padding_mode` other
    than 'zeros', and an `output_size` that cannot be.

    >>> import tinygrad_course as tg
    >>> up = tg.nn.ConvTranspose2d(16, 33, 3, stride=2)
    >>> up(tg.zeros(20, 16, 24, 49)).shape, up(tg.zeros(20, 16, 24, 49), (50, 100)).shape
    (torch.Size([20, 33, 49, 99]), torch.Size([20, 33, 50, 100]))
    """

    dims = 2
    function = conv_transpose2d


class ConvTranspose3d(_ConvTransposeNd):
    """The adjoint of `Conv3d`, with kernels of its own: (N, in, D, H, W) → (N, out, P, Q, R);
    arguments and errors are those of `ConvTranspose2d`, with three spatial dims.

    >>> import tinygrad_course as tg
    >>> tg.nn.ConvTranspose3d(2, 3, 3, stride=2)(tg.zeros(2, 2, 2, 3, 4)).shape
    torch.Size([2, 3, 5, 7, 9])
    """

    dims = 3
    function = conv_transpose3d
