"""What the checks of lesson 11 try: pooled sizes, maxima and their places, and batch norm."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise


def entries(answer, *names):
    """Those entries of a dict that a learner gave, tensors as lists, a list of one as its entry."""
    found = {}
    for name in names:
        value = answer[name]
        value = value.tolist() if isinstance(value, tg.Tensor | np.ndarray) else value
        found[name] = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    return found


def pick(rng, low, high):
    return int(rng.integers(low, high))


def distinct(rng, *shape):
    """A tensor of different whole numbers, positive and negative, in random order."""
    count = int(np.prod(shape))
    values = rng.permutation(count) - count // 2
    return tg.tensor(values.reshape(shape).astype(np.float32))


def normal(rng, *shape):
    """A float64 tensor whose mean and spread differ from channel to channel."""
    scale = rng.uniform(0.5, 2.0, size=(1, shape[1], 1, 1))
    shift = rng.uniform(-2.0, 2.0, size=(1, shape[1], 1, 1))
    return tg.tensor(rng.standard_normal(shape) * scale + shift)


# --- Predict: pools -------------------------------------------------------------------------------

predict_pools = Exercise(
    "predict-pools",
    answer="pools",
    title="Predict what a pooling gives",
    points=6,
    difficulty=1,
    hints=(
        "Without a stride the windows lie side by side. How many windows of 3 are there on 7 "
        "points?",
        "With dilation=2 a window of two reads a point and the next but one. With ceil_mode the "
        "last window may hold a single point.",
        "Padding counts as minus infinity: it never is the largest.",
    ),
)


@predict_pools.case("without and with a stride", points=2)
def strides(pools, rng):
    return entries(pools, "max_pool1d(x, 3)", "max_pool1d(x, 3, stride=1)")


@predict_pools.case("ceil_mode", points=1)
def predicted_ceil(pools, rng):
    return entries(pools, "max_pool1d(x, 2, ceil_mode=True)")


@predict_pools.case("dilation", points=1)
def predicted_dilation(pools, rng):
    return entries(pools, "max_pool1d(x, 2, stride=1, dilation=2)")


@predict_pools.case("padding", points=2)
def predicted_padding(pools, rng):
    return entries(pools, "max_pool1d(y, 3, stride=1, padding=1)")


# --- Max pooling with indices ---------------------------------------------------------------------

max_pool = Exercise(
    "max-pool",
    answer="max_pool",
    title="Max pooling with indices",
    points=10,
    difficulty=3,
    hints=(
        "`x.unfold(2, kernel, stride).unfold(3, kernel, stride)` has the axes N, C, P, Q, kernel, "
        "kernel. `flatten(4)` joins the last two.",
        "`values, cell = windows.max(-1)`: a cell is a number within the window. Its row there is "
        "`cell // kernel`, its column `cell % kernel`.",
        "The window in row p begins at row `p * stride` of the picture. `tg.arange(P).view(-1, 1)` "
        "has the numbers p in a shape that fits.",
        "`rows = tg.arange(P).view(-1, 1) * stride + cell // kernel`, the columns likewise with "
        "`tg.arange(Q)`, and the index is `rows * width + columns`.",
    ),
)


def try_max_pool(answer, x, kernel, stride):
    values, indices = answer(x, kernel, stride)
    given = {"x": x, "kernel": kernel, "stride": stride}
    return {"given": given, "values": values, "indices": indices}


@max_pool.case("the values", points=1)
def pooled_values(answer, rng):
    x = distinct(rng, 2, 2, 4, 6)
    values, _ = answer(x, 2, 2)
    return {"given": {"x": x, "kernel": 2, "stride": 2}, "values": values}


@max_pool.case("the indices in one channel", points=2)
def pooled_indices(answer, rng):
    return try_max_pool(answer, distinct(rng, 1, 1, 4, 6), 2, 2)


@max_pool.case("several pictures and channels", points=1)
def pooled_several(answer, rng):
    return try_max_pool(answer, distinct(rng, 2, 3, 2, 6), 2, 2)


@max_pool.property("windows that overlap or lie apart", points=2, draw=lambda st: st.integers(1, 4))
def other_strides(answer, rng, size):
    return try_max_pool(
        answer, distinct(rng, 1, 1, 3 + size, 5), 3 if size % 2 else 2, 3 - size % 3
    )


@max_pool.case("equal numbers", points=2)
def equal_numbers(answer, rng):
    x = tg.tensor([[[[2.0, 1, 0, 0], [1, 2, 0, 0]]]])
    return try_max_pool(answer, x, 2, 2)


@max_pool.case("its gradient", points=2)
def pooled_gradient(answer, rng):
    x = distinct(rng, 1, 1, 3, 4).requires_grad_()
    values, _ = answer(x, 2, 1)
    values.sum().backward()
    return {"given": {"x": x.detach(), "kernel": 2, "stride": 1}, "x.grad": x.grad}


# --- Repair: normalise ----------------------------------------------------------------------------

normalise = Exercise(
    "normalise",
    answer="normalise",
    title="Repair batch norm",
    points=8,
    difficulty=2,
    hints=(
        "Which numbers share a mean? Those of a channel, in all pictures at all points: axes 0, 2 "
        "and 3.",
        "The batch is normalised by the plain variance: `unbiased=False`. And `training` is never "
        "asked for.",
        "A mean per channel has the shape (C,). To fit (N, C, H, W) it needs `view(1, -1, 1, 1)`, "
        "the running ones as well.",
        "`mean, var = running_mean, running_var`, and if training `x.mean((0, 2, 3))` and "
        "`x.var((0, 2, 3), unbiased=False)`.",
    ),
)


def try_normalise(answer, rng, training, shape=(2, 2, 2, 3), scale=1.0):
    x = normal(rng, *shape) * scale
    mean = tg.tensor(rng.standard_normal(shape[1]))
    var = tg.tensor(rng.uniform(0.5, 2.0, size=shape[1]))
    given = {"x": x, "running_mean": mean, "running_var": var, "training": training}
    return {"given": given, "result": answer(x, mean.clone(), var.clone(), training)}


@normalise.case("training, one channel", points=1)
def train_one(answer, rng):
    return try_normalise(answer, rng, True, (3, 1, 2, 2))


@normalise.case("training, several channels", points=2)
def train_several(answer, rng):
    return try_normalise(answer, rng, True)


@normalise.case("training, as many channels as columns", points=2)
def train_square(answer, rng):
    return try_normalise(answer, rng, True, (2, 3, 3, 3), scale=0.01)


@normalise.case("in use", points=3)
def in_use(answer, rng):
    return try_normalise(answer, rng, False, (2, 3, 2, 3))


# --- Predict: running statistics ------------------------------------------------------------------

predict_running = Exercise(
    "predict-running",
    answer="running",
    title="Predict the running statistics",
    points=7,
    difficulty=2,
    hints=(
        "They begin at 0 and 1. The batch moves them by a tenth of the way to its own mean and "
        "variance.",
        "The mean of 8 and 12 is 10. The running variance takes the sum of squares divided by "
        "n - 1, which is 8.",
        "After eval() nothing is updated any more. And what does affine=False leave out?",
    ),
)


@predict_running.case("the mean", points=1)
def the_mean(running, rng):
    return entries(running, "running_mean")


@predict_running.case("the variance", points=2)
def the_variance(running, rng):
    return entries(running, "running_var")


@predict_running.case("the count", points=2)
def the_count(running, rng):
    return entries(running, "num_batches_tracked")


@predict_running.case("the parameters", points=2)
def the_parameters(running, rng):
    return entries(running, "parameters")


# --- The Function ---------------------------------------------------------------------------------

batch_norm = Exercise(
    "batch-norm",
    answer="Norm",
    title="Batch norm as a Function",
    points=11,
    difficulty=3,
    hints=(
        "With `keepdim=True` mean and variance keep the shape (1, C, 1, 1) and fit x as they are. "
        "`weight.view(1, -1, 1, 1)` does the same for the weight.",
        "Backward needs x̂, r and the weight, and no other number: save these three.",
        "The gradients of weight and bias are sums over the axes 0, 2 and 3: of g · x̂ and of g.",
        "With `h = g * weight.view(1, -1, 1, 1)`: `r * (h - h.mean(axes, True) - normal * (h * "
        "normal).mean(axes, True))`. eps gets None.",
    ),
)


def try_norm(answer, rng, shape=(2, 3, 2, 2), eps=0.1):
    x = normal(rng, *shape)
    weight, bias = (tg.tensor(rng.uniform(0.5, 2.0, size=shape[1])) for _ in range(2))
    given = {"x": x.clone(), "weight": weight.clone(), "bias": bias.clone(), "eps": eps}
    leaves = [v.requires_grad_() for v in (x, weight, bias)]
    y = answer.apply(*leaves, eps)
    return given, leaves, y


@batch_norm.case("forward", points=2)
def norm_forward(answer, rng):
    given, _, y = try_norm(answer, rng)
    return {"given": given, "result": y.detach()}


def gradient(answer, rng, which, shape=(2, 3, 2, 2), eps=0.1):
    given, leaves, y = try_norm(answer, rng, shape, eps)
    g = tg.tensor(rng.standard_normal(tuple(y.shape)))
    y.backward(g)
    return {"given": {**given, "g": g}, "gradient": leaves[which].grad}


@batch_norm.case("the gradient of the bias", points=1)
def bias_gradient(answer, rng):
    return gradient(answer, rng, 2)


@batch_norm.case("the gradient of the weight", points=2)
def weight_gradient(answer, rng):
    return gradient(answer, rng, 1)


@batch_norm.case("the gradient of x", points=4)
def input_gradient(answer, rng):
    return gradient(answer, rng, 0)


@batch_norm.property("the gradient of x, other shapes", points=2, draw=lambda st: st.integers(1, 3))
def input_gradients(answer, rng, size):
    return gradient(answer, rng, 0, (2, size, 1 + size, 2), 1e-3)


# --- Experiment: reach ----------------------------------------------------------------------------

reach = Exercise(
    "reach",
    answer="reach",
    title="Count what one number reaches",
    points=7,
    difficulty=2,
    hints=(
        "Make each layer once, with `make()`, and call it on both tensors.",
        "`layer(before) != layer(after)` is a tensor of bools. Its sum is the count.",
        "`for name, make in fresh.items():`, `layer = make()`, and `reach[name] = (layer(before) "
        "!= layer(after)).sum().item()`.",
    ),
)


@reach.case("poolings", points=2)
def poolings(reach, rng):
    return entries(reach, "MaxPool2d(2)", "MaxPool2d(2, stride=1)")


@reach.case("softmax", points=2)
def softmax(reach, rng):
    return entries(reach, "Softmax2d")


@reach.case("batch norm", points=3)
def both_modes(reach, rng):
    return entries(reach, "BatchNorm2d, train", "BatchNorm2d, eval")
