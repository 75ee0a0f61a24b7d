"""Losses where a row cannot say it: scores of any size, sequences against a sum over all their
alignments, warnings, and what PyTorch leaves open."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import nn
from tinygrad_course.autograd import gradcheck
from tinygrad_course.nn import functional as F

from .parity.both import attempt, both, refused

BIG = 1e4

# --- scores of any size ---------------------------------------------------------------------------


def binary(x):
    return F.binary_cross_entropy_with_logits(x, tg.tensor([1.0, 1.0, 0.0, 0.0]), reduction="none")


def weighted(x):
    y, w = tg.tensor([1.0, 1.0, 0.0, 0.0]), tg.full((4,), 3.0)
    return F.binary_cross_entropy_with_logits(x, y, reduction="none", pos_weight=w)


def labels(x):
    y = tg.tensor([[1.0], [1.0], [0.0], [0.0]])
    return F.multilabel_soft_margin_loss(x.unsqueeze(1), y, reduction="none")


def soft_margin(x):
    return F.soft_margin_loss(x, tg.tensor([1.0, 1.0, -1.0, -1.0]), reduction="none")


@pytest.mark.parametrize("function", [binary, weighted, labels, soft_margin])
def test_of_two_classes(function):
    factor = 3.0 if function is weighted else 1.0
    x = tg.tensor([BIG, -BIG, BIG, -BIG], requires_grad=True)
    # The sigmoid in the gradient is 0 by way of an infinity, as 1 / (1 + e^BIG).
    with np.errstate(invalid="raise", divide="raise"):
        losses = function(x)
        losses.sum().backward()
    assert losses.tolist() == [0.0, factor * BIG, BIG, 0.0]
    assert x.grad.tolist() == [0.0, -factor, 1.0, 0.0]


def test_an_ignored_target_gives_a_positive_zero():
    losses = F.nll_loss(tg.full((1, 2), -9.0), tg.tensor([-100]), reduction="none")
    assert math.copysign(1.0, losses.item()) == 1.0


@pytest.mark.parametrize("lost", [0, 1])
def test_of_many_classes(lost):
    x = tg.tensor([[BIG, -BIG, 0.0]], requires_grad=True)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        loss = F.cross_entropy(x, tg.tensor([lost]))
        loss.backward()
    assert loss.item() == 2 * BIG * lost
    assert x.grad.tolist() == [[float(lost), -float(lost), 0.0]]


def test_of_sequences():
    x = tg.tensor([[[-BIG, BIG]], [[BIG, -BIG]]], requires_grad=True)
    with np.errstate(over="raise", invalid="raise"):
        loss = F.ctc_loss(x.log_softmax(2), tg.tensor([[1]]), (2,), (1,))
        loss.backward()
    assert loss.item() == 0.0
    assert x.grad.abs().max().item() == 0.0


def test_of_distances():
    @both
    def program(lib):
        x = lib.tensor([[1e4, -1e4], [1e-4, 0.0]], dtype=lib.float64, requires_grad=True)
        y = lib.tensor([[-1e4, 1e4], [0.0, 1e-4]], dtype=lib.float64)
        loss = lib.nn.functional.cosine_embedding_loss(x, y, lib.tensor([1, -1]))
        return loss, lib.autograd.grad(loss, x)

    program()


@both
def test_probabilities_of_0_and_1(lib):
    x = lib.tensor([0.0, 1.0, 0.0, 1.0, 1e-30], requires_grad=True)
    y = lib.tensor([0.0, 0.0, 1.0, 1.0, 1.0], requires_grad=True)
    loss = lib.nn.functional.binary_cross_entropy(x, y, reduction="none")
    return loss, lib.autograd.grad(loss.sum(), [x, y])


# --- sequences ------------------------------------------------------------------------------------


def by_hand(log_probs, target, blank):
    """−ln of the summed probabilities of all alignments, and how often each label is at each step
    in them."""
    steps, classes = log_probs.shape
    whole, occupied = 0.0, np.zeros((steps, classes))
    for path in itertools.product(range(classes), repeat=steps):
        merged = [label for label, _ in itertools.groupby(path)]
        if [label for label in merged if label != blank] == list(target):
            chance = math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
            whole += chance
            occupied[range(steps), path] += chance
    return (-math.log(whole) if whole else math.inf), occupied / (whole or math.nan)


TARGETS = [(), (1,), (2, 1), (1, 1), (1, 2, 1), (2, 2, 2)]


@pytest.mark.parametrize("blank", [0, 3])
@pytest.mark.parametrize("steps", [1, 3, 5])
def test_ctc_is_the_sum_over_all_alignments(steps, blank):
    generator = np.random.default_rng(7)
    scores = tg.tensor(generator.normal(size=(5, len(TARGETS), 4)), requires_grad=True)
    log_probs = scores.log_softmax(2)
    padded = tg.tensor([[*target, 0, 0, 0][:3] for target in TARGETS])
    sizes = tuple(map(len, TARGETS))
    lengths = (steps,) * len(TARGETS)
    losses = F.ctc_loss(log_probs, padded, lengths, sizes, blank, "none")
    rows = log_probs.detach().numpy()[:steps]
    expected = [by_hand(rows[:, n], target, blank) for n, target in enumerate(TARGETS)]
    np.testing.assert_allclose(losses.tolist(), [loss for loss, _ in expected], rtol=1e-12)
    losses.sum().backward()
    # The derivative of a score is its probability less how often the alignments go through it.
    for n, (loss, occupied) in enumerate(expected):
        found = scores.grad[:, n].numpy()
        if math.isfinite(loss):
            np.testing.assert_allclose(found[:steps], np.exp(rows[:, n]) - occupied, atol=1e-12)
        else:
            assert np.isnan(found[:steps]).all()
        assert (found[steps:] == 0).all()


def test_ctc_by_finite_differences():
    scores = tg.tensor(np.random.default_rng(3).normal(size=(4, 2, 3)), requires_grad=True)

    def loss(scores):
        targets = tg.tensor([[1, 1], [2, 0]])
        return F.ctc_loss(scores.log_softmax(2), targets, (4, 3), (2, 1), reduction="none")

    assert gradcheck(loss, [scores])


def test_ctc_where_nothing_fits():
    for zero_infinity, lost in ((False, math.inf), (True, 0.0)):
        x = tg.zeros(2, 1, 2, requires_grad=True)
        loss = F.ctc_loss(x, tg.tensor([[1, 1]]), (2,), (2,), zero_infinity=zero_infinity)
        loss.backward()
        assert loss.item() == lost
        assert bool(x.grad.isnan().all()) is not zero_infinity
        assert not zero_infinity or x.grad.tolist() == [[[0.0, 0.0]], [[0.0, 0.0]]]


def test_ctc_without_steps():
    """Only the empty target is certain; PyTorch's values, whose gradient reads beyond the end."""
    x = tg.zeros(2, 2, 2, requires_grad=True)
    losses = F.ctc_loss(x, tg.tensor([1]), (0, 0), (0, 1), reduction="none")
    assert losses.tolist() == [0.0, math.inf]
    losses[0].backward()
    assert x.grad.abs().sum().item() == 0.0


