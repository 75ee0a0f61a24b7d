"""Pooling layers that are told the size of their output: adaptive and fractional ones.

What a window does is in `nn.functional`. Lesson 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from . import functional as F
from .module import Module


class _AdaptiveAvgPool(Module):
    """Base of the means."""

    pool: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return type(self).pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of `output_size` windows that cover a sequence: (N, C, L) → (N, C, P).

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveAvgPool1d(2)(tg.tensor([[1., 2., 3., 4.]]))
    tensor([[1.5000, 3.5000]])
    """

    pool = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of P × Q windows that cover an image: (N, C, H, W) → (N, C, P, Q).

    `output_size` is (P, Q) or one int for both; None leaves a size as it is.

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveAvgPool2d((None, 1))(tg.zeros(2, 8, 5, 7)).shape
    torch.Size([2, 8, 5, 1])
    """

    pool = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of O × P × Q windows that cover a volume: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveAvgPool3d(2)(tg.zeros(8, 5, 7, 3)).shape
    torch.Size([8, 2, 2, 2])
    """

    pool = F.adaptive_avg_pool3d


class _AdaptiveMaxPool(Module):
    """Base of the maxima."""

    pool: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return type(self).pool(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of `output_size` windows that cover a sequence: (N, C, L) → (N, C, P).

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveMaxPool1d(2)(tg.tensor([[1., 2., 4., 3.]]))
    tensor([[2., 4.]])
    """

    pool = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of P × Q windows that cover an image: (N, C, H, W) → (N, C, P, Q).

    `output_size` is (P, Q) or one int for both; None leaves a size as it is. With `return_indices`
    also where in the H × W plane each maximum was.

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveMaxPool2d((None, 1))(tg.zeros(2, 8, 5, 7)).shape
    torch.Size([2, 8, 5, 1])
    """

    pool = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of O × P × Q windows that cover a volume: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> tg.nn.AdaptiveMaxPool3d(2)(tg.zeros(8, 5, 7, 3)).shape
    torch.Size([8, 2, 2, 2])
    """

    pool = F.adaptive_max_pool3d


class _FractionalMaxPool(Module):
    """Base of the maxima at fractional steps."""

    dims: ClassVar[int]
    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.kernel_size = self._each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else self._each(output_size)
        self.output_ratio = None if output_ratio is None else self._each(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError(
                "only one of output_size and output_ratio may be specified, got "
                f"{output_size} and {output_ratio}"
            )
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _each(self, value: Any) -> Any:
        return value if isinstance(value, tuple) else (value,) * self.dims

    def forward(self, input: Any) -> Any:
        return type(self).pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of windows at random steps: (N, C, H, W) → (N, C, P, Q), where P × Q is the
    `output_size`, or `output_ratio` times the input's.

    >>> import tinygrad_course as tg
    >>> tg.nn.FractionalMaxPool2d(2, output_ratio=0.7)(tg.zeros(1, 3, 10, 20)).shape
    torch.Size([1, 3, 7, 14])
    """

    dims, pool = 2, F.fractional_max_pool2d


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of windows of a volume at random steps: (N, C, D, H, W) → (N, C, O, P, Q).

    >>> import tinygrad_course as tg
    >>> tg.nn.FractionalMaxPool3d(2, output_size=(2, 3, 4))(tg.zeros(1, 3, 8, 8, 8)).shape
    torch.Size([1, 3, 2, 3, 4])
    """

    dims, pool = 3, F.fractional_max_pool3d
