"""Parameters side by side in one vector: nobody can tell, whatever is done between steps.

Every program runs in both libraries; PyTorch moves its parameters one by one.
"""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tinygrad_course as tg
from tests import fake_cuda, kernel_shim
from tests.parity.both import both
from tinygrad_course import nn, optim, randn, zeros
from tinygrad_course.optim import blocks
from tinygrad_course.optim.flat import SMALL

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")

from tests.parity import optimizers as rows  # noqa: E402  (needs torch)

ROWS = [(n, o) for n, os in rows.BOWLS.items() if n != "LBFGS" for o in os]


def parameters(lib, n=10):
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


def flats(optimizer):
    return [flat for plan in optimizer._plans.values() for flat in plan.flats]


def together(optimizer):
    """How many parameters move in vectors."""
    return sum(len(flat.parameters) for flat in flats(optimizer))


def begun(lib, name="Adam", **options):
    ps = parameters(lib)
    optimizer = getattr(lib.optim, name)(ps, **({"lr": 0.1} | options))
    take_step(optimizer, ps, 0)
    assert lib is torch or together(optimizer) == 8  # all but the two of no dims
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
    optimizer.add_param_group({"params": parameters(lib, 8)})
    ps += optimizer.param_groups[1]["params"]
    path.append(take_step(optimizer, ps, 1))
    del optimizer.param_groups[0]["params"][3]
    path.append(take_step(optimizer, ps, 2))
    return path


