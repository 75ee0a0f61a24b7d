"""tg.cuda and devices: without a GPU as PyTorch's CPU build, with pretended ones by their rules."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import tinygrad_course as tg

from . import fake_cuda
from .gpu import rows
from .parity.both import attempt, both
from .parity.calls import Made, forms_of, perform
from .samples import SAMPLES

NONE = tg.cuda.unavailable_reason() is not None
no_gpu = pytest.mark.skipif(not NONE, reason="there is a GPU")


@pytest.fixture
def two():
    with fake_cuda.pretended(2):
        yield


# --- without a GPU --------------------------------------------------------------------------------


@no_gpu
@both
def test_what_works_anywhere(lib):
    cuda = lib.cuda
    found = [cuda.is_available(), cuda.device_count(), cuda.is_initialized()]
    found += [cuda.memory_allocated(), cuda.memory_reserved(), cuda.empty_cache()]
    lib.manual_seed(0)
    found += [cuda.manual_seed(3), cuda.manual_seed_all(3), lib.rand(2).tolist()]
    found += [cuda.seed(), cuda.seed_all(), cuda.get_rng_state_all(), cuda.set_device(-1)]
    with cuda.device(-1), cuda.device_of(lib.ones(1)), cuda.stream(None):
        found.append(cuda.set_stream(None))
    return found


@no_gpu
@pytest.mark.parametrize(
    "call",
    [
        lambda cuda: cuda.init(),
        lambda cuda: cuda.current_device(),
        lambda cuda: cuda.set_device(0),
        lambda cuda: cuda.set_device("cuda:1"),
        lambda cuda: cuda.device(0).__enter__(),
        lambda cuda: cuda.synchronize(),
        lambda cuda: cuda.mem_get_info(),
        lambda cuda: cuda.initial_seed(),
        lambda cuda: cuda.get_rng_state(),
        lambda cuda: cuda.get_device_name(),
        lambda cuda: cuda.get_device_capability(),
        lambda cuda: cuda.get_device_properties(0),
        lambda cuda: cuda.Event(),
        lambda cuda: cuda.Stream(),
        lambda cuda: cuda.current_stream(),
        lambda cuda: cuda.default_stream(),
        lambda cuda: tg.ones(1).cuda(),
        lambda cuda: tg.ones(1).cuda(1),
        lambda cuda: tg.ones(1).to(0),
        lambda cuda: tg.ones(1, device="cuda"),
        lambda cuda: tg.ones(1, device=0),
        lambda cuda: tg.nn.Linear(1, 1).cuda(),
    ],
)
def test_the_rest_says_why_not(call):
    with pytest.raises(RuntimeError, match=r"CuPy|CUDA"):
        call(tg.cuda)


@both
def test_devices_that_are_wrong(lib):
    return [
        attempt(lambda name=name: lib.device(name))
        for name in (None, "gpu", "", "CPU", "cuda:-1", "cuda:01", "cuda:x", "cpu:0:1", 1.5)
    ] + [
        attempt(lambda: lib.device("cuda", -1)),
        attempt(lambda: lib.device("cuda:0", 1)),
        attempt(lambda: lib.device(-1)),
        attempt(lambda: lib.cuda.set_device("cpu")),
        attempt(lambda: lib.cuda.device("cpu")),
        attempt(lambda: lib.ones(1).cuda("cpu")),
        attempt(lambda: lib.ones(1, device=-1)),
        attempt(lambda: lib.ones(1).to("foo")),
        attempt(lambda: lib.get_device_module("foo")),
        attempt(lambda: lib.get_device_module(0)),
        attempt(lambda: lib.ones(1).record_stream(None)),
        attempt(lambda: lib.set_default_device("foo")),
    ]


@both
def test_devices_and_moves_on_the_cpu(lib):
    x = lib.ones(2)
    moved = [
        *(x.to("cpu"), x.to(lib.device("cpu"), lib.float64), x.to(None), x.to(), x.cpu()),
        *(x.to(device="cpu", dtype=lib.int32), x.to(x.double(), non_blocking=True)),
        *(x.to(lib.float16, True), lib.ones(1, device="cpu:3")),
    ]
    found = [[str(m.device), str(m.dtype), m is x, m.get_device(), m.is_cuda] for m in moved]
    with lib.device("cpu") as place:
        found.append([repr(place), lib.get_default_device().type, lib.ones(1).device.type])
    lib.set_default_device("cpu")
    lib.set_default_device(None)
    found.append(repr(lib.get_default_device()))
    cpu = lib.get_device_module("cpu")
    found.append([cpu.is_available(), cpu.device_count(), cpu.current_device(), cpu.synchronize()])
    found.append(
        [lib.device(type="cuda", index=1) == lib.device("cuda:1"), str(lib.device("cpu:2"))]
    )
    return found


def test_names_and_arguments_are_pytorchs():
    torch = pytest.importorskip("torch", reason="the signatures are PyTorch's")
    for name in tg.cuda.__all__:
        ours = getattr(tg.cuda, name)
        if name == "unavailable_reason" or ours.__name__ == "_no_peaks":
            continue
        theirs = inspect.signature(getattr(torch.cuda, name)).parameters.values()
        wanted = [(p.name, p.default) for p in theirs if p.kind is not p.VAR_KEYWORD]
        found = inspect.signature(ours).parameters.values()
        assert [(p.name, p.default) for p in found] == wanted, name
    for name in ("set_default_device", "get_default_device", "get_device_module"):
        wanted, found = (list(inspect.signature(getattr(m, name)).parameters) for m in (torch, tg))
        assert wanted == found


# --- several devices ------------------------------------------------------------------------------


def test_the_current_device(two):
    cuda = tg.cuda
    assert (cuda.device_count(), cuda.current_device(), cuda.is_initialized()) == (2, 0, True)
    x = tg.ones(2).cuda()
    assert str(x.device) == "cuda:0" and x.get_device() == 0
    with cuda.device(1):
        assert cuda.current_device() == 1
        y = tg.ones(2, device="cuda")
        assert str(y.device) == str(tg.rand(2, device="cuda").device) == "cuda:1"
        assert str(x.to("cuda").device) == str(x.cuda().device) == "cuda:1"  # moved, as PyTorch's
        with cuda.device("cuda:0"):
            assert cuda.current_device() == 0
        with cuda.device_of(x), cuda.device(None):
            assert cuda.current_device() == 0
    assert cuda.current_device() == 0 and y.cuda(1) is y and y.to(1) is y
    cuda.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
    thread.start(), thread.join()
    assert seen == [0] and cuda.current_device() == 1
    for wrong in (lambda: cuda.set_device(2), lambda: x.cuda(7), lambda: tg.ones(1, device=2)):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            wrong()


def test_operations_run_where_their_tensors_are(two):
    x = tg.randn(3, 4, device="cuda:1", requires_grad=True)
    here = x.detach().cpu().requires_grad_()
    for v in (x, here):
        tg.manual_seed(0)
        y = (v.exp() @ v.t()).softmax(1)[1:].clone()
        y[0] = 2
        y *= 3
        (y.sum() + tg.nn.functional.dropout(v).sum() + v[1].sum()).backward()
    assert x.grad.get_device() == 1 and tg.cuda.current_device() == 0
    np.testing.assert_allclose(x.grad.cpu().numpy(), here.grad.numpy(), rtol=1e-5)
    model = tg.nn.Linear(4, 2).to("cuda:1")
    optimizer = tg.optim.Adam(model.parameters())
    model(x.detach()).sum().backward()
    optimizer.step()
    assert {p.get_device() for p in model.parameters()} == {1}
    z = tg.ones(2, device="cuda:0")
    with pytest.raises(RuntimeError, match=r"cuda:1 and cuda:0|cuda:0 and cuda:1"):
        z + x[0, :2]
    assert (z + 1).device == z.device and str(tg.ones(1, device="cuda").device) == "cuda:0"


def test_from_one_device_to_another_without_the_host(two):
    x = tg.arange(24.0).view(2, 3, 4).permute(2, 0, 1).cuda(0)
    with fake_cuda.counting() as counts:
        y = x.to("cuda:1")
    assert not counts.transfers and y.get_device() == 1
    assert y.stride() == x.stride() and y.tolist() == x.tolist()


def test_factories_of_a_default_device(two):
    x = tg.ones(2)
    with tg.device("cuda:1") as place:
        assert place == tg.device("cuda:1") == tg.get_default_device()
        made = [
            *(tg.zeros(2), tg.empty(1), tg.full((2,), 3), tg.arange(3), tg.linspace(0, 1, 3)),
            *(tg.tensor([1.0]), tg.as_tensor([1.0]), tg.as_tensor(x), tg.eye(2), tg.rand(2)),
            *(tg.randint(3, (2,)), tg.randperm(3), tg.tril_indices(2, 2), tg.scalar_tensor(1)),
            *tg.nn.BatchNorm1d(2).state_dict().values(),
            *tg.nn.LSTM(2, 2).parameters(),
        ]
        kept = [
            *(tg.zeros_like(x), tg.rand_like(x), x.new_zeros(2), x.new_tensor([1]), x * 2),
            *(tg.from_numpy(np.ones(2)), tg.zeros(1, device="cpu"), tg.FloatTensor(2)),
        ]
        with tg.device("cpu"):
            kept.append(tg.zeros(1))
    assert {str(t.device) for t in made} == {"cuda:1"}
    assert {str(t.device) for t in kept} == {"cpu"} and tg.ones(1).device.type == "cpu"
    tg.set_default_device("cuda")
    try:
        assert str(tg.ones(1).device) == str(tg.get_default_device()) == "cuda:0"
        seen = []
        thread = threading.Thread(target=lambda: seen.append(str(tg.ones(1).device)))
        thread.start(), thread.join()
        assert seen == ["cpu"]
    finally:
        tg.set_default_device(None)
    assert tg.get_device_module() is tg.cuda and tg.get_device_module("cpu") is tg.cpu


# Each family of operations, and those that make tensors on their way.
ON_THEIR_WAY = """
    where std quantile softmax cdist median histc unique roll prod logsumexp ctc_loss
    nn.functional.unfold nn.functional.embedding_bag nn.functional.interpolate
    nn.functional.adaptive_avg_pool2d nn.functional.cross_entropy nn.functional.dropout
    nn.functional.huber_loss nn.functional.one_hot nn.functional.batch_norm
