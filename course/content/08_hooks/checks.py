"""What the checks of lesson 08 try.

Each case hangs the answer's hooks on tensors, modules or lists of its own and reports what came of
it. No expected value stands here: the lesson's reference answer is run on the same inputs, and the
reports are compared.
"""

import numpy as np

import tinygrad_course as tg
from course import graphs
from course.checks import Exercise
from course.forms import number, order
from tinygrad_course import nn


def normal(rng, *shape, requires_grad=False):
    """A leaf tensor of standard normal numbers."""
    values = rng.standard_normal(shape).astype(np.float32)
    return tg.tensor(values, requires_grad=requires_grad)


# --- Predict: what hooks leave in x.grad ----------------------------------------------------------

predict_hooks = Exercise(
    "predict-hooks",
    answer="grads",
    title="Predict what hooks do to a gradient",
    points=5,
    difficulty=1,
    form=number(),
    hints=(
        "`y` is 4, so the gradient that arrives at `y` is 8. The first hook gets it, and the "
        "second one gets what the first returned.",
        "What the last hook returns is what goes on to `x`. The slope of `x + x` in `x` is 2.",
        "Only one hook is left in the second pass. In the third, the hook of the leaf sees what "
        "this pass brings, before it is added to what `x.grad` holds.",
    ),
)


@predict_hooks.case("two hooks in a row", points=2)
def two_in_a_row(grads, rng):
    return grads["one"]


@predict_hooks.case("one removed", points=1)
def one_removed(grads, rng):
    return grads["two"]


@predict_hooks.case("a hook on a leaf that has a gradient", points=2)
def on_the_leaf(grads, rng):
    return grads["three"]


# --- Hooks of your own ----------------------------------------------------------------------------

my_hooks = Exercise(
    "my-hooks",
    answer="Hooks",
    title="Register, run and remove",
    points=11,
    difficulty=2,
    hints=(
        "Keep the hooks in a dict from a number to the function. A dict keeps the order in which "
        "its entries came.",
        "Never give the same number twice: count up in an attribute. `len(self.hooks)` is no such "
        "number, because it falls when a hook is removed.",
        "In `run`, the value goes from hook to hook: `result = hook(grad)`, and if that is not "
        "None, it is the new `grad`.",
        "A hook may change the dict while you walk over it. Walk over a copy: "
        "`list(self.hooks.values())`.",
    ),
)


@my_hooks.case("hooks that return something, in order", points=2)
def in_order(answer, rng):
    hooks, start = answer(), normal(rng, 3)
    hooks.register(lambda grad: grad * 2)
    hooks.register(lambda grad: grad + 1)
    hooks.register(lambda grad: grad * grad)
    return {"given": start.clone(), "result": hooks.run(start)}


@my_hooks.case("None leaves the gradient, zero replaces it", points=2)
def none_and_zero(answer, rng):
    hooks, start, seen = answer(), tg.tensor(3.0), []
    hooks.register(lambda grad: seen.append(grad.item()))
    hooks.register(lambda grad: grad * 0)
    hooks.register(lambda grad: seen.append(grad.item()))
    return {"result": hooks.run(start), "seen": seen}


@my_hooks.case("a handle removes its own registration", points=4)
def removal(answer, rng):
    hooks, called = answer(), []

    def recorder(name):
        return lambda grad: called.append(name)

    same = recorder("same")
    handles = [hooks.register(same), hooks.register(recorder("b")), hooks.register(same)]
    hooks.run(tg.ones(1))
    handles[2].remove()
    handles[2].remove()
    called.append("third removed")
    hooks.run(tg.ones(1))
    handles[0].remove()
    called.append("first removed")
    hooks.register(recorder("c"))
    hooks.register(recorder("d"))
    hooks.run(tg.ones(1))
    return called


@my_hooks.case("changes made by a hook count from the next run on", points=3)
def changes_meanwhile(answer, rng):
    hooks, called = answer(), []

    def once(grad):
        called.append("once")
        handle.remove()
        hooks.register(lambda grad: called.append("late"))

    handle = hooks.register(once)
    hooks.register(lambda grad: called.append("always"))
    hooks.run(tg.ones(1))
    called.append("again")
    hooks.run(tg.ones(1))
    return called


# --- Repair: feature maps -------------------------------------------------------------------------

feature_maps = Exercise(
    "feature-maps",
    answer="feature_maps",
    title="Repair the grabbing of feature maps",
    points=10,
    difficulty=2,
    hints=(
        "A function that is made in a loop looks up the name `name` when it *runs*, and by then "
        "the loop has ended. A default argument, `name=name`, keeps the value of its own round.",
        "`register_forward_hook` returns a handle. Collect the handles, and remove them when "
        "`net(x)` has run.",
        "`output.detach()` lets go of the graph. It still lies on the same memory, which a later "
        "layer may change.",
        "`output.detach().clone()` is a copy without history.",
    ),
)


def small_net(inplace=False):
    tg.manual_seed(5)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=inplace), nn.Linear(4, 2), nn.Tanh())


