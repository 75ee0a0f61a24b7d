"""Gradient clipping: all gradients shrunk by one factor when together they are too long.

The norm is that of one vector of all gradients, so their direction stays. Works on `.grad`, knows
nothing of models. Lesson 14.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd.variable import Tensor
from ...device import xp_of
from ...ops.data import tensor as make_tensor


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scales the gradients in place so that ‖all gradients‖ ≤ max_norm; returns the norm they had,
    0-dim.

    `norm_type` p of (Σ |g|^p)^(1/p), or inf for the largest |g|. With `error_if_nonfinite` a norm
    of nan or inf is a RuntimeError and nothing is scaled.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(2, requires_grad=True)
    >>> w.grad = tg.tensor([3., 4.])
    >>> clip_grad_norm_(w, 1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return make_tensor(0.0)
    norm = _norm([grad._array for grad in grads], float(norm_type))
    xp = xp_of(grads[0]._array)
    if error_if_nonfinite and not xp.isfinite(norm):
        raise RuntimeError(
            f"the norm of order {float(norm_type)} of the gradients is {float(norm)}, so they "
            "cannot be clipped; pass error_if_nonfinite=False to scale them by it anyway"
        )
    # Kept on the device: asking whether anything must be clipped would wait for it.
    factor = xp.minimum(max_norm / (norm + 1e-6), 1)
    for grad in grads:
        array = grad._array
        xp.multiply(array, factor.astype(array.dtype), out=array)
        grad._bump()
    return Tensor._wrap_any(norm)


def _norm(grads: list[Any], p: float) -> Any:
    xp = xp_of(grads[0])
    if p == float("inf"):
        return xp.stack([abs(g).max() for g in grads]).max()
    if p == 2:
        flat = [g.reshape(-1) for g in grads]
        return xp.sqrt(xp.stack([xp.dot(g, g) for g in flat]).sum())
    return xp.stack([(abs(g) ** p).sum() for g in grads]).sum() ** (1 / p)


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """The name of `clip_grad_norm_` before PyTorch 0.4."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)
