"""Activations as layers: functions that can stand in a Sequential.

Each remembers the arguments of its function and calls it; they are kept and shown under the names
of the constructor's arguments. Lessons 09 and 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..ops.creation import full
from . import functional as F
from .module import Module
from .parameter import Parameter


class _Activation(Module):
    """A layer without parameters, whose `shown` arguments are printed."""

    shown: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        parts = [f"{name}={getattr(self, name)!r}" for name in self.shown]
        if getattr(self, "inplace", False):
            parts.append("inplace=True")
        return ", ".join(parts)


class _Inplace(_Activation):
    """One with nothing to set but `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# --- pieces of straight lines ---------------------------------------------------------------------


class ReLU(_Inplace):
    """max(x, 0) elementwise; `inplace=True` overwrites the input.

    >>> import tinygrad_course as tg
    >>> tg.nn.ReLU()(tg.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Any) -> Any:
        return F.relu(input, self.inplace)


class LeakyReLU(_Activation):
    """x where x > 0, else negative_slope·x."""

    shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(Module):
    """x where x > 0, else weight·x, with a `weight` that is learned: one, or `num_parameters`, one
    per channel. It starts as `init`.

    >>> import tinygrad_course as tg
    >>> tg.nn.PReLU()(tg.tensor([-2., 3.])).tolist()
    [-0.5, 3.0]
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Sets the initial value again."""
        self.weight.data.fill_(self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(_Activation):
    """x where x > 0, else slope·x: in training with slopes drawn from [lower, upper), in evaluation
    with their mean."""

    shown = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_Activation):
    """x kept within [min_val, max_val], which old code calls min_value and max_value.

    AssertionError, as in PyTorch, when max_val is not the larger one.

    >>> import tinygrad_course as tg
    >>> tg.nn.Hardtanh(-2, 2)(tg.tensor([-3., 0.5]))
    tensor([-2.0000,  0.5000])
    """

    shown: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, value in (("min", min_value), ("max", max_value)):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{old}_value` is deprecated and renamed to `{old}_val`",
                    FutureWarning,
                    stacklevel=2,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6)."""

    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(_Inplace):
    """(x + 3) / 6 kept within [0, 1]."""

    def forward(self, input: Any) -> Any:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_Inplace):
    """x·hardsigmoid(x)."""

    def forward(self, input: Any) -> Any:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Shrink(_Activation):
    """One with a distance from 0, `lambd`."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0."""

    def forward(self, input: Any) -> Any:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved by `lambd` towards 0, and 0 where |x| <= lambd."""

    def forward(self, input: Any) -> Any:
        return F.softshrink(input, self.lambd)


class Threshold(_Activation):
    """x where x > threshold, else `value`."""

    shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.threshold(input, self.threshold, self.value, self.inplace)


# --- curves ---------------------------------------------------------------------------------------


class Tanh(Module):
    """tanh(x) elementwise."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return F.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(−x)) elementwise."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return F.sigmoid(input)


class ELU(_Activation):
    """x where x > 0, else alpha·(e^x − 1)."""

    shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x where x > 0, else alpha·(e^(x/alpha) − 1)."""

    def forward(self, input: Any) -> Any:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """1.0507·x where x > 0, else 1.7581·(e^x − 1)."""

    def forward(self, input: Any) -> Any:
        return F.selu(input, self.inplace)


class GELU(_Activation):
    """x·Φ(x), Φ the normal distribution, or close to it with approximate="tanh"."""

    shown = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        return F.gelu(input, approximate=self.approximate)


class SiLU(_Inplace):
    """x·sigmoid(x)."""

    def forward(self, input: Any) -> Any:
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """x·tanh(softplus(x))."""

    def forward(self, input: Any) -> Any:
        return F.mish(input, self.inplace)


class Softplus(_Activation):
    """ln(1 + e^(beta·x)) / beta; x itself where beta·x > threshold."""

    shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Any) -> Any:
        return F.softplus(input, self.beta, self.threshold)


class LogSigmoid(Module):
    """ln(1 / (1 + e^−x)) elementwise."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|) elementwise."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return F.softsign(input)


class Tanhshrink(Module):
    """x − tanh(x) elementwise."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return F.tanhshrink(input)


# --- along a dim ----------------------------------------------------------------------------------


class GLU(_Activation):
    """a·sigmoid(b), where a is the first half of the input along `dim` and b the second."""

    shown = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.glu(input, self.dim)


class Softmax(_Activation):
    """exp(x) / Σ exp(x) along `dim`.

    >>> import tinygrad_course as tg
    >>> tg.nn.Softmax(dim=1)(tg.zeros(1, 4))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmin(Softmax):
    """softmax of −x along `dim`."""

    def forward(self, input: Any) -> Any:
        return F.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(Softmax):
    """x − log Σ exp(x) along `dim`: the logarithm of softmax, without its rounding."""

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """softmax over the channels of each place: (N, C, H, W) or (C, H, W) → the same.

    ValueError for another number of dims.

    >>> import tinygrad_course as tg
    >>> tg.nn.Softmax2d()(tg.zeros(2, 4, 3, 3)).unique()
    tensor([0.2500])
    """

    def __init__(self) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)
