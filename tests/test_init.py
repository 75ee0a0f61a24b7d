"""Initial values, with PyTorch's numbers for the same seed."""

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn

from . import fake_cuda
from .parity.both import attempt
from .parity.both import both as both_engines

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def both(call):
    """What a call makes of either library, an exception included."""
    results = []
    for lib in (tg, torch):
        try:
            results.append(call(lib))
        except Exception as error:
            results.append(error)
    return results


@pytest.mark.parametrize(
    "fill",
    [
        lambda t, x: t.nn.init.uniform_(x, -1, 2),
        lambda t, x: t.nn.init.normal_(x, 1, 2),
        lambda t, x: t.nn.init.constant_(x, 3),
        lambda t, x: t.nn.init.ones_(x),
        lambda t, x: t.nn.init.zeros_(x),
        lambda t, x: t.nn.init.xavier_uniform_(x, 2),
        lambda t, x: t.nn.init.xavier_normal_(x),
        lambda t, x: t.nn.init.kaiming_uniform_(x, a=5**0.5),
        lambda t, x: t.nn.init.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
        lambda t, x: t.nn.init.kaiming_normal_(x, nonlinearity="tanh"),
    ],
)
@pytest.mark.parametrize("shape", [(3, 5), (4, 2, 3, 3)])
def test_init_fills_with_pytorchs_numbers(fill, shape) -> None:
    found = []
    for lib in (tg, torch):
        lib.manual_seed(3)
        x = lib.zeros(*shape, requires_grad=True)
        assert fill(lib, x) is x
        assert x.is_leaf and x.requires_grad
        found.append(x.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-7)


def test_eye() -> None:
    for shape in ((2, 3), (3, 2)):
        ours, theirs = (lib.nn.init.eye_(lib.ones(*shape)).tolist() for lib in (tg, torch))
        assert ours == theirs


@pytest.mark.parametrize(
    "name",
    ["linear", "conv2d", "conv_transpose1d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"],
)
def test_calculate_gain(name: str) -> None:
    assert nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain(
        "leaky_relu", 0.3
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.init.kaiming_uniform_(t.zeros(3)),
        lambda t: t.nn.init.xavier_normal_(t.tensor(1.0)),
        lambda t: t.nn.init.kaiming_normal_(t.zeros(3, 3), mode="x"),
        lambda t: t.nn.init.calculate_gain("foo"),
        lambda t: t.nn.init.calculate_gain("leaky_relu", "a"),
        lambda t: t.nn.init.calculate_gain("leaky_relu", True),
        lambda t: t.nn.init.eye_(t.zeros(3)),
        lambda t: t.nn.init.uniform_(t.zeros(3).long()),
    ],
)
def test_init_refuses_what_pytorch_refuses(call) -> None:
    ours, theirs = both(call)
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


def test_init_of_nothing_warns() -> None:
    with pytest.warns(UserWarning, match="zero-element"):
        assert nn.init.kaiming_uniform_(tg.zeros(0, 3)).shape == (0, 3)
    with pytest.warns(UserWarning, match="zero-element"):
        assert nn.Linear(0, 2)(tg.zeros(3, 0)).shape == (3, 2)


@pytest.mark.parametrize(
    "name",
    [
        "uniform",
        "normal",
        "eye",
        "orthogonal",
        "xavier_uniform",
        "xavier_normal",
        "kaiming_uniform",
        "kaiming_normal",
    ],
)
def test_the_old_names_of_init(name: str) -> None:
    with pytest.warns(FutureWarning, match=f"{name}_"):
        getattr(nn.init, name)(tg.zeros(2, 3))
    with pytest.warns(FutureWarning, match="constant_"):
        assert nn.init.constant(tg.zeros(2), 3).tolist() == [3.0, 3.0]
    with pytest.warns(FutureWarning, match="sparse_"):
        nn.init.sparse(tg.zeros(2, 2), sparsity=0.5)
    with pytest.warns(FutureWarning, match="dirac_"):
        nn.init.dirac(tg.zeros(1, 1, 1))


def filled(lib, name, shape, dtype="float32", **given):
    """What an initialiser makes of zeros, and the next number of the stream."""
    lib.manual_seed(5)
    x = lib.zeros(shape, dtype=getattr(lib, dtype))
    result = attempt(lambda: getattr(lib.nn.init, name)(x, **given))
    return result, x, lib.rand(1)


def near(x):
    """A tensor without the last bits, in which LAPACKs differ."""
    return x.double().mul(1e4).round().long()


TRUNCATED = [
    {},
    {"mean": 1.0, "std": 2.0, "a": -2.0, "b": 3.0},
    {"a": -0.5, "b": 2.0},
    {"a": 0.3, "b": 0.7},
    {"mean": 5.0},
    {"mean": -3.0, "a": 0.0, "b": 1.0},
    {"a": 3.0, "b": 1.0},
    {"std": 0.0},
    {"a": -float("inf")},
]


