"""Variable, as the notes know it: the volatile flag and its spreading, creator, data, grad.

PyTorch 2.13 has no volatile any more; what it did until 0.3 is written down here by hand. What both
have is compared.
"""

from __future__ import annotations

import warnings

import pytest

import tinygrad_course as tg
from tinygrad_course import Variable
from tinygrad_course.nn import functional as F

from .parity.both import attempt, both, refused


def volatile(*values: float) -> tg.Tensor:
    return Variable(tg.tensor(list(values)), volatile=True)


def learned(*values: float) -> tg.Tensor:
    return tg.tensor(list(values), requires_grad=True)


# --- the class ------------------------------------------------------------------------------------


@both
def test_a_variable_is_a_tensor_on_the_same_memory(lib):
    made = lib.autograd.Variable
    x = lib.ones(2)
    v = made(x, requires_grad=True)
    v.data.mul_(3)
    seen = [v, x, v.is_leaf, x.requires_grad, isinstance(x, made), isinstance(v, lib.Tensor)]
    cut = made(v * 2)
    return [*seen, cut.requires_grad, cut.grad_fn is None, isinstance(3, made)]


@refused("requires? grad|require gradients")
def test_a_variable_of_whole_numbers_has_no_gradient(lib):
    lib.autograd.Variable(lib.tensor([1, 2]), requires_grad=True)


@refused("tensor.*list")
def test_a_variable_needs_a_tensor(lib):
    lib.autograd.Variable([1.0, 2.0])


# --- volatile -------------------------------------------------------------------------------------

w = learned(1.0, 2.0)
v = volatile(3.0, 4.0)
SPREADING = {
    "second operand": lambda: w * v,
    "first operand": lambda: v * w,
    "number": lambda: 2 * v + 1,
    "function": lambda: v.exp(),
    "reduction": lambda: v.sum(),
    "several results": lambda: v.max(0)[0],
    "product": lambda: v.view(1, 2) @ w.view(2, 1),
    "view": lambda: v.view(2, 1).t()[0],
    "pieces": lambda: v.split(1)[1],
    "index": lambda: v[[0, 0]],
    "join": lambda: tg.cat([w, v]),
    "choice": lambda: tg.where(w > 0, w, v),
    "conversion": lambda: v.double(),
    "comparison": lambda: v > w,
    "three operands": lambda: tg.addcmul(w, w, v),
    "layer": lambda: F.linear(v.view(1, 2), w.view(1, 2)),
    "loss": lambda: F.mse_loss(w, v),
    "detach": lambda: v.detach(),
    "clone": lambda: v.clone(),
    "several steps": lambda: ((v * w).tanh() + w).sum(),
}


@pytest.mark.parametrize("how", SPREADING)
def test_volatile_spreads(how):
    y = SPREADING[how]()
    assert y.volatile and not y.requires_grad and y.grad_fn is None and y.creator is None


def test_volatile_spreads_into_what_is_changed_in_place():
    for target in (tg.ones(2), learned(1.0, 2.0) * 2):
        assert target.mul_(v) is target
        assert target.volatile and not target.requires_grad and target.grad_fn is None
        with pytest.raises(RuntimeError, match="volatile"):
            target.sum().backward()


def test_a_view_with_history_refuses_a_volatile_operand():
    y = w * 2
    with pytest.raises(RuntimeError, match="volatile"):
        y[:1].mul_(v[:1])
    assert y.tolist() == [2, 4] and y._version == 0 and not y.volatile
    y.sum().backward()


def test_volatile_does_not_spread_to_the_other_operand_or_through_data():
    assert not w.volatile and (w * 2).requires_grad
    assert not v.data.volatile and (v.data * w).requires_grad
    with tg.no_grad():
        assert not (w * 2).volatile


def test_backward_of_a_volatile_result_says_why():
    for run in ((w * v).sum().backward, lambda: tg.autograd.grad((w * v).sum(), w)):
        with pytest.raises(RuntimeError, match="volatile"):
            run()


def test_volatile_and_requires_grad_exclude_each_other():
    with pytest.raises(RuntimeError, match="volatile"):
        Variable(tg.ones(2), requires_grad=True, volatile=True)
    x = volatile(1.0)
    with pytest.raises(RuntimeError, match="volatile"):
        x.requires_grad_()
    x.volatile = False
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="volatile"):
        x.volatile = True


def test_only_a_leaf_can_become_volatile():
    x = tg.ones(2)
    x.volatile = True
    assert not (x * w).requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        (w * 2).volatile = True


