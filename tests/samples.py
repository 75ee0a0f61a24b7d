"""Sample inputs: one row per public operation, from which the tests of all operations are made.

`SAMPLES[name]` says how `name` is called: the calls that must work and those that PyTorch refuses.
A call is plain data, so that it can be made in either library, with any float type, memory layout
and device. Values are well spread and the same in every run; where a call sits at a kink or beyond
a domain it is marked `special`, and only PyTorch can say what its gradient is. A new operation
needs a row here and nothing else; `tests/test_ops.py` fails without one.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

# Multiples of these modulo 1 never come close to each other: no ties, no luck.
STEPS = ((5**0.5 - 1) / 2, 2**0.5 - 1, 3**0.5 - 1, (13**0.5 - 3) / 2, 7**0.5 - 2)


@dataclass(frozen=True, eq=False)
class Arg:
    """A tensor to be made of `array`; those of floats are differentiated unless `fixed`."""

    array: np.ndarray
    fixed: bool = False

    @property
    def real(self) -> bool:
        """Whether its type is the run's float type, and not part of the call."""
        return self.array.dtype == np.float64


@dataclass(frozen=True)
class Own:
    """Something that each library has under this name, e.g. a dtype: Own("float64")."""

    name: str


@dataclass(frozen=True)
class _Spread:
    """An Arg whose values are still to be chosen, by its place in the call."""

    shape: tuple[int, ...]
    low: float
    high: float
    fixed: bool = False

    def arg(self, place: int) -> Arg:
        spots = np.arange(1, math.prod(self.shape) + 1) * STEPS[place % 5] + place * STEPS[1]
        values = self.low + (self.high - self.low) * (spots % 1.0)
        return Arg(values.reshape(self.shape), self.fixed)


def real(*shape: int, low: float = -2.0, high: float = 2.0, fixed: bool = False) -> _Spread:
    """A float tensor with values between `low` and `high`, no two alike."""
    return _Spread(shape, low, high, fixed)


def given(values: Any, dtype: str | None = None) -> Arg:
    """A tensor of these values: Python floats get the run's float type, others keep theirs."""
    return Arg(np.array(values, dtype))


def places(*shape: int, below: int) -> Arg:
    """An int64 tensor of places, some of them repeated."""
    return Arg(np.asarray(np.arange(math.prod(shape)).reshape(shape) * 7 % below))


def mask(*shape: int) -> Arg:
    """A bool tensor, true at about two places of three."""
    return Arg(np.asarray(np.arange(math.prod(shape)).reshape(shape) % 3 != 1))


@dataclass(frozen=True)
class Call:
    """One call: name(*args, **kwargs)."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    special: bool = False

    def __str__(self) -> str:
        shown = [_shown(a) for a in self.args] + [
            f"{k}={_shown(v)}" for k, v in self.kwargs.items()
        ]
        return f"({', '.join(shown)})"


def _shown(value: Any) -> str:
    if isinstance(value, Arg):
        kind = "real" if value.real else value.array.dtype.name
        if value.array.size <= 3:
            return f"{kind} {value.array.tolist()}"
        return f"{kind}[{', '.join(map(str, value.array.shape))}]"
    if isinstance(value, Own):
        return value.name
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


def call(*args: Any, **kwargs: Any) -> Call:
    """The call with these arguments."""
    counter = iter(range(100))

    def settle(value: Any) -> Any:
        if isinstance(value, _Spread):
            return value.arg(next(counter))
        return type(value)(map(settle, value)) if type(value) in (list, tuple) else value

    return Call(tuple(map(settle, args)), {k: settle(v) for k, v in kwargs.items()})


def special(*args: Any, **kwargs: Any) -> Call:
    """The call with these arguments, where finite differences don't give the gradient."""
    return replace(call(*args, **kwargs), special=True)


@dataclass(frozen=True)
class Rows:
    """How one public name is called.

    `bad` are calls that PyTorch refuses. `values=False`: what the result holds is arbitrary.
    `seeded`: both libraries' generators are seeded first. `dtypes=False`: tried with floats only.
    `syncs`: it has to read values back from a device.
    """

    calls: tuple[Call, ...]
    bad: tuple[Call, ...] = ()
    values: bool = True
    seeded: bool = False
    dtypes: bool = True
    syncs: bool = False


SAMPLES: dict[str, Rows] = {}


def row(names: str, *calls: Call, bad: tuple[Call, ...] = (), **settings: Any) -> None:
    """Adds one row for each of several names, separated by spaces."""
    for name in names.split():
        if name in SAMPLES:
            raise ValueError(f"{name} has a row already")
        SAMPLES[name] = Rows(calls, bad, **settings)


SHAPES = ((), (3,), (2, 3), (2, 1, 4), (0,), (2, 0, 3))
PAIRS = (
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((2, 3), ()),
    ((), (2, 3)),
    ((1,), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((0,), (1,)),
    ((2, 0, 3), (3,)),
    ((2, 0), ()),
)
NOT_BROADCAST = call(real(2, 3), real(2))
EXTREMES = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]


