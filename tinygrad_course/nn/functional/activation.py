"""Activations as functions: the bends between the linear parts of a model.

Here are PyTorch's spellings, e.g. the `inplace` flag and the names that end in `_`; what is
computed is in `ops`. Lessons 09 and 13.
"""

from __future__ import annotations

from typing import Any

from ...ops import exponential
from ...ops.arguments import require_tensors
from ...ops.curves import (
    Elu,
    Gelu,
    GeluTanh,
    Hardswish,
    LogSigmoid,
    Mish,
    Silu,
    Softplus,
    celu_,
    glu,
    selu_,
)
from ...ops.curves import celu as _celu
from ...ops.curves import selu as _selu
from ...ops.inplace import change
from ...ops.rectifiers import (
    Hardsigmoid,
    Hardtanh,
    LeakyRelu,
    Softshrink,
    hardshrink,
    prelu,
    rrelu_,
    threshold_,
)
from ...ops.rectifiers import rrelu as _rrelu
from ...ops.rectifiers import threshold as _threshold

__all__ = ["celu_", "glu", "hardshrink", "prelu", "rrelu_", "selu_", "threshold_"]


def _activated(op: Any, name: str, input: Any, inplace: bool, **parameters: Any) -> Any:
    require_tensors(name, input=input)
    return change(op, input, (), parameters) if inplace else op.fn(input, **parameters)


