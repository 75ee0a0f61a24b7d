"""What the checks of lesson 03 try: places and shapes on small tensors of whole numbers."""

import tinygrad_course as tg
from course.checks import Exercise
from course.forms import plain_value


def entries(answer, *names):
    """Those entries of a dict that a learner gave, tensors as lists, "Error" as "error"."""
    found = {name: answer[name] for name in names}
    for name, value in found.items():
        if isinstance(value, tg.Tensor):
            found[name] = value.tolist()
        elif isinstance(value, str):
            found[name] = value.lower()
    return found


def whole(rng, *shape, low=-9, high=10):
    """A tensor of whole numbers as floats, on which sums are exact."""
    return tg.tensor(rng.integers(low, high, size=shape).astype("float64"))


def places(rng, n, *shape):
    """A LongTensor of places below n."""
    return tg.tensor(rng.integers(0, n, size=shape))


def listed(tensor):
    return str(tensor.tolist())


# --- Repair: counting -----------------------------------------------------------------------------

count_classes = Exercise(
    "count-classes",
    answer="count",
    title="Repair a count",
    points=7,
    difficulty=1,
    hints=(
        "Try it on labels that hold one class three times. What is written, and how often?",
        "You need an operation that adds for every entry of the list, also where a place comes "
        "again.",
        "`counts.index_add_(0, labels, source)` adds `source[i]` at the place `labels[i]`. What "
        "has to be added for each label, and in which dtype?",
    ),
)


def counted(answer, labels, classes):
    return {"given": f"{listed(labels)}, {classes} classes", "counts": answer(labels, classes)}


@count_classes.case("a class that occurs again", points=2)
def one_again(answer, rng):
    return counted(answer, tg.tensor([2, 0, 2, 2, 1]), 3)


@count_classes.case("classes that don't occur", points=2)
def none_of_some(answer, rng):
    return counted(answer, tg.tensor([3, 1, 3]), 6)


def lists_of_labels(st):
    return st.lists(st.integers(0, 3), min_size=1, max_size=8)


@count_classes.property("any labels", points=3, draw=lists_of_labels)
def any_labels(answer, rng, labels):
    return counted(answer, tg.tensor(labels), 4)


# --- Predict: what is picked ----------------------------------------------------------------------

predict_gather = Exercise(
    "predict-gather",
    answer="picks",
    title="Predict what is picked",
    points=7,
    difficulty=1,
    form=plain_value("error"),
    hints=(
        "The result of `gather` has the shape of its index. Write that shape down first, with "
        "empty boxes.",
        "For `gather(1, ...)` the row of a box is its own row; only the column comes from the "
        "index. For `gather(0, ...)` it is the other way round.",
        "`index_select` takes whole columns. Two lists in brackets are read together: the first "
        "element is at (1, 0), the second at (0, 2). And gather wants an index with two axes.",
    ),
)


@predict_gather.case("whole columns", points=1)
def whole_columns(picks, rng):
    return entries(picks, "x.index_select(1, tensor([2, 0]))")


@predict_gather.case("from each row its own", points=2)
def along_rows(picks, rng):
    return entries(
        picks, "x.gather(1, tensor([[2, 0], [1, 1]]))", "x.gather(1, tensor([[2], [0]]))"
    )


@predict_gather.case("from each column its own", points=1)
def along_columns(picks, rng):
    return entries(picks, "x.gather(0, tensor([[1, 0, 1]]))")


@predict_gather.case("an index with one axis", points=1)
def one_axis(picks, rng):
    return entries(picks, "x.gather(1, tensor([2, 0]))")


@predict_gather.case("two lists in brackets", points=2)
def two_lists(picks, rng):
    return entries(picks, "x[tensor([1, 0]), tensor([0, 2])]")


# --- Places in memory -----------------------------------------------------------------------------

flat_places = Exercise(
    "flat-places",
    answer="flat_places",
    title="From an index to places in memory",
    points=11,
    difficulty=3,
    hints=(
        "For each position of the index, its place is a sum with one term per axis: a coordinate "
        "times the stride of that axis. The strides are those of `shape`.",
        "The coordinate along `dim` is what stands in the index. Along each other axis it is the "
        "position's own coordinate: 0, 1, 2, ...",
        "With a loop: `for position in np.ndindex(*index.shape):` gives each position as a tuple. "
        "Make a list of it, and replace its entry `dim` by `index[position].item()`.",
        "Without a loop: `tg.arange(n)` has the own coordinates of an axis with n positions. "
        "`.view(...)` with n at that axis and 1 at all others makes it broadcast over the rest.",
    ),
)


