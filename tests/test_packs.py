"""Small parameters that move as one vector: nobody can tell, whatever is done between steps.

Every program runs in both libraries; PyTorch moves its parameters one by one.
"""

import copy
import pickle

import numpy as np
import pytest

import tinygrad_course as tg
from tests import fake_cuda
from tests.parity.both import both
from tinygrad_course import nn, optim, randn, zeros
from tinygrad_course.optim.pack import FEW, SMALL

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")

from tests.parity import optimizers as rows  # noqa: E402  (needs torch)

ROWS = [(n, o) for n, os in rows.BOWLS.items() if n != "LBFGS" for o in os]


def parameters(lib, n=FEW + 2):
    shapes = [(2, 3), (4,), (1, 1), (), (2, 2)]
    rng = np.random.default_rng(0)
    values = [np.asarray(rng.standard_normal(shapes[i % 5])) for i in range(n)]
    return [lib.nn.Parameter(lib.tensor(v)) for v in values]


def take_step(optimizer, ps, step, without=()):
    """A step down a bowl whose bottom moves; those `without` have no gradient in it."""
    optimizer.zero_grad()
    sum(((p - step) ** 2).sum() for i, p in enumerate(ps) if i not in without).backward()
    optimizer.step()
    return [p.tolist() for p in ps]


def flat(nested):
    return [x for part in nested for x in flat(part)] if isinstance(nested, list) else [nested]


def packed(optimizer):
    return sum(len(pack.parameters) for plan in optimizer._plans.values() for pack in plan.packs)


def begun(lib, name="Adam", **options):
    ps = parameters(lib)
    optimizer = getattr(lib.optim, name)(ps, **({"lr": 0.1} | options))
    take_step(optimizer, ps, 0)
    assert lib is torch or packed(optimizer) >= FEW
    return optimizer, ps


