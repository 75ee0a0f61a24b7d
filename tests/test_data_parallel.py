"""DataParallel and its parts, on several pretended CUDA devices and on the CPU taken several times.

PyTorch's own needs GPUs, so what comes out is compared with the module run on the whole batch.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn
from tinygrad_course.nn import parallel
from tinygrad_course.nn.parallel.devices import all_devices
from tinygrad_course.nn.parallel.scatter_gather import scatter_kwargs

from . import fake_cuda
from .parity.both import attempt, both

Point = namedtuple("Point", "x y")


@pytest.fixture(params=["two GPUs", "three GPUs", "the CPU twice", "one GPU"])
def devices(request):
    """The devices to use; the pretended ones refuse arrays of any but the current one."""
    found = {
        "two GPUs": ["cuda:0", "cuda:1"],
        "three GPUs": ["cuda:2", "cuda:0", "cuda:1"],
        "the CPU twice": ["cpu", "cpu"],
        "one GPU": ["cuda:0"],
    }[request.param]
    with fake_cuda.pretended(3):
        yield found


@pytest.fixture
def gpus():
    with fake_cuda.pretended(2):
        yield ["cuda:0", "cuda:1"]


def equal(a, b):
    np.testing.assert_allclose(
        a.detach().cpu().numpy(), b.detach().cpu().numpy(), rtol=1e-5, atol=1e-6
    )


def two_layers():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


class Several(nn.Module):
    """A convolution, an LSTM, parameters in a list, one tensor under two names."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3, padding=1)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.again = self.first
        self.scales = nn.ParameterList([nn.Parameter(tg.ones(4)), nn.Parameter(tg.zeros(4))])
        self.register_buffer("shift", tg.ones(4))
        self.register_parameter("nothing", None)

    def forward(self, x):
        x = self.lstm(self.conv(x).transpose(1, 2))[0]
        x = self.second(self.first(x)) * self.scales[0] + self.scales[1] + self.shift
        return self.again(x).relu()


MODULES = {
    "two layers": (two_layers, (7, 3)),
    "several kinds": (Several, (5, 3, 6)),
    "a norm, evaluated": (lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval(), (6, 3)),
    "pooling": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2)), (4, 1, 8, 8)),
}


@pytest.mark.parametrize("name", MODULES)
def test_outputs_and_gradients_are_those_of_the_module(devices, name):
    make, shape = MODULES[name]
    tg.manual_seed(0)
    net, x = make(), tg.randn(*shape)
    alone, x_alone = make(), x.clone().requires_grad_()
    alone.load_state_dict(net.state_dict())
    net.to(devices[0])
    x = x.to(devices[0]).requires_grad_()
    model = nn.DataParallel(net, devices)
    out, expected = model(x), alone(x_alone)
    assert str(out.device) == devices[0]
    equal(out, expected)
    out.pow(2).sum().backward()
    expected.pow(2).sum().backward()
    equal(x.grad, x_alone.grad)
    for p, q in zip(net.parameters(), alone.parameters(), strict=True):
        assert p.grad.device == p.device
        equal(p.grad, q.grad)


def test_training_and_its_state(devices):
    """Steps of an optimizer; the wrapper's names and its modes reach the module."""
    tg.manual_seed(0)
    net, alone = two_layers(), two_layers()
    alone.load_state_dict(net.state_dict())
    model = nn.DataParallel(net.to(devices[0]), devices, dim=0)
    assert list(model.state_dict()) == [f"module.{name}" for name in net.state_dict()]
    x, target = tg.randn(6, 3), tg.randn(6, 2)
    steps = [tg.optim.Adam(m.parameters(), lr=0.1) for m in (model, alone)]
    for _ in range(3):
        for m, step, place in zip((model, alone), steps, (devices[0], "cpu"), strict=True):
            step.zero_grad()
            nn.functional.mse_loss(m(x.to(place)), target.to(place)).backward()
            step.step()
    for p, q in zip(net.parameters(), alone.parameters(), strict=True):
        equal(p, q)
    assert not model.eval().module[0].training


def test_second_derivatives_go_through(gpus):
    x = tg.tensor([[1.0], [2.0], [3.0]], device="cuda:0", requires_grad=True)
    cube = nn.DataParallel(on("cuda:0", lambda x: x**3), gpus)
    (first,) = tg.autograd.grad(cube(x).sum(), x, create_graph=True)
    (second,) = tg.autograd.grad(first.sum(), x)
    assert second.tolist() == [[6], [12], [18]]