def placed(answer, shape, dim, index):
    given = f"shape {shape}, dim {dim}, index {listed(index)}"
    return {"given": given, "places": answer(shape, dim, index)}


@flat_places.case("along the rows of a matrix", points=2)
def in_rows(answer, rng):
    return placed(answer, (3, 4), 1, tg.tensor([[3, 0], [1, 1], [2, 3]]))


@flat_places.case("along the columns of a matrix", points=2)
def in_columns(answer, rng):
    return placed(answer, (3, 4), 0, tg.tensor([[2, 0, 1, 1], [0, 1, 2, 0]]))


@flat_places.case("a vector", points=1)
def in_vector(answer, rng):
    return placed(answer, (5,), 0, tg.tensor([4, 0, 4]))


@flat_places.case("an index smaller than the tensor", points=3)
def smaller_index(answer, rng):
    rows = placed(answer, (4, 5), 0, tg.tensor([[3, 1]]))
    return [rows, placed(answer, (4, 5), 1, tg.tensor([[3], [1]]))]


@flat_places.property("any shape", points=3, draw=lambda st: st.integers(1, 4))
def any_shape(answer, rng, size):
    shape = tuple(int(n) for n in rng.integers(2, 5, size=size))
    dim = int(rng.integers(0, size))
    sizes = [int(rng.integers(1, n + 1)) for n in shape]
    sizes[dim] = int(rng.integers(1, 6))
    return placed(answer, shape, dim, places(rng, shape[dim], *sizes))


# --- scatter --------------------------------------------------------------------------------------

my_scatter = Exercise(
    "my-scatter",
    answer="my_scatter",
    title="Write scatter",
    points=10,
    difficulty=3,
    needs=("flat-places",),
    hints=(
        "You have the places: `flat_places(x.shape, dim, index)`. Write to a copy of x that lies "
        "in one row.",
        "`out.view(-1)[places] = ...` writes into `out`, if `out` is contiguous: then the view has "
        "the same memory.",
        "The index may be smaller than `src`. Take the corner of `src` that has its shape: a slice "
        "for each axis.",
        "`clone()` keeps the memory order, so that of a transposed tensor isn't contiguous. "
        "`x.contiguous()` is a copy only if x wasn't contiguous: combine the two.",
    ),
)


def distinct(rng, n, *shape, dim):
    """Places below n that differ along dim, so that no two numbers go to one place."""
    order = rng.permuted(rng.random((*shape[:dim], n, *shape[dim + 1 :])).argsort(dim), axis=dim)
    return tg.tensor(order.take(range(shape[dim]), dim))


def written(answer, x, dim, index, src):
    given = f"x {listed(x)}, dim {dim}, index {listed(index)}, src {listed(src)}"
    result = answer(x, dim, index, src)
    return {"given": given, "result": result, "x afterwards": x}


@my_scatter.case("an index of the source's size", points=2)
def same_size(answer, rng):
    x, src = whole(rng, 2, 4, low=1), whole(rng, 2, 3, low=10, high=99)
    return written(answer, x, 1, tg.tensor([[3, 0, 1], [2, 1, 0]]), src)


@my_scatter.case("an index smaller than the source", points=2)
def small_index(answer, rng):
    x, src = whole(rng, 3, 4, low=1), whole(rng, 3, 4, low=10, high=99)
    return written(answer, x, 0, tg.tensor([[2, 0], [1, 2]]), src)


@my_scatter.case("a transposed tensor", points=3)
def transposed(answer, rng):
    x, src = whole(rng, 3, 2, low=1).t(), whole(rng, 2, 2, low=10, high=99)
    return written(answer, x, 1, tg.tensor([[2, 0], [1, 0]]), src)


@my_scatter.property("any shape", points=3, draw=lambda st: st.integers(1, 4))
def any_scatter(answer, rng, size):
    shape = tuple(int(n) for n in rng.integers(2, 4, size=size))
    dim = int(rng.integers(0, size))
    sizes = tuple(int(rng.integers(1, n + 1)) for n in shape)
    index = distinct(rng, shape[dim], *sizes, dim=dim)
    src = whole(rng, *(n + int(rng.integers(0, 2)) for n in sizes), low=10, high=99)
    return written(answer, whole(rng, *shape, low=1), dim, index, src)


# --- Repair: accuracy -----------------------------------------------------------------------------

