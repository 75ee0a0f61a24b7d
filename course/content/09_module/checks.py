"""What the checks of lesson 09 try.

Each case builds modules with the answer, or trees of the engine's modules for it to walk over, and
reports what is found. No expected value stands here: the lesson's reference answer is run on the
same trees, and the reports are compared.
"""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise
from tinygrad_course import nn


def normal(rng, *shape):
    """A tensor of standard normal numbers."""
    return tg.tensor(rng.standard_normal(shape).astype(np.float32))


# --- Repair: the class of a network ---------------------------------------------------------------

repair_net = Exercise(
    "repair-net",
    answer="Units",
    title="Repair the class of a network",
    points=8,
    difficulty=1,
    hints=(
        "Make one, `Units(2, 3, 1)`, and read the errors: the first is in `__init__`. `super` "
        "needs no argument.",
        "When you call it, the input comes to `forward` as an argument, after `self`.",
        "Print the names of `named_parameters()`. An ordinary list isn't looked into: which "
        "container files its modules?",
        "A plain tensor is not filed. Wrap what is to be learned in `nn.Parameter(...)`.",
    ),
)


def made(answer, *sizes):
    """A network with known values in all that it has filed."""
    tg.manual_seed(4)
    net = answer(*sizes)
    for number, (_, parameter) in enumerate(sorted(net.named_parameters())):
        with tg.no_grad():
            parameter.copy_(tg.arange(parameter.numel()).view(parameter.shape) / 7.0 - 0.1 * number)
    return net


@repair_net.case("it computes", points=3)
def it_computes(answer, rng):
    x = normal(rng, 4, 2)
    x[0] = 2.0  # there the ReLU between the layers of `rest` changes the output
    outputs = [made(answer, 2, 3, more)(x).detach() for more in (0, 1, 2)]
    return {"given": {"x": x, "b": 3, "more": "0, 1 and 2"}, "outputs": outputs}


@repair_net.case("all that is to be learned is filed", points=2)
def all_filed(answer, rng):
    net = made(answer, 2, 3, 2)
    return {name: list(parameter.shape) for name, parameter in sorted(net.named_parameters())}


@repair_net.case("one step of training changes all of it", points=3)
def one_step(answer, rng):
    net = made(answer, 2, 3, 1)
    before = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
    optimizer = tg.optim.SGD(net.parameters(), lr=0.1)
    net(abs(normal(rng, 4, 2))).sum().backward()
    optimizer.step()
    changed = [name for name, p in net.named_parameters() if not tg.equal(p, before[name])]
    return sorted(changed)


# --- Predict: what is filed -----------------------------------------------------------------------

predict_filed = Exercise(
    "predict-filed",
    answer="filed",
    title="Predict what is filed",
    points=7,
    difficulty=2,
    hints=(
        "Go through the lines and ask of each value: of which class is it? Only parameters, "
        "modules and registered buffers are filed.",
        "What is computed from a parameter is a plain tensor. A list is a list. A layer with "
        "`bias=False` has one parameter.",
        "Saved are parameters and buffers, those of the modules below as well, under dotted names. "
        "One of the two buffers is not to be saved.",
    ),
)


@predict_filed.case("the parameters", points=4)
def the_parameters(filed, rng):
    return sorted(filed["parameters"])


@predict_filed.case("what is saved", points=3)
def the_saved(filed, rng):
    return sorted(filed["saved"])


# --- Experiment: list against ModuleList ----------------------------------------------------------

count_trained = Exercise(
    "count-trained",
    answer="counts",
    title="Measure what a plain list costs",
    points=7,
    difficulty=2,
    hints=(
        "For both ways to keep layers: make the net, then a list of the 8 tensors, `[tensor for "
        "layer in [*net.all, net.last] for tensor in (layer.weight, layer.bias)]`.",
        "A tensor has changed if it differs from a copy that you took before the step: "
        "`tensor.detach().clone()`.",
        "The step: `optimizer = tg.optim.SGD(net.parameters(), lr=0.1)`, then backward on "
        "`net(tg.ones(4, 2)).sum()`, then `optimizer.step()`. Then count `tensor.grad is not None` "
        "and `not tg.equal(before, tensor)`.",
    ),
)


@count_trained.case("tensors with a gradient", points=3)
def with_gradient(counts, rng):
    return {name: pair[0] for name, pair in counts.items()}


@count_trained.case("tensors that were changed", points=4)
def were_changed(counts, rng):
    return {name: pair[1] for name, pair in counts.items()}


# --- A Module of your own -------------------------------------------------------------------------

my_module = Exercise(
    "my-module",
    answer="Module",
    title="Assigning is registering",
    points=11,
    difficulty=3,
    hints=(
        "`__init__` has to make the two dicts without an assignment, which would call your "
        '`__setattr__`: `self.__dict__["_parameters"] = {}`.',
        "`__setattr__(self, name, value)`: first take `name` out of all three dicts with "
        "`pop(name, None)`. Then choose the dict by `isinstance`, and write `value` into it.",
        "`__getattr__(self, name)` is called only for names that are no ordinary attributes. Look "
        "into the two dicts, and raise `AttributeError` at the end.",
        'In `__getattr__`, `self.__dict__.get("_parameters", {})` is safe even if `__init__` has '
        "not run. `self._parameters` would call `__getattr__` again, for ever.",
    ),
)


