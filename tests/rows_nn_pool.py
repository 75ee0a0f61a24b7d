"""Sample inputs of pooling: windows that slide, windows that divide an image, and the way back."""

from __future__ import annotations

import numpy as np

from .samples import Arg, call, given, places, real, row, special

NAN, INF = float("nan"), float("inf")

# --- maxima ---------------------------------------------------------------------------------------

row(
    "max_pool1d nn.functional.max_pool1d",
    call(real(2, 3, 7), 2),
    call(real(3, 8), 3, 1, 1, 2),
    call(real(2, 1, 6), (2,), (4,), ceil_mode=True),
    call(real(0, 2, 5), 2),
    bad=(
        call(real(5), 2),
        call(real(1, 2, 3, 4), 2),
        call(real(2, 0, 4), 2),
        call(real(1, 2, 4), (2, 2)),
        call(real(1, 2, 4), 2, padding=2),
        call(real(1, 2, 4), 5),
        call(given([[1, 2, 3]]), 2),
    ),
)
row(
    "max_pool1d_with_indices nn.functional.max_pool1d_with_indices",
    call(real(2, 3, 7), 2),
    call(real(3, 8), 3, 1, 1, 2),
    bad=(call(real(1, 2, 4), 5),),
)
row(
    "max_pool3d nn.functional.max_pool3d nn.functional.max_pool3d_with_indices",
    call(real(1, 2, 4, 5, 4), 2),
    call(real(2, 4, 4, 5), (2, 3, 2), (1, 2, 2), (1, 1, 0), (1, 1, 2), True),
    call(real(0, 2, 3, 3, 3), 2),
    bad=(
        call(real(2, 3, 3), 2),
        call(real(1, 0, 3, 3, 3), 2),
        call(real(1, 1, 3, 3, 3), 4),
        call(real(1, 1, 4, 4, 4), (2, 2)),
        call(real(1, 1, 4, 4, 4), 2, padding=2),
        call(real(1, 1, 4, 4, 4), 2, stride=0),
        call(real(1, 1, 4, 4, 4), 2, dilation=-1),
    ),
)

# --- means ----------------------------------------------------------------------------------------

row(
    "avg_pool1d nn.functional.avg_pool1d",
    call(real(2, 3, 7), 2),
    call(real(3, 8), 3, 2, 1, True),
    call(real(3, 8), 3, 2, 1, True, False),
    call(real(0, 2, 5), 2),
    bad=(
        call(real(5), 2),
        call(real(1, 2, 4), (2, 2)),
        call(real(1, 2, 4), 2, padding=2),
        call(real(1, 2, 4), 5),
    ),
)
_AVERAGES = (
    call(real(2, 2, 5, 6), 2),
    call(real(2, 5, 7), (3, 2), (2, 1), (1, 0), True),
    call(real(2, 5, 7), (3, 2), 3, 1, True, False),
    call(real(1, 1, 4, 4), 3, 1, count_include_pad=False, divisor_override=2),
    call(real(1, 1, 5, 4), 2, divisor_override=-3),
    call(real(1, 1, 3, 3), 2, 3, 1, True, False),
    special(given([[[[INF, 1.0, -INF], [NAN, 2.0, 3.0]]]]), 2, 1),
    call(real(0, 2, 3, 3), 2),
)
row(
    "nn.functional.avg_pool2d",
    *_AVERAGES,
    bad=(
        call(real(1, 0, 3, 3), 2),
        call(real(1, 1, 3, 3), 4),
        call(real(1, 1, 4, 4), (2, 2, 2)),
        call(real(1, 1, 4, 4), 2, padding=2),
        call(real(1, 1, 4, 4), 2, padding=-1),
        call(real(1, 1, 4, 4), 0),
        call(real(1, 1, 4, 4), 2, stride=0),
        call(real(1, 1, 4, 4), 2, divisor_override=0),
        call(real(1, 1, 4, 4), 2, divisor_override=1.5),
    ),
)
row(
    "nn.functional.avg_pool3d",
    call(real(1, 2, 4, 3, 4), 2),
    call(real(2, 4, 4, 5), (2, 3, 2), (1, 2, 2), (1, 1, 0), True),
    call(real(2, 4, 4, 5), (2, 3, 2), 2, 1, True, False),
    call(real(1, 3, 3, 3), 2, 1, divisor_override=3),
    bad=(
        call(real(2, 3, 3), 2),
        call(real(1, 1, 3, 3, 3), 4),
        call(real(1, 1, 4, 4, 4), 2, divisor_override=0),
    ),
    dtypes=False,  # PyTorch has no kernel for float16
)

# --- power means ----------------------------------------------------------------------------------

