"""Padding layers: a constant around the last dims, or numbers from the input itself.

They have no parameters; each remembers how much goes where, from the last dim to the first. What is
put there is in `ops.pad`. Lesson 10.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..ops.pad import pad
from .conv import spread
from .module import Module


class _PadNd(Module):
    """`padding` is an int for all sides, or (before, after) the last dim, then those of the dim
    before it, …"""

    dims: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = spread(padding, 2 * self.dims)

    def forward(self, input: Any) -> Any:
        return pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


# --- a constant -----------------------------------------------------------------------------------


class _ConstantPadNd(_PadNd):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """`value` before and after the last dim: (…, L) → (…, before + L + after).

    >>> import tinygrad_course as tg
    >>> tg.nn.ConstantPad1d((1, 2), 7.)(tg.zeros(2))
    tensor([7., 0., 0., 7., 7.])
    """

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """`value` around images: `padding` is (left, right, top, bottom), or one int.

    >>> import tinygrad_course as tg
    >>> tg.nn.ConstantPad2d((1, 0, 0, 1), 7.)(tg.zeros(1, 2))
    tensor([[7., 0., 0.],
            [7., 7., 7.]])
    """

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """`value` around volumes: `padding` is (left, right, top, bottom, front, back), or one int.

    >>> import tinygrad_course as tg
    >>> tg.nn.ConstantPad3d(1, 7.)(tg.zeros(2, 3, 4)).shape
    torch.Size([4, 5, 6])
    """

    dims = 3


class _Zeros(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Zeros before and after the last dim.

    >>> import tinygrad_course as tg
    >>> tg.nn.ZeroPad1d((1, 2))(tg.ones(2))
    tensor([0., 1., 1., 0., 0.])
    """


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Zeros around images.

    >>> import tinygrad_course as tg
    >>> tg.nn.ZeroPad2d((1, 0, 0, 1))(tg.ones(1, 2))
    tensor([[0., 1., 1.],
            [0., 0., 0.]])
    """


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Zeros around volumes.

    >>> import tinygrad_course as tg
    >>> tg.nn.ZeroPad3d(1)(tg.ones(2, 3, 4)).sum()
    tensor(24.)
    """


# --- the input itself -----------------------------------------------------------------------------


class ReflectionPad1d(_PadNd):
    """Sequences (N, C, L) or (C, L), mirrored at both ends; RuntimeError for padding as large as
    they are.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReflectionPad1d(2)(tg.tensor([[1, 2, 3]]))
    tensor([[3, 2, 1, 2, 3, 2, 1]])
    """

    dims, mode = 1, "reflect"


class ReflectionPad2d(_PadNd):
    """Images (N, C, H, W) or (C, H, W), mirrored at their borders.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReflectionPad2d((0, 1, 1, 0))(tg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[3, 4, 3],
             [1, 2, 1],
             [3, 4, 3]]])
    """

    dims, mode = 2, "reflect"


class ReflectionPad3d(_PadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W), mirrored at their borders.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReflectionPad3d(1)(tg.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    dims, mode = 3, "reflect"


class ReplicationPad1d(_PadNd):
    """Sequences (N, C, L) or (C, L) whose first and last number goes on.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReplicationPad1d(2)(tg.tensor([[1, 2, 3]]))
    tensor([[1, 1, 1, 2, 3, 3, 3]])
    """

    dims, mode = 1, "replicate"


class ReplicationPad2d(_PadNd):
    """Images (N, C, H, W) or (C, H, W) whose border goes on.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReplicationPad2d((0, 1, 1, 0))(tg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[1, 2, 2],
             [1, 2, 2],
             [3, 4, 4]]])
    """

    dims, mode = 2, "replicate"


class ReplicationPad3d(_PadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W) whose border goes on.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReplicationPad3d(1)(tg.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    dims, mode = 3, "replicate"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        if input.ndim - self.dims not in (1, 2):
            raise ValueError(
                f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.ndim}D input)"
            )
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Sequences (N, C, L) or (C, L), with their other end before and after them.

    >>> import tinygrad_course as tg
    >>> tg.nn.CircularPad1d(2)(tg.tensor([[1, 2, 3]]))
    tensor([[2, 3, 1, 2, 3, 1, 2]])
    """

    dims = 1


class CircularPad2d(_CircularPadNd):
    """Images (N, C, H, W) or (C, H, W), as tiles of a larger pattern.

    >>> import tinygrad_course as tg
    >>> tg.nn.CircularPad2d((0, 1, 1, 0))(tg.tensor([[[1, 2], [3, 4]]]))
    tensor([[[3, 4, 3],
             [1, 2, 1],
             [3, 4, 3]]])
    """

    dims = 2


class CircularPad3d(_CircularPadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W), as tiles of a larger pattern.

    >>> import tinygrad_course as tg
    >>> tg.nn.CircularPad3d(1)(tg.ones(1, 2, 3, 4)).shape
    torch.Size([1, 4, 5, 6])
    """

    dims = 3
