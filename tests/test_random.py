"""The random stream against PyTorch's: the same numbers, and the same number of words drawn."""

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import random as tg_random
from tinygrad_course.random import Generator, generator

SIZES = [*range(41), 100, 1000, 10007]
FLOATS = ["float32", "float64", "float16"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


def pair(torch, seed):
    """Our generator and PyTorch's, seeded alike."""
    theirs = torch.Generator()
    theirs.manual_seed(seed)
    return Generator().manual_seed(seed), theirs


def assert_same_state(ours, theirs):
    """Equal key, position and waiting normal: both have drawn equally many words."""
    a, b = ours.get_state().numpy(), theirs.get_state().numpy()
    a, b = a.view(generator._STATE)[0], b.view(generator._STATE)[0]
    assert (a["key"] == b["key"]).all()
    assert a["left"] == b["left"]
    assert a["has_normal"] == b["has_normal"]
    if a["has_normal"]:
        assert a["normal"] == pytest.approx(float(b["normal"]), rel=1e-15)


def assert_close(ours, theirs, ulps, scale=0.0):
    """Equal to `ulps` units in the last place of the larger of |value| and `scale`."""
    theirs = theirs.numpy()
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    unit = np.spacing(np.maximum(np.abs(theirs), theirs.dtype.type(scale)))
    assert (np.abs(ours.astype(np.float64) - theirs) <= ulps * unit.astype(np.float64)).all()


# ---------------------------------------------------------------- values


def test_words_are_the_mersenne_twister():
    # The first two outputs of Matsumoto and Nishimura's reference program for its default seed.
    assert Generator().manual_seed(5489).words(2).tolist() == [3499211612, 581869302]
    assert Generator().manual_seed(5489).double_words(1).tolist() == [3499211612 << 32 | 581869302]


@pytest.mark.parametrize("dtype", FLOATS)
def test_rand(torch, dtype):
    ours, theirs = pair(torch, 3)
    for n in SIZES:
        x = tg_random.uniform(ours, (n,), dtype)
        assert_close(x, torch.rand(n, dtype=getattr(torch, dtype), generator=theirs), 0)
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("bounds", [(-1, 1), (-0.3, 0.7), (2.1, 9.9), (-1e-3, 1e3), (1, 1.0000001)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_bounds(torch, dtype, bounds):
    ours, theirs = pair(torch, 11)
    x = tg_random.uniform(ours, (100, 101), dtype, *bounds)
    y = torch.empty(100, 101, dtype=getattr(torch, dtype)).uniform_(*bounds, generator=theirs)
    # float64 has no wider type in which NumPy could multiply and add with a single rounding.
    assert_close(x, y, 1 if dtype == "float64" else 0, scale=abs(bounds[0]))
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("mean, std", [(0.0, 1.0), (0.3, 1.7), (-40.0, 0.01), (1.0, 0.0)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_normal(torch, dtype, mean, std):
    ours, theirs = pair(torch, 5)
    for n in SIZES:
        x = tg_random.normal(ours, (n,), dtype, mean, std)
        y = torch.empty(n, dtype=getattr(torch, dtype)).normal_(mean, std, generator=theirs)
        # PyTorch's vectorised log, sin and cos differ from NumPy's in the last bits of float32.
        assert_close(x, y, {"float32": 4, "float64": 2, "float16": 1}[dtype], scale=abs(mean) + std)
    assert_same_state(ours, theirs)


@pytest.mark.parametrize(
    "low, high",
    [
        *[(0, 1), (0, 2), (-5, 7), (0, 2**28 - 1), (0, 2**28), (3, 2**32 + 3)],
        *[(-(2**40), 2**41), (0, 2**63 - 1), (-(2**63), 2**63 - 1)],
    ],
)
def test_randint(torch, low, high):
    ours, theirs = pair(torch, 17)
    for shape in [(0,), (1,), (7, 11), (1000,)]:
        x = tg_random.randint(ours, low, high, shape)
        y = torch.randint(low, high, shape, generator=theirs).numpy()
        assert x.dtype == y.dtype and x.shape == y.shape and (x == y).all()
    assert_same_state(ours, theirs)


def test_randperm(torch):
    ours, theirs = pair(torch, 23)
    for n in SIZES:
        assert tg_random.randperm(ours, n).tolist() == torch.randperm(n, generator=theirs).tolist()
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_of_an_array(torch, dtype):
    ours, theirs = pair(torch, 29)
    for n in SIZES:
        p = np.linspace(0, 1, n).astype(dtype)
        x = tg_random.bernoulli(ours, p)
        assert (x == torch.bernoulli(torch.from_numpy(p), generator=theirs).numpy()).all()
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("p", [0, 0.3, 0.5, 1])
def test_bernoulli_of_a_number(torch, p):
    ours, theirs = pair(torch, 31)
    for n in SIZES:
        x = tg_random.bernoulli(ours, p, (n,))
        assert (x == torch.empty(n).bernoulli_(p, generator=theirs).numpy()).all()
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponential(torch, dtype):
    ours, theirs = pair(torch, 37)
    for n in SIZES:
        x = tg_random.exponential(ours, (n,), dtype, 1.5)
        y = torch.empty(n, dtype=getattr(torch, dtype)).exponential_(1.5, generator=theirs)
        assert_close(x, y, 2)  # two logarithms, each within 1 ulp
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial(torch, dtype, replacement):
    ours, theirs = pair(torch, 41)
    weights = np.random.RandomState(0).rand(3, 50).astype(dtype)
    for w in (weights, weights[0]):
        for n in (1, 2, 50):
            x = tg_random.multinomial(ours, w, n, replacement)
            y = torch.multinomial(torch.from_numpy(w), n, replacement, generator=theirs)
            assert x.tolist() == y.tolist()
    assert_same_state(ours, theirs)


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "bool", "float16", "float32", "float64"]
)
def test_random(torch, dtype):
    ours, theirs = pair(torch, 43)
    x = tg_random.random(ours, (10, 100), dtype)
    y = torch.empty(10, 100, dtype=getattr(torch, dtype)).random_(generator=theirs)
    assert x.dtype == dtype and (x == y.numpy()).all()
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_continuous_distributions(torch, dtype):
    ours, theirs = pair(torch, 53)
    for n in SIZES:
        for draw, fill, parameters in (
            (tg_random.cauchy, "cauchy_", (0.5, 2.0)),
            (tg_random.log_normal, "log_normal_", (-0.5, 0.7)),
        ):
            x = draw(ours, (n,), dtype, *parameters)
            y = torch.empty(n, dtype=getattr(torch, dtype))
            y = getattr(y, fill)(*parameters, generator=theirs)
            # The tangent near its pole magnifies the last bit of its argument.
            assert_close(x, y, 1 if dtype != "float64" else 2000, scale=1.0)
    assert_same_state(ours, theirs)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int16", "int64"])
def test_geometric(torch, dtype, p):
    ours, theirs = pair(torch, 59)
    for n in SIZES:
        x = tg_random.geometric(ours, (n,), dtype, p)
        y = torch.empty(n, dtype=getattr(torch, dtype)).geometric_(p, generator=theirs)
        assert x.dtype == dtype and (x == y.numpy()).all()
    assert_same_state(ours, theirs)


BOUNDS = [(0, 1), (0, 2), (-3, 5), (0, 256), (5, None), (-(2**31), 2**31), (0, 2**40), (7, 10**6)]
BOUNDS += [(-(2**63), None), (100, 2**24 + 7), (-(2**25) - 3, 2**25 + 3), (-(2**12) - 1, 2**12 + 1)]


@pytest.mark.filterwarnings("ignore:(from|to|to - 1) is out of bounds")
@pytest.mark.parametrize("low, high", BOUNDS)
@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "bool", "float16", "float32", "float64"]
)
def test_random_between_bounds(torch, dtype, low, high):
    ours, theirs = pair(torch, 61)
    y = torch.empty(3, 50, dtype=getattr(torch, dtype))
    try:
        y.random_(low, high, generator=theirs)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            tg_random.randint(ours, low, high, (3, 50), dtype)
    else:
        x = tg_random.randint(ours, low, high, (3, 50), dtype)
        assert x.dtype == dtype and (x == y.numpy()).all()
    assert_same_state(ours, theirs)


def test_multinomial_of_weights_in_another_order(torch):
    ours, theirs = pair(torch, 67)
    w = np.random.RandomState(0).rand(5, 3).T
    for weights in (w, w[:, ::2], np.asfortranarray(w)):
        x = tg_random.multinomial(ours, weights, 2)
        y = torch.multinomial(torch.from_numpy(weights), 2, generator=theirs)
        assert x.tolist() == y.tolist()
    assert_same_state(ours, theirs)


# ---------------------------------------------------------------- in place, whatever the strides


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fill", ["uniform_", "normal_", "cauchy_", "log_normal_"])
def test_in_place_fills_in_memory_order(torch, fill, dtype):
    windows = [
        lambda x: x,
        lambda x: x.transpose(0, 2),
        lambda x: x[:, ::2],
        lambda x: x[1:, :, :3].transpose(1, 2),
        lambda x: x[0, 0],
        lambda x: x[:, 0, 0],
        lambda x: x[:0],
    ]
    ours, theirs = pair(torch, 47)
    for window in windows:
        x = tg.zeros(3, 4, 5, dtype=getattr(tg, dtype))
        y = torch.zeros(3, 4, 5, dtype=getattr(torch, dtype))
        getattr(window(x), fill)(0.5, 1.0, generator=ours)
        getattr(window(y), fill)(0.5, 1.0, generator=theirs)
        assert_close(x.numpy(), y, 4, scale=0.5)
    assert_same_state(ours, theirs)


# ---------------------------------------------------------------- the state between calls


@pytest.mark.parametrize("seed", range(5))
def test_mixed_calls_stay_in_step(torch, seed):
    """Any sequence of calls leaves equal states, and each side continues from the other's."""
    script = np.random.RandomState(seed)
    ours, theirs = pair(torch, seed)
    for _ in range(150):
        n, dtype = int(script.choice(SIZES)), str(script.choice(FLOATS))
        torch_dtype = getattr(torch, dtype)
        match script.randint(8):
            case 0:
                tg_random.uniform(ours, (n,), dtype)
                torch.rand(n, dtype=torch_dtype, generator=theirs)
            case 1 | 2 | 3:
                tg_random.normal(ours, (n,), dtype)
                torch.randn(n, dtype=torch_dtype, generator=theirs)
            case 4:
                tg_random.randint(ours, 0, 10 ** (n % 12 + 1), (n,))
                torch.randint(0, 10 ** (n % 12 + 1), (n,), generator=theirs)
            case 5:
                tg_random.randperm(ours, n)
                torch.randperm(n, generator=theirs)
            case 6:
                tg.zeros(n, 2, dtype=getattr(tg, dtype)).t().normal_(generator=ours)
                torch.zeros(n, 2, dtype=torch_dtype).t().normal_(generator=theirs)
            case 7:
                a, b = ours.get_state(), theirs.get_state()
                theirs.set_state(torch.from_numpy(a.numpy()))
                ours.set_state(b)
        assert_same_state(ours, theirs)


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32 + 5, 2**64 - 1, -1, -(2**63)])
def test_seeds(torch, seed):
    ours, theirs = pair(torch, seed)
    assert ours.initial_seed() == theirs.initial_seed()
    assert tg_random.uniform(ours, (3,)).tolist() == torch.rand(3, generator=theirs).tolist()