# --- creator, data, grad --------------------------------------------------------------------------


def test_creator_is_the_old_name_of_grad_fn():
    y = w * 2
    assert y.creator is y.grad_fn is not None and w.creator is None
    assert y.creator.previous_functions == y.grad_fn.next_functions
    assert y.creator.previous_functions[0][0].variable is w


@both
def test_what_cannot_be_assigned(lib):
    x = lib.ones(2)
    return [
        attempt(lambda: setattr(x, "grad_fn", None)),
        attempt(lambda: setattr(x, "is_leaf", False)),
        attempt(lambda: setattr(x, "_version", 3)),
    ]


@both
def test_grad_is_assigned_with_checks(lib):
    x = lib.ones(2, requires_grad=True)
    wrong = [3.0, [1.0, 2.0], lib.ones(3), lib.ones(1, 2), lib.ones(2).double(), x]
    seen = [attempt(lambda g=g: setattr(x, "grad", g)) for g in wrong]
    g = lib.ones(2)
    x.grad = g
    seen += [x.grad is g]
    (x * 2).sum().backward()
    seen += [g, x.grad is g]
    x.grad = None
    seen.append(x.grad is None)
    x.grad = g
    del x.grad
    plain, whole = lib.ones(2), lib.tensor([1, 2])
    plain.grad, whole.grad = g, whole.clone()
    return [*seen, x.grad is None, plain.grad, whole.grad]


@both
def test_data_has_a_counter_of_its_own(lib):
    x = lib.ones(2, requires_grad=True) * 1
    d = x.data
    d.mul_(2)
    seen = [x._version, d._version, x.data._version]
    x.detach().mul_(2)
    return [*seen, x._version, x.data._version, x, d.requires_grad, d.is_leaf]


@both
def test_assigned_data_replaces_the_memory(lib):
    x = lib.ones(2, requires_grad=True)
    new = lib.zeros(3)
    x.data = new
    new.add_(1)
    return [x, x.is_leaf, x._version, attempt(lambda: setattr(x, "data", lib.tensor([1])))]


# --- backward with inputs -------------------------------------------------------------------------


@both
def test_backward_into_chosen_inputs(lib):
    a, b = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    y = a * b
    z = (y * y).sum()
    z.backward(inputs=[a, y, a], retain_graph=True)
    seen = [a.grad.clone(), b.grad is None, y.grad.clone(), y.retains_grad]
    z.backward(inputs=y, retain_graph=True)
    z.backward(inputs=(b,))
    return [*seen, a.grad, b.grad, y.grad]


@both
def test_wrong_inputs(lib):
    a, b = lib.ones(2, requires_grad=True), lib.ones(2)
    y = (a * b).sum()
    return [attempt(lambda: y.backward(inputs=[b])), attempt(lambda: y.backward(inputs=[]))]


def test_both_names_of_the_gradients():
    y = w * 2
    tg.autograd.backward([y], grad_variables=[tg.ones(2)], retain_variables=True)
    with pytest.raises(RuntimeError, match="grad_variables"):
        tg.autograd.backward([y], [tg.ones(2)], grad_variables=[tg.ones(2)])
    w.grad = None


def test_only_inputs_is_ignored_with_a_warning():
    x = learned(1.0, 2.0)
    with pytest.warns(FutureWarning, match="only_inputs"):
        (g,) = tg.autograd.grad((x * 2).sum(), x, only_inputs=False)
    assert g.tolist() == [2, 2] and x.grad is None


# --- modes ----------------------------------------------------------------------------------------


@both
def test_modes_decorate_with_and_without_brackets(lib):
    x = lib.ones(2, requires_grad=True)
    seen = []
    for mode in (
        *(lib.no_grad, lib.no_grad(), lib.enable_grad, lib.set_grad_enabled(False)),
        *(lib.inference_mode, lib.inference_mode(), lib.inference_mode(False)),
    ):

        @mode
        def double(x):
            """Twice."""
            return (x * 2).requires_grad

        seen.append((double(x), lib.is_grad_enabled(), double.__name__, double.__doc__))
    return seen


def test_unfilled_grad_of_a_result_warns():
    y = w * 2
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert w.grad is None


def test_creators_of_the_engine_tell_what_functions_tell():
    y = w * tg.ones(2)
    assert (y.creator.num_inputs, y.creator.num_outputs) == (2, 1)
    assert y.creator.needs_input_grad == (True, False)
    assert w.max(0)[0].creator.num_outputs == 2
