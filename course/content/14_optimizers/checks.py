"""What the checks of lesson 14 try: parameters with given gradients, and where steps take them."""

import copy

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise


def number(value):
    """A number that a learner gave, also as a tensor or an array with a single entry."""
    return value.item() if hasattr(value, "item") and np.prod(value.shape) == 1 else value


def entries(answer, *names):
    """Those entries of a dict that a learner gave."""
    return {name: number(answer[name]) for name in names}


def values(rng, *shape, scale=1.0):
    return tg.tensor((scale * rng.standard_normal(shape)).astype(np.float32))


def parameter(rng, *shape):
    return values(rng, *shape).requires_grad_()


def places(params):
    """Where parameters are, without what else is known of them."""
    return [p.detach().clone() for p in params]


# --- Descent: the loop ----------------------------------------------------------------------------

descent = Exercise(
    "descent",
    answer="Descent",
    title="An optimizer of your own",
    points=10,
    difficulty=2,
    hints=(
        'Two loops: `for group in self.param_groups` and in it `for p in group["params"]`.',
        "Where `p.grad is None`, do nothing. Else subtract the group's lr times the gradient, in "
        "place: `p -= ...`.",
        "A leaf may be changed in place only where nothing is recorded: `with tg.no_grad():`. The "
        "closure has to be called outside of it, since it runs a backward pass.",
        "`step` returns what the closure returned, and None without one.",
    ),
)


@descent.case("one step of two parameters", points=2)
def one_step(answer, rng):
    a, b = parameter(rng, 3), parameter(rng, 2, 2)
    optimizer = answer([a, b], lr=0.1)
    ((a * a).sum() + b.sum()).backward()
    before = places([a, b])
    optimizer.step()
    return {"before": before, "after": [a, b]}


@descent.case("a parameter without a gradient stays", points=1)
def without_gradient(answer, rng):
    a, b = parameter(rng, 2), parameter(rng, 2)
    optimizer = answer([a, b], lr=0.5)
    (b * b).sum().backward()
    optimizer.step()
    return places([a, b])


@descent.case("each group has its own lr, which may change", points=2)
def own_rates(answer, rng):
    a, b = parameter(rng, 2), parameter(rng, 2)
    optimizer = answer([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=0.1)
    a.grad, b.grad = values(rng, 2), values(rng, 2)
    optimizer.step()
    seen = [places([a, b])]
    optimizer.param_groups[1]["lr"] = 0.01
    optimizer.step()
    return [*seen, places([a, b])]


@descent.case("the closure runs first, and its loss is returned", points=3)
def with_closure(answer, rng):
    a = parameter(rng, 3)
    optimizer, calls = answer([a], lr=0.1), []

    def closure():
        calls.append(1)
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure) for _ in range(2)]
    losses = [loss if loss is None else float(loss.item()) for loss in losses]
    return {"losses": losses, "calls": len(calls), "a": places([a])}


@descent.case("the parameter is still the same leaf, and keeps its gradient", points=2)
def same_leaf(answer, rng):
    a = parameter(rng, 2)
    optimizer = answer([a], lr=0.1)
    (3 * a).sum().backward()
    optimizer.step()
    return {
        "is_leaf": a.is_leaf,
        "requires_grad": a.requires_grad,
        "a": a,
        "without a closure": answer([a], lr=0.1).step(),
    }


# --- Experiment: the edge -------------------------------------------------------------------------

edge = Exercise(
    "edge",
    answer="measured",
    title="Measure where descent diverges",
    points=8,
    difficulty=2,
    hints=(
        "`path(lr, momentum, steps=151)` gives x before each step: entry n is x after n steps.",
        "The first n with `abs(x) < 0.001`: `next((n for n, x in enumerate(places) if abs(x) < "
        "0.001), None)`.",
        "For the second part, try `round(0.01 * n, 2)` for n in `range(15, 42, 2)` and keep those "
        "for which the result isn't None. Take the largest.",
    ),
)


@edge.case("steps that are needed", points=3)
def steps_that_are_needed(measured, rng):
    return {str(lr): number(measured["steps"][lr]) for lr in (0.02, 0.1, 0.19, 0.2)}


