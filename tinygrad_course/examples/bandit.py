"""A three-armed bandit learns by REINFORCE: thirty lines on stochastic nodes.

    python -m tinygrad_course.examples.bandit

Each arm pays with a probability that the player doesn't know. The player draws an arm from the
softmax of three numbers, and what it pays is the reward of the draw: backward then makes arms that
paid more than the usual more likely. Lesson 08.
"""

from __future__ import annotations

import tinygrad_course as tg
from tinygrad_course import optim

ARMS = (0.2, 0.5, 0.8)


def learn(rounds: int = 400, seed: int = 0) -> tg.Tensor:
    """The player's probabilities of the three arms after so many rounds.

    >>> bool(learn()[2] > 0.9)
    True
    """
    tg.manual_seed(seed)
    arms = tg.Tensor(ARMS)
    logits = tg.zeros(3, requires_grad=True)
    optimizer = optim.SGD([logits], lr=0.2)
    usual = 0.0
    for _ in range(rounds):
        action = logits.softmax(0).multinomial(1)
        paid = arms[action].bernoulli().item()
        action.reinforce(paid - usual)
        usual += 0.1 * (paid - usual)  # rewards count by how much better they are than before
        optimizer.zero_grad()
        tg.autograd.backward([action], [None])
        optimizer.step()
    chosen: tg.Tensor = logits.detach().softmax(0)
    return chosen


if __name__ == "__main__":
    for arm, (pays, chosen) in enumerate(zip(ARMS, learn().tolist(), strict=True)):
        print(f"arm {arm} pays with probability {pays}, and is chosen with {chosen:.2f}")
