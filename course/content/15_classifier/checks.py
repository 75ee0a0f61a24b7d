"""What the checks of lesson 15 try.

Each case trains, counts or loads something small and reports what came back. No expected value
stands here: the lesson's reference answer runs on the same inputs, and the reports are compared.
"""

from collections import OrderedDict

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise
from tinygrad_course import nn


def normal(rng, *shape):
    """A tensor of standard normal numbers."""
    return tg.tensor(rng.standard_normal(shape).astype(np.float32))


def classes(rng, count, most):
    """Labels of `count` samples, each below `most`."""
    return tg.tensor(rng.integers(0, most, size=count))


def number(value):
    """A number that a learner gave, also as a tensor or an array with a single entry."""
    return value.item() if hasattr(value, "item") and np.prod(value.shape) == 1 else value


# --- Predict: batches -----------------------------------------------------------------------------

predict_batches = Exercise(
    "predict-batches",
    answer="counted",
    title="Predict the batches",
    points=5,
    difficulty=1,
    hints=(
        "1,438 is 22 times 64 and a rest.",
        "The rest is a batch as well, unless drop_last leaves it out.",
        "A batch of pictures has one axis more than a picture, in front. An epoch is one pass, "
        "with a step for each batch.",
    ),
)


def entry_of(key):
    def seen(answer, rng):
        return number(answer[key])

    return seen


for key in (
    "batches",
    "pictures in the last batch",
    "shape of the first batch of pictures",
    "batches with drop_last=True",
    "steps of the optimizer in 3 epochs",
):
    predict_batches.case(key, points=1)(entry_of(key))


# --- The loop -------------------------------------------------------------------------------------

train_epoch = Exercise(
    "train-epoch",
    answer="train_epoch",
    title="The loop of an epoch",
    points=9,
    difficulty=2,
    hints=(
        "`for i, (inputs, labels) in enumerate(loader):` and in it the five lines, in their order.",
        "Add `loss.item()` to a number that starts at 0.0.",
        "`i` counts from 0, so a group is full when `i % every == every - 1`. Then append the sum "
        "divided by `every`, and start the sum anew.",
    ),
)


def train_small(answer, rng, count, every):
    tg.manual_seed(int(rng.integers(1000)))
    model = nn.Linear(3, 4)
    loader = [(normal(rng, 2, 3), classes(rng, 2, 4)) for _ in range(count)]
    optimizer = tg.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
    means = answer(model, loader, nn.CrossEntropyLoss(), optimizer, every)
    return {"means": list(means), "weight": model.weight.detach().clone()}


@train_epoch.case("one batch", points=1)
def one_batch(answer, rng):
    return train_small(answer, rng, 1, 1)


@train_epoch.case("the weights after five batches", points=2)
def five_batches(answer, rng):
    return train_small(answer, rng, 5, 1)


@train_epoch.case("means over groups of two", points=2)
def groups(answer, rng):
    return train_small(answer, rng, 6, 2)["means"]


@train_epoch.case("a group that isn't full", points=2)
def not_full(answer, rng):
    return train_small(answer, rng, 7, 3)["means"]


@train_epoch.case("a loader that gives each batch only once", points=2)
def a_stream(answer, rng):
    model, calls = nn.Linear(3, 4), []

    def stream():
        for number in range(4):
            calls.append(number)
            yield normal(rng, 2, 3), classes(rng, 2, 4)

    tg.manual_seed(0)
    model.reset_parameters()
    optimizer = tg.optim.SGD(model.parameters(), lr=0.5)
    means = answer(model, stream(), nn.CrossEntropyLoss(), optimizer, 2)
    return {"means": list(means), "batches taken": calls}


# --- Confusion matrix -----------------------------------------------------------------------------

confusion = Exercise(
    "confusion",
    answer="confusion",
    title="What is taken for what",
    points=10,
    difficulty=2,
    hints=(
        "`model(inputs).argmax(1)` is the predicted class of each sample. Go through labels and "
        "predictions together, and add 1 to `matrix[label, guess]`.",
        "Start from `tg.zeros(classes, classes, dtype=tg.int64)`.",
        "`matrix[labels, guesses] += 1` counts a pair that occurs twice only once. Count one by "
        "one, or with `bincount`.",
        "Keep `was_training = model.training`, call `model.eval()`, work under `tg.no_grad()`, and "
        "end with `model.train(was_training)`.",
    ),
)