@pytest.mark.parametrize("name, options", ROWS, ids=str)
def test_paths_and_states_are_those_of_parameters_alone(name, options) -> None:
    paths, states = [], []
    for lib in (tg, torch):
        ps = parameters(lib)
        optimizer = getattr(lib.optim, name)(ps, **options)
        paths.append([take_step(optimizer, ps, step % 3) for step in range(8)])
        state = optimizer.state_dict()["state"]
        states.append({i: {k: v.tolist() for k, v in s.items()} for i, s in state.items()})
    assert str(states[0].keys()) == str(states[1].keys())
    for key, entry in states[0].items():
        for k in entry:
            np.testing.assert_allclose(entry[k], states[1][key][k], rtol=1e-6)
    for ours, theirs in zip(*paths, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RMSprop"])
def test_whatever_happens_between_steps(name) -> None:
    np.testing.assert_allclose(*(flat(eventful(lib, name)) for lib in (tg, torch)), rtol=1e-9)


def eventful(lib, name):
    optimizer, ps = begun(lib, name)
    path = [take_step(optimizer, ps, 1, without=(2, 5))]  # gradients that are missing
    path.append(take_step(optimizer, ps, 2))
    optimizer.param_groups[0]["lr"] = 0.3
    path.append(take_step(optimizer, ps, 0))
    ps[1].data = ps[1].data.clone() + 1  # memory put under a parameter
    path.append(take_step(optimizer, ps, 1))
    ps[4].data.mul_(2)  # memory changed
    path.append(take_step(optimizer, ps, 2))
    ps[6].data = ps[1].data  # memory shared by two
    path.append(take_step(optimizer, ps, 0))
    optimizer.add_param_group({"params": parameters(lib, FEW)})
    ps += optimizer.param_groups[1]["params"]
    path.append(take_step(optimizer, ps, 1))
    del optimizer.param_groups[0]["params"][3]
    path.append(take_step(optimizer, ps, 2))
    return path


@both
def test_states_that_are_changed_by_hand(lib):
    optimizer, ps = begun(lib)
    path = []
    optimizer.state[ps[0]]["exp_avg"].mul_(3)
    path.append(take_step(optimizer, ps, 1))
    optimizer.state[ps[1]]["exp_avg_sq"] = optimizer.state[ps[1]]["exp_avg_sq"] * 2
    path.append(take_step(optimizer, ps, 2))
    optimizer.state[ps[2]]["step"] += 5
    path.append(take_step(optimizer, ps, 0))
    optimizer.state[ps[4]]["exp_avg"].data = lib.ones(2, 2, dtype=lib.float64)
    path.append(take_step(optimizer, ps, 1))
    del optimizer.state[ps[5]]
    path.append(take_step(optimizer, ps, 2))
    optimizer.state.clear()
    path.append(take_step(optimizer, ps, 0))
    return path, [optimizer.state[p]["step"].item() for p in ps]


@both
def test_nothing_that_somebody_holds_moves(lib):
    ps = parameters(lib)
    optimizer = lib.optim.Adam(ps, lr=0.1)
    seen = [p.detach().numpy() for p in ps]
    places = [p.data_ptr() for p in ps]
    take_step(optimizer, ps, 0)
    held = [optimizer.state[p]["exp_avg"] for p in ps]
    arrays = [m.numpy() for m in held]
    for step, without in ((1, ()), (2, (1,)), (0, ())):
        take_step(optimizer, ps, step, without)
    same = [p.data_ptr() == place for p, place in zip(ps, places, strict=True)]
    kept = [optimizer.state[p]["exp_avg"] is m for p, m in zip(ps, held, strict=True)]
    sizes = [(m.storage_offset(), m.untyped_storage().nbytes(), m._version > 0) for m in held]
    return [a.tolist() for a in (*seen, *arrays)], same, kept, [s[:2] for s in sizes]


@both
def test_versions_count_and_a_graph_of_before_is_refused(lib):
    optimizer, ps = begun(lib)
    before = [p._version for p in ps]
    loss = sum((p * p).sum() for p in ps)
    take_step(optimizer, ps, 1)
    try:
        loss.backward()
    except RuntimeError as error:
        refused = "modified by an inplace operation" in str(error)
    return [p._version - b for p, b in zip(ps, before, strict=True)], refused


@both
def test_copies_go_their_own_way(lib):
    optimizer, ps = begun(lib)
    twins = [pickle.loads(pickle.dumps((optimizer, ps))), copy.deepcopy((optimizer, ps))]
    fresh = parameters(lib)
    with lib.no_grad():
        for p, q in zip(fresh, ps, strict=True):
            p.copy_(q)
    resumed = lib.optim.Adam(fresh)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    paths = [[take_step(o, q, step) for step in (1, 2)] for o, q in (*twins, (resumed, fresh))]
    return [paths[0] == path for path in paths], [take_step(optimizer, ps, s) for s in (1, 2)]


def test_who_is_packed() -> None:
    big, lone = nn.Parameter(zeros(SMALL + 1)), nn.Parameter(zeros(()))
    turned = nn.Parameter(randn(3, 4).t())
    memory = zeros(6)
    tied = [nn.Parameter(memory[:4]), nn.Parameter(memory[3:])]
    small = [nn.Parameter(zeros(i, 2)) for i in range(1, FEW + 1)]
    double = [nn.Parameter(zeros(2).double()) for _ in range(FEW - 1)]
    without = nn.Parameter(zeros(3))
    ps = [big, lone, turned, *tied, *small, *double, without]
    for p in ps[:-1]:
        p.grad = p.data + 1
    optimizer = optim.SGD(ps, lr=0.1)
    optimizer.step()
    (plan,) = optimizer._plans.values()
    (pack,) = plan.packs
    assert all(p is q for p, q in zip(pack.parameters, small, strict=True))


@pytest.mark.parametrize("name, options", ROWS, ids=str)
def test_what_was_loaded_is_packed(name, options) -> None:
    ps = parameters(tg)
    optimizer = getattr(optim, name)(ps, **options)
    for step in range(3):
        take_step(optimizer, ps, step)
    fresh = [nn.Parameter(p.detach().clone()) for p in ps]
    resumed = getattr(optim, name)(fresh)
    resumed.load_state_dict(optimizer.state_dict())
    path, again = (
        [take_step(o, q, step) for step in (2, 0, 1)]
        for o, q in ((optimizer, ps), (resumed, fresh))
    )
    # Numbers such as NAdam's take the parameters' type when loaded, as in PyTorch.
    np.testing.assert_allclose(flat(again), flat(path), rtol=1e-6)
    assert packed(resumed) == FEW


def test_on_the_pretended_device() -> None:
    paths = []
    with fake_cuda.pretended():
        for device in ("cpu", "cuda"):
            ps = [nn.Parameter(p.detach().to(device)) for p in parameters(tg)]
            optimizer = optim.Adam(ps)
            paths.append([take_step(optimizer, ps, step) for step in range(3)])
            assert packed(optimizer) == FEW
    assert paths[0] == paths[1]
