"""The upsampling layers."""

from .modules import call, case, layer, real

layer(
    "Upsample",
    case(call(scale_factor=2, mode="bilinear"), real(1, 2, 3, 3)),
    case(call(5), real(2, 1, 3)),
    case(call((2, 5), mode="bicubic", align_corners=True), real(1, 1, 3, 3)),
    case(call(scale_factor=(1.5, 2), mode="nearest"), real(1, 1, 3, 3)),
    case(
        call(scale_factor=1.7, mode="linear", recompute_scale_factor=True),
        real(1, 2, 4),
    ),
    misfits=(
        case(call((2, 3)), real(1, 2, 4)),
        case(call(2, mode="bilinear"), real(1, 2, 4)),
    ),
)
layer(
    "UpsamplingNearest2d UpsamplingBilinear2d",
    case(call(scale_factor=2), real(1, 2, 3, 3)),
    case(call((4, 2)), real(1, 1, 3, 3)),
    misfits=(case(call((2, 3, 4)), real(1, 2, 4, 4)),),
)
