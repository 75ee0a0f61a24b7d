"""Initial values, with PyTorch's numbers for the same seed."""

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn

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
