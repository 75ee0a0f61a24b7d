"""Random tensors: new ones, and in-place fills from many distributions.

The numbers are PyTorch's CPU stream, from `random.py`; here they become tensors. They are drawn on
the host whatever the device, so that a seed means the same everywhere. Lesson 01.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from .. import random as generators
from ..autograd.stochastic import Bernoulli, Multinomial, Normal
from ..autograd.variable import Tensor
from ..device import device_of, move
from ..dtype import get_default_dtype, int64
from ..random import Generator
from ..shape import as_int
from .convert import overwrite
from .creation import LikeOptions, like
from .factory import Options, Plan, SizeOptions, sizes_in, sizes_of
from .registry import function, method, write_out

# --- the generator --------------------------------------------------------------------------------


def _source(generator: Any) -> Generator:
    if generator is None:
        return generators.default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"generator must be a tg.Generator, not {type(generator).__name__}")
    return generator


# --- new tensors ----------------------------------------------------------------------------------


class RandomOptions(SizeOptions, total=False):
    """The options of random factories."""

    generator: Any


class _Drawing(Options, total=False):
    generator: Any


def rand(*sizes: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Uniform numbers from [0, 1)."""
    given: dict[str, Any] = {**options}
    gen, shape = _source(given.pop("generator", None)), sizes_of("rand", sizes, given)
    plan = Plan("rand", given, get_default_dtype())
    return plan.finish(generators.uniform(gen, shape, plan.numpy_type))


def randn(*sizes: Any, **options: Unpack[RandomOptions]) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    given: dict[str, Any] = {**options}
    gen, shape = _source(given.pop("generator", None)), sizes_of("randn", sizes, given)
    plan = Plan("randn", given, get_default_dtype())
    return plan.finish(generators.normal(gen, shape, plan.numpy_type))


class RandintOptions(RandomOptions, total=False):
    """The bounds of `randint`, which may come by keyword."""

    low: int
    high: int


def randint(*bounds_and_size: Any, **options: Unpack[RandintOptions]) -> Tensor:
    """Whole numbers from [low, high): randint(high, size) or randint(low, high, size).

    RuntimeError for bounds that the dtype cannot hold, or low >= high.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); randint(10, (3,))
    tensor([4, 9, 3])
    """
    given: dict[str, Any] = {**options}
    gen, arguments = _source(given.pop("generator", None)), list(bounds_and_size)
    arguments += [given.pop(name) for name in ("low", "high", "size") if name in given]
    if len(arguments) not in (2, 3):
        raise TypeError("randint() takes (high, size) or (low, high, size)")
    *bounds, size = arguments
    high = as_int(bounds[-1], "high")
    low = as_int(bounds[0], "low") if len(bounds) == 2 else 0
    sizes = sizes_in("randint", size)
    plan = Plan("randint", given, int64)
    return plan.finish(generators.randint(gen, low, high, sizes, plan.numpy_type))


def randperm(n: int, **options: Unpack[_Drawing]) -> Tensor:
    """The numbers 0 … n-1 in random order.

    RuntimeError for a negative n, or one that is too large for the dtype.
    """
    given: dict[str, Any] = {**options}
    gen, n = _source(given.pop("generator", None)), as_int(n, "n")
    plan = Plan("randperm", given, int64)
    order = generators.randperm(gen, n)
    if order.size and order.max() != order.max().astype(plan.numpy_type):
        raise RuntimeError(f"randperm(): {plan.dtype!r} cannot hold the numbers up to {n - 1}")
    return plan.finish(order.astype(plan.numpy_type))


def _drawn_like(name: str, input: Tensor, options: Any, draw: Callable[..., Any]) -> Tensor:
    """A tensor like `input`, filled in the order of its memory by draw(generator, shape, dtype)."""
    given = {**options}
    gen = _source(given.pop("generator", None))
    plan, array = like(name, input, given)

    def filled(shape: tuple[int, ...]) -> Any:
        return draw(gen, shape, plan.numpy_type)

    values = generators.in_memory_order(array, filled)
    array[...] = move(values, device_of(array))
    return plan.finish(array)


class RandomLikeOptions(LikeOptions, total=False):
    """The options of `rand_like` and its like."""

    generator: Any