def unary(low: float = -2.0, high: float = 2.0) -> tuple[Call, ...]:
    """Calls f(x) over shapes, and at the extremes."""
    return (*(call(real(*s, low=low, high=high)) for s in SHAPES), special(given(EXTREMES)))


def binary(low: float = -2.0, high: float = 2.0, *numbers: Any) -> tuple[Call, ...]:
    """Calls f(x, y) over pairs of shapes that broadcast, with numbers, and at pairs of extremes."""
    x = np.array(EXTREMES)
    return (
        *(call(real(*a, low=low, high=high), real(*b, low=low, high=high)) for a, b in PAIRS),
        *(
            call(real(*shape, low=low, high=high), number)
            for number in numbers
            for shape in ((2, 3), ())
        ),
        special(given(x.repeat(len(x))), given(np.tile(x, len(x)))),
    )


# --- creation -------------------------------------------------------------------------------------

SIZES = (
    call(2, 3),
    call((2, 3)),
    call([2, 3]),
    call(()),
    call(0),
    call(2, 0, 3),
    call(2, dtype=Own("int64")),
)
NO_SIZES = (call(-1), call(2, -3), call("2"), call(1.5))

row(
    "zeros ones",
    *SIZES,
    call(2, dtype=Own("bool")),
    call(3, requires_grad=True),
    call(2, dtype=Own("float16")),
    bad=(*NO_SIZES, call(2, dtype=Own("int64"), requires_grad=True)),
)
row("empty", *SIZES, call(3, requires_grad=True), bad=NO_SIZES, values=False)
row(
    "rand randn",
    call(2, 3),
    call((4, 5)),
    call(17),
    call(0),
    call(20, dtype=Own("float64")),
    bad=(*NO_SIZES, call(2, dtype=Own("int64"))),
    seeded=True,
)
row(
    "full",
    call((2, 3), 7),
    call((2,), 1.5),
    call((), True),
    call((2, 0), 3, dtype=Own("float64")),
    call([2], 2, dtype=Own("int16")),
    bad=(call((-1,), 0), call((2,), "a")),
)
row(
    "arange",
    call(5),
    call(0),
    call(2, 9),
    call(1, 2, 0.5),
    call(5, 1, -2),
    call(5.0),
    call(0, 1, 0.1),
    call(3, dtype=Own("float32")),
    call(1, 7, 2, dtype=Own("int32")),
    bad=(call(5, 1), call(1, 5, 0), call(1, 5, -1)),
)
row(
    "linspace",
    call(0, 1, 5),
    call(3.0, -3.0, 7),
    call(2, 9, 1),
    call(0, 1, 0),
    call(0, 10, 4, dtype=Own("float64")),
    call(0, 1, 11),
    bad=(call(0, 1, -1),),
)
row("eye", call(3), call(2, 4), call(3, 1), call(0), call(2, dtype=Own("int64")), bad=(call(-1),))
row(
    "tensor",
    call([1, 2]),
    call([[1.0, 2.0], [3.0, 4.0]]),
    call(3),
    call(2.5),
    call(True),
    call([]),
    call([[], []]),
    call([True, False]),
    call([1, 2.5]),
    call([1, 2], dtype=Own("float64")),
    call((1, (2)), dtype=Own("uint8")),
    call(1.0, requires_grad=True),
    bad=(
        call([[1, 2], [3]]),
        call("abc"),
        call([1, "a"]),
        call([1], requires_grad=True),
        call(None),
        call([[1], 2]),
    ),
)
row("scalar_tensor", call(3), call(2.5), call(True), call(3, dtype=Own("int64")))
row("as_tensor", call([1, 2]), call(2.5), call(real(2, 3)), call([1.5], dtype=Own("float64")))
row(
    "randint",
    call(10, (3, 2)),
    call(-5, 5, (20,)),
    call(3, 4, ()),
    call(1 << 40, (5,)),
    call(10, (2, 0)),
    call(9, (4,), dtype=Own("int32")),
    bad=(call(0, (2,)), call(5, 5, (2,))),
    seeded=True,
)
row(
    "randperm",
    call(10),
    call(1),
    call(0),
    call(5, dtype=Own("float32")),
    bad=(call(-1),),
    seeded=True,
)
row(
    "bernoulli",
    # No gradients: without a reward they are an error. test_stochastic has them.
    call(real(2, 3, low=0, high=1, fixed=True)),
    call(Arg(np.array([0.0, 1.0]), fixed=True)),
    call(Arg(np.array(0.5), fixed=True)),
    seeded=True,
    dtypes=False,
)
row(
    "zeros_like ones_like",
    call(real(2, 3)),
    call(real()),
    call(real(2, 0)),
    call(real(2, 3), dtype=Own("int64")),
    call(real(3), requires_grad=True),
)
row("empty_like", call(real(2, 3)), call(real()), call(real(2), dtype=Own("int64")), values=False)
row("full_like", call(real(2, 3), 2), call(real(), 2.5), call(real(2), 3, dtype=Own("int64")))
row(
    "rand_like randn_like",
    call(real(2, 3)),
    call(real(20)),
    call(real()),
    seeded=True,
    dtypes=False,
)
row(
    "new_zeros new_ones",
    call(real(2), 2, 3),
    call(real(2), (2, 3)),
    call(real(2), ()),
    call(real(2), 2, dtype=Own("int64")),
    bad=(call(real(2), -1),),
)
row("new_empty", call(real(2), 2, 3), call(real(2), (2, 0)), values=False)
row("new_full", call(real(2), (2, 3), 2), call(real(2), (), 1.5, dtype=Own("float64")))
row(
    "new_tensor",
    call(real(2), [1, 2]),
    call(real(2), 3.5),
    call(real(2), [[1.0], [2.0]]),
    call(real(2), [True], dtype=Own("int64")),
)
row("new", call(real(2), [1, 2]), call(real(2)), call(real(2), 0))

