"""Pooling layers over sliding windows: they have no parameters and only remember their windows.

What a window does is in `nn.functional`; windows that divide an image are in `nn.adaptive_pool`.
Lesson 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from . import functional as F
from .module import Module


def _each(value: Any, dims: int) -> Any:
    """A tuple as it is, one number for each of the dims."""
    return value if isinstance(value, tuple) else (value,) * dims


def _shown(layer: Module, names: str) -> str:
    """NAME=VALUE of these attributes, as a layer's repr has them."""
    return ", ".join(f"{name}={getattr(layer, name)}" for name in names.split())


class _MaxPool(Module):
    """Base of the maxima: the arguments that they have in common."""

    pool: ClassVar[Callable[..., Any]]

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
        return type(self).pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return _shown(self, "kernel_size stride padding dilation ceil_mode")


class MaxPool1d(_MaxPool):
    """The maximum of each window of a sequence: (N, C, L) → (N, C, P); as `MaxPool2d` in one dim.

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxPool1d(2)(tg.tensor([[1., 5., 2., 0.]]))
    tensor([[5., 2.]])
    """

    pool = F.max_pool1d


class MaxPool2d(_MaxPool):
    """The maximum of each window: (N, C, H, W) → (N, C, P, Q); `stride` is `kernel_size` unless
    given.

    P = ⌊(H + 2 padding − dilation (k − 1) − 1) / stride⌋ + 1, or ⌈…⌉ with `ceil_mode`. With
    `return_indices` also where in the H × W plane each maximum was.

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxPool2d(3, stride=2)(tg.zeros(20, 16, 50, 32)).shape
    torch.Size([20, 16, 24, 15])
    """

    pool = F.max_pool2d


class MaxPool3d(_MaxPool):
    """The maximum of each window of a volume: (N, C, D, H, W) → (N, C, O, P, Q); as `MaxPool2d`.

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxPool3d(2)(tg.zeros(1, 4, 6, 8)).shape
    torch.Size([1, 2, 3, 4])
    """

    pool = F.max_pool3d


class _MaxUnpool(Module):
    """Base of the ways back from the maxima."""

    dims: ClassVar[int]
    unpool: ClassVar[Callable[..., Any]]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, self.dims)
        self.stride = _each(kernel_size if stride is None else stride, self.dims)
        self.padding = _each(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return type(self).unpool(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return _shown(self, "kernel_size stride padding")


class MaxUnpool1d(_MaxUnpool):
    """Values back at the places from which `MaxPool1d` took them: (N, C, P) → (N, C, L).

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxUnpool1d(2)(tg.tensor([[5., 2.]]), tg.tensor([[1, 2]]))
    tensor([[0., 5., 2., 0.]])
    """

    dims, unpool = 1, F.max_unpool1d


class MaxUnpool2d(_MaxUnpool):
    """Values back at the places from which `MaxPool2d` took them: (N, C, P, Q) → (N, C, H, W).

    H = (P − 1) stride − 2 padding + kernel_size, unless `forward` gets an `output_size`, which may
    differ from it by less than a stride. ValueError for another.

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxUnpool2d(2)(tg.tensor([[[5.]]]), tg.tensor([[[1]]]))
    tensor([[[0., 5.],
             [0., 0.]]])
    """

    dims, unpool = 2, F.max_unpool2d


class MaxUnpool3d(_MaxUnpool):
    """Values back at the places from which `MaxPool3d` took them: (N, C, O, P, Q) → (N, C, D, H,
    W).

    >>> import tinygrad_course as tg
    >>> tg.nn.MaxUnpool3d((1, 1, 2))(tg.tensor([[[[5.]]]]), tg.tensor([[[[0]]]]))
    tensor([[[[5., 0.]]]])
    """

    dims, unpool = 3, F.max_unpool3d


class AvgPool1d(Module):
    """The mean of each window of a sequence: (N, C, L) → (N, C, P); as `AvgPool2d` in one dim.

    >>> import tinygrad_course as tg
    >>> tg.nn.AvgPool1d(2)(tg.tensor([[1., 5., 2., 0.]]))
    tensor([[3., 1.]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _each(kernel_size, 1)
        self.stride = _each(kernel_size if stride is None else stride, 1)
        self.padding = _each(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        return _shown(self, "kernel_size stride padding")


class _AvgPool(Module):
    """Base of the means over images and volumes."""

    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        return type(self).pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return _shown(self, "kernel_size stride padding")


class AvgPool2d(_AvgPool):
    """The mean of each window: (N, C, H, W) → (N, C, P, Q), sized as by `MaxPool2d`.

    Padding counts as zeros, or, without `count_include_pad`, not at all; `divisor_override` stands
    for the number of cells.

    >>> import tinygrad_course as tg
    >>> tg.nn.AvgPool2d(2)(tg.tensor([[[1., 5.], [3., 3.]]]))
    tensor([[[3.]]])
    """

    pool = F.avg_pool2d


class AvgPool3d(_AvgPool):
    """The mean of each window of a volume: (N, C, D, H, W) → (N, C, O, P, Q); as `AvgPool2d`.

    >>> import tinygrad_course as tg
    >>> tg.nn.AvgPool3d(2)(tg.ones(1, 2, 2, 2))
    tensor([[[[1.]]]])
    """

    pool = F.avg_pool3d


class _LPPool(Module):
    """Base of the power means."""

    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return type(self).pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return _shown(self, "norm_type kernel_size stride ceil_mode")


class LPPool1d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of a sequence: (N, C, L) → (N, C, P).

    >>> import tinygrad_course as tg
    >>> tg.nn.LPPool1d(2, 2)(tg.tensor([[3., 4., 6., 8.]]))
    tensor([[ 5., 10.]])
    """

    pool = F.lp_pool1d


class LPPool2d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of an image: (N, C, H, W) → (N, C, P, Q).

    >>> import tinygrad_course as tg
    >>> tg.nn.LPPool2d(2, 2)(tg.tensor([[[3., 0.], [0., 4.]]]))
    tensor([[[5.]]])
    """

    pool = F.lp_pool2d


class LPPool3d(_LPPool):
    """(Σ xᵖ)^(1/p) over each window of a volume: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> tg.nn.LPPool3d(2, (1, 2, 2))(tg.ones(1, 1, 2, 2))
    tensor([[[[2.]]]])
    """

    pool = F.lp_pool3d