@feature_maps.case("each name gets the output of its own module", points=3)
def each_name(answer, rng):
    maps = answer(small_net(), ["2", "0", "1"], normal(rng, 2, 3))
    return {name: maps[name].detach().numpy() for name in sorted(maps)}


@feature_maps.case("no hook is left behind", points=2)
def nothing_left(answer, rng):
    net = small_net()
    maps = answer(net, ["0", "3"], normal(rng, 1, 3))
    return {"a dict is returned": isinstance(maps, dict), "modules with hooks": graphs.hooked(net)}


@feature_maps.case("the maps hold no graph", points=2)
def no_graph(answer, rng):
    with graphs.Watched() as seen:
        maps = answer(small_net(), ["3"], normal(rng, 1, 3))
    return {"names": list(maps), "nodes still held": seen.alive()}


@feature_maps.case("a layer that changes its input in place", points=3)
def changed_in_place(answer, rng):
    maps = answer(small_net(inplace=True), ["0"], normal(rng, 4, 3))
    return {name: value.detach().numpy() for name, value in maps.items()}


# --- Predict: order of firing ---------------------------------------------------------------------

predict_firing = Exercise(
    "predict-firing",
    answer="fired",
    title="Predict who is called when",
    points=6,
    difficulty=2,
    form=order(
        "inner after",
        "inner backward",
        "inner before",
        "outer after",
        "outer backward",
        "outer before",
    ),
    hints=(
        "The inner module is called by the forward of the outer one, so all that belongs to that "
        "call lies between the outer's two forward hooks.",
        "On the way back the gradient comes in at the outer's outputs. At which module's input "
        "does it arrive first?",
        "A full hook waits for the gradient of the module's input. The input of the outer module "
        "is the last place that the gradient comes to.",
    ),
)


@predict_firing.case("the way forward", points=3)
def way_forward(fired, rng):
    return list(fired)[:4]


@predict_firing.case("the way back", points=3)
def way_back(fired, rng):
    return list(fired)[4:]


# --- Experiment: count the calls ------------------------------------------------------------------

count_hooks = Exercise(
    "count-hooks",
    answer="called",
    title="Count the calls of hooks",
    points=7,
    difficulty=2,
    hints=(
        "Make a `Thrice()` and hang three hooks on it: `net.fc.register_forward_hook`, "
        "`net.fc.register_full_backward_hook` and `net.fc.weight.register_hook`.",
        "Each hook only adds 1 to its entry, `called[kind] += 1`. That is a statement, so put it "
        "into a function, which a lambda can call.",
        "Give each network its input as `tg.ones(1, 2, requires_grad=True)`. For the last entry "
        "count anew: take a fresh network, or a fresh hook, under `with tg.no_grad():`.",
    ),
)


@count_hooks.case("a module's hooks", points=2)
def of_the_module(called, rng):
    return {kind: called[kind] for kind in ("forward", "full backward")}


@count_hooks.case("the hook of the shared weight", points=3)
def of_the_weight(called, rng):
    return called["weight"]


@count_hooks.case("without recording", points=2)
def unrecorded(called, rng):
    return called["forward, no_grad"]


# --- The score function ---------------------------------------------------------------------------

score_gradient = Exercise(
    "score-gradient",
    answer="score_gradient",
    title="The gradient of a draw",
    points=9,
    difficulty=3,
    hints=(
        "log softmax(z)[a] is z[a] minus the logarithm of the sum of all exp(z). Differentiate "
        "both terms in z.",
        "The first term gives 1 at place a and 0 elsewhere. The second gives exp(z) over its sum, "
        "which is the softmax itself.",
        "So the slope of the logarithm is `one - p`. The loss is minus the reward times that "
        "logarithm: the gradient is `reward * (p - one)`.",
    ),
)


def drawn(answer, logits, action, reward):
    given = {"logits": logits.clone(), "action": action, "reward": reward}
    return {"given": given, "gradient": answer(logits, action, reward)}


@score_gradient.case("equal probabilities, reward 1", points=2)
def equal(answer, rng):
    return drawn(answer, tg.zeros(4), 1, 1.0)


def draws(st):
    logits = st.lists(st.integers(-4, 4), min_size=2, max_size=6)
    return st.tuples(logits, st.integers(0, 5), st.integers(-8, 8))


@score_gradient.property("any logits, any reward", points=3, draw=draws)
def any_draw(answer, rng, example):
    logits, action, reward = example
    return drawn(answer, tg.tensor(logits) / 2, action % len(logits), reward / 4)


@score_gradient.case("large logits", points=2)
def large(answer, rng):
    return drawn(answer, tg.tensor([200.0, 199.0, 150.0]), 1, 2.0)


@score_gradient.case("the gradient holds no graph, and the logits stay", points=2)
def plain_result(answer, rng):
    logits = normal(rng, 3, requires_grad=True)
    gradient = answer(logits, 2, -1.5)
    return {"requires_grad": gradient.requires_grad, "logits afterwards": logits}
