"""Every operation, layer and optimizer on other devices: on a pretended CUDA device on any machine,
on a real one where there is one.

The results must be those of the CPU, stay on the device, and get there without a copy through the
host; `gpu/rows.py` says how.
"""

from __future__ import annotations

import numpy as np
import pytest

import tinygrad_course as tg

from . import fake_cuda
from .gpu import rows


@pytest.mark.parametrize("name", rows.OPERATIONS)
def test_operation(device, name):
    """Value, gradient and second order of every sample."""
    assert rows.problems("operations", name, device) == []


@pytest.mark.parametrize("name", rows.LAYERS)
def test_layer(device, name):
    """Outputs, gradients and second order of every case, and the buffers afterwards."""
    assert rows.problems("layers", name, device) == []


@pytest.mark.parametrize("name", rows.OPTIMIZERS)
def test_optimizer(device, name):
    assert rows.problems("optimizers", name, device) == []


@pytest.mark.parametrize("name", rows.SCHEDULES_BY_NAME)
def test_schedule(device, name):
    assert rows.problems("schedules", name, device) == []


def test_the_reasons_for_copies_are_about_rows_that_there_are():
    assert set(rows.CROSSING_LAYERS) <= set(rows.LAYERS)
    assert set(rows.CROSSING_OPTIMIZERS) <= set(rows.OPTIMIZERS)
    named = {name.removeprefix("Tensor.") for name in rows.OPERATIONS}
    assert {name.removeprefix("Tensor.") for name in rows.CROSSING} <= named


# --- what has to be on one device -----------------------------------------------------------------

MIXED = {
    "add": lambda x, y: x + y,
    "add to a number of dims": lambda x, y: y * x,
    "maximum": lambda x, y: tg.maximum(x, y),
    "compare": lambda x, y: x < y,
    "where": lambda x, y: tg.where(x > 0, x, y),
    "where's condition": lambda x, y: tg.where(y > 0, x, x),
    "matmul": lambda x, y: x @ y,
    "mm": lambda x, y: tg.mm(x, y),
    "cat": lambda x, y: tg.cat([x, y]),
    "stack": lambda x, y: tg.stack([x, y]),
    "in place": lambda x, y: x.add_(y),
    "linear": lambda x, y: tg.nn.functional.linear(x, y),
    "mse_loss": lambda x, y: tg.nn.functional.mse_loss(x, y),
    "conv2d": lambda x, y: tg.nn.functional.conv2d(x[None, None], y[None, None]),
    "gather": lambda x, y: x.gather(0, y.long()),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 0),
    "scatter_add": lambda x, y: x.scatter_add(0, (x * 0).long(), y),
    "addmm": lambda x, y: tg.addmm(x, x, y),
    "a 0-dim tensor of the device": lambda x, y: (
        x * y.sum() if x.device.type == "cpu" else y * x.sum()
    ),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("case", MIXED)
def test_mixed_devices(device, case, grad):
    """RuntimeError, naming both devices, before any kernel runs with the wrong memory."""
    if case == "in place" and grad:
        return
    here, there = tg.ones(2, 2), tg.ones(2, 2, device=device)
    if grad:
        here.requires_grad_(), there.requires_grad_()
    for x, y in ((here, there), (there, here)):
        if case == "a 0-dim tensor of the device" and x is there:
            continue
        with pytest.raises(RuntimeError, match="device") as caught:
            MIXED[case](x, y)
        assert "cpu" in str(caught.value) and "cuda" in str(caught.value)


def test_no_kernel_runs_on_mixed_devices():
    with fake_cuda.pretended():
        here, there = tg.ones(2), tg.ones(2, device="cuda")
        for function in (tg.add, tg.mul, tg.maximum, tg.dot, tg.eq):
            with fake_cuda.counting() as counts, pytest.raises(RuntimeError):
                function(here, there)
            assert not counts.launches and not counts.transfers


def test_a_number_of_the_host_may_join(device):
    x = tg.ones(2, device=device, requires_grad=True)
    number = tg.tensor(3.0, requires_grad=True)
    for y in (x * number, number * x, x + tg.tensor(2), x * 3.0, 3 - x, x.pow(tg.tensor(2.0))):
        assert y.device.type == "cuda"
    (x * number).sum().backward()
    assert x.grad.device.type == "cuda" and number.grad.device.type == "cpu"
    assert number.grad.item() == 2


