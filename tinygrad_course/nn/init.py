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
from ..device import xp_of
from ..dtype import bool_, float16
from ..ops.creation import empty, empty_like, ones_like
from ..ops.sampling import randperm


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with numbers spread evenly over [a, b).

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); uniform_(tg.empty(2))
    tensor([0.4963, 0.7682])
    """
    with no_grad():
        filled: Tensor = tensor.uniform_(a, b, generator=generator)
    return filled


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with normally distributed numbers."""
    with no_grad():
        filled: Tensor = tensor.normal_(mean, std, generator=generator)
    return filled


def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fills with normally distributed numbers, of which those outside [a, b] are drawn again.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); trunc_normal_(tg.empty(3), a=-0.5, b=2)
    tensor([ 1.5410, -0.2934,  0.1820])
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            UserWarning,
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1 + math.erf((x - mean) / (std * math.sqrt(2)))) / 2

    likely = below(b) - below(a) > 0.3
    with no_grad():
        draw = _normal_within if likely else _uniform_by_density
        tensor.copy_(draw(empty_like(tensor), mean, std, a, b, generator))
    filled: Tensor = tensor
    return filled


def _normal_within(x: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """Normal draws, until all are in [a, b]."""
    x.normal_(mean, std, generator=generator)
    while bool((outside := (x < a) | (x > b)).any()):
        x = empty_like(x).normal_(mean, std, generator=generator).where(outside, x)
    return x


def _uniform_by_density(x: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """Uniform draws from [a, b], each kept with a probability in proportion to the density: less
    work than to wait for normal draws that rarely get there."""
    summit = min(max(mean, a), b)  # the likeliest place
    log_highest = -0.5 * ((summit - mean) / std) ** 2
    rejected = ones_like(x, dtype=bool_)
    while True:
        draw = empty_like(x).uniform_(a, b, generator=generator)
        x = draw.where(rejected, x)
        log_density = ((draw - mean) / std) ** 2 * -0.5 - log_highest
        rejected &= empty_like(x).uniform_(generator=generator).log() > log_density
        if not rejected.any():
            return x


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


def dirac_(tensor: Any, groups: int = 1) -> Tensor:
    """Fills a convolution's kernel so that it hands its input channels through, as many as there
    are outputs, in each of `groups`.

    ValueError for other than 3 to 5 dims, or outputs that `groups` does not divide.

    >>> import tinygrad_course as tg
    >>> dirac_(tg.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(
            "Only tensors with 3, 4, or 5 dimensions are supported: dirac_ got "
            f"{list(tensor.shape)}"
        )
    outputs, inputs, *kernel = tensor.shape
    if outputs % groups:
        raise ValueError(
            f"dim 0 must be divisible by groups, but {groups} does not divide {outputs}"
        )
    middle = tuple(size // 2 for size in kernel)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(outputs // groups, inputs)):
                tensor[(group * (outputs // groups) + channel, channel, *middle)] = 1
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


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """Inputs and outputs of one unit: the first two sizes, swapped, times the size of a kernel."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got "
            f"{list(tensor.shape)}"
        )
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform over ±gain √(6 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with standard deviation gain √(2 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    """gain / √fan; None for a tensor without elements, of which there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=3)
        return None
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
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
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Normal with standard deviation gain / √fan (He et al., 2015); `a` is the slope of a leaky
    ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Tensor:
    """Fills a matrix, (size 0) × (all the others), with orthonormal rows or columns, whichever are
    fewer, times `gain` (Saxe et al., 2013).

    ValueError for fewer than 2 dims, NotImplementedError for float16.

    >>> import tinygrad_course as tg
    >>> w = orthogonal_(tg.empty(2, 3)); tg.allclose(w @ w.T, tg.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError(
            "Only tensors with 2 or more dimensions are supported: orthogonal_ got "
            f"{list(tensor.shape)}"
        )
    if tensor.numel() == 0:
        return tensor  # type: ignore[no-any-return]
    rows = tensor.shape[0]
    matrix = empty((rows, tensor.numel() // rows), dtype=tensor.dtype, device=tensor.device)
    matrix.normal_(generator=generator)
    if matrix.dtype is float16:
        raise NotImplementedError("orthogonal_ is not implemented for float16: fill a float32")
    wide = rows < matrix.shape[1]
    array = matrix._array.T if wide else matrix._array
    xp = xp_of(array)
    q, r = xp.linalg.qr(array)
    q = q * xp.sign(xp.diagonal(r))  # of the two signs of each column, the one with r[i, i] > 0
    with no_grad():
        tensor.copy_(Tensor._wrap_any(q.T if wide else q).reshape(tensor.shape)).mul_(gain)
    filled: Tensor = tensor
    return filled


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fills a matrix with normally distributed numbers, then a share of each column with zeros at
    places drawn from the default generator (Martens, 2010).

    ValueError for other than 2 dims.
    """
    if tensor.ndim != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported: sparse_ got {list(tensor.shape)}"
        )
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    filled: Tensor = tensor
    return filled


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
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)