class Call(nn.Module):
    """A module of a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = nn.Parameter(tg.ones(1))

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def on(device, function):
    return Call(function).to(device)


def test_running_statistics_are_those_of_the_first_part(devices):
    net = nn.BatchNorm1d(2, momentum=1.0).to(devices[0])
    x = tg.arange(12.0).view(6, 2)
    nn.DataParallel(net, devices)(x.to(devices[0]))
    equal(net.running_mean, x[: 6 // len(devices)].mean(0))
    assert net.num_batches_tracked.item() == 1


def test_replicas_run_in_threads_where_their_tensors_are(gpus):
    seen, together = {}, threading.Barrier(2)

    def look(x, scale):
        together.wait(10)  # each gets here while the other runs
        seen[threading.get_ident()] = str(x.device), tg.is_grad_enabled()
        return x * scale

    model = nn.DataParallel(on("cuda:0", look), gpus)
    with tg.no_grad():
        out = model(tg.ones(4, 1, device="cuda:0"), scale=3)
    assert out.tolist() == [[3]] * 4 and not out.requires_grad
    assert sorted(seen.values()) == [("cuda:0", False), ("cuda:1", False)]
    assert len(seen) == 2 and threading.get_ident() not in seen


def test_hooks_run_for_every_replica(gpus):
    net, calls = two_layers().to("cuda:0"), []
    net[0].register_forward_hook(lambda module, args, out: calls.append(str(out.device)))
    grads = []
    net[0].weight.register_hook(lambda grad: grads.append(grad))
    nn.DataParallel(net, gpus)(tg.ones(2, 3, device="cuda:0")).sum().backward()
    assert sorted(calls) == ["cuda:0", "cuda:1"]
    assert len(grads) == 1  # the sum, once
    equal(net[0].weight.grad, grads[0])


def test_nested_arguments_and_results(devices):
    def work(x, more, *, name, flags=()):
        assert name == "n" and flags == (1, None)
        point, extra = more["point"], more["list"][0]
        return {"sum": x + point.x, "point": Point(point.y, None), "list": [extra * 2]}

    model = nn.DataParallel(on(devices[0], work), devices)
    x = tg.arange(6.0, device=devices[0]).view(6, 1)
    more = {"point": Point(x * 10, x * 100), "list": [x + 1]}
    out = model(x, more, name="n", flags=(1, None))
    equal(out["sum"], x * 11)
    equal(out["list"][0], (x + 1) * 2)
    assert isinstance(out["point"], Point) and out["point"].y is None
    equal(out["point"].x, x * 100)


def test_cut_along_another_dim(gpus):
    shapes = []
    model = nn.DataParallel(on("cuda:0", lambda x: shapes.append(x.shape) or x * 2), gpus, dim=1)
    x = tg.arange(10.0, device="cuda:0").view(2, 5)
    equal(model(x), x * 2)
    assert sorted(shapes) == [(2, 2), (2, 3)]


def test_a_batch_of_fewer_samples_than_devices(gpus):
    net = two_layers().to("cuda:0")
    x = tg.ones(1, 3, device="cuda:0")
    equal(nn.DataParallel(net, gpus)(x), net(x))


def test_output_device_and_input_of_another(gpus):
    net = two_layers().to("cuda:0")
    x = tg.ones(4, 3)
    out = nn.DataParallel(net, gpus, output_device=1)(x)
    assert str(out.device) == "cuda:1"
    equal(out, net.cpu()(x))


def test_an_error_tells_the_replica(devices):
    def fail(x):
        if x.sum().item() > 3:
            raise KeyError("too much")
        return x

    model = nn.DataParallel(on(devices[0], fail), devices)
    with pytest.raises(KeyError) as caught:
        model(tg.arange(6.0, device=devices[0]).view(6, 1))
    assert "too much" in str(caught.value)
    if len(devices) > 1:
        assert "Caught KeyError in replica 1 on device " + devices[1] in str(caught.value)
        assert "Original Traceback" in str(caught.value) and "in fail" in str(caught.value)


def test_an_error_whose_class_wants_more(gpus):
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    def fail(x):
        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Caught Odd in replica 0") as caught:
        nn.DataParallel(on("cuda:0", fail), gpus)(tg.ones(2, device="cuda:0"))
    assert isinstance(caught.value.__cause__, Odd)


def test_what_is_refused(gpus):
    with pytest.raises(RuntimeError, match=r"on device cuda:0 \(device_ids\[0\]\).*device: cpu"):
        nn.DataParallel(two_layers(), gpus)(tg.ones(2, 3))
    net = two_layers()
    with pytest.raises(AssertionError, match="number of modules 2 is not equal"):
        parallel.parallel_apply([net, net], [tg.ones(1, 3)])
    with pytest.raises(TypeError, match="a replica returned str"):
        parallel.gather(["a", "b"], "cpu")
    with pytest.raises(ValueError, match="same number of keys"):
        parallel.gather([{"a": None}, {}], "cpu")
    with pytest.raises(RuntimeError, match="invalid device"):
        tg.ones(1).to("cuda:7")


def test_scalars_become_a_vector(gpus):
    model = nn.DataParallel(on("cuda:0", lambda x: x.sum()), gpus)
    with pytest.warns(UserWarning, match="instead unsqueeze and return a vector"):
        out = model(tg.arange(4.0, device="cuda:0"))
    assert out.tolist() == [1, 5]


def test_all_devices_unless_some_are_named(gpus):
    assert [str(device) for device in all_devices()] == gpus
    net = two_layers().to("cuda:0")
    assert [str(device) for device in nn.DataParallel(net).device_ids] == gpus
    x = tg.ones(4, 3, device="cuda:0")
    equal(parallel.data_parallel(net, x), net(x))
    equal(parallel.data_parallel(net, (), module_kwargs={"input": x}), net(x))


def test_replicas_share_or_copy(gpus):
    net = Several().to("cuda:0")
    one, two = parallel.replicate(net, [0, 1])
    assert one.first is one.again and two.second.weight is two.first.weight
    assert one.shift is net.shift and str(two.shift.device) == "cuda:1"
    assert [n for n, _ in one.named_modules()] == [n for n, _ in net.named_modules()]
    assert str(two.conv.weight.device) == "cuda:1" and two.conv.weight.requires_grad
    two.extra = 1
    assert not hasattr(net, "extra")
    assert not parallel.replicate(net, [0, 1], detach=True)[1].conv.weight.requires_grad


def test_threads_on_the_cpu_do_not_share_what_they_change():
    """A replica's buffers are its own, but for the first's."""
    net = nn.BatchNorm1d(1, momentum=1.0)
    replicas = parallel.replicate(net, ["cpu", "cpu"])
    parallel.parallel_apply(replicas, [tg.zeros(2, 1), tg.ones(2, 1)])
    assert replicas[1].running_mean.item() == 1 and net.running_mean.item() == 0


# --- beside PyTorch, which scatters without GPUs what holds no tensors ----------------------------


@both
def test_without_gpus_the_module_is_called(lib):
    lib.manual_seed(0)
    model = lib.nn.DataParallel(lib.nn.Linear(2, 2))
    x = lib.ones(3, 2)
    model(x).sum().backward()
    return (
        *(repr(model), model.device_ids, list(model.state_dict()), model(x), model(input=x)),
        model.module.weight.grad,
        attempt(lambda: lib.nn.parallel.data_parallel(model.module, x)),
        attempt(lambda: model(x, x)),
    )


@both
def test_scattering_what_is_no_tensor(lib):
    functions = lib.nn.parallel.scatter_gather
    values = [1, "a", None, (), [], {}, (2,), [3, (4, 5)], {"a": [1], "b": 2}, Point(1, 2)]
    return (
        [functions.scatter(value, [0, 1]) for value in values],
        functions.scatter_kwargs((1,), {"a": 2}, [0, 1]),
        functions.scatter_kwargs((), {"a": 2}, [0, 1]),
        functions.scatter_kwargs((1,), None, [0, 1]),
        functions.scatter_kwargs((), {}, [0, 1]),
        functions.gather([None, None], 0),
        functions.gather([(None, [None])] * 2, 0),
        functions.gather([OrderedDict(a=None)] * 2, 0),
        [
            attempt(lambda outputs=outputs: functions.gather(outputs, 0))
            for outputs in ([1, 2], [], [{"a": None}, {}], [(None,), ()])
        ],
        attempt(lambda: lib.nn.parallel.parallel_apply([lib.nn.ReLU()] * 2, [lib.ones(1)])),
    )


def test_keyword_arguments_reach_each_device():
    x = tg.arange(4)
    args, kwargs = scatter_kwargs((x,), {"y": tg.ones(2)}, ["cpu", "cpu", "cpu"])
    assert [a[0].tolist() for a in args[:2]] == [[0, 1], [2, 3]]
    assert [k["y"].tolist() for k in kwargs] == [[1], [1]]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert parallel.gather([tg.ones(1), tg.ones(2)], "cpu").tolist() == [1, 1, 1]
    assert not seen
