"""Stochastic nodes: operations whose result is drawn at random, and learning through them.

A draw has no derivative. What can be followed is the expected reward of the draws: its gradient is
the mean of reward · d log p(draw), the score function (REINFORCE). So a backward pass through such
a node ignores what arrives and takes the reward that somebody attached to the draw; the gradients
are those of a loss, -reward · log p. Lesson 08.
"""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from .. import random as generators
from ..device import backend_of, move
from ..shape import broadcast_shapes
from .function import Function
from .meta import Meta
from .variable import Tensor


class StochasticFunction(Function):
    """Base of the stochastic operations, in the old style: `forward` draws, and `backward(reward)`
    returns the gradients of -reward · log p.

    There is one output. An output of whole numbers has no gradient and no `grad_fn`; its `creator`
    is this node all the same.
    """

    reward: Tensor | None = None
    drawn: tuple[tuple[int, ...], Any, Any]  # the reward's shape, dtype and device

    def reinforce(self, reward: Any) -> None:
        """Attaches the reward: a number, or a tensor with one for each element drawn."""
        shape, dtype, device = self.drawn
        if isinstance(reward, Tensor):
            if reward.dtype is not dtype or reward.device != device:
                raise TypeError(
                    f"mismatch between reward and output type: got {reward.type()} on "
                    f"{reward.device}, but expected torch.{dtype.tensor_type} on {device}, as the "
                    "probabilities are"
                )
            if reward.shape != shape:
                raise ValueError(
                    f"got reward of size {list(reward.shape)}, but expected a tensor of size "
                    f"{list(shape)}: one reward for each element that was drawn"
                )
        elif not isinstance(reward, Number):
            raise TypeError(f"a reward is a number or a tensor, not {type(reward).__name__}")
        if self.reward is not None:
            raise RuntimeError("you can only reinforce a stochastic Function once: draw anew")
        if not isinstance(reward, Tensor):
            reward = Tensor._wrap(move(np.full(shape, reward, dtype.numpy), device))
        self.reward = reward

    def required_reward(self) -> Tensor:
        """The reward; RuntimeError when there is none."""
        self.check_saved()
        if self.reward is None:
            raise RuntimeError(
                f"differentiating stochastic functions requires providing a reward: call "
                f".reinforce(reward) on what {type(self).__name__.lower()} drew, or draw from "
                "x.detach() when no gradient should come through"
            )
        return self.reward

    def _output(
        self,
        output: Any,
        i: int,
        inputs: list[Tensor],
        dirty: list[Tensor],
        record: bool,
        volatile: bool,
    ) -> Any:
        result = super()._output(output, i, inputs, dirty, record, volatile)
        if record:
            self.drawn = tuple(result.shape), inputs[0].dtype, result.device
            if not result.requires_grad:
                result._meta = _DrawnMeta(self)
        return result

    def name(self) -> str:
        return f"{type(self).__name__}Backward0"

    def run(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        return self._checked(self.backward(self.required_reward()), tensors)

    def release(self) -> None:
        super().release()
        self.reward = None


class _DrawnMeta(Meta):
    """Of drawn whole numbers: they need no gradient, and yet remember who drew them."""

    __slots__ = ("creator",)

    def __init__(self, creator: StochasticFunction) -> None:
        self.start()
        self.creator = creator


class Bernoulli(StochasticFunction):
    """1 with probability p, else 0; dp = -reward · (1/p for a 1, -1/(1 - p) for a 0)."""

    def __init__(self, generator: generators.Generator) -> None:
        self.generator = generator

    def forward(self, p: Tensor) -> Tensor:
        drawn = generators.bernoulli(self.generator, backend_of(p._array).to_host(p._array))
        x = Tensor._wrap(move(drawn.astype(p.dtype.numpy), p.device))
        self.save_for_backward(p, x)
        return x

    def backward(self, reward: Tensor) -> Tensor:
        p, x = self.saved_tensors
        gp: Tensor = -reward / (p + x.detach() - 1)
        return gp


class Multinomial(StochasticFunction):
    """`num_samples` places i of the last dim, drawn by weight: p = w_i / W where W is the sum of
    the weights still there; dw = -Σ reward · (1/w_i at the place drawn - 1/W where still there)."""

    def __init__(
        self, num_samples: int, replacement: bool, generator: generators.Generator
    ) -> None:
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def forward(self, weights: Tensor) -> Tensor:
        places = generators.multinomial(
            self.generator, weights._host(), self.num_samples, self.replacement
        )
        drawn = Tensor._wrap(move(places, weights.device))
        self.save_for_backward(weights, drawn)
        return drawn

    def backward(self, reward: Tensor) -> Tensor:
        weights, drawn = self.saved_tensors
        taken = weights.gather(-1, drawn)
        total = weights.sum(-1, keepdim=True)
        if self.replacement:
            common = (reward / total).sum(-1, keepdim=True)
            own = -reward / taken
        else:  # a place that was drawn takes no part in the draws after it
            each = reward / (total - taken.cumsum(-1) + taken)
            common = each.sum(-1, keepdim=True)
            own = each.cumsum(-1) - common - reward / taken
        gw: Tensor = common.expand(weights.shape).scatter_add(-1, drawn, own)
        return gw


class Normal(StochasticFunction):
    """mean + std · z with normal z; with d = (x - mean) / std: dmean = -reward · d / std and
    dstd = -reward · (d² - 1) / std. A number for either is given on construction."""

    def __init__(
        self, generator: generators.Generator, mean: float | None = None, std: float | None = None
    ) -> None:
        self.generator, self.mean, self.std = generator, mean, std

    def _parameters(self, *given: Tensor) -> tuple[Any, Any]:
        tensors = iter(given)
        return (
            next(tensors) if self.mean is None else self.mean,
            next(tensors) if self.std is None else self.std,
        )

    def forward(self, *given: Tensor) -> Tensor:
        mean, std = self._parameters(*given)
        shape = tuple(broadcast_shapes(*(v.shape for v in given)))
        z = generators.normal(self.generator, shape, given[0].dtype.numpy)
        x: Tensor = (Tensor._wrap(move(z, given[0].device)) * std + mean).to(given[0].dtype)
        self.save_for_backward(*given, x)
        return x

    def backward(self, reward: Tensor) -> tuple[Tensor, ...]:
        *given, x = self.saved_tensors
        mean, std = self._parameters(*given)
        d = (x.detach() - mean) / std
        score = {"mean": -reward * d / std, "std": -reward * (d * d - 1) / std}
        return tuple(g for name, g in score.items() if getattr(self, name) is None)
