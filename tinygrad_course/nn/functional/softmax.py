"""Softmax and its kin as functions: scores to probabilities along a dim.

Here are PyTorch's spellings, such as the dim that old code left to be guessed, and softmax with
noise, from which classes can be drawn; what is computed is in `ops.softmax`. Lesson 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...dtype import DType
from ...layout import contiguous_format
from ...ops import softmax as _softmax
from ...ops.creation import empty_like, zeros_like
from ...shape import wrap_dim


def softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Any:
    """exp(x) / Σ exp(x) along `dim`; without a dim it guesses one, with a warning.

    >>> import tinygrad_course as tg
    >>> softmax(tg.zeros(4), 0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _softmax.softmax(input, _dim(dim, "softmax", input.ndim, _stacklevel), dtype)


def softmin(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Any:
    """softmax of −x: the smallest score has the largest share.

    >>> import tinygrad_course as tg
    >>> softmin(tg.tensor([0., 1e4]), 0)
    tensor([1., 0.])
    """
    return _softmax.softmax(-input, _dim(dim, "softmin", input.ndim, _stacklevel), dtype)


def log_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Any:
    """x − log Σ exp(x) along `dim`; without a dim it guesses one, with a warning.

    >>> import tinygrad_course as tg
    >>> log_softmax(tg.tensor([0., 1e4]), 0)
    tensor([-10000.,      0.])
    """
    return _softmax.log_softmax(input, _dim(dim, "log_softmax", input.ndim, _stacklevel), dtype)


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """softmax((logits + noise) / tau): a class drawn by its probability, softly, so that gradients
    flow. `hard` makes it one-hot, with the gradient of the soft one; `eps` has no effect.

    The noise is −ln of exponential numbers (E. J. Gumbel's distribution).

    >>> import tinygrad_course as tg
    >>> gumbel_softmax(tg.tensor([0., 1e4, 0.]), hard=True)
    tensor([0., 1., 0.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", UserWarning, stacklevel=2)
    noise = empty_like(logits.detach(), memory_format=contiguous_format).exponential_()
    soft = _softmax.softmax((logits - noise.log()) / tau, dim)
    if not hard:
        return soft
    dim = wrap_dim(dim, soft.ndim)
    drawn = zeros_like(logits.detach()).scatter_(dim, soft.argmax(dim, keepdim=True), 1.0)
    return drawn - soft.detach() + soft


def _dim(dim: int | None, name: str, ndim: int, stacklevel: int) -> int:
    if dim is not None:
        return dim
    guess = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated: dim={guess} is taken for "
        f"{ndim} dims. Pass dim=.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return guess
