"""Parameters as one vector, and back: for methods that see a model as a point. Lesson 14."""

from __future__ import annotations

from collections.abc import Iterable

from ...autograd.variable import Tensor
from ...ops.join import cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, in order, as a new vector; gradients flow through it.

    >>> import tinygrad_course as tg
    >>> parameters_to_vector([tg.zeros(2, 1), tg.ones(1)])
    tensor([0., 0., 1.])
    """
    result: Tensor = cat([parameter.reshape(-1) for parameter in parameters])
    return result


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parameters windows on `vec`, one after the other; elements left over stay unused.

    TypeError unless `vec` is a tensor, RuntimeError when it has too few elements.

    >>> import tinygrad_course as tg
    >>> w = tg.zeros(2, 1)
    >>> vector_to_parameters(tg.tensor([1., 2.]), [w]); w
    tensor([[1.], [2.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor to make parameters of, but got {type(vec).__name__}")
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view(parameter.shape).data
        begin = end
