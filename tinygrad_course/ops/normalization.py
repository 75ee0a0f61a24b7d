"""The functions that normalise: what they ask of their arguments, and which numbers share a mean.

Here are the signatures of PyTorch's functions beside the Tensor methods; `nn.functional` has those
for layers. The computation is in `norm`; running statistics are changed by it and kept by layers.
Lesson 11.
"""

from __future__ import annotations

import math
from typing import Any

from ..dtype import float16
from ..layout import channels_last, channels_last_3d
from .arguments import require_tensors
from .inplace import require_changeable
from .norm import BatchNormEval, ChannelNorm, GroupNorm, LayerNorm, RmsNorm
from .rectifiers import require_floats
from .registry import Op, function

# --- what is asked of the arguments ---------------------------------------------------------------


def _require(name: str, input: Any, parameters: dict[str, Any], shape: tuple[int, ...]) -> None:
    """RuntimeError for a parameter of another size than `shape`, or of a type that does not go with
    the input's: parameters of float32 go with float16, else all are of one type."""
    require_floats(name, input._array)
    present = {k: v for k, v in parameters.items() if v is not None}
    types = {v.dtype for v in present.values()}
    fit = {input.dtype.name, "float32"} if input.dtype.name == "float16" else {input.dtype.name}
    if len(types) > 1 or not {t.name for t in types} <= fit:
        raise RuntimeError(
            f"{name}: mixed dtype (CPU): all inputs must share same datatype, or be float32 beside "
            f"a float16 input. Got {input.dtype!r} and {sorted(map(repr, types))}"
        )
    for key, value in present.items():
        if value.numel() != math.prod(shape):
            raise RuntimeError(
                f"{name}: {key} should contain {math.prod(shape)} elements not {value.numel()}"
            )


def _laid_out(result: Any, input: Any) -> Any:
    """`result` with the channels last where the input has them there."""
    for ndim, order in ((4, channels_last), (5, channels_last_3d)):
        if input.ndim == ndim and not input.is_contiguous():
            if input.is_contiguous(memory_format=order):
                return result.contiguous(memory_format=order)
    return result


def _computed(op: type[Op], input: Any, weight: Any, bias: Any, **settings: Any) -> Any:
    """op(input, weight, bias) in row-major memory, and float16 in float32: sums of many numbers
    need more than 11 bits."""
    input = input.contiguous()
    parameters = (v if v is None or v.ndim == 1 else v.reshape(-1) for v in (weight, bias))
    if input.dtype is not float16:
        return op.fn(input, *parameters, **settings)
    parameters = (v if v is None else v.float() for v in parameters)
    return op.fn(input.float(), *parameters, **settings).half()


# --- public ---------------------------------------------------------------------------------------


def batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    """Each channel of (N, C, …) moved and scaled to mean 0 and variance 1, then to `weight` and
    `bias` (C): in `training` by its own statistics, which the running ones (C) follow at the rate
    `momentum`, else by those.

    RuntimeError for sizes and types that do not fit, or no running statistics when not training.

    >>> import tinygrad_course as tg
    >>> tg.batch_norm(tg.tensor([[1.], [3.]]), None, None, None, None, True, 0.1, 0.0)
    tensor([[-1.],
            [ 1.]])
    """
    kept = {"running_mean": running_mean, "running_var": running_var}
    parameters = {"weight": weight, "bias": bias, **kept}
    require_tensors("batch_norm", input=input, **parameters)
    for key, value in kept.items():
        if value is None and not training:
            raise RuntimeError(f"{key} must be defined in evaluation mode")
        if value is not None and value.requires_grad:
            raise RuntimeError(
                "The function 'native_batch_norm' is not differentiable with respect to argument "
                f"{key!r}. This input cannot have requires_grad True: use {key}.detach()"
            )
    n, c, *places = (*input.shape, 0, 0)[:2] if input.ndim < 2 else input.shape
    _require("batch_norm", input, parameters, (c,))
    if not training:
        mean, variance = (value._array for value in kept.values())
        y = _computed(BatchNormEval, input, weight, bias, mean=mean, variance=variance, eps=eps)
        return _laid_out(y, input)
    y = _computed(
        ChannelNorm,
        input,
        weight,
        bias,
        channels=(n, c, 1, math.prod(places)),
        shared=(0,),
        eps=eps,
        running=_running(kept, momentum),
    )
    return _laid_out(y, input)


def _running(kept: dict[str, Any], momentum: float) -> Any:
    """What the operation gets to update, if anything; the versions go up."""
    if all(value is None for value in kept.values()):
        return None
    for value in kept.values():
        if value is not None:
            value._bump()
    return (*(None if v is None else v._array for v in kept.values()), momentum)


