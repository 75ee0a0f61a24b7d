"""gradcheck and gradgradcheck: what they accept, what they find, and how they say it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import Function, GradcheckError, gradcheck, gradgradcheck

BOTH_MODES = pytest.mark.parametrize("fast", [False, True], ids=["full", "along directions"])


def point(*shape: int, seed: int = 0) -> tg.Tensor:
    values = 0.5 + np.random.default_rng(seed).random(shape)
    return tg.tensor(values, requires_grad=True)


class WrongSquare(Function):
    """x², with a derivative that is wrong at one element."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gx = 2 * x * g
        gx[1, 2] = gx[1, 2] * 1.5
        return gx


# --- what is right passes -------------------------------------------------------------------------


@BOTH_MODES
def test_right_functions_pass(fast):
    x, y = point(2, 3), point(3, seed=1)
    for function in (
        lambda x, y: x * y,
        lambda x, y: (x.exp() * y).sum(0),
        lambda x, y: (x @ y, y.prod()),
        lambda x, y: x.t()[0],
        lambda x, y: [x.log(), y.sqrt()],
    ):
        assert gradcheck(function, (x, y), fast_mode=fast)
        assert gradgradcheck(function, (x, y), fast_mode=fast)


@BOTH_MODES
def test_inputs_with_gaps_and_computed_inputs(fast):
    base = point(4, 6)
    for x in (point(3, 2).t(), base.detach()[::2, 1::3].requires_grad_(), point(2, 3) * 2):
        assert gradcheck(lambda x: x.tanh() * x, x, fast_mode=fast)
        assert gradgradcheck(
            lambda x: x.tanh() * x, x, gen_non_contig_grad_outputs=True, fast_mode=fast
        )


def test_inputs_come_back_as_they_were():
    x = point(2, 3)
    before = x.tolist()
    gradcheck(lambda x: x.t() * 2, x)
    assert x.tolist() == before and x.grad is None


def test_arguments_that_are_no_tensors_or_need_no_gradient():
    assert gradcheck(lambda x, n, c: x**n * c, (point(2), 3, point(2).detach()))


def test_outputs_that_need_no_gradient_are_left_out():
    assert gradcheck(lambda x: (x * 2, x.argmax()), point(3))


def test_given_weights_of_the_outputs():
    x = point(2)
    weights = tg.tensor([1.0, -2.0], dtype=tg.float64, requires_grad=True)
    assert gradgradcheck(lambda x: x**3, x, weights)
    assert gradgradcheck(lambda x: x**3, [x], [weights])


# --- what is wrong is found -----------------------------------------------------------------------


@BOTH_MODES
def test_the_worst_entry_is_named(fast):
    x = point(2, 3)
    x.data[1, 2] = 1.25
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda n, x: WrongSquare.apply(x), (7, x), fast_mode=fast)
    text = str(caught.value)
    assert "output 0 with respect to input 1" in text and "1 of 36 entries" in text
    assert re.search(r"output 0\[1, 2\] by input 1\[1, 2\], which is 2\.5 .* and 3\.75 ", text)
    assert isinstance(caught.value, RuntimeError)


def test_without_exception():
    assert gradcheck(WrongSquare.apply, point(2, 3), raise_exception=False) is False
    assert gradgradcheck(Cubed.apply, point(2), raise_exception=False) is False


class Cubed(Function):
    """x³, whose backward is right, but hides that it depends on x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x.detach() ** 2 * g


def test_gradgradcheck_finds_what_gradcheck_cannot():
    x = point(2)
    assert gradcheck(Cubed.apply, x)
    with pytest.raises(GradcheckError, match="with respect to input 0"):
        gradgradcheck(Cubed.apply, x)


@BOTH_MODES
def test_a_cut_graph_is_found(fast):
    with pytest.raises(GradcheckError, match=r"expected to be zero.*changes with input 0"):
        gradcheck(lambda x: x.detach() * 2, point(2), fast_mode=fast)


class Unrepeatable(Function):
    passes = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Unrepeatable.passes += 1
        return g * 2 + 1e-7 * Unrepeatable.passes


def test_passes_that_differ():
    with pytest.raises(GradcheckError, match=r"not reentrant.*1e-07"):
        gradcheck(Unrepeatable.apply, point(2))
    assert gradcheck(Unrepeatable.apply, point(2), nondet_tol=1e-5)


class TwoOutputs(Function):
    """2x and 3x; counts a missing gradient of the second output as ones."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        g = tg.zeros(2, dtype=tg.float64) if g is None else g
        return g * 2 + (1 if h is None else h * 3)


def test_outputs_without_gradient_must_count_as_zero():
    with pytest.raises(GradcheckError, match=r"undefined output grads.*output 1"):
        gradcheck(TwoOutputs.apply, point(2))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(TwoOutputs.apply, point(2), check_undefined_grad=False)


def test_nan_is_a_difference():
    x = tg.tensor([0.0, 1.0], dtype=tg.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match=r"input 0\[0\]"):
        gradcheck(lambda x: x.sqrt() * x.sqrt(), x)


# --- what cannot be checked -----------------------------------------------------------------------


def test_some_input_must_require_grad():
    for check in (gradcheck, gradgradcheck):
        with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
            check(lambda x: x * 2, tg.ones(2, dtype=tg.float64))


def test_single_precision_is_warned_of():
    x = tg.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #0 .*float64"):
        gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)


def test_elements_that_share_memory_are_refused():
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda x: x.sum(), point(1, 3).expand(2, 3))


def test_functions_return_tensors():
    with pytest.raises(TypeError, match="returned a float"):
        gradcheck(lambda x: x.sum().item(), point(2))


def test_verdicts_are_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of this test")

    def verdicts(lib):
        class Wrong(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            def backward(ctx, g):
                return ctx.saved_tensors[0].cos() * g * 1.01

        x = lib.tensor([0.3, 0.7], dtype=lib.float64, requires_grad=True)
        functions = [lambda x: x.sin(), Wrong.apply, lambda x: x.detach(), lambda x: x.round()]
        checks = lib.autograd.gradcheck, lib.autograd.gradgradcheck
        return [
            check(function, (x,), raise_exception=False, fast_mode=fast)
            for function in functions
            for check in (checks if function is not functions[2] else checks[:1])
            for fast in (False, True)
        ]

    assert verdicts(tg) == verdicts(torch)
