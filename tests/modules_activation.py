"""The activations as layers."""

from .modules import call, case, layer, real

layer(
    "ReLU6 SELU SiLU Mish Hardsigmoid Hardswish",
    case(call(), real(2, 3)),
    case(call(inplace=False), real(3)),
)
layer("LogSigmoid Softsign Tanhshrink", case(call(), real(2, 3)), refused=(call(1), call(a=1)))
layer(
    "LeakyReLU ELU CELU",
    case(call(), real(2, 3)),
    case(call(0.5, False), real(3)),
)
layer("GELU", case(call(), real(2, 3)), case(call("tanh"), real(3)))
layer("Softplus", case(call(), real(2, 3)), case(call(2, threshold=1), real(3)))
layer("Hardshrink Softshrink", case(call(), real(2, 3)), case(call(0.2), real(3)))
layer(
    "Hardtanh",
    case(call(), real(2, 3)),
    case(call(-2, 0.5), real(3)),
    case(call(min_value=-0.5, max_value=0.5), real(3)),
    refused=(call(2, 1), call(1, 1)),
)
layer("Threshold", case(call(0.1, 20), real(2, 3)), refused=(call(),))
layer(
    "PReLU",
    case(call(), real(2, 3)),
    case(call(3, 0.1), real(2, 3, 2)),
    refused=(call(-1),),
    misfits=(case(call(2), real(2, 3)),),
)
layer("RReLU", case(call(), real(4, 5)), case(call(0.1, 0.4), real(3)))
layer(
    "GLU",
    case(call(), real(2, 4)),
    case(call(0), real(4, 3)),
    misfits=(case(call(), real(2, 3)),),
)
layer("Softmin", case(call(1), real(2, 3)), case(call(dim=0), real(3, 2)))
layer(
    "Softmax2d",
    case(call(), real(2, 3, 2, 2)),
    case(call(), real(3, 2, 2)),
    misfits=(case(call(), real(2, 3)),),
)
