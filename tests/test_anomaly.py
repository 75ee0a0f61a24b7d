"""Anomaly mode: which line of the forward pass was it?"""

from __future__ import annotations

import linecache
import threading

import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import Function, detect_anomaly, set_detect_anomaly
from tinygrad_course.autograd.watch import watching

from .parity.both import both, refused


def line_in(text: str, marker: str) -> bool:
    """Whether `text` shows this file's line with the comment `marker`, and its number."""
    lines = linecache.getlines(__file__)
    number = next(n for n, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {marker}"))
    return f"line {number}," in text and lines[number - 1].strip() in text


@pytest.fixture(autouse=True)
def off_again():
    yield
    set_detect_anomaly(False)
    assert watching == []


# --- a nan among the gradients --------------------------------------------------------------------


@refused("SqrtBackward0.* returned nan values in its 0th output")
def test_nan_names_the_operation(lib):
    x = lib.tensor([0.0, 4.0], requires_grad=True)
    with lib.autograd.detect_anomaly():
        (x.sqrt() * lib.tensor([0.0, 1.0])).sum().backward()


def test_nan_shows_the_line():
    x = tg.tensor([0.0], requires_grad=True)
    with detect_anomaly(), pytest.raises(RuntimeError) as caught:
        y = x.sqrt()  # the root
        (y * 0).sum().backward()
    assert line_in(str(caught.value), "the root")


@both
def test_nan_may_be_let_through(lib):
    x = lib.tensor([0.0], requires_grad=True)
    with lib.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    return x.grad


@both
def test_without_the_mode_nan_passes(lib):
    x = lib.tensor([0.0], requires_grad=True)
    (x.sqrt() * 0).sum().backward()
    return x.grad


@refused("MulBackward0.* returned nan")
def test_nan_in_a_second_derivative(lib):
    x = lib.tensor([0.0], requires_grad=True)
    with lib.autograd.detect_anomaly():
        (g,) = lib.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (g * float("nan")).sum().backward()


# --- errors show where ----------------------------------------------------------------------------


def test_a_changed_operand_shows_the_line_that_saved_it():
    x = tg.ones(2, requires_grad=True)
    with detect_anomaly(), pytest.raises(RuntimeError) as caught:
        y = x * 2
        z = y.exp() * y  # saves y
        y.add_(1)
        z.sum().backward()
    text = str(caught.value)
    assert "MulBackward0" in text and "version 0" in text and "version 1" in text
    assert "FloatTensor [2]" in text and line_in(text, "saves y")


def test_a_changed_result_shows_the_line_through_inplace_operations_and_views():
    x = tg.ones(4, requires_grad=True)
    with detect_anomaly(), pytest.raises(RuntimeError) as caught:
        y = x * 2
        y[:2].exp_()  # saves its result
        y[:2].add_(1)
        y.sum().backward()
    assert "ExpBackward0" in str(caught.value) and line_in(str(caught.value), "saves its result")


def test_without_the_mode_the_error_says_how_to_see_the_line():
    x = tg.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"set_detect_anomaly\(True\)"):
        y.sum().backward()


class Broken(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("no such thing")


def test_any_error_of_a_backward_carries_the_line_as_a_note():
    x = tg.ones(2, requires_grad=True)
    with detect_anomaly(), pytest.raises(KeyError) as caught:
        y = Broken.apply(x)  # the call
        y.sum().backward()
    (note,) = caught.value.__notes__
    assert note.startswith("BrokenBackward was recorded") and line_in(note, "the call")


def test_the_line_is_the_callers_own_also_through_layers():
    layer = tg.nn.Linear(2, 2)
    with detect_anomaly():
        out = tg.nn.functional.relu(layer(tg.ones(1, 2)))  # forward
    frame = out.grad_fn.metadata["traceback_"]
    assert frame.filename == __file__ and frame.line.endswith("# forward")


def test_nan_behind_a_change_of_a_view_shows_the_line():
    x = tg.tensor([0.0, 1.0], requires_grad=True)
    with detect_anomaly(), pytest.raises(RuntimeError) as caught:
        y = x * 1
        y[:1].sqrt_()  # in place
        (y * tg.zeros(2)).sum().backward()
    assert "SqrtBackward0 was recorded" in str(caught.value)
    assert line_in(str(caught.value), "in place")


def test_nodes_recorded_before_have_no_line():
    x = tg.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with detect_anomaly(), pytest.raises(RuntimeError, match="set_detect_anomaly"):
        y.sum().backward()


# --- switching ------------------------------------------------------------------------------------


@both
def test_switches(lib):
    states = []

    def note():
        states.append((lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()))

    note()
    with lib.autograd.detect_anomaly(check_nan=False):
        note()
        with lib.autograd.set_detect_anomaly(False):
            note()
        note()
        with lib.autograd.detect_anomaly():
            note()
        note()
    lib.autograd.set_detect_anomaly(True)
    note()
    lib.autograd.set_detect_anomaly(True)
    lib.autograd.set_detect_anomaly(False)
    note()
    return states


def test_the_mode_holds_for_all_threads():
    seen = []
    with detect_anomaly():
        thread = threading.Thread(target=lambda: seen.append(tg.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_the_mode_changes_no_result():
    def step() -> list[float]:
        tg.manual_seed(0)
        layer = tg.nn.Linear(3, 2)
        out = layer(tg.ones(4, 3)).sin()
        out[:, 0].mul_(2)
        out.sum().backward()
        return [*layer.weight.grad.flatten().tolist(), *layer.bias.grad.tolist()]

    plain = step()
    with detect_anomaly():
        assert step() == plain
