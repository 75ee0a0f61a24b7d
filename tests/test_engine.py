"""The engine under stress: passes inside passes, errors on the way, threads, long and wide graphs.

Plain backward passes are in test_autograd.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import sys
import threading
import tracemalloc
from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course.autograd.node import Node
from tinygrad_course.ops.broadcasting import _guards
from tinygrad_course.ops.registry import OPS, guards_of

from .death import death
from .parity.both import attempt, both, refused


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(values or (1.0, 2.0), dtype=lib.float64, requires_grad=True)


# --- a pass inside a pass -------------------------------------------------------------------------


@both
def test_a_hook_may_run_backward_on_another_graph(lib):
    x, w = leaf(lib), leaf(lib, 3.0, 4.0)
    y = x * 2

    def hook(g):
        with lib.enable_grad():
            (w * w).sum().backward()
        return g * 2

    y.register_hook(hook)
    y.sum().backward()
    return x.grad, w.grad, lib.is_grad_enabled()


@both
def test_a_hook_may_run_backward_into_the_same_leaf(lib):
    x = leaf(lib)
    y = x * 2

    def hook(g):
        with lib.enable_grad():
            (x * x).sum().backward()

    y.register_hook(hook)
    (y + x).sum().backward()
    return x.grad


@both
def test_a_hook_may_run_backward_through_the_graph_that_is_running(lib):
    x = leaf(lib)
    inner = x.exp()
    y = inner * 3

    def hook(g):
        inner.backward(g, retain_graph=True)

    y.register_hook(hook)
    y.sum().backward()
    return x.grad


@both
def test_a_function_may_recompute_what_it_did_not_save(lib):
    """Checkpointing: forward saves the input alone, backward runs the function anew."""

    def layer(x):
        return (x.tanh() * x).exp()

    class Checkpoint(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return layer(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with lib.enable_grad():
                again = x.detach().requires_grad_()
                layer(again).backward(g)
            return again.grad

    x, z = leaf(lib, 0.3, -0.2), leaf(lib, 0.3, -0.2)
    Checkpoint.apply(Checkpoint.apply(x * 2)).sum().backward()
    layer(layer(z * 2)).sum().backward()
    return x.grad, z.grad


def test_passes_nest_deeply():
    class Nested(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth == 0:
                return g * 2, None
            with tg.enable_grad():
                x = tg.ones(2, requires_grad=True)
                Nested.apply(x, ctx.depth - 1).backward(g)
            return x.grad, None

    x = tg.ones(2, requires_grad=True)
    Nested.apply(x, 60).sum().backward()
    assert x.grad.tolist() == [2, 2]


# --- errors on the way ----------------------------------------------------------------------------


def broken(lib: Any) -> Any:
    class Broken(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    return Broken.apply


@both
def test_an_error_in_a_users_backward_leaves_whole_gradients_or_none(lib):
    """A leaf has the sum of all that flows to it, or nothing of it."""
    a, b, c = leaf(lib), leaf(lib), leaf(lib)
    z = broken(lib)(a * b).sum() + (b * c).sum() + (c * c).exp().sum()
    seen = [attempt(z.backward)]
    return [*seen, a.grad, b.grad, c.grad, lib.is_grad_enabled()]


@both
def test_after_an_error_a_retained_graph_can_be_used(lib):
    a, b = leaf(lib), leaf(lib)
    good, bad = b.exp(), broken(lib)(a)
    seen = [attempt(lambda: (good + bad).sum().backward(retain_graph=True))]
    before = None if b.grad is None else b.grad.clone()
    good.sum().backward()
    return [*seen, before, b.grad, a.grad]


@refused("second time")
def test_after_an_error_a_graph_that_was_freed_says_so(lib):
    a, b = leaf(lib), leaf(lib)
    bad = broken(lib)(a)
    good = b.exp()  # recorded later, and so run before
    attempt((good + bad).sum().backward)
    good.sum().backward()


@both
def test_an_error_in_a_hook(lib):
    a = leaf(lib)
    y = a.exp()

    def hook(g):
        raise ZeroDivisionError

    handle = y.register_hook(hook)
    seen = [attempt(lambda: y.sum().backward(retain_graph=True)), a.grad]
    handle.remove()
    y.sum().backward()
    return [*seen, a.grad]


@both
def test_an_error_under_create_graph_leaves_recording_as_it_was(lib):
    a = leaf(lib)
    y = broken(lib)(a).sum()
    with lib.no_grad():
        seen = attempt(lambda: lib.autograd.grad(y, a, create_graph=True))
        return seen, lib.is_grad_enabled()


def test_a_failed_pass_keeps_nothing_alive():
    x = tg.ones(2, requires_grad=True)
    with death() as watch:
        y = broken(tg)(x.exp())
        watch(y.grad_fn)
        try:
            y.sum().backward()
        except KeyError:
            pass
        del y


@both
def test_a_gradient_of_another_shape_than_grad(lib):
    x = leaf(lib)
    x.sum().backward()
    x.data = lib.ones(3, dtype=lib.float64)
    return attempt((x * 2).sum().backward), x.grad


# --- threads --------------------------------------------------------------------------------------


def in_threads(work: Any, count: int = 4) -> None:
    errors = []

    def run(number: int) -> None:
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_threads_run_passes_of_their_own():
    found: dict[int, list[float]] = {}

    def work(number: int) -> None:
        x = tg.full((50,), float(number), dtype=tg.float64, requires_grad=True)
        for _ in range(30):
            y = x
            for _ in range(10):
                y = y * x
            y.sum().backward()
        found[number] = x.grad.tolist()

    in_threads(work)
    assert found == {i: [30.0 * 11 * i**10] * 50 for i in range(4)}


def test_threads_may_share_a_leaf():
    x = tg.zeros(4_000, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(50):
            (x * 2).sum().backward()

    in_threads(work)
    assert x.grad.tolist() == [4 * 50 * 2.0] * 4_000


def test_a_mode_of_one_thread_is_none_of_another():
    inside, checked = threading.Event(), threading.Event()

    def work(number: int) -> None:
        if number == 0:
            with tg.no_grad():
                inside.set()
                assert checked.wait(10)
                assert not tg.is_grad_enabled()
        else:
            assert inside.wait(10)
            assert (tg.ones(1, requires_grad=True) * 2).requires_grad
            checked.set()

    in_threads(work, 2)


# --- long and wide --------------------------------------------------------------------------------


def test_twenty_thousand_users_of_one_node():
    x = tg.ones(1, requires_grad=True)
    y = x * 1
    uses = [y * 2 for _ in range(20_000)]
    tg.autograd.backward(uses)
    assert x.grad.item() == 40_000


def test_twenty_thousand_inputs_of_one_node():
    leaves = [tg.ones(1, requires_grad=True) for _ in range(20_000)]
    tg.cat(leaves).sum().backward()
    assert all(x.grad.item() == 1 for x in leaves)


def test_two_roads_at_every_step():
    """A chain of diamonds has 2^n paths; each node runs once."""
    x = tg.ones(1, dtype=tg.float64, requires_grad=True)
    y = x
    for _ in range(1_000):
        y = y * 0.5 + y * 0.5
    y.backward()
    assert x.grad.item() == 1


def test_a_long_chain_that_leads_nowhere_asked_for():
    x, w = tg.ones(1, requires_grad=True), tg.ones(1, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y + 1
    (g,) = tg.autograd.grad(y + w, w)
    assert g.item() == 1


@pytest.mark.parametrize("through", ["hooks", "inplace", "views", "functions"])
def test_long_chains_of_other_kinds_run_and_die(through):
    class Same(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = tg.ones(2, requires_grad=True)
    y = x * 1
    for _ in range(10_000):
        if through == "hooks":
            y = y * 1
            y.register_hook(lambda g: None)
        elif through == "inplace":
            y.add_(1)
        elif through == "views":
            y = y.view(2)
        else:
            y = Same.apply(y)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]
    gc.disable()
    try:
        del y
    finally:
        gc.enable()


def test_gradients_of_a_wide_graph_are_freed_as_they_are_used():
    """Forty branches of 1 MB: their gradients don't wait for one another."""
    x = tg.ones(250_000, requires_grad=True)
    branches = [x * float(i) for i in range(40)]
    total = branches[0].sum()
    for branch in branches[1:]:
        total = total + branch.sum()
    del branches, branch
    tracemalloc.start()
    try:
        total.backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert x.grad[0].item() == sum(range(40))
    assert peak < 8_000_000


