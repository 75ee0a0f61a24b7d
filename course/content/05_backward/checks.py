"""What the checks of lesson 05 try.

Each case builds a small graph, hands it to the answer and reports what came back. No expected value
stands here: the lesson's reference answer runs on the same graphs, and the reports are compared.
"""

import warnings

import numpy as np

import tinygrad_course as tg
from course import graphs
from course.checks import Exercise
from course.forms import choice, number, order

# --- Graphs to try things on ----------------------------------------------------------------------


class Node:
    """One step of a calculation, as in the lesson: what it read, and the slope in each of those."""

    def __init__(self, label, *inputs, slopes=()):
        self.label = label
        self.next_functions = tuple((node, 0) for node in inputs)
        self.slopes = slopes


def graph_of(rng, steps):
    """A root over the steps of an example, with slopes of its own."""

    def node(number, read):
        slopes = tuple(float(slope) for slope in rng.integers(-3, 4, size=len(read)))
        return Node(f"n{number}", *read, slopes=slopes)

    nodes = graphs.built(steps, Node("leaf"), node)
    read = {child for node in nodes for child, _ in node.next_functions}
    unread = [node for node in nodes if node not in read]
    return Node("root", *unread, slopes=tuple(1.0 + i for i in range(len(unread))))


def normal(rng, *shape, requires_grad=True):
    """A leaf tensor of standard normal numbers."""
    values = rng.standard_normal(shape).astype(np.float32)
    return tg.tensor(values, requires_grad=requires_grad)


# --- Predict: which node runs next ----------------------------------------------------------------

predict_next = Exercise(
    "predict-next",
    answer="order",
    title="Predict which step runs next",
    points=4,
    difficulty=1,
    form=order("a", "b", "c", "d", "loss"),
    hints=(
        "Start with the loss. Which steps read `d`? Which read `a`?",
        "A step may run when every step that read its value has run. `a` was read three times.",
        "After `loss` comes `d`: nothing that is still to run reads it. Ask the same question "
        "again for `a`, `b` and `c`.",
    ),
)


@predict_next.case("the first two steps", points=1)
def first_two(order, rng):
    return list(order[:2])


@predict_next.case("the whole order", points=3)
def whole_order(order, rng):
    return list(order)


# --- Topological order ----------------------------------------------------------------------------

topological_order = Exercise(
    "topological-order",
    answer="topological_order",
    title="Put the graph in order",
    points=10,
    difficulty=2,
    hints=(
        "First walk the whole graph once and count for each node how many times it is read. A "
        "step that reads it twice counts twice.",
        "Keep a list of nodes that are ready. At the start it holds only the root. Take one, "
        "put it into the order, and tell each of its inputs that one user is done.",
        "To tell an input means `users[child] -= 1`. When that gives 0, the child is ready. "
        "`inputs_of` leaves out what needs no gradient, so use it both for counting and for "
        "telling.",
        "Counting: `users, found = {root: 0}, [root]`, then `for node in found:` and in it `for "
        "child in inputs_of(node):`. Append a child to `found` the first time you meet it, and "
        "count it each time. Such a list that grows while it is walked does without a function "
        "that calls itself: Python stops at about 1,000 nested calls.",
    ),
)


def try_order(answer, root):
    return {"given": graphs.edges(root), **graphs.order_of(root, answer(root))}


@topological_order.case("one step, and a chain of three", points=1)
def chain(answer, rng):
    x = Node("x")
    a = Node("a", x)
    orders = answer(x), answer(Node("b", a))
    # What is no node has no label: then its kind is said.
    kind = "no node but a {}".format
    return [[getattr(n, "label", kind(type(n).__name__)) for n in order] for order in orders]


@topological_order.case(
    "a step that is used twice comes once, after its users", points=2, read=graphs.read_order
)
def used_twice(answer, rng):
    x = Node("x")
    a = Node("a", x)
    b = Node("b", a)
    return try_order(answer, Node("loss", Node("c", b, a), a, x))


@topological_order.case(
    "inputs that need no gradient are left out", points=1, read=graphs.read_order
)
def constants(answer, rng):
    x = Node("x")
    return try_order(answer, Node("loss", None, Node("a", x, None), x))


@topological_order.property("any graph", points=2, draw=graphs.steps, read=graphs.read_order)
def any_graph(answer, rng, steps):
    return try_order(answer, graph_of(rng, steps))


