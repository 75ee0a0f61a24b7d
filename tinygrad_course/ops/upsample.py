"""Upsampling: an image of another size, each pixel read off at its place in the old one.

A pixel's place falls between those of the old image; the mode says which of these it is made of:
the nearest, the two around it (linear), the four around it (cubic), or, against aliasing, all that
a filter as wide as the step covers. All modes work on one dim after the other, so a mode is a
matrix per dim (`resample`), and its derivative the transposed one. Lesson 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import require_tensors
from .registry import Op
from .resample import Taps, resampled

# --- places ---------------------------------------------------------------------------------------


# Where a factor leaves a size as it is, each new pixel is the old one; but these modes keep to the
# step that the factor gives.
_STEADY = ("nearest-exact", "bicubic")


def _step(n, count, factor, mode, align_corners, real):
    """The old pixels to a new one: their number over that of the new ones, or 1 / the factor that
    the caller gave; with aligned corners the first and last pixels lie on each other."""
    if align_corners:
        return real(n - 1) / real(count - 1) if count > 1 else real(0)
    if (count == n and mode not in _STEADY) or (count == 2 * n and mode == "nearest"):
        factor = None
    return real(1 / factor) if factor else real(n) / real(count)


def _places(step, count, align_corners):
    """Where the centres of the new pixels lie among those of the old ones."""
    i = np.arange(count, dtype=step.dtype)
    return step * i if align_corners else step * (i + step.dtype.type(0.5)) - step.dtype.type(0.5)


# --- modes: the matrix of one dim -----------------------------------------------------------------


def _nearest(n, count, step, align_corners):
    """The pixel in which the new one's left edge lies."""
    at = np.floor(np.arange(count, dtype=step.dtype) * step).astype(np.int64)
    return Taps(np.minimum(at, n - 1)[:, None], np.ones((count, 1), step.dtype), n)


def _nearest_exact(n, count, step, align_corners):
    """The pixel in which the new one's centre lies."""
    centres = (np.arange(count, dtype=step.dtype) + step.dtype.type(0.5)) * step
    at = np.floor(centres).astype(np.int64)
    return Taps(np.minimum(at, n - 1)[:, None], np.ones((count, 1), step.dtype), n)


def _linear(n, count, step, align_corners):
    """The two pixels around the place, weighed by their nearness."""
    at = np.maximum(_places(step, count, align_corners), 0)
    left = np.minimum(at.astype(np.int64), n - 1)
    share = np.clip(at - left.astype(step.dtype), 0, 1)
    places = np.stack([left, np.minimum(left + (n != count), n - 1)], 1)
    return Taps(places, np.stack([1 - share, share], 1), n)


def _cubic(n, count, step, align_corners):
    """The four pixels around the place; those beyond the image are like its last."""
    at = _places(step, count, align_corners)
    left = np.floor(at)
    distance = (at - left)[:, None] - np.arange(-1, 3, dtype=step.dtype)
    places = left[:, None].astype(np.int64) + np.arange(-1, 3)
    return Taps(np.clip(places, 0, n - 1), _spline(distance, -0.75), n)


def _spline(x, a):
    """The piecewise cubic of slope `a` at 1: 1 at 0; 0 at 1, 2 and beyond."""
    x = abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0)).astype(x.dtype)


def _triangle(x):
    return np.maximum(1 - abs(x), 0)


def _lanczos(x):
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0).astype(x.dtype)


def _filtered(reach: int, kernel: Callable[[Any], Any]) -> Callable[..., Taps]:
    """All pixels within `reach` steps of the place, weighed by a kernel stretched to the step."""

    def taps(n, count, step, align_corners):
        stretch = max(step, step.dtype.type(1))
        centres = step * (np.arange(count, dtype=step.dtype) + step.dtype.type(0.5))
        edges = (centres + sign * reach * stretch + step.dtype.type(0.5) for sign in (-1, 1))
        start, stop = (np.clip(edge.astype(np.int64), 0, n)[:, None] for edge in edges)
        places = start + np.arange(max((stop - start).max(), 1))
        weights = kernel((places - centres[:, None] + step.dtype.type(0.5)) / stretch)
        weights = np.where(places < stop, weights, 0)
        weights /= weights.sum(1, keepdims=True)
        places = np.minimum(places, n - 1)
        return Taps(places, weights.astype(step.dtype), n, ragged=True)

    return taps


