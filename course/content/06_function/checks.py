"""What the checks of lesson 06 try.

A case runs the answer's Function and reports values and gradients. No expected value stands here:
the lesson's reference answer runs on the same inputs, and the reports are compared.
"""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise
from course.forms import choice, number, plain_value


def normal(rng, *shape, requires_grad=True):
    """A leaf tensor of standard normal numbers, in float64."""
    return tg.tensor(rng.standard_normal(shape), requires_grad=requires_grad)


def weighted(outputs, rng):
    """A number made of all outputs, with a random weight for each entry."""
    terms = [(y * normal(rng, *y.shape, requires_grad=False)).sum() for y in outputs]
    return sum(terms[1:], terms[0])


def slips_through(f, change, rng):
    """Whether a change of a tensor after forward gives other gradients without an error.

    `f` makes from a leaf what `change` gets, the output first.
    """
    found = []
    values = rng.standard_normal((3, 4))
    for changed in (False, True):
        leaf = tg.tensor(values, requires_grad=True)
        made = f(leaf)
        if changed:
            change(*made)
        try:
            made[0].sum().backward()
        except RuntimeError:
            found.append(None)
        else:
            found.append(leaf.grad.numpy())
    before, after = found
    if before is None:
        raise RuntimeError("backward fails already where nothing was changed")
    return after is not None and not np.allclose(before, after)


# --- A tanh of any height -------------------------------------------------------------------------

scaled_tanh = Exercise(
    "scaled-tanh",
    answer="ScaledTanh",
    title="A tanh of any height",
    points=6,
    difficulty=1,
    hints=(
        "Keep a tensor with `ctx.save_for_backward(...)`, and the number as an attribute: "
        "`ctx.height = height`.",
        "The slope of `height * tanh(x)` is `height * (1 - t * t)` with t = tanh(x). If you keep "
        "t, backward need not compute it again.",
        "`backward` returns `g` times the slope, and one value more: `height` is an argument of "
        "forward too, a number, so its gradient is `None`.",
        "The last line of backward: `return g * ctx.height * (1 - t * t), None`.",
    ),
)


def tanh_pass(answer, x, height, rng):
    y = answer.apply(x, height)
    weighted([y], rng).backward()
    return {"height": height, "x": x.detach().clone(), "value": y.detach(), "gradient": x.grad}


@scaled_tanh.case("value, and gradient of the sum", points=1)
def plain_sum(answer, rng):
    x = normal(rng, 4)
    y = answer.apply(x, 2.5)
    y.sum().backward()
    return {"height": 2.5, "value": y.detach(), "gradient": x.grad}