def rand_like(input: Tensor, **options: Unpack[RandomLikeOptions]) -> Tensor:
    """Uniform numbers from [0, 1) in the size, dtype, device and memory order of `input`."""
    return _drawn_like("rand_like", input, options, generators.uniform)


def randn_like(input: Tensor, **options: Unpack[RandomLikeOptions]) -> Tensor:
    """Normal numbers in the size, dtype, device and memory order of `input`."""
    return _drawn_like("randn_like", input, options, generators.normal)


def randint_like(input: Tensor, *bounds: int, **options: Unpack[RandomLikeOptions]) -> Tensor:
    """Whole numbers from [low, high), as randint_like(input, high) or (input, low, high), in the
    size, dtype, device and memory order of `input`."""
    given: dict[str, Any] = {**options}
    values = [*bounds, *(given.pop(name) for name in ("low", "high") if name in given)]
    if len(values) not in (1, 2):
        raise TypeError("randint_like() takes (input, high) or (input, low, high)")
    low, high = (as_int(v, "a bound") for v in (values if len(values) == 2 else [0, *values]))
    return _drawn_like(
        "randint_like",
        input,
        given,
        lambda gen, shape, dtype: generators.randint(gen, low, high, shape, dtype),
    )


# --- from parameters that are tensors -------------------------------------------------------------


