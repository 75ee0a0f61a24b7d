"""The backward pass: what accumulates, what is freed, what is asked for, hooks, modes, memory.

Random programs in both engines stand at the end; more of them: `python -m tests.parity.walks 5000`.
"""

from __future__ import annotations

import gc
import threading
import tracemalloc

import numpy as np
import pytest

import tinygrad_course as tg

from .death import death
from .parity.both import attempt, both


def leaf(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


# --- accumulation ---------------------------------------------------------------------------------


@both
def test_accumulation(lib):
    x = leaf(lib, 1, 2)
    seen = [x.grad]
    for _ in range(3):
        (x * x).sum().backward()
        seen.append(x.grad.tolist())
    first = x.grad
    (x * 2).sum().backward()
    seen.append(x.grad is first)  # added to in place
    x.grad.zero_()
    (x * 3).sum().backward()
    x.grad = None
    seen.append(x.grad)
    (x * 4).sum().backward()
    return [*seen, x.grad]


@both
def test_accumulation_in_one_number(lib):
    x, seen = lib.tensor(3.0, requires_grad=True), []
    for _ in range(3):
        (x * x).backward()
        seen.append(x.grad.item())
    return [*seen, x.grad]


@both
def test_a_leaf_used_often(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3)
    y = x * w + x * x - w / x + x.sum() * w
    z = y + y * y
    (z * z).sum().backward()
    return [x.grad, w.grad]


@both
def test_several_roots(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    y, z = x * w, x.exp()
    lib.autograd.backward([y, z.sum(), y.sum()], [lib.ones_like(y), None, None])
    a, b = x.clone(), w * 2
    lib.autograd.backward((a, b), (lib.ones_like(a), lib.full_like(b, 2.0)))
    return [x.grad, w.grad]


@both
def test_one_root_twice(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    lib.autograd.backward([y, y], [lib.ones_like(y), lib.full_like(y, 10.0)])
    return [x.grad]


@both
def test_a_root_inside_the_graph_of_another(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    z = y.exp()
    y.retain_grad()
    lib.autograd.backward([z, y], [lib.ones_like(z), lib.ones_like(y)])
    return [x.grad, y.grad]


@both
def test_backward_of_a_leaf(lib):
    x = leaf(lib, 1, 2)
    x.backward(lib.ones_like(x))
    x.backward(lib.full_like(x, 5.0))
    return [x.grad]


@both
def test_dtype_of_gradients(lib):
    x = lib.ones(2, requires_grad=True)
    w = lib.ones(2, dtype=lib.float64, requires_grad=True)
    (x.double() * w + x).sum().backward()
    half = lib.ones(2, dtype=lib.float16, requires_grad=True)
    (half * x * 3.0).sum().backward()
    return [x.grad, w.grad, half.grad]


# --- the gradient argument ------------------------------------------------------------------------


@both
def test_gradient_argument(lib):
    seen = []
    for shape in ((), (2,), (1,), (2, 3), (1, 1)):
        for given in (None, (), (1,), (2,), (3,), (2, 3), (1, 1)):
            x = lib.ones(shape, dtype=lib.float64, requires_grad=True)
            gradient = None if given is None else lib.full(given, 2.0, dtype=lib.float64)
            seen += [attempt(lambda: (x * 3).backward(gradient)), x.grad]  # noqa: B023
    return seen


@both
def test_gradient_of_other_kinds(lib):
    seen = []
    for gradient in (
        lib.ones(2),
        lib.ones(2, dtype=lib.float16),
        lib.ones(2, dtype=lib.int64),
        1.0,
        [1.0, 1.0],
        np.ones(2),
        True,
    ):
        x = leaf(lib, 1, 2)
        seen += [attempt(lambda: (x * 3).backward(gradient)), x.grad]  # noqa: B023
    return seen


@both
def test_backward_needs_a_graph(lib):
    plain = lib.ones(())
    x = leaf(lib, 1)
    with lib.no_grad():
        silent = x * 2
    return [attempt(lambda t=t: t.backward()) for t in (plain, silent, x.detach(), x.data, (x > 0))]


@both
def test_numbers_of_gradients(lib):
    x = leaf(lib, 1, 2)
    y = x * 2
    one = lib.ones_like(y)
    backward = lib.autograd.backward
    return [
        attempt(lambda: backward([y, y], [one])),
        attempt(lambda: backward([y], [None])),
        attempt(lambda: backward([], [])),
        attempt(lambda: backward(y, one)),
        x.grad,
    ]


# --- freed buffers --------------------------------------------------------------------------------

TWICE = {
    "add": lambda x: x + x,
    "add a number": lambda x: x + 1,
    "sub": lambda x: x - 2 * x,
    "neg": lambda x: -x,
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "view": lambda x: x.view(1, -1),
    "transpose": lambda x: x.view(1, -1).t(),
    "expand": lambda x: x.expand(3, 2),
    "slice": lambda x: x[1:],
    "select": lambda x: x[0],
    "clone": lambda x: x.clone(),
    "float": lambda x: x.float(),
    "repeat": lambda x: x.repeat(2),
    "mul": lambda x: x * x,
    "mul a number": lambda x: x * 2,
    "div a number": lambda x: x / 2,
    "div": lambda x: 1 / x,
    "pow": lambda x: x**2,
    "exp": lambda x: x.exp(),
    "sin": lambda x: x.sin(),
    "relu": lambda x: x.relu(),
    "abs": lambda x: x.abs(),
    "max": lambda x: x.max(),
    "max along": lambda x: x.max(0).values,
    "prod": lambda x: x.prod(),
    "var": lambda x: x.var(),
    "matmul": lambda x: x.view(1, 2) @ x.view(2, 1),
    "dot": lambda x: x.dot(x),
    "index": lambda x: x[[0, 0]],
    "where": lambda x: x.where(x > 1, x * 0),
    "clamp": lambda x: x.clamp(0, 1),
    "softmax": lambda x: x.softmax(0),
    "split": lambda x: x.split(1)[0],
    "unbind": lambda x: x.unbind()[1],
    "logsumexp": lambda x: x.logsumexp(0),
    "floor": lambda x: x.floor(),
    "setitem": lambda x: _with_zero(x),
}


def _with_zero(x):
    y = x.clone()
    y[0] = 0.0
    return y


@pytest.mark.parametrize("case", TWICE)
def test_a_second_backward(case):
    """What an operation saved is freed by the first backward; those that save nothing may go
    again."""

    @both
    def program(lib):
        x = leaf(lib, 1.5, 2)
        y = TWICE[case](x)
        y.backward(lib.ones_like(y))
        return [attempt(lambda: y.backward(lib.ones_like(y))), x.grad]

    program()


@both
def test_retain_graph(lib):
    x = leaf(lib, 1, 2)
    y = (x.exp() * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return [x.grad, attempt(y.backward)]


@both
def test_part_of_a_graph_was_freed(lib):
    x = leaf(lib, 1, 2)
    shared = x.exp()
    y, z = shared * 2, shared.sin()
    y.sum().backward()
    return [attempt(lambda: z.sum().backward()), x.grad]


def test_retain_variables_is_the_old_name():
    x = leaf(tg, 1, 2)
    y = x.exp().sum()
    y.backward(retain_variables=True)
    y.backward()
    assert x.grad.tolist() == pytest.approx((2 * np.exp([1, 2])).tolist())


def test_buffers_are_freed_as_backward_passes():
    x = tg.ones(2, requires_grad=True)
    y = x.exp().sin().sum()
    node = y.grad_fn.next_functions[0][0]
    assert len(node.saved)
    y.backward()
    assert not any(hasattr(v, "strides") for v in node.saved)


# --- autograd.grad --------------------------------------------------------------------------------


@both
def test_grad(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    y = x * w
    grad = lib.autograd.grad
    seen = [grad(y.sum(), x, retain_graph=True), grad(y, [x, w], lib.ones_like(y))]
    return [*seen, x.grad, w.grad]


@both
def test_grad_of_what_is_no_leaf(lib):
    x = leaf(lib, 1, 2)
    a = x * 3
    b = a.exp()
    c = (b * a).sum()
    grad = lib.autograd.grad
    seen = [
        grad(c, a, retain_graph=True),
        grad(c, [b, a, x], retain_graph=True),
        grad(c, c, retain_graph=True),
    ]
    seen.append(grad(b, a, lib.ones_like(b)))
    return [*seen, x.grad, a.is_leaf]


@both
def test_grad_with_respect_to_a_view(lib):
    x = leaf(lib, 1, 2, 3)
    y = x * 1
    v = y[1:]
    z = (v * v).sum() + y.sum()
    return [lib.autograd.grad(z, [v, y, x])]


@both
def test_unused_inputs(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    plain = lib.ones(2)
    grad = lib.autograd.grad

    def loss():
        return (x * 2).sum()

    return [
        attempt(lambda: grad(loss(), w)),
        attempt(lambda: grad(loss(), [x, w])),
        grad(loss(), [x, w], allow_unused=True),
        grad(loss(), [x, w], materialize_grads=True),
        attempt(lambda: grad(loss(), w, allow_unused=False, materialize_grads=True)),
        attempt(lambda: grad(loss(), plain)),
        attempt(lambda: grad(loss(), plain, allow_unused=True)),
        attempt(lambda: grad(plain.sum(), x)),
        attempt(lambda: grad(loss(), [])),
        attempt(lambda: grad([], [x])),
        attempt(lambda: grad(x * 2, x)),
        attempt(lambda: grad(loss(), x, lib.ones(2))),
        x.grad,
    ]


@both
def test_grad_runs_only_what_is_on_the_way(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    calls = []
    a = x * 2
    a.register_hook(lambda g: calls.append("a"))
    b = w * 2
    b.register_hook(lambda g: calls.append("b"))
    y = (a * b).sum()
    lib.autograd.grad(y, b)
    return [calls, x.grad, w.grad]


@both
def test_backward_into_inputs(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    a = x * 2
    y = (a * w).sum()
    y.backward(inputs=[x], retain_graph=True)
    y.backward(inputs=w, retain_graph=True)
    y.backward(inputs=[a, x], retain_graph=True)
    return [
        x.grad,
        w.grad,
        a.grad,
        attempt(lambda: y.backward(inputs=[])),
        attempt(lambda: y.backward(inputs=[lib.ones(1)])),
    ]


# --- higher order ---------------------------------------------------------------------------------


@both
def test_orders(lib):
    x = leaf(lib, 0.5, 1.5)
    y = (x.sin() * x**3 / (1 + x.exp())).sum()
    seen = []
    for _ in range(4):
        (y,) = lib.autograd.grad(y, x, lib.ones_like(y), create_graph=True)
        seen.append(y)
    return seen


@both
def test_a_detached_factor(lib):
    x = leaf(lib, 3, 4)
    seen = []
    for function in (
        lambda x: x * x.detach(),
        lambda x: x * x.data,
        lambda x: x.exp() * x.exp().detach(),
        lambda x: (x * 1) * (x * 1).detach(),
        lambda x: x.detach() * x,
        lambda x: x / x.detach(),
        lambda x: x.mul(x.view(2).detach()),
    ):
        (g,) = lib.autograd.grad(function(x).sum(), x, create_graph=True)
        seen += [g, attempt(lambda g=g: lib.autograd.grad(g.sum(), x))]
    return seen


@both
def test_backward_with_create_graph(lib):
    x = leaf(lib, 1, 2)
    (x**3).sum().backward(create_graph=True)
    seen = [x.grad, x.grad.grad_fn is not None]
    g, x.grad = x.grad, None
    (g * g).sum().backward()
    return [*seen, x.grad]


@both
def test_gradient_penalty(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 0.5, -0.5)
    y = (x * w).tanh().sum()
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    loss = y + (g.pow(2).sum().sqrt() - 1) ** 2
    loss.backward()
    return [x.grad, w.grad]


@both
def test_grad_in_a_hook_of_higher_order(lib):
    x = leaf(lib, 1, 2)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return [g, lib.autograd.grad(g.sum(), x)]


# --- hooks ----------------------------------------------------------------------------------------


@both
def test_tensor_hooks(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    log = []
    first = y.register_hook(lambda g: log.append(("first", g.tolist())))
    second = y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log.append(("third", g.tolist())))
    x.register_hook(lambda g: log.append(("leaf", g.tolist())))
    y.sum().backward(retain_graph=True)
    first.remove()
    first.remove()
    second.remove()
    (y * 1).sum().backward(retain_graph=True)
    return [log, x.grad]


@both
def test_hooks_see_the_whole_gradient(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    log = []
    y.register_hook(lambda g: log.append(g.tolist()))
    x.register_hook(lambda g: log.append(g.tolist()))
    ((y * y).sum() + y.sum() + x.sum()).backward()
    return [log, x.grad]


@both
def test_what_hooks_may_return(lib):
    seen = []
    for result in (
        lambda g: None,
        lambda g: g + 1,
        lambda g: g[:1],
        lambda g: g.float(),
        lambda g: 3.0,
        lambda g: "x",
    ):
        x = leaf(lib, 1, 2)
        y = x * 2
        y.register_hook(result)
        seen += [attempt(lambda y=y: y.sum().backward()), x.grad]
    plain = lib.ones(2)
    seen.append(attempt(lambda: plain.register_hook(lambda g: g)))
    return seen


@both
def test_a_hook_that_fails(lib):
    x = leaf(lib, 1, 2)
    y = x * 2

    def hook(g):
        raise KeyError("mine")

    y.register_hook(hook)
    return [attempt(lambda: y.sum().backward()), x.grad]


@both
def test_retain_grad(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    seen = [y.retains_grad, x.retains_grad]
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    seen += [y.retains_grad, x.retains_grad, y.grad]
    z = y * y
    z.sum().backward(retain_graph=True)
    seen.append(y.grad.tolist())
    z.sum().backward()
    seen.append(y.grad.tolist())
    return [*seen, attempt(lambda: lib.ones(2).retain_grad()), z.grad]


@both
def test_retained_gradient_comes_after_hooks(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    return [y.grad, x.grad]


@both
def test_node_hooks(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    log = []
    y.grad_fn.register_prehook(lambda grads: log.append(("pre", [g.tolist() for g in grads])))
    y.grad_fn.register_prehook(lambda grads: tuple(g * 2 for g in grads))
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", len(gi), [g.tolist() for g in go])))
    y.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * 10 for g in gi))
    y.sum().backward()
    return [log, x.grad]


def test_a_handle_is_a_context_manager():
    x = leaf(tg, 1, 2)
    with x.register_hook(lambda g: g * 100):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [101, 101]


# --- modes ----------------------------------------------------------------------------------------


@both
def test_modes(lib):
    x = leaf(lib, 1, 2)
    seen = [lib.is_grad_enabled()]
    with lib.no_grad():
        seen += [lib.is_grad_enabled(), (x * 2).requires_grad, x.exp().is_leaf]
        with lib.enable_grad():
            seen += [lib.is_grad_enabled(), (x * 2).requires_grad]
            with lib.set_grad_enabled(False):
                seen.append((x * 2).requires_grad)
        seen.append(lib.is_grad_enabled())
        seen.append(lib.ones(2, requires_grad=True).requires_grad)
    lib.set_grad_enabled(False)
    seen.append((x + 1).requires_grad)
    lib.set_grad_enabled(True)
    return [*seen, (x + 1).requires_grad]


@both
def test_mode_decorators(lib):
    x = leaf(lib, 1, 2)
    seen = []

    @lib.no_grad()
    def silent(y):
        seen.append(lib.is_grad_enabled())
        return y * 2

    @lib.enable_grad()
    def loud(y):
        return y * 2

    @lib.no_grad()
    def values():
        for _ in range(2):
            seen.append(lib.is_grad_enabled())
            yield x * 2

    seen.append(silent(x).requires_grad)
    with lib.no_grad():
        seen.append(loud(x).requires_grad)
    for value in values():
        seen += [lib.is_grad_enabled(), value.requires_grad]
    return [*seen, silent.__name__]


@both
def test_a_mode_survives_an_exception(lib):
    def fail():
        with lib.no_grad():
            raise ValueError

    return [attempt(fail), lib.is_grad_enabled()]


@both
def test_modes_belong_to_threads(lib):
    seen = []
    with lib.no_grad():
        thread = threading.Thread(target=lambda: seen.append(lib.is_grad_enabled()))
        thread.start()
        thread.join()
        seen.append(lib.is_grad_enabled())
    return seen


def test_threads_have_graphs_of_their_own():
    results, barrier = {}, threading.Barrier(4)

    def work(n: int) -> None:
        x = leaf(tg, n, n + 1)
        barrier.wait()
        for _ in range(50):
            y = x
            for _ in range(20):
                y = y * 1.01 + x * 0.001
            y.sum().backward()
        results[n] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(r == pytest.approx(results[0]) for r in results.values())


# --- requires_grad --------------------------------------------------------------------------------


@both
def test_requires_grad(lib):
    x = lib.ones(2)
    y = leaf(lib, 1) * 2
    seen = [x.requires_grad, x.requires_grad_().requires_grad, x.is_leaf, x.grad_fn]
    seen.append(attempt(lambda: setattr(y, "requires_grad", False)))
    seen.append(attempt(lambda: setattr(y, "requires_grad", True)))
    for dtype in (lib.int64, lib.bool, lib.uint8):
        seen.append(attempt(lambda dtype=dtype: lib.ones(2, dtype=dtype).requires_grad_()))
        seen.append(attempt(lambda dtype=dtype: lib.ones(2, dtype=dtype, requires_grad=True)))
    x.requires_grad = False
    return [*seen, x.requires_grad, (x * 2).requires_grad]


@both
def test_assigning_grad(lib):
    x = lib.ones(2, requires_grad=True)
    grads = (
        lib.ones(2),
        lib.ones(3),
        lib.ones(2, dtype=lib.float64),
        lib.ones((1, 2)),
        1.0,
        None,
        x,
    )
    return [attempt(lambda g=g: setattr(x, "grad", g)) for g in grads] + [x.grad]


@both
def test_assigning_data(lib):
    x = lib.ones(2, requires_grad=True)
    x.data = lib.full((3,), 2.0)
    seen = [x, x.is_leaf]
    (x * x).sum().backward()
    return [
        *seen,
        x.grad,
        attempt(lambda: setattr(x, "data", 3.0)),
        attempt(lambda: setattr(x, "data", lib.ones(2, dtype=lib.int64))),
    ]


@both
def test_integers_and_bools_carry_no_gradient(lib):
    x = leaf(lib, 1.5, 2.5)
    y = [x.long(), x > 1, x.argmax(), x.max(0).indices, x.isnan()]
    return [(t.requires_grad, t.grad_fn) for t in y]


# --- who owns a gradient --------------------------------------------------------------------------

SHARING = {
    "x + w": lambda x, w: x + w,
    "x - w": lambda x, w: x - w,
    "x + w.view": lambda x, w: x + w.view(3, 2).view(2, 3),
    "sum": lambda x, w: x.sum() + w.sum(),
    "expand": lambda x, w: x.expand(4, 2, 3) + w,
    "clone": lambda x, w: x.clone() + w.clone(),
    "transposed": lambda x, w: (x.t() + w.t()).t(),
    "cat": lambda x, w: x.repeat(1, 1) + w,
    "mean": lambda x, w: x.mean(0, keepdim=True) + w,
    "x itself": lambda x, w: x,
    "x + x": lambda x, w: x + x,
}


@pytest.mark.parametrize("case", SHARING)
def test_gradients_share_no_memory(case):
    x = tg.ones(2, 3, requires_grad=True)
    w = tg.ones(2, 3, requires_grad=True)
    for _ in range(2):
        y = SHARING[case](x, w)
        given = tg.ones(y.shape)
        kept = given.tolist()
        y.backward(given)
        arrays = [given.numpy(), *(t.grad.numpy() for t in (x, w) if t.grad is not None)]
        for i, a in enumerate(arrays):
            assert all(not np.shares_memory(a, b) for b in arrays[:i])
        x.grad.add_(100)
        assert given.tolist() == kept
        assert w.grad is None or w.grad.max().item() < 100
        x.grad = None


def test_a_hook_may_keep_its_gradient():
    x = tg.ones(2, requires_grad=True)
    y = x + 0
    kept = []
    y.register_hook(kept.append)
    x.register_hook(kept.append)
    for _ in range(2):
        (y + x).sum().backward(retain_graph=True)
    values = [k.tolist() for k in kept]
    x.grad.add_(100)
    y.sum().backward()
    assert [k.tolist() for k in kept[:4]] == values[:4] == [[1, 1], [2, 2]] * 2


def test_the_gradient_of_a_row_major_leaf_is_row_major():
    x = tg.ones(3, 2, requires_grad=True)
    (x.t() * tg.ones(2, 3)).sum().backward()
    assert x.grad.is_contiguous()


# --- depth, memory, lifetime ----------------------------------------------------------------------

DEPTH = 100_000


def test_a_chain_of_a_hundred_thousand():
    """Built, run backward and deleted without recursion."""
    x = tg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(DEPTH):
        y = y * 1.00001
    y.backward()
    assert x.grad.item() == pytest.approx(1.00001**DEPTH, rel=1e-2)
    z = x
    for _ in range(DEPTH):
        z = z + 1  # never run backward: nothing was freed
    del y, z
    gc.collect()


def test_a_deep_graph_of_views_and_changes():
    x = tg.zeros(2, requires_grad=True)
    y = x * 1
    for _ in range(5_000):
        y = y.view(2)
        y[0] = y[1]
    y.sum().backward()
    assert x.grad.tolist() == [0, 2]


def test_second_derivative_of_a_deep_chain():
    x = tg.tensor(1.0, dtype=tg.float64, requires_grad=True)
    y = x
    for _ in range(3_000):
        y = y * 1.0001
    (g,) = tg.autograd.grad(y * y, x, create_graph=True)
    (h,) = tg.autograd.grad(g, x)
    assert h.item() == pytest.approx(2 * 1.0001**6000)


def test_a_wide_graph():
    x = tg.ones(3, requires_grad=True)
    parts = [x * float(i) for i in range(2_000)]
    sum(parts[1:], parts[0]).sum().backward()
    assert x.grad.tolist() == [sum(range(2_000))] * 3


GRAPHS = {
    "elementwise": lambda x: (x.exp() * x.sin() / (x + 2)).sum(),
    "saved outputs": lambda x: (x.exp().tanh().sigmoid().sqrt()).sum(),
    "views": lambda x: (x.view(2, 2).t()[0] * x.expand(3, 4)[0, :2]).sum(),
    "in place": lambda x: _changed(x),
    "in place on views": lambda x: _changed_through_a_view(x),
    "index": lambda x: (x[[0, 0, 1]] * x[x > 0][:1]).sum(),
    "reductions": lambda x: x.max() + x.var() + x.prod() + x.max(0).values + x.softmax(0)[0],
    "matrices": lambda x: (x.view(2, 2) @ x.view(2, 2) @ x[:2]).sum(),
    "pieces": lambda x: sum(x.unbind()) + x.split(3)[1].sum(),
    "a hook": lambda x: _hooked(x),
    "retained": lambda x: _retained(x),
    "second order": lambda x: tg.autograd.grad(x.exp().sum(), x, create_graph=True)[0].sum(),
}


def _changed(x):
    y = x * 2
    y.mul_(x).sin_().add_(1)
    y[1] = x[0]
    y[[0, 1]] = x[2:]
    return y.sum()


def _changed_through_a_view(x):
    y = x * 2
    y[1:].mul_(x[0])
    y.view(2, 2)[0].sin_()
    return y.sum()


def _hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    return y.sum()


def _retained(x):
    y = x * 2
    y.retain_grad()
    return y.sum()


def nodes_of(fn):
    found, stack = {fn}, [fn]
    while stack:
        for node, _ in stack.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                stack.append(node)
    return found


@pytest.mark.parametrize("run", [False, True])
@pytest.mark.parametrize("case", GRAPHS)
def test_graphs_die_by_reference_count(case, run):
    x = tg.tensor([0.5, 1.5, 2.5, 3.5], requires_grad=True)
    with death() as watch:
        y = GRAPHS[case](x)
        for node in nodes_of(y.grad_fn):
            if node.name() != "AccumulateGrad":
                watch(node)
        watch(y)
        if run:
            y.backward()
        del y, node


def test_leaves_outlive_and_die():
    with death() as watch:
        x = tg.ones(3, requires_grad=True)
        y = (x * x).sum()
        y.backward()
        watch(x)
        watch(x.grad)
        del x, y


def test_memory_of_a_long_chain_is_bounded():
    """Backward frees as it goes: a chain whose nodes save 1 MB each never holds twice as much."""
    x = tg.ones(250_000, requires_grad=True)
    tracemalloc.start()
    try:
        y = x
        for _ in range(40):
            y = y.sin()
        built = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        y.sum().backward()
        del y
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    one = 1_000_000
    assert 38 * one < built < 43 * one
    assert peak < built + 8 * one
    assert left < 3 * one


def test_no_grad_keeps_nothing():
    x = tg.ones(250_000, requires_grad=True)
    tracemalloc.start()
    try:
        with tg.no_grad():
            y = x
            for _ in range(20):
                y = y.sin()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


# --- looking at the graph -------------------------------------------------------------------------


@both
def test_names_and_edges(lib):
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    results = [
        x + w,
        x - w,
        x * w,
        x / w,
        x**w,
        x @ w,
        -x,
        x.exp(),
        x.sum(),
        x.mean(),
        x.view(2, 1),
        x.view(1, 2).t(),
        x[0],
        x[:1],
        x[[0]],
        x.clone(),
        x.float(),
        x.expand(2, 2),
        x.max(),
        x.max(0).values,
        x.relu(),
        x.softmax(0),
        x.log_softmax(0),
        x.unsqueeze(0),
        x.unbind()[0],
        x.split(1)[1],
        x.abs(),
        x.prod(),
        x.var(),
        x.std(),
        x.square(),
        x.sqrt(),
        x.clamp(0, 1),
        x.where(x > 1, w),
        x.masked_fill(x > 1, 0.0),
        lib.cat([x, w]),
        lib.stack([x, w]),
        x.pow(2),
        x.contiguous() * 1,
        x.repeat(2),
        x.logsumexp(0),
        x.sin(),
        x.index_select(0, lib.tensor([0])),
        x.gather(0, lib.tensor([0])),
        x.amax(0),
        x.log(),
        x.tanh(),
        x.sigmoid(),
        x.neg(),
    ]
    seen = []
    for y in results:
        fn = y.grad_fn
        edges = [(f.name().split("::")[-1], i) for f, i in fn.next_functions if f is not None]
        seen.append((fn.name(), edges, y.output_nr))
    return seen


@both
def test_leaves_have_accumulators(lib):
    x = leaf(lib, 1, 2)
    (fn, place), _ = (x * 2).grad_fn.next_functions
    return [fn.variable is x, place, fn.next_functions, x.grad_fn]


def test_an_accumulator_is_a_node_without_inputs():
    x = leaf(tg, 1, 2)
    fn = (x * 2).grad_fn.next_functions[0][0]
    assert (fn.needs, fn.needs_input_grad, fn.num_inputs, fn.num_outputs) == ((), (), 0, 1)
    assert fn.metadata_of(0) == (tg.Size([2]), tg.float64)


def test_a_leaf_has_one_accumulator():
    x = leaf(tg, 1, 2)
    y, z = x * 2, x + 1
    assert y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]


def test_nodes_tell_their_outputs():
    x = leaf(tg, [1, 2, 3], [4, 5, 6])
    fn = x.max(1).values.grad_fn
    assert fn.metadata_of(0) == (tg.Size([2]), tg.float64)
    assert x.sum().grad_fn.metadata_of(0) == (tg.Size([]), tg.float64)


@both
def test_nodes_can_be_called(lib):
    x = leaf(lib, 1, 2)
    y = x * 3
    return [y.grad_fn(lib.ones(2, dtype=lib.float64))[0]]


# --- random programs in both engines --------------------------------------------------------------

WALKS = 300


@pytest.mark.parametrize("start", range(0, WALKS, 50))
def test_random_programs(start):
    reason = "PyTorch is the oracle of these tests"
    walks = pytest.importorskip("tests.parity.walks", reason=reason)
    for seed in range(start, start + 50):
        if walks.first_difference(walks.program(seed)) is not None:
            short = walks.shrink(walks.program(seed))
            steps = "\n  ".join(map(str, short))
            pytest.fail(f"program {seed}:\n  {steps}\n-> {walks.first_difference(short)}")