def test_gradients_are_where_their_tensors_are(device):
    x = tg.ones(3, requires_grad=True)
    y = x.to(device)
    assert y.device.type == "cuda" and y.requires_grad and not y.is_leaf
    z = (y * y).cpu() * 2
    z.sum().backward()
    assert x.grad.tolist() == [4, 4, 4] and x.grad.device.type == "cpu"
    w = tg.ones(3, device=device, requires_grad=True)
    for _ in range(2):
        (w * y.detach()).sum().backward()
    assert w.grad.device.type == "cuda" and w.grad.cpu().tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="different"):
        w.grad = tg.ones(3)
    with pytest.raises(RuntimeError):
        (w * 2).backward(tg.ones(3))


def test_tools_of_autograd_on_the_device(device):
    autograd = tg.autograd
    x = tg.tensor([0.3, 0.7], dtype=tg.float64, device=device, requires_grad=True)
    assert autograd.gradcheck(lambda x: x.tanh() * x, x)
    assert autograd.gradgradcheck(lambda x: x**3, x, fast_mode=True)
    rows = autograd.functional.jacobian(lambda x: x * x.sum(), x)
    twice = autograd.functional.hessian(lambda x: (x**3).sum(), x)
    assert rows.device.type == twice.device.type == "cuda"
    assert np.allclose(rows.cpu().numpy(), [[1.3, 0.3], [0.7, 1.7]])
    assert np.allclose(twice.cpu().numpy(), [[1.8, 0], [0, 4.2]])
    v, cube = tg.tensor([1.0, 2.0], dtype=tg.float64, device=device), lambda x: (x**3).sum()
    for name, function, wanted in (
        ("vjp", lambda x: x * x, [0.6, 2.8]),
        ("jvp", lambda x: x * x, [0.6, 2.8]),
        ("vhp", cube, [1.8, 8.4]),
        ("hvp", cube, [1.8, 8.4]),
    ):
        found = getattr(autograd.functional, name)(function, x, v)[1]
        assert found.device.type == "cuda" and np.allclose(found.cpu().numpy(), wanted)

    with autograd.detect_anomaly(), pytest.raises(RuntimeError, match="SqrtBackward0"):
        ((x - x).sqrt() * 0).sum().backward()
    seen = []
    x.grad = None
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.device.type))
    with autograd.profiler.Timer() as timer:
        (x * 2).sum().backward()
    assert seen == ["cuda"] and timer.calls["MulBackward0"] == 1


@pytest.mark.parametrize(
    "draw", [tg.bernoulli, lambda p: tg.normal(p, p), lambda p: p.multinomial(2, True)]
)
def test_draws_on_the_device(device, draw):
    grads = []
    for where in ("cpu", device):
        tg.manual_seed(0)
        p = tg.tensor([0.3, 0.7], device=where, requires_grad=True)
        x = draw(p)
        elsewhere = "cpu" if where == device else device
        with pytest.raises(TypeError, match=f"on {elsewhere}"):
            x.reinforce(tg.tensor([1.0, -2.0], device=elsewhere))
        x.reinforce(tg.tensor([1.0, -2.0], device=where))
        assert x.device == x.creator.reward.device == p.device
        tg.autograd.backward([x], [None])
        grads.append(p.grad.cpu().numpy())
    assert np.allclose(*grads)


def test_moving(device):
    x = tg.arange(6.0).view(2, 3).t()
    y = x.to(device)
    assert y.to(device) is y and y.cuda() is y and x.cpu() is x and y.is_cuda and not x.is_cuda
    assert y.stride() == x.stride() and y.cpu().tolist() == x.tolist()
    assert y.to("cpu", tg.int64).dtype is tg.int64 and y.to(x).device.type == "cpu"
    assert y.to(device, copy=True) is not y
    assert y.type() == "torch.cuda.FloatTensor" and isinstance(y, tg.cuda.FloatTensor)
    assert not isinstance(x, tg.cuda.FloatTensor)
    assert "device='cuda:0'" in repr(y) and str(y.device) == "cuda:0"
    for leak in (lambda: y.numpy(), lambda: np.asarray(y), lambda: np.add(y, 1)):
        with pytest.raises(TypeError):
            leak()
    assert y.numpy(force=True).tolist() == x.tolist()
    assert y[0, 1].item() == 3 and y.tolist() == x.tolist() and bool(y.sum() > 0)


