"""What the checks of lesson 16 try.

Each case shares out, adds or trains something small and reports what came back. No expected value
stands here: the lesson's reference answer runs on the same inputs, and the reports are compared.
"""

import tinygrad_course as tg
from course.checks import Exercise
from tinygrad_course import nn
from tinygrad_course.utils.data import DistributedSampler


def normal(rng, *shape):
    """A tensor of standard normal numbers, in float64."""
    return tg.tensor(rng.standard_normal(shape))


def classes(rng, count, most):
    """Labels of `count` samples, each below `most`."""
    return tg.tensor(rng.integers(0, most, size=count))


# --- Predict: devices -----------------------------------------------------------------------------

predict_devices = Exercise(
    "predict-devices",
    answer="lies",
    title="Predict where results lie",
    points=7,
    difficulty=1,
    hints=(
        "`.cuda()` of a tensor returns another tensor. That of a module moves its parameters.",
        "Two devices in one operation are an error, unless one operand is a single number without "
        "dimensions. What is the shape of `tg.tensor([2.0])`?",
        "What is made like a tensor lies where that one lies. What is computed after `.cpu()` lies "
        "on the CPU.",
    ),
)


def place_of(key):
    """A case that reports one entry, "cuda" and the names of errors in either spelling."""

    def seen(lies, rng):
        place = lies[key]
        text = getattr(place, "__name__", str(place)).strip()
        if text.lower().endswith("error"):
            return "error"
        return "cuda:0" if text.lower() == "cuda" else text.lower()

    return seen


for key in (
    "x",
    "x + y",
    "y * tg.tensor(2.0)",
    "y * tg.tensor([2.0])",
    "tg.zeros_like(y)",
    "net(x)",
    "net(y).cpu().sum()",
):
    predict_devices.case(key, points=1)(place_of(key))


# --- Means of gradients ---------------------------------------------------------------------------

mean_gradients = Exercise(
    "mean-gradients",
    answer="mean_gradients",
    title="The mean over all samples",
    points=8,
    difficulty=2,
    hints=(
        "`zip(*gradients)` gives for each parameter what all ranks have for it.",
        "A rank's mean times the number of its samples is its sum. Add the sums, and divide by the "
        "number of all samples.",
        "Leave `None` out of the sum, but not out of the number of samples. If nothing but `None` "
        "is there, the result is `None`.",
    ),
)


def average(answer, gradients, counts):
    before = [[g if g is None else g.clone() for g in own] for own in gradients]
    means = list(answer(gradients, counts))
    return {"given": {"gradients": before, "counts": list(counts)}, "means": means}


@mean_gradients.case("equal shares", points=1)
def equal_shares(answer, rng):
    return average(answer, [[normal(rng, 2)], [normal(rng, 2)]], [4, 4])


@mean_gradients.case("different shares, several parameters", points=2)
def different_shares(answer, rng):
    ranks = [[normal(rng, 2), normal(rng, 1, 2)] for _ in range(3)]
    return average(answer, ranks, [5, 1, 2])


@mean_gradients.case("a rank without a gradient", points=1)
def without(answer, rng):
    return average(answer, [[normal(rng, 2)], [None], [normal(rng, 2)]], [1, 2, 3])


@mean_gradients.case("no rank has one", points=2)
def nobody(answer, rng):
    return average(answer, [[normal(rng, 1), None], [normal(rng, 1), None]], [1, 3])["means"]


@mean_gradients.case("the ranks' gradients stay as they are", points=2)
def unchanged(answer, rng):
    gradients = [[normal(rng, 2)], [normal(rng, 2)]]
    means = average(answer, gradients, [1, 3])["means"]
    return {"gradients afterwards": gradients, "means": means}


# --- The ring -------------------------------------------------------------------------------------

ring_sum = Exercise(
    "ring-sum",
    answer="ring_sum",
    title="All-reduce on a ring",
    points=11,
    difficulty=3,
    hints=(
        "Cut each row into n pieces: `[row[i * size : (i + 1) * size] for i in range(n)]`. Work on "
        "these and leave the rows alone.",
        "Step s: first `ring.send(rank, pieces[rank][(rank - s) % n])` for all ranks, then "
        "`ring.receive(rank)` for all.",
        "What arrives at `rank` was sent by `rank - 1`, so it is piece number `(rank - 1 - s) % "
        "n`. In the first n - 1 steps it is added to the own piece, number by number.",
        "`for step in range(2 * (n - 1))` is both rounds: from step n - 1 on, what arrives "
        "replaces the own piece. At the end `[v for piece in own for v in piece]` joins the "
        "pieces of a rank.",
    ),
)


class Ring:
    """n ranks in a circle, as in the lesson."""

    def __init__(self, n):
        self.sent = [0] * n
        self.under_way = [[] for _ in range(n)]

    def send(self, rank, piece):
        self.sent[rank] += len(piece)
        self.under_way[(rank + 1) % len(self.sent)].append(list(piece))

    def receive(self, rank):
        return self.under_way[rank].pop(0)


