"""What the checks of lesson 04 try: flags, recorded steps and walks, on small graphs."""

import tinygrad_course as tg
from course import graphs
from course.checks import Exercise
from course.forms import choice

# --- Graphs to try things on ----------------------------------------------------------------------


class Step:
    """A recorded step, as in the lesson."""

    def __init__(self, label, next_functions=()):
        self.label, self.next_functions = label, next_functions


class Value:
    """Data that may remember how it was made, as in the lesson."""

    def __init__(self, data, requires_grad=False, volatile=False):
        self.data, self.requires_grad, self.volatile = data, requires_grad, volatile
        self.creator = None
        self.end = Step("leaf")


def reads(label, *steps):
    """A step with edges to those steps."""
    return Step(label, tuple((step, 0) for step in steps))


def entries(answer, *names):
    """Those entries of a dict that a learner gave."""
    return {name: answer[name] for name in names}


# --- Predict: flags -------------------------------------------------------------------------------

predict_flags = Exercise(
    "predict-flags",
    answer="flags",
    title="Predict requires_grad and is_leaf",
    points=7,
    difficulty=1,
    form=choice((True, True), (True, False), (False, True), (False, False)),
    hints=(
        "First `requires_grad`: does one of the inputs require a gradient, and can the result "
        "have slopes at all?",
        "Then `is_leaf`: was the value made by an operation that was recorded? If the result "
        "requires no gradient, nothing was recorded.",
        "Picking `w[0]` is an operation like any other. `detach()` cuts the history off, and a "
        "comparison gives bools.",
    ),
)


@predict_flags.case("leaves", points=2)
def leaves(flags, rng):
    return entries(flags, "w", "q * 2")


@predict_flags.case("recorded results", points=2)
def recorded(flags, rng):
    return entries(flags, "w * q", "w[0]")


@predict_flags.case("results without a slope", points=3)
def without_slope(flags, rng):
    return entries(flags, "(w * q).detach()", "w > q")


# --- The two rules --------------------------------------------------------------------------------

result_flags = Exercise(
    "result-flags",
    answer="result_flags",
    title="Write the two rules",
    points=6,
    difficulty=1,
    hints=(
        "Begin with volatile: one volatile input is enough. `any(...)` says whether there is one.",
        "One input that requires a gradient is enough as well, unless the result is volatile.",
        "`requires_grad = any(value.requires_grad for value in inputs) and not volatile`",
    ),
)


def flags_of(answer, *inputs):
    """The answer's two flags; an input is written as 'g' (requires a gradient), 'v' or '-'."""
    values = [Value(1.0, kind == "g", kind == "v") for kind in inputs]
    requires_grad, volatile = answer(*values)
    return {"requires_grad": bool(requires_grad), "volatile": bool(volatile)}


@result_flags.case("without volatile inputs", points=2)
def no_volatile(answer, rng):
    return {kinds: flags_of(answer, *kinds) for kinds in ("-", "g", "-g", "g-", "gg", "--")}


@result_flags.case("with a volatile input", points=2)
def some_volatile(answer, rng):
    return {kinds: flags_of(answer, *kinds) for kinds in ("v", "v-", "-v", "vg", "gv")}


@result_flags.case("three inputs", points=2)
def three_inputs(answer, rng):
    return {kinds: flags_of(answer, *kinds) for kinds in ("-g-", "gvg", "g-v", "--v")}


# --- The recorder ---------------------------------------------------------------------------------

record = Exercise(
    "record",
    answer="record",
    title="Record an operation",
    points=11,
    difficulty=2,
    needs=("result-flags",),
    hints=(
        "Three things: compute the data, set the flags, and if the result requires a gradient "
        "make a Step. `function(*(value.data for value in inputs))` computes.",
        "`result_flags(*inputs)` gives both flags. A result that requires none has the creator "
        "None.",
        "For each input there is one pair `(step, 0)`, also for those that need nothing, so that "
        "the places fit the inputs. Look at `creator` first. If it is None, the input is a leaf: "
        "`end` if it requires a gradient, else None.",
        "Make a tuple of the pairs at once, `tuple(...)`: what is worked out only later may find "
        "changed values.",
    ),
)