@both
def test_memory_that_parameters_have_exchanged(lib):
    a, b = (lib.nn.Parameter(lib.tensor(values)) for values in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    a.data, b.data = b.data, a.data
    a.grad, b.grad = lib.ones(3), lib.ones(3) * 2
    lib.optim.SGD([a, b], lr=0.1).step()
    return [a, b]


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


def test_who_moves_as_one() -> None:
    big, lone = nn.Parameter(zeros(SMALL["cpu"] + 1)), nn.Parameter(zeros(()))
    turned = nn.Parameter(randn(3, 4).t())
    memory = zeros(6)
    tied = [nn.Parameter(memory[:4]), nn.Parameter(memory[3:])]
    shown = [nn.Parameter(zeros(3)) for _ in range(3)]
    shown[0].data_ptr(), shown[1].data.numpy(), shown[2].data.__dlpack__()
    borrowed = nn.Parameter(tg.from_numpy(np.zeros(3, np.float32)))
    small = [nn.Parameter(zeros(i, 2)) for i in range(1, 4)]
    double, without, empty = nn.Parameter(zeros(2).double()), nn.Parameter(zeros(3)), zeros(0, 2)
    empty.requires_grad_()
    ps = [big, lone, turned, *tied, *shown, borrowed, *small, double, empty, without]
    for p in ps[:-1]:
        p.grad = p.data + 1
    optimizer = optim.SGD(ps, lr=0.1)
    optimizer.step()
    (flat,) = flats(optimizer)
    assert {id(p) for p in flat.parameters} == {id(p) for p in small}


@pytest.mark.parametrize("name, options", ROWS, ids=str)
def test_what_was_loaded_moves_as_one(name, options) -> None:
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
    assert together(resumed) == 8


def test_on_the_pretended_device() -> None:
    paths = []
    with fake_cuda.pretended():
        for device in ("cpu", "cuda"):
            ps = [nn.Parameter(p.detach().to(device)) for p in parameters(tg)]
            optimizer = optim.Adam(ps)
            paths.append([take_step(optimizer, ps, step) for step in range(3)])
            assert together(optimizer) == 8
    assert paths[0] == paths[1]


@pytest.mark.parametrize("name, options", ROWS, ids=str)
def test_large_parameters_in_blocks(name, options, monkeypatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 16)
    paths = []
    for large in (10, 1000):
        monkeypatch.setattr(blocks, "LARGE", large)
        tg.manual_seed(0)
        ps = [nn.Parameter(randn(7, 9)), nn.Parameter(randn(9, 7).t())]
        for p in ps:
            p.detach().numpy()  # so that each moves alone
        optimizer = getattr(optim, name)(ps, **options)
        paths.append([take_step(optimizer, ps, step) for step in range(4)])
        paths[-1].append([v.tolist() for p in ps for v in optimizer.state[p].values()])
    assert paths[0] == paths[1]


# --- memory ---------------------------------------------------------------------------------------


def test_storages_move_and_nothing_else_changes() -> None:
    ps = [nn.Parameter(tg.full((2, 3), float(i))) for i in range(3)]
    storages, windows = [p.storage() for p in ps], [(p.data, p.detach(), p[1], p.t()) for p in ps]
    before = [(p._version, p.stride(), p.storage_offset(), p.is_leaf) for p in ps]
    for p in ps:
        p.grad = tg.ones(2, 3)
    optimizer = optim.SGD(ps, lr=1.0)
    optimizer.step()
    (flat,) = flats(optimizer)
    assert flat.x.tolist() == [-1.0] * 6 + [0.0] * 6 + [1.0] * 6
    flat.x[:] = 7
    for p, storage, views in zip(ps, storages, windows, strict=True):
        assert p.storage() is storage and storage.nbytes() == 24
        assert all(v.storage() is storage and (v == 7).all() for v in (p, *views))
        assert (
            views[2]._base is p and views[2].storage_offset() == 3 and views[3].stride() == (1, 3)
        )
    now = [(p._version - 1, p.stride(), p.storage_offset(), p.is_leaf) for p in ps]
    assert now == before


def test_copies_and_files_hold_no_more_than_their_tensor(tmp_path) -> None:
    optimizer, ps = begun(tg)
    sizes = [p.numel() * 8 for p in ps]
    state = [optimizer.state[p]["exp_avg"] for p in ps]
    tg.save(ps[0], tmp_path / "one.pt")
    alone = nn.Parameter(tg.zeros(2, 3, dtype=tg.float64))
    tg.save(alone, tmp_path / "alone.pt")
    assert (tmp_path / "one.pt").stat().st_size == (tmp_path / "alone.pt").stat().st_size
    assert len(pickle.dumps(ps[0])) == len(pickle.dumps(alone))
    for copies in (
        pickle.loads(pickle.dumps(ps)),
        copy.deepcopy(ps),
        copy.deepcopy(state),
        [copy.copy(p) for p in ps],
        ps,
        state,
    ):
        assert [c.untyped_storage().nbytes() for c in copies] == sizes
    loaded = tg.load(tmp_path / "one.pt")
    assert loaded.tolist() == ps[0].tolist() and loaded.untyped_storage().nbytes() == sizes[0]


def test_memory_is_freed_with_the_optimizer_and_its_parameters() -> None:
    gc.collect()
    gc.disable()
    try:
        ps = [nn.Parameter(zeros(1000)) for _ in range(8)]
        optimizer = optim.Adam(ps)
        take_step(optimizer, ps, 1)
        (flat,) = flats(optimizer)
        vectors = [weakref.ref(v) for v in (flat.x, flat.g, flat.state["exp_avg"]._array)]
        del optimizer, flat
        assert [v() is None for v in vectors] == [False, True, True]
        del ps
        assert vectors[0]() is None
    finally:
        gc.enable()


@both
def test_a_parameter_that_is_resized_or_put_on_other_memory(lib):
    optimizer, ps = begun(lib)
    with lib.no_grad():
        ps[0].data.resize_(3, 3)
        ps[0].data.fill_(2)
        ps[0].data = ps[0].data[:2]
        ps[1].set_(lib.ones(6, dtype=lib.float64), 1, (4,), (1,))
    path = [take_step(optimizer, ps, step) for step in (1, 2)]
    ps[2].data.numpy()[...] = 5
    path.append(take_step(optimizer, ps, 0))
    optimizer.load_state_dict(optimizer.state_dict())
    return [*path, *(take_step(optimizer, ps, step) for step in (1, 2))]


def test_who_was_put_elsewhere_moves_with_the_others_again() -> None:
    optimizer, ps = begun(tg)
    ps[0].data = tg.ones(2, 3, dtype=tg.float64)
    optimizer.state[ps[1]]["exp_avg"] = tg.zeros(4, dtype=tg.float64)
    take_step(optimizer, ps, 1)
    (before,) = flats(optimizer)
    assert not before.stands
    take_step(optimizer, ps, 2)
    (now,) = flats(optimizer)
    assert now is not before and together(optimizer) == 8
    take_step(optimizer, ps, 1, without=(3,))
    assert flats(optimizer) == [now] and now.stands


@both
def test_a_gradient_of_rows_among_the_others(lib):
    ps = [lib.nn.Parameter(lib.ones(3, 2, dtype=lib.float64) * i) for i in range(1, 5)]
    optimizer = lib.optim.SGD(ps, lr=0.1)
    take_step(optimizer, ps, 0)
    optimizer.zero_grad()
    rows = lib.nn.functional.embedding(lib.tensor([1, 1]), ps[1], sparse=True)
    (rows.sum() + sum(p.sum() for p in ps[2:])).backward()
    optimizer.step()
    return [*ps, take_step(optimizer, ps, 2)]


@both
def test_states_that_share_memory(lib):
    optimizer, ps = begun(lib)
    shared = optimizer.state[ps[0]]["exp_avg"]
    optimizer.state[ps[5]]["exp_avg"] = shared
    path = [take_step(optimizer, ps, 1)]
    del optimizer.param_groups[0]["params"][-1]
    return [*path, take_step(optimizer, ps, 2), take_step(optimizer, ps, 0), shared]


def test_two_optimizers_of_the_same_parameters() -> None:
    paths = []
    for lib in (tg, torch):
        ps = parameters(lib)
        pair = [lib.optim.Adam(ps, lr=0.1), lib.optim.SGD(ps, lr=0.1, momentum=0.9)]
        paths.append([take_step(o, ps, step) for step in range(3) for o in pair])
    np.testing.assert_allclose(*map(flat, paths), rtol=1e-9)


@pytest.mark.parametrize("parallel", ["DataParallel", "DistributedDataParallel"])
def test_networks_in_parallel(parallel) -> None:
    def train(lib, wrap):
        net = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2)).double()
        with lib.no_grad():
            for p in net.parameters():
                p.copy_(lib.arange(p.numel(), dtype=lib.float64).view(p.shape) / 10)
        wrapped = wrap(net)
        optimizer, path = lib.optim.Adam(net.parameters(), lr=0.1), []
        for step in range(4):
            optimizer.zero_grad()
            loss = (wrapped(lib.ones(4, 3, dtype=lib.float64) * step) ** 2).mean()
            loss.backward()
            optimizer.step()
            path.append(loss.item())
        return path

    devices = {"device_ids": ["cpu", "cpu"]} if parallel == "DataParallel" else {}
    tg.distributed.init_process_group(world_size=1, rank=0)
    try:
        ours = train(tg, lambda net: getattr(nn.parallel, parallel)(net, **devices))
    finally:
        tg.distributed.destroy_process_group()
    np.testing.assert_allclose(ours, train(torch, lambda net: net), rtol=1e-9)


