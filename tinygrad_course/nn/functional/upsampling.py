"""Upsampling as functions: images made larger or smaller.

Here are PyTorch's spellings and how they name the new size; how a pixel is made is in
`ops.upsample`. Lesson 11.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...ops import adaptive_pool as _adaptive
from ...ops.arguments import require_tensors
from ...ops.upsample import MODES
from ...ops.upsample import upsample as _upsample

_AREA = {
    3: _adaptive.adaptive_avg_pool1d,
    4: _adaptive.adaptive_avg_pool2d,
    5: _adaptive.adaptive_avg_pool3d,
}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Sequences, images or volumes (N, C, …) of another `size`, or `scale_factor` times as large.

    `mode`: 'nearest', 'nearest-exact', 'area' for any number of dims; 'linear' for sequences,
    'bilinear' and 'bicubic' for images, 'trilinear' for volumes, where `align_corners` puts the
    corner pixels on each other; with `antialias` (images only) 'bilinear', 'bicubic' and 'lanczos'
    filter what is made smaller. Pixels lie 1 / `scale_factor` apart, or, with
    `recompute_scale_factor`, as far as the sizes say. ValueError for arguments that contradict each
    other, NotImplementedError for a mode that does not fit the dims.

    >>> import tinygrad_course as tg
    >>> interpolate(tg.tensor([[[1., 2.]]]), 4, mode="linear")
    tensor([[[1.0000, 1.2500, 1.7500, 2.0000]]])
    """
    require_tensors("interpolate", input=input)
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            f"| bicubic | trilinear, not with mode={mode!r}"
        )
    spatial = tuple(input.shape[2:])
    dims = len(spatial)
    if size is not None and scale_factor is not None:
        raise ValueError(
            f"only one of size or scale_factor should be defined, got {size} and {scale_factor}"
        )
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    factors: list[Any] = [None] * dims
    if size is not None:
        sizes = _for_each(size, "size", spatial)
        if isinstance(size, list | tuple) and not all(isinstance(n, int) for n in sizes):
            raise TypeError(f"expected size to be one of int or tuple of ints, but got {size}")
    else:
        given = _for_each(scale_factor, "scale_factor", spatial)
        sizes = [int(n * factor) for n, factor in zip(spatial, given, strict=True)]
        if not recompute_scale_factor and mode != "area":
            factors = given
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            f"a 4-D tensor as input, but got mode={mode!r} and {input.ndim} dims"
        )
    if mode == "area" and dims in (1, 2, 3):
        return _AREA[input.ndim](input, sizes)
    if mode == "lanczos" and dims == 2 and (align_corners or not antialias):
        raise ValueError(
            "Lanczos mode requires antialias=True and does not support align_corners=True: got "
            f"antialias={antialias}, align_corners={align_corners}"
        )
    if (mode, dims, antialias) not in MODES:
        raise NotImplementedError(
            f"Got {input.ndim}D input, but mode={mode!r} is not for it: nearest, nearest-exact and "
            "area take 3D, 4D and 5D, linear 3D, bilinear, bicubic and lanczos 4D, trilinear 5D"
        )
    return _upsample(input, tuple(sizes), tuple(factors), mode, bool(align_corners), antialias)


def _for_each(value: Any, name: str, spatial: tuple[int, ...]) -> list[Any]:
    """One value for each dim of the images."""
    if not isinstance(value, list | tuple):
        return [value] * len(spatial)
    if len(value) != len(spatial):
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(spatial)} and {name} of {value}"
        )
    return list(value)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """The old name of `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """The old name of `interpolate` with mode 'nearest'."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """The old name of `interpolate` with mode 'bilinear' and aligned corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
