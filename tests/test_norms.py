"""What the rows of samples cannot say of normalisation: running statistics, sums of large numbers,
the array computation against the formula, layouts and types."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn
from tinygrad_course.autograd import gradcheck, gradgradcheck
from tinygrad_course.nn import functional as F

from .parity.both import attempt, both

# name: (the call, the shape of its input)
KINDS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "batch": (lambda lib, x, w, b: lib.batch_norm(x, None, None, w, b, True), (6, 4, 5)),
    "batch of vectors": (lambda lib, x, w, b: lib.batch_norm(x, None, None, w, b, True), (7, 4)),
    "instance": (lambda lib, x, w, b: lib.instance_norm(x, None, None, w, b), (3, 4, 5)),
    "layer": (lambda lib, x, w, b: lib.layer_norm(x, (4,), w, b), (5, 3, 4)),
    "group": (lambda lib, x, w, b: lib.group_norm(x, 2, w, b), (3, 4, 5)),
    "rms": (lambda lib, x, w, b: lib.rms_norm(x, (4,), w), (5, 3, 4)),
}


def made(lib: Any, shape: tuple[int, ...], dtype: str, shift: float = 0.0) -> list[Any]:
    """An input, a weight, a bias, and a gradient."""
    rng = np.random.default_rng(len(shape))
    arrays = [rng.normal(shift, 1, shape), *rng.normal(1, 0.5, (2, 4)), rng.normal(size=shape)]
    tensors = [lib.tensor(a.tolist(), dtype=getattr(lib, dtype)) for a in arrays]
    return [*(t.requires_grad_() for t in tensors[:3]), tensors[3]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", ["weight and bias", "weight", "bias", "neither"])
def test_the_arrays_agree_with_the_formula(kind: str, parameters: str) -> None:
    """The first pass computes on arrays; that under create_graph by operations on Tensors."""
    call, shape = KINDS[kind]
    x, w, b, g = made(tg, shape, "float64")
    w, b = w if "weight" in parameters else None, b if "bias" in parameters else None
    leaves = [v for v in (x, w, b) if v is not None]
    grads = [
        tg.autograd.grad(call(F, x, w, b), leaves, g, create_graph=formula, allow_unused=True)
        for formula in (False, True)
    ]
    for fused, formula in zip(*grads, strict=True):
        assert (fused is None) == (formula is None)
        if fused is not None:
            assert fused.shape == formula.shape and tg.allclose(fused, formula, 1e-10, 1e-12)
    options: Any = {"fast_mode": True}
    assert gradcheck(lambda *leaves: call(F, x, w, b), leaves, **options)
    assert gradgradcheck(lambda *leaves: call(F, x, w, b), leaves, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("needed", ["input", "weight", "bias"])
def test_only_what_is_needed(kind: str, needed: str) -> None:
    if (kind, needed) == ("rms", "bias"):
        return  # it has none

    @both
    def program(lib):
        call, shape = KINDS[kind]
        *leaves, g = made(lib, shape, "float64")
        place = ("input", "weight", "bias").index(needed)
        given = [v if i == place else v.detach() for i, v in enumerate(leaves)]
        y = call(lib.nn.functional, *given)
        return [y, lib.autograd.grad(y, leaves[place], g)[0]]

    program()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "rms"])
def test_large_means(kind: str) -> None:
    """The mean is subtracted before anything is squared: 4 digits are left at a mean of 1000."""
    call, shape = KINDS[kind]
    seen = []
    for dtype in ("float32", "float64"):
        x, w, b, g = made(tg, shape, dtype, shift=1000.0)
        y = call(F, x, w, b)
        seen.append([y.detach(), *tg.autograd.grad(y, (x, w, b), g)])
    if kind in ("layer", "batch", "batch of vectors"):
        assert all(tg.allclose(a.double(), b, 1e-3, 2e-3) for a, b in zip(*seen, strict=True))
    else:
        assert tg.allclose(seen[0][0].double(), seen[1][0], 1e-3, 2e-3)


@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # PyTorch's, of its own slow way
@pytest.mark.parametrize("kind", KINDS)
def test_half_precision(kind: str) -> None:
    """Computed in float32 and rounded once, with parameters of float16 or of float32."""
    torch, outcomes = pytest.importorskip("torch"), []
    for lib in (tg, torch):
        call, shape = KINDS[kind]
        x, w, b, g = made(lib, shape, "float16")
        seen = []
        for parameters in ((w, b), (w.detach().float().requires_grad_(), b.detach().float())):
            y = call(lib.nn.functional, x, *parameters)
            seen += [y.detach(), *lib.autograd.grad(y, (x, parameters[0]), g)]
        outcomes.append(seen)
    for ours, theirs in zip(*outcomes, strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        assert np.allclose(ours.numpy(), theirs.numpy(), rtol=3e-3, atol=3e-3)


def test_types_that_do_not_go_together() -> None:
    @both
    def program(lib):
        fun, outcomes = lib.nn.functional, []
        for x, w in (("float64", "float32"), ("float32", "float16"), ("float32", "float64")):
            x, w = lib.ones(3, 4, dtype=getattr(lib, x)), lib.ones(4, dtype=getattr(lib, w))
            outcomes += [
                attempt(lambda x=x, w=w: fun.layer_norm(x, (4,), w)),
                attempt(lambda x=x, w=w: fun.group_norm(x, 2, w)),
                attempt(lambda x=x, w=w: fun.batch_norm(x, None, None, w, training=True)),
            ]
        return [outcome if isinstance(outcome, str) else "accepted" for outcome in outcomes]

    program()


def test_channels_last_stay_last() -> None:
    @both
    def program(lib):
        x = (
            lib.arange(120.0, dtype=lib.float64)
            .view(2, 4, 3, 5)
            .contiguous(memory_format=lib.channels_last)
        )
        volume = (
            lib.arange(48.0)
            .double()
            .view(2, 4, 1, 2, 3)
            .contiguous(memory_format=lib.channels_last_3d)
        )
        fun, one = lib.nn.functional, lib.ones(4, dtype=lib.float64)
        return [
            fun.batch_norm(x, None, None, training=True),
            fun.batch_norm(x, one * 0, one),
            fun.batch_norm(volume, None, None, one, training=True),
            fun.group_norm(x, 2),
            fun.instance_norm(x),
            fun.layer_norm(x, (5,)),
        ]

    program()


# --- running statistics ---------------------------------------------------------------------------


@pytest.mark.parametrize("momentum", [0.1, 0.7, None])
def test_running_statistics(momentum: float | None) -> None:
    """They follow the means and the unbiased variances of the batches; those of an evaluation
    batch don't count."""

    @both
    def program(lib):
        layer = lib.nn.BatchNorm2d(3, momentum=momentum)
        x, seen = lib.arange(48.0).view(2, 3, 2, 4) % 7, []
        for step in range(3):
            layer(x * (step + 1))
            seen.append({k: v.clone() for k, v in layer.state_dict().items()})
        layer.eval()
        seen += [layer(x), layer.running_mean.clone(), layer.num_batches_tracked]
        layer.reset_running_stats()
        return [*seen, layer.state_dict()]

    program()


