"""Draws and their rewards: what is recorded, what `reinforce` accepts, and the gradients.

PyTorch 2.13 has no `reinforce` any more; the oracle is its `distributions`: the gradient must be
that of the loss -reward · log p(draw).
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import StochasticFunction
from tinygrad_course.examples import bandit

from .death import death
from .parity.both import both


def leaf(*values: object) -> tg.Tensor:
    return tg.tensor(list(values), dtype=tg.float64, requires_grad=True)


def rewards(*shape: int) -> np.ndarray:
    return np.linspace(-1.5, 2.0, int(np.prod(shape))).reshape(shape)


@pytest.fixture(autouse=True)
def seeded() -> None:
    tg.manual_seed(3)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")


def score(torch, log_prob, parameters, reward):
    """PyTorch's gradients of -reward · log p."""
    leaves = [torch.tensor(p.tolist(), dtype=torch.float64, requires_grad=True) for p in parameters]
    (-(torch.tensor(reward) * log_prob(*leaves)).sum()).backward()
    return [x.grad.numpy() for x in leaves]


def reinforced(draw: tg.Tensor, reward: np.ndarray, parameters: list[tg.Tensor]) -> list:
    draw.reinforce(tg.tensor(reward))
    tg.autograd.backward([draw], [None])
    return [p.grad.numpy() for p in parameters]


# --- gradients ------------------------------------------------------------------------------------


def test_bernoulli(torch):
    p = leaf([0.2, 0.7, 0.5], [0.9, 0.1, 0.4])
    x = p.bernoulli()
    drawn = torch.tensor(x.tolist(), dtype=torch.float64)
    (expected,) = score(
        torch, lambda p: torch.distributions.Bernoulli(p).log_prob(drawn), [p], rewards(2, 3)
    )
    (found,) = reinforced(x, rewards(2, 3), [p])
    np.testing.assert_allclose(found, expected)


def test_bernoulli_of_certain_draws():
    """log p = log(p) for a 1 and log(1 - p) for a 0, whose derivatives at the ends are 1 and -1."""
    p = leaf(1.0, 0.0)
    x = p.bernoulli()
    x.reinforce(2.0)
    x.sum().backward()
    assert x.tolist() == [1, 0] and p.grad.tolist() == [-2, 2]


@pytest.mark.parametrize("given", ["tensors", "broadcast", "mean", "std"])
def test_normal(torch, given):
    mean, std = leaf(0.5, -1.0, 2.0), leaf(0.5, 1.5, 1.0)
    if given == "broadcast":
        mean = leaf([0.5], [-1.0])
    arguments = {"mean": (mean, 0.7), "std": (0.3, std)}.get(given, (mean, std))
    x = tg.normal(*arguments)
    drawn = torch.tensor(x.tolist(), dtype=torch.float64)

    def log_prob(*leaves):
        tensors = iter(leaves)
        both = [next(tensors) if isinstance(v, tg.Tensor) else v for v in arguments]
        return torch.distributions.Normal(*both).log_prob(drawn)

    parameters = [v for v in arguments if isinstance(v, tg.Tensor)]
    expected = score(torch, log_prob, parameters, rewards(*x.shape))
    for found, wanted in zip(reinforced(x, rewards(*x.shape), parameters), expected, strict=True):
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
@pytest.mark.parametrize(
    ("count", "replacement"), [(1, False), (2, False), (4, False), (1, True), (6, True)]
)
def test_multinomial(torch, shape, count, replacement):
    """Weights need not sum to 1. Without replacement, what was drawn is out of the next draw."""
    weights = tg.tensor(np.random.default_rng(0).random(shape) + 0.1, requires_grad=True)
    x = weights.multinomial(count, replacement)
    drawn = torch.tensor(x.tolist())

    def log_prob(w):
        left, terms = w.sum(-1), []
        for i in range(count):
            chosen = w.gather(-1, drawn[..., i : i + 1])[..., 0]
            terms.append(chosen.log() - left.log())
            left = left if replacement else left - chosen
        return torch.stack(terms, -1)

    (expected,) = score(torch, log_prob, [weights], rewards(*x.shape))
    (found,) = reinforced(x, rewards(*x.shape), [weights])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_number_is_the_reward_of_every_element(torch):
    p = leaf(0.3, 0.6)
    x = p.bernoulli()
    drawn = torch.tensor(x.tolist(), dtype=torch.float64)
    (expected,) = score(
        torch, lambda p: torch.distributions.Bernoulli(p).log_prob(drawn), [p], [3.0, 3.0]
    )
    x.reinforce(3)
    x.backward()
    np.testing.assert_allclose(p.grad.numpy(), expected)


