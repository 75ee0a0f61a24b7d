"""Layers that only move numbers: windows and columns, channels and space.

They have no parameters. What moves where is in `ops.columns` and `ops.pixelshuffle`. Lesson 10.
"""

from __future__ import annotations

from typing import Any

from ..ops.columns import fold, unfold
from ..ops.pixelshuffle import channel_shuffle, pixel_shuffle, pixel_unshuffle
from .module import Module


class Unfold(Module):
    """The windows of images as columns: (N, C, H, W) → (N, C · kh · kw, windows).

    Numbers are an int or a pair; RuntimeError where no window fits.

    >>> import tinygrad_course as tg
    >>> tg.nn.Unfold((2, 3))(tg.zeros(2, 5, 3, 4)).shape
    torch.Size([2, 30, 4])
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        return unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Unfold):
    """Columns added up where their windows lie: (N, C · kh · kw, windows) → (N, C, *output_size).

    Numbers are an int or a pair; RuntimeError where the columns are not those of such windows.

    >>> import tinygrad_course as tg
    >>> tg.nn.Fold((3, 4), (2, 3))(tg.zeros(2, 30, 4)).shape
    torch.Size([2, 5, 3, 4])
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"


class PixelShuffle(Module):
    """Channels into space: (…, C r², H, W) → (…, C, H r, W r), r = `upscale_factor`.

    >>> import tinygrad_course as tg
    >>> tg.nn.PixelShuffle(3)(tg.zeros(1, 9, 4, 4)).shape
    torch.Size([1, 1, 12, 12])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Space into channels: (…, C, H r, W r) → (…, C r², H, W), r = `downscale_factor`.

    >>> import tinygrad_course as tg
    >>> tg.nn.PixelUnshuffle(3)(tg.zeros(1, 1, 12, 12)).shape
    torch.Size([1, 9, 4, 4])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        return pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """The channels of (N, C, …) dealt out: the first of each group, then the second of each, ….

    >>> import tinygrad_course as tg
    >>> tg.nn.ChannelShuffle(2)(tg.arange(4.).view(1, 4, 1, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        return channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