def test_running_statistics_of_instances_are_averaged() -> None:
    @both
    def program(lib):
        layer = lib.nn.InstanceNorm1d(3, track_running_stats=True)
        x = lib.arange(24.0).view(2, 3, 4) ** 2
        layer(x), layer(x[0])
        return [layer.state_dict(), layer.eval()(x)]

    program()


def test_without_tracking_the_batch_counts_in_evaluation_too() -> None:
    @both
    def program(lib):
        layer = lib.nn.BatchNorm1d(2, track_running_stats=False).eval()
        x = lib.tensor([[1.0, 2.0], [3.0, 5.0]])
        mean, variance = lib.zeros(2), lib.ones(2)
        frozen = lib.nn.BatchNorm1d(2)
        frozen.track_running_stats = False
        return [
            layer(x),
            attempt(lambda: layer(x[:1])),
            frozen(x),
            frozen.state_dict(),
            lib.nn.functional.batch_norm(x[:0], mean, variance, training=True),
            mean,
            variance,
        ]

    program()


def test_a_tracked_batch_leaves_an_earlier_evaluation_alone() -> None:
    @both
    def program(lib):
        x = lib.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        mean, variance = lib.zeros(2), lib.ones(2)
        weight = lib.ones(2, requires_grad=True)
        y = lib.nn.functional.batch_norm(x, mean, variance, weight)
        loss = (y * y).sum()
        (g,) = lib.autograd.grad(loss, x, retain_graph=True)
        return [g, *lib.autograd.grad(loss, (x, weight))]

    program()
    x = tg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    mean, variance = tg.zeros(2), tg.ones(2)
    weight = tg.ones(2, requires_grad=True)
    y = F.batch_norm(x, mean, variance, weight)
    before = tg.autograd.grad(y.sum(), (x, weight), retain_graph=True)
    F.batch_norm(x * 5, mean, variance, training=True, momentum=1.0)
    after = tg.autograd.grad(y.sum(), (x, weight))
    assert mean.tolist() == [10.0, 17.5]
    assert all(map(tg.equal, before, after))


