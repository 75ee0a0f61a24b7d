"""Dropout as layers."""

from .modules import call, case, layer, real

REFUSED = (call(-0.1), call(1.1), call("a"))
layer(
    "Dropout AlphaDropout",
    case(call(), real(4, 5)),
    case(call(0.2), real(2, 3, 4)),
    case(call(p=0), real(3)),
    case(call(1.0), real(3)),
    refused=REFUSED,
)
layer("FeatureAlphaDropout", case(call(), real(4, 3, 2)), case(call(0.2), real(4, 3, 2, 2)))
layer(
    "Dropout1d",
    case(call(), real(4, 3, 2)),
    case(call(0.2), real(6, 2)),
    refused=REFUSED,
    misfits=(case(call(), real(2, 3, 4, 2)), case(call(), real(3))),
)
layer("Dropout2d", case(call(), real(4, 3, 2, 2)), refused=REFUSED)
layer(
    "Dropout3d", case(call(), real(4, 3, 2, 1, 2)), case(call(), real(6, 2, 1, 2)), refused=REFUSED
)
