"""Recurrent layers beyond their rows: packed sequences, the fused kernels against the formulas."""

import math
import warnings

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.autograd import gradcheck, gradgradcheck

from . import fake_cuda
from .parity.both import attempt, both, refused

LENGTHS = (4, 2, 2, 1)
KINDS = ("RNN", "GRU", "LSTM")


def numbers(lib, *shape):
    """Floats between -1 and 1, the same in both libraries."""
    count = int(np.prod(shape))
    values = (np.arange(1, count + 1) * 0.618033988749895 % 1.0) * 2 - 1
    return lib.tensor(values.reshape(shape).tolist(), dtype=lib.float64)


def tensors(result):
    """All tensors in an output, packed or not."""
    if isinstance(result, tuple):
        return [t for part in result for t in tensors(part)]
    return [] if result is None else [result]


def learned(lib, layer, result):
    """The outputs, and the gradients of the weights for a loss of all outputs."""
    found = tensors(result)
    loss = sum((t * t).sum() * (i + 1) for i, t in enumerate(found) if t.requires_grad)
    loss.backward()
    return [*found, [p.grad for p in layer.parameters()]]


def made(lib, kind, *args, **kwargs):
    lib.manual_seed(3)
    return getattr(lib.nn, kind)(*args, **kwargs).double()


def states(lib, kind, *shape):
    h = numbers(lib, *shape).requires_grad_()
    return (h, (h * 2).detach().requires_grad_()) if kind == "LSTM" else h


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [LENGTHS, (1, 4, 2, 2)])
@pytest.mark.parametrize("given", [False, True])
def test_packed(kind, lengths, given):
    @both
    def compare(lib):
        layer = made(lib, kind, 3, 2, 2, bidirectional=True)
        x = numbers(lib, 4, 4, 3).requires_grad_()
        rnn = lib.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, list(lengths), enforce_sorted=lengths == LENGTHS)
        hx = states(lib, kind, 4, 4, 2) if given else None
        y, last = layer(packed, hx)
        padded = rnn.pad_packed_sequence(y, batch_first=True, total_length=5)
        grads = [h.grad for h in tensors(hx)] if given else []
        return [*learned(lib, layer, (padded, last)), y.batch_sizes, x.grad, grads]

    compare()


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_sequence_gives_what_each_sequence_gives_alone(kind):
    layer = made(tg, kind, 3, 2, bidirectional=True)
    rows = [numbers(tg, n, 3) for n in (3, 1, 2)]
    y, _ = layer(tg.nn.utils.rnn.pack_sequence(rows, enforce_sorted=False))
    for row, out in zip(rows, tg.nn.utils.rnn.unpack_sequence(y), strict=True):
        np.testing.assert_allclose(out.tolist(), layer(row)[0].tolist(), atol=1e-12)


@both
def test_projections_of_packed_sequences(lib):
    layer = made(lib, "LSTM", 3, 4, 2, proj_size=2, bidirectional=True)
    packed = lib.nn.utils.rnn.pack_sequence([numbers(lib, n, 3) for n in (3, 2)])
    return learned(lib, layer, layer(packed))


@both
def test_relu(lib):
    layer = made(lib, "RNN", 3, 4, 2, "relu")
    cell = made(lib, "RNNCell", 3, 4, nonlinearity="relu")
    return [
        layer.mode,
        layer.nonlinearity,
        learned(lib, layer, layer(numbers(lib, 3, 2, 3))),
        repr(cell),
        learned(lib, cell, cell(numbers(lib, 2, 3))),
        attempt(lambda: lib.nn.RNNCell(3, 4, nonlinearity="no")(lib.zeros(3))),
        attempt(lambda: lib.nn.RNN(3, 4, nonlinearity="no")),
    ]


