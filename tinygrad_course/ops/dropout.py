"""Dropout: numbers set to zero at random while training, the others scaled up to keep the mean.

The noise is drawn as PyTorch draws it (which see the tests), so that one seed gives one mask in
both; what happens to the input is a product, or a product and a sum, of which autograd knows all.
Lesson 09.
"""

from __future__ import annotations

import math
from typing import Any

from .arguments import require_tensors
from .creation import empty, empty_like
from .registry import function

# What SELU makes of very negative numbers, with the sign turned: alpha·scale.
_SELU_FLOOR = 1.7580993408473766


def _dropped(input: Any, p: float, train: bool, inplace: bool, features: bool, alpha: bool) -> Any:
    """`input` with elements dropped, or whole `features`, the planes behind the first two dims; to
    0, or (`alpha`) to where SELU is flat, moved and scaled to keep mean and variance."""
    require_tensors("dropout", input=input)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or not input.numel():
        return input
    if p == 1:
        zero = input.new_zeros(())
        return input.mul_(zero) if inplace else input * zero
    if features and input.ndim < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, it has {input.ndim}"
        )
    if features:
        planes = input.detach()[(slice(None),) * 2 + (slice(1),) * (input.ndim - 2)]
        # Drawn in row-major order, and laid out as the input, whose order the product is to have.
        drawn = empty(planes.shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
        noise = empty_like(planes).copy_(drawn)
    else:
        noise = empty_like(input.detach()).bernoulli_(1 - p)
    if not alpha:
        noise.div_(1 - p)
        return input.mul_(noise) if inplace else input * noise
    scale = 1 / math.sqrt((_SELU_FLOOR**2 * p + 1) * (1 - p))
    shift = (noise - 1).mul_(_SELU_FLOOR * scale).add_(_SELU_FLOOR * scale * p)
    noise.mul_(scale)
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift


def dropout(input: Any, p: float, train: bool) -> Any:
    """`input` with each element set to 0 with probability p, the others over 1 - p; itself when not
    in training. RuntimeError for p outside [0, 1].

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.dropout(tg.ones(4), 0.5, True)
    tensor([0., 0., 2., 0.])
    """
    return _dropped(input, p, train, False, False, False)


def dropout_(input: Any, p: float, train: bool) -> Any:
    """As `dropout`, in place."""
    return _dropped(input, p, train, True, False, False)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """`input` (N, C, …) with whole planes set to 0 with probability p, the others over 1 - p.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.feature_dropout(tg.ones(2, 2, 2), 0.5, True)[1]
    tensor([[2., 2.],
            [0., 0.]])
    """
    return _dropped(input, p, train, False, True, False)


def feature_dropout_(input: Any, p: float, train: bool) -> Any:
    """As `feature_dropout`, in place."""
    return _dropped(input, p, train, True, True, False)


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`input` with elements set to -1.7581, where SELU is flat, with probability p, and all moved
    and scaled so that mean 0 and variance 1 stay.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.alpha_dropout(tg.zeros(4), 0.5, True)
    tensor([-0.7792, -0.7792,  0.7792, -0.7792])
    """
    return _dropped(input, p, train, False, False, True)


def alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """As `alpha_dropout`, in place."""
    return _dropped(input, p, train, True, False, True)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """As `alpha_dropout`, of whole planes of (N, C, …).

    >>> import tinygrad_course as tg
    >>> tg.feature_alpha_dropout(tg.ones(1, 2, 2), 0.5, False).shape
    torch.Size([1, 2, 2])
    """
    return _dropped(input, p, train, False, True, True)


def feature_alpha_dropout_(input: Any, p: float, train: bool) -> Any:
    """As `feature_alpha_dropout`, in place."""
    return _dropped(input, p, train, True, True, True)


function(dropout, dropout_, feature_dropout, feature_dropout_)
function(alpha_dropout, alpha_dropout_, feature_alpha_dropout, feature_alpha_dropout_)
