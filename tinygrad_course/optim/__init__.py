"""optim: how parameters move once they have gradients. Lesson 14."""

from .adam import Adam
from .optimizer import Optimizer
from .sgd import SGD
