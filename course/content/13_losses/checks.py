"""What the checks of lesson 13 try: random scores and targets, hard ones, and what comes back."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise


def entries(answer, *names):
    """Those entries of a dict that a learner gave, tensors as plain numbers."""
    plain = {name: answer[name] for name in names}
    return {name: v.tolist() if isinstance(v, tg.Tensor) else v for name, v in plain.items()}


def normal(rng, *shape, scale=1.0, requires_grad=False):
    """A tensor of normal numbers."""
    values = (scale * rng.standard_normal(shape)).astype(np.float32)
    return tg.tensor(values, requires_grad=requires_grad)


def classes(rng, n, c, ignored=()):
    """n class numbers below c, and -100 at the places in `ignored`."""
    target = rng.integers(0, c, size=n)
    target[list(ignored)] = -100
    return tg.tensor(target)


# --- Predict: reductions --------------------------------------------------------------------------

predict_reductions = Exercise(
    "predict-reductions",
    answer="reductions",
    title="Predict what a reduction gives",
    points=6,
    difficulty=1,
    hints=(
        "Write down the four squared errors. Two of them are 0.",
        "The mean divides by the number of elements, not of rows: there are four.",
        "The slope of (p − t)² / n in p is 2 (p − t) / n. With `reduce=False`, the other flag "
        "does not count, and the losses keep the shape of the predictions.",
        "Broadcasting repeats the row, (3,), three times below itself, and the column, (3, 1), "
        "three times beside itself.",
    ),
)


@predict_reductions.case("mean and sum", points=2)
def mean_and_sum(answer, rng):
    return entries(answer, "mean", "sum")


@predict_reductions.case("the flags of old", points=1)
def old_flags(answer, rng):
    return entries(answer, "size_average=False", "reduce=False, size_average=True")


@predict_reductions.case("the slope of the mean", points=1)
def slope_of_mean(answer, rng):
    return entries(answer, "slope")


@predict_reductions.case("a column against a row", points=2)
def column_against_row(answer, rng):
    return answer["column, row"]


# --- Experiment: where softmax breaks -------------------------------------------------------------

limits = Exercise(
    "limits",
    answer="limits",
    title="Measure where softmax breaks",
    points=8,
    difficulty=2,
    hints=(
        "Make `tg.tensor([n + 1.0, 0.0], dtype=...)`, apply the function, and count n up as long "
        "as everything in the result is finite.",
        "`np.isfinite(result.numpy()).all()` is True when there is neither inf nor nan.",
        "`getattr(tg, 'float16')` is the dtype of that name. For the second number apply "
        "`tg.softmax(x, 0).log()`, without the naive one.",
    ),
)


@limits.case("where the naive softmax overflows", points=4)
def naive_limit(answer, rng):
    return {name: answer[name]["naive"] for name in ("float16", "float32", "float64")}


@limits.case("where the logarithm of the safe one is -inf", points=4)
def log_limit(answer, rng):
    return {name: answer[name]["log"] for name in ("float16", "float32", "float64")}


# --- logsumexp and log_softmax --------------------------------------------------------------------

log_softmax = Exercise(
    "log-softmax",
    answer=("logsumexp", "log_softmax"),
    title="Log-sum-exp and log-softmax",
    points=11,
    difficulty=2,
    hints=(
        "`x.max(dim, keepdim=True)[0]` is the largest score of each row, in a shape that "
        "broadcasts against `x`.",
        "Subtract it, apply `exp`, `sum(dim)` and `log`, and add it again. The sum has lost the "
        "dim, so take it out of the maximum as well: `.squeeze(dim)`.",
        "log_softmax is `x` minus the result of your logsumexp. Put the dim back with "
        "`.unsqueeze(dim)`, so that each row loses its own number.",
        "`(x - highest).exp().sum(dim).log() + highest.squeeze(dim)`",
    ),
)


@log_softmax.case("logsumexp along both dims of a matrix", points=2)
def lse_small(answer, rng):
    x = normal(rng, 3, 3)
    return {"x": x, "dim 1": answer.logsumexp(x, 1), "dim 0": answer.logsumexp(x, 0)}


@log_softmax.case("logsumexp of scores far from 0, and from each other", points=2)
def lse_hard(answer, rng):
    x = tg.tensor([[1000.0, 999.0], [-1000.0, -1001.0], [0.0, -float("inf")]])
    return {"x": x, "logsumexp": answer.logsumexp(x, 1)}


@log_softmax.property("log_softmax along any dim", points=2, draw=lambda st: st.integers(1, 3))
def ls_small(answer, rng, size):
    x = normal(rng, *([2, 2, 2][:size]))
    dim = size - 1 if size < 3 else 1
    return {"x": x, "dim": dim, "log_softmax": answer.log_softmax(x, dim)}


@log_softmax.case("log_softmax of scores far from each other", points=3)
def ls_hard(answer, rng):
    x = tg.tensor([[1000.0, 0.0], [-1000.0, 0.0], [200.0, 190.0]])
    return {"x": x, "log_softmax": answer.log_softmax(x, 1)}


@log_softmax.case("gradients flow", points=2)
def ls_gradient(answer, rng):
    x, g = normal(rng, 2, 3, requires_grad=True), normal(rng, 2, 3)
    answer.log_softmax(x, 1).backward(g)
    return x.grad


# --- nll_loss -------------------------------------------------------------------------------------

nll_loss = Exercise(
    "nll-loss",
    answer="nll_loss",
    title="The negative log-likelihood",
    points=11,
    difficulty=2,
    hints=(
        "`log_p.gather(1, target.unsqueeze(1)).squeeze(1)` picks one entry from each row. Minus it "
        "is the list of losses when nothing is ignored.",
        "`counts = target != ignore_index` says who takes part. Where it is False, replace the "
        "target by 0 before you pick: `tg.where(counts, target, 0)`.",
        "Give each sample a factor: 0 when ignored, else 1 or `weight[class]`. Multiply the losses "
        "by it.",
        "'mean' is the sum of the losses divided by the sum of the factors. 'sum' is the sum, "
        "'none' the list.",
    ),
)


def try_nll(answer, log_p, target, **options):
    return {
        "log_p": log_p,
        "target": target,
        "options": options,
        "loss": answer(log_p, target, **options),
    }


def log_probabilities(rng, n, c):
    return normal(rng, n, c).log_softmax(1)


@nll_loss.case("a mean without options", points=1)
def plain_mean(answer, rng):
    return try_nll(answer, log_probabilities(rng, 4, 3), classes(rng, 4, 3))


@nll_loss.case("the three reductions", points=2)
def nll_reductions(answer, rng):
    log_p, target = log_probabilities(rng, 3, 3), tg.tensor([0, 2, 1])
    return {
        reduction: try_nll(answer, log_p, target, reduction=reduction)
        for reduction in ("none", "sum", "mean")
    }


@nll_loss.case("ignored targets", points=2)
def nll_ignored(answer, rng):
    log_p = log_probabilities(rng, 4, 3)
    return {
        "minus 100": try_nll(answer, log_p, tg.tensor([2, -100, 1, -100])),
        "class 0 ignored": try_nll(answer, log_p, tg.tensor([2, 0, 1, 0]), ignore_index=0),
        "none": try_nll(answer, log_p, tg.tensor([2, -100, 1, -100]), reduction="none"),
    }


@nll_loss.case("weights", points=3)
def nll_weights(answer, rng):
    log_p, weight = log_probabilities(rng, 4, 3), tg.tensor([1.0, 2.0, 5.0])
    target = tg.tensor([2, 0, 1, 2])
    return {
        reduction: try_nll(answer, log_p, target, weight=weight, reduction=reduction)
        for reduction in ("none", "sum", "mean")
    }


@nll_loss.property(
    "weights and ignored targets, and the gradient", points=3, draw=lambda st: st.integers(1, 4)
)
def nll_all(answer, rng, size):
    log_p = log_probabilities(rng, size + 1, 3).requires_grad_()
    target = classes(rng, size + 1, 3, ignored=[0] if size > 1 else [])
    seen = try_nll(answer, log_p, target, weight=tg.tensor([0.5, 2.0, 3.0]))
    seen["loss"].backward()
    return {**seen, "loss": seen["loss"].detach(), "gradient": log_p.grad}


# --- Cross entropy as a Function ------------------------------------------------------------------

cross_entropy = Exercise(
    "cross-entropy",
    answer="CrossEntropy",
    title="Cross entropy with its one-line gradient",
    points=11,
    difficulty=3,
    needs=("log-softmax", "nll-loss"),
    hints=(
        "Two static methods: `forward(ctx, scores, target)` and `backward(ctx, grad)`. The value "
        "is your `nll_loss` of your `log_softmax`.",
        "Keep the log-probabilities and the targets: `ctx.save_for_backward(log_p, target)`. In "
        "backward, `ctx.saved_tensors` gives them back, and `log_p.exp()` is the softmax.",
        "`F.one_hot(target, log_p.shape[1])` is 1 at the true class. The mean over N samples "
        "divides the gradient by N.",
        "Multiply by `grad`, what arrives from above: it is 1 only when the loss is the end of "
        "the graph. Return the gradient and `None`.",
    ),
)


def try_cross(answer, x, target, factor=1.0):
    loss = answer.apply(x, target)
    (loss * factor).backward()
    return {
        "scores": x.detach(),
        "target": target,
        "loss times": factor,
        "loss": loss.detach(),
        "gradient": x.grad,
    }


@cross_entropy.case("the value", points=2)
def cross_value(answer, rng):
    return answer.apply(normal(rng, 3, 4), classes(rng, 3, 4))


@cross_entropy.case("the gradient of one sample", points=2)
def cross_one(answer, rng):
    return try_cross(answer, normal(rng, 1, 3, requires_grad=True), classes(rng, 1, 3))


@cross_entropy.property("the gradient of several", points=2, draw=lambda st: st.integers(1, 3))
def cross_several(answer, rng, size):
    n = size + 1
    return try_cross(answer, normal(rng, n, 3, requires_grad=True), classes(rng, n, 3))


@cross_entropy.case("with something after the loss", points=3)
def cross_after(answer, rng):
    x = normal(rng, 2, 3, requires_grad=True)
    return try_cross(answer, x, classes(rng, 2, 3), factor=-2.5)


@cross_entropy.case("scores of any size", points=2)
def cross_hard(answer, rng):
    x = tg.tensor([[0.0, 1000.0], [500.0, -500.0]], requires_grad=True)
    return try_cross(answer, x, tg.tensor([0, 0]))


# --- Repair an average ----------------------------------------------------------------------------

repair_average = Exercise(
    "repair-average",
    answer="average_loss",
    title="Repair an average of averages",
    points=8,
    difficulty=2,
    hints=(
        "Two batches of 4 and 1 samples: how much does the last sample count in the mean of their "
        "means, and how much should it?",
        "Add up sums instead of means: `reduction='sum'`.",
        "Divide once, at the end. By the number of targets that count: "
        "`(target != ignore_index).sum().item()`.",
    ),
)


def try_average(answer, rng, target, batch_size, **options):
    scores = normal(rng, len(target), 3, scale=2.0)
    return {
        "target": target,
        "batch_size": batch_size,
        "loss": float(answer(scores, tg.tensor(target), batch_size, **options)),
    }


@repair_average.case("the last batch is shorter", points=2)
def shorter_batch(answer, rng):
    return try_average(answer, rng, [0, 1, 2, 1, 0], 4)


@repair_average.case("ignored targets, unevenly spread", points=3)
def uneven_batches(answer, rng):
    return {
        "minus 100": try_average(answer, rng, [0, 1, -100, 1, -100, -100], 3),
        "class 2": try_average(answer, rng, [0, 1, 2, 1, 2, 2], 3, ignore_index=2),
    }


@repair_average.case("a batch in which nothing counts", points=3)
def nothing_counts(answer, rng):
    return try_average(answer, rng, [0, 1, -100, -100, 2, 1], 2)
