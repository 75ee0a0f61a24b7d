"""What the checks of lesson 02 try: geometry on plain tuples, and what tensors make of it."""

import tinygrad_course as tg
from course.checks import Exercise
from course.forms import shape


def entries(answer, *names):
    """Those entries of a dict that a learner gave."""
    return {name: answer[name] for name in names}


# --- The place of an element ----------------------------------------------------------------------

place_of = Exercise(
    "place-of",
    answer="place_of",
    title="Where an element lies",
    points=5,
    difficulty=1,
    hints=(
        "Begin at the offset. Each index moves on by a number of steps.",
        "`zip(index, stride)` gives a pair for each axis.",
        "`offset + sum(i * s for i, s in zip(index, stride))`",
    ),
)


@place_of.case("a matrix, row by row", points=1)
def in_a_matrix(answer, rng):
    return [answer((i, j), (3, 1)) for i in range(2) for j in range(3)]


@place_of.case("with an offset", points=1)
def with_offset(answer, rng):
    return [answer((2,), (3,), 1), answer((0, 0), (4, 1), 7), answer((1, 1), (1, 4), 2)]


def sizes_and_places(st):
    return st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=4)


@place_of.property("any tensor", points=3, draw=sizes_and_places)
def any_tensor(answer, rng, axes):
    x = tg.zeros(*(n for n, _ in axes)).transpose(0, -1)
    index = tuple(place % n for (_, place), n in zip(axes, x.shape, strict=True))
    return {
        "given": f"index {index}, stride {x.stride()}, offset 5",
        "place": answer(index, x.stride(), 5),
    }


# --- Row-major strides ----------------------------------------------------------------------------

row_major = Exercise(
    "row-major",
    answer="row_major",
    title="Strides of a fresh tensor",
    points=8,
    difficulty=2,
    hints=(
        "The last stride is 1. Go from the last axis to the first.",
        "The stride of an axis is the product of all sizes behind it, not including its own.",
        "Keep a number `step`, 1 at first. For each size from the back: note `step`, then multiply "
        "it by the size. At the end turn the list round.",
    ),
)


@row_major.case("a vector and a matrix", points=1)
def small_shapes(answer, rng):
    return [tuple(answer((4,))), tuple(answer((2, 3)))]


def shapes(st):
    return st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)


@row_major.property("any shape", points=4, draw=shapes)
def any_shape(answer, rng, shape):
    return tuple(answer(shape))


@row_major.case("axes of size 1, and no axis", points=3)
def odd_shapes(answer, rng):
    return [tuple(answer(shape)) for shape in ((1, 5), (5, 1), (2, 1, 3), ())]


# --- Repair: contiguity ---------------------------------------------------------------------------

contiguous = Exercise(
    "contiguous",
    answer="is_contiguous",
    title="Repair is_contiguous",
    points=8,
    difficulty=2,
    needs=("row-major",),
    hints=(
        "The function compares all strides. Which of them are never used to find an element?",
        "An axis of size 1 has the index 0 only, so its stride is multiplied by 0.",
        "Compare the strides axis by axis, and leave out axes of size 1.",
    ),
)


@contiguous.case("an axis of size 1 with an odd stride", points=4)
def odd_stride(answer, rng):
    geometries = [((4, 1), (1, 4)), ((1, 3), (7, 1)), ((2, 1, 3), (3, 99, 1)), ((1, 1), (0, 5))]
    return {repr(g): bool(answer(*g)) for g in geometries} | not_contiguous(answer)


def not_contiguous(answer):
    geometries = [((3, 2), (1, 3)), ((2, 3), (6, 1)), ((2, 3), (0, 1)), ((3, 1), (2, 1))]
    return {repr(g): bool(answer(*g)) for g in geometries}


def larger_shapes(st):
    return st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple)


