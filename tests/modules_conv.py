"""Convolution layers, and those that move windows and channels."""

from .modules import call, case, layer, real

layer(
    "Conv1d",
    case(call(2, 4, 3), real(2, 2, 6)),
    case(call(2, 4, (2,), 2, 1, 2, 2, False), real(2, 6)),
    case(call(2, 2, 4, padding="same"), real(1, 2, 6)),
    case(call(2, 2, 3, padding="valid"), real(1, 2, 6)),
    case(call(2, 4, 3, padding=2, padding_mode="reflect"), real(2, 2, 6)),
    case(call(2, 4, 3, padding=-1, padding_mode="circular"), real(2, 2, 6)),
    refused=(
        call(3, 4, 2, groups=2),
        call(4, 3, 2, groups=2),
        call(2, 2, 3, groups=0),
        call(2, 2, 3, groups=-1),
        call(2, 2, 3, padding="around"),
        call(2, 2, 3, stride=2, padding="same"),
        call(2, 2, 3, padding_mode="mirror"),
        call(2, 2, -1),
        call(2, 2, 1.5),
        call(2.0, 2, 3),
    ),
    misfits=(
        case(call(2, 4, 3), real(1, 3, 5)),
        case(call(2, 4, 3), real(1, 2, 2)),
        case(call(2, 4, 3), real(5)),
        case(call(2, 4, 3), real(1, 2, 5, 5)),
        case(call(2, 4, (3, 3)), real(1, 2, 5)),
        case(call(2, 4, 3, stride=0), real(1, 2, 5)),
        case(call(2, 4, 3, padding=-1), real(1, 2, 5)),
        case(call(2, 4, 3, padding=5, padding_mode="reflect"), real(1, 2, 5)),
    ),
)
layer(
    "Conv2d",
    case(call(2, 4, 3), real(2, 2, 5, 5)),
    case(call(2, 4, (3, 2), stride=2, padding=(1, 0), groups=2, bias=False), real(2, 5, 5)),
    case(call(3, 6, 3, groups=3, dilation=2), real(1, 3, 5, 6)),
    case(call(2, 1, [2, 3], padding=(1,)), real(1, 2, 3, 3)),
    case(
        call(2, 1, (2, 3), padding="same", padding_mode="reflect", dilation=(1, 2)),
        real(1, 2, 5, 5),
    ),
    case(call(2, 1, 3, padding=(1, 2), padding_mode="circular"), real(2, 3, 3)),
    case(call(2, 1, 3, padding=(1, 2), padding_mode="replicate"), real(1, 2, 3, 2)),
    case(call(2, 1, 3, padding="valid", padding_mode="replicate"), real(1, 2, 3, 4)),
    refused=(call(3, 4, 2, groups=2), call(2, 2, 3, padding="around"), call(2, 2, 3, groups=0)),
    misfits=(
        case(call(2, 4, 3), real(1, 3, 5, 5)),
        case(call(2, 4, 3), real(1, 2, 2, 2)),
        case(call(2, 4, (3,)), real(1, 2, 5, 5)),
        case(call(2, 4, 3, padding=1, padding_mode="reflect"), real(2, 5)),
        case(call(2, 4, 3, padding=(1,), padding_mode="reflect"), real(1, 2, 5, 5)),
    ),
)
layer(
    "Conv3d",
    case(call(1, 2, 2), real(1, 1, 3, 3, 2)),
    case(call(2, 2, (1, 2, 3), padding=(0, 1, 1), stride=(1, 2, 1), groups=2), real(2, 2, 3, 3)),
    case(call(1, 1, 2, padding="same", padding_mode="circular"), real(1, 1, 2, 3, 2)),
    refused=(call(1, 2, 3, stride=(1, 1, 2), padding="same"),),
    misfits=(case(call(1, 2, 3), real(1, 1, 3, 3)), case(call(2, 2, 1), real(1, 1, 2, 2, 2))),
)
layer(
    "ConvTranspose1d",
    case(call(2, 4, 3), real(2, 2, 4)),
    case(call(4, 2, 3, 2, 1, 1, 2, False, 2), real(4, 4)),
    case(call(2, 4, 3, stride=3, dilation=2, output_padding=1), real(1, 2, 3), [12]),
    case(call(2, 4, 3, stride=3), real(1, 2, 3), output_size=(1, 4, 11)),
    case(call(2, 4, 2, output_padding=1, dilation=2), real(1, 2, 3)),
    refused=(
        call(3, 4, 2, groups=2),
        call(4, 3, 2, groups=2),
        call(2, 2, 3, groups=0),
        call(2, 2, 3, padding_mode="reflect"),
    ),
    misfits=(
        case(call(2, 4, 3), real(1, 3, 5)),
        case(call(2, 4, 3), real(5)),
        case(call(2, 4, 3, output_padding=1), real(1, 2, 4)),
        case(call(2, 4, 3, stride=3), real(1, 2, 3), [8]),
        case(call(2, 4, 3, stride=3), real(1, 2, 3), [12]),
        case(call(2, 4, 3, stride=3), real(1, 2, 3), [4, 9]),
        case(call(2, 4, 3, stride=3), real(1, 2, 3), []),
    ),
)
layer(
    "ConvTranspose2d",
    case(call(2, 4, 3), real(2, 2, 2, 3)),
    case(call(2, 4, (3, 2), stride=2, padding=1, output_padding=(1, 0), groups=2), real(2, 3, 3)),
    case(call(1, 2, 3, stride=2, padding=1), real(1, 1, 3, 2), (6, 3)),
    case(call(1, 2, 3, stride=2, padding=1), real(1, 3, 2), (2, 5, 4)),
    misfits=(
        case(call(2, 4, 3), real(1, 3, 5, 5)),
        case(call(2, 4, 3), real(1, 2, 3, 3), (4, 5, 5)),
        case(call(2, 4, 3), real(2, 3, 3), (1, 4, 5, 5)),
    ),
)
layer(
    "ConvTranspose3d",
    case(call(1, 2, 2), real(1, 1, 2, 2, 3)),
    case(call(2, 2, (1, 2, 3), 2, (0, 1, 1), (1, 0, 1), 2), real(2, 2, 2, 2)),
    misfits=(case(call(1, 2, 2), real(1, 2, 2, 2, 2)), case(call(1, 2, 2), real(2, 2, 2))),
)
layer(
    "Unfold",
    case(call(2), real(2, 3, 3, 4)),
    case(call((2, 3), dilation=1, padding=[1, 0], stride=2), real(1, 3, 4)),
    misfits=(case(call(4), real(1, 1, 3, 3)), case(call((2, 2, 2)), real(1, 1, 3, 3))),
)
layer(
    "Fold",
    case(call((3, 4), 2), real(2, 8, 6)),
    case(call(4, kernel_size=(2, 2), stride=2), real(4, 4)),
    misfits=(case(call(3, 2), real(1, 4, 5)), case(call(3, 2), real(1, 5, 4))),
)
layer(
    "PixelShuffle",
    case(call(2), real(2, 8, 2, 3)),
    case(call(upscale_factor=3), real(9, 1, 2)),
    misfits=(case(call(2), real(1, 6, 2, 2)), case(call(0), real(1, 4, 2, 2))),
)
layer(
    "PixelUnshuffle",
    case(call(2), real(2, 2, 4, 6)),
    case(call(downscale_factor=3), real(1, 3, 6)),
    misfits=(case(call(2), real(1, 1, 3, 2)), case(call(0), real(1, 4, 2, 2))),
)
layer(
    "ChannelShuffle",
    case(call(2), real(2, 6, 2, 2)),
    case(call(groups=3), real(1, 6, 2)),
    misfits=(case(call(4), real(1, 6, 2)), case(call(0), real(1, 6, 2))),
)