def go_round(answer, rng, n, size):
    rows = [[int(v) for v in rng.integers(-9, 10, size=n * size)] for _ in range(n)]
    given, ring = [list(row) for row in rows], Ring(n)
    results = [list(row) for row in answer(rows, ring)]
    return {
        "given": given,
        "results": results,
        "sent": ring.sent,
        "not received": sum(map(len, ring.under_way)),
        "rows afterwards": rows,
    }


@ring_sum.case("two ranks", points=2)
def two_ranks(answer, rng):
    seen = go_round(answer, rng, 2, 1)
    return {"results": seen["results"], "sent": seen["sent"]}


@ring_sum.case("three ranks, pieces of one number", points=2)
def three_ranks(answer, rng):
    seen = go_round(answer, rng, 3, 1)
    return {"given": seen["given"], "results": seen["results"], "sent": seen["sent"]}


@ring_sum.case("what each rank sends", points=2)
def each_sends(answer, rng):
    seen = go_round(answer, rng, 4, 3)
    return {"sent": seen["sent"], "not received": seen["not received"]}


@ring_sum.case("the rows stay as they are", points=1)
def rows_stay(answer, rng):
    return go_round(answer, rng, 3, 2)


@ring_sum.case("one rank alone", points=2)
def alone(answer, rng):
    return go_round(answer, rng, 1, 2)


@ring_sum.property("any number of ranks", points=2, draw=lambda st: st.integers(1, 5))
def any_ring(answer, rng, size):
    return go_round(answer, rng, size, int(rng.integers(1, 4)))


# --- Experiment: what is sent ---------------------------------------------------------------------

count_sent = Exercise(
    "count-sent",
    answer="busiest",
    title="Measure what the ring saves",
    points=5,
    difficulty=1,
    needs=("ring-sum",),
    hints=(
        "`ring = Ring(n)`, then `ring_sum(rows, ring)`; afterwards `ring.sent` lists what each "
        "rank has sent. For `plain_sum` give it `sent = [0] * n`.",
        "The rows can hold any numbers: `[[1] * 840 for _ in range(n)]`.",
        "The busiest rank is `max(ring.sent)`, and `max(sent)`. Append one number for each n.",
    ),
)


def listed(counts):
    """The counts as a list, also where they come as a tensor or an array, or by number of ranks."""
    values = counts.values() if isinstance(counts, dict) else counts
    return [value.item() if hasattr(value, "item") else value for value in values]


@count_sent.case("the ring", points=2)
def on_ring(busiest, rng):
    return listed(busiest["ring"])


@count_sent.case("the plain way", points=3)
def plain_way(busiest, rng):
    return listed(busiest["plain"])


# --- Repair ---------------------------------------------------------------------------------------

repair_ranks = Exercise(
    "repair-ranks",
    answer="train_ranks",
    title="Repair: three faults of ranks",
    points=9,
    difficulty=3,
    needs=("mean-gradients",),
    hints=(
        "Equal steps keep models equal only if they were equal at the start. Give all of them the "
        "state of `models[0]`, once, before the first epoch.",
        "The loss of a rank is already a mean over its samples, and `mean_gradients` makes the "
        "mean of the ranks. Is there another division?",
        "Before the batches of an epoch, call `set_epoch(epoch)` on the sampler of each rank.",
    ),
)


def run_ranks(answer, rng, ranks, count, epochs, size, shuffle=True, alike=False):
    tg.manual_seed(int(rng.integers(1000)))
    models = [nn.Linear(2, 3).double() for _ in range(ranks)]
    if alike:
        for model in models[1:]:
            model.load_state_dict(models[0].state_dict())
    x, y = normal(rng, count, 2), classes(rng, count, 3)
    samplers = [DistributedSampler(x, ranks, r, shuffle) for r in range(ranks)]
    # In a list of its own: what counts is these models, and not others that are put in their place.
    answer(list(models), samplers, x, y, epochs, size, lr=0.5)
    return [{name: p.detach().clone() for name, p in m.named_parameters()} for m in models]


@repair_ranks.case("equal from the start to the end", points=2)
def equal_models(answer, rng):
    models = run_ranks(answer, rng, 3, 6, 1, 2, shuffle=False)
    return {"rank 0 less the last rank": models[0]["weight"] - models[-1]["weight"]}


@repair_ranks.case("a step with the mean over all samples", points=2)
def one_mean(answer, rng):
    return run_ranks(answer, rng, 2, 4, 1, 2, shuffle=False, alike=True)[0]


@repair_ranks.case("a new order in each epoch", points=3)
def new_orders(answer, rng):
    return run_ranks(answer, rng, 2, 10, 3, 2, alike=True)[0]


@repair_ranks.case("all of it, with a short last batch", points=2)
def all_of_it(answer, rng):
    return run_ranks(answer, rng, 3, 15, 2, 2)
