"""Layers, losses and the utilities of nn, side by side with PyTorch's."""

from collections import OrderedDict

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def both(call):
    """What a call makes of either library, an exception included."""
    results = []
    for lib in (tg, torch):
        try:
            results.append(call(lib))
        except Exception as error:
            results.append(error)
    return results


# --- layers ---------------------------------------------------------------------------------------

LAYERS = {
    "Linear(3, 4)": lambda n: n.Linear(3, 4),
    "Linear(3, 4, bias=False)": lambda n: n.Linear(3, 4, bias=False),
    "Conv2d(3, 6, 5)": lambda n: n.Conv2d(3, 6, 5),
    "Conv2d everything": lambda n: n.Conv2d(
        3, 6, (5, 3), stride=2, padding=1, dilation=2, groups=3, bias=False
    ),
    "Conv2d same": lambda n: n.Conv2d(3, 6, 5, padding="same"),
    "MaxPool2d(2)": lambda n: n.MaxPool2d(2),
    "MaxPool2d everything": lambda n: n.MaxPool2d((2, 3), (1, 2), (0, 1), 2, True, True),
    "ReLU()": lambda n: n.ReLU(),
    "ReLU(True)": lambda n: n.ReLU(True),
    "Tanh()": lambda n: n.Tanh(),
    "Sigmoid()": lambda n: n.Sigmoid(),
    "Softmax(1)": lambda n: n.Softmax(1),
    "LogSoftmax()": lambda n: n.LogSoftmax(),
    "Flatten()": lambda n: n.Flatten(),
    "Flatten(0, 1)": lambda n: n.Flatten(0, 1),
    "Identity": lambda n: n.Identity(1, a=2),
    "MSELoss()": lambda n: n.MSELoss(),
    "NLLLoss()": lambda n: n.NLLLoss(),
    "CrossEntropyLoss()": lambda n: n.CrossEntropyLoss(label_smoothing=0.1),
    "Sequential()": lambda n: n.Sequential(),
    "Sequential nested": lambda n: n.Sequential(
        n.Conv2d(1, 2, 3), n.Sequential(n.ReLU(), n.MaxPool2d(2)), n.Flatten()
    ),
    "Sequential of a dict": lambda n: n.Sequential(OrderedDict(one=n.ReLU(), two=n.Tanh())),
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
def test_the_text_of_layers(make) -> None:
    assert repr(make(nn)) == repr(make(torch.nn))


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda n: n.Linear(3, 4), (5, 3)),
        (lambda n: n.Linear(3, 1, bias=False), (3,)),
        (lambda n: n.Conv2d(3, 6, 3), (2, 3, 7, 6)),
        (lambda n: n.Conv2d(4, 6, (3, 2), 2, 1, 2, groups=2, bias=False), (2, 4, 9, 8)),
        (lambda n: n.Conv2d(3, 2, 3, padding="same"), (3, 5, 5)),
        (lambda n: n.MaxPool2d(2), (2, 3, 7, 6)),
        (lambda n: n.MaxPool2d(3, 1, 1, ceil_mode=True), (2, 3, 7, 6)),
        (lambda n: n.ReLU(), (2, 3)),
        (lambda n: n.Tanh(), (2, 3)),
        (lambda n: n.Sigmoid(), (2, 3)),
        (lambda n: n.Softmax(1), (2, 3)),
        (lambda n: n.LogSoftmax(0), (2, 3)),
        (lambda n: n.Flatten(), (2, 3, 4)),
        (lambda n: n.Identity(), (2, 3)),
        (
            lambda n: n.Sequential(n.Conv2d(1, 2, 3), n.ReLU(), n.Flatten(), n.Linear(18, 2)),
            (3, 1, 5, 5),
        ),
    ],
)
def test_layers_from_the_same_seed_compute_the_same(make, shape) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype("f4")
    found = []
    for lib in (tg, torch):
        lib.manual_seed(7)
        layer = make(lib.nn)
        data = lib.tensor(x, requires_grad=True)
        out = layer(data)
        (out * out).sum().backward()
        found.append([out.detach(), data.grad, *(p.grad for p in layer.parameters())])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=2e-5)