# --- elementwise ----------------------------------------------------------------------------------

row("abs absolute neg negative positive square relu sign floor ceil trunc fix", *unary())
row(
    "round",
    *unary(),
    special(given([0.5, 1.5, 2.5, -0.5, -1.5])),
    call(real(3), decimals=1),
    special(given([1.25, -1.35]), decimals=1),
)
row("reciprocal", *unary(0.5, 2))
row("sqrt rsqrt log", *unary(0.5, 4), special(given([-1.0, 0.0])))
row("exp expm1 sin cos tanh sigmoid", *unary(), special(given([-100.0, 100.0, 1e-5])))
row("log1p", *unary(-0.5, 2), special(given([-1.0, -2.0, 1e-9])))

row(
    "add sub subtract",
    *binary(-2, 2, 3, 2.5, -1),
    call(real(2, 3), real(3), alpha=2),
    call(real(2, 3), real(2, 3), alpha=-0.5),
    bad=(NOT_BROADCAST, call(real(2), "a"), call(real(2), None)),
)
row(
    "mul multiply",
    *binary(-2, 2, 3, 2.5, True),
    bad=(NOT_BROADCAST, call(real(2), "a"), call(real(2), [1])),
)
row("true_divide", *binary(0.5, 2, 3, 2.5), bad=(NOT_BROADCAST, call(real(2), None)))
row(
    "floor_divide",
    *binary(0.6, 2, 3, 0.75),
    special(given([7.0, -7.0, 7.0, -7.0]), given([2.0, 2.0, -2.0, -2.0])),
    bad=(NOT_BROADCAST, call(given([1, 2]), given([1, 0])), call(given([1, 2]), 0)),
)
row(
    "remainder",
    *binary(0.6, 2, 3, 0.75),
    special(given([7.0, -7.0, 7.0, -7.0]), given([2.0, 2.0, -2.0, -2.0])),
    bad=(NOT_BROADCAST, call(given([1, 2]), given([1, 0]))),
)
row(
    "pow",
    *binary(0.5, 2, 0, 1, 2, 3, 0.5, -1, -2, 2.5),
    special(given([0.0, -2.0, 2.0, 0.0, -1.5]), 3),
    special(given([0.0, 2.0]), 0),
    special(given([0.0, 1.0]), 0.5),
    special(given([0.0, -2.0, 0.0]), given([0.0, 2.0, -1.0])),
    bad=(NOT_BROADCAST, call(given([1, 2]), -1)),
)
row(
    "maximum minimum",
    *binary(),
    special(given([1.0, 2.0, 3.0]), given([1.0, 3.0, 2.0])),
    bad=(NOT_BROADCAST, call(real(2), 1.0)),
)
row(
    "where",
    call(mask(2, 3), real(2, 3), real(2, 3)),
    call(mask(3), real(2, 3), real(2, 1)),
    call(mask(2, 3), real(), 2.0),
    call(mask(2, 3), 1.0, real(3)),
    call(mask(3), 1, real(3)),
    call(mask(2, 0), real(1), real(1)),
    call(mask(), real(2), real(2)),
    bad=(call(real(2), real(2), real(2)), call(mask(2), real(3), real(3))),
)
row("Tensor.where", call(real(2, 3), mask(2, 3), real(2, 3)), call(real(2, 3), mask(3), 2.0))

# --- comparison and logic -------------------------------------------------------------------------

TIES = special(given([1.0, 2.0, 3.0]), given([1.0, 3.0, 2.0]))
row(
    "eq ne not_equal lt less le less_equal gt greater ge greater_equal",
    *binary(-2, 2, 1, 0.5, True),
    TIES,
    bad=(NOT_BROADCAST,),
)
WHOLE = (
    call(given([12, 5, -3, 0]), given([10, 3, 6, -1])),
    call(given([[1], [2]]), given([3, 5])),
    call(given(6), given(3)),
    call(mask(3), given([True, True, False])),
    call(given([1, 2]), 3),
    call(mask(4), True),
    call(given([1, 2]), mask(2)),
    call(given([3, 5], "uint8"), given([-1, 6], "int8")),
)
row(
    "bitwise_and bitwise_or bitwise_xor",
    *WHOLE,
    bad=(call(real(2), real(2)), call(given([1]), 1.5), call(given([1, 2]), given([1, 2, 3]))),
)
row(
    "bitwise_not",
    call(given([0, 1, -5])),
    call(mask(3)),
    call(given([1, 200], "uint8")),
    call(given(3)),
    bad=(call(real(2)),),
)
row(
    "logical_and logical_or",
    *binary(),
    special(given([0.0, 0.0, 1.0]), given([0.0, 2.0, 0.0])),
    bad=(NOT_BROADCAST,),
)
row("logical_not isnan isinf isfinite", *unary())
CLOSE = (
    call(real(2, 3), real(2, 3)),
    call(real(2, 3), real(3)),
    special(given([1.0, 1.0 + 1e-6, math.nan, math.inf]), given([1.0, 1.0, math.nan, math.inf])),
    special(given([1.0, math.nan]), given([1.05, math.nan]), rtol=0.1, equal_nan=True),
)
row(
    "isclose",
    *CLOSE,
    call(real(2), real(2), 0.5, 0.5),
    bad=(NOT_BROADCAST, call(real(2), given([1, 2]))),
)