# --- the operations -------------------------------------------------------------------------------


class Resample(Op, fn=""):
    """y = each dim's matrix applied to x: (N, C, H, W) → (N, C, P, Q); dx = their transposes."""

    __slots__ = ()

    def forward(ctx, xp, x, /, taps):
        ctx.save(taps)
        if x.dtype.kind == "f" or all(t.places.shape[1] == 1 for t in taps):
            return resampled(xp, x, taps)
        y = resampled(xp, x.astype("float32"), taps)
        return xp.clip(xp.rint(y), 0, 255).astype(x.dtype)

    def backward(ctx, g):
        (taps,) = ctx.saved
        return Resample.fn(g, tuple([t.transposed() for t in taps]))


def _named(name: str) -> Any:
    """`Resample` under another name: that of one mode and one number of dims."""
    body = {"__slots__": (), "__doc__": Resample.__doc__, "forward": Resample.forward}
    kind: Any = type(Resample)
    return kind(name, (Resample,), body, fn="")


# (mode, dims, antialias): the operation and the matrix of one dim.
MODES: dict[tuple[str, int, bool], tuple[Any, Callable[..., Taps]]] = {
    **{("nearest", d, False): (_named(f"UpsampleNearest{d}D"), _nearest) for d in (1, 2, 3)},
    **{
        ("nearest-exact", d, False): (_named(f"UpsampleNearestExact{d}D"), _nearest_exact)
        for d in (1, 2, 3)
    },
    ("linear", 1, False): (_named("UpsampleLinear1D"), _linear),
    ("bilinear", 2, False): (_named("UpsampleBilinear2D"), _linear),
    ("trilinear", 3, False): (_named("UpsampleTrilinear3D"), _linear),
    ("bicubic", 2, False): (_named("UpsampleBicubic2D"), _cubic),
    ("bilinear", 2, True): (_named("UpsampleBilinear2DAa"), _filtered(1, _triangle)),
    ("bicubic", 2, True): (
        _named("UpsampleBicubic2DAa"),
        _filtered(2, lambda x: _spline(x, -0.5)),
    ),
    ("lanczos", 2, True): (_named("UpsampleLanczos2DAa"), _filtered(3, _lanczos)),
}


def upsample(
    input: Any,
    size: tuple[int, ...],
    factors: tuple[float | None, ...],
    mode: str,
    align_corners: bool = False,
    antialias: bool = False,
) -> Any:
    """Images of `size` by one of the `MODES`: (N, C, …) → (N, C, *size), for 1, 2 or 3 dims.

    `factors`, where given, say how far apart the new pixels lie, rather than the sizes.
    RuntimeError for images without pixels, NotImplementedError for types that the mode does not
    know.
    """
    require_tensors("interpolate", input=input)
    shape = tuple(input.shape)
    if 0 in shape[1:]:
        raise RuntimeError(
            f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes "
            f"{list(shape)}"
        )
    if min(size) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(shape[2:])} and "
            f"output {list(size)}"
        )
    whole = input.dtype.name == "uint8" and mode not in ("linear", "trilinear")
    if not input.is_floating_point() and not whole:
        raise NotImplementedError(
            f"interpolate with mode={mode!r} is not implemented for {input.dtype!r}: convert with "
            ".float()"
        )
    if antialias and input.dtype.name == "float16":
        raise NotImplementedError(
            "interpolate with antialias=True is not implemented for torch.float16: convert with "
            ".float()"
        )
    op, matrix = MODES[mode, len(size), antialias]
    real = np.float64 if input.dtype.name == "float64" else np.float32
    taps = []
    for n, count, factor in zip(shape[2:], size, factors, strict=True):
        kind = mode if not antialias else "filter"
        step = real(_step(n, count, factor, kind, align_corners, real))
        taps.append(matrix(n, count, step, align_corners))
    return op.fn(input, tuple(taps))
