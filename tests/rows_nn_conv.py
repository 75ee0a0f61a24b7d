"""Samples of convolutions, transposed ones, and windows as columns."""

from tests.samples import call, given, real, row

# --- convolutions ---------------------------------------------------------------------------------

row(
    "conv1d nn.functional.conv1d",
    call(real(2, 3, 6), real(4, 3, 3), real(4)),
    call(real(2, 4, 7), real(6, 2, 3), real(6), 2, 1, 2, 2),
    call(real(3, 6), real(4, 3, 2)),
    call(real(2, 3, 5), real(3, 1, 2), groups=3, padding="same"),
    call(real(1, 2, 5), real(1, 2, 3), dilation=2, padding="same"),
    call(real(1, 2, 5), real(1, 2, 3), padding="valid"),
    call(real(2, 5), real(1, 2, 1), real(1), stride=(3,)),
    call(real(0, 3, 6), real(4, 3, 3), real(4)),
    call(given([[[1, -2, 3, 4]]]), given([[[2, 1]]]), given([7])),
    bad=(
        call(real(6), real(4, 3, 3)),
        call(real(2, 3, 6, 6), real(4, 3, 3)),
        call(real(2, 3, 6), real(4, 3)),
        call(real(2, 3, 6), real(4, 3, 3, 3)),
        call(real(2, 3, 6), real(4, 2, 3)),
        call(real(2, 3, 6), real(4, 3, 7)),
        call(real(2, 3, 6), real(4, 3, 0)),
        call(real(2, 3, 0), real(4, 3, 1)),
        call(real(2, 3, 0), real(4, 3, 1), padding=1),
        call(real(2, 3, 6), real(0, 3, 3)),
        call(real(2, 3, 6), real(4, 3, 3), real(3)),
        call(real(2, 3, 6), real(4, 3, 3), real(4, 1)),
        call(real(2, 3, 6), real(4, 3, 3), stride=0),
        call(real(2, 3, 6), real(4, 3, 3), stride=(1, 1)),
        call(real(2, 3, 6), real(4, 3, 3), stride=()),
        call(real(2, 3, 6), real(4, 3, 3), padding=(1, 1)),
        call(real(2, 3, 6), real(4, 3, 3), padding=-1),
        call(real(2, 3, 6), real(4, 3, 3), padding=1.0),
        call(real(2, 3, 6), real(4, 3, 3), padding="full"),
        call(real(2, 3, 6), real(4, 3, 3), stride=2, padding="same"),
        call(real(2, 3, 6), real(4, 3, 3), dilation=0),
        call(real(2, 3, 6), real(4, 1, 3), groups=0),
        call(real(2, 4, 6), real(3, 2, 3), groups=2),
        call(real(2, 3, 6), given([[[1, 2]]])),
        call([1.0], real(4, 3, 3)),
    ),
)
row(
    "conv2d nn.functional.conv2d",
    call(real(2, 3, 5, 4), real(2, 3, 3, 2), real(2)),
    call(real(1, 2, 5, 5), real(4, 1, 2, 2), None, 2, 1, 1, 2),
    call(real(1, 6, 6), real(1, 1, 2, 2), dilation=2),
    call(real(1, 2, 4, 5), real(3, 2, 2, 3), padding="same"),
    call(real(0, 3, 5, 4), real(2, 3, 3, 2), real(2)),
    bad=(call(real(1, 3, 2, 2), real(1, 3, 3, 3)), call(real(1, 2, 4, 4), real(1, 3, 2, 2))),
)
row(
    "conv3d nn.functional.conv3d",
    call(real(2, 2, 3, 4, 3), real(2, 2, 2, 3, 2), real(2)),
    call(real(1, 2, 4, 3, 5), real(4, 1, 2, 2, 2), real(4), (2, 1, 1), (1, 0, 1), (1, 2, 1), 2),
    call(real(1, 3, 3, 3), real(1, 1, 2, 2, 2)),
    call(real(1, 1, 3, 3, 2), real(1, 1, 2, 3, 1), padding="same"),
    call(real(0, 1, 3, 3, 3), real(2, 1, 2, 2, 2)),
    bad=(
        call(real(3, 3, 3), real(1, 1, 2, 2, 2)),
        call(real(1, 1, 3, 3, 3), real(1, 1, 4, 2, 2)),
        call(real(1, 1, 3, 3, 3), real(1, 1, 2, 2, 2), stride=(1, 1)),
    ),
)

# --- transposed -----------------------------------------------------------------------------------