def test_a_new_generator_has_pytorch_s_seed(torch):
    assert Generator().initial_seed() == torch.Generator().initial_seed()


def test_state_round_trip_keeps_the_waiting_normal():
    gen = Generator().manual_seed(0)
    tg_random.normal(gen, (3,))
    state = gen.get_state()
    expected = tg_random.normal(gen, (4,)).tolist()
    assert tg_random.normal(Generator().set_state(state), (4,)).tolist() == expected
    gen.manual_seed(0)
    tg_random.normal(gen, (4,))  # an even count leaves nothing waiting
    assert gen.get_state().tolist() != state.tolist()


def test_seed_starts_a_stream_from_chance():
    gen = Generator()
    seeds = {gen.seed() for _ in range(5)}
    assert len(seeds) == 5 and gen.initial_seed() in seeds
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_the_default_generator_s_functions(torch):
    for lib in (tg, torch):
        assert lib.manual_seed(1.9) is lib.default_generator  # a seed is an int
        assert lib.initial_seed() == 1 == lib.random.initial_seed()
    assert tg.rand(2).tolist() == torch.rand(2).tolist()
    state = tg.get_rng_state()
    assert state.dtype is tg.uint8 and state.shape == torch.get_rng_state().shape
    first = tg.randn(3).tolist()
    tg.set_rng_state(state)
    assert tg.randn(3).tolist() == first
    torch.set_rng_state(torch.from_numpy(state.numpy()))
    assert torch.randint(10, (3,)).tolist() != first
    with tg.random.fork_rng():
        tg.manual_seed(5)
        tg.rand(10)
    tg.set_rng_state(torch.get_rng_state())
    assert tg.rand(3).tolist() == torch.rand(3).tolist()
    assert tg.seed() == tg.initial_seed()
    with pytest.raises(ValueError, match="invalid literal"):
        tg.manual_seed("a")
    with pytest.raises(TypeError, match=r"a tg\.Generator"):
        tg.rand(2, generator=3)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda g: g.manual_seed(1.5), RuntimeError, "float 1.5"),
        (lambda g: g.manual_seed(2**64), ValueError, "64 bits"),
        (lambda g: g.manual_seed(-(2**63) - 1), ValueError, "64 bits"),
        (lambda g: g.set_state(np.zeros(5056)), TypeError, "uint8"),
        (lambda g: g.set_state(np.zeros(3, np.uint8)), RuntimeError, "5056"),
        (lambda g: g.set_state(np.zeros(5056, np.uint8)), RuntimeError, "get_state"),
        (lambda g: tg_random.uniform(g, (3,), "int64"), NotImplementedError, "int64"),
        (lambda g: tg_random.uniform(g, (3,), "float32", 1, 0), RuntimeError, "from=1"),
        (lambda g: tg_random.uniform(g, (3,), "float16", 0, 1e6), RuntimeError, "to = 1000000"),
        (lambda g: tg_random.uniform(g, (3,), "float32", -3e38, 3e38), RuntimeError, "to - from"),
        (lambda g: tg_random.uniform(g, (3,), "float32", np.nan, 1), RuntimeError, "from = nan"),
        (lambda g: tg_random.normal(g, (3,), "int64"), NotImplementedError, "int64"),
        (lambda g: tg_random.normal(g, (3,), "float32", 0, -1), RuntimeError, "std=-1"),
        (lambda g: tg_random.exponential(g, (3,), "float32", 0), RuntimeError, "lambd=0"),
        (lambda g: tg_random.bernoulli(g, np.array([0.5, 1.5])), RuntimeError, "1.5"),
        (lambda g: tg_random.bernoulli(g, np.nan, (2,)), RuntimeError, "nan"),
        (lambda g: tg_random.bernoulli(g, np.array([0, 1])), NotImplementedError, "int64"),
        (lambda g: tg_random.randint(g, 5, 5, (1,)), RuntimeError, "low=5"),
        (lambda g: tg_random.randperm(g, -1), RuntimeError, "n=-1"),
        (lambda g: tg_random.multinomial(g, np.array([1, 1]), 1), RuntimeError, "int64"),
        (lambda g: tg_random.multinomial(g, np.zeros(2), 1), RuntimeError, "zero"),
        (lambda g: tg_random.multinomial(g, np.array([1.0, -1.0]), 1), RuntimeError, "negative"),
        (lambda g: tg_random.multinomial(g, np.ones(2), 3), RuntimeError, "3 of 2"),
        (lambda g: tg_random.multinomial(g, np.ones(2), 0), RuntimeError, "got 0"),
        (lambda g: tg_random.multinomial(g, np.ones((2, 2, 2)), 1), RuntimeError, "rows, n"),
        (lambda g: tg_random.cauchy(g, (3,), "float32", 0, 0), RuntimeError, "sigma=0"),
        (lambda g: tg_random.cauchy(g, (3,), "int64"), RuntimeError, "int64"),
        (lambda g: tg_random.log_normal(g, (3,), "float32", 0, 0), RuntimeError, "std=0"),
        (lambda g: tg_random.log_normal(g, (3,), "int64"), NotImplementedError, "int64"),
        (lambda g: tg_random.geometric(g, (3,), "float32", 1), RuntimeError, "p=1"),
        (lambda g: tg_random.geometric(g, (3,), "bool", 0.5), NotImplementedError, "bool"),
        (lambda g: tg_random.exponential(g, (3,), "int64"), RuntimeError, "int64"),
        (lambda g: Generator("cuda"), RuntimeError, "only the CPU"),
        (lambda g: Generator("toaster"), RuntimeError, "toaster"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call(Generator())


def test_a_refused_call_draws_nothing():
    gen = Generator().manual_seed(1)
    state = gen.get_state()
    with pytest.raises(RuntimeError):
        tg_random.uniform(gen, (3,), "float32", 1, 0)
    with pytest.raises(RuntimeError):
        tg_random.normal(gen, (3,), "float32", 0, -1)
    assert gen.get_state().tolist() == state.tolist()