@both
def test_ctc_with_a_label_that_cannot_be(lib):
    x = lib.tensor([[[0.5, 0.5, 0.0]]] * 3).log().requires_grad_()
    loss = lib.nn.functional.ctc_loss(x, lib.tensor([[1]]), (3,), (1,))
    return loss, attempt(lambda: lib.nn.functional.ctc_loss(x, lib.tensor([[2]]), (3,), (1,)))


@both
def test_ctc_targets_one_after_the_other(lib):
    x = lib.linspace(-3, -0.5, 30, dtype=lib.float64).view(5, 2, 3).requires_grad_()
    seen = []
    for sizes in ((2, 1), (3, 0), (0, 3)):
        loss = lib.nn.functional.ctc_loss(x, lib.tensor([1, 2, 1]), (5, 5), sizes)
        seen += [loss, lib.autograd.grad(loss, x)]
    return seen


@refused("not implemented")
def test_ctc_has_no_second_derivative(lib):
    x = lib.zeros(2, 1, 2, requires_grad=True)
    loss = lib.nn.functional.ctc_loss(x, lib.tensor([[1]]), (2,), (1,))
    (g,) = lib.autograd.grad(loss, x, create_graph=True)
    g.sum().backward()


def test_ctc_refuses_labels_that_there_are_not():
    """PyTorch reads beyond the end of the row."""
    with pytest.raises(RuntimeError, match="labels 0 to 1, got 1 to 7"):
        F.ctc_loss(tg.zeros(2, 1, 2), tg.tensor([[1, 7]]), (2,), (2,))


