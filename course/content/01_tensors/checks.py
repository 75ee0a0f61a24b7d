"""What the checks of lesson 01 try: each case makes small tensors and reports what came back."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise
from course.forms import number, shape_and_dtype
from course.memory import shares_with


def entries(answer, *names):
    """Those entries of a dict that a learner gave."""
    return {name: answer[name] for name in names}


# --- Predict: constructors ------------------------------------------------------------------------

predict_constructors = Exercise(
    "predict-constructors",
    answer="made",
    title="Predict what the constructors make",
    points=7,
    difficulty=1,
    form=shape_and_dtype(),
    hints=(
        "`Tensor` and the other capital names take whole numbers for sizes, a list for data.",
        "`tensor` takes data only, and looks for its type there. One float makes all floats.",
        "A single number has no axis: its shape is `()`. `[[3, 1.0]]` is one row of two numbers.",
    ),
)


def plain(made, *names):
    """Shape and dtype as foretold, in any spelling: `2` or `(2,)`, `torch.long` or int64."""
    found = {}
    for name, (shape, dtype) in entries(made, *names).items():
        known = getattr(tg, str(dtype).removeprefix("torch.").removeprefix("tg."), dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        found[name] = (shape, str(known).removeprefix("torch."))
    return found


@predict_constructors.case("the old constructor with sizes", points=1)
def old_sizes(made, rng):
    return plain(made, "Tensor(3, 1)", "LongTensor(2)")


@predict_constructors.case("the old constructor with data", points=1)
def old_data(made, rng):
    return plain(made, "Tensor([3, 1])")


@predict_constructors.case("the new constructor", points=2)
def new_data(made, rng):
    return plain(made, "tensor([3, 1])", "tensor([[3, 1.0]])")


@predict_constructors.case("a single value", points=3)
def single(made, rng):
    return plain(made, "tensor(True)")


# --- Repair: in place -----------------------------------------------------------------------------

standardise = Exercise(
    "standardise",
    answer="standardise_",
    title="Repair a function that should work in place",
    points=7,
    difficulty=1,
    hints=(
        "`x = x - x.mean()` makes a new tensor and calls it x. The caller's tensor stays as it is.",
        "Every arithmetic operation has a form that writes into its tensor: `sub_`, `div_`.",
        "`x.sub_(x.mean())` shifts. The largest absolute value has to be asked for after that.",
    ),
)


def given(rng, *shape):
    return tg.tensor(np.round(rng.uniform(-9, 9, shape), 2).astype(np.float32))


@standardise.property("the caller's tensor", points=4, draw=lambda st: st.integers(1, 4))
def callers(answer, rng, size):
    x = given(rng, size + 1)
    before = x.clone()
    returned = answer(x)
    shared = shares_with(returned, x=x)
    return {"given": before, "afterwards": x, "the result shares memory with": shared}


@standardise.case("a part of a larger tensor, and a matrix", points=3)
def parts(answer, rng):
    whole = given(rng, 3, 4)
    before = whole.clone()
    answer(whole[1])
    matrix = tg.tensor([[1.0, 1.0], [2.0, -8.0]])
    answer(matrix)
    return {"given": before, "afterwards": whole, "[[1, 1], [2, -8]] afterwards": matrix}


# --- Shared memory --------------------------------------------------------------------------------

shares_memory = Exercise(
    "shares-memory",
    answer="shares_memory",
    title="Do two tensors share memory?",
    points=9,
    difficulty=2,
    hints=(
        "Equal numbers prove nothing. Either change one and look at the other, or ask for the "
        "address of their memory.",
        "`data_ptr()` of a tensor is the address of its first number. `x` and `x[1]` lie in the "
        "same block, and their first numbers don't.",
        "`x.storage()` is the whole block of memory behind `x`, and it has a `data_ptr()` as well.",
    ),
)


@shares_memory.case("a tensor and its copy", points=1)
def copies(answer, rng):
    x = given(rng, 3)
    return {"x and x": bool(answer(x, x)), "x and x.clone()": bool(answer(x, x.clone()))}


@shares_memory.case("a tensor and a view that begins elsewhere", points=2)
def views(answer, rng):
    x = given(rng, 3, 2)
    return {
        "x and x.view(6)": bool(answer(x, x.view(6))),
        "x and x[1]": bool(answer(x, x[1])),
        "x[2] and x": bool(answer(x[2], x)),
        "x[0] and x[2]": bool(answer(x[0], x[2])),
        "x[1] and a copy": bool(answer(x[1], x[1].clone())),
    }


@shares_memory.case("through NumPy", points=1)
def through_numpy(answer, rng):
    a = rng.standard_normal(3)
    return {
        "twice from_numpy": bool(answer(tg.from_numpy(a), tg.from_numpy(a))),
        "from_numpy and tensor": bool(answer(tg.from_numpy(a), tg.tensor(a))),
    }


@shares_memory.case("tensors full of equal numbers, and integers", points=2)
def equals(answer, rng):
    zeros, whole = tg.zeros(4), tg.arange(4)
    return {
        "two of zeros": bool(answer(zeros, tg.zeros(4))),
        "integers and a part": bool(answer(whole, whole[1:])),
        "two types": bool(answer(zeros, whole)),
    }


@shares_memory.case("both tensors are as before", points=3)
def unchanged(answer, rng):
    x = given(rng, 2, 2)
    before = x.clone()
    found = [bool(answer(x, x[1])), bool(answer(x, before))]
    return {"given": before, "afterwards": x, "answers": found}


# --- Experiment: what copies ----------------------------------------------------------------------

which_copy = Exercise(
    "which-copy",
    answer="shared",
    title="Find out what copies",
    points=7,
    difficulty=1,
    needs=("shares-memory",),
    hints=(
        "Call each function of `expressions` and hand its result to `shares_memory`.",
        "`for name, make in expressions.items():` gives names and functions.",
        "`shared[name] = shares_memory(x, make())`",
    ),
)


@which_copy.case("views", points=2)
def views_share(shared, rng):
    return entries(shared, "x.view(6)", "x[0]")


@which_copy.case("results of arithmetic, and clone", points=2)
def results_copy(shared, rng):
    return entries(shared, "x + 0", "x.clone()")


@which_copy.case("conversions", points=3)
def conversions(shared, rng):
    return entries(shared, "x.float()", "x.double()")


# --- Predict: sharing -----------------------------------------------------------------------------

predict_sharing = Exercise(
    "predict-sharing",
    answer="ends",
    title="Predict what the array holds",
    points=9,
    difficulty=2,
    form=number(),
    hints=(
        "Ask of each line: does it write into memory that is there, or give a name to something "
        "new?",
        "In “new array” the name `a` moves to another array before `b` is changed.",
        "`FloatTensor` shares with an array of 32-bit floats, `DoubleTensor` can't. `.double()` "
        "makes new numbers here, and `numpy()` looks at those.",
    ),
)


@predict_sharing.case("from_numpy", points=1)
def shared_change(ends, rng):
    return entries(ends, "from_numpy")


@predict_sharing.case("a name that moves on", points=3)
def rebound(ends, rng):
    return entries(ends, "rebound", "new array")


@predict_sharing.case("the constructors", points=3)
def constructors(ends, rng):
    return entries(ends, "tensor", "FloatTensor", "DoubleTensor")


@predict_sharing.case("there and back", points=2)
def and_back(ends, rng):
    return entries(ends, "and back")


# --- The constructor ------------------------------------------------------------------------------

shape_of = Exercise(
    "shape-of",
    answer="shape_of",
    title="The shape of nested lists",
    points=10,
    difficulty=2,
    hints=(
        "A number has the shape `()`. A list of n entries has the shape (n, and then the shape of "
        "an entry).",
        "The function may call itself on each entry: `[shape_of(entry) for entry in data]`.",
        "All those shapes must be equal, else it is a ValueError. If there are none, the shape is "
        "`(0,)`.",
    ),
)


def nested(rng, shape, kind=float):
    values = rng.integers(-9, 10, shape)
    return (
        [kind(v) for v in values]
        if len(shape) == 1
        else [nested(rng, shape[1:], kind) for _ in range(shape[0])]
    )


def some_shape(rng, size):
    return tuple(int(n) for n in rng.integers(1, 4, size=size))


@shape_of.case("a number, a list, a matrix", points=2)
def simple_shapes(answer, rng):
    return [tuple(answer(data)) for data in (5, [1, 2, 3], [[1, 2], [3, 4], [5, 6]])]


@shape_of.property("any depth", points=2, draw=lambda st: st.integers(1, 4))
def any_depth(answer, rng, size):
    data = nested(rng, some_shape(rng, size))
    return {"given": repr(data), "shape": tuple(answer(data))}


@shape_of.case("empty lists", points=1)
def empty_lists(answer, rng):
    return [tuple(answer(data)) for data in ([], [[], []], [[[]]])]


@shape_of.case("rows of different length", points=3)
def ragged(answer, rng):
    return refusals(answer, [[1, 2], [3]], [[[1], [2]], [[3]]], [[1], []], [[[1]], [[1, 2]]])


@shape_of.case("a list beside a number", points=2)
def mixed(answer, rng):
    return refusals(answer, [[1, 2], 3], [3, [1, 2]])


def refusals(answer, *datas):
    """For each input, the class of the error that the answer raises; one input is a good one."""
    seen = {"[[1], [2]]": tuple(answer([[1], [2]]))}
    for data in datas:
        try:
            seen[repr(data)] = repr(answer(data))
        except Exception as error:
            seen[repr(data)] = type(error).__name__
    return seen


my_tensor = Exercise(
    "my-tensor",
    answer="my_tensor",
    title="Your own tensor()",
    points=11,
    difficulty=3,
    needs=("shape-of",),
    hints=(
        "Three steps: the shape, the type, the numbers in one flat list. Then `makers[type]` of "
        "the list, and `view` of the shape.",
        "To flatten: as long as the entries are lists, replace the list by the entries of its "
        "entries, in order.",
        "A single number becomes a list of one, and the tensor of it has one axis too many: take "
        "its entry 0, or `view(())`.",
        "`view(shape)` with a shape that holds a 0 works too, as there is nothing to lay out.",
    ),
)


@my_tensor.case("a vector and a matrix", points=2)
def vector_and_matrix(answer, rng):
    return [answer([1.5, -2.0]), answer([[1, 2, 3], [4, 5, 6]])]


@my_tensor.property("any nested lists", points=3, draw=lambda st: st.integers(1, 4))
def any_lists(answer, rng, size):
    data = nested(rng, some_shape(rng, size), float if size % 2 else int)
    return {"given": repr(data), "result": answer(data)}


@my_tensor.case("booleans and mixtures", points=1)
def kinds(answer, rng):
    return [answer([True, False]), answer([[True], [3]]), answer([1, 0.5])]


@my_tensor.case("a single number", points=3)
def number(answer, rng):
    return [answer(7), answer(2.5), answer(True)]


@my_tensor.case("nothing, and rows of different length", points=2)
def odd(answer, rng):
    return {"empty": [answer([]), answer([[], []])], **refusals(answer, [[1, 2], [3]])}
