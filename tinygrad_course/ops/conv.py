"""The public convolutions: sequences, images and volumes, forward and transposed.

Each is the same arithmetic over one, two or three spatial dims; this file reads the arguments as
PyTorch spells them, checks that the sizes fit each other and calls the operation in `convolution`.
Layers are in nn. Lesson 10.
"""

from __future__ import annotations

from typing import Any

from ..shape import as_int
from .arguments import per_dim, require_tensors
from .columns import Geometry, Pair, Sizes, padded_size, window_count
from .convolution import conv_transpose, convolution
from .registry import function


def _convolve(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> Any:
    name = f"conv{dims}d"
    require_tensors(name, input=input, weight=weight, bias=bias)
    _require_dims(name, dims, input, weight)
    kernel = tuple(weight.shape[2:])
    stride = per_dim(stride, dims, "stride", name)
    dilation = per_dim(dilation, dims, "dilation", name)
    padding = _padding(name, padding, kernel, stride, dilation)
    geometry = Geometry(stride, padding, dilation, as_int(groups, "groups"))
    batched = input.ndim == dims + 2
    if not batched:
        input = input.unsqueeze(0)
    _check(name, input, weight, bias, geometry)
    inputs = weight.shape[1] * geometry.groups
    if input.shape[1] != inputs:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {inputs} channels, but got {input.shape[1]} channels "
            "instead"
        )
    _check_bias(weight, bias, weight.shape[0])
    size = tuple(input.shape[2:])
    places = window_count(size, kernel, geometry)
    if min(places) < 1:
        reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
        raise RuntimeError(
            f"{name}: a kernel of {_by(kernel)} that spans {_by(reach)} with dilation={dilation} "
            f"does not fit in the padded input of {_by(padded_size(size, geometry))}"
        )
    y = convolution(input, weight, bias, places, geometry)
    return y if batched else y.squeeze(0)


def _convolve_transposed(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Any:
    name = f"conv_transpose{dims}d"
    require_tensors(name, input=input, weight=weight, bias=bias)
    _require_dims(name, dims, input, weight)
    stride = per_dim(stride, dims, "stride", name)
    padding = per_dim(padding, dims, "padding", name)
    output_padding = per_dim(output_padding, dims, "output_padding", name)
    dilation = per_dim(dilation, dims, "dilation", name)
    geometry = Geometry(stride, tuple((p, p) for p in padding), dilation, as_int(groups, "groups"))
    batched = input.ndim == dims + 2
    if not batched:
        input = input.unsqueeze(0)
    _check(name, input, weight, bias, geometry)
    if input.shape[1] != weight.shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {weight.shape[0]} channels, but got {input.shape[1]} "
            "channels instead"
        )
    _check_bias(weight, bias, weight.shape[1] * geometry.groups)
    if min(output_padding) < 0:
        raise RuntimeError(f"{name}: negative output_padding is not supported: {output_padding}")
    if any(o >= max(s, d) for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than either stride or dilation, but got "
            f"output_padding={output_padding}, stride={stride}, dilation={dilation}"
        )
    sizes = zip(
        input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding, strict=True
    )
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in sizes)
    if min(size) < 1:
        raise RuntimeError(
            f"{name}: padding={padding} takes away all that the output has: its size would be "
            f"{_by(size)}"
        )
    y = conv_transpose(input, weight, bias, size, geometry)
    return y if batched else y.squeeze(0)


# --- reading and checking ------------------------------------------------------------------------


def _by(sizes: Sizes) -> str:
    return " x ".join(map(str, sizes))


def _padding(
    name: str, padding: Any, kernel: Sizes, stride: Sizes, dilation: Sizes
) -> tuple[Pair, ...]:
    """What goes (before, after) each dim; for "same" the odd one after."""
    if padding == "valid":
        padding = 0
    if padding == "same":
        if max(stride) > 1:
            raise RuntimeError(
                f"{name}: padding='same' is not supported for strided convolutions "
                f"(stride={stride}), whose output is smaller than their input in any case; give "
                "the padding as a number"
            )
        totals = (d * (k - 1) for k, d in zip(kernel, dilation, strict=True))
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        raise RuntimeError(
            f"{name}: padding={padding!r} is neither 'same' nor 'valid' nor a number"
        )
    return tuple((p, p) for p in per_dim(padding, len(kernel), "padding", name))


def _require_dims(name: str, dims: int, x: Any, w: Any) -> None:
    if w.ndim != dims + 2:
        raise RuntimeError(
            f"{name}: expected a weight of {dims + 2} dims, two of channels and {dims} of the "
            f"kernel, got {list(w.shape)}"
        )
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got "
            f"input of size: {list(x.shape)}"
        )


