"""autograd.functional: Jacobians, Hessians and their products, against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import tinygrad_course as tg

from .parity.both import both, refused, same, seen

PRODUCTS = ("vjp", "jvp")
SECOND = ("vhp", "hvp")


def vector(lib: Any, *values: float) -> Any:
    return lib.tensor(values, dtype=lib.float64)


FUNCTIONS = {  # name: (function, number of inputs)
    "one to one": (lambda x: x * x, 1),
    "one to many": (lambda x: (x.exp(), x.sum()), 1),
    "many to one": (lambda x, y: (x * y).sum(0), 2),
    "many to many": (lambda x, y: (x * y, x.sum(), y.prod()), 2),
    "linear": (lambda x: x * 2, 1),
    "tuple of one": (lambda x: (x * x,), 1),
    "matrix": (lambda x: x.reshape(2, 1) * x, 1),
    "independent of the second": (lambda x, y: x * x, 2),
    "constant": (lambda x: x.detach() * 2, 1),
    "whole numbers": (lambda x: x.long(), 1),
}
NUMBERS = {
    "cubic": (lambda x: (x**3).sum(), 1),
    "mixed": (lambda x, y: (x * y * y).sum(), 2),
    "linear": (lambda x: (x * 2).sum(), 1),
    "one element in a matrix": (lambda x: (x**2).sum().reshape(1, 1), 1),
    "independent of the second": (lambda x, y: (x**2).sum(), 2),
    "constant": (lambda x: x.detach().sum(), 1),
}
OPTIONS = [{"create_graph": c, "strict": s} for c in (False, True) for s in (False, True)]


def outcome(lib: Any, name: str, function: Any, inputs: int, v: Any, options: Any) -> Any:
    """The result as plain data, or the name of the error."""
    given = (vector(lib, 1.0, 2.0), vector(lib, 3.0, 5.0))[:inputs]
    arguments = [given if inputs > 1 else given[0]]
    if v is not None:
        weights = tuple(lib.tensor(w, dtype=lib.float64) for w in v)
        arguments.append(weights if len(weights) > 1 else weights[0])
    try:
        result = getattr(lib.autograd.functional, name)(function, *arguments, **options)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__
    return seen(result)


def weights_like(name: str, function: Any, inputs: int) -> Any:
    """A vector for `name`: of the outputs' shapes for vjp, of the inputs' for the others."""
    if name != "vjp":
        return [[1.0, 10.0], [100.0, 1000.0]][:inputs]
    result = function(*(vector(tg, 1.0, 2.0), vector(tg, 3.0, 5.0))[:inputs])
    outputs = result if isinstance(result, tuple) else (result,)
    return [(y.detach().double() * 0 + 1 + i).tolist() for i, y in enumerate(outputs)]


CASES = [
    *itertools.product(("jacobian", *PRODUCTS), FUNCTIONS),
    *itertools.product(("hessian", *SECOND), NUMBERS),
]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_as_pytorch(name, function):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of this test")
    table = NUMBERS if name in ("hessian", *SECOND) else FUNCTIONS
    call, inputs = table[function]
    v = None if name in ("jacobian", "hessian") else weights_like(name, call, inputs)
    for options in OPTIONS:
        ours = outcome(tg, name, call, inputs, v, options)
        theirs = outcome(torch, name, call, inputs, v, options)
        assert same(ours, theirs), f"{options}: ours {ours}, PyTorch's {theirs}"


@both
def test_vector_may_be_left_out_for_one_number(lib):
    functional = lib.autograd.functional
    one = vector(lib, 3.0)
    return [
        functional.vjp(lambda x: (x * x).sum(), vector(lib, 1.0, 2.0)),
        functional.jvp(lambda x: x * vector(lib, 1.0, 2.0), one),
        functional.hvp(lambda x: (x**3).sum(), one),
    ]


@both
def test_derivatives_of_derivatives(lib):
    x = vector(lib, 1.0, 2.0).requires_grad_()
    rows = lib.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    inner = lib.autograd.functional.hessian(lambda x: (x**4).sum(), x, create_graph=True)
    return lib.autograd.grad(rows.sum() + inner.sum(), x)


@both
def test_works_under_no_grad_and_leaves_the_inputs_alone(lib):
    x = vector(lib, 1.0, 2.0).requires_grad_()
    with lib.no_grad():
        rows = lib.autograd.functional.jacobian(lambda x: x * x, x)
    return rows, x.grad is None, x.requires_grad, rows.requires_grad


@both
def test_infinite_values_have_zero_rows_where_nothing_depends_on_them(lib):
    x = vector(lib, 1.0, float("inf"))
    return lib.autograd.functional.jacobian(lambda x: (x[0] * 2, x[1].detach()), x)


def test_no_elements():
    rows = tg.autograd.functional.jacobian(lambda x: x[:0], tg.ones(2))
    assert rows.shape == (0, 2)


@refused("must be either a Tensor or a tuple of Tensors.*list")
def test_inputs_are_no_list(lib):
    x = vector(lib, 1.0)
    lib.autograd.functional.jacobian(lambda x, y: x * y, [x, x])


@refused("outputs of the user-provided function.*float")
def test_outputs_are_tensors(lib):
    lib.autograd.functional.vjp(lambda x: 3.0, vector(lib, 1.0))


@refused("only be None if the user-provided function returns a single Tensor")
def test_vjp_needs_a_vector(lib):
    lib.autograd.functional.vjp(lambda x: x * x, vector(lib, 1.0, 2.0))


@refused("only be None if the input is a single Tensor")
def test_jvp_needs_a_vector(lib):
    lib.autograd.functional.jvp(lambda x: x * x, vector(lib, 1.0, 2.0))


@refused(r"should be .*\[2\].* but got .*\[1\]")
def test_vector_of_another_size(lib):
    lib.autograd.functional.vjp(lambda x: x * x, vector(lib, 1.0, 2.0), vector(lib, 1.0))


@refused("v")
def test_vectors_of_another_number(lib):
    two = (vector(lib, 1.0, 2.0), vector(lib, 1.0))
    lib.autograd.functional.vjp(lambda x: x * x, vector(lib, 1.0, 2.0), two)


@refused("single Tensor")
def test_hessian_of_several_outputs(lib):
    lib.autograd.functional.hessian(lambda x: (x.sum(), x.sum()), vector(lib, 1.0))


@refused("single element")
def test_hessian_of_a_vector(lib):
    lib.autograd.functional.hessian(lambda x: x * x, vector(lib, 1.0, 2.0))
