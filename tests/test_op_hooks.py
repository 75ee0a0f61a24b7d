"""Hooks on all operations, and the timer and the tracer that are made of them."""

from __future__ import annotations

import time

import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import Function, OpHook
from tinygrad_course.autograd.profiler import Timer, Tracer
from tinygrad_course.autograd.watch import op_name, watching


class Recorder(OpHook):
    """Notes every call by name."""

    def __init__(self, log=None):
        self.log = [] if log is None else log

    def before_forward(self, op, args):
        self.log.append(("before", op_name(op)))

    def after_forward(self, op, args, results, node):
        self.log.append(("after", op_name(op), None if node is None else node.name()))

    def failed_forward(self, op, error):
        self.log.append(("failed", op_name(op), type(error).__name__))

    def before_backward(self, node, grads):
        self.log.append(("before", node.name()))

    def after_backward(self, node, grads, results):
        self.log.append(("after", node.name()))

    def failed_backward(self, node, error):
        self.log.append(("failed", node.name(), type(error).__name__))

    def ops(self):
        return [name for what, name, *_ in self.log if what == "before"]


def x() -> tg.Tensor:
    return tg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


KINDS = {
    "binary": (lambda x: x * x, ["Mul"]),
    "number": (lambda x: x + 1, ["Add"]),
    "reflected": (lambda x: 1 - x, ["Sub"]),
    "unary": (lambda x: x.exp(), ["Exp"]),
    "product": (lambda x: x @ x, ["Mm"]),
    "view": (lambda x: x.t(), ["T"]),
    "views": (lambda x: x.unbind(), ["Unbind"]),
    "reduction": (lambda x: x.sum(0), ["Sum"]),
    "in place": (lambda x: x.detach().mul_(2), ["Mul"]),
    "unrecorded": (lambda x: x.detach() * 2, ["Mul"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_operation_is_seen(kind):
    run, ops = KINDS[kind]
    given = x()
    with Recorder() as seen:
        run(given)
    assert [name for name in seen.ops() if name != "Detach"] == ops
    count = len(seen.log)
    run(given)
    assert len(seen.log) == count and watching == []


def test_nodes_are_told_from_unrecorded_calls():
    with Recorder() as seen, tg.no_grad():
        x() * 2
    assert seen.log[-1] == ("after", "Mul", None)
    with Recorder() as seen:
        y = x() * 2
    assert seen.log[-1] == ("after", "Mul", y.grad_fn.name())


def test_arrays_go_in_and_come_out():
    class Look(OpHook):
        def after_forward(self, op, args, results, node):
            self.seen = args, results

        def after_backward(self, node, grads, results):
            self.back = node.name(), grads, results

    given = x()
    with Look() as look:
        y = given * 3
        y.backward(tg.ones(2, 2), inputs=[given])
    (a, number), (out,) = look.seen
    assert a is given._array and number == 3 and out is y._array
    assert look.back[0] == "AccumulateGrad" and look.back[1][0].tolist() == [[3, 3], [3, 3]]


def test_backward_is_seen_node_by_node():
    with Recorder() as seen:
        (x() * 2).sum().backward()
    names = [name for name in seen.ops() if name.endswith("0") or name == "AccumulateGrad"]
    assert names == ["SumBackward0", "MulBackward0", "AccumulateGrad"]


def test_operations_of_a_recorded_backward_are_seen_inside_it():
    given = x()
    y = (given**3).sum()
    with Recorder() as seen:
        tg.autograd.grad(y, given, create_graph=True)
    inside = seen.log[seen.log.index(("before", "PowBackward0")) :]
    inside = inside[1 : inside.index(("after", "PowBackward0"))]
    assert ("before", "Mul") in inside


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("broken")


class Never(Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("broken")


def test_functions_are_seen_around_what_they_call_and_failures_are_told():
    with Recorder() as seen:
        y = Twice.apply(x())
        with pytest.raises(ValueError, match="broken"):
            y.sum().backward()
    assert [entry[:2] for entry in seen.log[:4]] == [
        ("before", "Twice"), ("before", "Mul"), ("after", "Mul"), ("after", "Twice"),
    ]  # fmt: skip
    assert seen.log[3][2] == "TwiceBackward"
    assert seen.log[-1] == ("failed", "TwiceBackward", "ValueError")


def test_a_kernel_that_fails_is_told():
    with Recorder() as seen, pytest.raises(ValueError, match="broken"):
        Never.apply(x())
    assert seen.log == [("before", "Never"), ("failed", "Never", "ValueError")]


def test_several_hooks_nest_like_their_blocks():
    log = []

    class Named(OpHook):
        def __init__(self, name):
            self.name = name

        def before_forward(self, op, args):
            log.append(f"{self.name} before")

        def after_forward(self, op, args, results, node):
            log.append(f"{self.name} after")

    with Named("outer"), Named("inner"):
        x() * 2
    assert log == ["outer before", "inner before", "inner after", "outer after"]


def test_a_hook_is_gone_after_an_error_in_its_block():
    with pytest.raises(ZeroDivisionError), Recorder():
        raise ZeroDivisionError
    assert watching == []


def test_results_are_the_same_with_and_without():
    def step():
        tg.manual_seed(1)
        a, b = tg.rand(3, 4, requires_grad=True), tg.rand(4, requires_grad=True)
        y = (a * b + 1).tanh().clone()
        y[0].mul_(2)
        top, bottom = y.t().chunk(2)
        (top.sigmoid() @ bottom.t() - a.sum() / 3).pow(2).mean().backward()
        return a.grad.tolist(), b.grad.tolist()

    plain = step()
    with Recorder():
        assert step() == plain


# --- the tools ------------------------------------------------------------------------------------


def test_timer_counts_calls_and_adds_up_their_time():
    class Slow(Function):
        @staticmethod
        def forward(ctx, x):
            time.sleep(0.02)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with Timer() as timer:
        for _ in range(3):
            Slow.apply(x()).sum().backward()
    assert timer.calls["Slow"] == timer.calls["Mul"] - timer.calls["SlowBackward"] == 3
    assert timer.seconds["Slow"] >= 0.06
    assert timer.seconds["Mul"] < timer.seconds["Slow"]  # what it calls is not counted twice
    header, first, *_ = repr(timer).splitlines()
    assert header.split() == ["operation", "calls", "ms"] and first.split()[0] == "Slow"
    assert float(first.split()[2]) == pytest.approx(timer.seconds["Slow"] * 1e3, abs=1e-3)


def test_timer_goes_on_after_an_error():
    with Timer() as timer:
        with pytest.raises(ValueError, match="broken"):
            Twice.apply(x()).sum().backward()
        x() * 2
    assert timer.calls["Mul"] == 2 and "TwiceBackward" not in timer.calls


def test_tracer_writes_a_line_for_each_operation():
    lines = []
    with Tracer(lines.append):
        (x() @ tg.ones(2, 1)).sum().backward()
    assert lines == [
        "Mm (2, 2) (2, 1) -> (2, 1)",
        "Sum (2, 1) -> ()",
        "SumBackward0 () -> (2, 1)",
        "MmBackward0 (2, 1) -> (2, 2) None",
        "AccumulateGrad (2, 2)",
    ]


def test_tracer_finds_back_after_a_failure():
    lines = []
    with Tracer(lines.append):
        with pytest.raises(ValueError, match="broken"):
            Never.apply(x())
        x().exp()
    assert lines == ["Never raised ValueError", "Exp (2, 2) -> (2, 2)"]


def test_tracer_indents_and_tells_failures():
    lines = []
    with Tracer(lines.append), pytest.raises(ValueError, match="broken"):
        Twice.apply(x()).backward(tg.ones(2, 2))
    assert lines == [
        "  Mul (2, 2) 2.0 -> (2, 2)",
        "Twice (2, 2) -> (2, 2)",
        "TwiceBackward raised ValueError",
    ]


def test_random_programs_take_the_long_way_to_the_same_end():
    reason = "PyTorch is the oracle of this test"
    walks = pytest.importorskip("tests.parity.walks", reason=reason)
    with OpHook():
        found = {seed: walks.first_difference(walks.program(seed)) for seed in range(1000, 1060)}
    assert found == dict.fromkeys(found)