def test_through_a_network_beside_a_loss(torch):
    """Policy and value of one network: the draw's gradient and a loss's add up at the weights."""
    inputs, target = np.array([[1.0, -2.0], [0.5, 0.3]]), np.array([1.0, 2.0])
    w = leaf([0.1, 0.4, -0.3], [0.2, -0.5, 0.6])
    hidden = (tg.tensor(inputs) @ w).tanh()
    actions = hidden.softmax(1).multinomial(1)
    actions.reinforce(tg.tensor([[2.0], [-1.0]], dtype=tg.float64))
    loss = ((hidden.sum(1) - tg.tensor(target)) ** 2).sum()
    tg.autograd.backward([loss, actions], [None, None])

    v = torch.tensor(w.tolist(), dtype=torch.float64, requires_grad=True)
    outer = (torch.tensor(inputs) @ v).tanh()
    chosen = torch.tensor(actions.tolist())[:, 0]
    log_p = torch.distributions.Categorical(outer.softmax(1)).log_prob(chosen)
    total = ((outer.sum(1) - torch.tensor(target)) ** 2).sum()
    (total - (torch.tensor([2.0, -1.0]) * log_p).sum()).backward()
    np.testing.assert_allclose(w.grad.numpy(), v.grad.numpy())


def test_what_is_computed_from_a_draw_does_not_reach_its_parameters(torch):
    mean = leaf(0.5, 1.0)
    x = tg.normal(mean, 1.0)
    x.reinforce(1.0)
    (x * 100).sum().backward()
    drawn = torch.tensor(x.tolist(), dtype=torch.float64)
    (expected,) = score(
        torch, lambda m: torch.distributions.Normal(m, 1.0).log_prob(drawn), [mean], [1.0, 1.0]
    )
    np.testing.assert_allclose(mean.grad.numpy(), expected)


def test_second_derivative(torch):
    """Of -r log N(x; m, s): d/ds of d/dm, with the draw held fixed, is 2 r (x - m) / s³."""
    mean, std = leaf(0.5), leaf(2.0)
    x = tg.normal(mean, std)
    x.reinforce(3.0)
    (g,) = tg.autograd.grad(x, mean, create_graph=True)
    (h,) = tg.autograd.grad(g, std)
    assert h.item() == pytest.approx(2 * 3 * (x.item() - 0.5) / 8)


def test_the_mean_over_many_draws_is_the_gradient_of_the_expectation():
    """d/dp of E[reward] = p · 5 + (1 - p) · 2 is 3; backward descends, so its gradient is -3."""
    p = tg.full((20_000,), 0.3, dtype=tg.float64, requires_grad=True)
    x = p.bernoulli()
    x.reinforce(x.detach() * 3 + 2)
    x.backward()
    assert p.grad.mean().item() == pytest.approx(-3, abs=0.2)


class Exponential(StochasticFunction):
    """A user's own: x with density rate · exp(-rate · x)."""

    def forward(self, rate):
        x = tg.empty_like(rate).exponential_() / rate
        self.save_for_backward(rate, x)
        return x

    def backward(self, reward):
        rate, x = self.saved_tensors
        return -reward * (1 / rate - x)


def test_a_users_own_distribution(torch):
    rate = leaf(0.5, 2.0, 3.0)
    x = Exponential()(rate)
    drawn = torch.tensor(x.tolist(), dtype=torch.float64)
    (expected,) = score(
        torch, lambda r: torch.distributions.Exponential(r).log_prob(drawn), [rate], rewards(3)
    )
    (found,) = reinforced(x, rewards(3), [rate])
    np.testing.assert_allclose(found, expected)
    y = Exponential()(rate)
    y.reinforce(2)
    assert y.creator.reward.tolist() == [2, 2, 2] and y.creator.reward.dtype is tg.float64


# --- what is recorded -----------------------------------------------------------------------------