def normal(mean: Any, std: Any = 1.0, size: Any = None, **options: Unpack[_Drawing]) -> Tensor:
    """Normal numbers: normal(mean, std) with tensors broadcast together (or a number for one of
    them), or normal(mean, std, size) with two numbers.

    RuntimeError for a negative std, TypeError for two numbers without a size.

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.normal(tg.tensor([10., 20.]), 0.1)
    tensor([10.1541, 19.9707])
    """
    given: dict[str, Any] = {**options}
    gen = _source(given.pop("generator", None))
    tensors = [v for v in (mean, std) if isinstance(v, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal() of two numbers needs a size: normal(mean, std, size)")
        plan, shape = Plan("normal", given, get_default_dtype()), sizes_in("normal", size)
        return plan.finish(generators.normal(gen, shape, plan.numpy_type, mean, std))
    out = given.pop("out", None)
    if size is not None or given:
        raise TypeError("normal() of tensors has their size and dtype, and takes none")
    for x in tensors:
        if not x.is_floating_point():
            raise NotImplementedError(f"normal is not implemented for {x.dtype!r}: use floats")
    least = std.min().item() if isinstance(std, Tensor) and std.numel() else std
    if not isinstance(least, Tensor) and least < 0:
        raise RuntimeError(f"normal expects all elements of std >= 0.0, and {least} is among them")
    numbers = (None if isinstance(v, Tensor) else float(v) for v in (mean, std))
    result: Tensor = Normal(gen, *numbers)(*tensors)
    return result if out is None else write_out(result, out)


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Any = None, out: Tensor | None = None
) -> Tensor:
    """1 with the probability given by each element, else 0; with a number `p`, that probability in
    the size of `input`.

    RuntimeError for a probability outside [0, 1].
    """
    if p is not None:
        result = bernoulli_(input.detach().clone(), p, generator=generator)
    else:
        result = Bernoulli(_source(generator))(input)
    return result if out is None else write_out(result, out)


def multinomial(
    input: Tensor,
    num_samples: int = 1,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """`num_samples` places, drawn by the weights in the last dim of `input` (n,) or (rows, n).

    RuntimeError for weights that are no distribution, or fewer weights than samples without
    `replacement`.

    >>> import tinygrad_course as tg
    >>> multinomial(tg.tensor([0., 1., 0.]), 2, replacement=True)
    tensor([1, 1])
    """
    draw = Multinomial(as_int(num_samples, "num_samples"), replacement, _source(generator))
    result: Tensor = draw(input)
    return result if out is None else write_out(result, out)


# --- in place -------------------------------------------------------------------------------------


def _number(name: str, value: Any) -> float:
    """A parameter of a distribution; TypeError unless it is a number, or a 0-dim tensor without
    gradient."""
    if isinstance(value, Tensor) and value.ndim == 0 and not value.requires_grad:
        value = value.item()
    if not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}(): a number was expected, not {type(value).__name__}")
    return float(value)


def _fill(self: Tensor, draw: Callable[[tuple[int, ...]], Any]) -> Tensor:
    values = generators.in_memory_order(self._array, draw)
    return overwrite(self, move(values, self.device))


def uniform_(self: Tensor, *bounds: float, generator: Any = None, **named: float) -> Tensor:
    """Fills with uniform numbers: uniform_(from=0, to=1) draws from [from, to)."""
    low, high = (_number("uniform_", v) for v in _from_to("uniform_", bounds, named, 0.0, 1.0))
    gen, dtype = _source(generator), self.dtype.numpy
    return _fill(self, lambda shape: generators.uniform(gen, shape, dtype, low, high))


def _from_to(name: str, bounds: tuple[Any, ...], named: dict[str, Any], *defaults: Any) -> Any:
    """The bounds `from` and `to`, the first of which no parameter can be named after."""
    for key, value in zip(("from", "to"), bounds, strict=False):
        if key in named:
            raise TypeError(f"{name}() got multiple values for argument {key!r}")
        named[key] = value
    if len(bounds) > 2 or not named.keys() <= {"from", "to"}:
        raise TypeError(f"{name}() takes from and to, got {bounds} and {sorted(named)}")
    return tuple(named.get(k, d) for k, d in zip(("from", "to"), defaults, strict=True))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills with normal numbers."""
    mean, std = _number("normal_", mean), _number("normal_", std)
    gen, dtype, whole = _source(generator), self.dtype.numpy, self.is_contiguous()
    return _fill(
        self,
        lambda shape: generators.normal(gen, shape, dtype, mean, std, contiguous=whole),
    )


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills with exponentially distributed numbers of rate `lambd`: density lambd exp(-lambd x)."""
    gen, dtype, lambd = _source(generator), self.dtype.numpy, _number("exponential_", lambd)
    return _fill(self, lambda shape: generators.exponential(gen, shape, dtype, lambd))


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Fills with Cauchy distributed numbers, which have no mean."""
    median, sigma = _number("cauchy_", median), _number("cauchy_", sigma)
    gen, dtype = _source(generator), self.dtype.numpy
    return _fill(self, lambda shape: generators.cauchy(gen, shape, dtype, median, sigma))


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
) -> Tensor:
    """Fills with numbers whose logarithm is normal, with that mean and std."""
    mean, std = _number("log_normal_", mean), _number("log_normal_", std)
    gen, dtype = _source(generator), self.dtype.numpy
    return _fill(self, lambda shape: generators.log_normal(gen, shape, dtype, mean, std))


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fills with how many tries it takes to the first success of probability `p`: 1, 2, …"""
    gen, dtype, p = _source(generator), self.dtype.numpy, _number("geometric_", p)
    return _fill(self, lambda shape: generators.geometric(gen, shape, dtype, p))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fills with 1 with probability `p` (a number, or a tensor that broadcasts), else 0."""
    gen, dtype = _source(generator), self.dtype.numpy
    if not isinstance(p, Tensor):
        chance = _number("bernoulli_", p)
        return _fill(self, lambda shape: generators.bernoulli(gen, chance, shape).astype(dtype))
    chances = np.broadcast_to(p._host(), self.shape)
    axes = generators.memory_axes(self._array)
    return _fill(
        self, lambda shape: generators.bernoulli(gen, chances.transpose(axes)).astype(dtype)
    )


def random_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fills with whole numbers: random_() from 0 to the greatest of the dtype, random_(to) from
    [0, to), random_(from, to) from [from, to), where None stands for no bound."""
    gen, dtype = _source(generator), self.dtype.numpy
    if len(bounds) == 1 and not named:
        bounds = (0, *bounds)
    if not bounds and not named:
        return _fill(self, lambda shape: generators.random(gen, shape, dtype))
    low, high = _from_to("random_", bounds, named, 0, None)
    low, high = as_int(low, "from"), None if high is None else as_int(high, "to")
    return _fill(self, lambda shape: generators.randint(gen, low, high, shape, dtype))


function(rand, randn, randint, randperm, rand_like, randn_like, randint_like)
function(normal, bernoulli, multinomial)
method(bernoulli, multinomial, uniform_, normal_, exponential_, cauchy_, log_normal_)
method(geometric_, bernoulli_, random_)