def _check(name: str, x: Any, w: Any, b: Any, geometry: Geometry) -> None:
    """What holds for both directions."""
    stride, padding, dilation, groups = geometry
    for what, value in (("stride", min(stride)), ("dilation", min(dilation)), ("groups", groups)):
        if value < 1:
            raise RuntimeError(f"{name}: non-positive {what} is not supported, got {value}")
    if min(map(min, padding)) < 0:
        raise RuntimeError(f"{name}: negative padding is not supported, got {padding}")
    shape, weights = list(x.shape), list(w.shape)
    if min(weights[2:]) < 1:
        raise RuntimeError(f"{name}: kernel size should be greater than zero, but got {weights}")
    if weights[0] < groups or weights[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {weights} instead"
        )
    if 0 in shape[2:] and 0 not in shape[:2]:
        raise RuntimeError(
            f"{name}: Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{shape}"
        )
    if x.dtype.name == "bool" and x.numel():
        raise NotImplementedError(f"{name} is not implemented for bool: convert with .float()")
    for what, other in (("weight", w), ("bias", b)):
        if other is not None and other.dtype != x.dtype:
            raise RuntimeError(
                f"Input type ({x.dtype}) and {what} type ({other.dtype}) should be the same: "
                "convert one with .to()"
            )


def _check_bias(w: Any, b: Any, channels: int) -> None:
    if b is not None and tuple(b.shape) != (channels,):
        raise RuntimeError(
            f"Given weight of size {list(w.shape)}, expected bias to be 1-dimensional with "
            f"{channels} elements, but got bias of size {list(b.shape)} instead"
        )


# --- the public functions ------------------------------------------------------------------------


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slides kernels over sequences: `conv2d` with one spatial dim.

    `input` (N, C, L) or (C, L), `weight` (O, C / groups, k), `bias` (O) give (N, O, P).

    >>> import tinygrad_course as tg
    >>> tg.conv1d(tg.tensor([[1., 2., 4., 8.]]), tg.tensor([[[-1., 1.]]]))
    tensor([[1., 2., 4.]])
    """
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slides kernels over images: y[n, o, p, q] = bias[o] + Σ_{c, i, j} weight[o, c, i, j] ·
    input[n, c, p s + i d, q s + j d].

    `input` (N, C, H, W) or (C, H, W), `weight` (O, C / groups, kh, kw), `bias` (O) give (N, O, P,
    Q), with P = ⌊(H + 2 padding − dilation (kh − 1) − 1) / stride⌋ + 1. `padding` may be 'same' or
    'valid'. Channels in different groups do not meet. RuntimeError when the shapes or dtypes do not
    fit each other.

    >>> import tinygrad_course as tg
    >>> tg.conv2d(tg.ones(1, 1, 3, 3), tg.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slides kernels over volumes: `conv2d` with three spatial dims.

    `input` (N, C, D, H, W) or (C, D, H, W), `weight` (O, C / groups, kd, kh, kw), `bias` (O) give
    (N, O, P, Q, R).

    >>> import tinygrad_course as tg
    >>> tg.conv3d(tg.ones(1, 1, 2, 2, 3), tg.ones(1, 1, 2, 2, 2))
    tensor([[[[[8., 8.]]]]])
    """
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv1d`, over sequences: `conv_transpose2d` with one spatial dim.

    `input` (N, C, L) or (C, L), `weight` (C, O / groups, k), `bias` (O) give (N, O, M).

    >>> import tinygrad_course as tg
    >>> tg.conv_transpose1d(tg.tensor([[1., 2.]]), tg.tensor([[[1., 10.]]]))
    tensor([[ 1., 12., 20.]])
    """
    return _convolve_transposed(
        1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv2d`: each pixel lays its multiple of the kernel on the output, and these
    add up, with `bias`.

    `input` (N, C, H, W) or (C, H, W), `weight` (C, O / groups, kh, kw), `bias` (O) give (N, O, P,
    Q), P = (H − 1) stride − 2 padding + dilation (kh − 1) + output_padding + 1. Images of several
    sizes have the same `conv2d`: `output_padding` says which is meant. RuntimeError when the shapes
    or dtypes do not fit each other.

    >>> import tinygrad_course as tg
    >>> tg.conv_transpose2d(tg.tensor([[[1., 2.]]]), tg.ones(1, 1, 2, 2))
    tensor([[[1., 3., 2.],
             [1., 3., 2.]]])
    """
    return _convolve_transposed(
        2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The adjoint of `conv3d`, over volumes: `conv_transpose2d` with three spatial dims.

    `input` (N, C, D, H, W) or (C, D, H, W), `weight` (C, O / groups, kd, kh, kw), `bias` (O) give
    (N, O, P, Q, R).

    >>> import tinygrad_course as tg
    >>> tg.conv_transpose3d(tg.ones(1, 1, 1, 1, 2), tg.ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 2., 1.]]]]])
    """
    return _convolve_transposed(
        3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


function(conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d)