def described(result, **inputs):
    """What a recorded result has, its edges told by the names of the steps they lead to."""
    known = {id(value.end): f"end of {name}" for name, value in inputs.items()}
    known |= {
        id(value.creator): f"creator of {name}"
        for name, value in inputs.items()
        if value.creator is not None
    }
    seen = {
        "data": result.data,
        "requires_grad": bool(result.requires_grad),
        "volatile": bool(result.volatile),
        "creator": None,
    }
    if result.creator is not None:
        edges = [
            ["None" if step is None else known.get(id(step), "something else"), number]
            for step, number in result.creator.next_functions
        ]
        seen["creator"] = {"label": result.creator.label, "edges": edges}
    return seen


def product(a, b):
    return a * b


@record.case("two leaves that require a gradient", points=2)
def two_leaves(answer, rng):
    a, b = Value(3.0, requires_grad=True), Value(4.0, requires_grad=True)
    return described(answer("mul", product, a, b), a=a, b=b)


@record.case("an input that requires none", points=2)
def one_constant(answer, rng):
    a, b = Value(3.0), Value(4.0, requires_grad=True)
    return described(answer("mul", product, a, b), a=a, b=b)


@record.case("nothing to record", points=1)
def nothing_to_record(answer, rng):
    a, b, c = Value(3.0), Value(4.0, requires_grad=True), Value(5.0, volatile=True)
    plain = described(answer("mul", product, a, a), a=a)
    return [plain, described(answer("mul", product, b, c), b=b, c=c)]


@record.case("one step upon another, with one to three inputs", points=3)
def upon_another(answer, rng):
    a = Value(2.0, requires_grad=True)
    b = answer("neg", lambda p: -p, a)
    constant = answer("mul", product, Value(2.0), Value(3.0))
    c = answer("sum", lambda p, q, r: p + q + r, b, a, constant)
    return [described(b, a=a), described(c, a=a, b=b, constant=constant)]


@record.case("what happens to the inputs later doesn't matter", points=3)
def later_changes(answer, rng):
    a, b = Value(2.0, requires_grad=True), Value(5.0, requires_grad=True)
    c = answer("mul", product, a, b)
    first = c.creator
    d = answer("mul", product, c, b)
    c.creator, b.requires_grad, a.data = Step("another"), False, 100.0
    edges = [["first" if s is first else "b" if s is b.end else "something else", n]
             for s, n in d.creator.next_functions]  # fmt: skip
    again = len(list(d.creator.next_functions))
    return {"data": d.data, "edges": edges, "edges when read again": again}


# --- Repair: evaluate -----------------------------------------------------------------------------

repair_evaluate = Exercise(
    "repair-evaluate",
    answer="evaluate",
    title="Repair an evaluation",
    points=8,
    difficulty=2,
    hints=(
        "What does `tg.is_grad_enabled()` say after the call? And what is the type of the result?",
        "`with tg.no_grad():` switches recording off for its block and puts back what was before.",
        "`.item()` makes a plain number of a tensor with one element. The mean over the batches is "
        "the total divided by their number.",
    ),
)


def evaluated(answer, rng, count, enabled=True):
    """The result, whether the model's steps were recorded, and what is left behind."""
    weight = tg.tensor(2.0, requires_grad=True)
    seen = graphs.Watched()

    def model(x):
        with seen:
            return x * weight

    sizes = [2 + i for i in range(count)]
    batches = [[tg.tensor(rng.standard_normal(n)) for _ in range(2)] for n in sizes]
    with tg.set_grad_enabled(enabled):  # puts the mode back, whatever the answer does
        result = answer(model, batches)
        after = tg.is_grad_enabled()
    return {
        "kind of result": "float" if isinstance(result, float) else type(result).__name__,
        "result": float(result),
        "recorded of the model": seen.recorded,
        "recording is on afterwards": after,
        "the weight requires a gradient": weight.requires_grad,
    }


