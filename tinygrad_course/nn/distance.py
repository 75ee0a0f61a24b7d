"""Distance and angle of two inputs as layers, without parameters. Lesson 13."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import Module


class PairwiseDistance(Module):
    """The p-norm of x1 − x2 + eps over the last dim: (…, k), (…, k) → (…).

    >>> import tinygrad_course as tg
    >>> tg.nn.PairwiseDistance()(tg.tensor([[0., 0.]]), tg.tensor([[3., 4.]]))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1·x2 / (|x1| |x2|) along `dim`, each length at least `eps`.

    >>> import tinygrad_course as tg
    >>> tg.nn.CosineSimilarity()(tg.tensor([[1., 0.]]), tg.tensor([[3., 4.]]))
    tensor([0.6000])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
