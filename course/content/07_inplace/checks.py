"""What the checks of lesson 07 try.

A case changes memory in some way and reports values, versions, and whether an error came. No
expected value stands here: the lesson's reference answer goes through the same changes.
"""

import gc
import weakref

import tinygrad_course as tg
from course.checks import Exercise
from course.forms import choice, number


def normal(rng, *shape, requires_grad=True):
    """A leaf tensor of standard normal numbers, in float64."""
    return tg.tensor(rng.standard_normal(shape), requires_grad=requires_grad)


def outcome(action):
    """What an action returns, or the word RuntimeError."""
    try:
        return action()
    except RuntimeError:
        return "RuntimeError"


# --- Predict: versions ----------------------------------------------------------------------------

predict_versions = Exercise(
    "predict-versions",
    answer="versions",
    title="Predict the versions",
    points=5,
    difficulty=1,
    form=number(),
    hints=(
        "First say who shares a counter with `a`: a view does, `detach()` does. `.data` and "
        "`clone()` have one of their own.",
        "Then count the changes made through those that share: `b += 1`, `b[0] = 3`, one more "
        "through c, and one at the end.",
        "`d` starts at 0 and is changed twice. `e` is a new tensor that nobody changes.",
    ),
)


@predict_versions.case("those that share a counter", points=2)
def sharing(versions, rng):
    return {name: versions[name] for name in "abc"}


@predict_versions.case("those that don't", points=3)
def not_sharing(versions, rng):
    return {name: versions[name] for name in "de"}


# --- A saved tensor -------------------------------------------------------------------------------

saved_tensor = Exercise(
    "saved-tensor",
    answer="SavedTensor",
    title="Saved, with a note of the version",
    points=8,
    difficulty=2,
    hints=(
        "Keep two things at the start: the tensor, and the number `tensor._version`.",
        "In `get`, compare `self.tensor._version` with the number you kept. Unequal: `raise "
        "RuntimeError(...)`.",
        "`release` sets `self.tensor = None`, so that the memory can be freed. `get` looks for "
        "that first and raises a RuntimeError as well.",
    ),
)


class OnlyAVersion:
    """Something that has a version and is no tensor; an error message will show its name."""

    def __init__(self):
        self._version = 3


@saved_tensor.case("unchanged, it comes back itself", points=1)
def saved_itself(answer, rng):
    x, counted = normal(rng, 3), OnlyAVersion()
    box, other = answer(x), answer(counted)
    return [box.get() is x, box.get() is x, other.get() is counted]


@saved_tensor.case("a change is noticed", points=1)
def saved_changed(answer, rng):
    x, counted = tg.zeros(3), OnlyAVersion()
    box, other = answer(x), answer(counted)
    x += 1
    counted._version += 1
    seen = [outcome(lambda: box.get() is x) for _ in range(2)]
    return {"twice": seen, "no tensor": outcome(lambda: other.get() is counted)}


@saved_tensor.case("so is one through a view or a detached tensor, or one taken back", points=1)
def saved_shared(answer, rng):
    seen = []
    for change in (
        lambda x: x[0].fill_(5.0),
        lambda x: x.detach().mul_(2),
        lambda x: x.add_(1).sub_(1),
    ):
        x = tg.ones(3)
        box = answer(x)
        change(x)
        seen.append(outcome(lambda box=box, x=x: box.get() is x))
    return seen


@saved_tensor.case("only changes after it was saved count", points=2)
def saved_later(answer, rng):
    x = tg.zeros(3)
    x += 1
    box = answer(x)
    x.data.add_(1)
    return outcome(lambda: box.get() is x)


@saved_tensor.case("after release it is gone", points=3)
def saved_released(answer, rng):
    x = tg.zeros(3)
    watch, box = weakref.ref(x), answer(x)
    del x
    gc.collect()
    kept = watch() is not None
    box.release()
    gc.collect()
    # Not the object itself: what it is said to return may be anything.
    got = outcome(lambda: "something" if box.get() is not None else "None")
    return {"kept before": kept, "get": got, "memory freed": watch() is None}


# --- Predict: who refuses, and when ---------------------------------------------------------------

predict_raises = Exercise(
    "predict-raises",
    answer="raises",
    title="Predict what is refused, and when",
    points=8,
    difficulty=2,
    form=choice("runs", "change", "backward"),
    hints=(
        "Ask three questions of each program. Is the changed tensor a leaf, or one of several "
        "views from one call? Then it is refused at the change.",
        "If not: which memory was saved before the change? `exp` saves its result, a product its "
        "factors, `h + 1` and `x * 2` nothing that is changed here.",
        "The counter belongs to the whole memory: E changes another element than those that were "
        "multiplied. And `detach()` shares the counter.",
    ),
)


@predict_raises.case("A and B", points=1)
def raises_ab(raises, rng):
    return {name: raises[name] for name in "AB"}


@predict_raises.case("C and D", points=1)
def raises_cd(raises, rng):
    return {name: raises[name] for name in "CD"}


@predict_raises.case("E and F", points=3)
def raises_ef(raises, rng):
    return {name: raises[name] for name in "EF"}


@predict_raises.case("G and H", points=3)
def raises_gh(raises, rng):
    return {name: raises[name] for name in "GH"}


# --- Experiment: the open doors -------------------------------------------------------------------