repair_accuracy = Exercise(
    "repair-accuracy",
    answer="accuracy",
    title="Repair the accuracy",
    points=8,
    difficulty=2,
    hints=(
        "Print `guesses` for four rows of three scores. Are these classes?",
        "Print the shape of `hits`. There should be one answer for each row.",
        "`max(1)` gives values and places, and the labels are places. Without keepdim they have "
        "the labels' shape. The share is that of the rows.",
    ),
)


def shared(answer, scores, labels):
    given = f"scores {listed(scores)}, labels {listed(labels)}"
    return {"given": given, "accuracy": float(answer(scores, labels))}


@repair_accuracy.case("four rows, three classes", points=2)
def four_rows(answer, rng):
    scores = tg.tensor([[0.5, 2.5, 1.5], [0.25, 0.5, 3.5], [1.5, 0.5, 0.25], [4.5, 0.5, 1.5]])
    return shared(answer, scores, tg.tensor([1, 0, 0, 0]))


@repair_accuracy.case("two rows, five classes", points=3)
def two_rows(answer, rng):
    scores = tg.tensor([[0.5, 0.25, 0.1, 9.5, 0.2], [0.5, 0.75, 0.1, 0.5, 0.2]])
    return shared(answer, scores, tg.tensor([3, 0]))


@repair_accuracy.property("any scores", points=3, draw=lambda st: st.integers(1, 4))
def any_scores(answer, rng, size):
    scores = tg.tensor(rng.permuted(rng.random((3 + size, 2 + size)), axis=1) + 0.01)
    labels = scores.max(1)[1]
    labels[1:] = places(rng, 2 + size, 2 + size)
    return shared(answer, scores, labels)


# --- Distances ------------------------------------------------------------------------------------

distances = Exercise(
    "distances",
    answer="distances",
    title="All distances by one product",
    points=9,
    difficulty=2,
    hints=(
        "Three pieces: the squares of the points, a column; the products; the squares of the "
        "centres, a row.",
        "All products of a point and a centre are `x @ centres.t()`, with n rows and k columns.",
        "`(x * x).sum(1, keepdim=True)` is a column of n, `(centres * centres).sum(1)` a row of k. "
        "Both broadcast over the table.",
    ),
)


class Axes(tg.autograd.OpHook):
    """Notes the most axes that the result of an operation has."""

    most = 0

    def after_forward(self, op, args, results, node):
        self.most = max(self.most, *(array.ndim for array in results))


def apart(answer, x, centres):
    with Axes() as seen:
        result = answer(x, centres)
    return {
        "given": f"x {listed(x)}, centres {listed(centres)}",
        "distances": result,
        "an array of three axes was made": seen.most > 2,
    }


@distances.case("a point and a centre", points=1)
def one_pair(answer, rng):
    return apart(answer, tg.tensor([[3.0, 0.0]]), tg.tensor([[0.0, 4.0]]))


@distances.case("more points than centres", points=2)
def more_points(answer, rng):
    return apart(answer, whole(rng, 4, 3), whole(rng, 2, 3))


@distances.case("as many points as centres and coordinates", points=3)
def square(answer, rng):
    return apart(answer, whole(rng, 3, 3), whole(rng, 3, 3))


def three_sizes(st):
    return st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))


@distances.property("any sizes", points=3, draw=three_sizes)
def any_sizes(answer, rng, example):
    points, centres, coordinates = example
    return apart(answer, whole(rng, points, coordinates), whole(rng, centres, coordinates))


# --- Experiment: the largest array ----------------------------------------------------------------

count_numbers = Exercise(
    "count-numbers",
    answer="measured",
    title="Measure the largest array",
    points=5,
    difficulty=1,
    needs=("distances",),
    hints=(
        "`with Largest() as seen:` opens a block. Call one of the two functions in it; `seen.size` "
        "is then the size of the largest array that it made.",
        "Both functions take `points` and `centres`. Each of them needs a block of its own, since "
        "`Largest` keeps the largest of all it has seen.",
        "In the loop: `with Largest() as seen: by_broadcast(points, centres)`, and then "
        '`measured["by_broadcast"].append(seen.size)`. The same for `distances`.',
    ),
)


@count_numbers.case("by broadcasting", points=2)
def broadcast_numbers(measured, rng):
    return list(measured["by_broadcast"])


@count_numbers.case("by a matrix product", points=3)
def product_numbers(measured, rng):
    return list(measured["distances"])