@topological_order.case("a graph that the engine recorded", points=2, read=graphs.read_order)
def engine_graph(answer, rng):
    x, w = normal(rng, 3), normal(rng, 3)
    a = x * w
    loss = (a.tanh() * a + x).sum()
    seen = graphs.order_of(loss.grad_fn, answer(loss.grad_fn))
    return {"given": "a = x * w, loss = (a.tanh() * a + x).sum()", **seen}


@topological_order.case("a chain of 3,000 steps", points=2)
def long_chain(answer, rng):
    root = Node("x")
    for _ in range(3000):
        root = Node("a", root)
    return len(list(answer(root)))


# --- Experiment: count the calls ------------------------------------------------------------------

count_calls = Exercise(
    "count-calls",
    answer="measured",
    title="Measure what the order saves",
    points=6,
    difficulty=2,
    needs=("topological-order",),
    hints=(
        "By order is the easy one: `topological_order(root)` holds each node once, so its "
        "length is the number of calls.",
        "By paths: write a small function that counts 1 for the node itself, plus its own "
        "result for every input, as often as that input was read.",
        "`def calls(node): return 1 + sum(calls(child) for child in inputs_of(node))`",
    ),
)


@count_calls.case("calls when each node runs once", points=3)
def calls_by_order(measured, rng):
    return list(measured["by order"])


@count_calls.case("calls when each path is walked", points=3)
def calls_by_paths(measured, rng):
    return list(measured["by paths"])


# --- Choosing gradient= ---------------------------------------------------------------------------

choose_gradient = Exercise(
    "choose-gradient",
    answer="gradient_for",
    title="Choose the argument of backward",
    points=10,
    difficulty=3,
    hints=(
        "Write down the number that you want the slopes of, as a formula in the entries of `y`. "
        "The argument is its derivative in each entry, in the shape of `y`.",
        "How much does the sum of all entries change when one entry changes by 1? And the mean "
        "of n entries?",
        '"last" depends on one entry only: 1 there, 0 everywhere else. `tg.zeros_like(y)` makes '
        "the zeros, and `gradient.view(-1)[-1]` is the last entry of any shape.",
        "The derivative of ½ (y − t)² in y is y − t. Mind which of the two is subtracted.",
    ),
)


def slopes_with(answer, rng, goal, *shape):
    """The gradient that x gets when y = x * 2 is run backward with the answer's argument."""
    x = normal(rng, *shape)
    target = normal(rng, *shape, requires_grad=False)
    y = x * 2
    given = {"goal": goal, "y": y.detach().clone()}
    if goal == "distance":
        given["target"] = target.clone()
    y.backward(gradient=answer(goal, y.detach(), target))
    return {"given": given, "gradient of x, where y = x * 2": x.grad}


@choose_gradient.case("the sum of all entries", points=1)
def of_sum(answer, rng):
    return slopes_with(answer, rng, "sum", 2, 3)


@choose_gradient.case("the mean of a vector", points=1)
def of_mean(answer, rng):
    return slopes_with(answer, rng, "mean", 4)


@choose_gradient.case("the mean of a matrix", points=1)
def of_matrix_mean(answer, rng):
    return slopes_with(answer, rng, "mean", 2, 3)


@choose_gradient.case("the last entry of a vector", points=1)
def of_last(answer, rng):
    return slopes_with(answer, rng, "last", 3)


@choose_gradient.case("the last entry of a matrix", points=1)
def of_matrix_last(answer, rng):
    return slopes_with(answer, rng, "last", 2, 3)


@choose_gradient.case("half the squared distance to a target", points=3)
def of_distance(answer, rng):
    return slopes_with(answer, rng, "distance", 2, 3)


@choose_gradient.case("y is one number", points=2)
def of_number(answer, rng):
    goals = ("sum", "mean", "last", "distance")
    return {goal: list(slopes_with(answer, rng, goal).values())[1] for goal in goals}


# --- Undoing a broadcast --------------------------------------------------------------------------

unbroadcast = Exercise(
    "unbroadcast",
    answer="unbroadcast",
    title="Undo a broadcast",
    points=9,
    difficulty=2,
    hints=(
        "A value that was used in many places gets the sum of what comes back from them. "
        "Broadcasting is such a use in many places, so every repeated axis has to be summed.",
        "There are two sorts of repeated axes: those that `shape` does not have at all (they "
        "are in front), and those where `shape` says 1 and `grad` says more.",
        "First sum axis 0 as long as `grad.ndim` is greater than `len(shape)`.",
        "Then, for each axis where `shape[axis] == 1`: `grad = grad.sum(axis=axis, "
        "keepdims=True)`.",
    ),
)


