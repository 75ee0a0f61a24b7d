"""What the checks of the tests' lesson try."""

import numpy as np

from course.checks import Exercise
from course.forms import shape

double = Exercise(
    "double",
    answer="double",
    title="Twice",
    points=3,
    difficulty=1,
    hints=("Add x to itself.", "Two times x.", "return 2 * x"),
)


@double.case("a number", points=1)
def number(answer, rng):
    return answer(float(rng.integers(3, 99)))


@double.property("any array", points=2, draw=lambda st: st.integers(1, 4))
def any_array(answer, rng, size):
    x = rng.standard_normal((size, 3)).astype(np.float32)
    return {"given": x.copy(), "result": answer(x), "x afterwards": x}


quadruple = Exercise(
    "quadruple",
    answer="quadruple",
    title="Four times",
    points=2,
    difficulty=2,
    needs=("double",),
    hints=("Use double.", "Use it twice.", "double(double(x))"),
)


@quadruple.case("a number", points=2)
def four_times(answer, rng):
    return answer(float(rng.integers(3, 99)))


predict = Exercise(
    "predict",
    answer="prediction",
    title="Predict a shape",
    points=2,
    difficulty=1,
    form=shape(),
    hints=("What does T do?", "It swaps.", "Two axes, swapped."),
)


@predict.case("the first axis", points=1)
def first_axis(answer, rng):
    return answer[0]


@predict.case("the second axis", points=1)
def second_axis(answer, rng):
    return answer[1]
