"""Hooks on tensors and nodes: when they run, in which order, and what they may return."""

from __future__ import annotations

from typing import Any

import pytest

import tinygrad_course as tg

from .parity.both import both, refused


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(values or (1.0, 2.0), requires_grad=True)


# --- on a tensor ----------------------------------------------------------------------------------


@both
def test_hook_sees_the_gradient_and_none_leaves_it(lib):
    x, seen = leaf(lib), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * x).sum().backward()
    return seen, x.grad


@both
def test_hooks_run_in_order_each_on_what_the_one_before_returned(lib):
    x, seen = leaf(lib), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g + 1)
    x.sum().backward()
    return seen, x.grad


@both
def test_hook_on_a_result_changes_what_goes_on(lib):
    x = leaf(lib)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    (y * y).sum().backward()
    return x.grad


@both
def test_hook_on_the_root(lib):
    x = leaf(lib)
    y = (x * 3).sum()
    y.register_hook(lambda g: g * 10)
    y.backward()
    return x.grad


@both
def test_hook_of_a_tensor_with_several_users_sees_the_whole_gradient_once(lib):
    x, seen = leaf(lib), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y.sum() + (y * y).sum() + y.exp().sum()).backward()
    return seen, x.grad


@both
def test_hooks_and_retained_gradients_in_their_order(lib):
    x = leaf(lib)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    return x.grad, y.grad


@both
def test_retained_gradient_accumulates(lib):
    x = leaf(lib)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    z.backward()
    return y.grad, y.retains_grad, x.retains_grad


@both
def test_hook_is_called_with_none_where_nothing_arrives(lib):
    x, seen = leaf(lib, 1.0, 2.0, 3.0, 4.0), []
    a, b = x.split(2)
    b.register_hook(lambda g: seen.append(g is None))
    a.sum().backward()
    return seen, x.grad


@both
def test_hook_added_during_the_pass_runs_from_the_next_on(lib):
    x, seen = leaf(lib), []

    def first(g):
        seen.append("first")
        x.register_hook(lambda g: seen.append("later"))

    x.register_hook(first)
    for _ in range(2):
        x.sum().backward()
        seen.append("|")
    return seen


@both
def test_hook_that_removes_another_stops_it_from_the_next_pass_on(lib):
    x, seen = leaf(lib), []

    def first(g):
        seen.append("first")
        second.remove()

    x.register_hook(first)
    second = x.register_hook(lambda g: seen.append("second"))
    for _ in range(2):
        x.sum().backward()
        seen.append("|")
    return seen


@both
def test_hook_that_removes_itself(lib):
    x, seen = leaf(lib), []

    def once(g):
        seen.append("once")
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda g: seen.append("always"))
    for _ in range(2):
        x.sum().backward()
    return seen


@both
def test_handle_removes_its_own_hook_once_and_for_all(lib):
    x, seen = leaf(lib), []
    x.register_hook(lambda g: seen.append("kept"))
    handle = x.register_hook(lambda g: seen.append("removed"))
    x.sum().backward()
    handle.remove()
    handle.remove()
    x.sum().backward()
    return seen


@both
def test_handle_as_a_context_manager(lib):
    x, seen = leaf(lib), []
    with x.register_hook(lambda g: seen.append("inside")):
        x.sum().backward()
    x.sum().backward()
    return seen


@both
def test_hooks_stay_with_the_history_that_an_inplace_change_replaced(lib):
    x, seen = leaf(lib), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    return seen


@both
def test_hook_of_a_leaf_outlives_the_graph(lib):
    x, seen = leaf(lib), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    for factor in (2, 3):
        (x * factor).sum().backward()
    return seen


@both
def test_what_a_hook_does_is_recorded_under_create_graph(lib):
    x = leaf(lib)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g, lib.autograd.grad(g.sum(), x)


@both
def test_grad_of_a_tensor_in_the_middle_comes_before_its_hook_when_the_pass_goes_on(lib):
    results = []
    for inputs in ("y", "xy"):
        x = leaf(lib)
        y = x * 2
        y.register_hook(lambda g: g * 10)
        wanted = [{"x": x, "y": y}[name] for name in inputs]
        results.append(lib.autograd.grad((y * 3).sum(), wanted))
    return results


@refused("returned a int")
def test_hook_must_return_a_tensor_or_none(lib):
    x = leaf(lib)
    x.register_hook(lambda g: 3)
    x.sum().backward()


@refused(r"changed the size.*\[3\].*\[2\]")
def test_hook_must_keep_the_shape(lib):
    x = leaf(lib)
    x.register_hook(lambda g: lib.ones(3))
    x.sum().backward()


@refused("changed the type.*Double.*Float")
def test_hook_must_keep_the_type(lib):
    x = leaf(lib)
    x.register_hook(lambda g: g.double())
    x.sum().backward()


@refused("doesn't require grad")
def test_no_hook_where_no_gradient_comes(lib):
    lib.ones(2).register_hook(lambda g: g)


def test_a_hook_must_be_callable():
    with pytest.raises(TypeError, match="callable"):
        leaf(tg).register_hook(3)


# --- after a leaf's .grad has changed -------------------------------------------------------------


@both
def test_accumulated_hook_sees_the_sum(lib):
    x, seen = leaf(lib), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    for _ in range(2):
        (x * x).sum().backward()
    return seen


@both
def test_accumulated_hooks_may_be_a_whole_optimizer(lib):
    x = leaf(lib)

    def step(p):
        p.data -= 0.1 * p.grad
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
    return x, x.grad is None


@both
def test_accumulated_hooks_order_removal_and_context(lib):
    x, seen = leaf(lib), []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append(1))
    with x.register_post_accumulate_grad_hook(lambda p: seen.append(2)):
        x.sum().backward()
    handle.remove()
    x.sum().backward()
    return seen