row("allclose", *CLOSE, bad=(NOT_BROADCAST, call(real(2), given([1, 2]))))
row(
    "equal",
    call(real(2, 3), real(2, 3)),
    call(real(2), real(3)),
    TIES,
    special(given([1.0, 2.0]), given([1.0, 2.0])),
    call(real(0), real(0)),
)

# --- reductions -----------------------------------------------------------------------------------

OVER = ({}, {"dim": 0}, {"dim": -1}, {"dim": 1, "keepdim": True})
SEVERAL = ({"dim": (0, 2)}, {"dim": (-1, 0), "keepdim": True})
NO_DIM = (call(real(2, 3), 2), call(real(2, 3), -3), call(real(), 1), call(real(2), "a"))
TWICE = (call(real(2, 3), (0, 0)), call(real(2, 3), (0, -2)))


def reduced(
    *over: dict[str, Any], low: float = -2.0, high: float = 2.0, empty: bool = True
) -> tuple[Call, ...]:
    """Calls f(x, **over) over shapes; of the empty ones only where `empty`."""
    shapes = [(2, 3, 4), *([(2, 0, 3)] if empty else [])]
    return (
        *(call(real(*s, low=low, high=high), **o) for s in shapes for o in over),
        *(call(real(low=low, high=high), **o) for o in over if o in ({}, {"dim": 0}, {"dim": -1})),
        *([call(real(0))] if empty and {} in over else []),
    )