@both
def test_half_precision(lib):
    layer = lib.nn.GRU(3, 4).double()
    lib.manual_seed(3)
    layer.reset_parameters()
    y, h = layer.half()(numbers(lib, 3, 2, 3).half())
    return [str(y.dtype), str(h.dtype), tuple(y.shape)]


@both
def test_a_loop_of_cells(lib):
    cell = made(lib, "LSTMCell", 3, 4)
    state, out = None, []
    for x in numbers(lib, 5, 2, 3):
        state = cell(x, state)
        out.append(state[0])
    return learned(lib, cell, tuple(out))


@both
def test_weights(lib):
    layer = lib.nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True)
    names = layer._all_weights
    same = [
        w is getattr(layer, name)
        for row, ws in zip(names, layer.all_weights, strict=True)
        for name, w in zip(row, ws, strict=True)
    ]
    return [list(layer.state_dict()), names, same, layer.flatten_parameters(), layer.mode]


@both
def test_only_some_gradients_are_needed(lib):
    seen = []
    for kind in KINDS:
        layer = made(lib, kind, 3, 2)
        layer.weight_ih_l0.requires_grad_(False)
        layer.bias_hh_l0.requires_grad_(False)
        y, _ = layer(numbers(lib, 3, 2, 3))
        y.sum().backward()
        seen.append([p.grad for p in layer.parameters()])
    return seen


@both
def test_the_last_state_alone_is_used(lib):
    seen = []
    for kind in KINDS:
        layer = made(lib, kind, 3, 2)
        hx = states(lib, kind, 1, 2, 2)
        _, last = layer(numbers(lib, 3, 2, 3), hx)
        tensors(last)[-1].sum().backward()
        seen.append([[p.grad for p in layer.parameters()], [h.grad for h in tensors(hx)]])
    return seen


def test_dropout_of_a_single_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1.*dropout=0.5"):
        tg.nn.GRU(3, 4, dropout=0.5)


@refused(r"Expected hidden\[1\] size \(1, 1, 4\), got \[1, 1, 3\]")
def test_a_state_of_another_size(lib):
    lib.nn.LSTM(3, 4)(lib.zeros(2, 1, 3), (lib.zeros(1, 1, 4), lib.zeros(1, 1, 3)))


@refused(r"Expected 5, got 3")
def test_a_packed_input_of_another_size(lib):
    lib.nn.GRU(5, 4)(lib.nn.utils.rnn.pack_sequence([lib.zeros(2, 3)]))