def test_relu_in_place_overwrites_its_input() -> None:
    x = tg.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]


def test_max_pool2d_returns_indices() -> None:
    ours, theirs = (
        lib.nn.MaxPool2d(2, return_indices=True)(lib.arange(16.0).view(1, 4, 4))
        for lib in (tg, torch)
    )
    assert ours[1].tolist() == theirs[1].tolist()


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors is a no-op")
@pytest.mark.parametrize(
    "make",
    [
        lambda n: n.Linear(3, -4),
        lambda n: n.Linear("a", 3),
        lambda n: n.Linear(3, 4.0),
        lambda n: n.Conv2d(3, 6, 5, padding="same", stride=2),
        lambda n: n.Conv2d(3, 6, 5, padding="foo"),
        lambda n: n.Conv2d(3, 6, 5, padding_mode="foo"),
        lambda n: n.Conv2d(3, 6, 5, groups=2),
        lambda n: n.Conv2d(4, 6, 5, groups=4),
        lambda n: n.Conv2d(4, 6, 5, groups=0),
    ],
)
def test_layers_refuse_what_pytorch_refuses(make) -> None:
    ours, theirs = both(lambda lib: make(lib.nn))
    assert isinstance(theirs, Exception)
    assert type(ours) is type(theirs), ours


# --- losses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda n, w: n.MSELoss(),
        lambda n, w: n.MSELoss(reduction="sum"),
        lambda n, w: n.NLLLoss(),
        lambda n, w: n.NLLLoss(w, ignore_index=1, reduction="none"),
        lambda n, w: n.CrossEntropyLoss(w, ignore_index=1, label_smoothing=0.3),
        lambda n, w: n.CrossEntropyLoss(reduction="sum"),
    ],
)
def test_loss_layers(make) -> None:
    x = np.random.default_rng(0).standard_normal((4, 3)).astype("f4")
    found = []
    for lib in (tg, torch):
        layer = make(lib.nn, lib.tensor([1.0, 2.0, 0.5]))
        classes = lib.tensor([0, 1, 2, 0])
        target = lib.zeros(4, 3) if isinstance(layer, lib.nn.MSELoss) else classes
        found.append((layer(lib.tensor(x), target).tolist(), list(layer.state_dict())))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("flags", [(False,), (True, False), (None, False), (True,)])
@pytest.mark.parametrize("name", ["MSELoss", "NLLLoss", "CrossEntropyLoss"])
def test_loss_layers_take_the_flags_of_old(name, flags) -> None:
    keys = dict(zip(("size_average", "reduce"), flags, strict=False))
    with pytest.warns(UserWarning, match="size_average and reduce"):
        ours = getattr(nn, name)(**keys)
    with pytest.warns(UserWarning, match="size_average and reduce"):
        theirs = getattr(torch.nn, name)(**keys)
    assert ours.reduction == theirs.reduction


# --- utils ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3, float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clip_grad_norm(norm_type, max_norm) -> None:
    found = []
    for lib in (tg, torch):
        ps = [
            lib.nn.Parameter(lib.zeros(2)),
            lib.nn.Parameter(lib.zeros(1)),
            lib.nn.Parameter(lib.ones(1)),
        ]
        ps[0].grad, ps[1].grad = lib.tensor([3.0, -4.0]), lib.tensor([2.0])
        total = lib.nn.utils.clip_grad_norm_(ps, max_norm, norm_type)
        found.append([total.item(), *ps[0].grad.tolist(), *ps[1].grad.tolist()])
        assert ps[2].grad is None
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_clip_grad_norm_at_its_edges() -> None:
    p = nn.Parameter(tg.zeros(2))
    assert nn.utils.clip_grad_norm_(p, 1.0).item() == 0.0
    p.grad = tg.tensor([float("nan"), 1.0])
    with pytest.raises(RuntimeError, match="nan"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert p.grad[1].item() == 1.0
    p.grad = tg.tensor([3.0, 4.0])
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        assert nn.utils.clip_grad_norm([p], 1.0).item() == 5.0
    assert p.grad.tolist() == pytest.approx([0.6, 0.8])