# --- warnings -------------------------------------------------------------------------------------

X, Y = [[0.2, 0.7]], [[0.6, 0.1]]
OLD = {
    "l1_loss": (X, Y),
    "smooth_l1_loss": (X, Y),
    "mse_loss": (X, Y),
    "binary_cross_entropy": (X, Y),
    "binary_cross_entropy_with_logits": (X, Y),
    "kl_div": (X, Y),
    "poisson_nll_loss": (X, Y),
    "soft_margin_loss": (X, Y),
    "multilabel_soft_margin_loss": (X, Y),
    "hinge_embedding_loss": (X, Y),
    "multi_margin_loss": (X, [1]),
    "multilabel_margin_loss": (X, [[1, -1]]),
    "nll_loss": (X, [1]),
    "cross_entropy": (X, [1]),
    "margin_ranking_loss": (X, Y, [[1, -1]]),
    "cosine_embedding_loss": (X, Y, [1]),
    "triplet_margin_loss": (X, Y, [[0.3, 0.3]]),
}


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("flags", [(False, None), (None, False), (True, True)], ids=str)
def test_the_flags_of_old_warn(name, flags):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    found = []
    for lib in (tg, torch):
        given = [lib.tensor(v) for v in OLD[name]]
        with pytest.warns(UserWarning, match="please use reduction='") as caught:
            loss = getattr(lib.nn.functional, name)(*given, size_average=flags[0], reduce=flags[1])
        assert len(caught) == 1
        assert caught[0].filename == __file__ or lib is torch
        found.append((str(caught[0].message), loss.shape, loss.tolist()))
    (said, shape, ours), (their_said, their_shape, theirs) = found
    assert (said, tuple(shape)) == (their_said, tuple(their_shape))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("name", ["l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss"])