class Watched(nn.Module):
    """Scores are the inputs themselves, but for what is noted: the mode, and whether it records."""

    def __init__(self):
        super().__init__()
        self.scale, self.calls = nn.Parameter(tg.ones(1)), []

    def forward(self, x):
        mode = "train" if self.training else "eval"
        self.calls.append([mode, "recorded" if tg.is_grad_enabled() else "not recorded"])
        return x * self.scale


def count_confusion(answer, rng, sizes, most, training=True):
    model = Watched().train(training)
    loader = [(normal(rng, size, most), classes(rng, size, most)) for size in sizes]
    matrix = answer(model, loader, most)
    # A sum over all batches that was recorded would still hold their graphs.
    return {
        "matrix": matrix,
        "calls of the model": model.calls,
        "mode afterwards": "train" if model.training else "eval",
    }


@confusion.case("three samples that are known", points=2)
def known(answer, rng):
    scores = tg.tensor([[9.0, 0.0, 1.0], [0.0, 1.0, 9.0], [0.0, 9.0, 1.0]])
    return answer(Watched(), [(scores, tg.tensor([0, 1, 1]))], 3)


@confusion.case("the same mistake again and again", points=1)
def repeated(answer, rng):
    scores = tg.tensor([[0.0, 1.0]] * 5)
    return answer(Watched(), [(scores, tg.tensor([0, 0, 1, 0, 1]))], 2)


@confusion.case("several batches", points=2)
def several(answer, rng):
    return count_confusion(answer, rng, (4, 4, 1), 3)["matrix"]


@confusion.case("evaluation mode, nothing recorded", points=3)
def quiet(answer, rng):
    return count_confusion(answer, rng, (2, 2), 3)


@confusion.case("a model that was in evaluation mode stays there", points=2)
def stays(answer, rng):
    return count_confusion(answer, rng, (2, 2), 3, training=False)


# --- Repair ---------------------------------------------------------------------------------------

repair_epoch = Exercise(
    "repair-epoch",
    answer="one_epoch",
    title="Repair: three faults that run",
    points=10,
    difficulty=3,
    hints=(
        "Backward adds to the gradients that are there. Which line takes the old ones away?",
        "Before the examination: `model.eval()`. And what must be said at the start of the next "
        "epoch?",
        "`loss` is the mean over one batch. Times the number of its samples it is their sum. Add "
        "these up, and divide by the number of all samples.",
    ),
)


def run_epochs(answer, rng, epochs, sizes, *layers):
    tg.manual_seed(int(rng.integers(1000)))
    model = nn.Sequential(nn.Linear(3, 4), *layers, nn.Linear(4, 2))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.5)
    told = []
    for _ in range(epochs):
        loader = [(normal(rng, size, 3), classes(rng, size, 2)) for size in sizes]
        examination = normal(rng, 5, 3), classes(rng, 5, 2)
        told.append([number(v) for v in answer(model, loader, examination, optimizer)])
    state = {name: value.clone() for name, value in model.state_dict().items()}
    return {"losses": told, "state": state}


@repair_epoch.case("gradients of the last step only", points=2)
def own_gradients(answer, rng):
    return run_epochs(answer, rng, 1, (4, 4, 4))["state"]


@repair_epoch.case("each sample counts alike", points=2)
def alike(answer, rng):
    # A short batch, so that no broken mean is right by chance.
    return [losses[0] for losses in run_epochs(answer, rng, 1, (4, 4, 1))["losses"]]