@contiguous.property("views of a tensor", points=4, draw=larger_shapes)
def of_views(answer, rng, shape):
    x = tg.zeros(shape)
    views = {
        "x": x,
        "x.transpose(0, -1)": x.transpose(0, -1),
        "x[:, :1]": x[:, :1],
        "x[1:]": x[x.shape[0] // 2 :],
        "x[:, :1] transposed": x[:, :1].transpose(0, 1),
    }
    seen = {
        f"{name}: shape {tuple(v.shape)}, stride {v.stride()}": bool(answer(v.shape, v.stride()))
        for name, v in views.items()
    }
    return seen | {"a column of two": bool(answer((2, 1), (1, 9)))} | not_contiguous(answer)


# --- Predict: strides -----------------------------------------------------------------------------

predict_strides = Exercise(
    "predict-strides",
    answer="strides",
    title="Predict strides",
    points=9,
    difficulty=2,
    form=shape("error"),
    hints=(
        "`x` has the stride (6, 1). Which of the operations move strides, which multiply one, "
        "which leave one out, and which begin afresh?",
        "A slice with a step multiplies the stride of its axis. An index takes its axis out.",
        "`x[::2]` has the stride (12, 1). Its rows of 6 can be cut into 2 times 3 without a copy.",
    ),
)


def foretold(strides, *names):
    """Those entries; one axis may be written `1` as well as `(1,)`, and "error" in any case."""
    found = entries(strides, *names)
    for name, stride in found.items():
        if isinstance(stride, int):
            found[name] = (stride,)
        elif isinstance(stride, str):
            found[name] = stride.lower()
    return found


@predict_strides.case("views that keep their elements", points=2)
def plain_views(strides, rng):
    return foretold(strides, "x.t()", "x.view(2, 12)")


@predict_strides.case("parts", points=2)
def part_views(strides, rng):
    return foretold(strides, "x[1]", "x[:, ::2]")


@predict_strides.case("where a copy is needed", points=3)
def copies(strides, rng):
    return foretold(strides, "x.t().view(24)", "x.t().contiguous()")


@predict_strides.case("a view of a part", points=2)
def view_of_part(strides, rng):
    return foretold(strides, "x[::2].view(2, 2, 3)")


# --- expand ---------------------------------------------------------------------------------------

expand_geometry = Exercise(
    "expand-geometry",
    answer="expand_geometry",
    title="The geometry of expand",
    points=11,
    difficulty=3,
    hints=(
        "Compare shape and sizes from the back: `new = len(sizes) - len(shape)` axes are new and "
        "stand in front, with the stride 0.",
        "For each old axis there are three cases: -1 or its own size leaves it as it is; an old "
        "size of 1 becomes the wanted size with stride 0; all else is a ValueError.",
        "-1 for a new axis says nothing about its size: a ValueError. So are too few sizes.",
        "An axis that keeps its size keeps its stride, also one of size 1.",
    ),
)


def attempted(answer, *arguments):
    try:
        shape, stride = answer(*arguments)
        return [tuple(int(n) for n in shape), tuple(int(n) for n in stride)]
    except ValueError:
        return "ValueError"


@expand_geometry.case("an axis of size 1", points=2)
def one_axis(answer, rng):
    return [attempted(answer, (3, 1), (1, 1), (3, 4)), attempted(answer, (1, 2), (2, 1), (5, 2))]


@expand_geometry.case("-1 leaves an axis as it is", points=1)
def minus_one(answer, rng):
    return [attempted(answer, (3, 1), (1, 1), (-1, 4)), attempted(answer, (2, 1), (5, 7), (-1, -1))]


@expand_geometry.case("new axes in front", points=2)
def in_front(answer, rng):
    return [
        attempted(answer, (2, 3), (3, 1), (5, 2, 3)),
        attempted(answer, (), (), (2, 2)),
        attempted(answer, (1,), (1,), (1, 4)),
    ]


def old_and_new_sizes(st):
    axes = st.lists(st.tuples(st.integers(1, 2), st.integers(1, 4)), min_size=1, max_size=4)
    return st.tuples(axes, st.lists(st.integers(1, 4), max_size=2))


@expand_geometry.property("any shape", points=3, draw=old_and_new_sizes)
def any_expansion(answer, rng, example):
    axes, front = example
    x = tg.zeros(*(n for n, _ in axes)).transpose(0, -1)
    target = (*front, *(new if n == 1 else n for n, (_, new) in zip(x.shape, axes, strict=True)))
    given = f"shape {tuple(x.shape)}, stride {x.stride()}, sizes {target}"
    return {"given": given, "result": attempted(answer, tuple(x.shape), x.stride(), target)}


@expand_geometry.case("what doesn't fit", points=3)
def misfits(answer, rng):
    arguments = [
        ((2,), (1,), (4,)),
        ((2, 3), (3, 1), (3,)),
        ((3,), (1,), (-1, 3)),
        ((2, 3), (3, 1), (2, 1)),
        ((3,), (1,), (3, 1)),
        ((3, 1), (1, 1), (3, 4)),  # this one fits
    ]
    return {repr(a): attempted(answer, *a) for a in arguments}


# --- Experiment: cells ----------------------------------------------------------------------------

count_cells = Exercise(
    "count-cells",
    answer="cells",
    title="Count the numbers in memory",
    points=6,
    difficulty=1,
    hints=(
        "Call each function of `results`, and ask for the storage behind what it returns.",
        "`storage().size()` is the number of numbers in it, however many the tensor reads.",
        "`for name, make in results.items(): cells[name] = make().storage().size()`",
    ),
)


@count_cells.case("expand and repeat", points=2)
def both(cells, rng):
    return entries(cells, "expand", "repeat")


@count_cells.case("results", points=2)
def results(cells, rng):
    return entries(cells, "expand + 0", "expand, contiguous")


@count_cells.case("a row of an expanded tensor", points=2)
def one_row(cells, rng):
    return entries(cells, "expand, one row")