def numbered(rng, *shape):
    return rng.integers(-9, 10, size=shape).astype(np.float64)


def try_sum(answer, grad, shape):
    return {
        "given": {"grad": grad.copy(), "shape": shape},
        "result": np.asarray(answer(grad, shape)),
    }


@unbroadcast.case("nothing was repeated", points=1)
def same_shape(answer, rng):
    return try_sum(answer, numbered(rng, 2, 3), (2, 3))


@unbroadcast.case("a new axis in front", points=1)
def axis_in_front(answer, rng):
    return try_sum(answer, numbered(rng, 2, 3), (3,))


@unbroadcast.case("an axis of size one", points=2)
def axis_of_one(answer, rng):
    return try_sum(answer, numbered(rng, 2, 3), (2, 1))


@unbroadcast.case("down to a single number", points=2)
def to_number(answer, rng):
    return try_sum(answer, numbered(rng, 2, 2), ())


def shapes_and_repeats(st):
    """For each axis its size in the value and, where that is 1, in the gradient; axes in front."""
    axes = st.lists(st.tuples(st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=4)
    return st.tuples(axes, st.lists(st.integers(1, 3), max_size=2))


@unbroadcast.property("both sorts at once, any shapes", points=3, draw=shapes_and_repeats)
def any_shapes(answer, rng, example):
    axes, front = example
    repeated = [more if n == 1 else n for n, more in axes]
    return try_sum(answer, numbered(rng, *front, *repeated), tuple(n for n, _ in axes))


# --- Predict: backward twice ----------------------------------------------------------------------

predict_twice = Exercise(
    "predict-twice",
    answer="twice",
    title="Predict what a second backward does",
    points=6,
    difficulty=2,
    form={
        "x.grad": number(None),
        "y.grad": number(None),
        "third x * x": choice("runs", "RuntimeError"),
        "second x + x": choice("runs", "RuntimeError"),
    },
    hints=(
        "The slope of `x * x` at 3 is 6. What does backward do with a leaf's gradient that is "
        "already there?",
        "`y` was made by an operation. Does a value like that keep its gradient when nobody asks?",
        "For the last two, ask what each backward formula needs: the slope of `x * x` needs "
        "`x`, the slope of `x + x` needs nothing. And how long does `retain_graph=True` last?",
    ),
)


@predict_twice.case("the leaf's gradient after two passes", points=1)
def after_two(twice, rng):
    return twice["x.grad"]


@predict_twice.case("the gradient of the value in the middle", points=1)
def middle(twice, rng):
    return twice["y.grad"]


@predict_twice.case("a third pass over x * x", points=2)
def third_product(twice, rng):
    return twice["third x * x"]


@predict_twice.case("a second pass over x + x", points=2)
def second_sum(twice, rng):
    return twice["second x + x"]


# --- Repair a training loop -----------------------------------------------------------------------

repair_training = Exercise(
    "repair-training",
    answer="train",
    title="Repair a training loop",
    points=8,
    difficulty=2,
    hints=(
        "Run `train` for one step and look at `w`: did the loss get smaller?",
        "The gradient points uphill. To go down, subtract `lr` times the gradient.",
        "Each backward adds to `w.grad`. After the first step, what is in it besides the slope "
        "of this step's loss? `w.grad = None` before the backward starts it anew.",
        "A loss in the list is a tensor, and its whole graph stays alive with it. `loss.item()` "
        "is the number alone.",
    ),
)


def train_line(answer, rng, steps):
    x = normal(rng, 8, requires_grad=False)
    with warnings.catch_warnings():
        # A known wrong answer asks for the grad of what is no leaf; its own sentence explains that.
        warnings.simplefilter("ignore")
        return answer(x, 3 * x, steps, 0.1)


@repair_training.case("one step goes downhill", points=2)
def one_step(answer, rng):
    w, _ = train_line(answer, rng, 1)
    return {"w after one step": w.item(), "w.requires_grad": w.requires_grad}


@repair_training.case("each step uses its own slope", points=3)
def some_steps(answer, rng):
    w, _ = train_line(answer, rng, 5)
    return {"w after five steps": w.item()}


@repair_training.case("the losses hold no graph", points=3)
def plain_losses(answer, rng):
    with graphs.Watched() as seen:
        _, losses = train_line(answer, rng, 3)
    # The first loss comes before any step, so it says nothing of how the steps are made.
    return {"first loss": float(losses[0]), "nodes still held": seen.alive()}


# --- Your own backward ----------------------------------------------------------------------------

my_backward = Exercise(
    "my-backward",
    answer="my_backward",
    title="Your own backward",
    points=10,
    difficulty=3,
    needs=("topological-order",),
    hints=(
        "It is the `chain_rule` of section 3 once more: a dict from node to gradient, filled in "
        "the order of `topological_order(root)`. It starts as `{root: grad}`.",
        "Instead of multiplying by a slope, call the node: `results = node(grads[node])`. You "
        "get a tensor for one input and a tuple for several. `zip(node.next_functions, "
        "results)` pairs them with the edges.",
        "A leaf's node has an attribute `variable`, the leaf itself. Such a node is not called: "
        "its gradient goes to `node.variable.grad`, added to what is there.",
        "Skip an edge whose node is `None`. Do it all under `with tg.no_grad():`, so that no "
        "new graph is recorded.",
    ),
)


class Recorded:
    """A node of the engine that notes each call, and looks like it in all that a walk reads.

    The engine's own edges are cut once these nodes know them: what leads from node to node is here.
    """

    def __init__(self, node, calls):
        self._node, self._calls = node, calls
        self.next_functions = ()

    def name(self):
        return self._node.name()

    def __call__(self, *grads):
        self._calls.append(self.name())
        return self._node(*grads)


class Leaf(Recorded):
    """The node of a leaf. Calling it is as right as writing to its variable: it is not noted."""

    @property
    def variable(self):
        return self._node.variable

    def __call__(self, *grads):
        return self._node(*grads)


def record(root, calls):
    """The graph under `root`, an engine's node, as Recorded nodes."""
    seen, found = {}, [root]
    for node in found:
        kind = Leaf if hasattr(node, "variable") else Recorded
        seen[node] = type(type(node).__name__, (kind,), {})(node, calls)
        met = [child for child, _ in node.next_functions if child is not None]
        found += [child for child in dict.fromkeys(met) if child not in seen and child not in found]
    nowhere = type(root)().start(())
    for node, twin in seen.items():
        twin.next_functions = tuple((seen.get(child), i) for child, i in node.next_functions)
        if node.edges:
            node.edges = tuple(edge and (nowhere, 0) for edge in node.edges)
    return seen[root]


def run_traversal(answer, given, loss, grad, leaves, times=1):
    calls = []
    root = record(loss.grad_fn, calls)
    for _ in range(times):
        answer(root, grad)
    counts = {name: calls.count(name) for name in sorted(set(calls))}
    gradients = {name: leaf.grad for name, leaf in leaves.items()}
    return {"given": given, "gradients": gradients, "calls": counts}


@my_backward.case("a chain", points=1)
def engine_chain(answer, rng):
    x = normal(rng, 3)
    return run_traversal(answer, "x.tanh().sum()", x.tanh().sum(), tg.tensor(1.0), {"x": x})


@my_backward.case("a value used twice, and a constant", points=2)
def engine_reuse(answer, rng):
    x, w = normal(rng, 3), normal(rng, 3)
    a = x * w
    loss = ((a * a).tanh() * a + tg.ones(3) * x).sum()
    given = "a = x * w, ((a * a).tanh() * a + ones * x).sum()"
    return run_traversal(answer, given, loss, tg.tensor(1.0), {"x": x, "w": w})


@my_backward.case("a vector, with its gradient", points=1)
def engine_vector(answer, rng):
    x = normal(rng, 2, 3)
    grad = normal(rng, 2, 3, requires_grad=False)
    return run_traversal(answer, "x.exp() * x", x.exp() * x, grad, {"x": x})


@my_backward.case("a second pass adds to the leaves", points=3)
def engine_accumulate(answer, rng):
    x, w = normal(rng, 3), normal(rng, 3)
    loss, leaves = (x * w).sum(), {"x": x, "w": w}
    return run_traversal(answer, "(x * w).sum(), twice", loss, tg.tensor(1.0), leaves, times=2)


@my_backward.case("a small network", points=3)
def engine_network(answer, rng):
    x = normal(rng, 5, 4, requires_grad=False)
    w1, b1, w2 = normal(rng, 4, 3), normal(rng, 3), normal(rng, 3, 2)
    hidden = (x @ w1 + b1).relu()
    loss = ((hidden @ w2) ** 2).mean()
    given = "(((x @ w1 + b1).relu() @ w2) ** 2).mean()"
    return run_traversal(answer, given, loss, tg.tensor(1.0), {"w1": w1, "b1": b1, "w2": w2})
