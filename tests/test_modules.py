"""Every layer, from its row: against PyTorch, and its derivatives against finite differences.

The comparisons with PyTorch are those of `python -m tests.parity`, which prints them as a table.
"""

from __future__ import annotations

from typing import Any

import pytest

import tinygrad_course as tg
from tinygrad_course import nn
from tinygrad_course.autograd import gradcheck, gradgradcheck

from .modules import MODULES
from .parity.calls import Made
from .test_ops import require_agreement

NAMES = list(MODULES)
# What a row cannot say; the file that tests each.
ELSEWHERE = {
    "DataParallel": "test_data_parallel",
    "Module": "test_module",
    "RNNBase": "test_rnn",
    "RNNCellBase": "test_rnn",
    "NLLLoss2d": "test_losses",
    "Sequential": "test_containers",
    "ModuleDict": "test_containers",
    "ModuleList": "test_containers",
    "ParameterDict": "test_containers",
    "ParameterList": "test_containers",
}


@pytest.fixture(scope="module")
def modules() -> Any:
    reason = "PyTorch is the oracle of these tests"
    return pytest.importorskip("tests.parity.modules", reason=reason)


def test_every_layer_has_a_row():
    classes = {
        name
        for name, value in vars(nn).items()
        if isinstance(value, type) and issubclass(value, nn.Module)
    }
    assert classes - set(NAMES) - set(ELSEWHERE) == set()
    assert set(NAMES) - classes == set()


@pytest.mark.parametrize("name", NAMES)
def test_as_made(modules, name):
    require_agreement(modules.made(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_it_computes(modules, name):
    require_agreement(modules.ran(name))


@pytest.mark.parametrize("name", NAMES)
def test_what_it_refuses(modules, name):
    require_agreement(modules.refused(name))


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_by_finite_differences(name):
    rows = MODULES[name]
    arguments, inputs = rows.cases[0].arguments, rows.cases[0].inputs
    built = Made(tg, arguments)
    tg.manual_seed(5)
    layer = getattr(nn, name)(*built.args, **built.kwargs).double()
    given = Made(tg, inputs, "float64", grad=True)
    variables = [*given.leaves, *layer.parameters()]

    def function(*variables: tg.Tensor) -> tuple[tg.Tensor, ...]:
        tg.manual_seed(5)
        return outputs(layer(*given.args, **given.kwargs))

    if not function():
        pytest.skip("nothing to differentiate")
    assert gradcheck(function, variables, fast_mode=True, nondet_tol=1e-12)
    if rows.second:
        assert gradgradcheck(function, variables, fast_mode=True, nondet_tol=1e-12)


def outputs(result: Any) -> tuple[tg.Tensor, ...]:
    """The tensors of an output that can be differentiated."""
    if isinstance(result, tuple | list):
        return tuple(leaf for part in result for leaf in outputs(part))
    return (result,) if result.requires_grad else ()
