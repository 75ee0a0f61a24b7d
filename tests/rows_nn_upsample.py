"""Sample inputs of upsampling: every mode, larger and smaller, by size and by factor.

Each moves the table of its weights to the device, hence `syncs`.
"""

from __future__ import annotations

from .samples import Call, call, given, real, row, special


def _resized(mode: str, *shape: int, **more: bool) -> tuple[Call, ...]:
    """Calls of one mode: to a size, larger and smaller, by factors, and by factors that are only
    taken for the size."""
    dims = len(shape) - 2
    larger, smaller = (7, 5, 6)[:dims], (2, 3, 3)[:dims]
    return (
        call(real(*shape), larger, mode=mode, **more),
        call(real(*shape), list(smaller), mode=mode, **more),
        call(real(*shape), scale_factor=(1.5, 2, 0.7)[:dims], mode=mode, **more),
        call(real(*shape), scale_factor=2.3, mode=mode, recompute_scale_factor=True, **more),
    )


_ALL = (
    *(
        made
        for mode in ("nearest", "nearest-exact", "area")
        for shape in ((2, 1, 5), (1, 2, 4, 5), (1, 1, 3, 4, 4))
        for made in _resized(mode, *shape)
    ),
    *(
        made
        for mode, shape in (
            ("linear", (2, 2, 5)),
            ("bilinear", (1, 2, 4, 5)),
            ("bicubic", (1, 2, 4, 5)),
            ("trilinear", (1, 1, 3, 4, 4)),
        )
        for aligned in (False, True)
        for made in _resized(mode, *shape, align_corners=aligned)
    ),
    *(
        made
        for mode in ("bilinear", "bicubic", "lanczos")
        for made in _resized(mode, 1, 2, 7, 6, antialias=True)
    ),
    call(real(1, 2, 7, 6), (3, 9), mode="bilinear", align_corners=True, antialias=True),
    call(real(1, 1, 4), 1, mode="linear", align_corners=True),
    call(real(1, 1, 1), 4, mode="linear"),
    call(real(0, 2, 3), 4),
    call(real(1, 2, 3), scale_factor=2),
    special(given([[[1.0, float("inf"), 2.0, float("nan")]]]), 7),
)
row(
    "nn.functional.interpolate",
    *_ALL,
    bad=(
        call(real(1, 2, 4)),
        call(real(1, 2, 4), 3, 2),
        call(real(1, 2, 4), (3, 3)),
        call(real(1, 2, 4), scale_factor=(3, 3)),
        call(real(1, 2, 4), 3, mode="nearest", align_corners=True),
        call(real(1, 2, 4), 3, mode="area", align_corners=False),
        call(real(1, 2, 4), 3, recompute_scale_factor=True),
        call(real(1, 2, 4), 3, mode="bilinear"),
        call(real(1, 2, 4), 3, mode="trilinear"),
        call(real(1, 2, 4, 4), 3, mode="linear"),
        call(real(1, 2, 4, 4), 3, mode="cubic"),
        call(real(1, 2, 4, 4), 3, mode="lanczos"),
        call(real(1, 2, 4, 4), 3, mode="lanczos", antialias=True, align_corners=True),
        call(real(1, 2, 4, 4), 3, mode="nearest", antialias=True),
        call(real(1, 2, 4), 3, mode="linear", antialias=True),
        call(real(2, 4), 3),
        call(real(1, 2, 4), (2.5,)),
        call(real(1, 2, 4), 0),
        call(real(1, 2, 4), scale_factor=0.1),
        call(real(1, 0, 4), 3),
        call(real(1, 2, 0), 3),
        call(real(2, 3, 4, 5, 6, 7), 3),
    ),
    dtypes=False,
)
row(
    "nn.functional.upsample",
    call(real(1, 2, 3), 5),
    call(real(1, 1, 3, 3), scale_factor=2, mode="bilinear", align_corners=True),
    bad=(call(real(1, 2, 3)),),
    dtypes=False,
)
row(
    "nn.functional.upsample_nearest",
    call(real(1, 1, 3, 3), 5),
    bad=(call(real(3, 3), 2),),
)
row(
    "nn.functional.upsample_bilinear",
    call(real(1, 1, 3, 3), (5, 2)),
    call(real(1, 1, 3, 3), scale_factor=2),
    bad=(call(real(1, 3, 3), 2),),
    dtypes=False,
)
