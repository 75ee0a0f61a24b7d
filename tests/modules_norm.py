"""The layers that normalise."""

from .modules import call, case, layer, real

layer(
    "BatchNorm1d",
    case(call(3), real(4, 3)),
    case(call(3, 1e-3, 0.3), real(2, 3, 4)),
    case(call(3, momentum=None), real(4, 3)),
    case(call(3, affine=False), real(4, 3)),
    case(call(3, track_running_stats=False), real(4, 3)),
    case(call(3, bias=False), real(4, 3)),
    refused=(call(-1), call()),
    misfits=(
        case(call(3), real(3)),
        case(call(3), real(2, 3, 2, 2)),
        case(call(3), real(4, 2)),
        case(call(3), real(1, 3)),
        case(call(3), real(1, 3, 1)),
    ),
)
layer(
    "BatchNorm2d",
    case(call(3), real(2, 3, 2, 2)),
    case(call(2, track_running_stats=False, affine=False), real(2, 2, 1, 3)),
    misfits=(case(call(3), real(2, 3, 4)), case(call(3), real(1, 3, 1, 1))),
)
layer("BatchNorm3d", case(call(2), real(2, 2, 1, 2, 3)), misfits=(case(call(3), real(2, 3, 2, 2)),))
layer(
    "InstanceNorm1d",
    case(call(3), real(2, 3, 4)),
    case(call(3), real(3, 4)),
    case(call(3, affine=True, track_running_stats=True), real(2, 3, 4)),
    case(call(3, 1e-3, 0.3, True, bias=False), real(2, 3, 4)),
    misfits=(
        case(call(3), real(2, 3, 4, 4)),
        case(call(3, affine=True), real(2, 4, 5)),
        case(call(3), real(2, 3, 1)),
    ),
)
layer(
    "InstanceNorm2d",
    case(call(3), real(2, 3, 2, 2)),
    case(call(3, affine=True, track_running_stats=True), real(3, 2, 2)),
    misfits=(case(call(3), real(2, 3, 2, 2, 2)),),
)
layer("InstanceNorm3d", case(call(2), real(2, 2, 1, 2, 3)), misfits=(case(call(3), real(2, 3)),))
layer(
    "LayerNorm",
    case(call(3), real(2, 3)),
    case(call([3, 2], 1e-3), real(2, 3, 2)),
    case(call((3,), elementwise_affine=False), real(2, 2, 3)),
    case(call(3, bias=False), real(3)),
    refused=(call("a"),),
    misfits=(case(call((2, 3)), real(3, 2)),),
)
layer(
    "RMSNorm",
    case(call(3), real(2, 3)),
    case(call([3, 2], 1e-3), real(2, 3, 2)),
    case(call((3,), elementwise_affine=False), real(2, 3)),
    misfits=(case(call(3), real(2, 4)), case(call((2, 3)), real(3))),
)
layer(
    "GroupNorm",
    case(call(2, 4), real(2, 4, 3)),
    case(call(3, 6, 1e-3), real(2, 6, 2, 2)),
    case(call(1, 3, affine=False), real(2, 3, 2)),
    case(call(2, 4, bias=False), real(2, 4)),
    refused=(call(3, 4), call(0, 4)),
    misfits=(case(call(2, 4), real(2, 6)), case(call(2, 2), real(1, 2)), case(call(2, 4), real(4))),
)
layer(
    "LocalResponseNorm",
    case(call(3, 0.5), real(2, 5, 3)),
    case(call(2, alpha=0.5, beta=0.5, k=2.0), real(1, 3, 2, 2)),
    misfits=(case(call(2), real(2, 3)),),
)