@edge.case("the largest learning rate without momentum", points=2)
def largest_plain(measured, rng):
    return number(measured["largest"][0.0])


@edge.case("the largest learning rate with momentum", points=3)
def largest_rolling(measured, rng):
    return number(measured["largest"][0.9])


# --- Predict: two steps ---------------------------------------------------------------------------

predict_steps = Exercise(
    "predict-steps",
    answer="after",
    title="Predict two steps",
    points=8,
    difficulty=2,
    hints=(
        "Write v after each step, then w. Without momentum v is the gradient: 1 − 0.2 − 0.2.",
        "In the first step v is 2, whatever the dampening. In the second it is 0.5 · 2 plus (1 − "
        "dampening) · 2.",
        "A gradient of 0 still changes v to 0.5 · 2, and the parameter moves by it. None: nothing "
        "is done at all. weight_decay adds w itself to the gradient, first 1, then 0.9.",
    ),
)


@predict_steps.case("with and without momentum", points=2)
def plain_and_momentum(after, rng):
    return entries(after, "SGD", "momentum=0.5")


@predict_steps.case("the dampening of the first step", points=1)
def dampened(after, rng):
    return number(after["momentum=0.5, dampening=0.5"])


@predict_steps.case("no gradient, and a gradient of zeros", points=3)
def nothing_and_zero(after, rng):
    return entries(after, "momentum=0.5, second gradient 0", "momentum=0.5, second gradient None")


@predict_steps.case("weight decay", points=2)
def decay_alone(after, rng):
    return number(after["weight_decay=1, both gradients 0"])


# --- Rules: gradients that are given --------------------------------------------------------------


def try_rule(answer, rng, gradients, same_memory=False, halve_lr=False, **settings):
    """Where two parameters are after each step; None in `gradients` leaves the second without."""
    a, b = parameter(rng, 2), parameter(rng, 2, 2)
    start = places([a, b])
    optimizer, seen = answer([a, b], **settings), []
    a.grad = tg.zeros(2)
    for scale in gradients:
        g = values(rng, 2)
        if same_memory:  # as after zero_grad(set_to_none=False)
            a.grad.copy_(g)
        else:
            a.grad = g
        b.grad = None if scale is None else values(rng, 2, 2, scale=scale)
        optimizer.step()
        seen.append(places([a, b]))
        if halve_lr:
            optimizer.param_groups[0]["lr"] /= 2
    return {"settings": settings, "start": start, "after each step": seen}


def resumed(answer, rng, **settings):
    """A second optimizer on copies of the parameters, with the first one's state, for two steps."""
    gradients = [values(rng, 3) for _ in range(4)]
    p = parameter(rng, 3)
    optimizer = answer([p], **settings)
    for g in gradients[:2]:
        p.grad = g
        optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    q = p.detach().clone().requires_grad_()
    other = answer([q], **settings)
    other.load_state_dict(saved)
    for g in gradients[2:]:
        q.grad = g
        other.step()
    return q.detach()


# --- Momentum -------------------------------------------------------------------------------------

momentum = Exercise(
    "momentum",
    answer="Momentum",
    title="Momentum",
    points=10,
    difficulty=2,
    hints=(
        '`state` is empty at the first step: `if "v" not in state`. Then v is the gradient.',
        "Take a copy, `g.clone()`: the gradient's memory may be filled with the next gradient, and "
        "v has to stay what it was.",
        'Later: v times `group["momentum"]`, plus (1 − dampening) times the gradient.',
        "The learning rate stands outside: `p -= lr * v`, in place. `move` runs under no_grad.",
    ),
)


@momentum.case("the first step, with and without dampening", points=2)
def first_velocity(answer, rng):
    return [try_rule(answer, rng, [1.0], lr=0.1, momentum=0.9, dampening=d) for d in (0.0, 0.5)]


@momentum.case("three steps", points=2)
def three_velocities(answer, rng):
    return try_rule(answer, rng, [1.0, 1.0, 1.0], lr=0.1, momentum=0.9, dampening=0.0)


@momentum.case("dampening", points=1)
def dampening(answer, rng):
    return try_rule(answer, rng, [1.0, 1.0, 1.0], lr=0.1, momentum=0.5, dampening=0.25)