def test_broadcasting_warns(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    found = []
    for lib in (tg, torch):
        with pytest.warns(UserWarning, match=r"\[2\].*\[2, 2\]") as caught:
            found.append(
                getattr(lib.nn.functional, name)(
                    lib.tensor([[1.0, 2.0], [3.0, 5.0]]), lib.tensor([0.0, 4.0])
                ).item()
            )
        assert caught[0].filename == __file__ or lib is torch
    assert found[0] == pytest.approx(found[1])


def test_the_mean_of_a_divergence_warns():
    x, y = tg.tensor(X).log(), tg.tensor(Y)
    with pytest.warns(UserWarning, match="batchmean"):
        F.kl_div(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.kl_div(x, y, reduction="batchmean")


def test_the_name_of_old_for_images():
    scores, classes = tg.randn(2, 3, 2, 2), tg.zeros(2, 2, 2).long()
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        layer = nn.NLLLoss2d(reduction="sum")
    assert isinstance(layer, nn.NLLLoss) and repr(layer) == "NLLLoss2d()"
    assert layer(scores, classes).item() == F.nll_loss(scores, classes, reduction="sum").item()


# --- what is where in the graph -------------------------------------------------------------------


@both
def test_names_of_nodes(lib):
    f = lib.nn.functional
    x, y = (lib.rand(2, 3, requires_grad=True) for _ in range(2))
    classes = lib.tensor([0, 2])
    losses = [
        f.l1_loss(x, y),
        f.smooth_l1_loss(x, y),
        f.huber_loss(x, y),
        f.mse_loss(x, y),
        f.binary_cross_entropy(x, y),
        f.binary_cross_entropy_with_logits(x, y),
        f.kl_div(x, y),
        f.poisson_nll_loss(x, y),
        f.soft_margin_loss(x, lib.ones(2, 3)),
        f.multi_margin_loss(x, classes),
        f.multilabel_margin_loss(x, lib.tensor([[0, -1, 0], [1, 2, -1]])),
        f.multilabel_soft_margin_loss(x, y),
        f.ctc_loss(x.view(2, 1, 3), lib.tensor([[1]]), (2,), (1,), reduction="none"),
        lib.pdist(x),
    ]
    return [loss.grad_fn.name() for loss in losses]


def test_a_distance_with_parameters_is_part_of_the_layer():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(tg.tensor(2.0))

        def forward(self, x, y):
            return (x - y).abs().sum(-1) * self.scale

    layer = nn.TripletMarginWithDistanceLoss(distance_function=Scaled(), margin=0.5)
    assert list(layer.state_dict()) == ["distance_function.scale"]
    loss = layer(tg.tensor([0.0]), tg.tensor([1.0]), tg.tensor([0.5]))
    loss.backward()
    assert loss.item() == 1.5  # 2·1 − 2·0.5 + 0.5
    assert layer.distance_function.scale.grad.item() == 0.5


@both
def test_no_second_derivative_of_all_pairs(lib):
    x = lib.tensor([[0.0, 1.0], [2.0, 4.0]], requires_grad=True)
    (g,) = lib.autograd.grad(lib.pdist(x).sum(), x, create_graph=True)
    return attempt(lambda: lib.autograd.grad(g.sum(), x))


@both
def test_the_length_of_zero(lib):
    """Its derivative is that of x / eps, as long as the length itself has none at 0."""
    x = lib.zeros(1, 3, dtype=lib.float64, requires_grad=True)
    y = lib.ones(1, 3, dtype=lib.float64, requires_grad=True)
    cosine = lib.cosine_similarity(x, y)
    return cosine, lib.autograd.grad(cosine.sum(), [x, y])


@pytest.mark.parametrize("name", ["weight", "pos_weight"])
def test_weights_have_no_gradient(name):
    @refused(f"differentiable with respect to argument '{name}'")
    def program(lib):
        x = lib.zeros(2, requires_grad=True)
        w = lib.ones(2, requires_grad=True)
        lib.nn.functional.binary_cross_entropy_with_logits(x, lib.ones(2), **{name: w})

    program()


@refused("differentiable with respect to argument 'target'")
def test_the_target_of_a_soft_margin_has_no_gradient(lib):
    lib.nn.functional.soft_margin_loss(lib.zeros(2), lib.ones(2, requires_grad=True))


@both
def test_gradients_of_weights_of_numbers(lib):
    x, y = lib.tensor([1.0, 2.0]), lib.tensor([0.0, 5.0])
    seen = []
    for name in ("mse_loss", "l1_loss", "huber_loss"):
        w = lib.tensor([1.0, 3.0], requires_grad=True)
        loss = getattr(lib.nn.functional, name)(x, y, weight=w)
        seen += [loss, lib.autograd.grad(loss, w)]
    return seen


@both
def test_empty_losses(lib):
    f, seen = lib.nn.functional, []
    for name in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"):
        x = lib.zeros(0, 2, requires_grad=True)
        loss = getattr(f, name)(x, lib.zeros(0, 2))
        seen += [loss, lib.autograd.grad(loss, x)]
    return seen


@pytest.mark.parametrize("name", [n for n in OLD if OLD[n] == (X, Y)] + ["huber_loss"])
@pytest.mark.parametrize(
    "types",
    [("float32", "float64"), ("float64", "float32"), ("float32", "float16"), ("int64", "float32")],
    ids=str,
)
def test_types_of_mixed_losses(name, types):
    @both
    def program(lib):
        x, y = (lib.tensor(v).to(getattr(lib, d)) for v, d in zip((X, Y), types, strict=True))
        return attempt(lambda: str(getattr(lib.nn.functional, name)(x, y).dtype))

    program()


@both
def test_adaptive_softmax_of_all_classes(lib):
    lib.manual_seed(4)
    layer = lib.nn.AdaptiveLogSoftmaxWithLoss(6, 9, [2, 5], div_value=1.5, head_bias=True)
    x = lib.linspace(-2, 2, 24).view(4, 6)
    all_classes = layer.log_prob(x)
    targets = lib.tensor([0, 8, 3, 5])
    chosen = all_classes.gather(1, targets.unsqueeze(1)).squeeze(1)
    seen = [layer.predict(x), bool((chosen - layer(x, targets).output).abs().max() < 1e-5)]
    layer.reset_parameters()
    return [
        *seen,
        layer.head.weight.sum().item(),
        bool((all_classes.exp().sum(1) - 1).max() < 1e-5),
    ]


@pytest.mark.parametrize("name", ["huber_loss", "smooth_l1_loss", "mse_loss", "l1_loss"])
def test_the_slope_at_no_number(name):
    @both
    def test(lib):
        x = lib.tensor([math.nan, math.inf, -math.inf, 1.0, 0.25], requires_grad=True)
        losses = getattr(lib.nn.functional, name)(x, lib.zeros(5), reduction="none")
        losses.sum().backward()
        return [losses, x.grad]

    test()
