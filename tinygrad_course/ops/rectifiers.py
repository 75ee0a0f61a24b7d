"""Activations made of pieces: straight lines that meet at bends, as the rectifier's do at 0.

Each saves what tells the pieces apart, and its derivative is a number per piece; where the input is
nan the gradient passes, or not, as PyTorch has it. The curved activations are in `curves`, the
rectifier itself in `exponential`. Lesson 13.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import random as generators
from ..device import device_of, move, xp_of
from .arguments import require_tensors
from .broadcasting import Binary, Unary
from .elementwise import where
from .inplace import change
from .pointwise import in_single
from .registry import function, method


def require_floats(name: str, x: Any) -> None:
    """NotImplementedError for integers and bools."""
    if x.dtype.kind != "f":
        raise NotImplementedError(
            f"{name} is not implemented for {x.dtype}: convert with .float() first"
        )


def require_straight(name: str, slope: float) -> None:
    """RuntimeError where an activation was computed in place, so that only its result is left, and
    the sign of that does not say which piece an element came from."""
    if slope < 0:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is not "
            f"supported: {slope}; leave inplace=True away"
        )


class Hardtanh(Unary, fn=""):
    """x kept within [low, high]; dx = g where low < x < high, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, low, high):
        if x.dtype.kind == "b":
            raise RuntimeError("Bool inputs not supported for hardtanh: convert with .float()")
        if x.dtype.kind == "u" and int(low) < 0:
            raise RuntimeError(
                f"cannot do hardtanh on an unsigned type with negative limits: {low} for {x.dtype}"
            )
        ctx.save(x, low, high)
        return xp.clip(x, x.dtype.type(low), x.dtype.type(high))

    def backward(ctx, g):
        x, low, high = ctx.saved
        return g * ~((x <= low) | (x >= high))


class LeakyRelu(Unary, fn="", node="LeakyReluBackward0"):
    """x where x > 0, else slope·x; dx = g where x > 0, else slope·g. In place it saves its result,
    which has the same sign."""

    __slots__ = ()

    def forward(ctx, xp, x, /, slope, in_place=False):
        require_floats("leaky_relu", x)
        y = xp.where(x > 0, x, x * slope)
        ctx.save(y if in_place else x, slope, in_place)
        return y

    def backward(ctx, g):
        x, slope, in_place = ctx.saved
        if in_place:
            require_straight("leaky_relu", slope)
        return where(x > 0, g, g * slope)


class Threshold(Unary, fn=""):
    """x where x > threshold, else value; dx = g where x > threshold, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, threshold, value):
        if x.dtype.kind == "b":
            raise NotImplementedError("threshold is not implemented for bool: convert with .int()")
        # In whole numbers 1.5 is cut off to 1.
        threshold, value = x.dtype.type(threshold), x.dtype.type(value)
        below = x <= threshold
        ctx.save(x, threshold)
        return xp.where(below, value, x)

    def backward(ctx, g):
        x, threshold = ctx.saved
        return g * ~(x <= threshold)


_SIXTH = float(np.float32(1 / 6))  # in all types, as PyTorch has it


class Hardsigmoid(Unary, fn=""):
    """(x + 3) / 6 kept within [0, 1]; dx = g / 6 where -3 < x < 3, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        require_floats("hardsigmoid", x)
        ctx.save(x)
        return in_single(xp, lambda xp, x: xp.clip(x + 3, 0, 6) / 6, x)

    def backward(ctx, g):
        (x,) = ctx.saved
        return g * ((x > -3) & (x < 3)) * _SIXTH


