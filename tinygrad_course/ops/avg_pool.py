"""Average pooling: the mean of each window.

The sum over a window is a sum over its rows of sums over their cells, so each dim is added up on
its own (`windows` says what a cell sees); the adjoint spreads each gradient over its window, dim
after dim. Knows images of any number of dims, layers are in nn. Lesson 11.
"""

from __future__ import annotations

from typing import Any

from ..kernels import avg_pool as fused
from ..kernels import usable
from ..shape import as_int
from .pointwise import in_single
from .registry import Op, function
from .slices import along
from .windows import windows_on


def _cells(x, windows):
    """For each dim of the image: (dim, what each cell of a window sees along it, as indices)."""
    first = x.ndim - len(windows.image)
    for dim, (k, s, count) in enumerate(
        zip(windows.kernel, windows.stride, windows.size, strict=True), first
    ):
        yield dim, [along(dim, slice(i, i + (count - 1) * s + 1, s)) for i in range(k)]


def _sums(xp, x, windows):
    """(N, C, H, W) → (N, C, P, Q): the sum of each window."""
    x = windows.frame(xp, x, 0)
    for _, (first, *others) in _cells(x, windows):
        total = x[first].copy()
        for cell in others:
            total += x[cell]
        x = total
    return x


def _spread(xp, g, windows):
    """(N, C, P, Q) → (N, C, H, W): to each cell the sum over its windows; the adjoint of
    `_sums`."""
    sizes = (*g.shape[: -len(windows.image)], *windows.framed)
    for dim, cells in _cells(g, windows):
        wide = xp.zeros((*g.shape[:dim], sizes[dim], *g.shape[dim + 1 :]), g.dtype)
        for cell in cells:
            wide[cell] += g
        g = wide
    return xp.ascontiguousarray(g[windows.inside])


def _divisor(xp, windows, count_include_pad, override):
    """How many cells each window has: those on the image, and on the frame if that counts; one
    number where all have as many."""
    if override is not None:
        return override
    number = xp.ones((), "int64")
    for k, s, p, _, count, n in zip(*windows, strict=True):
        start = xp.arange(count) * s - p
        low, high = (-p, n + p) if count_include_pad else (0, n)
        cells = xp.minimum(start + k, high) - xp.maximum(start, low)
        number = number[..., None] * xp.maximum(cells, 1)  # a window may lie beyond the image
    return number


def _divided(xp, x, divisor):
    """x / divisor; integers towards zero."""
    if x.dtype.kind == "f":
        return xp.true_divide(x, divisor, dtype=x.dtype)
    return xp.floor_divide(x - xp.fmod(x, divisor), divisor)


class AvgPool2d(Op, fn="", node="AvgPool2DBackward0"):
    """y = Σ over window (p, q) of x / divisor; dx = to each cell the g / divisor of its windows."""

    __slots__ = ()

    def forward(ctx, xp, x, /, windows, count_include_pad, override):
        ctx.save(windows, count_include_pad, override)
        if usable(x):
            return fused.means(x, windows, count_include_pad, override)
        divisor = _divisor(xp, windows, count_include_pad, override)
        return in_single(xp, lambda xp, x: _divided(xp, _sums(xp, x, windows), divisor), x)

    def backward(ctx, g):
        return AvgPoolSpread.fn(g, *ctx.saved)


class AvgPool3d(AvgPool2d, fn="", node="AvgPool3DBackward0"):
    """The same for images of 3 dims."""

    __slots__ = ()
    forward = AvgPool2d.forward


class AvgPoolSpread(Op, fn="", node="AvgPool2DBackwardBackward0"):
    """Each g / divisor to all cells of its window: the adjoint of average pooling."""

    __slots__ = ()

    def forward(ctx, xp, g, /, windows, count_include_pad, override):
        ctx.save(windows, count_include_pad, override)
        if usable(g):
            return fused.spread(g, windows, count_include_pad, override)
        divisor = _divisor(xp, windows, count_include_pad, override)
        return in_single(xp, lambda xp, g: _spread(xp, _divided(xp, g, divisor), windows), g)

    def backward(ctx, h):
        return AvgPool2d.fn(h, *ctx.saved)


# --- the public functions ------------------------------------------------------------------------


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of a sequence: (N, C, L) or (C, L) → (N, C, P).

    The arguments are those of `avg_pool2d`.

    >>> import tinygrad_course as tg
    >>> tg.avg_pool1d(tg.tensor([[1., 5., 2., 0.]]), 2)
    tensor([[3., 1.]])
    """
    windows = windows_on("avg_pool1d", input, 1, kernel_size, stride, padding, 1, ceil_mode)
    images = input.unsqueeze(-2)
    return _pooled(
        "avg_pool1d", AvgPool2d, images, windows.in_a_row, count_include_pad, None
    ).squeeze(-2)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window: y[n, c, p, q] = Σ_{i, j} input[n, c, p s + i, q s + j] / (kh kw).

    `input` (N, C, H, W) or (C, H, W) of floats or int64 gives (N, C, P, Q), sized as by
    `max_pool2d`. Padding counts as zeros, or, without `count_include_pad`, not at all;
    `divisor_override` stands for the number of cells. RuntimeError for sizes that do not fit.

    >>> import tinygrad_course as tg
    >>> avg_pool2d(tg.tensor([[[1., 5., 2., 0.], [3., 3., 1., 7.]]]), 2)
    tensor([[[3.0000, 2.5000]]])
    """
    windows = windows_on("avg_pool2d", input, 2, kernel_size, stride, padding, 1, ceil_mode)
    return _pooled("avg_pool2d", AvgPool2d, input, windows, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of a volume: (N, C, D, H, W) or (C, D, H, W) → (N, C, O, P, Q).

    The arguments are those of `avg_pool2d`.

    >>> import tinygrad_course as tg
    >>> avg_pool3d(tg.ones(1, 2, 2, 2), 2)
    tensor([[[[1.]]]])
    """
    windows = windows_on("avg_pool3d", input, 3, kernel_size, stride, padding, 1, ceil_mode)
    return _pooled("avg_pool3d", AvgPool3d, input, windows, count_include_pad, divisor_override)


def _pooled(name, op, x, windows, count_include_pad, override):
    if override is not None and as_int(override, "divisor_override") == 0:
        raise RuntimeError(f"{name}: divisor must be not zero, got divisor_override={override}")
    if not x.is_floating_point() and x.dtype.name != "int64":
        raise NotImplementedError(
            f"{name} is not implemented for {x.dtype!r}: convert with .float()"
        )
    return op.fn(x, windows, count_include_pad, override)


function(avg_pool1d)
