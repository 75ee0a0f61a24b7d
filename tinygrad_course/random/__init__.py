"""Random numbers: PyTorch's CPU stream, number for number.

Every function turns a `Generator`'s words into an array exactly as PyTorch's CPU kernels do, so
that equal seeds give equal weights, masks and shuffles in both. It knows NumPy arrays only;
tensors, dtype defaults and other devices are the business of `ops/sampling.py`.

Lesson: a "random" number is a pure function of the seed and of how many words were drawn before it.
Two programs agree only as long as they draw equally many words, in the same order.
"""

from .continuous import cauchy, exponential, log_normal, normal, uniform
from .discrete import bernoulli, geometric, multinomial, randint, random, randperm
from .generator import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .order import in_memory_order, memory_axes