class Hardshrink(Unary, fn=""):
    """x where |x| > λ, else 0; dx = g there, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, lambd):
        require_floats("hardshrink", x)
        ctx.save(x, lambd)
        return xp.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)

    def backward(ctx, g):
        x, lambd = ctx.saved
        return g * ~((x >= -lambd) & (x <= lambd))


class Softshrink(Unary, fn=""):
    """x moved by λ towards 0, and 0 where |x| <= λ; dx = g where |x| > λ, else 0."""

    __slots__ = ()

    def forward(ctx, xp, x, /, lambd):
        require_floats("softshrink", x)
        if not 0 <= lambd <= xp.finfo(x.dtype).max:
            raise RuntimeError(
                f"lambda must be in range [0, {xp.finfo(x.dtype).max}] for input dtype {x.dtype}, "
                f"but found {lambd}"
            )
        ctx.save(x, lambd)
        return x - xp.clip(x, -lambd, lambd)

    def backward(ctx, g):
        x, lambd = ctx.saved
        return g * ~((x >= -lambd) & (x <= lambd))


def hardshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """x where |x| > `lambd`, else 0.

    NotImplementedError for a type that is no float.

    >>> import tinygrad_course as tg
    >>> hardshrink(tg.tensor([-1., 0.4, 2.]))
    tensor([-1.,  0.,  2.])
    """
    require_tensors("hardshrink", input=input)
    return Hardshrink.fn(input, lambd, out=out)


def threshold(input: Any, threshold: float, value: float, *, out: Any = None) -> Any:
    """x where x > `threshold`, else `value`.

    >>> import tinygrad_course as tg
    >>> tg.threshold(tg.tensor([-1., 0.4, 2.]), 0.5, 9)
    tensor([9., 9., 2.])
    """
    require_tensors("threshold", input=input)
    return Threshold.fn(input, threshold, value, out=out)


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """As `threshold`, in place."""
    return change(Threshold, input, (), {"threshold": threshold, "value": value})


# --- slopes that are learned, or drawn ------------------------------------------------------------


class PreluKernel(Binary, fn="", node="PreluKernelBackward0", numbers=False):
    """x where x > 0, else w·x; dx = g where x > 0, else w·g; dw = 0 where x > 0, else x·g."""

    __slots__ = ()

    def forward(ctx, xp, x, w, /):
        require_floats("prelu", x)
        ctx.save(x, w)
        return xp.where(x > 0, x, x * w)

    def backward(ctx, g):
        x, w = ctx.saved
        return (
            where(x > 0, g, g * w) if ctx.needs[0] else None,
            where(x > 0, 0, g * x) if ctx.needs[1] else None,
        )


def prelu(input: Any, weight: Any) -> Any:
    """x where x > 0, else weight·x, with one weight, or one per channel (dim 1).

    RuntimeError for weights that are as many as neither, or of another type.

    >>> import tinygrad_course as tg
    >>> tg.prelu(tg.tensor([-2., 3.]), tg.tensor([0.25]))
    tensor([-0.5000,  3.0000])
    """
    require_tensors("prelu", input=input, weight=weight)
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype!r} and {weight.dtype!r}: "
            "convert one with .to()"
        )
    if weight.numel() != 1:
        if not input.ndim:
            raise RuntimeError(
                f"Not allow zero-dim input tensor with {weight.numel()} weights: take one weight"
            )
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if weight.ndim and input.ndim != 1:
        shape = [-1 if d == 1 else 1 for d in range(input.ndim)]
        weight = weight.reshape(shape)
    return PreluKernel.fn(input, weight)


class RreluWithNoise(Unary, fn="", node="RreluWithNoiseBackward0"):
    """slopes·x, where the slopes are 1 for x > 0; dx = slopes·g."""

    __slots__ = ()

    def forward(ctx, xp, x, /, slopes):
        ctx.save(slopes)
        return xp.multiply(x, slopes)

    def backward(ctx, g):
        (slopes,) = ctx.saved
        return g * slopes


def _slopes(name: str, x: Any, lower: float, upper: float, training: bool, generator: Any) -> Any:
    """The slope at each element: drawn for those <= 0 in training, else the mean of the bounds."""
    require_tensors(name, input=x)
    for side, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {side} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound: {lower} > {upper}"
        )
    array = x._array
    require_floats("rrelu", array)
    if not training:
        xp = xp_of(array)
        return xp.where(array > 0, array.dtype.type(1), array.dtype.type((lower + upper) / 2))
    bent = x.detach()._host() <= 0
    slopes = np.ones(bent.shape, array.dtype)
    gen = generators.default_generator if generator is None else generator
    slopes[bent] = generators.uniform(gen, (int(bent.sum()),), np.float64, lower, upper)
    return move(slopes, device_of(array))


def rrelu(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """x where x > 0, else slope·x: in training with slopes drawn from [lower, upper), else with
    (lower + upper) / 2.

    RuntimeError for bounds that are no interval, NotImplementedError for a type that is no float.

    >>> import tinygrad_course as tg
    >>> tg.rrelu(tg.tensor([-1., 2.]), 0.2, 0.4)
    tensor([-0.3000,  2.0000])
    """
    slopes = _slopes("rrelu", input, lower, upper, training, generator)
    return RreluWithNoise.fn(input.contiguous(), slopes)


def rrelu_(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """As `rrelu`, in place."""
    slopes = _slopes("rrelu_", input, lower, upper, training, generator)
    return change(RreluWithNoise, input, (), {"slopes": slopes})


function(hardshrink, threshold, threshold_, prelu, rrelu, rrelu_)
method(hardshrink, prelu)
