"""Upsampling layers: they remember how much larger their output is.

How a pixel is made is in `ops.upsample`. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from .functional import interpolate
from .module import Module


class Upsample(Module):
    """Sequences, images or volumes (N, C, …) of another `size`, or `scale_factor` times as large,
    as by `nn.functional.interpolate`.

    >>> import tinygrad_course as tg
    >>> tg.nn.Upsample(scale_factor=2)(tg.tensor([[[1., 2.]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple([float(factor) for factor in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is None:
            return f"size={self.size!r}, mode={self.mode!r}"
        return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images (N, C, H, W) of another size, each pixel the nearest one: `Upsample` with mode
    'nearest'.

    >>> import tinygrad_course as tg
    >>> tg.nn.UpsamplingNearest2d(size=(1, 4))(tg.tensor([[[[1., 2.]]]]))
    tensor([[[[1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images (N, C, H, W) of another size, linear between pixels, the corners on each other:
    `Upsample` with mode 'bilinear'.

    >>> import tinygrad_course as tg
    >>> tg.nn.UpsamplingBilinear2d(size=(1, 3))(tg.tensor([[[[1., 2.]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