@both
def test_accumulated_hook_runs_for_backward_inputs_and_not_for_grad(lib):
    x, seen = leaf(lib), []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2).sum().backward(inputs=[x])
    lib.autograd.grad((x * 2).sum(), x)
    return seen


@refused("should return None")
def test_accumulated_hook_returns_nothing(lib):
    x = leaf(lib)
    x.register_post_accumulate_grad_hook(lambda p: p * 2)
    x.sum().backward()


@refused("non-leaf")
def test_accumulated_hook_needs_a_leaf(lib):
    (leaf(lib) * 2).register_post_accumulate_grad_hook(lambda p: None)


@refused("doesn't require grad")
def test_accumulated_hook_needs_a_leaf_that_requires_grad(lib):
    lib.ones(2).register_post_accumulate_grad_hook(lambda p: None)


# --- on a node ------------------------------------------------------------------------------------


@both
def test_node_hooks_see_what_comes_in_and_what_goes_out(lib):
    x, seen = leaf(lib), []
    y = x * 2
    y.register_hook(lambda g: g * 5)
    y.grad_fn.register_prehook(lambda out: seen.append([g.tolist() for g in out]))
    y.grad_fn.register_hook(
        lambda into, out: seen.append((into[0].tolist(), into[1], out[0].tolist()))
    )
    y.sum().backward()
    return seen


@both
def test_node_hooks_may_replace(lib):
    x, seen = leaf(lib), []
    y = x * 2
    y.grad_fn.register_prehook(lambda out: (out[0] * 7,))
    y.grad_fn.register_hook(lambda into, out: seen.append(out[0].tolist()))
    y.grad_fn.register_hook(lambda into, out: (into[0] + 1, None))
    y.sum().backward()
    return seen, x.grad


@both
def test_node_hooks_may_end_the_flow(lib):
    x, w = leaf(lib), leaf(lib)
    y, z = x * 2, w * 2
    y.grad_fn.register_prehook(lambda out: (None,))
    z.grad_fn.register_hook(lambda into, out: (None, None))
    (y + z).sum().backward()
    return x.grad is None, w.grad is None


@both
def test_order_at_a_leaf(lib):
    x, seen = leaf(lib), []
    y = x * 2
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda out: seen.append("before the node"))
    x.register_hook(lambda g: seen.append("tensor"))
    accumulator.register_hook(lambda into, out: seen.append(("after the node", into)))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    y.sum().backward()
    return seen, accumulator.variable is x


@both
def test_prehooks_run_only_for_nodes_that_run(lib):
    x, seen = leaf(lib), []
    y = x * 2
    y.grad_fn.register_prehook(lambda out: seen.append("ran"))
    lib.autograd.grad((y * 3).sum(), y)
    return seen


@both
def test_metadata_is_kept_with_the_node(lib):
    y = leaf(lib) * 2
    y.grad_fn.metadata["note"] = 3
    return y.grad_fn.metadata, (y * 2).grad_fn.metadata


@pytest.mark.parametrize("kind", ["register_prehook", "register_hook"])
def test_wrong_returns_of_node_hooks(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of this test")

    def outcome(lib, returned):
        y = leaf(lib) * 2
        getattr(y.grad_fn, kind)(lambda *given: returned(lib, given[0]))
        try:
            y.sum().backward()
        except (RuntimeError, TypeError) as error:
            return type(error).__name__
        return "accepted"

    wrong = {
        "no tuple": lambda lib, g: g[0],
        "a list": lambda lib, g: list(g),
        "a number": lambda lib, g: 3,
        "too few": lambda lib, g: (),
        "too many": lambda lib, g: (*g, None),
        "a number inside": lambda lib, g: (3, *g[1:]),
        "another size": lambda lib, g: (lib.ones(3), *g[1:]),
        "another type": lambda lib, g: (g[0].double(), *g[1:]),
    }
    for name, returned in wrong.items():
        ours, theirs = outcome(tg, returned), outcome(torch, returned)
        assert theirs != "accepted" and ours == theirs, f"{name}: ours {ours}, PyTorch's {theirs}"


@refused("can't replace a None gradient")
def test_node_hook_cannot_make_a_gradient_from_none(lib):
    y = leaf(lib) * 2
    y.grad_fn.register_hook(lambda into, out: (into[0], lib.ones(2)))
    y.sum().backward()


# --- at the end of a pass -------------------------------------------------------------------------


def at_the_end(lib: Any, call: Any) -> None:
    if lib is tg:
        tg.autograd.hooks.queue_callback(call)
    else:
        lib.autograd.Variable._execution_engine.queue_callback(call)


@both
def test_calls_at_the_end_of_the_pass(lib):
    """Once, in order, when all gradients are there; those of a pass within a pass at its end."""
    x, y, seen = leaf(lib), leaf(lib, 3.0), []

    def note(text):
        return lambda: seen.append((text, x.grad is not None, lib.is_grad_enabled()))

    def hook(grad):
        at_the_end(lib, note("first"))
        at_the_end(lib, note("second"))
        if y.grad is None:
            with lib.enable_grad():
                inner = y * 2
            inner.register_hook(lambda grad: at_the_end(lib, note("within")))
            inner.backward()
            seen.append("inner is over")

    z = (x * 2).sum()
    z.register_hook(hook)
    z.backward()
    (x * 3).sum().backward()
    return seen, x.grad, y.grad


@refused("Final callbacks can only be installed during backward pass")
def test_outside_of_a_pass_there_is_no_end(lib):
    x = leaf(lib)
    x.register_hook(lambda grad: 1 / 0)
    try:
        x.sum().backward()
    except ZeroDivisionError:
        at_the_end(lib, lambda: None)
