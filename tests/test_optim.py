"""Optimizers in detail, by SGD and Adam: paths beside PyTorch's, groups, state dicts, closures, bad
arguments. `test_optimizers.py` has what holds for all of them."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn, optim

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")

SGDS = [
    {"lr": 0.1},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
    {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    {"lr": 0.1, "weight_decay": 0.1},
    {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "dampening": 0.2},
    {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
    {"lr": 0.1, "maximize": True},
    {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True, "maximize": True},
    {},
]
ADAMS = [
    {},
    {"lr": 0.1},
    {"lr": 0.1, "betas": (0.5, 0.9)},
    {"lr": 0.1, "betas": (0.0, 0.0), "eps": 0.1},
    {"lr": 0.1, "weight_decay": 0.1},
    {"lr": 0.1, "amsgrad": True},
    {"lr": 0.1, "maximize": True},
    {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True, "maximize": True},
]
ALL = [("SGD", options) for options in SGDS] + [("Adam", options) for options in ADAMS]


def parameters(lib, dtype="float64"):
    """Three parameters; the last one takes no part in the loss."""
    shapes = ((2, 3), (3,), (1,))
    rng = np.random.default_rng(0)
    return [lib.nn.Parameter(lib.tensor(rng.standard_normal(s).astype(dtype))) for s in shapes]


def loss_of(ps, step):
    """A bowl whose bottom moves, so that steps differ."""
    w, b, _ = ps
    return ((w * w).sum() + (w * (step % 3 - 1.0)).sum() + ((b - step) ** 2).sum()) / 7


def walk(lib, name, options, steps=12, dtype="float64"):
    """The parameters after each step."""
    ps = parameters(lib, dtype)
    optimizer = getattr(lib.optim, name)(ps, **options)
    path = []
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(ps, step).backward()
        optimizer.step()
        path.append([p.tolist() for p in ps])
    return path, optimizer, ps


def flat(nested) -> list[float]:
    return (
        list(itertools.chain.from_iterable(map(flat, nested)))
        if isinstance(nested, list)
        else [nested]
    )


@pytest.mark.parametrize("name, options", ALL, ids=str)
def test_parameters_go_the_way_they_go_in_pytorch(name, options) -> None:
    ours, theirs = (walk(lib, name, options)[0] for lib in (tg, torch))
    np.testing.assert_allclose(flat(ours), flat(theirs), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("float16", 2e-2)])
def test_other_float_types(name, dtype, rtol) -> None:
    options = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1, "eps": 1e-3}
    ours, theirs = (walk(lib, name, options, 5, dtype)[0] for lib in (tg, torch))
    np.testing.assert_allclose(flat(ours), flat(theirs), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name, options", [ALL[6], ALL[-1]], ids=str)
def test_training_goes_on_from_a_state_dict(name, options) -> None:
    path, _, _ = walk(tg, name, options, 12)
    _, optimizer, ps = walk(tg, name, options, 5)
    state = copy.deepcopy(optimizer.state_dict())
    fresh = [nn.Parameter(p.detach().clone()) for p in ps]
    resumed = getattr(optim, name)(fresh, lr=99)
    resumed.load_state_dict(state)
    for step in range(5, 12):
        resumed.zero_grad()
        loss_of(fresh, step).backward()
        resumed.step()
        assert [p.tolist() for p in fresh] == path[step]
    # What was loaded is a copy: the state that was given has not moved on.
    key = "momentum_buffer" if name == "SGD" else "exp_avg"
    assert state["state"][0][key].tolist() != resumed.state[fresh[0]][key].tolist()


def test_loaded_state_takes_the_parameters_type() -> None:
    _, optimizer, _ = walk(tg, "Adam", {"lr": 0.1}, 2, "float64")
    ps = parameters(tg, "float32")
    fresh = optim.Adam(ps)
    fresh.load_state_dict(optimizer.state_dict())
    assert fresh.state[ps[0]]["exp_avg"].dtype is tg.float32
    assert fresh.state[ps[0]]["step"].item() == 2.0
    assert fresh.param_groups[0]["lr"] == 0.1


# --- groups --------------------------------------------------------------------------------------


def test_groups_have_settings_of_their_own() -> None:
    paths = []
    for lib in (tg, torch):
        ps = parameters(lib)
        groups = [{"params": ps[:1], "lr": 0.5, "weight_decay": 0.1}, {"params": ps[1]}]
        optimizer = lib.optim.SGD(groups, lr=0.01, momentum=0.5)
        optimizer.add_param_group({"params": ps[2:], "momentum": 0.0, "note": "mine"})
        assert [g["lr"] for g in optimizer.param_groups] == [0.5, 0.01, 0.01]
        assert [g["momentum"] for g in optimizer.param_groups] == [0.5, 0.5, 0.0]
        assert [g["params"] for g in optimizer.state_dict()["param_groups"]] == [[0], [1], [2]]
        assert optimizer.state_dict()["param_groups"][2]["note"] == "mine"
        for step in range(4):
            optimizer.zero_grad()
            (loss_of(ps, step) + ps[2].sum()).backward()
            optimizer.step()
            optimizer.param_groups[1]["lr"] *= 2
        paths.append(flat([p.tolist() for p in ps]))
    np.testing.assert_allclose(*paths, rtol=1e-12)


def test_named_parameters_keep_their_names() -> None:
    for lib in (tg, torch):
        optimizer = lib.optim.SGD(lib.nn.Linear(1, 1).named_parameters(), lr=0.1)
        assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
        assert len(optimizer.param_groups[0]["params"]) == 2


def test_a_parameter_given_twice_is_warned_about() -> None:
    for lib in (tg, torch):
        p = lib.nn.Parameter(lib.ones(1))
        with pytest.warns(UserWarning, match="duplicate parameters"):
            lib.optim.SGD([p, p], lr=0.1)


# --- stepping ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_step_calls_a_closure_with_recording_on(name) -> None:
    p = nn.Parameter(tg.tensor([1.0]))
    optimizer = getattr(optim, name)([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with tg.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 1.0 and p.item() < 1.0
    assert optimizer.step() is None


def test_a_step_is_an_in_place_change_that_is_counted() -> None:
    for lib in (tg, torch):
        w = lib.nn.Parameter(lib.ones(2))
        optimizer = lib.optim.SGD([w], lr=0.1)
        loss = (w * w).sum()
        loss.backward(retain_graph=True)
        data, pointer, version = w.data, w.data_ptr(), w._version
        optimizer.step()
        assert w.data_ptr() == pointer and w._version == version + 1
        assert data.tolist() == w.tolist()
        assert w.is_leaf and w.requires_grad
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_the_gradient_stays_as_it_was() -> None:
    for name, options in ALL:
        p = nn.Parameter(tg.tensor([1.0, -2.0]))
        p.grad = tg.tensor([0.5, 0.25])
        optimizer = getattr(optim, name)([p], **options)
        optimizer.step()
        optimizer.step()
        assert p.grad.tolist() == [0.5, 0.25], (name, options)


def test_parameters_of_any_memory_order_are_moved() -> None:
    found = []
    for lib in (tg, torch):
        base = lib.arange(12.0).view(3, 4)
        for view in (base.t(), base[:, 1:3]):
            p = view.detach().requires_grad_()
            optimizer = lib.optim.Adam([p], lr=0.1, weight_decay=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                (p * p).sum().backward()
                optimizer.step()
        found.append(flat(base.tolist()))
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_zero_grad_drops_or_zeroes() -> None:
    p = nn.Parameter(tg.ones(2))
    optimizer = optim.SGD([p], lr=0.1)
    (p * p).sum().backward()
    grad = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is grad and grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert p.grad is None
    optimizer.step()
    assert p.tolist() == [1.0, 1.0]


def test_optimizers_can_be_copied_with_their_parameters() -> None:
    _, optimizer, ps = walk(tg, "Adam", {"lr": 0.1}, 3)
    for twin, others in (
        copy.deepcopy((optimizer, ps)),
        pickle.loads(pickle.dumps((optimizer, ps))),
    ):
        assert twin.param_groups[0]["params"][0] is others[0]
        assert twin.state[others[0]]["step"].item() == 3.0
        loss_of(others, 3).backward()
        twin.step()
        assert others[0].tolist() != ps[0].tolist()


# --- bad arguments -------------------------------------------------------------------------------


def made(lib, **options):
    return lib.optim.SGD([lib.nn.Parameter(lib.ones(2))], **options)


BAD = {
    "lr": lambda t: made(t, lr=-1),
    "momentum": lambda t: made(t, momentum=-1),
    "weight_decay": lambda t: made(t, weight_decay=-1),
    "nesterov without momentum": lambda t: made(t, nesterov=True),
    "nesterov with dampening": lambda t: made(t, nesterov=True, momentum=0.9, dampening=0.1),
    "no parameters": lambda t: t.optim.SGD([], lr=0.1),
    "a used-up generator": lambda t: t.optim.SGD(iter(()), lr=0.1),
    "a tensor": lambda t: t.optim.SGD(t.nn.Parameter(t.ones(2)), lr=0.1),
    "computed": lambda t: t.optim.SGD([t.nn.Parameter(t.ones(2)) * 2], lr=0.1),
    "a number": lambda t: t.optim.SGD([3], lr=0.1),
    "a set in a group": lambda t: t.optim.SGD([{"params": {t.ones(1)}}], lr=0.1),
    "a group without params": lambda t: t.optim.SGD([{"lr": 3}], lr=0.1),
    "a group that is no dict": lambda t: made(t).add_param_group(3),
    "the same in two groups": lambda t: (
        lambda p: t.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)
    )(t.nn.Parameter(t.ones(1))),
    "Adam lr": lambda t: t.optim.Adam([t.ones(1)], lr=-1),
    "Adam eps": lambda t: t.optim.Adam([t.ones(1)], eps=-1),
    "Adam beta 0": lambda t: t.optim.Adam([t.ones(1)], betas=(1, 0)),
    "Adam beta 1": lambda t: t.optim.Adam([t.ones(1)], betas=(0.9, -1)),
    "Adam betas": lambda t: t.optim.Adam([t.ones(1)], betas=0.9),
    "Adam weight_decay": lambda t: t.optim.Adam([t.ones(1)], weight_decay=-1),
    "load nothing": lambda t: made(t).load_state_dict({}),
    "load more parameters": lambda t: made(t).load_state_dict(
        t.optim.SGD([t.ones(1), t.ones(1)]).state_dict()
    ),
    "load more groups": lambda t: made(t).load_state_dict(
        t.optim.SGD([{"params": t.ones(1)}, {"params": t.ones(1)}]).state_dict()
    ),
    "closure": lambda t: made(t).step(3),
    "unknown setting": lambda t: made(t, foo=3),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_optimizers_refuse_what_pytorch_refuses(call) -> None:
    errors = []
    for lib in (tg, torch):
        with pytest.raises((TypeError, ValueError, RuntimeError, KeyError)) as caught:
            call(lib)
        errors.append(caught.type)
    assert errors[0] is errors[1]


def test_a_subclass_must_say_how_a_parameter_moves() -> None:
    p = nn.Parameter(tg.ones(1))
    optimizer = optim.Optimizer([p], {})
    optimizer.step()
    p.grad = tg.ones(1)
    with pytest.raises(NotImplementedError, match="Optimizer"):
        optimizer.step()