@momentum.case("gradients that are written into the same memory", points=1)
def same_memory(answer, rng):
    settings = {"lr": 0.1, "momentum": 0.9, "dampening": 0.0}
    return try_rule(answer, rng, [1.0, 1.0, 1.0], same_memory=True, **settings)


@momentum.case("a learning rate that changes", points=2)
def changing_rate(answer, rng):
    settings = {"lr": 0.4, "momentum": 0.9, "dampening": 0.0}
    return try_rule(answer, rng, [1.0, 1.0, 1.0], halve_lr=True, **settings)


@momentum.case("going on from a state_dict", points=2)
def momentum_resumed(answer, rng):
    return resumed(answer, rng, lr=0.1, momentum=0.9, dampening=0.0)


# --- Adam -----------------------------------------------------------------------------------------

adam = Exercise(
    "adam",
    answer="Adam",
    title="Adam",
    points=12,
    difficulty=3,
    hints=(
        'Three things are kept in state: the count of steps and the two means. `state.get("m", '
        "0.0)` is 0.0 in the first step.",
        "Count first, so that t is 1 in the first step: with t = 0 the correction would divide by "
        "1 − β⁰ = 0.",
        "m takes in (1 − β₁) times the gradient, v (1 − β₂) times its square. Keep m and v "
        "uncorrected, and make m̂ and v̂ of them anew in each step.",
        'The step is `group["lr"] * m_hat / (v_hat.sqrt() + group["eps"])`: eps is added to the '
        "root, not under it.",
    ),
)

USUAL = {"lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-8}


@adam.case("the first step", points=2)
def first_adam(answer, rng):
    return try_rule(answer, rng, [1.0], **USUAL)


@adam.case("several steps", points=3)
def several_adam(answer, rng):
    return try_rule(answer, rng, [1.0, 1.0, 10.0, 0.1], lr=0.05, betas=(0.8, 0.9), eps=1e-8)


@adam.case("eps counts where gradients are tiny", points=1)
def tiny_gradients(answer, rng):
    p = tg.zeros(3, requires_grad=True)
    optimizer = answer([p], lr=0.1, betas=(0.9, 0.999), eps=1e-3)
    p.grad = tg.tensor([1e-2, 1e-3, -1e-4])
    optimizer.step()
    return p.detach()


@adam.case("a parameter that has no gradient in some steps", points=2)
def sometimes_none(answer, rng):
    return try_rule(answer, rng, [None, 1.0, None, 1.0], **USUAL)


@adam.case("gradients that are written into the same memory", points=2)
def adam_same_memory(answer, rng):
    return try_rule(answer, rng, [1.0, 1.0, 1.0], same_memory=True, **USUAL)


@adam.case("going on from a state_dict", points=2)
def adam_resumed(answer, rng):
    return resumed(answer, rng, **USUAL)


# --- Repair: decoupled weight decay ---------------------------------------------------------------

repair_decay = Exercise(
    "repair-decay",
    answer="AdamW",
    title="Repair a weight decay",
    points=7,
    difficulty=2,
    needs=("adam",),
    hints=(
        "What is added to the gradient goes through the means and is divided by √v̂. The gradient "
        "should reach Adam as it is.",
        "Shrink the weight itself, in place, before Adam's step: `p *= ...`.",
        'The factor is `1 - group["lr"] * group["weight_decay"]`.',
    ),
)


@repair_decay.case("small and large gradients decay alike", points=3)
def alike(answer, rng):
    p = tg.ones(2, requires_grad=True)
    optimizer = answer([p], weight_decay=0.5, **USUAL)
    seen = []
    for step in range(3):
        p.grad = tg.tensor([0.01, 10.0]) * (-1) ** step
        optimizer.step()
        seen.append(p.detach().clone())
    return seen


@repair_decay.case("any gradients, and the gradient stays as it was", points=4)
def any_decay(answer, rng):
    p = tg.tensor(rng.uniform(2, 4, 3).astype(np.float32)).requires_grad_()
    optimizer = answer([p], lr=0.2, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.3)
    seen = []
    for _ in range(3):
        p.grad = values(rng, 3)
        optimizer.step()
        seen.append({"p": p.detach().clone(), "its gradient": p.grad.clone()})
    return seen
