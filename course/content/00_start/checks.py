"""What the check of lesson 00 tries: a case reports what an answer did, not whether it is right."""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise

mean_of_squares = Exercise(
    "mean-of-squares",
    answer="mean_of_squares",
    title="The mean of the squares",
    points=4,
    difficulty=1,
    hints=(
        "Two things happen, one after the other. Which comes first, the squares or the mean?",
        "`x * x` gives the square of every entry. A tensor has a method `mean()`.",
        "`return (x * x).mean()`",
    ),
)


@mean_of_squares.case("two numbers", points=1)
def two_numbers(answer, rng):
    x = tg.tensor([3.0, 5.0])
    return {"given": x, "result": answer(x)}


@mean_of_squares.case("numbers below zero", points=1)
def below_zero(answer, rng):
    x = tg.tensor([-3.0, 1.0])
    return {"given": x, "result": answer(x)}


@mean_of_squares.property("any vector", points=1, draw=lambda st: st.integers(1, 6))
def any_vector(answer, rng, size):
    x = tg.tensor(rng.integers(-9, 10, size=size).astype(np.float32))
    return {"given": x, "result": answer(x)}


@mean_of_squares.case("a matrix", points=1)
def a_matrix(answer, rng):
    x = tg.tensor(rng.integers(-9, 10, size=(2, 3)).astype(np.float32))
    return {"given": x, "result": answer(x)}