# --- pieces of straight lines ---------------------------------------------------------------------


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0) elementwise; `inplace=True` overwrites the input.

    >>> import tinygrad_course as tg
    >>> relu(tg.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return _activated(exponential.Relu, "relu", input, inplace)


def relu_(input: Any) -> Any:
    """max(x, 0) in place."""
    return relu(input, True)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where x > 0, else negative_slope·x, so that no gradient dies.

    >>> import tinygrad_course as tg
    >>> leaky_relu(tg.tensor([-1., 2.]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    in_place = {"in_place": True} if inplace else {}
    return _activated(LeakyRelu, "leaky_relu", input, inplace, slope=negative_slope, **in_place)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """As `leaky_relu`, in place; the slope has to be positive for a gradient."""
    return leaky_relu(input, negative_slope, True)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x kept within [min_val, max_val]; ValueError when that is no interval.

    >>> import tinygrad_course as tg
    >>> hardtanh(tg.tensor([-3., 0.5, 2.]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} > {max_val}")
    return _activated(Hardtanh, "hardtanh", input, inplace, low=min_val, high=max_val)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """As `hardtanh`, in place."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Any, inplace: bool = False) -> Any:
    """min(max(x, 0), 6).

    >>> import tinygrad_course as tg
    >>> relu6(tg.tensor([-1., 5., 9.]))
    tensor([0., 5., 6.])
    """
    return _activated(Hardtanh, "relu6", input, inplace, low=0, high=6)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """(x + 3) / 6 kept within [0, 1].

    >>> import tinygrad_course as tg
    >>> hardsigmoid(tg.tensor([-4., 0., 4.]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _activated(Hardsigmoid, "hardsigmoid", input, inplace)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """x·hardsigmoid(x).

    >>> import tinygrad_course as tg
    >>> hardswish(tg.tensor([-4., 1.5, 4.]))
    tensor([-0.0000,  1.1250,  4.0000])
    """
    return _activated(Hardswish, "hardswish", input, inplace)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved by `lambd` towards 0, and 0 where |x| <= lambd; RuntimeError for a negative one.

    >>> import tinygrad_course as tg
    >>> softshrink(tg.tensor([-1., 0.4, 2.]))
    tensor([-0.5000,  0.0000,  1.5000])
    """
    return _activated(Softshrink, "softshrink", input, False, lambd=lambd)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """x where x > threshold, else `value`.

    >>> import tinygrad_course as tg
    >>> tg.nn.functional.threshold(tg.tensor([-1., 0.4, 2.]), 0.5, 9)
    tensor([9., 9., 2.])
    """
    return (threshold_ if inplace else _threshold)(input, threshold, value)


def rrelu(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """x where x > 0, else slope·x: in training with slopes drawn from [lower, upper), else with
    (lower + upper) / 2. RuntimeError for bounds that are no interval.

    >>> import tinygrad_course as tg
    >>> rrelu(tg.tensor([-1., 2.]), 0.2, 0.4)
    tensor([-0.3000,  2.0000])
    """
    return (rrelu_ if inplace else _rrelu)(input, lower, upper, training)


# --- curves ---------------------------------------------------------------------------------------


def tanh(input: Any) -> Any:
    """The hyperbolic tangent, elementwise."""
    return exponential.Tanh.fn(input)


def sigmoid(input: Any) -> Any:
    """1 / (1 + exp(−x)), elementwise."""
    return exponential.Sigmoid.fn(input)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x > 0, else alpha·(e^x − 1).

    >>> import tinygrad_course as tg
    >>> elu(tg.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    in_place = {"in_place": True} if inplace else {}
    return _activated(Elu, "elu", input, inplace, alpha=alpha, **in_place)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """As `elu`, in place; alpha has to be positive for a gradient."""
    return elu(input, alpha, True)


def selu(input: Any, inplace: bool = False) -> Any:
    """1.0507·x where x > 0, else 1.7581·(e^x − 1): the curve that keeps mean 0 and variance 1.

    >>> import tinygrad_course as tg
    >>> selu(tg.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return (selu_ if inplace else _selu)(input)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where x > 0, else alpha·(e^(x/alpha) − 1); RuntimeError for alpha 0.

    >>> import tinygrad_course as tg
    >>> celu(tg.tensor([-1., 1.]), 2)
    tensor([-0.7869,  1.0000])
    """
    return (celu_ if inplace else _celu)(input, alpha)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x·Φ(x), Φ the normal distribution, or what comes close to it with approximate="tanh".

    RuntimeError for another approximation.

    >>> import tinygrad_course as tg
    >>> gelu(tg.tensor([-1., 1.]))
    tensor([-0.1587,  0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, not {approximate!r}")
    return _activated(Gelu if approximate == "none" else GeluTanh, "gelu", input, False)


def silu(input: Any, inplace: bool = False) -> Any:
    """x·sigmoid(x), also known as swish.

    >>> import tinygrad_course as tg
    >>> silu(tg.tensor([-1., 1.]))
    tensor([-0.2689,  0.7311])
    """
    return _activated(Silu, "silu", input, inplace)


def mish(input: Any, inplace: bool = False) -> Any:
    """x·tanh(softplus(x)).

    >>> import tinygrad_course as tg
    >>> mish(tg.tensor([-1., 1.]))
    tensor([-0.3034,  0.8651])
    """
    return _activated(Mish, "mish", input, inplace)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """ln(1 + e^(beta·x)) / beta, a round rectifier; x itself where beta·x > threshold.

    >>> import tinygrad_course as tg
    >>> softplus(tg.tensor([-1., 0., 1e4]))
    tensor([3.1326e-01, 6.9315e-01, 1.0000e+04])
    """
    return _activated(Softplus, "softplus", input, False, beta=beta, threshold=threshold)


def logsigmoid(input: Any) -> Any:
    """ln(1 / (1 + e^−x)), without the rounding of sigmoid.

    >>> import tinygrad_course as tg
    >>> logsigmoid(tg.tensor([-1e4, 0.]))
    tensor([-1.0000e+04, -6.9315e-01])
    """
    return _activated(LogSigmoid, "logsigmoid", input, False)


def softsign(input: Any) -> Any:
    """x / (1 + |x|).

    >>> import tinygrad_course as tg
    >>> softsign(tg.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (abs(input) + 1)


def tanhshrink(input: Any) -> Any:
    """x − tanh(x).

    >>> import tinygrad_course as tg
    >>> tanhshrink(tg.tensor([-1., 1.]))
    tensor([-0.2384,  0.2384])
    """
    return input - input.tanh()