# --- devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in rows.BOWLS if n != "LBFGS"])
def test_state_stays_where_it_was_made_and_a_load_moves_it(name) -> None:
    options = {"lr": 0.1} | ({"momentum": 0.9} if name == "SGD" else {})
    paths = []
    with fake_cuda.pretended():
        for moved in (False, True):
            net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)).double()
            for p in net.parameters():
                nn.init.constant_(p, 0.5)
            optimizer, ps = (
                getattr(optim, name)(net.parameters(), **options),
                list(net.parameters()),
            )
            take_step(optimizer, ps, 1)
            if moved:
                net.cuda()
                optimizer.zero_grad()
                before = [p.tolist() for p in ps]
                with pytest.raises(
                    RuntimeError, match="Expected all tensors to be on the same dev"
                ):
                    take_step(optimizer, ps, 2)
                assert before == [p.tolist() for p in ps]
                optimizer.load_state_dict(optimizer.state_dict())
                entry = optimizer.state[ps[0]]
                assert all(v.is_cuda for k, v in entry.items() if v.ndim)
                assert "step" not in entry or entry["step"].is_cpu
            paths.append([take_step(optimizer, ps, step) for step in (2, 0, 1)])
            assert together(optimizer) == 4
    # Numbers such as NAdam's take the parameters' type when loaded, as in PyTorch.
    np.testing.assert_allclose(*map(flat, paths), rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in rows.BOWLS if n != "LBFGS"])