row(
    "conv_transpose1d nn.functional.conv_transpose1d",
    call(real(2, 3, 4), real(3, 2, 3), real(2)),
    call(real(2, 4, 4), real(4, 2, 3), real(4), 2, 1, 1, 2, 1),
    call(real(3, 4), real(3, 1, 2)),
    # More at the end than a step: no window of the convolution begins there.
    call(real(1, 2, 3), real(2, 1, 2), output_padding=2, dilation=3),
    call(real(0, 3, 4), real(3, 2, 3), real(2)),
    bad=(
        call(real(4), real(3, 2, 3)),
        call(real(2, 3, 4, 4), real(3, 2, 3)),
        call(real(2, 3, 4), real(3, 2)),
        call(real(2, 3, 4), real(3, 2, 3, 3)),
        call(real(2, 4, 4), real(3, 2, 3)),
        call(real(2, 3, 4), real(3, 2, 3), real(3)),
        call(real(2, 4, 4), real(4, 2, 3), real(2), groups=2),
        call(real(2, 3, 4), real(3, 2, 3), stride=0),
        call(real(2, 3, 4), real(3, 2, 3), dilation=0),
        call(real(2, 3, 4), real(3, 2, 3), groups=2),
        call(real(2, 3, 4), real(3, 2, 3), groups=0),
        call(real(2, 3, 4), real(3, 2, 3), padding=-1),
        call(real(1, 2, 4), real(2, 1, 3), padding=3),
        call(real(2, 3, 4), real(3, 2, 3), padding=4),
        call(real(2, 3, 4), real(3, 2, 3), padding="same"),
        call(real(2, 3, 4), real(3, 2, 3), output_padding=1),
        call(real(2, 3, 4), real(3, 2, 3), 2, output_padding=-1),
        call(real(2, 3, 4), real(3, 2, 0)),
        call(real(2, 3, 0), real(3, 2, 3)),
        call(real(2, 3, 4), given([[[1, 2]]])),
        call([1.0], real(3, 2, 3)),
    ),
)
row(
    "conv_transpose2d nn.functional.conv_transpose2d",
    call(real(2, 3, 3, 2), real(3, 2, 2, 3), real(2)),
    call(real(1, 4, 3, 3), real(4, 1, 2, 3), real(2), (2, 3), (1, 0), (1, 2), 2, (2, 1)),
    call(real(1, 3, 3), real(1, 2, 2, 2)),
    call(real(0, 1, 3, 3), real(1, 2, 2, 2)),
    bad=(call(real(1, 2, 3, 3), real(1, 2, 2, 2)), call(real(3, 3), real(1, 2, 2, 2))),
)
row(
    "conv_transpose3d nn.functional.conv_transpose3d",
    call(real(2, 2, 2, 2, 3), real(2, 1, 2, 1, 2), real(1)),
    call(real(1, 2, 2, 3, 2), real(2, 2, 2, 2, 2), real(4), 2, (1, 0, 1), (0, 1, 0), 2),
    call(real(1, 2, 2, 2), real(1, 1, 2, 2, 2)),
    bad=(call(real(1, 2, 2, 2, 2), real(1, 2, 2, 2, 2)), call(real(2, 2, 2), real(1, 2, 2, 2, 2))),
)

# --- windows as columns ---------------------------------------------------------------------------

row(
    "nn.functional.unfold",
    call(real(2, 3, 4, 5), 2),
    call(real(1, 2, 5, 6), (2, 3), (2, 1), (1, 0), (1, 2)),
    call(real(2, 3, 4), kernel_size=[1, 2], padding=1),
    call(real(1, 3, 3), 1),
    call(real(0, 2, 3, 3), 2),
    bad=(
        call(real(3, 4), 2),
        call(real(1, 1, 1, 3, 4), 2),
        call(real(1, 0, 3, 4), 2),
        call(real(1, 1, 0, 4), 2),
        call(real(1, 1, 3, 4), 4),
        call(real(1, 1, 3, 4), 0),
        call(real(1, 1, 3, 4), 2, stride=0),
        call(real(1, 1, 3, 4), 2, 0),
        call(real(1, 1, 3, 4), 2, padding=-1),
        call(real(1, 1, 3, 4), (2,)),
        call(real(1, 1, 3, 4), (2, 2, 2)),
        call(real(1, 1, 3, 4), 2.0),
        call([1.0], 2),
    ),
)
row(
    "nn.functional.fold",
    call(real(2, 12, 12), (4, 5), 2),
    call(real(1, 12, 8), (5, 6), (2, 3), (2, 1), (1, 0), (1, 2)),
    call(real(4, 6), (3, 4), 2),
    call(real(1, 1, 9), 3, 1),
    call(real(0, 4, 4), 3, 2),
    bad=(
        call(real(4), 3, 2),
        call(real(1, 1, 4, 4), 3, 2),
        call(real(1, 0, 4), 3, 2),
        call(real(1, 4, 0), 3, 2),
        call(real(1, 5, 4), 3, 2),
        call(real(1, 4, 5), 3, 2),
        call(real(1, 4, 1), 1, 2),
        call(real(1, 4, 16), -5, 2),
        call(real(1, 4, 4), 3, 0),
        call(real(1, 4, 4), 3, 2, stride=0),
        call(real(1, 4, 4), 3, 2, 0),
        call(real(1, 4, 4), 3, 2, padding=-1),
        call(real(1, 4, 4), (3, 3, 3), 2),
        call([1.0], 3, 2),
    ),
)
