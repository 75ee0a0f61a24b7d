"""Gradient clipping: all gradients shrunk by one factor when together they are too long, or each
element cut off.

The norm is that of one vector of all gradients, so their direction stays. Works on `.grad`, knows
nothing of models. `foreach` names PyTorch's faster ways to the same numbers: there is one way here.
Lesson 14.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...autograd.mode import no_grad
from ...autograd.variable import Tensor
from ...device import backend_of, go_to, xp_of
from ...dtype import float32, float64
from ...kernels.many import gather, gatherable, scale
from ...linalg import vector_norm
from ...ops.data import tensor as make_tensor
from ...ops.join import stack


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
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
    parameters = _listed(parameters)
    norm = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, norm)
    return norm


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of all tensors, 0-dim; 0 without tensors.

    Arguments and errors as in `clip_grad_norm_`.

    >>> import tinygrad_course as tg
    >>> get_total_norm([tg.tensor([3.]), tg.tensor([4.])])
    tensor(5.)
    """
    tensors = _listed(tensors)
    if not tensors:
        return make_tensor(0.0)
    p = float(norm_type)
    norm = _norm(tensors, p)
    if error_if_nonfinite and not norm.isfinite():
        raise RuntimeError(
            f"the norm of order {p} of the gradients is {float(norm)}, so they cannot be clipped; "
            "pass error_if_nonfinite=False to scale them by it anyway"
        )
    return norm


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scales the gradients in place by max_norm / total_norm, where that is below 1.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(2, requires_grad=True)
    >>> w.grad = tg.tensor([3., 4.])
    >>> clip_grads_with_norm_(w, 1.0, tg.tensor(10.)); w.grad
    tensor([0.3000, 0.4000])
    """
    # Kept on the device: asking whether anything must be clipped would wait for it.
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for grads in _by_device(_gradients(_listed(parameters))):
        arrays, number = [grad._array for grad in grads], factor.to(grads[0].device)._array
        go_to(number)
        if gatherable([number, *arrays]):
            scale(arrays, number)
        else:
            for array in arrays:
                xp_of(array).multiply(array, number.astype(array.dtype, copy=False), out=array)
        for grad in grads:
            grad._bump()


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Cuts every element of the gradients off at −clip_value and clip_value, in place.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(2, requires_grad=True)
    >>> w.grad = tg.tensor([3., -0.5])
    >>> clip_grad_value_(w, 1.0); w.grad
    tensor([ 1.0000, -0.5000])
    """
    limit = float(clip_value)
    for grad in _gradients(_listed(parameters)):
        array = grad._array
        go_to(array)
        xp_of(array).clip(array, -limit, limit, out=array)
        grad._bump()


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def _gradients(parameters: list[Tensor]) -> list[Tensor]:
    return [p.grad for p in parameters if p.grad is not None]


def _by_device(tensors: list[Tensor]) -> list[list[Tensor]]:
    groups: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        array = tensor._array
        groups.setdefault(backend_of(array).index_of(array), []).append(tensor)
    return list(groups.values())


@no_grad()
def _norm(tensors: list[Tensor], p: float) -> Tensor:
    floats = all(tensor.dtype in (float32, float64) for tensor in tensors)
    if p == 2 and floats and len(_by_device(tensors)) == 1:
        # As dot products: four times as fast.
        arrays = [tensor._array for tensor in tensors]
        xp = xp_of(arrays[0])
        go_to(arrays[0])
        if gatherable(arrays):
            whole = xp.empty(sum(a.size for a in arrays), arrays[0].dtype)
            gather(arrays, whole)
            return Tensor._wrap_any(xp.sqrt(xp.dot(whole, whole)))
        flat = [tensor._array.reshape(-1) for tensor in tensors]
        return Tensor._wrap_any(xp.sqrt(xp.stack([xp.dot(x, x) for x in flat]).sum()))
    norms = [vector_norm(tensor, p).to(tensors[0].device) for tensor in tensors]
    norm: Tensor = vector_norm(stack(norms), p)
    return norm


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The name of `clip_grad_norm_` before PyTorch 0.4."""
    warnings.warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)