def test_inputs_changed_in_place_are_noticed():
    layer, x = made(tg, "LSTM", 3, 2), numbers(tg, 3, 2, 3)
    y, _ = layer(x)
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# --- the kernels against the formulas of a step ---------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 2, 1)])
@pytest.mark.parametrize("kind", [*KINDS, "LSTM with a projection", "RNN of relu"])
def test_kernels_agree_with_the_formulas(kind, sizes, reverse):
    """The loop forward and back by hand, and what unrolling the formula of a step gives."""
    from tinygrad_course.ops import rnn as kernels

    op = getattr(kernels, kind.split()[0])
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op.__name__]
    out = 2 if kind.endswith("projection") else 3
    n, (rows, hidden, inputs) = sizes[0], (sum(sizes), 3, 2)
    shapes = [(rows, inputs), (n, out), (gates * hidden, inputs), (gates * hidden, out)]
    shapes += [(gates * hidden,)] * 2
    if op is kernels.LSTM:
        shapes.insert(2, (n, hidden))
        if out != hidden:
            shapes.append((out, hidden))
    leaves = [numbers(tg, *shape).requires_grad_() for shape in shapes]
    absent = [None] if op is kernels.LSTM and out == hidden else []
    settings = {"sizes": sizes, "reverse": reverse}
    if op is kernels.RNN:
        settings["relu"] = kind.endswith("relu")

    def layer(*leaves):
        return op.fn(*leaves, *absent, **settings)

    outputs = layer(*leaves)
    weights = [numbers(tg, *o.shape) for o in outputs]
    by_hand = tg.autograd.grad(outputs, leaves, weights, retain_graph=True)
    unrolled = tg.autograd.grad(outputs, leaves, weights, create_graph=True)
    for a, b in zip(by_hand, unrolled, strict=True):
        assert b.requires_grad
        np.testing.assert_allclose(a.tolist(), b.tolist(), rtol=1e-9, atol=1e-12)
    assert gradcheck(layer, leaves, fast_mode=True)
    assert gradgradcheck(layer, leaves, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives_of_a_loop_of_cells(kind):
    """The state is made of the weights that the next step takes; both states are one tensor."""
    cell = made(tg, f"{kind}Cell", 2, 2)

    def loop(x, h, *weights):
        state = (h, h) if kind == "LSTM" else h
        for _ in range(2):
            state = cell(x, state)
        return state

    variables = [numbers(tg, 1, 2).requires_grad_(), (numbers(tg, 1, 2) / 2).requires_grad_()]
    variables += cell.parameters()
    loss = sum((s * s).sum() for s in tensors(loop(*variables)))
    by_hand = tg.autograd.grad(loss, variables, retain_graph=True)
    unrolled = tg.autograd.grad(loss, variables, create_graph=True)
    for a, b in zip(by_hand, unrolled, strict=True):
        np.testing.assert_allclose(a.tolist(), b.tolist(), rtol=1e-9, atol=1e-12)
    assert gradgradcheck(loop, variables, fast_mode=True)


# --- packing --------------------------------------------------------------------------------------


def packed(p):
    return [p.data, p.batch_sizes, p.sorted_indices, p.unsorted_indices]


@both
def test_packing(lib):
    rnn = lib.nn.utils.rnn
    x = numbers(lib, 4, 3, 2)
    seen = [
        packed(rnn.pack_padded_sequence(x, [4, 2, 1])),
        packed(rnn.pack_padded_sequence(x, lib.tensor([2, 4, 2]), enforce_sorted=False)),
        packed(rnn.pack_padded_sequence(x, [3, 3, 2, 1], batch_first=True)),
        packed(rnn.pack_sequence([x[0, 0], x[1, 1], x[2, 2]])),
        packed(rnn.pack_sequence([x[:1, 0], x[:3, 0], x[:2, 0]], enforce_sorted=False)),
    ]
    p = rnn.pack_sequence([x[:1, 0], x[:3, 0], x[:2, 0]], enforce_sorted=False)
    for batch_first in (False, True):
        seen.append(rnn.pad_packed_sequence(p, batch_first))
        seen.append(rnn.pad_packed_sequence(p, batch_first, -1.0, 5))
        seen.append(rnn.unpad_sequence(*rnn.pad_packed_sequence(p, batch_first), batch_first))
    return [*seen, rnn.unpack_sequence(p)]


@both
def test_padding(lib):
    pad = lib.nn.utils.rnn.pad_sequence
    rows = [numbers(lib, n, 2) for n in (2, 3, 1)]
    return [
        pad(rows),
        pad(rows, True),
        pad(rows, batch_first=True, padding_value=7, padding_side="left"),
        pad([lib.tensor([1, 2]), lib.tensor([3])], padding_value=-1),
        pad(lib.ones(2, 3)),
    ]


@both
def test_gradients_through_packing(lib):
    rnn = lib.nn.utils.rnn
    x = numbers(lib, 3, 3, 2).requires_grad_()
    p = rnn.pack_padded_sequence(x, [2, 3, 1], enforce_sorted=False)
    padded, _ = rnn.pad_packed_sequence(p, padding_value=5.0)
    (padded**2).sum().backward()
    rows = [numbers(lib, n).requires_grad_() for n in (2, 3)]
    (rnn.pad_sequence(rows) ** 3).sum().backward()
    return [x.grad, [r.grad for r in rows]]


@both
def test_packed_sequences_as_tuples(lib):
    rnn = lib.nn.utils.rnn
    p = rnn.pack_sequence([lib.ones(1), lib.ones(3)], enforce_sorted=False)
    data, sizes, order, back = p
    return [
        isinstance(p, tuple),
        repr(p),
        [data, sizes, order, back],
        packed(p.double()),
        packed(p.to(lib.float16)),
        packed(p.long()),
        p.to("cpu") is p,
        packed(p.cpu()),
        p.is_cuda,
        packed(rnn.PackedSequence(data, sizes, order)),
        packed(rnn.PackedSequence((data, sizes))),
        attempt(lambda: rnn.PackedSequence(data)),
        rnn.invert_permutation(lib.tensor([2, 0, 1])),
        rnn.invert_permutation(None),
    ]


@both
def test_what_cannot_be_packed(lib):
    rnn, x = lib.nn.utils.rnn, lib.ones(4, 2, 3)
    p = rnn.pack_padded_sequence(x, [3, 1])
    return [
        attempt(lambda: rnn.pack_padded_sequence(x, [2, 4])),
        attempt(lambda: rnn.pack_padded_sequence(x, [2, 0])),
        attempt(lambda: rnn.pack_padded_sequence(x, [2])),
        attempt(lambda: rnn.pack_padded_sequence(lib.ones(3), [1])),
        attempt(lambda: rnn.pad_packed_sequence(p, total_length=2)),
        attempt(lambda: rnn.pad_packed_sequence(x)),
        attempt(lambda: rnn.pad_sequence([])),
        attempt(lambda: rnn.pad_sequence(3)),
        attempt(lambda: rnn.pad_sequence([x, x], padding_side="no")),
        attempt(lambda: rnn.pad_sequence([lib.ones(2, 1), lib.ones(3, 2)])),
        attempt(lambda: rnn.pack_sequence([lib.ones(1), lib.ones(2)])),
    ]


def test_lengths_beyond_the_input():
    with pytest.raises(RuntimeError, match="a length of 5 is more than the 4 steps"):
        tg.nn.utils.rnn.pack_padded_sequence(tg.ones(4, 2), [5, 1])


def test_packing_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.nn.utils.rnn.pack_sequence([tg.ones(2), tg.ones(1)])


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_device(kind):
    """Packed and both ways, on a stand-in for a GPU: nothing but the lengths comes from the
    host."""

    def run(device):
        layer = made(tg, kind, 3, 2, 2, bidirectional=True).to(device)
        x = numbers(tg, 4, 4, 3).to(device).requires_grad_()
        rnn = tg.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, [1, 4, 2, 2], enforce_sorted=False)
        y, last = layer(packed)
        padded, lengths = rnn.pad_packed_sequence(y)
        found = learned(tg, layer, (padded, last))
        return [t.tolist() for t in (*found[:-1], *found[-1], x.grad, lengths)]

    with fake_cuda.pretended():
        there = run("cuda")
    for a, b in zip(there, run("cpu"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_weights_frozen_after_forward_leave_the_graph_as_it_was(name):
    @both
    def test(lib):
        lib.manual_seed(0)
        layer = getattr(lib.nn, name)(2, 3).double()
        x = numbers(lib, 4, 1, 2).requires_grad_()
        y, _ = layer(x)
        for parameter in list(layer.parameters())[::2]:
            parameter.requires_grad_(False)
        (gx,) = lib.autograd.grad(y.square().sum(), x, create_graph=True)
        return [gx.detach(), lib.autograd.grad(gx.square().sum(), [x, layer.weight_hh_l0])]

    test()


@both
def test_the_slope_of_relu_at_no_number(lib):
    lib.manual_seed(0)
    layer = lib.nn.RNN(1, 2, nonlinearity="relu")
    x = lib.tensor([[1.0], [math.nan], [2.0]], requires_grad=True)
    layer(x)[0].sum().backward()
    return x.grad