open_doors = Exercise(
    "open-doors",
    answer="gradients",
    title="Measure what comes through the doors",
    points=7,
    difficulty=2,
    hints=(
        "For each door make `x` anew, so that no gradient of the door before is in it.",
        "Compute `y = x.exp()`, call `door(y)`, then `y.sum().backward()` inside `try:`.",
        "After backward, `gradients[name] = x.grad.tolist()`. In `except RuntimeError:`, "
        '`gradients[name] = "RuntimeError"`.',
    ),
)


def to_two_places(found):
    """A gradient, a list or a tensor of any precision that a learner noted; or the word."""
    return found if isinstance(found, str) else [round(float(number), 2) for number in found]


@open_doors.case("who is stopped", points=2)
def stopped(gradients, rng):
    return {name: isinstance(gradients[name], str) for name in ("data", "detach", "numpy", "view")}


@open_doors.case("the gradient without a change", points=2)
def unchanged(gradients, rng):
    return to_two_places(gradients["nothing"])


@open_doors.case("the gradients through open doors", points=3)
def through(gradients, rng):
    return [to_two_places(gradients[name]) for name in ("data", "numpy")]


# --- Repair a training step -----------------------------------------------------------------------

repair_step = Exercise(
    "repair-step",
    answer="train_step",
    title="Repair a training step",
    points=9,
    difficulty=3,
    hints=(
        "`tanh` saves its result, and `hidden += x` overwrites it. What makes a new tensor "
        "instead?",
        "Both slopes are to be taken before the step. So no weight may change until all backward "
        "passes have run.",
        "`(fit + size).backward()` is one pass for both parts. Two passes work as well; then add "
        "up before you step.",
        "The steps go under `with tg.no_grad():`, where leaves may be changed in place.",
    ),
)


def steps(answer, rng, count):
    w, v = normal(rng, 1), normal(rng, 1)
    x = normal(rng, 6, requires_grad=False)
    losses = [answer(w, v, x, 1.5 * x, 0.1) for _ in range(count)]
    return w, v, losses


@repair_step.case("w after one step", points=2)
def step_w(answer, rng):
    return steps(answer, rng, 1)[0].item()


@repair_step.case("v after one step", points=2)
def step_v(answer, rng):
    return steps(answer, rng, 1)[1].item()


@repair_step.case("the losses of five steps", points=3)
def step_losses(answer, rng):
    return steps(answer, rng, 5)[2]


@repair_step.case("the weights stay leaves, and their steps are counted", points=2)
def step_leaves(answer, rng):
    w, v, _ = steps(answer, rng, 2)
    return {
        name: {"leaf": p.is_leaf, "requires_grad": p.requires_grad, "counted": p._version > 0}
        for name, p in {"w": w, "v": v}.items()
    }


# --- Guarded functions ----------------------------------------------------------------------------

guarded = Exercise(
    "guarded",
    answer="Guarded",
    title="Your guard in a Function",
    points=10,
    difficulty=3,
    needs=("saved-tensor",),
    hints=(
        "`keep(self, *tensors)` gets any number of tensors. `self` is the context, so it is a "
        "good place for a list of boxes.",
        "Make the boxes in `keep`: that is the moment whose version counts. One `SavedTensor` "
        "for each tensor, in a list of this node's own.",
        "`kept` is a property, because `ctx.kept` is read without brackets: put `@property` above "
        "`def kept(self):`.",
        "It returns `tuple(box.get() for box in self.boxes)`, also if there is one box only.",
    ),
)


def functions_of(answer):
    class Tanh(answer):
        @staticmethod
        def forward(ctx, x):
            y = x.tanh()
            ctx.keep(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.kept
            return g * (1 - y * y)

    class Times(answer):
        @staticmethod
        def forward(ctx, a, b):
            ctx.keep(a, b)
            return a @ b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.kept
            return g @ b.t(), a.t() @ g

    return Tanh, Times


@guarded.case("one tensor kept", points=1)
def keep_one(answer, rng):
    tanh, _ = functions_of(answer)
    x = normal(rng, 3)
    (tanh.apply(x) * normal(rng, 3, requires_grad=False)).sum().backward()
    return x.grad


@guarded.case("two tensors kept, in their order", points=2)
def keep_two(answer, rng):
    _, times = functions_of(answer)
    a, b = normal(rng, 2, 3), normal(rng, 3, 2)
    (times.apply(a, b) * normal(rng, 2, 2, requires_grad=False)).sum().backward()
    return [a.grad, b.grad]


@guarded.case("several nodes in one graph", points=3)
def keep_apart(answer, rng):
    tanh, times = functions_of(answer)
    x, a, b = normal(rng, 2, 3), normal(rng, 3, 3), normal(rng, 3, 2)
    times.apply(tanh.apply(times.apply(x, a)), b).sum().backward()
    return [x.grad, a.grad, b.grad]


@guarded.case("a change of an output or an input is noticed", points=4)
def keep_guarded(answer, rng):
    tanh, times = functions_of(answer)
    seen = []
    for which in ("output", "first", "second", "none"):
        leaf = normal(rng, 2, 2)
        a, b = leaf * 1, leaf * 2
        product, y = times.apply(a, b), tanh.apply(leaf)
        changed = {"output": y, "first": a, "second": b}.get(which)
        if changed is not None:
            changed.detach().mul_(3)
        loss = product.sum() + y.sum()
        seen.append([which, outcome(lambda loss=loss: loss.backward()), leaf.grad])
    return seen