@repair_evaluate.case("one batch", points=2)
def one_batch(answer, rng):
    return evaluated(answer, rng, 1)


@repair_evaluate.case("three batches", points=3)
def three_batches(answer, rng):
    return evaluated(answer, rng, 3)


@repair_evaluate.case("called where recording is off", points=3)
def already_off(answer, rng):
    return evaluated(answer, rng, 2, enabled=False)


# --- Walking --------------------------------------------------------------------------------------

nodes_of = Exercise(
    "nodes-of",
    answer="nodes_of",
    title="Walk through a graph",
    points=10,
    difficulty=2,
    hints=(
        "Keep a list that begins with the root. Go through it with `for node in nodes:` and append "
        "to it meanwhile: the loop will come to what you append.",
        "`node.next_functions` has a pair for each input: `for child, _ in node.next_functions`. "
        "Skip the children that are None.",
        "A child that is in the list already isn't appended again. A set of what was seen finds "
        "this out fast.",
        "For `None` the list is empty: `nodes = [] if root is None else [root]`.",
    ),
)


def walked(answer, root):
    return {"given": graphs.edges(root), "nodes": sorted(node.label for node in answer(root))}


@nodes_of.case("a chain", points=1)
def a_chain(answer, rng):
    return walked(answer, reads("c", reads("b", Step("a"))))


@nodes_of.case("a step that is read twice", points=2)
def read_twice(answer, rng):
    a = reads("a", Step("x"))
    return walked(answer, reads("root", a, reads("b", a, a)))


@nodes_of.case("inputs that need nothing, and no graph at all", points=2)
def with_none(answer, rng):
    root = reads("root", None, reads("a", None, Step("x")))
    return [walked(answer, root), list(answer(None))]


@nodes_of.property("any graph", points=1, draw=graphs.steps)
def any_graph(answer, rng, steps):
    nodes = graphs.built(steps, Step("leaf"), lambda n, read: reads(f"n{n}", *read))
    return walked(answer, nodes[-1])


@nodes_of.case("a graph that the engine recorded", points=2)
def engine_graph(answer, rng):
    x, w = tg.ones(3, requires_grad=True), tg.ones(3, requires_grad=True)
    a = x * w
    loss = (a.tanh() * a + x + tg.ones(3)).sum()
    names = sorted(node.name() for node in answer(loss.grad_fn))
    return {"given": "a = x * w, loss = (a.tanh() * a + x + ones).sum()", "nodes": names}


@nodes_of.case("a chain of 3,000 steps", points=2)
def long_chain(answer, rng):
    root = Step("x")
    for _ in range(3000):
        root = reads("a", root)
    return len(list(answer(root)))


# --- Experiment: two graphs -----------------------------------------------------------------------

count_nodes = Exercise(
    "count-nodes",
    answer="measured",
    title="Measure a dynamic and an unrolled graph",
    points=5,
    difficulty=1,
    needs=("nodes-of",),
    hints=(
        "Call a model with `x` and `w`; the graph behind its result begins at `grad_fn`.",
        "`len(nodes_of(result.grad_fn))` is the number of nodes. The leaf's node counts too.",
        'In the loop: `measured["cool"].append(len(nodes_of(cool(x, w).grad_fn)))`, and the same '
        "for `cool_unrolled`.",
    ),
)


@count_nodes.case("the dynamic graph", points=2)
def dynamic_nodes(measured, rng):
    return list(measured["cool"])


@count_nodes.case("the unrolled graph", points=3)
def unrolled_nodes(measured, rng):
    return list(measured["cool_unrolled"])