def test_the_version_of_running_statistics_goes_up() -> None:
    mean, variance = tg.zeros(2), tg.ones(2)
    F.batch_norm(tg.ones(3, 2), mean, variance)
    assert (mean._version, variance._version) == (0, 0)
    F.batch_norm(tg.ones(3, 2), mean, variance, training=True)
    assert (mean._version, variance._version) == (1, 1)


def test_running_statistics_cannot_be_trained() -> None:
    @both
    def program(lib):
        mean, variance = lib.zeros(2, requires_grad=True), lib.ones(2)
        x, fun = lib.ones(3, 2), lib.nn.functional
        return [
            attempt(lambda: fun.batch_norm(x, mean, variance)),
            attempt(lambda: fun.batch_norm(x, mean, variance, training=True)),
        ]

    program()


def test_what_may_be_changed_before_backward() -> None:
    """The input is saved, the result is not."""

    @both
    def program(lib):
        outcomes = []
        for kind, (call, shape) in KINDS.items():
            if kind == "rms" or kind == "instance":
                continue  # made of several operations there
            for change_input in (True, False):
                x, w, b, g = made(lib, shape, "float64")
                h = x * 1
                y = call(lib.nn.functional, h, w, b)
                with lib.no_grad():
                    (h if change_input else y).mul_(2)
                outcomes.append(attempt(lambda x=x, y=y, g=g: lib.autograd.grad(y, x, g)))
        return outcomes

    program()


# --- state ----------------------------------------------------------------------------------------


def test_a_state_from_before_batches_were_counted() -> None:
    @both
    def program(lib):
        saved = lib.nn.BatchNorm1d(2).state_dict()
        old = OrderedDict((k, v) for k, v in saved.items() if k != "num_batches_tracked")
        layer = lib.nn.Sequential(lib.nn.BatchNorm1d(2))
        layer(lib.tensor([[1.0, 2.0], [3.0, 5.0]]))
        inner = OrderedDict((f"0.{k}", v) for k, v in old.items())
        seen = [str(layer.load_state_dict(inner)), layer.state_dict()]
        old._metadata = OrderedDict({"": {"version": 2}})
        seen.append(attempt(lambda: lib.nn.BatchNorm1d(2).load_state_dict(old)))
        kept = lib.nn.InstanceNorm1d(2, track_running_stats=True).state_dict()
        seen.append(attempt(lambda: lib.nn.InstanceNorm1d(2).load_state_dict(kept)))
        return [*seen, saved._metadata[""]["version"]]

    program()


def test_channels_that_do_not_count_warn() -> None:
    with pytest.warns(UserWarning, match="does not match num_features"):
        nn.InstanceNorm1d(3)(tg.ones(2, 4, 5))


def test_in_a_network() -> None:
    """Convolution, batch norm and rectifier, trained for three steps."""

    @both
    def program(lib):
        lib.manual_seed(0)
        net = lib.nn.Sequential(
            lib.nn.Conv2d(2, 3, 3), lib.nn.BatchNorm2d(3), lib.nn.ReLU(), lib.nn.GroupNorm(1, 3)
        )
        optimizer, losses = lib.optim.SGD(net.parameters(), lr=0.1), []
        x = lib.randn(4, 2, 6, 6)
        for _ in range(3):
            optimizer.zero_grad()
            loss = (net(x) ** 3).mean()
            loss.backward()
            optimizer.step()
            losses.append(round(loss.item(), 4))
        return losses

    program()