""".split()


@pytest.mark.parametrize("name", ON_THEIR_WAY)
def test_a_default_device_is_for_factories_alone(two, name):
    """What operations make on their way stays with their operands."""
    for call in SAMPLES[name].calls:
        made = Made(tg, call, grad=True)
        with tg.device("cuda"), fake_cuda.counting() as counts:
            seen = [perform(made, name, forms_of(name)[-1])]
            if made.leaves:
                seen.append(rows.gradients(made.leaves, rows.tensors(seen[0])))
        assert all(t.device.type == "cpu" for t in rows.tensors(seen)), f"{name}{call}"
        assert not counts.launches and not counts.transfers, f"{name}{call}: {counts}"


def test_modules_keep_their_parameters(two):
    model = tg.nn.BatchNorm1d(2)
    model(tg.rand(3, 2)).sum().backward()
    parameters = list(model.parameters())
    optimizer = tg.optim.SGD(model.parameters(), 0.1)
    for move, place in (
        (lambda: model.cuda(), "cuda:0"),
        (lambda: model.cuda(1), "cuda:1"),
        (lambda: model.to(tg.device("cuda", 0)), "cuda:0"),
        (lambda: model.to("cuda:1", tg.float64), "cuda:1"),
        (lambda: model.cpu(), "cpu"),
    ):
        assert move() is model
        assert all(p is q for p, q in zip(model.parameters(), parameters, strict=True))
        tensors = [*model.state_dict().values(), *(p.grad for p in parameters)]
        assert {str(t.device) for t in tensors} == {place}
        optimizer.step()
    with pytest.raises(RuntimeError, match="cuda device"):
        model.cuda("cpu")


# --- memory, seeds, what a device is --------------------------------------------------------------


def test_memory(two):
    cuda = tg.cuda
    cuda.empty_cache()
    before = cuda.memory_allocated(), cuda.memory_allocated("cuda:1")
    x = tg.ones(1000, device="cuda:1")
    half = x[:500]
    assert (cuda.memory_allocated(), cuda.memory_allocated(1)) == (before[0], before[1] + 4096)
    free, total = cuda.mem_get_info(1)
    assert 0 < free < total
    del x, half
    assert cuda.memory_allocated(1) == before[1] <= cuda.memory_reserved(1) - 4096
    cuda.empty_cache()
    assert cuda.memory_reserved(1) == before[1]
    for peak in (cuda.max_memory_allocated, cuda.max_memory_reserved, cuda.reset_peak_memory_stats):
        with pytest.raises(NotImplementedError, match="memory_allocated"):
            peak()


def test_seeds_are_those_of_the_cpu(two):
    tg.cuda.manual_seed(3)
    drawn = tg.rand(3, device="cuda").tolist()
    assert tg.cuda.initial_seed() == tg.initial_seed() == 3
    tg.manual_seed(3)
    state = tg.cuda.get_rng_state()
    assert tg.rand(3).tolist() == drawn
    tg.cuda.set_rng_state(state, 1)
    assert tg.rand(3, device="cuda:1").tolist() == drawn
    states = tg.cuda.get_rng_state_all()
    tg.cuda.seed(), tg.cuda.seed_all()
    tg.cuda.set_rng_state_all(states)
    assert len(states) == 2 and (tg.get_rng_state() == states[1]).all()


def test_what_a_device_is(two):
    found = tg.cuda.get_device_properties("cuda:1")
    assert found.name == tg.cuda.get_device_name() and found.total_memory > 0
    assert tg.cuda.get_device_capability(0) == (found.major, found.minor)
    tg.cuda.init(), tg.cuda.synchronize(), tg.cuda.synchronize("cuda:1")
    with pytest.raises(ValueError, match="Expected a cuda device"):
        tg.cuda.get_device_name("cpu")


# --- streams and events ---------------------------------------------------------------------------


def test_streams(two):
    cuda = tg.cuda
    assert cuda.current_stream() == cuda.default_stream() and cuda.default_stream().cuda_stream == 0
    side, other = cuda.Stream(), cuda.Stream(1, priority=-1)
    assert (side.device, other.device, other.priority) == (
        *map(tg.device, ("cuda:0", "cuda:1")),
        -1,
    )
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        assert cuda.current_stream() == side != cuda.default_stream()
        x = tg.ones(2, device="cuda") * 2
        with other:
            assert cuda.current_device() == 1 and cuda.current_stream() == other
            assert cuda.current_stream(0) == side
        assert cuda.current_device() == 0 and cuda.current_stream() == side
        assert cuda.current_stream(1) == cuda.default_stream(1)
    assert cuda.current_stream() == cuda.default_stream() and len({side, other, side}) == 2
    x.record_stream(side)
    side.synchronize()
    assert side.query() and x.tolist() == [2, 2]
    cuda.set_stream(other)
    assert cuda.current_device() == 1 and cuda.current_stream() == other
    assert repr(cuda.default_stream()) == "<torch.cuda.Stream device=cuda:1 cuda_stream=0x0>"


def test_events(two):
    cuda = tg.cuda
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True, blocking=True)
    assert start.query() and start.device is None and start.cuda_event == 0
    with pytest.raises(ValueError, match="recorded"):
        start.elapsed_time(end)
    start.record()
    tg.ones(10, device="cuda").exp()
    cuda.current_stream().record_event(end)
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and end.query() and end.device == tg.device("cuda:0")
    plain = cuda.current_stream().record_event()
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(plain)
    other = cuda.Stream(1)
    other.wait_event(plain), plain.wait(other), plain.wait()
    with pytest.raises(RuntimeError, match="does not match"):
        plain.record(other)
    for left_out in ({"interprocess": True}, {"external": True}):
        with pytest.raises(NotImplementedError):
            cuda.Event(**left_out)