def content(module):
    """What a module has filed, and the names of its ordinary attributes."""
    ordinary = [name for name in vars(module) if name not in ("_parameters", "_modules")]
    return {
        "_parameters": sorted(module._parameters),
        "_modules": sorted(module._modules),
        "ordinary": sorted(ordinary),
    }


@my_module.case("filed by class", points=2)
def by_class(answer, rng):
    class Part(answer):
        pass

    module = Part()
    module.weight = nn.Parameter(tg.ones(2))
    module.part = Part()
    module.base = answer()
    module.plain = tg.ones(2, requires_grad=True)
    module.number, module.parts = 3, [Part()]
    return content(module)


@my_module.case("reading gives back what was assigned", points=2)
def reading(answer, rng):
    module, inner = answer(), answer()
    weight, plain = nn.Parameter(normal(rng, 2)), normal(rng, 2)
    module.weight, module.inner, module.plain, module.number = weight, inner, plain, 3
    inner.bias = weight
    return {
        "weight": module.weight is weight,
        "inner": module.inner is inner,
        "plain": module.plain is plain,
        "number": module.number,
        "inner.bias": module.inner.bias is weight,
    }


@my_module.case("unknown names", points=2)
def unknown(answer, rng):
    class Hasty(answer):
        def __init__(self):
            self.number = 3
            self.weight = nn.Parameter(tg.ones(1))

    module = answer()
    module.weight = nn.Parameter(tg.ones(1))
    known = {name: hasattr(module, name) for name in ("weight", "bias", "_buffers")}
    try:
        Hasty()
        ends = True
    except RecursionError:
        ends = False
    except Exception:  # which error it is, is the answer's own affair
        ends = True
    return {"hasattr": known, "an assignment before __init__ comes to an end": ends}


@my_module.case("each object has files of its own", points=2)
def own_files(answer, rng):
    one, other = answer(), answer()
    one.weight, one.part = nn.Parameter(tg.ones(1)), answer()
    return {"one": content(one), "other": content(other)}


@my_module.case("a name belongs to one place", points=3)
def one_place(answer, rng):
    module, seen = answer(), []
    values = {
        "parameter": nn.Parameter(tg.ones(1)),
        "number": 3,
        "module": answer(),
        "parameter again": nn.Parameter(tg.zeros(1)),
        "None": None,
    }
    for name, value in values.items():
        module.x = value
        seen.append({"assigned": name, "read back": module.x is value, **content(module)})
    return seen


# --- The walk -------------------------------------------------------------------------------------

my_walk = Exercise(
    "my-walk",
    answer="named_parameters",
    title="Walk over the tree",
    points=8,
    difficulty=2,
    hints=(
        "The parameters of the module itself are the items of `module._parameters`. Those of a "
        "child come from the same walk over the child.",
        "Put the name of the child and a dot before each name that comes from it: "
        '`f"{name}.{inner}"`.',
        "To give each parameter once, keep a set of `id(parameter)` for the whole walk. An inner "
        "function `walk(module, prefix)` can share it.",
        "Skip entries that are None.",
    ),
)


def walked(answer, module, parameters):
    """The names found, each with the letter of the parameter that came with it."""
    letters = {id(parameter): letter for letter, parameter in parameters.items()}
    return [[name, letters.get(id(found), "?")] for name, found in answer(module)]


def module_of(**parts):
    module = nn.Module()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


def some_parameters():
    return {letter: nn.Parameter(tg.ones(1)) for letter in "ABCDE"}


class Bare:
    """Nothing but the two dicts, as a module of the learner's own class has."""

    def __init__(self, **parameters):
        self._parameters, self._modules = parameters, {}


@my_walk.case("one module", points=1)
def single(answer, rng):
    p = some_parameters()
    return walked(answer, Bare(weight=p["A"], bias=p["B"]), p)


@my_walk.case("a tree of three levels, own parameters first", points=2)
def three_levels(answer, rng):
    p = some_parameters()
    low = module_of(weight=p["A"])
    middle = module_of(low=low, scale=p["B"])
    return walked(answer, module_of(left=middle, right=module_of(weight=p["C"]), top=p["D"]), p)


@my_walk.case("an entry that is None", points=2)
def none_entry(answer, rng):
    p = some_parameters()
    layer = nn.Linear(2, 1, bias=False)
    layer.weight = p["A"]
    return walked(answer, module_of(layer=layer, last=module_of(bias=p["B"])), p)


@my_walk.case("a parameter and a module that are reached twice", points=3)
def reached_twice(answer, rng):
    p = some_parameters()
    shared = module_of(weight=p["A"])
    other = module_of(tied=p["A"], own=p["B"], again=p["B"])
    return walked(answer, module_of(one=shared, two=other, three=shared), p)
