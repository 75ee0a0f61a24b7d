"""Padding layers."""

from .modules import call, case, layer, real

layer(
    "ConstantPad1d",
    case(call(2, 3.5), real(2, 3)),
    case(call((1, -2), value=1), real(1, 2, 3, 4)),
    case(call(padding=[1, 0], value=0), real(2)),
    refused=(call(1),),
    misfits=(case(call((1, 2, 3), 0.0), real(1, 2, 3)), case(call((-2, -2), 0.0), real(2, 3))),
)
layer(
    "ConstantPad2d",
    case(call((1, 2, 0, 3), 0.5), real(2, 3)),
    case(call(1, -1.0), real(1, 2, 2, 2)),
    case(call((1, 2), 2), real(2, 3)),
    misfits=(case(call(1, 0.0), real(3)),),
)
layer(
    "ConstantPad3d",
    case(call(1, 2.0), real(1, 2, 1, 2)),
    case(call((1, 0, -1, 1, 0, 2), 2.0), real(1, 1, 2, 2, 3)),
    misfits=(case(call(1, 0.0), real(2, 3)),),
)
layer("ZeroPad1d", case(call(2), real(2, 3)), case(call((1, -1)), real(1, 2, 3)))
layer(
    "ZeroPad2d",
    case(call((1, 2, 0, 3)), real(2, 3)),
    case(call(-1), real(1, 3, 4)),
    misfits=(case(call(1), real(3)), case(call((1, 2, 3)), real(2, 3))),
)
layer("ZeroPad3d", case(call(1), real(1, 2, 1, 2)), misfits=(case(call(1), real(2, 3)),))
layer(
    "ReflectionPad1d",
    case(call(2), real(2, 1, 3)),
    case(call((1, -1)), real(2, 3)),
    misfits=(
        case(call(1), real(3)),
        case(call(1), real(2, 3, 4, 5)),
        case(call(3), real(1, 2, 3)),
        case(call((1, 2, 3)), real(1, 2, 3)),
    ),
)
layer(
    "ReplicationPad1d",
    case(call(4), real(2, 1, 3)),
    case(call((1, -1)), real(2, 3)),
    misfits=(case(call(1), real(3)), case(call(1), real(2, 3, 4, 5))),
)
layer(
    "CircularPad1d",
    case(call(2), real(2, 1, 3)),
    case(call((1, -1)), real(2, 3)),
    misfits=(
        case(call(1), real(3)),
        case(call(1), real(2, 3, 4, 5)),
        case(call(4), real(1, 2, 3)),
    ),
)
layer(
    "ReflectionPad2d ReplicationPad2d CircularPad2d",
    case(call((1, 2, 0, 1)), real(2, 1, 2, 3)),
    case(call([1, 1, -1, 1]), real(1, 3, 2)),
    misfits=(case(call(1), real(3, 3)), case(call(1), real(1, 1, 1, 3, 3))),
)
layer(
    "ReflectionPad3d ReplicationPad3d CircularPad3d",
    case(call(1), real(1, 1, 2, 3, 2)),
    case(call((1, 0, -1, 1, 0, 2)), real(1, 3, 3, 2)),
    misfits=(case(call(1), real(3, 3, 3)), case(call(1), real(3, 3))),
)