# --- programs that once differed from PyTorch -----------------------------------------------------


def test_programs_that_once_differed():
    reason = "PyTorch is the oracle of this test"
    walks = pytest.importorskip("tests.parity.walks", reason=reason)
    from .parity.once_different import PROGRAMS

    found = {name: walks.first_difference(steps) for name, steps in PROGRAMS.items()}
    assert found == dict.fromkeys(found)


@pytest.mark.parametrize("saved", list(itertools.product("abcn", repeat=2)), ids=str)
@pytest.mark.parametrize("number", [False, True])
def test_short_way_to_guards_is_the_long_one(saved, number) -> None:
    x, z = tg.ones(2), tg.ones(2)
    x.add_(1)
    y = 2.0 if number else tg.ones(2)
    a, b, c = x._array, y if number else y._array, z._array
    node = Node().start((None, None))
    node.save(*({"a": a, "b": b, "c": c, "n": None}[name] for name in saved))
    inputs, arrays = ((x,), (a,)) if number else ((x, y), (a, b))
    long = guards_of(node, inputs, arrays, (c,), (z,))
    assert _guards(node.saved, x, a, y, b, z, c) == long


def test_an_operation_knows_the_arguments_of_its_forward() -> None:
    """As `inspect` tells them: arrays before the slash, parameters after it."""
    for op in OPS.values():
        arguments = list(inspect.signature(op.forward).parameters.values())[2:]
        if any(p.kind is p.VAR_POSITIONAL for p in arguments):
            assert op.arity == op.most == sys.maxsize and op.required == 0
            continue
        arrays = [p for p in arguments if p.kind is p.POSITIONAL_ONLY]
        assert op.arity == len(arrays) == len(op.array_names)
        assert op.required == sum(p.default is p.empty for p in arrays)
        assert op.most == sum(p.kind is not p.KEYWORD_ONLY for p in arguments)
        assert op.parameters == tuple(p.name for p in arguments if p not in arrays)
    clamp, addmm = OPS["Clamp"], OPS["Addmm"]
    assert clamp.array_names == ("input", "min", "max") and (clamp.required, clamp.most) == (1, 3)
    assert addmm.arity == 3 and addmm.most == 5 and addmm.parameters == ("beta", "alpha")


@pytest.mark.parametrize("name", ["add", "__mul__", "exp", "t"])
def test_a_traceback_names_the_operation(name) -> None:
    """Every operation has a copy of the registry's code, under its own name."""
    x = tg.ones(2, requires_grad=True)
    frames: list[str] = []

    class Look(tg.autograd.OpHook):
        def before_forward(self, op: Any, args: Any) -> None:
            frames.extend(frame.function for frame in inspect.stack())

    with Look():
        getattr(x, name)(*[2.0][: name in ("add", "__mul__")])
    assert name in frames
