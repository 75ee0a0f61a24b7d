"""Dropout in place, in memory of other orders, and over many draws."""

from __future__ import annotations

from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course import nn
from tinygrad_course.nn import functional as F

from .parity.both import attempt, both

# name: the shape of an input
NAMES: dict[str, tuple[int, ...]] = {
    "dropout": (3, 4),
    "alpha_dropout": (3, 4),
    "feature_alpha_dropout": (4, 3, 2),
    "dropout1d": (6, 2),
    "dropout2d": (4, 3, 2, 2),
    "dropout3d": (6, 1, 2, 2),
}


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_inplace_flag(name: str, p: float) -> None:
    @both
    def program(lib):
        lib.manual_seed(2)
        leaf = lib.ones(NAMES[name]).double().cumsum(0).requires_grad_()
        x = leaf * 1
        function = getattr(lib.nn.functional, name)
        y = function(x, p, True, True)
        seen = [y.detach(), x.detach(), *lib.autograd.grad(y.sum(), leaf)]
        if p:
            seen.append(attempt(lambda: function(leaf, p, True, True)))
        return seen

    program()


@pytest.mark.parametrize("name", ["dropout", "feature_dropout", "alpha_dropout"])
def test_in_place_function(name: str) -> None:
    @both
    def program(lib):
        lib.manual_seed(2)
        x = lib.ones(4, 3, 2)
        y = getattr(lib, f"{name}_")(x, 0.4, True)
        return [y is x, x, lib.rand(1)]

    program()


@pytest.mark.parametrize("inplace", [False, True])
def test_layers(inplace: bool) -> None:
    """Which layers work in place, and what evaluation leaves alone."""

    @both
    def program(lib):
        seen, lin = [], lib.nn
        layers = (lin.Dropout, lin.Dropout1d, lin.Dropout2d, lin.Dropout3d)
        for kind in (*layers, lin.AlphaDropout, lin.FeatureAlphaDropout):
            lib.manual_seed(4)
            layer = kind(0.4, inplace)
            x = lib.ones(2, 3, 2, 2) if kind is lin.Dropout2d else lib.ones(5, 3, 2)
            if kind is lin.Dropout3d:
                x = x[:, :, :, None]
            y = layer(x)
            seen += [repr(layer), y is x, y, x, layer.eval()(x) is x]
        return seen

    program()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_masks_follow_the_memory_of_the_input(dtype: str) -> None:
    @both
    def program(lib):
        base, seen = lib.ones(6, 8, dtype=getattr(lib, dtype)), []
        turned = base.view(2, 3, 8).transpose(0, 2)
        for x in (base.t(), base[:, ::2], base[:1].expand(3, 8), turned):
            lib.manual_seed(1)
            seen += [lib.nn.functional.dropout(x, 0.25), lib.rand(1)]
        return seen

    program()


def test_mean_and_variance_stay() -> None:
    tg.manual_seed(0)
    x = tg.randn(200, 500)
    for p in (0.1, 0.5):
        assert abs(F.dropout(x + 1, p).mean().item() - 1) < 0.02
        y = F.alpha_dropout(x, p, True)
        assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.02
        dropped = (F.dropout(tg.ones(200, 500), p) == 0).float().mean().item()
        assert abs(dropped - p) < 0.01


def test_whole_channels() -> None:
    tg.manual_seed(0)
    y = F.dropout2d(tg.ones(8, 16, 3, 3), 0.5)
    means = y.mean((2, 3))
    assert set(means.flatten().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("function", "shape", "text"),
    [
        (F.dropout2d, (2, 3, 4), "assuming that channel-wise 1D"),
        (F.dropout2d, (2, 3), "Received a 2-D input"),
        (F.dropout3d, (2, 3, 4), "Received a 3-D input"),
    ],
)
def test_other_dims_warn(function: Any, shape: tuple[int, ...], text: str) -> None:
    with pytest.warns(UserWarning, match=text):
        function(tg.ones(shape))


def test_evaluation_returns_the_input_itself() -> None:
    x = tg.ones(3)
    assert nn.Dropout().eval()(x) is x
    assert F.dropout(x, 0.0) is x


@both
def test_everything_is_dropped_from_any_number_of_dims(lib: Any) -> Any:
    return [attempt(lambda p=p: lib.feature_dropout(lib.ones(3), p, True)) for p in (0.5, 1.0)]