row(
    "sum mean",
    *reduced(*OVER, *SEVERAL),
    call(real(2, 3), ()),
    call(real(2, 3), [0]),
    call(real(2, 3), dtype=Own("float64")),
    call(real(2, 3), 1, True),
    call(given([1, 2]), dtype=Own("float32")),
    bad=(*NO_DIM, *TWICE),
)
row(
    "prod",
    *reduced(*OVER),
    call(real(2, 3), 1, dtype=Own("float64")),
    special(given([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 5.0, 6.0]])),
    special(given([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 5.0, 6.0]]), 1),
    bad=NO_DIM,
)
row(
    "var std",
    *reduced(*OVER, *SEVERAL, empty=False),
    call(real(4), False),
    call(real(2, 3), 0, False),
    call(real(2, 3), 1, True, True),
    call(real(5), correction=2),
    call(real(5), dim=0, correction=0),
    call(real(5), unbiased=False),
    bad=(*NO_DIM[:3], *TWICE),
)
row(
    "amax amin",
    *reduced(*OVER, *SEVERAL, empty=False),
    call(real(2, 0, 3), 0),
    call(real(2, 3), ()),
    special(given([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), 1),
    special(given([3.0, 1.0, 3.0])),
    special(given([1.0, math.nan])),
    bad=(*NO_DIM[:3], *TWICE, call(real(2, 0)), call(real(2, 0), 1)),
)
row(
    "max min",
    *reduced(*OVER, empty=False),
    call(real(2, 0, 3), 0),
    call(real(2, 3), real(3)),
    call(real(2, 3), 1, True),
    special(given([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), 1),
    special(given([3.0, 1.0, 3.0])),
    special(given([1.0, math.nan, 5.0]), 0),
    special(given([2.0, 2.0]), given([2.0, 1.0])),
    bad=(*NO_DIM[:3], call(real(0)), call(real(2, 0), 1), call(real(2, 3), (0, 1))),
)
row(
    "argmax argmin",
    *reduced(*OVER, empty=False),
    call(real(2, 0, 3), 0),
    call(real(2, 3), keepdim=True),
    special(given([1.0, 3.0, 3.0, 1.0])),
    special(given([1.0, math.nan, 5.0])),
    bad=(*NO_DIM[:3], call(real(0)), call(real(2, 0), 1)),
)
row(
    "any all",
    *reduced(*OVER, *SEVERAL),
    call(mask(2, 3)),
    call(mask(2, 3), 1),
    special(given([0.0, math.nan])),
    call(given([0, 0])),
    bad=NO_DIM[:3],
)
row(
    "logsumexp",
    *reduced(*OVER[1:], *SEVERAL),
    special(given([1000.0, 1000.0]), 0),
    special(given([-math.inf, -math.inf]), 0),
    special(given([math.inf, 1.0]), 0),
    bad=NO_DIM[:3],
)
row(
    "softmax log_softmax",
    *reduced(*OVER[1:3]),
    call(real(2, 3), 1, dtype=Own("float64")),
    special(given([1000.0, -1000.0, 0.0]), 0),
    bad=NO_DIM[:3],
)

# --- indexing -------------------------------------------------------------------------------------

row(
    "gather",
    call(real(3, 4), 1, places(3, 2, below=4)),
    call(real(3, 4), 0, places(2, 4, below=3)),
    call(real(5), -1, places(3, below=5)),
    call(real(), 0, given(0)),
    call(real(2, 3), 0, places(0, 3, below=2)),
    bad=(
        call(real(3, 4), 1, given([[4]])),
        call(real(3, 4), 1, given([[0.5]])),
        call(real(3, 4), 1, given([0])),
        call(real(3, 4), 2, given([[0]])),
        call(real(3, 4), 1, given([[-1]])),
        call(real(2, 3), 1, places(3, 2, below=3)),
    ),
)
row(
    "scatter_add",
    call(real(3, 4), 1, places(3, 2, below=4), real(3, 2)),
    call(real(3, 4), 0, places(2, 4, below=3), real(3, 4, fixed=True)),
    call(real(5), 0, given([1, 1, 3]), real(3)),
    call(real(3), 0, places(0, below=3), real(0)),
    bad=(
        call(real(3), 0, given([3]), real(1)),
        call(real(3), 0, given([1, 2]), real(1)),
        call(real(3, 3), 0, given([1]), real(1)),
    ),
)
row(
    "index_select",
    call(real(3, 4), 1, given([3, 0, 0])),
    call(real(3, 4), -2, given([2])),
    call(real(3), 0, given(1)),
    call(real(3, 4), 0, places(0, below=3)),
    call(real(), 0, given([0])),
    call(real(3), 0, given([1, 2], "int32")),
    bad=(
        call(real(3), 0, given([3])),
        call(real(3), 0, given([-1])),
        call(real(3), 0, given([0.5])),
        call(real(3), 1, given([0])),
        call(real(3, 3), 0, given([[0]])),
    ),
)
row(
    "index_add",
    call(real(3, 4), 1, given([3, 0, 0]), real(3, 3)),
    call(real(3, 4), 0, given([1, 1]), real(2, 4)),
    call(real(3), 0, given([0, 2]), real(2), alpha=2),
    call(real(3), 0, places(0, below=3), real(0)),
    bad=(
        call(real(3), 0, given([3]), real(1)),
        call(real(3), 0, given([0, 1]), real(1)),
        call(real(3, 2), 0, given([0]), real(2, 2)),
    ),
)
row(
    "masked_fill",
    call(real(2, 3), mask(2, 3), 7.0),
    call(real(2, 3), mask(3), 0),
    call(real(), mask(), 1.5),
    call(real(2, 0), mask(2, 0), 1),
    call(real(2, 3), mask(2, 1), -math.inf),
    bad=(call(real(2), real(2), 0), call(real(2), mask(3), 0), call(real(2), mask(2), "a")),
)
row(
    "masked_select",
    call(real(2, 3), mask(2, 3)),
    call(real(2, 3), mask(3)),
    call(real(2, 0), mask(2, 0)),
    call(real(), mask()),
    bad=(call(real(2), real(2)), call(real(2), mask(3))),
    syncs=True,
)
row(
    "nonzero",
    call(given([[0, 1, 2], [3, 0, 0]])),
    call(mask(4)),
    call(real(2, 3)),
    call(given(3)),
    call(given(0)),
    call(real(2, 0)),
    call(given([[0, 1], [2, 0]]), as_tuple=True),
    call(given(5), as_tuple=True),
    syncs=True,
)

# --- views and shapes -----------------------------------------------------------------------------

row(
    "view Tensor.reshape",
    call(real(2, 3), 3, 2),
    call(real(2, 3), (6,)),
    call(real(2, 3), -1),
    call(real(2, 3), 3, -1),
    call(real(), 1, 1),
    call(real(1), ()),
    call(real(2, 0), 0, 5),
    call(real(2, 0), (3, 0, 2)),
    call(real(2, 3), [1, 2, 1, 3]),
    bad=(
        call(real(2, 3), 4),
        call(real(2, 3), -1, -1),
        call(real(2, 3), -1, 4),
        call(real(2, 3), -2, 3),
        call(real(2, 0), -1, 0),
    ),
)
row(
    "reshape",
    call(real(2, 3), (3, 2)),
    call(real(2, 3), (-1,)),
    call(real(), (1, 1)),
    call(real(2, 0), [0, 5]),
    bad=(call(real(2, 3), (4,)), call(real(2, 3), 3, 2), call(real(2, 3), (-1, -1))),
)
row(
    "flatten",
    call(real(2, 3, 4)),
    call(real(2, 3, 4), 1),
    call(real(2, 3, 4), 0, 1),
    call(real(2, 3, 4), 1, 1),
    call(real()),
    call(real(2, 0, 3), 1),
    bad=(call(real(2, 3), 1, 0), call(real(2, 3), 2)),
)
row(
    "permute",
    call(real(2, 3, 4), (2, 0, 1)),
    call(real(2, 3), (-1, 0)),
    call(real(), ()),
    call(real(2, 0, 3), (1, 2, 0)),
    bad=(call(real(2, 3), (0,)), call(real(2, 3), (0, 0)), call(real(2, 3), (0, 2))),
)
row(
    "transpose swapaxes",
    call(real(2, 3), 0, 1),
    call(real(2, 3, 4), -1, 0),
    call(real(2, 3), 1, 1),
    call(real(), 0, 0),
    call(real(3, 0), 0, 1),
    bad=(call(real(2, 3), 0, 2), call(real(), 0, 1)),
)
row(
    "t", call(real(2, 3)), call(real(3)), call(real()), call(real(0, 2)), bad=(call(real(2, 3, 4)),)
)
row(
    "select",
    call(real(2, 3), 0, 1),
    call(real(2, 3), 1, -1),
    call(real(2, 3, 4), -2, 0),
    bad=(
        call(real(2, 3), 0, 2),
        call(real(2, 3), 2, 0),
        call(real(), 0, 0),
        call(real(2, 3), 0, -3),
    ),
)
row(
    "narrow",
    call(real(5), 0, 1, 3),
    call(real(2, 5), 1, -2, 2),
    call(real(2, 5), -1, 0, 0),
    call(real(3), 0, 3, 0),
    bad=(
        call(real(5), 0, 3, 3),
        call(real(5), 0, 6, 0),
        call(real(), 0, 0, 1),
        call(real(5), 0, 1, -1),
        call(real(5), 1, 0, 1),
    ),
)
row(
    "unsqueeze",
    call(real(3), 0),
    call(real(3), 1),
    call(real(3), -1),
    call(real(2, 3), -2),
    call(real(), 0),
    call(real(2, 0), 1),
    bad=(call(real(3), 2), call(real(3), -3)),
)
row(
    "squeeze",
    call(real(1, 2, 1)),
    call(real(1, 2, 1), 0),
    call(real(1, 2, 1), 1),
    call(real(1, 2, 1), (0, -1)),
    call(real()),
    call(real(), 0),
    call(real(0, 1)),
    bad=(call(real(1, 2), 2), call(real(1, 2), (0, 0))),
)
row(
    "split",
    call(real(5), 2),
    call(real(2, 5), 3, 1),
    call(real(5), [1, 4]),
    call(real(5), (2, 0, 3)),
    call(real(0), 2),
    call(real(4), 4),
    call(real(3), 5),
    bad=(
        call(real(5), 0),
        call(real(5), [1, 2]),
        call(real(5), -1),
        call(real(5), 2, 1),
        call(real(), 1),
        call(real(5), [-1, 6]),
    ),
)
row(
    "chunk",
    call(real(5), 2),
    call(real(2, 5), 3, 1),
    call(real(4), 2),
    call(real(3), 5),
    call(real(0), 2),
    bad=(call(real(5), 0), call(real(5), 2, 1), call(real(), 1)),
)
row(
    "unbind",
    call(real(3)),
    call(real(2, 3), 1),
    call(real(2, 0), 1),
    call(real(0, 2)),
    bad=(call(real()), call(real(2), 1)),
)
row(
    "expand broadcast_to",
    call(real(3), (2, 3)),
    call(real(2, 1), (2, 4)),
    call(real(), (2, 2)),
    call(real(1, 3), (-1, 3)),
    call(real(1), (0,)),
    call(real(3), (3,)),
    call(real(1, 1), (2, 1)),
    bad=(
        call(real(3), (2,)),
        call(real(2, 3), (3,)),
        call(real(3), (-1, 3)),
        call(real(3), (2, 4)),
        call(real(1), (-2,)),
    ),
)
row(
    "expand_as",
    call(real(3), real(2, 3, fixed=True)),
    call(real(2, 1), real(2, 4, fixed=True)),
    bad=(call(real(3), real(2)),),
)
row(
    "view_as reshape_as",
    call(real(2, 3), real(3, 2, fixed=True)),
    call(real(1), real(fixed=True)),
    bad=(call(real(3), real(2)),),
)
row(
    "broadcast_tensors",
    call(real(3), real(2, 1)),
    call(real(), real(2, 3), real(1, 3)),
    call(real(2, 3), real(2, 3)),
    bad=(call(real(2), real(3)),),
)
row(
    "unfold",
    call(real(5), 0, 3, 1),
    call(real(5), 0, 2, 2),
    call(real(2, 6), -1, 2, 3),
    call(real(2, 6), 0, 1, 1),
    call(real(), 0, 1, 1),
    call(real(4), 0, 0, 1),
    bad=(
        call(real(5), 0, 6, 1),
        call(real(5), 0, 2, 0),
        call(real(5), 1, 1, 1),
        call(real(5), 0, -1, 1),
    ),
)
row(
    "as_strided",
    call(real(6), (2, 2), (1, 2)),
    call(real(2, 3), (3,), (2,), 1),
    call(real(6), (), ()),
    call(real(6), (3, 2), (1, 1)),
    call(real(6), (2, 3), (0, 1)),
    call(real(6), (0, 2), (1, 1)),
    bad=(
        call(real(6), (7,), (1,)),
        call(real(6), (2,), (1, 1)),
        call(real(6), (2,), (-1,)),
        call(real(6), (2,), (1,), -1),
    ),
)
row(
    "cat",
    call([real(2, 3), real(2, 3)]),
    call([real(2, 3), real(2, 1)], 1),
    call([real(2), real(0)]),
    call([real(2)]),
    call([real(2, 3), given([[1, 2, 3]])]),
    call([real(0, 2), real(3, 2)], -2),
    call((real(1), real(2), real(3))),
    bad=(
        call([]),
        call([real(2, 3), real(3, 2)]),
        call([real(), real()]),
        call([real(2), real(2)], 1),
        call([real(2), 1.0]),
        call([real(2, 3), real(2)]),
    ),
)
row(
    "stack",
    call([real(2, 3), real(2, 3)]),
    call([real(2), real(2)], 1),
    call([real(), real(), real()]),
    call([real(2), real(2)], -1),
    call([real(0, 2), real(0, 2)], 1),
    call([real(2), given([1, 2])]),
    bad=(call([]), call([real(2), real(3)]), call([real(2), real(2)], 2), call([real(2), 1.0])),
)
row(
    "repeat",
    call(real(2), 2, 2),
    call(real(2, 3), (1, 2)),
    call(real(), 3),
    call(real(2), 0),
    call(real(2, 1), 2, 1, 3),
    call(real(), ()),
    bad=(call(real(2, 3), 2), call(real(2), -1)),
)
row("T", call(real(2, 3)), call(real(0, 2)))
row("mT", call(real(2, 3)), call(real(2, 3, 4)), call(real()), bad=(call(real(3)),))

# --- matrices -------------------------------------------------------------------------------------

row(
    "mm",
    call(real(2, 3), real(3, 4)),
    call(real(1, 1), real(1, 1)),
    call(real(2, 0), real(0, 3)),
    call(real(0, 2), real(2, 3)),
    bad=(
        call(real(2, 3), real(2, 3)),
        call(real(3), real(3, 2)),
        call(real(2, 2), real(2)),
        call(real(2, 3), given([[1], [2], [3]])),
    ),
)
row(
    "bmm",
    call(real(2, 3, 4), real(2, 4, 2)),
    call(real(0, 3, 4), real(0, 4, 2)),
    call(real(2, 3, 0), real(2, 0, 2)),
    bad=(
        call(real(2, 3, 4), real(3, 4, 2)),
        call(real(2, 3, 4), real(2, 3, 4)),
        call(real(3, 4), real(4, 2)),
    ),
)
row(
    "mv",
    call(real(2, 3), real(3)),
    call(real(2, 0), real(0)),
    call(real(0, 2), real(2)),
    bad=(call(real(2, 3), real(2)), call(real(3), real(3)), call(real(2, 3), real(3, 1))),
)
row(
    "dot",
    call(real(3), real(3)),
    call(real(0), real(0)),
    bad=(call(real(3), real(2)), call(real(2, 2), real(2, 2)), call(real(2), given([1, 2]))),
)
row(
    "matmul",
    *(
        call(real(*a), real(*b))
        for a, b in (
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((2, 2, 3), (3, 4)),
            ((3,), (2, 3, 4)),
            ((2, 2, 3), (3,)),
            ((2, 1, 2, 3), (4, 3, 2)),
            ((2, 3), (5, 3, 1)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 3)),
            ((4, 0, 3), (3, 2)),
        )
    ),
    bad=(
        call(real(), real(2)),
        call(real(2, 3), real(2, 3)),
        call(real(2, 2, 3), real(3, 3, 2)),
        call(real(2), 2.0),
        call(real(3), real(2)),
        call(real(2, 3), real(2)),
    ),
)
row(
    "outer ger",
    call(real(2), real(3)),
    call(real(0), real(3)),
    bad=(call(real(2, 2), real(2)), call(real(), real(2))),
)
row(
    "addmm",
    call(real(2, 4), real(2, 3), real(3, 4)),
    call(real(4), real(2, 3), real(3, 4), beta=2, alpha=-0.5),
    call(real(2, 1), real(2, 3), real(3, 4), beta=0.5),
    bad=(
        call(real(3), real(2, 3), real(3, 4)),
        call(real(2, 4), real(2, 3), real(2, 4)),
        call(real(2, 4), real(3), real(3, 4)),
    ),
)

# --- conversions and copies -----------------------------------------------------------------------

row(
    "clone contiguous",
    *(call(real(*s)) for s in SHAPES),
    call(given([1, 2])),
    call(real(2, 3), memory_format=Own("contiguous_format")),
    call(real(2, 3, 4, 2), memory_format=Own("channels_last")),
    call(real(2, 3, 4), memory_format=Own("preserve_format")),
    bad=(call(real(2, 3), memory_format=Own("channels_last")),),
)
row(
    "half float double byte char short int long bool",
    call(real(2, 3, low=0, high=100)),
    call(given([0, 1, 127])),
    call(mask(3)),
    call(real()),
    call(real(2, 0)),
)
row(
    "to",
    call(real(2, 3), Own("float64")),
    call(real(2, 3), Own("float32")),
    call(real(2), dtype=Own("int64")),
    call(real(2), "cpu"),
    call(real(2), given([1, 2])),
    call(real(2), Own("float32"), copy=True),
    call(real(2, 3), Own("float64"), memory_format=Own("contiguous_format")),
    call(real(2, 3, 4, 2), memory_format=Own("channels_last")),
    call(real(2, 3), "cpu", Own("float64")),
    call(real(2, 3), "cpu", Own("float64"), False, True),
    call(real(2, 3), None, Own("int64")),
    call(real(2, 3), places(2, below=2), True),
    call(real(2, 3)),
    bad=(
        call(real(2), "nowhere"),
        call(real(2), [1]),
        call(real(2), Own("float64"), Own("float32")),
        call(real(2), "cpu", "cpu"),
    ),
)
row(
    "type",
    call(real(2), Own("float64")),
    call(given([1, 2]), Own("float32")),
    call(real(2), "torch.LongTensor"),
    bad=(call(real(2), "torch.NoTensor"), call(real(2), "float32")),
)
row("type_as", call(real(2, low=0), given([1])), call(given([1, 2]), real(2)))
row("Tensor.cpu", call(real(2)))

# --- in place only --------------------------------------------------------------------------------

row(
    "copy_",
    call(real(2, 3), real(2, 3)),
    call(real(2, 3), real(3)),
    call(real(2, 3), real()),
    call(real(2, 3), given([[1, 2, 3]])),
    call(real(), real(1)),
    call(real(2, 0), real(2, 0)),
    call(given([1, 2]), real(2)),
    bad=(
        call(real(2, 3), real(2)),
        call(real(), real(2)),
        call(real(3), real(2, 3)),
        call(real(2), "a"),
    ),
)
row(
    "fill_",
    call(real(2, 3), 2.5),
    call(real(2), real()),
    call(real(), 1),
    call(given([1, 2]), 3),
    call(given([1, 2]), 3.7),
    call(mask(3), 2),
    bad=(call(real(2), real(2)), call(real(2), "a")),
)
row("zero_", *(call(real(*s)) for s in SHAPES), call(given([1, 2])))
row(
    "uniform_ normal_",
    call(real(3, fixed=True)),
    call(real(20, fixed=True)),
    call(real(2, 3, fixed=True), 2, 5),
    call(real(0, fixed=True)),
    bad=(call(given([1, 2])),),
    seeded=True,
    dtypes=False,
)
row(
    "resize_",
    call(real(2, 3, fixed=True), 3),
    call(real(2, 3, fixed=True), 3, 2),
    call(real(4, fixed=True), (2, 2)),
    call(real(4, fixed=True), 0),
    bad=(call(real(2, fixed=True), -1),),
)
row("resize_as_", call(real(2, 3, fixed=True), real(3, fixed=True)))

# --- layers' functions ----------------------------------------------------------------------------

row("nn.functional.relu nn.functional.tanh nn.functional.sigmoid", *unary())
row(
    "nn.functional.softmax nn.functional.log_softmax",
    call(real(2, 3), 1),
    call(real(2, 3, 2), dim=0),
    dtypes=False,
)
row(
    "nn.functional.linear",
    call(real(2, 3), real(4, 3), real(4)),
    call(real(3), real(4, 3)),
    call(real(2, 2, 3), real(1, 3)),
    bad=(call(real(2, 3), real(4, 2)), call(real(2, 3), real(4, 3), real(3))),
    dtypes=False,
)
row(
    "max_pool2d nn.functional.max_pool2d",
    call(real(2, 2, 4, 4), 2),
    call(real(1, 5, 5), (2, 3), 1, 1),
    call(real(1, 1, 5, 5), 2, ceil_mode=True),
    bad=(call(real(1, 1, 2, 2), 3), call(real(1, 1, 4, 4), 2, padding=2)),
    dtypes=False,
)
row("nn.functional.max_pool2d_with_indices", call(real(2, 2, 4, 4), 2), dtypes=False)
row(
    "nn.functional.mse_loss",
    call(real(2, 3), real(2, 3)),
    call(real(3), real(3), reduction="sum"),
    call(real(3), real(3), reduction="none"),
    bad=(call(real(3), real(3), reduction="no"),),
    dtypes=False,
)
row(
    "nn.functional.nll_loss",
    call(real(4, 3), given([0, 2, 1, 1])),
    call(real(4, 3), given([0, 2, 1, 1]), real(3, low=0.5, fixed=True), reduction="sum"),
    call(real(2, 3, 2), places(2, 2, below=3), ignore_index=1),
    bad=(call(real(4, 3), given([0, 2])), call(real(2, 3), given([0, 3]))),
    dtypes=False,
)
row(
    "nn.functional.cross_entropy",
    call(real(4, 3), given([0, 2, 1, 1])),
    call(real(4, 3), given([0, 2, 1, 1]), label_smoothing=0.1),
    call(real(2, 3), real(2, 3, low=0.1, high=1)),
    bad=(call(real(4, 3), given([0, 2])),),
    dtypes=False,
)

# The rows of each further family stand in a file of their own, tests/rows_FAMILY.py.
for _path in sorted(Path(__file__).parent.glob("rows_*.py")):
    importlib.import_module(f"tests.{_path.stem}")
