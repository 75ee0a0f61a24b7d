"""Python numbers as operands give PyTorch's results, whichever way they reach the kernel."""

import math
import operator

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import viz

NUMBERS = [2, 2.0, -3, 0.1, 1e-7, 0, 0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, 65519.9, True]
NAMES = ["add", "sub", "mul", "truediv", "lt", "ge", "eq"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("name", NAMES)
def test_every_number_on_either_side(name, dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    op = getattr(operator, name)
    values = [-2.5, -1.0, 0.5, 3.0] if dtype.startswith("float") else [1, 2, 3, 100]
    for number in NUMBERS:
        for swapped in (False, True):

            def computed(lib, number=number, swapped=swapped):
                x = lib.tensor(values, dtype=getattr(lib, dtype))
                return (op(number, x) if swapped else op(x, number)).numpy()

            try:
                expected = computed(torch)
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    computed(tg)
                continue
            found = computed(tg)
            assert found.dtype == expected.dtype
            if found.dtype.kind == "f":
                # PyTorch multiplies by 1 / number, and keeps more digits of it than a float16 has.
                limits = np.finfo(found.dtype)
                near = {"rtol": 2 * limits.eps, "atol": limits.smallest_subnormal}
            else:
                near = {"rtol": 0}
            np.testing.assert_allclose(found, expected, **near, err_msg=f"{number}, {swapped}")
            if found.dtype.kind == "f":
                there = found == found
                assert (np.signbit(found) == np.signbit(expected))[there].all()


def test_what_a_number_makes_can_be_changed():
    x = tg.ones(2, requires_grad=True)
    for y in (x * 2, x + 2, x / 2, x > 2, tg.ones(()) * 2):
        y.detach().zero_()
        assert y.tolist() in ([0, 0], 0)
    (tg.autograd.grad((x * 2).sum(), x, create_graph=True)[0]).detach().zero_()
    (x * 2).sum().backward()
    x.grad.zero_()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize(("number", "text"), [(2, "2"), (2.5, "2.5"), (0.1, "0.1"), (0.0, "0.0")])
def test_the_viewer_shows_a_kept_number(number, text):
    y = tg.ones(3, requires_grad=True) * number
    kept = [saved for node in viz.trace(y).nodes for saved in node.saved]
    assert [(s.text, s.nbytes) for s in kept if s.text != "None"] == [(text, 0)]