def test_making(device):
    for x in (
        tg.zeros(2, device=device),
        tg.ones(2, 3, device=device, requires_grad=True),
        tg.full((2,), 3, device=device),
        tg.arange(3, device=device),
        tg.tensor([1.0], device=device),
        tg.rand(2, device=device),
        tg.empty(2, device=device),
        tg.zeros_like(tg.zeros(2, device=device)),
        tg.zeros(2, device=device).new_ones(3),
        tg.cuda.FloatTensor(2, 3),
        tg.cuda.LongTensor([1, 2]),
    ):
        assert x.device.type == "cuda"


def test_views_share_memory_on_the_device(device):
    x = tg.arange(24.0).to(device).view(2, 3, 4)
    v = x.transpose(0, 2)[1:, :, 0].unsqueeze(0)
    assert v.storage() is x.storage() and v.data_ptr() != x.data_ptr()
    v.fill_(7)
    assert (x == 7).sum().item() == 9
    w = tg.ones(3, device=device, requires_grad=True)
    y = tg.zeros(2, 3, device=device)
    y[1] = w
    y[:, 0].mul_(2)
    y.sum().backward()
    assert w.grad.tolist() == [2, 1, 1]
    y = tg.arange(4.0).to(device)
    half = y[:2]
    y.resize_(8)
    half.fill_(5)
    assert y[:4].tolist() == [5, 5, 2, 3]


