"""The pooling layers."""

from .modules import call, case, given, layer, real

layer(
    "MaxPool1d",
    case(call(2), real(2, 2, 5)),
    case(call(3, 1, 1, 2, True, True), real(2, 6)),
    refused=(call(),),
    misfits=(case(call(3), real(1, 1, 2)), case(call((2, 2)), real(1, 1, 4))),
)
layer(
    "MaxPool3d",
    case(call(2), real(1, 2, 4, 4, 5)),
    case(call((2, 1, 3), 1, (1, 0, 1), return_indices=True), real(2, 3, 3, 3)),
    misfits=(case(call(3), real(1, 1, 2, 3, 3)),),
)
layer(
    "AvgPool1d",
    case(call(2), real(2, 2, 5)),
    case(call(3, 2, 1, True, False), real(2, 6)),
    misfits=(case(call(3), real(1, 1, 2)),),
)
layer(
    "AvgPool2d",
    case(call(2), real(2, 2, 5, 5)),
    case(call((3, 2), 2, (1, 0), True, False, 4), real(2, 6, 4)),
    misfits=(case(call(3), real(1, 1, 2, 2)), case(call(2, divisor_override=0), real(1, 2, 2))),
)
layer(
    "AvgPool3d",
    case(call(2), real(1, 2, 4, 4, 5)),
    case(call((2, 1, 3), 1, (1, 0, 1), count_include_pad=False), real(2, 3, 3, 3)),
    misfits=(case(call(3), real(1, 1, 2, 3, 3)),),
)
layer(
    "LPPool1d",
    case(call(2, 2), real(2, 2, 5, low=0.5)),
    case(call(3.0, 3, 1, True), real(2, 6, low=0.5)),
    misfits=(case(call(2, 3), real(1, 1, 2)),),
)
layer(
    "LPPool2d",
    case(call(2, 2), real(1, 2, 4, 5, low=0.5)),
    case(call(1.5, (3, 2), stride=2, ceil_mode=True), real(2, 6, 5, low=0.5)),
    misfits=(case(call(2, 3), real(1, 1, 2, 2)),),
)
layer(
    "LPPool3d",
    case(call(2, 2), real(1, 2, 4, 3, 2, low=0.5)),
    case(call(1, (1, 2, 1), stride=(1, 2, 2)), real(2, 3, 4, 3, low=0.5)),
    misfits=(case(call(2, 3), real(1, 2, 2, 2)),),
)
layer(
    "AdaptiveAvgPool1d",
    case(call(3), real(2, 2, 5)),
    case(call((1,)), real(2, 6)),
    misfits=(case(call((2, 2)), real(2, 6)),),
)
layer(
    "AdaptiveMaxPool1d",
    case(call(3), real(2, 2, 5)),
    case(call((1,), return_indices=True), real(2, 6)),
    misfits=(case(call((2, 2)), real(2, 6)),),
)
layer(
    "AdaptiveAvgPool2d",
    case(call((None, 2)), real(2, 2, 3, 5)),
    case(call(1), real(2, 6, 3)),
    misfits=(case(call(3), real(2, 2)),),
)
layer(
    "AdaptiveMaxPool2d",
    case(call((None, 2)), real(2, 2, 3, 5)),
    case(call(2, True), real(2, 6, 3)),
    misfits=(case(call(3), real(2, 2)),),
)
layer(
    "AdaptiveAvgPool3d",
    case(call((2, None, 2)), real(1, 2, 3, 3, 5)),
    case(call(1), real(2, 3, 3, 2)),
    misfits=(case(call(3), real(2, 2)),),
)
layer(
    "AdaptiveMaxPool3d",
    case(call((2, None, 2)), real(1, 2, 3, 3, 5)),
    case(call(2, True), real(2, 3, 3, 2)),
    misfits=(case(call(3), real(2, 2)),),
)
layer(
    "FractionalMaxPool2d",
    case(call(2, output_size=(3, 2)), real(2, 2, 5, 6)),
    case(call((2, 3), output_ratio=0.5, return_indices=True), real(2, 6, 6)),
    case(
        call(2, 3, _random_samples=real(1, 2, 2, low=0, high=1, fixed=True)),
        real(2, 5, 6),
    ),
    refused=(
        call(2),
        call(2, output_size=2, output_ratio=0.5),
        call(2, output_ratio=1.5),
        call(2, output_ratio=(0.5, 1.0)),
    ),
    misfits=(case(call(2, output_size=5), real(1, 5, 5)),),
)
layer(
    "FractionalMaxPool3d",
    case(call(2, output_size=(3, 2, 2)), real(1, 2, 5, 4, 5)),
    case(call((2, 1, 3), output_ratio=(0.5, 0.4, 0.5), return_indices=True), real(2, 4, 5, 6)),
    refused=(call(2), call(2, output_ratio=(0.5, 0.5, 0.0))),
    misfits=(case(call(2, output_size=5), real(1, 5, 5, 5)),),
)
layer(
    "MaxUnpool1d",
    case(call(2), real(1, 2, 2), given([[[0, 3], [1, 2]]])),
    case(call(2, 1, 0), real(1, 2), given([[2, 0]])),
    case(call(2), real(1, 2), given([[4, 0]]), output_size=(5,)),
    misfits=(case(call(2), real(1, 2), given([[4, 0]])),),
)
layer(
    "MaxUnpool2d",
    case(call(2), real(1, 1, 2, 2), given([[[[0, 7], [8, 13]]]])),
    case(call((2, 1), padding=(0, 0)), real(1, 1, 2), given([[[2, 0]]]), (3, 2)),
    misfits=(
        case(call(2), real(1, 1, 2), given([[[8, 0]]])),
        case(call(2), real(1, 1, 2), given([[[1, 0]]]), (9, 9)),
    ),
)
layer(
    "MaxUnpool3d",
    case(call(2), real(1, 1, 1, 2, 2), given([[[[[0, 15], [9, 31]]]]])),
    case(call((2, 1, 1)), real(1, 1, 1, 2), given([[[[2, 0]]]])),
    misfits=(case(call(2), real(1, 1, 1, 2), given([[[[16, 0]]]])),),
)