@both_engines
def test_truncated_normals(lib):
    return [
        filled(lib, "trunc_normal_", shape, dtype, **given)
        for given in TRUNCATED
        for shape, dtype in (((3,), "float32"), ((5, 4), "float64"), ((0,), "float32"))
    ]


@both_engines
def test_truncated_normals_of_half_precision_and_integers(lib):
    return [
        filled(lib, "trunc_normal_", 6, dtype, a=-1.1, b=0.5)[1] for dtype in ("float16", "int64")
    ]


@pytest.mark.parametrize("lib", [tg, torch], ids=["tg", "torch"])
def test_a_mean_far_from_the_interval_warns(lib) -> None:
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        lib.nn.init.trunc_normal_(lib.zeros(2), mean=4.5)


def test_truncated_normals_keep_their_bounds() -> None:
    for a, b in ((-1.0, 0.5), (1.0, 1.2), (2.0, 9.0)):
        x = nn.init.trunc_normal_(tg.empty(500), a=a, b=b)
        assert a <= x.min().item() and x.max().item() <= b


@both_engines
def test_orthogonal(lib):
    found = []
    for shape in ((3, 5), (5, 3), (4, 4), (4, 2, 3), (1, 6), (0, 3), (3, 0), (3,), ()):
        for dtype in ("float32", "float64"):
            result, x, after = filled(lib, "orthogonal_", shape, dtype, gain=2)
            found.append((result if isinstance(result, str) else 0, near(x), after))
    strided = lib.zeros(4, 3).t()
    return found, near(lib.nn.init.orthogonal_(strided)), strided.stride()


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal_rows_or_columns(shape) -> None:
    w = nn.init.orthogonal_(tg.empty(shape).double(), gain=3).reshape(shape[0], -1)
    w = w if w.shape[0] < w.shape[1] else w.T
    np.testing.assert_allclose((w @ w.T).numpy(), 9 * np.eye(len(w)), atol=1e-12)


@both_engines
def test_orthogonal_refuses_types_without_a_decomposition(lib):
    return [filled(lib, "orthogonal_", (2, 2), dtype)[0] for dtype in ("float16", "int64")]


@both_engines
def test_sparse(lib):
    return [
        filled(lib, "sparse_", shape, sparsity=share, std=2.0)
        for share in (0.0, 0.34, 1.0, 2.0, -1.0)
        for shape in ((6, 3), (1, 4), (0, 3), (3, 0), (3,))
    ]


@both_engines
def test_dirac(lib):
    return [
        filled(lib, "dirac_", shape, dtype, groups=groups)
        for dtype in ("float32", "int64")
        for groups in (1, 2, 3)
        for shape in ((4, 2, 3), (6, 4, 2, 3), (2, 3, 1, 2, 3), (0, 2, 2), (2, 2), (1,) * 6)
    ]


def test_dirac_hands_channels_through() -> None:
    conv = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
    nn.init.dirac_(conv.weight, groups=2)
    x = tg.randn(1, 4, 5, 5)
    assert tg.equal(conv(x), x)


DRAWING = "uniform_ normal_ trunc_normal_ xavier_uniform_ xavier_normal_ kaiming_uniform_"
DRAWING += " kaiming_normal_ orthogonal_"


@both_engines
def test_a_generator_of_ones_own(lib):
    generator, found = lib.Generator(), []
    lib.manual_seed(0)
    for name in DRAWING.split():
        generator.manual_seed(3)
        x = getattr(lib.nn.init, name)(lib.zeros(3, 2), generator=generator)
        found.append((near(x), lib.rand(1, generator=generator)))
    generator.manual_seed(3)
    sparse = lib.nn.init.sparse_(lib.zeros(4, 2), 0.5, generator=generator)
    return found, sparse, lib.rand(1)  # the default one has given sparse_ its places


@both_engines
def test_sizes_of_fans(lib):
    fans = lib.nn.init._calculate_fan_in_and_fan_out
    return fans(lib.zeros(3, 5)), fans(lib.zeros(2, 3, 4, 5)), attempt(lambda: fans(lib.zeros(3)))


# --- on a device ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, given",
    [
        ("uniform_", {}),
        ("normal_", {}),
        ("constant_", {"val": 3}),
        ("eye_", {}),
        ("trunc_normal_", {"a": -0.5, "b": 0.5}),
        ("trunc_normal_", {"a": -0.1, "b": 0.1}),
        ("xavier_uniform_", {}),
        ("kaiming_normal_", {}),
        ("orthogonal_", {}),
        ("sparse_", {"sparsity": 0.5}),
    ],
)
def test_the_numbers_do_not_depend_on_the_device(name, given) -> None:
    here = filled(tg, name, (3, 4), **given)[1]
    with fake_cuda.pretended():
        tg.manual_seed(5)
        there = getattr(nn.init, name)(tg.zeros(3, 4, device="cuda"), **given)
        assert there.is_cuda
        np.testing.assert_allclose(there.cpu().numpy(), here.numpy(), rtol=1e-5, atol=1e-6)