row(
    "nn.functional.lp_pool1d",
    call(real(2, 3, 7, low=0.5), 2, 3),
    call(real(3, 8), 3.0, 2, 1, True),
    call(real(2, 6), INF, 2),
    call(real(2, 6), -INF, 2),
    call(real(2, 3, 7, low=0.5), -1.5, 3),
    bad=(call(real(5), 2, 2), call(real(2, 5), 2, 6), call(real(2, 5), 0, 2)),
)
row(
    "nn.functional.lp_pool2d",
    call(real(1, 2, 5, 4, low=0.5), 2, (2, 3)),
    call(real(2, 4, 5), 3.0, 2, (1, 2), True),
    call(real(2, 4, 4), INF, 2),
    call(real(2, 4, 4), -INF, 2),
    special(given([[[0.0, 0.0], [0.0, 0.0]]]), 1.0, 2),
    bad=(call(real(1, 3, 3), 2, 4), call(real(1, 3, 3), 0, 2)),
)
row(
    "nn.functional.lp_pool3d",
    call(real(1, 2, 3, 4, 3, low=0.5), 2, (1, 2, 3)),
    call(real(2, 4, 4, 3), 3.0, 2, 1, True),
    bad=(call(real(3, 3), 2, 2), call(real(1, 3, 3, 3), 2, 4)),
    dtypes=False,  # PyTorch has no kernel for float16
)

# --- a number of windows --------------------------------------------------------------------------

# These move the tables of their windows to the device, hence `syncs`.
_SEQUENCES = (
    call(real(2, 3, 7), 3),
    call(real(3, 5), (1,)),
    call(real(2, 2, 3), 5),
    call(real(0, 2, 5), 2),
)
_IMAGES = (
    call(real(2, 2, 5, 7), (2, 3)),
    call(real(2, 5, 4), 1),
    call(real(2, 3, 4), (4, None)),
    call(real(1, 2, 4, 6), [2, 6]),
    call(real(0, 2, 4, 4), 2),
    special(given([[[INF, NAN, 1.0, 2.0], [3.0, 4.0, -INF, 5.0]]]), (1, 3)),
    special(given([[[2.0, 2.0, 1.0, NAN], [2.0, 2.0, NAN, 1.0]]]), (1, 2)),
)
_VOLUMES = (
    call(real(1, 2, 3, 4, 5), (2, 3, 2)),
    call(real(2, 3, 3, 4), 1),
    call(real(1, 1, 2, 3, 4), (None, 2, 5)),
)
_NO_SEQUENCES = (
    call(real(5), 2),
    call(real(2, 5), (2, 3)),
    call(real(2, 5), -1),
    call(real(2, 5), None),
    call(real(2, 5), 1.5),
    call(real(2, 0), 2),
)
_NO_IMAGES = (
    call(real(4, 4), 2),
    call(real(2, 4, 4), (2,)),
    call(real(2, 4, 4), (2, 2, 2)),
    call(real(2, 4, 4), (2, 2, 2, 2, 2)),
    call(real(2, 4, 4), -1),
    call(real(2, 4, 4), None),
    call(real(2, 0, 4), 2),
)
_NO_VOLUMES = (
    call(real(4, 4), 2),
    call(real(2, 4, 4, 4), (2, 2)),
    call(real(1, 0, 4, 4, 4), 2),
    call(real(2, 4, 0, 4), 2),
)
row(
    "adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d",
    *_SEQUENCES,
    bad=_NO_SEQUENCES,
)
row("nn.functional.adaptive_avg_pool2d", *_IMAGES, bad=_NO_IMAGES)
row("nn.functional.adaptive_avg_pool3d", *_VOLUMES, bad=_NO_VOLUMES)
row("adaptive_max_pool1d", *_SEQUENCES, bad=_NO_SEQUENCES)
row(
    "nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool1d_with_indices",
    *_SEQUENCES,
    call(real(2, 5), 2, True),
    bad=_NO_SEQUENCES,
)
row(
    "nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool2d_with_indices",
    *_IMAGES,
    call(real(2, 5, 5), 2, return_indices=True),
    special(given([[[2.0, 2.0, 1.0, 1.0], [2.0, 2.0, 1.0, 1.0]]]), (1, 2), True),
    bad=_NO_IMAGES,
)
row(
    "nn.functional.adaptive_max_pool3d nn.functional.adaptive_max_pool3d_with_indices",
    *_VOLUMES,
    call(real(2, 3, 3, 4), 2, True),
    bad=_NO_VOLUMES,
)

# --- fractional steps -----------------------------------------------------------------------------

