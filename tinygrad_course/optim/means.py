"""Running means, in place: what most optimizers remember of the gradients behind them.

A mean of rate beta forgets: a gradient that is n steps old has the weight (1 − beta) betaⁿ. Works
on raw arrays; knows nothing of optimizers. Lesson 14.
"""

from __future__ import annotations

from ..device import Array, xp_of


def into_mean(m: Array, g: Array, beta: float, spare: Array) -> None:
    """m ← beta · m + (1 − beta) · g; `spare` is overwritten."""
    m *= beta
    m += xp_of(m).multiply(g, 1 - beta, out=spare)


def into_mean_square(v: Array, g: Array, beta: float, spare: Array) -> None:
    """v ← beta · v + (1 − beta) · g²; `spare` is overwritten."""
    v *= beta
    xp_of(v).multiply(g, g, out=spare)
    spare *= 1 - beta
    v += spare
