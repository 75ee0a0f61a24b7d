"""Hooks of modules: when each kind runs, what it sees, what it may return, and what survives a
copy."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections import namedtuple
from typing import Any

import pytest

import tinygrad_course as tg

from .parity.both import attempt, both, refused


def two_layers(lib: Any) -> Any:
    """(x, y) → (3 x + w y, x y): two inputs, two outputs, a parameter."""

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = lib.nn.Parameter(lib.tensor([2.0, 5.0]))

        def forward(self, x, y, times=1):
            return (x * 3 + self.w * y) * times, x * y

    return Net()


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(values or (1.0, 2.0), requires_grad=True)


# --- around forward -------------------------------------------------------------------------------


@both
def test_all_kinds_fire_in_their_order(lib):
    seen = []
    note = lambda what: lambda *given: seen.append((what, len(given)))  # noqa: E731
    inner, module = lib.nn.Tanh(), lib.nn.modules.module
    net = lib.nn.Sequential(inner)
    handles = [
        net.register_forward_hook(note("after net")),
        net.register_forward_pre_hook(note("before net")),
        net.register_full_backward_hook(note("backward net")),
        net.register_full_backward_pre_hook(note("backward before net")),
        inner.register_forward_hook(note("after inner")),
        inner.register_forward_hook(note("after inner, first"), prepend=True),
        inner.register_forward_pre_hook(note("before inner")),
        inner.register_forward_pre_hook(note("before inner, first"), prepend=True),
        inner.register_full_backward_hook(note("backward inner")),
        inner.register_full_backward_hook(note("backward inner, first"), prepend=True),
        inner.register_full_backward_pre_hook(note("backward before inner")),
        inner.register_full_backward_pre_hook(note("backward before inner, first"), prepend=True),
        module.register_module_forward_pre_hook(note("before any")),
        module.register_module_forward_hook(note("after any")),
        module.register_module_full_backward_pre_hook(note("backward before any")),
        module.register_module_full_backward_hook(note("backward any")),
    ]
    x = leaf(lib)
    net(x).sum().backward()
    for handle in handles:
        handle.remove()
    seen.append("removed")
    net(x).sum().backward()
    return seen, x.grad


@both
def test_replaced_arguments_and_outputs(lib):
    seen, net = [], two_layers(lib)
    net.register_forward_pre_hook(lambda module, args: (args[0] + 1, args[1]))
    net.register_forward_pre_hook(lambda module, args: seen.append(list(args)))
    net.register_forward_hook(lambda module, args, out: (out[0] * 10, out[1]))
    net.register_forward_hook(lambda module, args, out: seen.append([*args, *out]))
    one = lib.nn.Identity()
    one.register_forward_pre_hook(lambda module, args: args[0] * 2)  # made a tuple of one
    one.register_forward_hook(lambda module, args, out: [out])
    return net(leaf(lib), leaf(lib, 3.0, 4.0)), seen, one(leaf(lib))


@both
def test_hooks_with_kwargs(lib):
    seen, net = [], two_layers(lib)
    x = leaf(lib)

    def pre(module, args, kwargs):
        seen.append((list(args), sorted(kwargs)))
        return args, {**kwargs, "times": 7}

    net.register_forward_pre_hook(pre, with_kwargs=True)
    net.register_forward_pre_hook(lambda module, args: seen.append(len(args)))
    net.register_forward_hook(
        lambda module, args, kwargs, out: seen.append((list(args), kwargs["times"], list(out))),
        with_kwargs=True,
    )
    return net(x, y=x), net(x, x, times=3), seen


@both
def test_a_pre_hook_with_kwargs_returns_both(lib):
    net = two_layers(lib)
    found = []
    for wrong in (lambda args, kwargs: args[0], lambda args, kwargs: (args, kwargs, 1)):
        hook = lambda module, args, kwargs: wrong(args, kwargs)  # noqa: E731, B023
        with net.register_forward_pre_hook(hook, with_kwargs=True):
            found.append(attempt(lambda: net(leaf(lib), leaf(lib))))
    return found


@both
def test_hooks_that_are_called_always(lib):
    seen = []

    class Broken(lib.nn.Module):
        def forward(self, x):
            raise ValueError("forward broke")

    net = Broken()
    net.register_forward_hook(lambda module, args, out: seen.append("not called"))
    net.register_forward_hook(
        lambda module, args, out: seen.append(("always", len(args), out)), always_call=True
    )
    net.register_forward_hook(
        lambda module, args, kwargs, out: seen.append(("with kwargs", out)),
        with_kwargs=True,
        always_call=True,
    )

    def broken_hook(module, args, out):
        seen.append("broken hook")
        raise KeyError("the hook broke, too")

    net.register_forward_hook(broken_hook, always_call=True)
    net.register_forward_hook(lambda *given: seen.append("last"), always_call=True)
    return attempt(lambda: net(1)), seen


@both
def test_always_called_hooks_after_a_hook_that_raised(lib):
    seen, net = [], lib.nn.Identity()

    def raising(module, args, out):
        seen.append("raising")
        raise ValueError("once")

    net.register_forward_hook(lambda *given: seen.append("before"), always_call=True)
    net.register_forward_hook(raising, always_call=True)
    net.register_forward_hook(lambda *given: seen.append("passed by"))
    net.register_forward_hook(lambda *given: seen.append("after"), always_call=True)
    found = attempt(lambda: net(1))
    net.register_forward_pre_hook(lambda *given: 1 / 0)
    return found, attempt(lambda: net(1)), seen


@both
def test_a_global_hook_that_is_called_always(lib):
    seen = []
    register = lib.nn.modules.module.register_module_forward_hook
    with register(lambda module, args, out: seen.append(type(module).__name__), always_call=True):
        found = attempt(lambda: lib.nn.Sequential(lib.nn.Identity(), lib.nn.Module())(1))
    return found, seen


def test_a_silenced_hook_is_reported() -> None:
    net = tg.nn.Module()
    net.register_forward_hook(lambda *given: 1 / 0, always_call=True)
    with (
        pytest.warns(UserWarning, match="hook of Module .*silenced.*division by zero"),
        pytest.raises(NotImplementedError, match="forward"),
    ):
        net(1)


@both
def test_handles(lib):
    seen, net = [], lib.nn.Identity()
    with net.register_forward_hook(lambda *given: seen.append("within")) as handle:
        seen.append(isinstance(handle, lib.utils.hooks.RemovableHandle))
        net(1)
    net(2)
    handle.remove()
    kept = net.register_forward_hook(lambda *given: seen.append("kept"))
    net.register_forward_pre_hook(lambda *given: kept.remove())  # before its turn, in the call
    net(3)
    return seen, len({handle.id, kept.id})


@both
def test_hooks_of_a_parent_see_replaced_outputs_of_its_children(lib):
    seen, net = [], lib.nn.Sequential(lib.nn.Identity(), lib.nn.Identity())
    net[0].register_forward_hook(lambda module, args, out: out + 1)
    net[1].register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    net.register_forward_hook(lambda module, args, out: out * 2)
    return net(5), seen


def test_what_is_no_function_is_refused_when_it_is_registered() -> None:
    net = tg.nn.Identity()
    for register in (
        net.register_forward_hook,
        net.register_forward_pre_hook,
        net.register_full_backward_hook,
        net.register_state_dict_pre_hook,
    ):
        with pytest.raises(TypeError, match="callable, not int"):
            register(3)
    assert net(1) == 1


# --- gradients at the borders ---------------------------------------------------------------------


@both
def test_full_backward_hook_sees_inputs_and_outputs(lib):
    seen, net = [], two_layers(lib)
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    x, y = leaf(lib), leaf(lib, 3.0, 4.0)
    a, b = net(x, y)
    (a.sum() + (b * b).sum()).backward()
    return seen, x.grad, y.grad, net.w.grad


@both
def test_replaced_gradients(lib):
    net, seen = two_layers(lib), []
    net.register_full_backward_pre_hook(lambda module, go: (go[0] * 2, go[1]))
    net.register_full_backward_pre_hook(lambda module, go: seen.append(list(go)))
    net.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10, gi[1]))
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    x, y = leaf(lib), leaf(lib, 3.0, 4.0)
    a, b = net(x, y)
    (a.sum() + b.sum()).backward()
    return seen, x.grad, y.grad, net.w.grad


@both
def test_unused_outputs_and_inputs_that_are_no_tensors(lib):
    seen, net = [], two_layers(lib)
    net.register_full_backward_pre_hook(lambda module, go: seen.append(list(go)))
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    x = leaf(lib)
    a, b = net(x, lib.tensor([3.0, 4.0]), 2)
    a.sum().backward()
    b2 = net(x, leaf(lib))[1]
    b2.sum().backward()
    return seen, x.grad, a.grad_fn.name(), b.requires_grad


@both
def test_a_hook_that_returns_too_few(lib):
    net = two_layers(lib)
    x, found = leaf(lib), []
    run = lambda: net(x, x)[0].sum().backward()  # noqa: E731
    with net.register_full_backward_hook(lambda module, gi, go: gi[:1]):
        found.append(attempt(run))
    with net.register_full_backward_pre_hook(lambda module, go: go[:1]):
        found.append(attempt(run))
    return found


@both
def test_no_input_requires_a_gradient(lib):
    net, seen = two_layers(lib), []
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    x = lib.tensor([1.0, 2.0])
    net(x, x)[0].sum().backward()
    net.register_full_backward_hook(lambda module, gi, go: (None, None))
    net(x, x)[0].sum().backward()
    net.register_full_backward_hook(lambda module, gi, go: go)
    return seen, net.w.grad, attempt(lambda: net(x, x)[0].sum().backward())


def test_no_input_requires_a_gradient_is_reported() -> None:
    net = two_layers(tg)
    net.register_full_backward_hook(lambda *given: None)
    x = tg.tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="no inputs require gradients: Net"):
        net(x, x)[0].sum().backward()


@both
def test_hooks_without_recording(lib):
    net, seen = two_layers(lib), []
    net.register_full_backward_hook(lambda *given: seen.append("backward"))
    net.register_forward_hook(lambda module, args, out: seen.append(out[0].requires_grad))
    with lib.no_grad():
        out = net(leaf(lib), leaf(lib))
    return seen, out


@both
def test_inputs_and_outputs_cannot_be_changed_in_place(lib):
    class Inside(lib.nn.Module):
        def forward(self, x, y):
            y.add_(1)  # requires no gradient
            x.add_(1)
            return x

    inside, identity = Inside(), lib.nn.Identity()
    for module in (inside, identity):
        module.register_full_backward_hook(lambda *given: None)
    out = identity(leaf(lib))
    x = leaf(lib) * 1
    return [
        attempt(lambda: inside(x, lib.zeros(2))),
        attempt(lambda: out.mul_(2)),
        (identity(x).clone().mul_(2)),
    ]


@both
def test_outputs_in_other_containers(lib):
    Pair = namedtuple("Pair", "a b")
    seen = []

    class Wrap(lib.nn.Module):
        def __init__(self, wrap):
            super().__init__()
            self.wrap = wrap

        def forward(self, x):
            return self.wrap(x * 2)

    results = []
    for wrap in (
        lambda t: [t, t + 1],
        lambda t: {"t": t},
        lambda t: Pair(t, 3),
        lambda t: (t, None, t),
        lambda t: None,
        lambda t: (),
    ):
        net, x = Wrap(wrap), leaf(lib)
        net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
        out = net(x)
        first = out["t"] if isinstance(out, dict) else out[0] if out else None
        if first is not None:
            first.sum().backward()
        results.append((type(out).__name__, x.grad))
    return seen, results


def test_outputs_that_have_no_borders_are_reported() -> None:
    net = tg.nn.Identity()
    net.register_full_backward_hook(lambda *given: None)
    with pytest.warns(UserWarning, match="a Tensor or a tuple of Tensors but received .*list"):
        net([1])


@both
def test_a_hook_in_the_second_derivative(lib):
    seen, net = [], lib.nn.Tanh()
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    x = leaf(lib)
    (g,) = lib.autograd.grad((net(x) ** 2).sum(), x, create_graph=True)
    (h,) = lib.autograd.grad((g * g).sum(), x)
    return len(seen), seen[0], g, h


@both
def test_a_replaced_gradient_has_a_derivative(lib):
    net, x = lib.nn.Tanh(), leaf(lib)
    net.register_full_backward_hook(lambda module, gi, go: (gi[0] ** 3,))
    (g,) = lib.autograd.grad(net(x).sum(), x, create_graph=True)
    g.sum().backward()
    return g, x.grad


def test_borders_alone_change_no_derivative() -> None:
    net = two_layers(tg).double()
    net.register_full_backward_hook(lambda *given: None)
    net.register_full_backward_pre_hook(lambda *given: None)
    x, y = leaf(tg).detach().double(), leaf(tg, 3.0, 4.0).detach().double()
    x.requires_grad_()
    y.requires_grad_()
    assert tg.autograd.gradcheck(net, (x, y)) and tg.autograd.gradgradcheck(net, (x, y))


@both
def test_one_module_called_twice(lib):
    seen, net, x = [], lib.nn.Tanh(), leaf(lib)
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    net(net(x)).sum().backward()
    return seen, x.grad


@both
def test_backward_twice_through_one_call(lib):
    seen, net, x = [], lib.nn.Tanh(), leaf(lib)
    net.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    loss = net(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    return seen, x.grad


# --- the old kind and its flaw --------------------------------------------------------------------


@both
def test_the_old_hook_sees_the_last_operation_only(lib):
    class Net(lib.nn.Module):
        def forward(self, x, y):
            return x.exp() * y  # the hook sits on the product: it misses exp

    seen, net, x, y = [], Net(), leaf(lib), leaf(lib)
    net.register_backward_hook(lambda module, gi, go: seen.append((list(gi), list(go))))
    net(x, y).sum().backward()
    return seen, x.grad, y.grad


@both
def test_the_old_hook_replaces_what_the_last_operation_returns(lib):
    class Net(lib.nn.Module):
        def forward(self, x):
            return x.exp() * 3

    net, x = Net(), leaf(lib, 0.0, 1.0)
    net.register_backward_hook(lambda module, gi, go: (gi[0] * 100, *gi[1:]))
    net(x).sum().backward()
    return x.grad


@both
def test_the_old_hook_takes_the_first_tensor_of_an_output(lib):
    seen = []
    for wrap in (lambda t: [[t]], lambda t: {"n": 1, "t": t}, lambda t: (t, t + 1)):
        net = lib.nn.Identity()
        net.forward = lambda x, wrap=wrap: wrap(x * 2)
        net.register_backward_hook(lambda module, gi, go: seen.append(list(go)))
        out = net(leaf(lib))
        first = out["t"] if isinstance(out, dict) else out[0]
        (first[0] if isinstance(first, list) else first).sum().backward()
    net(lib.ones(2))  # nothing to hang a hook on
    return seen


FLAWS = {
    "single Tensor or a tuple of Tensors,.* deprecated": lambda x: [x * 2],
    "different autograd Nodes": lambda x: (x * 2, x * 3),
    "multiple autograd Nodes": lambda x: (x * 2).exp(),
}


@pytest.mark.parametrize("text", FLAWS)
def test_the_old_hook_warns_of_its_flaw(text: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    for lib in (torch, tg):
        net = lib.nn.Identity()
        net.forward = FLAWS[text]
        net.register_backward_hook(lambda *given: None)
        with pytest.warns(FutureWarning, match=text if lib is tg else "non-full backward hook"):
            net(leaf(lib) * 1)


def test_the_old_hook_on_a_single_operation_is_right() -> None:
    net, x = tg.nn.Tanh(), leaf(tg)
    seen = []
    net.register_backward_hook(lambda module, gi, go: seen.append(gi))
    net(x * 1).sum().backward()  # no warning
    assert seen[0][0].tolist() == pytest.approx((1 - x.detach().tanh() ** 2).tolist())


@both
def test_the_kinds_cannot_be_mixed(lib):
    def mixed(first, second):
        net = lib.nn.Identity()
        getattr(net, first)(print)
        getattr(net, second)(print)

    old, full, pre = (
        f"register_{kind}"
        for kind in ("backward_hook", "full_backward_hook", "full_backward_pre_hook")
    )
    return [
        attempt(lambda a=a, b=b: mixed(a, b))
        for a, b in ((old, full), (full, old), (old, pre), (pre, old), (full, pre))
    ]


@refused("single Module, here a Linear")
def test_the_error_for_a_mixture_names_the_module(lib):
    net = lib.nn.Linear(1, 1)
    net.register_backward_hook(print)
    net.register_full_backward_hook(print)


# --- state dicts ----------------------------------------------------------------------------------


@both
def test_hooks_around_saving(lib):
    seen, net = [], lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Identity())

    def after(module, state, prefix, metadata):
        seen.append(("after", prefix, list(state), dict(metadata)))
        state[prefix + "note"] = 3

    net[0].register_state_dict_post_hook(after)
    net.register_state_dict_pre_hook(lambda *given: seen.append(("before", *given[1:])))
    net[1].register_state_dict_pre_hook(lambda *given: seen.append(("inner", *given[1:])))
    state = net.state_dict(prefix="p.", keep_vars=True)
    net[1]._register_state_dict_hook(lambda module, state, prefix, metadata: {"other": 1})
    renamed = net[1].state_dict()
    net.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    return seen, list(state), renamed, attempt(net.state_dict)


@both
def test_hooks_around_loading(lib):
    seen, net = [], lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Identity())

    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((type(module).__name__, prefix, sorted(state), metadata, strict))
        if prefix + "w" in state:
            state[prefix + "weight"] = state.pop(prefix + "w")

    def loaded(module, keys):
        seen.append((type(module).__name__, list(keys.missing_keys), list(keys.unexpected_keys)))
        keys.missing_keys.clear()

    net[0].register_load_state_dict_pre_hook(rename)
    net[0]._register_load_state_dict_pre_hook(lambda *given: seen.append(len(given)))
    net[0]._register_load_state_dict_pre_hook(lambda m, *given: seen.append(len(given)), True)
    net[0].register_load_state_dict_post_hook(loaded)
    net.register_load_state_dict_post_hook(loaded)
    given = {"0.w": lib.tensor([[7.0]])}
    keys = net.load_state_dict(given)
    net.register_load_state_dict_post_hook(lambda module, keys: keys)
    return seen, keys, list(given), net[0].weight, attempt(lambda: net.load_state_dict(given))


# --- filing ---------------------------------------------------------------------------------------


@both
def test_hooks_on_filing(lib):
    seen, module = [], lib.nn.modules.module

    def note(owner, name, value):
        seen.append((type(owner).__name__, name, value is None))

    handles = [
        module.register_module_parameter_registration_hook(note),
        module.register_module_buffer_registration_hook(note),
        module.register_module_module_registration_hook(note),
        module.register_module_buffer_registration_hook(lambda owner, name, value: value + 1),
    ]
    net = lib.nn.Sequential(lib.nn.Linear(1, 1, bias=False))
    net.register_buffer("count", lib.zeros(1))
    net.count = lib.ones(1)
    net.act = lib.nn.ReLU()
    net.weight = lib.nn.Parameter(lib.ones(1))
    for handle in handles:
        handle.remove()
    net.other = lib.nn.ReLU()
    return seen, net.count


# --- copies ---------------------------------------------------------------------------------------

calls: list[str] = []


def noted(module: Any, *given: Any) -> None:
    calls.append(type(module).__name__)


class WithHandle(tg.nn.Identity):
    def __init__(self) -> None:
        super().__init__()
        self.handle = self.register_forward_hook(noted)


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["copy", "pickle"]
)
def test_hooks_go_with_a_copy_and_a_handle_with_its_module(twin) -> None:
    net = tg.nn.Sequential(WithHandle())
    net.register_forward_pre_hook(noted)
    net.register_full_backward_hook(noted)
    net.register_state_dict_pre_hook(noted)
    net.register_load_state_dict_pre_hook(noted)
    other = twin(net)
    calls.clear()
    x = tg.ones(1, requires_grad=True)
    other(x).sum().backward()
    assert calls == ["Sequential", "WithHandle", "Sequential"]
    other.load_state_dict(other.state_dict())
    assert calls[3:] == ["Sequential"] * 2
    calls.clear()
    other[0].handle.remove()
    other[0](1)
    assert calls == []
    net[0](1)
    assert calls == ["WithHandle"]
    other.register_forward_pre_hook(noted)  # beside those that came along
    calls.clear()
    other(x)
    assert calls == ["Sequential"] * 2


def test_a_hook_that_is_a_method_goes_over_to_the_copy() -> None:
    class Counting(tg.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0
            self.register_forward_hook(self.add)

        def add(self, *given: Any) -> None:
            self.count += 1

        def forward(self, x: Any) -> Any:
            return x

    net = Counting()
    twin = copy.deepcopy(net)
    twin(1)
    assert (net.count, twin.count) == (0, 1)


def test_calls_are_cheap_again_when_the_hooks_of_all_modules_are_gone() -> None:
    net = tg.nn.Identity()
    with tg.nn.modules.module.register_module_forward_hook(noted):
        assert net._module_hooks is not None
    assert net(1) == 1
    assert net._module_hooks is None


def test_a_handle_does_not_keep_its_module_alive() -> None:
    net = tg.nn.Identity()
    handle, alive = net.register_forward_hook(noted), weakref.ref(net)
    del net
    assert alive() is None
    handle.remove()
