"""nn.utils beside PyTorch's: clipping, norms of many tensors, parameters as a vector, weight
normalization."""

import math
import warnings

import pytest

import tinygrad_course as tg
from tests import fake_cuda
from tests.parity.both import attempt, both
from tinygrad_course import nn

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def leaves(lib):
    """Three with a gradient, one without."""
    ps = [lib.nn.Parameter(lib.ones(s, dtype=lib.float64)) for s in ((3,), (2, 2), (), (1,))]
    for p, grad in zip(ps, ([3.0, 4.0, -2.0], [[1.0, -1.0], [0.5, 0.0]], -6.0), strict=False):
        p.grad = lib.tensor(grad, dtype=lib.float64)
    return ps


INF = float("inf")
ORDERS = (2, 1, 1.5, 3, INF, -INF, 0.5, 0)


@both
def test_clipping_by_the_norm(lib):
    seen = []
    for order in ORDERS:
        for most in (1.0, 100):
            ps = leaves(lib)
            seen.append(lib.nn.utils.clip_grad_norm_(ps, most, order, foreach=False))
            seen.append([p.grad for p in ps[:3]])
    return seen


@both
def test_norms_of_many_tensors(lib):
    get = lib.nn.utils.get_total_norm
    grads = [p.grad for p in leaves(lib)[:3]]
    nan = lib.tensor([float("nan")])
    return [
        *(get(grads, order) for order in ORDERS),
        get(grads[0]),
        get(iter(grads)),
        get([]),
        get([lib.ones(0)]),
        get([nan]),
        attempt(lambda: get([lib.ones(0), lib.ones(2)], INF)),
        attempt(lambda: get([lib.tensor([1, 2])])),
        get([lib.ones(2), lib.ones(2, dtype=lib.float64)]),
        get([lib.nn.Parameter(lib.ones(2))]).requires_grad,
        attempt(lambda: get([nan], error_if_nonfinite=True)),
        attempt(lambda: lib.nn.utils.clip_grad_norm_(leaves(lib), 1.0, "x")),
    ]


@both
def test_clipping_by_a_norm_that_is_known(lib):
    ps = leaves(lib)
    total = lib.tensor(5.0, dtype=lib.float64)
    clip = lib.nn.utils.clip_grads_with_norm_
    seen = [clip(ps, 1.0, total), clip(ps[0], 100.0, total), clip([], 1.0, total)]
    return [*seen, [p.grad for p in ps[:3]], lib.nn.utils.clip_grad_norm_(iter([]), 1.0)]


@both
def test_clipping_by_value(lib):
    ps = leaves(lib)
    clip = lib.nn.utils.clip_grad_value_
    version = ps[0].grad._version
    seen = [clip(ps, 2.0), clip(ps[1], 0.75), clip(iter([ps[2]]), 3)]
    return [*seen, [p.grad for p in ps[:3]], ps[0].grad._version > version]


def test_clipping_on_the_pretended_device() -> None:
    with fake_cuda.pretended():
        p = nn.Parameter(tg.ones(3, device="cuda"))
        p.grad = tg.tensor([3.0, 4.0, -12.0], device="cuda")
        with fake_cuda.counting() as counts:
            norm = nn.utils.clip_grad_norm_([p], 6.5)
        assert norm.item() == 13 and not counts.transfers
        assert p.grad.tolist() == pytest.approx([1.5, 2.0, -6.0])
        nn.utils.clip_grad_value_(p, 1.75)
        assert p.grad.tolist() == pytest.approx([1.5, 1.75, -1.75])