_DRAWS = real(2, 2, 2, low=0, high=1, fixed=True)
_FRACTIONS = (
    call(real(2, 2, 7, 9), 2, (3, 4), _random_samples=_DRAWS),
    call(real(2, 2, 7, 9), (3, 2), output_ratio=(0.5, 0.6), _random_samples=_DRAWS),
    special(
        given(np.zeros((0, 2, 7, 9), "float32")),
        2,
        (3, 4),
        _random_samples=given(np.zeros((0, 2, 2), "float32")),
    ),
    call(real(2, 8, 8), 3, 1, None, True, real(1, 2, 2, low=0, high=1, fixed=True)),
    special(
        given([[[1.0, 1.0, NAN], [1.0, NAN, 0.0], [1.0, 1.0, 1.0]]]),
        2,
        2,
        return_indices=True,
        _random_samples=real(1, 1, 2, low=0, high=1, fixed=True),
    ),
)
_NO_FRACTIONS = (
    call(real(2, 2, 7, 9), 2),
    call(real(2, 2, 7, 9), 2, 7),
    call(real(2, 2, 7, 9), (2, 2, 2), 3),
    call(real(2, 2, 7, 9), 2, (3,)),
    call(real(7, 9), 2, 3),
    call(real(2, 0, 7, 9), 2, 3),
    call(real(2, 2, 7, 9), 2, 3, _random_samples=real(1, 2, 2, fixed=True)),
    call(real(2, 2, 7, 9), 2, 3, _random_samples=real(2, 2, 3, fixed=True)),
    call(real(2, 2, 7, 9), 2, 3, _random_samples=real(2, 2, fixed=True)),
)
row(
    "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool2d_with_indices",
    *_FRACTIONS,
    bad=_NO_FRACTIONS,
)
row(
    "nn.functional.fractional_max_pool3d nn.functional.fractional_max_pool3d_with_indices",
    call(
        real(1, 2, 5, 6, 7), 2, (3, 4, 2), _random_samples=real(1, 2, 3, low=0, high=1, fixed=True)
    ),
    call(
        real(2, 5, 6, 7),
        (2, 1, 3),
        output_ratio=(0.5, 0.6, 0.3),
        return_indices=True,
        _random_samples=real(1, 2, 3, low=0, high=1, fixed=True),
    ),
    bad=(
        call(real(2, 5, 6, 7), 2),
        call(real(2, 5, 6, 7), 2, 5),
        call(real(2, 5, 6, 7), 2, 4),
        call(real(2, 5, 6, 7), (2, 2), 3),
        call(real(1, 2, 5, 6, 7), 2, 3, _random_samples=real(1, 2, 2, fixed=True)),
    ),
)

# --- back from the maxima -------------------------------------------------------------------------


def _spots(*shape: int, step: int) -> Arg:
    """The places 0, step, 2 step, … in each image."""
    return Arg(np.broadcast_to(np.arange(0, shape[-1] * step, step), shape).copy())


row(
    "nn.functional.max_unpool1d",
    call(real(2, 3, 4), _spots(2, 3, 4, step=2), 2),
    call(real(3, 2), _spots(3, 2, step=3), 3, 2, 0),
    call(real(3, 2), _spots(3, 2, step=3), (2,), output_size=(5,)),
    call(real(0, 3, 4), places(0, 3, 4, below=8), 2),
    bad=(
        call(real(3, 2), _spots(3, 2, step=4), 2),
        call(real(3, 2), _spots(3, 1, step=1), 2),
        call(real(3, 2), given([[0], [1], [2]], "int32"), 2),
        call(real(2), places(2, below=4), 2),
        call(real(3, 2), _spots(3, 2, step=1), 2, output_size=(6,)),
        call(real(3, 2), _spots(3, 2, step=1), 2, output_size=(1, 2)),
        call(real(3, 2), _spots(3, 2, step=1), 2, padding=3),
    ),
)
row(
    "nn.functional.max_unpool2d",
    # PyTorch's gradient wants places that lie one after the other; in transposed ones these do.
    call(real(2, 3, 1, 2), given([[[[1, 6]]] * 3] * 2), 2),
    call(real(2, 3, 2, 2, fixed=True), given([[[[1, 2], [9, 15]]] * 3] * 2), 2),
    call(real(1, 2, 2), given([[[1, 2], [9, 11]]]), (2, 1), (2, 1), output_size=(1, 1, 5, 2)),
    special(real(1, 1, 2), given([[[3, 3]]]), 2),  # twice the same: the last one stays
    bad=(
        call(real(1, 2, 2), given([[[1, 2], [9, 16]]]), 2),
        call(real(1, 2, 2), given([[[1, 2], [9, -1]]]), 2),
        call(real(1, 2, 2), given([[[1, 2]]]), 2),
        call(real(2, 2), given([[1, 2], [9, 11]]), 2),
        call(real(1, 2, 2), given([[[1, 2], [9, 11]]]), 2, output_size=(9, 4)),
        call(real(1, 2, 2), given([[[1, 2], [9, 11]]]), 2, output_size=(4, 4, 4)),
        call(real(1, 0, 2, 2), places(1, 0, 2, 2, below=4), 2),
    ),
)
row(
    "nn.functional.max_unpool3d",
    call(real(2, 1, 1, 2, 1), given([[[[[1], [14]]]]] * 2), 2),
    call(real(2, 1, 2, 2, 1, fixed=True), given([[[[[1], [20]], [[9], [31]]]]] * 2), 2),
    call(real(1, 1, 1, 2), given([[[[1, 9]]]]), (1, 2, 2), output_size=(1, 3, 4)),
    bad=(
        call(real(1, 1, 2, 2), given([[[[1, 2], [9, 32]]]]), 2),
        call(real(1, 2, 2), given([[[1, 2], [9, 11]]]), 2),
        call(real(1, 1, 2, 2), given([[[[1, 2], [9, 11]]]]), 2, stride=0),
    ),
)
