"""Derivatives of derivatives through every operation, on memory with gaps.

`gradgradcheck` compares, along random directions, what a pass through a pass gives with finite
differences of the first pass. `test_ops` compares first and second derivatives with PyTorch's.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import gradcheck, gradgradcheck

from .parity.both import both
from .parity.calls import Made, aliases, first_order, flat, perform, second_order
from .samples import SAMPLES
from .test_ops import smooth

NAMES = [name for name in SAMPLES if name not in aliases()]


def function_of(made: Made, name: str, form: str) -> Any:
    """The call as a function of `made.leaves`, which gradcheck moves where they are."""

    def function(*leaves: tg.Tensor) -> tuple[tg.Tensor, ...]:
        result = perform(made, name, form)
        if isinstance(result, Exception):
            raise result
        return tuple(r for r in flat(result) if isinstance(r, tg.Tensor) and r.requires_grad)

    return function


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name):
    for call, form, made, result in itertools.islice(smooth(name), 2):
        # Where there is no derivative, or no second one, test_ops wants PyTorch's exception.
        grads = first_order(tg, made, result, create_graph=True)
        if isinstance(grads, Exception):
            continue
        twice = not isinstance(second_order(tg, made, grads), Exception)
        # Not all can be viewed that way; `view` and its like are tried in the plain order.
        made = Made(tg, call, "float64", layout="sliced", grad=True)
        if isinstance(perform(made, name, form), RuntimeError):
            made = Made(tg, call, "float64", grad=True)
        function = function_of(made, name, form)
        options: Any = {"fast_mode": True, "nondet_tol": 1e-12}
        assert gradcheck(function, made.leaves, **options), f"{name}{call}"
        if twice:
            assert gradgradcheck(function, made.leaves, **options), f"{name}{call}"


SMOOTH = {
    "powers": lambda lib, x: (x**3).prod() + (2**x).sum(),
    "quotients": lambda lib, x: (x[0] / x[1]).sum() + x.rsqrt().mean(),
    "matrices": lambda lib, x: (x @ x.t() @ x).sum(),
    "functions": lambda lib, x: (x.tanh() * x.sigmoid() + x.sin().exp() + x.erf()).sum(),
    "softmax": lambda lib, x: (x.softmax(1) * x.log_softmax(0)).sum() + x.logsumexp(1).prod(),
    "views and places": lambda lib, x: (x.t()[1:] * x[:, [2, 0]].t()).sum() + x.cumsum(1).prod(),
    "a change in place": lambda lib, x: changed(x * x).sum(),
    "moments": lambda lib, x: x.var() * x.std(0).sum() + x.norm(),
    "convolution": lambda lib, x: lib.nn.functional.conv2d(
        x.view(1, 1, 2, 3).sin(), x.view(1, 1, 2, 3)[..., :2]
    ).sum(),
    "pooling": lambda lib, x: lib.nn.functional.max_pool2d(x.exp().view(1, 1, 2, 3), 2).sum(),
    "losses": lambda lib, x: (
        lib.nn.functional.cross_entropy(x, lib.tensor([2, 0]))
        + lib.nn.functional.mse_loss(x.exp(), x) * x[0, 0]
    ),
}


def changed(y: Any) -> Any:
    y[0].mul_(y[1].clone())
    y[:, 1] = y[:, 0].clone() ** 2
    return y


@pytest.mark.parametrize("name", SMOOTH)
def test_third_derivatives(name):
    @both
    def program(lib):
        x = lib.tensor([[0.3, 1.2, 0.7], [1.6, 0.5, 0.9]], dtype=lib.float64, requires_grad=True)
        y, seen = SMOOTH[name](lib, x), []
        for order in range(1, 4):
            (g,) = lib.autograd.grad(y, x, create_graph=True)
            seen.append(g.detach().clone())
            y = (g * (x.detach() + order)).sum()
        return seen

    program()


@pytest.mark.parametrize("name", ["relu_", "tanh_", "sigmoid_", "exp_", "sqrt_", "clamp_"])
def test_a_second_pass_over_a_change_of_a_view_that_saved_its_result(name):
    @both
    def program(lib):
        x = lib.tensor([[0.3, 1.2], [1.6, 0.5]], dtype=lib.float64, requires_grad=True)
        y = x * x + 0.5
        arguments = (0.7, 1.5) if name == "clamp_" else ()
        getattr(y[0], name)(*arguments)
        (g,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        return [g, *lib.autograd.grad((g * g).sum(), x)]

    program()