def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    """As `batch_norm`, with the statistics of each channel of each sample of (N, C, …), or where
    not `use_input_stats` the running ones.

    >>> import tinygrad_course as tg
    >>> tg.instance_norm(tg.tensor([[[1., 3.]]]), None, None, None, None, True, 0.1, 0.0)
    tensor([[[-1.,  1.]]])
    """
    kept = {"running_mean": running_mean, "running_var": running_var}
    parameters = {"weight": weight, "bias": bias, **kept}
    require_tensors("instance_norm", input=input, **parameters)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats is false"
            )
        return batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps
        ).contiguous()
    for value in kept.values():
        if value is not None:
            require_changeable(value)
    n, c, *places = input.shape
    _require("instance_norm", input, parameters, (c,))
    return _computed(
        ChannelNorm,
        input,
        weight,
        bias,
        channels=(n, c, 1, math.prod(places)),
        shared=(),
        eps=eps,
        running=_running(kept, momentum),
    )


def _sample(name: str, input: Any, shape: Any, **parameters: Any) -> tuple[int, int]:
    """(number of samples, numbers in a sample) where samples have the given shape."""
    require_tensors(name, input=input, **parameters)
    if not isinstance(shape, tuple | list) or not all(isinstance(n, int) for n in shape):
        raise TypeError(
            f"{name}(): argument 'normalized_shape' must be tuple of ints, not "
            f"{type(shape).__name__}: {shape!r}"
        )
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if name == "rms_norm" and input.ndim < len(shape):
        raise ValueError(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input.ndim}"
        )
    if tuple(input.shape[max(input.ndim - len(shape), 0) :]) != tuple(shape):
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got "
            f"input of size {list(input.shape)}"
        )
    for key, value in parameters.items():
        if value is not None and tuple(value.shape) != tuple(shape):
            raise RuntimeError(
                f"Expected {key} to be of same shape as normalized_shape, but got {key} of shape "
                f"{list(value.shape)} and normalized_shape = {list(shape)}"
            )
    return math.prod(input.shape[: input.ndim - len(shape)]), math.prod(shape)


def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """Each sample, the last dims of `normalized_shape`, moved and scaled to mean 0 and variance 1,
    then to `weight` and `bias` of that shape.

    RuntimeError where the shapes or types do not fit.

    >>> import tinygrad_course as tg
    >>> tg.layer_norm(tg.tensor([[1., 3.], [2., 6.]]), (2,), eps=0.0)
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    samples, size = _sample("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    _require("layer_norm", input, {"weight": weight, "bias": bias}, (size,))
    return _computed(LayerNorm, input, weight, bias, rows=(samples, size), eps=eps)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """Each sample, the last dims of `normalized_shape`, over its root mean square √(mean(x²) + ε),
    times `weight` of that shape; ε is the type's precision unless given.

    RuntimeError where the shapes do not fit.

    >>> import tinygrad_course as tg
    >>> tg.rms_norm(tg.tensor([[3., -3.], [2., 2.]]), (2,))
    tensor([[ 1., -1.],
            [ 1.,  1.]])
    """
    samples, size = _sample("rms_norm", input, normalized_shape, weight=weight)
    require_floats("rms_norm", input._array)
    if eps is None:
        eps = 2.0**-52 if input.dtype.name == "float64" else 2.0**-23
    return _computed(
        RmsNorm,
        input,
        None if weight is None else weight.to(input.dtype),
        None,
        rows=(samples, size),
        eps=eps,
        centred=False,
    )


def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """The channels of each sample of (N, C, …), in `num_groups` groups, moved and scaled to mean 0
    and variance 1, then to `weight` and `bias` (C).

    RuntimeError where the sizes or types do not fit.

    >>> import tinygrad_course as tg
    >>> tg.group_norm(tg.tensor([[1., 3., 2., 6.]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    require_tensors("group_norm", input=input, weight=weight, bias=bias)
    if input.ndim < 2:
        raise IndexError(f"group_norm: expected an input (N, C, …), got {list(input.shape)}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    n, c, *places = input.shape
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    _require("group_norm", input, {"weight": weight, "bias": bias}, (c,))
    y = _computed(
        GroupNorm,
        input,
        weight,
        bias,
        channels=(n, num_groups, c // num_groups, math.prod(places)),
        shared=(2,),
        eps=eps,
    )
    return _laid_out(y, input)


function(batch_norm, instance_norm, layer_norm, group_norm, rms_norm)