def test_functions_on_the_device(device):
    class Double(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    x = tg.ones(2, device=device, requires_grad=True)
    Double.apply(x)[0].sum().backward()
    assert x.grad.device.type == "cuda" and x.grad.tolist() == [2, 2]


def test_training_on_the_device(device):
    """A small network learns the same there, and nothing crosses in a step but the loss."""
    losses = []
    for place in ("cpu", device):
        tg.manual_seed(0)
        model = tg.nn.Sequential(
            tg.nn.Conv2d(1, 3, 3),
            tg.nn.ReLU(),
            tg.nn.MaxPool2d(2),
            tg.nn.Conv2d(3, 4, 2),
            tg.nn.ReLU(),
        )
        head = tg.nn.Linear(4, 3)
        x, target = tg.randn(8, 1, 6, 6), tg.arange(8) % 3
        model, head = model.to(place), head.to(place)
        x, target = x.to(place), target.to(place)
        parameters = [*model.parameters(), *head.parameters()]
        for make in (
            lambda p: tg.optim.SGD(p, 0.1, momentum=0.9),
            lambda p: tg.optim.Adam(p, 0.01),
        ):
            optimizer = make(parameters)
            for _ in range(4):
                optimizer.zero_grad()
                out = head(model(x).reshape(8, -1))
                loss = tg.nn.functional.cross_entropy(out, target)
                with fake_cuda.counting() as counts:
                    loss.backward()
                    optimizer.step()
                assert not counts.transfers
                losses.append((place, loss.item()))
        assert all(p.grad.device.type == place for p in parameters)
    half = len(losses) // 2
    assert [v for _, v in losses[half:]] == pytest.approx([v for _, v in losses[:half]], rel=1e-4)


# --- the seam itself ------------------------------------------------------------------------------


def test_without_a_device():
    if tg.cuda.unavailable_reason() is None:
        pytest.skip("there is a GPU")
    assert not tg.cuda.is_available()
    for action in (
        lambda: tg.zeros(1, device="cuda"),
        lambda: tg.zeros(1).cuda(),
        tg.cuda.synchronize,
    ):
        with pytest.raises(RuntimeError, match=r"CuPy|CUDA"):
            action()


def test_the_stand_in_is_strict():
    """What must never pass unnoticed, the stand-in refuses."""
    with fake_cuda.pretended():
        x = fake_cuda.xp.ones((2, 2))
        host = np.ones((2, 2))
        for leak in (
            lambda: np.asarray(x),
            lambda: np.add(x, 1),
            lambda: np.sum(x),
            lambda: np.concatenate([x, x]),
            lambda: x + host,
            lambda: host + x,
            lambda: x.__array_interface__,
            lambda: fake_cuda.xp.add(x, host),
            lambda: fake_cuda.xp.where(x > 0, x, host),
            lambda: x[host > 0],
            lambda: x.__setitem__(0, host[0]),
            lambda: x.__iadd__(host),
            lambda: fake_cuda.xp.maximum.reduce(x),
            lambda: fake_cuda.xp.spacing(x),
            lambda: fake_cuda.xp.sum(x, initial=0),
            lambda: fake_cuda.xp.vecdot(x, x),
            lambda: fake_cuda.xp.multiply.at(x, 0, x),
            lambda: fake_cuda.xp.lib.stride_tricks.as_strided(x, writeable=False),
            lambda: x.max(where=x > 0),
            lambda: x.ctypes,
        ):
            with pytest.raises((TypeError, AttributeError, NotImplementedError)):
                leak()
        with fake_cuda.counting() as counts:
            assert isinstance(x.sum(), fake_cuda.ndarray) and isinstance(x[0, 0], fake_cuda.ndarray)
            assert not counts.transfers
            float(x.sum()), bool(x[0, 0] > 0), x.get()
        assert counts.to_host == {"float()": 1, "bool()": 1, "get": 1} and not counts.to_device


def test_the_stand_in_counts_launches():
    xp = fake_cuda.xp
    with fake_cuda.pretended():
        x = xp.ones((2, 3))
        with fake_cuda.counting() as counts:
            y = x.T.reshape(3, 2)[1:, None].squeeze(1)
            xp.broadcast_to(x, (4, 2, 3)), x.ravel(), xp.asarray(x), xp.empty(3)
            xp.ascontiguousarray(x), x.astype("float64", copy=False)
        assert not counts.launches and not counts.transfers
        with fake_cuda.counting() as counts:
            x + x, y.T.reshape(4), x.T.reshape(6), x.astype("float32"), xp.add(x, x, out=x)
        assert counts.launches == {"add": 2, "reshape": 2, "astype": 1}


def test_the_stand_in_counts_transfers():
    xp = fake_cuda.xp
    with fake_cuda.pretended():
        x = xp.arange(6)
        with fake_cuda.counting() as counts, fake_cuda.counting() as inner:
            x[x > 2], x[3].item(), xp.nonzero(x), xp.unique(x), xp.array([1, 2]), x[[0, 2]]
        waits = {"index by a mask": 1, "item": 1, "nonzero": 1, "unique": 1}
        assert counts.to_host == waits
        assert counts.to_device == {"array": 1, "index by a list": 1}
        assert sum(counts.transfers.values()) == 6 and vars(inner) == vars(counts)


def test_the_stand_in_has_devices_memory_streams_and_events():
    xp, cuda = fake_cuda.xp, fake_cuda.cuda
    with fake_cuda.pretended(2):
        pool = xp.get_default_memory_pool()
        before = pool.used_bytes()
        x = xp.ones(1000, "float32")
        view = x[5:]
        assert pool.used_bytes() - before == 4096
        del x
        assert pool.used_bytes() - before == 4096
        del view
        assert pool.used_bytes() == before and pool.total_bytes() >= 4096
        pool.free_all_blocks()
        assert pool.total_bytes() == before
        x = xp.ones(3)
        with cuda.Device(1):
            y = xp.ones(3)
            assert (x.device.id, y.device.id, cuda.runtime.getDevice()) == (0, 1, 1)
            with pytest.raises(ValueError, match="current device"):
                x + y
        stream = cuda.Stream(non_blocking=True)
        with stream:
            assert cuda.get_current_stream() == stream != cuda.Stream.null
            start, end = stream.record(), cuda.Event()
            end.record()
        assert cuda.get_current_stream() == cuda.Stream.null and stream.done
        assert cuda.get_elapsed_time(start, end) >= 0
        with cuda.Device(1), pytest.raises(RuntimeError, match="does not match"):
            stream.use()