def test_parameters_on_several_devices(name) -> None:
    options = {"lr": 0.1} | ({"momentum": 0.9} if name == "SGD" else {})
    places, paths = ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cpu", "cuda:1"], []
    with fake_cuda.pretended(2):
        for devices in (places, ["cpu"] * 6):
            shapes = [(2, 3), (2,), (4, 1), (3,), (5,), ()]
            ps = [
                nn.Parameter(tg.ones(s, dtype=tg.float64, device=d))
                for s, d in zip(shapes, devices, strict=True)
            ]
            optimizer, path = getattr(optim, name)(ps, **options), []
            for step in range(4):
                for p in ps:
                    p.grad = None
                    ((p - step) ** 2).sum().backward()
                optimizer.step()
                path += [p.tolist() for p in ps]
            paths.append(path)
            assert [p.device for p in ps] == [tg.device(d) for d in devices]
            for p in ps:
                state = optimizer.state[p].items()
                assert all(v.device == p.device for k, v in state if v.shape == p.shape and v.ndim)
    np.testing.assert_allclose(*map(flat, paths), rtol=1e-12)


KERNELS = [
    ("SGD", {"lr": 0.1}, "sgd"),
    ("SGD", {"weight_decay": 0.1, "maximize": True}, "sgd"),
    ("SGD", {"momentum": 0.9}, "sgd_with_momentum"),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 1}, "sgd_with_momentum"),
    ("SGD", {"momentum": 0.5, "dampening": 0.5, "maximize": True}, "sgd_with_momentum"),
    ("Adam", {}, "adam"),
    ("Adam", {"betas": (0.5, 0.9), "eps": 1, "weight_decay": 0.1, "maximize": True}, "adam"),
    ("AdamW", {"weight_decay": 0.3}, "adam"),
]
runs_kernels = pytest.mark.skipif(
    kernel_shim.unavailable() is not None, reason=str(kernel_shim.unavailable())
)


@runs_kernels
@pytest.mark.parametrize("name, options, kernel", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_compute_the_formula(name, options, kernel, dtype) -> None:
    """Of one matrix with gradients in either order of memory, which hold inf and nan."""
    rng = np.random.default_rng(0)
    x, gradients = rng.standard_normal((30, 20)), rng.standard_normal((3, 30, 20))
    gradients[1, 0, :3] = np.inf, -np.inf, np.nan
    found = []
    with fake_cuda.pretended():
        for device in ("cpu", "cuda"):
            p = nn.Parameter(tg.tensor(x, dtype=getattr(tg, dtype), device=device))
            optimizer = getattr(optim, name)([p], **options)
            with fake_cuda.counting() as counts:
                for i, g in enumerate(gradients):
                    g = g.T if i == 2 else g
                    g = tg.tensor(np.ascontiguousarray(g)).to(p.device).to(p.dtype)
                    p.grad = g.t() if i == 2 else g
                    optimizer.step()
            state = [v for v in optimizer.state[p].values() if v.ndim]
            found.append([t.detach().cpu().numpy() for t in (p, *state)])
    assert counts.launches[kernel] == 3 and not counts.to_host
    for ours, expected in zip(*found[::-1], strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5 if dtype == "float32" else 1e-12)


@runs_kernels
@pytest.mark.parametrize("name, options, kernel", KERNELS, ids=str)
def test_a_step_on_a_gpu_is_two_launches_and_asks_it_nothing(name, options, kernel) -> None:
    with fake_cuda.pretended():
        ps = [nn.Parameter(randn(3, i, device="cuda")) for i in range(1, 30)]
        optimizer = getattr(optim, name)(ps, **options)
        take_step(optimizer, ps, 0)
        sum((p**2).sum() for p in ps).backward()
        with fake_cuda.counting() as counts:
            optimizer.step()
    assert sum(counts.launches.values()) == 2 and counts.launches[kernel] == 1
    assert not counts.transfers