class Named(nn.Module):
    """Takes its input out of a dict, so that only the network knows how many samples there are."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, inputs):
        return self.layer(inputs["frames"])


@repair_epoch.case("inputs that only the network can read", points=1)
def named_inputs(answer, rng):
    tg.manual_seed(int(rng.integers(1000)))
    model = Named()
    pairs = [({"frames": normal(rng, size, 3)}, classes(rng, size, 2)) for size in (4, 4, 1, 3)]
    optimizer = tg.optim.SGD(model.parameters(), lr=0.5)
    return number(answer(model, pairs[:3], pairs[3], optimizer)[0])


# One batch an epoch, and no loss of the training: the mean is no part of these two.
def modes(answer, rng, epochs):
    seen = run_epochs(answer, rng, epochs, (6,), nn.BatchNorm1d(4), nn.ReLU())
    return {"examined": [losses[1] for losses in seen["losses"]], "state": seen["state"]}


@repair_epoch.case("examined in evaluation mode", points=3)
def examined(answer, rng):
    return modes(answer, rng, 1)


@repair_epoch.case("trained in training mode again", points=2)
def trained_again(answer, rng):
    return modes(answer, rng, 3)


# --- Experiment: overfitting ----------------------------------------------------------------------

overfit = Exercise(
    "overfit",
    answer="found",
    title="Measure what learning by heart costs",
    points=8,
    difficulty=2,
    hints=(
        "`for network, _, _ in noisy_training(120):` gives the network after each epoch. Note its "
        "loss on `checked` and `answers` and how many it gets right, under `no_grad`.",
        "It is one and the same network that goes on learning. What you want to know of an epoch "
        "has to be noted in that epoch.",
        "`losses.index(min(losses))` is the place of the smallest. The first place is 0, the first "
        "epoch 1.",
    ),
)


@overfit.case("the best epoch", points=2)
def best_epoch(found, rng):
    return number(found["best epoch"])


@overfit.case("right at the best epoch", points=3)
def right_at_best(found, rng):
    return number(found["right at the best epoch"])


@overfit.case("right at the end", points=3)
def right_at_end(found, rng):
    return number(found["right after 120 epochs"])


# --- Loading some layers --------------------------------------------------------------------------

take_over = Exercise(
    "take-over",
    answer="take_over",
    title="Take layers over and freeze them",
    points=10,
    difficulty=3,
    hints=(
        "`name.split('.')[0] in layers` says whether an entry belongs to one of the layers. "
        "`startswith('conv1')` would take `conv10` as well.",
        "Make a dict of the entries that you want and give it to `model.load_state_dict(...)`. "
        "Most keys are missing in it, so `strict=False`.",
        "Then go through `model.named_parameters()`: `parameter.requires_grad_(False)` for those "
        "of the layers, and nothing for the others.",
        "Return a list of the parameters whose `requires_grad` is still true.",
    ),
)


def small_net(rng):
    tg.manual_seed(int(rng.integers(1000)))
    parts = {"conv1": nn.Linear(2, 2), "norm": nn.BatchNorm1d(2), "conv10": nn.Linear(2, 2)}
    body = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    return nn.Sequential(OrderedDict(**parts, body=body, head=nn.Linear(2, 2)))


def take(answer, rng, layers, frozen=()):
    model, source = small_net(rng), small_net(rng)
    source.norm.running_mean.fill_(7.0)
    for name in frozen:
        for parameter in getattr(model, name).parameters():
            parameter.requires_grad_(False)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    state = source.state_dict()
    left = answer(model, state, layers)
    return {
        "layers": list(layers),
        "left to train": [names.get(id(p), "no parameter of the model") for p in left],
        "state": {name: value.detach().clone() for name, value in model.state_dict().items()},
        "frozen": [name for name, p in model.named_parameters() if not p.requires_grad],
    }


@take_over.case("one layer", points=2)
def one_layer(answer, rng):
    return take(answer, rng, ("body",))


@take_over.case("conv1 and not conv10", points=2)
def not_ten(answer, rng):
    return take(answer, rng, ["conv1"])


@take_over.case("buffers are part of a layer", points=1)
def buffers(answer, rng):
    return take(answer, rng, ("conv10", "norm"))


@take_over.case("what was frozen before stays frozen", points=2)
def frozen_before(answer, rng):
    return take(answer, rng, ("conv1",), frozen=("head",))


@take_over.case("the saved state stays independent", points=3)
def independent(answer, rng):
    model, state = small_net(rng), small_net(rng).state_dict()
    before = {name: value.clone() for name, value in state.items()}
    left = list(answer(model, state, ("conv1",)))
    with tg.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    changed = [name for name, value in before.items() if not tg.equal(value, state[name])]
    return {"left": len(left), "changed": changed, "keys": list(state)}
