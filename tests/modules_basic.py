"""The layers of LeNet: linear maps, pooling, activations and losses."""

from .modules import call, case, given, layer, real

layer("Identity", case(call(), real(2, 3)), case(call(3, unused=4), real(2, 3)))
layer(
    "Linear",
    case(call(3, 4), real(2, 3)),
    case(call(3, 4, bias=False), real(3)),
    case(call(3, 1), real(2, 2, 3)),
    misfits=(case(call(3, 4), real(2, 5)),),
)
layer(
    "MaxPool2d",
    case(call(2), real(2, 2, 5, 5)),
    case(call((2, 3), 1, 1, return_indices=True), real(2, 5, 5)),
    misfits=(case(call(3), real(1, 1, 2, 2)),),
)
layer("ReLU", case(call(), real(2, 3)), case(call(inplace=False), real(3)))
layer("Tanh Sigmoid", case(call(), real(2, 3)))
layer("Softmax LogSoftmax", case(call(1), real(2, 3)), case(call(dim=0), real(3, 2)))
layer(
    "Unflatten",
    case(call(1, (2, 2)), real(2, 4)),
    case(call(-1, [3, -1]), real(2, 6)),
    misfits=(case(call(1, (2, 3)), real(2, 4)),),
)
layer("Flatten", case(call(), real(2, 3, 4)), case(call(0, 1), real(2, 3, 4)))
layer(
    "MSELoss",
    case(call(), real(2, 3), real(2, 3)),
    case(call(reduction="sum"), real(2, 3), real(2, 3)),
    case(call(size_average=False), real(2, 3), real(2, 3)),
    misfits=(case(call(), real(2, 3), real(2)),),
)
layer(
    "NLLLoss CrossEntropyLoss",
    case(call(), real(4, 3), given([0, 2, 1, 1])),
    case(call(reduce=False), real(4, 3), given([0, 2, 1, 1])),
    case(call(real(3, low=0.5), ignore_index=1), real(4, 3), given([0, 2, 1, 1])),
    misfits=(case(call(), real(4, 3), given([0, 2])),),
)
