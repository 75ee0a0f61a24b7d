"""All optimizers: the paths beside PyTorch's, resuming, hooks, sparse gradients, refused settings.

The rows are those of `tests/parity/optimizers.py`; `test_optim.py` has groups, state dicts and
stepping in detail for two of them.
"""

import copy
import math
import pickle
import tracemalloc

import numpy as np
import pytest

import tinygrad_course as tg
from tests import fake_cuda
from tests.parity.both import attempt, both
from tinygrad_course import nn, optim

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")

from tests.parity import optimizers as rows  # noqa: E402  (needs torch)

DENSE = [name for name in rows.BOWLS if name != "LBFGS"]
NAMES = [*DENSE, "LBFGS", "SparseAdam"]


@pytest.mark.parametrize("name", rows.BOWLS)
def test_paths_are_pytorchs_also_from_each_others_state(name) -> None:
    problems = [str(v) for v in rows.optimizers(name) if v.problem is not None]
    assert not problems


def described(value):
    """What a state holds: keys, shapes, dtypes."""
    if isinstance(value, dict):
        return {key: described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [described(entry) for entry in value]
    if hasattr(value, "detach"):
        return tuple(value.shape), str(value.dtype)
    return value if isinstance(value, str | bool | None) else type(value).__name__


@pytest.mark.parametrize("name", DENSE)
def test_state_dicts_have_pytorchs_keys_shapes_and_types(name) -> None:
    for options in rows.BOWLS[name]:
        found = []
        for lib in (tg, torch):
            ps = rows.parameters(lib, "float32")
            optimizer = getattr(lib.optim, name)(ps, **options)
            before = described(optimizer.state_dict())
            rows.take_steps(optimizer, ps, range(2))
            found.append((before, described(optimizer.state_dict()), repr(optimizer)))
        assert found[0] == found[1]


def test_the_state_of_lbfgs_has_pytorchs_keys() -> None:
    found = []
    for lib in (tg, torch):
        ps = rows.parameters(lib)
        optimizer = lib.optim.LBFGS(ps, max_iter=4)
        rows.take_steps(optimizer, ps, range(2))
        state = optimizer.state_dict()["state"][0]
        found.append({k: described(v) for k, v in state.items() if k not in ("al", "t")})
    assert found[0] == found[1]


@pytest.mark.parametrize("name", rows.BOWLS)
def test_resuming_gives_the_same_bits(name) -> None:
    # float32: the counts that NAdam and ASGD keep in it take the parameters' type when loaded.
    for options in rows.BOWLS[name]:
        ps = rows.parameters(tg, "float32")
        optimizer = getattr(optim, name)(ps, **options)
        rows.take_steps(optimizer, ps, range(6))
        fresh = [nn.Parameter(p.detach().clone()) for p in ps]
        resumed = getattr(optim, name)(fresh)
        resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        twin, others = pickle.loads(pickle.dumps((optimizer, ps)))
        path = rows.take_steps(optimizer, ps, range(6, 12))
        assert rows.take_steps(resumed, fresh, range(6, 12)) == path
        assert rows.take_steps(twin, others, range(6, 12)) == path


@pytest.mark.parametrize("name", DENSE)  # those of L-BFGS grow beyond any bound
def test_float32_is_pytorchs_to_rounding(name) -> None:
    paths = []
    for lib in (tg, torch):
        ps = rows.parameters(lib, "float32")
        paths.append(rows.take_steps(getattr(lib.optim, name)(ps), ps, range(8)))
    np.testing.assert_allclose(*paths, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", rows.BOWLS)
def test_on_the_pretended_device(name) -> None:
    for options in rows.BOWLS[name]:
        paths = []
        with fake_cuda.pretended():
            for device in ("cpu", "cuda"):
                ps = [nn.Parameter(p.detach().to(device)) for p in rows.parameters(tg)]
                optimizer = getattr(optim, name)(ps, **options)
                paths.append(rows.take_steps(optimizer, ps, range(3)))
        np.testing.assert_allclose(*paths, rtol=1e-9)


@pytest.mark.parametrize("name", DENSE)
def test_a_step_makes_no_arrays_like_the_parameter(name) -> None:
    p = nn.Parameter(tg.ones(250_000))
    p.grad = tg.ones(250_000)
    optimizer = getattr(optim, name)([p])
    optimizer.step()
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Rprop's three masks of bytes; all else lies in the spare arrays.
    assert peak < p.numel() * p.element_size() * (0.9 if name == "Rprop" else 0.1)


@pytest.mark.parametrize("name", NAMES)
def test_rates_may_be_tensors(name) -> None:
    p = nn.Parameter(tg.ones(1))
    rate = tg.tensor(0.5)
    assert getattr(optim, name)([p], lr=rate).param_groups[0]["lr"] is rate

    @both
    def bad(lib):
        make = getattr(lib.optim, name)
        return [
            attempt(lambda rate=rate: make([lib.ones(1)], lr=lib.tensor(rate)))
            for rate in ([0.1, 0.2], -0.1)
        ]

    bad()


def test_a_rate_in_a_tensor_is_read_at_each_step() -> None:
    for lib in (tg, torch):
        p = lib.nn.Parameter(lib.zeros(1))
        p.grad = lib.ones(1)
        rate = lib.tensor(0.5)
        optimizer = lib.optim.SGD([p], lr=rate)
        optimizer.step()
        rate.fill_(2.0)
        optimizer.step()
        assert p.tolist() == [-2.5]


# --- refused --------------------------------------------------------------------------------------

BAD = [
    ("Adam", {"betas": (1.0, 0.9)}),
    ("Adam", {"foreach": True, "fused": True}),
    ("Adagrad", {"lr_decay": -1}),
    ("Adagrad", {"initial_accumulator_value": -1}),
    ("Adagrad", {"eps": -1}),
    ("Adagrad", {"eps": float("nan")}),
    ("Adadelta", {"rho": 1.1}),
    ("Adadelta", {"rho": -0.1}),
    ("RMSprop", {"alpha": -0.1}),
    ("RMSprop", {"momentum": -1}),
    ("RMSprop", {"fused": True}),
    ("Rprop", {"etas": (0, 1.2)}),
    ("Rprop", {"etas": (0.5, 1.0)}),
    ("Rprop", {"lr": -1}),
    ("ASGD", {"lr": -1}),
    ("ASGD", {"weight_decay": -1}),
    ("Adamax", {"betas": (0.9, 1.0)}),
    ("NAdam", {"momentum_decay": -1}),
    ("RAdam", {"betas": (1, 0)}),
    ("RAdam", {"eps": -1}),
    ("AdamW", {"weight_decay": -1}),
    ("LBFGS", {"lr": -1}),
    ("LBFGS", {"foreach": True}),
    ("SparseAdam", {"lr": 0}),
    ("SparseAdam", {"eps": 0}),
    ("SparseAdam", {"betas": (1, 0)}),
    ("SGD", {"fused": True, "differentiable": True}),
]


@pytest.mark.parametrize("name, options", BAD, ids=str)
def test_settings_that_pytorch_refuses(name, options) -> None:
    @both
    def made(lib):
        return attempt(lambda: getattr(lib.optim, name)([lib.ones(1)], **options) and "made")

    made()
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        getattr(optim, name)([tg.ones(1)], **options)


@pytest.mark.parametrize("name", ["capturable", "differentiable"])
def test_what_is_not_there_says_so(name) -> None:
    with pytest.raises(NotImplementedError, match=f"{name}=True"):
        optim.Adam([tg.ones(1)], **{name: True})


def test_harmless_choices_of_implementation_are_taken() -> None:
    paths = []
    for options in ({}, {"foreach": True}, {"fused": True}):
        ps = rows.parameters(tg)
        paths.append(rows.take_steps(optim.Adam(ps, **options), ps, range(3)))
    assert paths[0] == paths[1] == paths[2]


@both
def test_betas_may_be_tensors_but_not_one_alone(lib):
    beta = lib.tensor(0.5)
    p = lib.nn.Parameter(lib.zeros(2))
    p.grad = lib.ones(2)
    lib.optim.Adam([p], lr=0.1, betas=(beta, beta)).step()
    return [
        p,
        attempt(lambda: lib.optim.Adam([p], betas=(beta, 0.5))),
        attempt(lambda: lib.optim.Adam([p], betas=(beta, beta), foreach=True)),
        attempt(lambda: lib.optim.AdamW([p], lr=beta, foreach=True)),
    ]


@both
def test_lbfgs_takes_one_group_and_a_closure(lib):
    p = lib.nn.Parameter(lib.ones(2))
    groups = [{"params": [p]}, {"params": [lib.nn.Parameter(lib.ones(2))]}]
    wrong = lib.optim.LBFGS([p], line_search_fn="armijo")

    def closure():
        wrong.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    return [
        attempt(lambda: lib.optim.LBFGS(groups)),
        attempt(lambda: lib.optim.LBFGS([p]).step()),
        attempt(lambda: wrong.step(closure)),
    ]


@both
def test_names_for_all_parameters_or_none(lib):
    p, q = lib.nn.Parameter(lib.ones(1)), lib.nn.Parameter(lib.ones(1))
    named = lib.optim.SGD([("p", p)], lr=0.1)
    plain = lib.optim.SGD([p], lr=0.1)
    other = lib.optim.SGD([("q", q)], lr=0.3).state_dict()
    seen = [
        attempt(lambda: lib.optim.SGD([("p", p), q])),
        attempt(lambda: named.add_param_group({"params": [q]})),
        attempt(lambda: plain.add_param_group({"params": [("q", q)]})),
    ]
    named.load_state_dict(plain.state_dict())
    seen.append(named.param_groups[0]["param_names"])
    named.load_state_dict(other)
    seen.append(named.param_groups[0]["param_names"])
    group = {"params": q}
    plain.add_param_group(group)
    return [*seen, plain.param_groups[1] is group]


def test_settings_that_every_group_must_bring() -> None:
    from tinygrad_course.optim.optimizer import required

    assert repr(required) == "<required parameter>"
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        optim.Optimizer([tg.ones(1)], {"lr": required})
    optimizer = optim.Optimizer([{"params": tg.ones(1), "lr": 3}], {"lr": required})
    assert optimizer.param_groups[0]["lr"] == 3


def test_adamw_stays_decoupled_when_it_loads_what_adam_saved() -> None:
    for lib in (tg, torch):
        ps = rows.parameters(lib)
        optimizer = lib.optim.AdamW(ps)
        optimizer.load_state_dict(lib.optim.Adam(ps, weight_decay=0.1).state_dict())
        group = optimizer.param_groups[0]
        assert group["decoupled_weight_decay"] is True and group["weight_decay"] == 0.1


@both
def test_a_load_gives_state_the_type_of_its_parameter(lib):
    p = lib.nn.Parameter(lib.ones(3))
    optimizer = lib.optim.NAdam([p])
    p.grad = lib.ones(3)
    optimizer.step()
    optimizer.state[p]["seen"] = lib.arange(3)
    double = lib.optim.NAdam([lib.nn.Parameter(lib.ones(3).double())])
    double.load_state_dict(optimizer.state_dict())
    (entry,) = double.state.values()
    return {name: (str(v.dtype), v) for name, v in entry.items()}


@both
def test_state_of_old_versions_has_plain_numbers_of_steps(lib):
    ps = rows.parameters(lib)
    optimizer = lib.optim.Adam(ps, lr=0.1)
    rows.take_steps(optimizer, ps, range(3))
    state = copy.deepcopy(optimizer.state_dict())
    for entry in state["state"].values():
        entry["step"] = int(entry["step"])
    optimizer.load_state_dict(state)
    return rows.take_steps(optimizer, ps, range(3, 6))


# --- hooks ----------------------------------------------------------------------------------------


@both
def test_hooks_around_a_step(lib):
    p = lib.nn.Parameter(lib.zeros(1))
    p.grad = lib.ones(1)
    optimizer = lib.optim.SGD([p], lr=1.0)
    log = []

    def before(opt, args, kwargs):
        log.append(("before", opt is optimizer, args[0] is optimizer, len(args), list(kwargs)))

    def after(opt, args, kwargs):
        log.append(("after", opt is optimizer, len(args), p.item()))

    first = optimizer.register_step_pre_hook(before)
    optimizer.register_step_post_hook(after)
    log.append(optimizer.step(lambda: 7))
    swapped = optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((opt, lambda: 9), {}))
    log.append(optimizer.step(lambda: 7))
    swapped.remove()
    first.remove()
    log.append(optimizer.step(closure=lambda: 5))
    with optimizer.register_step_pre_hook(lambda opt, args, kwargs: 3):
        log.append(attempt(optimizer.step))
    return log


@both
def test_hooks_around_state_dicts(lib):
    p = lib.nn.Parameter(lib.zeros(1))
    optimizer = lib.optim.SGD([p], lr=1.0)
    log = []
    optimizer.register_state_dict_pre_hook(lambda opt: log.append("save"))
    optimizer.register_state_dict_pre_hook(lambda opt: log.append("save first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda opt, state: log.append(sorted(state)))

    def faster(opt, state):
        state["param_groups"] = [{**state["param_groups"][0], "lr": 2.0}]
        return state

    optimizer.register_load_state_dict_pre_hook(faster)
    optimizer.register_load_state_dict_post_hook(lambda opt: log.append("loaded"))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    copied = copy.deepcopy(optimizer)  # has no hooks
    copied.state_dict()
    return [*log, sorted(state), state["param_groups"][0]["lr"], optimizer.param_groups[0]["lr"]]


@both
def test_an_optimizer_of_ones_own(lib):
    class Signs(lib.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1
                    p.data.sub_(group["lr"] * p.grad.sign())
            return "stepped"

    p = lib.nn.Parameter(lib.zeros(2))
    p.grad = lib.tensor([3.0, -5.0])
    optimizer = Signs([p], 0.5)
    log = []
    optimizer.register_step_post_hook(lambda *args: log.append("hook"))
    log.append(optimizer.step())
    return [log, p, optimizer.state_dict(), repr(optimizer)]


# --- sparse gradients -----------------------------------------------------------------------------

SPARSE = [
    ("SGD", {}),
    ("SGD", {"maximize": True}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"momentum": 0.9, "dampening": 0.5}),
    ("SGD", {"weight_decay": 0.1}),
    ("Adagrad", {}),
    ("Adagrad", {"maximize": True, "lr_decay": 0.1, "initial_accumulator_value": 1}),
    ("Adagrad", {"weight_decay": 0.1}),
    ("SparseAdam", {}),
    ("SparseAdam", {"maximize": True, "betas": (0.5, 0.9), "eps": 0.1}),
    *((name, {}) for name in DENSE if name not in ("SGD", "Adagrad")),
]


@pytest.mark.parametrize("name, options", SPARSE, ids=str)
def test_sparse_gradients(name, options) -> None:
    @both
    def walk(lib):
        def looked_up(step):
            index = lib.tensor([[1, 2, 1], [0, 3, 3], [1, 1, 1]][step % 3])
            optimizer.zero_grad()
            out = lib.nn.functional.embedding(index, table, sparse=True)
            (out * out).sum().backward()
            return attempt(optimizer.step)

        table = lib.nn.Parameter(lib.arange(10.0, dtype=lib.float64).view(5, 2) / 7)
        optimizer = getattr(lib.optim, name)([table], lr=0.1, **options)
        log = [looked_up(step) for step in range(4)]
        state = copy.deepcopy(optimizer.state_dict())
        optimizer = getattr(lib.optim, name)([table], lr=9.0)
        optimizer.load_state_dict(state)
        return [*log, *(looked_up(step) for step in range(4, 7)), table]

    walk()


@both
def test_lbfgs_and_sparse_adam_with_the_other_kind_of_gradient(lib):
    table = lib.nn.Parameter(lib.ones(3, 2))
    optimizer = lib.optim.LBFGS([table], lr=0.1, max_iter=3)

    def closure():
        optimizer.zero_grad()
        out = lib.nn.functional.embedding(lib.tensor([1, 1]), table, sparse=True)
        loss = (out * out).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    table.grad = lib.ones(3, 2)
    return [table, attempt(lib.optim.SparseAdam([table]).step)]


def test_sparse_gradients_on_the_pretended_device() -> None:
    for name, options in SPARSE[:5] + SPARSE[6:8] + SPARSE[9:11]:
        found = []
        with fake_cuda.pretended():
            for device in ("cpu", "cuda"):
                table = nn.Parameter(tg.ones(4, 2, device=device))
                optimizer = getattr(optim, name)([table], lr=0.1, **options)
                for _ in range(2):
                    optimizer.zero_grad()
                    index = tg.tensor([1, 3, 1], device=device)
                    out = nn.functional.embedding(index, table, sparse=True)
                    (out * out).sum().backward()
                    optimizer.step()
                found.append(table.tolist())
        np.testing.assert_allclose(*found, rtol=1e-6)


@both
def test_a_blank_line_between_the_printed_groups(lib):
    groups = [{"params": [lib.nn.Parameter(lib.ones(1))], "lr": lr} for lr in (0.1, 0.2, 0.3)]
    return repr(lib.optim.SGD(groups))


@both
def test_rprop_takes_no_step_for_what_is_no_number(lib):
    seen = []
    for odd in (math.nan, math.inf, -math.inf):
        p = lib.nn.Parameter(lib.tensor([1.0, math.inf]))
        optimizer = lib.optim.Rprop([p], lr=0.1)
        for g in (odd, 1.0, odd, -1.0, -1.0):
            p.grad = lib.tensor([g, odd])
            optimizer.step()
            seen.append(p.detach().clone())
        seen.append(optimizer.state[p])
    return seen
