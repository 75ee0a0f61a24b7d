"""Recurrent layers and cells."""

from .modules import call, case, given, layer, real

SIZES = (
    call(0, 3),
    call(3, 0),
    call(3, 4, 0),
    call(3, 4.0),
    call(3, 4, dropout=2),
    call(3, 4, dropout=True),
    call(3, 4, dropout="a"),
    call(3, 4, unknown=1),
)
MISFITS = (
    case(call(3, 4), real(2)),
    case(call(3, 4), real(2, 1, 1, 3)),
    case(call(3, 4), real(2, 5)),
    case(call(3, 4), real(2, 1, 5)),
    case(call(3, 4), real(0, 1, 3)),
    case(call(3, 4), given([[[1, 2, 3]]])),
)

layer(
    "RNN GRU",
    case(call(3, 2), real(3, 2, 3), real(1, 2, 2)),
    case(call(3, 2), real(3, 2, 3)),
    case(call(3, 4, 2, bidirectional=True), real(3, 2, 3), real(4, 2, 4)),
    case(call(3, 4, 3, dropout=0.5), real(5, 6, 3)),
    case(call(3, 4, bias=False, batch_first=True), real(2, 5, 3), real(1, 2, 4)),
    case(call(3, 4, 2, batch_first=True), real(5, 3), real(2, 4)),
    case(call(3, 4), real(2, 0, 3)),
    case(call(3, 4, 2, dropout=1), real(2, 2, 3)),
    refused=(*SIZES, call(3, 4, proj_size=2)),
    misfits=(
        *MISFITS,
        case(call(3, 4), real(2, 1, 3), real(1, 2, 4)),
        case(call(3, 4), real(2, 1, 3), real(1, 4)),
        case(call(3, 4), real(2, 3), real(1, 1, 4)),
    ),
)
layer(
    "LSTM",
    case(call(3, 2), real(3, 2, 3), (real(1, 2, 2), real(1, 2, 2))),
    case(call(3, 2), real(3, 2, 3)),
    case(call(3, 4, 2, bidirectional=True), real(3, 2, 3), (real(4, 2, 4), real(4, 2, 4))),
    case(call(3, 4, proj_size=2), real(3, 2, 3), (real(1, 2, 2), real(1, 2, 4))),
    case(call(3, 4, 2, proj_size=3, bidirectional=True, dropout=0.3), real(3, 5, 3)),
    case(call(3, 4, 2, False, True), real(2, 5, 3)),
    case(call(3, 4), real(5, 3), (real(1, 4), real(1, 4))),
    refused=(*SIZES, call(3, 4, proj_size=4), call(3, 4, proj_size=-1), call(3, 4, 1, "tanh", 2)),
    misfits=(
        *MISFITS,
        case(call(3, 4), real(2, 1, 3), (real(1, 1, 5), real(1, 1, 4))),
        case(call(3, 4), real(2, 1, 3), (real(1, 1, 4), real(1, 1, 3))),
        case(call(3, 4), real(2, 1, 3), (real(1, 4), real(1, 4))),
        case(call(3, 4), real(2, 3), (real(1, 1, 4), real(1, 1, 4))),
    ),
)
layer(
    "RNNCell GRUCell",
    case(call(3, 4), real(2, 3), real(2, 4)),
    case(call(3, 4), real(2, 3)),
    case(call(3, 4, bias=False), real(3), real(4)),
    misfits=(
        case(call(3, 4), real(2, 1, 3)),
        case(call(3, 4), real(2, 4)),
        case(call(3, 4), real(2, 3), real(1, 4)),
        case(call(3, 4), real(2, 3), real(2, 3)),
        case(call(3, 4), real(2, 3), real(4)),
        case(call(3, 4), real(2, 3), real(1, 2, 4)),
    ),
)
layer(
    "LSTMCell",
    case(call(3, 4), real(2, 3), (real(2, 4), real(2, 4))),
    case(call(3, 4), real(2, 3)),
    case(call(3, 4, False), real(3), (real(4), real(4))),
    misfits=(
        case(call(3, 4), real(2, 1, 3)),
        case(call(3, 4), real(2, 3), real(2, 4)),
        case(call(3, 4), real(2, 3), (real(2, 4), real(2, 3))),
    ),
)
