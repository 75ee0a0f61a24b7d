"""Initial values for weights, with PyTorch's numbers for the same seed.

Each function fills a tensor in place, unrecorded, and returns it. The variance is chosen so that
signals keep their size from layer to layer: it falls with the number of inputs (fan in) or outputs
(fan out) of a unit. Lesson 09.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from ..autograd.mode import no_grad
from ..autograd.variable import Tensor


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fills with numbers spread evenly over [a, b).

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); uniform_(tg.empty(2))
    tensor([0.4963, 0.7682])
    """
    with no_grad():
        filled: Tensor = tensor.uniform_(a, b)
    return filled


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fills with normally distributed numbers."""
    with no_grad():
        filled: Tensor = tensor.normal_(mean, std)
    return filled


def constant_(tensor: Any, val: float) -> Tensor:
    """Fills with `val`."""
    with no_grad():
        filled: Tensor = tensor.fill_(val)
    return filled


def ones_(tensor: Any) -> Tensor:
    """Fills with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Tensor:
    """Fills with 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Tensor:
    """Fills a matrix with ones on its diagonal and zeros elsewhere; ValueError when it has other
    than 2 dims.

    >>> import tinygrad_course as tg
    >>> eye_(tg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_ fills tensors with 2 dimensions, got {list(tensor.shape)}")
    with no_grad():
        tensor.zero_()
        for i in range(min(tensor.shape)):
            tensor[i, i] = 1
    filled: Tensor = tensor
    return filled


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which an activation shrinks the standard deviation of its input, for which the
    weights make up.

    `param` is the negative slope of 'leaky_relu' (0.01). ValueError for an unknown name.

    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {
        **dict.fromkeys(("linear", "sigmoid"), 1.0),
        **{f"conv{kind}{d}d": 1.0 for kind in ("", "_transpose") for d in (1, 2, 3)},
        "tanh": 5.0 / 3,
        "relu": math.sqrt(2.0),
        "selu": 3.0 / 4,  # found by experiment, not derived
    }
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: choose one of {sorted(gains)}")
    return gains[nonlinearity]


def _fans(tensor: Any) -> tuple[int, int]:
    """Inputs and outputs of one unit: the first two sizes, swapped, times the size of a kernel."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got "
            f"{list(tensor.shape)}"
        )
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def xavier_uniform_(tensor: Any, gain: float = 1.0) -> Tensor:
    """Uniform over ±gain √(6 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Any, gain: float = 1.0) -> Tensor:
    """Normal with standard deviation gain √(2 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    """gain / √fan; None for a tensor without elements, of which there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=3)
        return None
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Uniform over ±gain √(3 / fan) (He et al., 2015); `a` is the slope of a leaky ReLU.

    ValueError for fewer than 2 dims or an unknown mode.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); kaiming_uniform_(tg.empty(1, 3), a=5 ** 0.5)
    tensor([[-0.0043,  0.3097, -0.4752]])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor  # type: ignore[no-any-return]
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Normal with standard deviation gain / √fan (He et al., 2015); `a` is the slope of a leaky
    ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std)


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def deprecated(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    deprecated.__name__ = deprecated.__qualname__ = old
    deprecated.__doc__ = f"The name of `{new}` before PyTorch 0.4."
    return deprecated


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