@pytest.mark.parametrize("order", [1, 2, 3, math.inf])
def test_clipping_gradients_on_several_devices(order) -> None:
    found = []
    with fake_cuda.pretended(2):
        for devices in (["cpu"] * 4, ["cuda:1", "cuda:0", "cpu", "cuda:1"]):
            ps = [nn.Parameter(tg.zeros(i + 1, device=d)) for i, d in enumerate(devices)]
            for i, p in enumerate(ps):
                p.grad = tg.arange(i + 1.0, device=p.device) - 1
            norm = nn.utils.clip_grad_norm_(ps, 2.0, order)
            assert norm.device == ps[0].device
            assert [p.grad.device for p in ps] == [p.device for p in ps]
            nn.utils.clip_grad_value_(ps, 0.5)
            found.append([norm.item(), *(x for p in ps for x in p.grad.tolist())])
    assert found[1] == pytest.approx(found[0])


@both
def test_parameters_as_a_vector(lib):
    utils = lib.nn.utils
    ps = [lib.nn.Parameter(lib.arange(6.0).view(2, 3)), lib.nn.Parameter(lib.ones(()))]
    vector = utils.parameters_to_vector(iter(ps))
    (vector * vector).sum().backward()
    new = lib.arange(7.0) * 2
    utils.vector_to_parameters(new, ps)
    return [
        [vector, [p.grad for p in ps], ps],
        [p.is_leaf for p in ps],
        ps[0].data_ptr() == new.data_ptr(),
        attempt(lambda: utils.parameters_to_vector([])),
        attempt(lambda: utils.vector_to_parameters(new[:3], ps)),
        attempt(lambda: utils.vector_to_parameters([1.0], ps)),
    ]


def made(lib, dim, layer="Linear"):
    lib.manual_seed(3)
    args = (3, 2) if layer == "Linear" else (2, 3, 2)
    module = getattr(lib.nn, layer)(*args, dtype=lib.float64)
    return lib.nn.utils.weight_norm(module, dim=dim)


@both
def test_weight_norm(lib):
    seen = []
    for layer, dims in (("Linear", (0, 1, None, -1)), ("Conv2d", (0, 1, 3, -2, None))):
        for dim in dims:
            module = made(lib, dim, layer)
            x = lib.ones((3,) if layer == "Linear" else (1, 2, 3, 3), dtype=lib.float64)
            out = module(x)
            out.sum().backward()
            seen += [list(module.state_dict()), repr(module), out]
            seen += [[p.tolist(), p.grad.tolist()] for p in module.parameters()]
            with lib.no_grad():
                module.weight_g.mul_(2)
            seen += [module(x), module.weight.is_leaf]
    return seen


@both
def test_weight_norm_taken_off(lib):
    module = made(lib, 0)
    x = lib.ones(3, dtype=lib.float64)
    before = module(x)
    lib.nn.utils.remove_weight_norm(module)
    return [
        [name for name, _ in module.named_parameters()],
        module.weight,
        module(x).tolist() == before.tolist(),
        attempt(lambda: lib.nn.utils.remove_weight_norm(module)),
    ]


@both
def test_weight_norm_refused(lib):
    utils = lib.nn.utils
    module = made(lib, 0)
    return [
        attempt(lambda: utils.weight_norm(module)),
        attempt(lambda: utils.weight_norm(lib.nn.Linear(3, 2), "nope")),
        attempt(lambda: utils.weight_norm(lib.nn.Linear(3, 2), dim=2)),
        attempt(lambda: list(utils.weight_norm(lib.nn.Linear(3, 2), "bias").state_dict())),
    ]


def test_a_state_dict_of_weight_norm_loads() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saved, other = made(tg, 0), nn.utils.weight_norm(nn.Linear(3, 2, dtype=tg.float64))
    other.load_state_dict(saved.state_dict())
    x = tg.ones(3, dtype=tg.float64)
    assert other(x).tolist() == saved(x).tolist()


def test_old_names_warn() -> None:
    for lib in (tg, torch):
        with pytest.warns(FutureWarning, match="deprecated"):
            lib.nn.utils.weight_norm(lib.nn.Linear(3, 2))
        with pytest.warns(FutureWarning, match="deprecated"):
            lib.nn.utils.clip_grad_norm(leaves(lib), 1.0)