@scaled_tanh.property(
    "any gradient that arrives, any height", points=2, draw=lambda st: st.integers(1, 6)
)
def any_height(answer, rng, size):
    shape = tuple(int(n) for n in rng.integers(1, 4, size=1 + size // 3))
    return tanh_pass(answer, normal(rng, *shape), float(rng.uniform(-3, 3)), rng)


@scaled_tanh.case("in the middle of a graph", points=1)
def tanh_in_the_middle(answer, rng):
    leaf = normal(rng, 3)
    weighted([answer.apply(leaf * 2, 1.5).exp()], rng).backward()
    return leaf.grad


@scaled_tanh.case("a change of x after forward gives no wrong gradient", points=2)
def tanh_guarded(answer, rng):
    def run(leaf):
        middle = leaf * 1
        return answer.apply(middle, 1.5), middle

    return {"slips through": slips_through(run, lambda y, middle: middle.mul_(0.5), rng)}


# --- Predict: what the node says ------------------------------------------------------------------

predict_node = Exercise(
    "predict-node",
    answer="node_says",
    title="Predict what a node says of itself",
    points=5,
    difficulty=1,
    form={
        "num_inputs": number(),
        "num_outputs": number(),
        "needs_input_grad": plain_value(),
        "len(next_functions)": number(),
        "way.grad_fn is node": choice(True, False),
    },
    hints=(
        "`num_inputs` counts what stands between the brackets of `apply`, `num_outputs` what "
        "`forward` returns.",
        "`needs_input_grad` has an entry for each argument: is there an `x` behind it that "
        "requires a gradient? The number 0.25 and the tensor 5 need none.",
        "`next_functions` has an entry for each *tensor* among the arguments, also for one that "
        "needs no gradient. And there is one node for one call, however many results it has.",
    ),
)


@predict_node.case("the two counts", points=1)
def counts(says, rng):
    return [says["num_inputs"], says["num_outputs"]]


@predict_node.case("which gradients are needed", points=1)
def needed(says, rng):
    return list(says["needs_input_grad"])


@predict_node.case("edges", points=1)
def edges(says, rng):
    return says["len(next_functions)"]


@predict_node.case("the node of the second output", points=2)
def second_output(says, rng):
    return says["way.grad_fn is node"]


# --- Rotation: three inputs, two outputs ----------------------------------------------------------

rotate = Exercise(
    "rotate",
    answer="Rotate",
    title="Three inputs, two outputs",
    points=9,
    difficulty=2,
    hints=(
        "The gradient of `x` has two terms: `gu` times the slope of u in x, which is cos, plus "
        "`gv` times the slope of v in x, which is sin.",
        "For `y` the slopes are -sin (of u) and cos (of v). So gradients are rotated back, by "
        "minus the angle.",
        "For the angle: the slope of u is -v and that of v is u, at each point. All points use "
        "the one angle, so sum over them: `(gv * u - gu * v).sum()`.",
        "`ctx.needs_input_grad` holds three booleans, in the order of the arguments. `... if "
        "ctx.needs_input_grad[0] else None` computes a gradient only if it is wanted.",
    ),
)


def rotation(rng, points=4, needs=(True, True, True)):
    x, y = (normal(rng, points, requires_grad=need) for need in needs[:2])
    return x, y, tg.tensor(rng.uniform(0.3, 1.2), dtype=tg.float64, requires_grad=needs[2])


@rotate.case("the rotated points, and a backward from u", points=1)
def from_u(answer, rng):
    x, y, angle = rotation(rng)
    u, v = answer.apply(x, y, angle)
    weighted([u], rng).backward()
    return {"u": u.detach(), "v": v.detach(), "x.grad": x.grad, "y.grad": y.grad}


@rotate.case("a backward from both outputs", points=2)
def from_both(answer, rng):
    x, y, angle = rotation(rng)
    weighted(answer.apply(x, y, angle), rng).backward()
    return {"x.grad": x.grad, "y.grad": y.grad}


@rotate.case("the gradient of the angle", points=3)
def of_angle(answer, rng):
    x, y, angle = rotation(rng)
    weighted(answer.apply(x, y, angle), rng).backward()
    return angle.grad


@rotate.case("gradients that nobody needs are None", points=3)
def unneeded(answer, rng):
    seen = {}
    for needs in ((True, False, False), (False, True, False), (False, False, True)):
        u, _ = answer.apply(*rotation(rng, needs=needs))
        with tg.no_grad():
            found = u.grad_fn(tg.ones(4, dtype=tg.float64), tg.ones(4, dtype=tg.float64))
        seen[str(needs)] = [grad is not None for grad in found]
    return seen


# --- Repair a Swish -------------------------------------------------------------------------------

repair_swish = Exercise(
    "repair-swish",
    answer="Swish",
    title="Repair a Swish",
    points=8,
    difficulty=2,
    hints=(
        "Run it on a tensor and call backward. The first error message names one of the faults: "
        "how many arguments does `forward` have?",
        "What arrives from the rest of the graph, `g`, doesn't appear in backward at all.",
        "Compare the slope with the formula above the cell, letter by letter, for a beta other "
        "than 1.",
        "`ctx.x = x` is not guarded: use `ctx.save_for_backward(x)` and `ctx.saved_tensors`.",
    ),
)


def swish_pass(answer, beta, rng, weights):
    x = normal(rng, 5)
    y = answer.apply(x, beta)
    (weighted([y], rng) if weights else y.sum()).backward()
    return {"beta": beta, "x": x.detach(), "value": y.detach(), "gradient": x.grad}


@repair_swish.case("beta 1, summed up", points=1)
def swish_sum(answer, rng):
    return swish_pass(answer, 1.0, rng, weights=False)


@repair_swish.case("any gradient that arrives", points=2)
def swish_weights(answer, rng):
    return swish_pass(answer, 1.0, rng, weights=True)


@repair_swish.property("any beta", points=3, draw=lambda st: st.integers(1, 4))
def swish_beta(answer, rng, size):
    return swish_pass(answer, float(rng.uniform(1.5, 3)), rng, weights=size > 2)


@repair_swish.case("a change of x after forward is noticed", points=2)
def swish_guarded(answer, rng):
    def run(leaf):
        middle = leaf * 1
        return answer.apply(middle, 1.5), middle

    return {"slips through": slips_through(run, lambda y, middle: middle.mul_(0.5), rng)}


# --- Experiment: which backward is wrong ----------------------------------------------------------

find_wrong = Exercise(
    "find-wrong",
    answer="errors",
    title="Find the wrong ones",
    points=8,
    difficulty=2,
    hints=(
        "Go through `suspects.items()`. Each is a function of one tensor, so both "
        "`numeric_jacobian(f, dock)` and `backward_jacobian(f, dock)` can be called with it.",
        "Subtract the one table from the other. The worst entry is the largest absolute value.",
        "`errors[name] = float(np.abs(numeric - by_backward).max())`",
    ),
)


@find_wrong.case("which are wrong", points=4)
def which(errors, rng):
    return sorted(name for name, error in dict(errors).items() if abs(error) > 1e-5)


@find_wrong.case("by how much", points=4)
def how_much(errors, rng):
    return {name: round(float(errors[name]), 5) for name in sorted(errors)}


# --- A safe log-sum-exp ---------------------------------------------------------------------------

log_sum_exp = Exercise(
    "log-sum-exp",
    answer="LogSumExp",
    title="A safe log-sum-exp",
    points=10,
    difficulty=3,
    hints=(
        "`top = x.max(-1, keepdim=True)[0]` is the largest score of each row, in a shape that "
        "can be subtracted from x. Add it again after the logarithm.",
        "With `keepdim=True` everywhere the shapes fit; `squeeze(-1)` at the end drops the axis.",
        "The slope is `exp(x - y)`, with y unsqueezed. `g` has the shape of y: it needs "
        "`unsqueeze(-1)` as well, to meet x.",
        "For second derivatives, save x and the y that you return, and compute the slope from "
        "them in backward. What else was made in forward has no history.",
    ),
)


def lse_pass(answer, values, rng):
    x = tg.tensor(values, dtype=tg.float64, requires_grad=True)
    y = answer.apply(x)
    weighted([y], rng).backward()
    return {"x": x.detach().clone(), "value": y.detach(), "gradient": x.grad}


@log_sum_exp.case("small scores", points=1)
def small_scores(answer, rng):
    return lse_pass(answer, rng.standard_normal(4), rng)


@log_sum_exp.property("rows of any shape", points=2, draw=lambda st: st.integers(1, 4))
def rows_of_scores(answer, rng, size):
    shape = tuple(int(n) for n in rng.integers(2, 4, size=1 + size // 2))
    return lse_pass(answer, rng.standard_normal(shape), rng)


@log_sum_exp.case("the value of large and of far apart scores", points=1)
def large_values(answer, rng):
    x = tg.tensor([[1000.0, 1001.0], [-1000.0, -1001.0], [800.0, -800.0]], dtype=tg.float64)
    return answer.apply(x)


@log_sum_exp.case("the gradient of large and of far apart scores", points=3)
def large_gradients(answer, rng):
    return lse_pass(answer, [[1000.0, 1001.0], [-1000.0, -1001.0], [800.0, -800.0]], rng)


@log_sum_exp.case("the second derivative", points=3)
def second_derivative(answer, rng):
    x = normal(rng, 2, 3)
    (grad,) = tg.autograd.grad(weighted([answer.apply(x) ** 2], rng), x, create_graph=True)
    (second,) = tg.autograd.grad(weighted([grad], rng), x)
    return {"x": x.detach(), "first": grad.detach(), "second": second}