@both
def test_draws_are_pytorchs(lib):
    p = lib.tensor([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], requires_grad=True)
    lib.manual_seed(0)
    results = [
        p.bernoulli(), lib.bernoulli(p), p.multinomial(2), lib.multinomial(p, 4, True),
        lib.normal(p, p), lib.normal(p, 0.5), lib.normal(0.5, p), lib.normal(p),
    ]  # fmt: skip
    return results, [(x.is_leaf, x.grad_fn is None) for x in results]


def test_creators():
    p = leaf(0.2, 0.8)
    for make in (tg.bernoulli, tg.multinomial, lambda p: tg.normal(p, p)):
        draw = make(p)
        assert isinstance(draw.creator, StochasticFunction)
        assert draw.creator.previous_functions[0][0].variable is p
        with death() as watch:
            watch(draw.creator)
            del draw


def test_nothing_is_recorded_when_nothing_needs_a_gradient():
    p = leaf(0.2, 0.8)
    with tg.no_grad():
        draws = [p.bernoulli(), p.multinomial(1), tg.normal(p, 1.0)]
    draws += [p.detach().bernoulli(), tg.autograd.Variable(p.detach(), volatile=True).bernoulli()]
    for draw in draws:
        assert draw.creator is None and not draw.requires_grad
        with pytest.raises(RuntimeError, match="outputs of stochastic functions"):
            draw.reinforce(1.0)


# --- the checks -----------------------------------------------------------------------------------


def test_reward_checks():
    p = leaf(0.2, 0.8)
    x = p.bernoulli()
    with pytest.raises(TypeError, match=r"FloatTensor on cpu.*expected torch\.DoubleTensor"):
        x.reinforce(tg.ones(2))
    with pytest.raises(ValueError, match=r"size \[3\].*size \[2\]"):
        x.reinforce(tg.ones(3, dtype=tg.float64))
    with pytest.raises(TypeError, match="str"):
        x.reinforce("good")
    x.reinforce(1.0)
    with pytest.raises(RuntimeError, match="once"):
        x.reinforce(1.0)
    with pytest.raises(RuntimeError, match="outputs of stochastic functions"):
        (p * 2).reinforce(1.0)


def test_reward_of_places_has_the_type_of_the_weights():
    x = leaf(0.2, 0.8).multinomial(1)
    with pytest.raises(TypeError, match="LongTensor"):
        x.reinforce(tg.tensor([1]))
    x.reinforce(tg.tensor([1.0], dtype=tg.float64))


@pytest.mark.parametrize("draw", [tg.bernoulli, lambda p: p.multinomial(1), lambda p: tg.normal(p)])
def test_a_missing_reward_is_an_error_of_backward(draw):
    p = leaf(0.2, 0.8)
    x = draw(p)
    with pytest.raises(RuntimeError, match=r"requires providing a reward.*\.reinforce"):
        tg.autograd.backward([x], [None])
    if x.requires_grad:
        with pytest.raises(RuntimeError, match=r"requires providing a reward.*\.reinforce"):
            (x * 2).sum().backward()
    assert p.grad is None
    x.reinforce(1.0)
    x.backward()
    assert p.grad is not None


def test_a_second_pass_needs_the_graph():
    p = leaf(0.2, 0.8)
    x = p.bernoulli()
    x.reinforce(1.0)
    x.backward(retain_graph=True)
    once = p.grad.clone()
    x.backward()
    assert p.grad.tolist() == (once * 2).tolist()
    with pytest.raises(RuntimeError, match="second time"):
        x.backward()


def test_a_draw_that_was_changed_in_place_is_caught():
    x = leaf(0.2, 0.8).bernoulli()
    x.reinforce(1.0)
    x.detach().mul_(3)
    with pytest.raises(RuntimeError, match=r"BernoulliBackward0.*version 1"):
        x.backward()


# --- learning -------------------------------------------------------------------------------------


def test_the_bandit_learns():
    for seed in (0, 1):
        low, middle, high = bandit.learn(seed=seed).tolist()
        assert high > 0.9 and low < 0.1 and middle < 0.1


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, "-m", "tinygrad_course.examples.bandit"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "arm 2 pays with probability 0.8" in done.stdout and done.stderr == ""
