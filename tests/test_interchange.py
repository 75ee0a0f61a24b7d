"""Tensors as NumPy's and DLPack's arrays and back; copies; what Python's protocols see of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tinygrad_course as tg

from .parity.both import attempt, both, refused

DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")


# --- NumPy ----------------------------------------------------------------------------------------


@both
def test_numpy_functions_of_tensors_return_tensors(lib):
    x, y = lib.tensor([[1.0, 4.0], [9.0, 16.0]]), lib.tensor([1.0, 2.0])
    w = lib.ones(2, requires_grad=True)
    log = [np.exp(x), np.sqrt(x), np.add(x, 1), np.add(x, y), np.add(np.ones(2), y), np.sin(y[0])]
    log += [np.isnan(y), *np.modf(y), np.add.reduce(y), np.sqrt(x.t())]
    log += [np.sqrt(x).requires_grad, attempt(lambda: np.exp(w)), attempt(lambda: np.exp(w * 2))]
    into = np.zeros(2)
    log += [np.add(y, y, out=into) is into, into.tolist(), np.allclose(y, [1, 2])]
    for result in (np.concatenate([x, x]), np.stack([y, y]), np.where(y > 1, 1, 2), np.dot(y, y)):
        log += [isinstance(result, lib.Tensor), np.asarray(result).tolist()]
    return log


@both
def test_arrays_of_tensors(lib):
    x = lib.arange(3.0)
    a, b = np.asarray(x), np.array(x)
    a[0], b[1] = 5, 6
    log = [x, str(np.asarray(x, dtype="int64").dtype), np.array([x, x]).tolist()]
    log += [
        np.array([lib.tensor(1.0), lib.tensor(2.0)]).tolist(),
        x.__array__(np.float16).dtype.name,
    ]
    c = np.zeros(3)
    c[:] = x
    c[lib.tensor([0, 1])] = 7
    log += [c.tolist(), np.arange(5)[lib.tensor(2)].item(), np.float64(lib.tensor(2.5)).item()]
    log += [attempt(lambda: np.asarray(lib.ones(1, requires_grad=True)))]
    return [*log, np.arange(3)[lib.tensor([True, False, True])].tolist(), x.__array_priority__]


@both
def test_arrays_beside_tensors(lib):
    x = lib.tensor([1.0, 2.0])
    log = []
    for a in (np.ones(2), np.ones((2, 2), "float32"), np.float64(3), np.int64(3), np.float32(3)):
        log += [x * a, x + a, x - a, x / a]
    for a in (np.float64(3), np.int64(3), np.float32(3)):
        log += [a * x, a - x, a / x, a**x, a < x]
    return [*log, np.ones(2) / x, np.ones(2) == x]


def test_an_array_on_the_left_gives_a_tensor_too():
    # PyTorch 2.13 with NumPy 2.4 refuses most of these.
    a, x = np.array([3.0, 4.0]), tg.tensor([1.0, 2.0], requires_grad=True)
    for result, expected in ((a * x, [3, 8]), (a + x, [4, 6]), (a - x, [2, 2]), (a**x, [3, 16])):
        assert isinstance(result, tg.Tensor) and result.tolist() == expected
        assert result.dtype is tg.float64 and result.requires_grad
    (a * x).sum().backward()
    assert x.grad.tolist() == [3, 4]


# --- DLPack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_shares_memory_both_ways(dtype):
    torch = pytest.importorskip("torch", reason="a library that speaks DLPack")
    x = tg.tensor([[1, 0, 1], [0, 1, 1]], dtype=getattr(tg, dtype))
    for ours in (x, x.t(), x[1], x[:, ::2], x[0, 0], x[:0]):
        for take in (torch.from_dlpack, np.from_dlpack, tg.from_dlpack):
            theirs = take(ours)
            assert theirs.tolist() == ours.tolist()
            assert tuple(theirs.shape) == ours.shape
            if ours.numel() and hasattr(theirs, "data_ptr"):
                assert theirs.data_ptr() == ours.data_ptr()
    y = torch.tensor([[1, 0, 1], [0, 1, 1]], dtype=getattr(torch, dtype))
    for theirs in (y, y.t(), y[1], y[:, ::2], y[0, 0]):
        ours = tg.from_dlpack(theirs)
        assert ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()
        assert ours.data_ptr() == theirs.data_ptr() and str(ours.dtype) == str(theirs.dtype)


@both
def test_dlpack(lib):
    a = np.zeros(3)
    x = lib.from_dlpack(a)
    a[0], x[1] = 4, 5
    log = [x, a.tolist(), lib.from_dlpack(a, device="cpu"), tuple(x.__dlpack_device__()) == (1, 0)]
    y = lib.from_dlpack(a, copy=True)
    y[2] = 6
    log += [a.tolist(), lib.from_dlpack(lib.arange(3).__dlpack__()), lib.from_dlpack(x[1:])]
    w = lib.ones(2, requires_grad=True)
    log += [attempt(lambda: w.__dlpack__()), attempt(lambda: (w * 2).__dlpack__())]
    return [*log, lib.from_dlpack(w.detach()).requires_grad, attempt(lambda: lib.from_dlpack([1]))]


def test_dlpack_of_types_that_tensors_lack():
    with pytest.raises(TypeError, match="complex64"):
        tg.from_dlpack(np.zeros(2, "complex64"))
    with pytest.raises(RuntimeError, match="not resizable"):
        tg.from_dlpack(np.zeros(2)).resize_(3)


# --- copies ---------------------------------------------------------------------------------------


@both
def test_a_shallow_copy_is_on_the_same_memory(lib):
    w = lib.ones(3, requires_grad=True)
    w.grad = lib.zeros(3)
    log = []
    for x in (lib.arange(6.0).view(2, 3).t(), w, w * 2, lib.nn.Parameter(lib.ones(2))):
        y = copy.copy(x)
        log += [y, y.is_leaf, y.grad, y.data_ptr() == x.data_ptr(), type(y).__name__]
    x = lib.zeros(2)
    copy.copy(x)[0] = 3
    return [*log, x]


@both
def test_a_deep_copy_keeps_what_is_shared(lib):
    x = lib.arange(6.0).view(2, 3)
    y, row, again = copy.deepcopy([x, x[1], x])
    row[0] = 50
    log = [x, y, row, again is y, row.storage_offset(), row.storage().size()]
    log += [copy.deepcopy(x.t()), copy.deepcopy(lib.ones(1).expand(3)), copy.deepcopy(x[1])]
    w = lib.nn.Parameter(lib.ones(2))
    w.grad = lib.ones(2)
    twin = copy.deepcopy(w)
    w.grad.add_(1)
    log += [type(twin).__name__, twin.grad, twin.requires_grad, twin.data_ptr() == w.data_ptr()]
    model = lib.nn.Sequential(lib.nn.Linear(2, 2))
    model.append(model[0])
    other = copy.deepcopy(model)
    return [*log, other[0] is other[1], other[0] is model[0], attempt(lambda: copy.deepcopy(w * 2))]


@both
def test_pickles(lib):
    w = lib.ones(3, requires_grad=True)
    log = []
    row = lib.ones(1).expand(3)
    for x in (lib.arange(6.0).view(2, 3).t(), w, w * 2, lib.nn.Parameter(lib.ones(2)), row):
        y = pickle.loads(pickle.dumps(x))
        log += [y, y.is_leaf, type(y).__name__, y.data_ptr() == x.data_ptr()]
    for value in (lib.float16, lib.bool, lib.device("cuda:1"), lib.Size([2, 3])):
        back = pickle.loads(pickle.dumps(value))
        log += [repr(back), back == value]
    x = lib.arange(100)[5:7]
    y = pickle.loads(pickle.dumps(x))
    return [*log, y.storage().size(), y.storage_offset()]


def test_tensors_pickled_together_share_memory():
    x = tg.zeros(3)
    y, part = pickle.loads(pickle.dumps((x, x[1:])))
    part[0] = 5
    assert y.tolist() == [0, 5, 0]


# --- Python's questions ---------------------------------------------------------------------------


@both
def test_what_is_in_a_tensor(lib):
    x = lib.tensor([1, 2])
    log = [1 in x, 5 in x, 1.0 in x, True in x, lib.tensor(2) in x, lib.tensor([1, 7]) in x]
    for other in ("a", None, [1], object()):
        log.append(attempt(lambda other=other: other in x))
    log += [x in [x], attempt(lambda: x in [lib.tensor([1, 2])])]
    return [*log, lib.tensor(1) in lib.tensor(1)]


@both
def test_iteration_unbinds(lib):
    w = lib.ones(2, 3, requires_grad=True)
    rows = list(w)
    (rows[0] * 2 + rows[1]).sum().backward()
    log = [w.grad, type(rows[0].grad_fn).__name__ if lib is not tg else rows[0].grad_fn.name()]
    a, b = lib.arange(4).view(2, 2)
    a[0] = 9
    return [*log, a, b, attempt(lambda: list(lib.tensor(1))), [v.item() for v in lib.arange(3)]]


@both
def test_formats(lib):
    log = [f"{lib.tensor(1.5)}", f"{lib.tensor(2.567):.2f}", f"{lib.tensor(3)}"]
    log += [
        f"{lib.tensor(3):5d}",
        f"{lib.tensor(2.5, requires_grad=True):.1f}",
        hex(lib.tensor(10)),
    ]
    log += [
        attempt(lambda: f"{lib.tensor([1.5]):.3f}"),
        str(lib.tensor(1)),
        repr(lib.tensor([1.5])),
    ]
    return [*log, format(lib.tensor(True)), str(lib.tensor([True]))]


@both
def test_numbers_of_several_elements(lib):
    x = lib.tensor([1, 2])
    return [attempt(lambda f=f: f(x)) for f in (int, float, complex, bool, lambda t: t.item())]


@both
def test_sizes_are_tuples(lib):
    s = lib.Size([2, 3])
    one = (1,)
    log = [repr(s + one), repr(one + s), repr(s * 2), repr(2 * s), repr(s[1:]), s == (2, 3)]
    log += [repr(lib.Size()), repr(lib.Size((lib.tensor(2), np.int64(3)))), s.numel(), s.index(3)]
    for bad in (3, (2, "a"), [2.5], None):
        log.append(attempt(lambda bad=bad: lib.Size(bad)))
    return log


@both
def test_small_questions(lib):
    x = lib.ones(2, dtype=lib.uint8)
    log = [x.is_cpu, x.get_device(), x.is_signed(), x.is_complex(), lib.is_floating_point(x)]
    log += [lib.numel(x), lib.is_nonzero(x[:1]), x[:1].is_nonzero(), str(x.layout), lib.typename(x)]
    return [*log, attempt(lambda: x.is_nonzero()), lib.float32.is_complex, lib.detach(x)]


# --- what there is not ----------------------------------------------------------------------------


def test_every_attribute_of_pytorch_s_tensor_is_there_or_says_that_it_is_left_out():
    torch = pytest.importorskip("torch", reason="PyTorch says which attributes there are")
    x = tg.ones(2)
    for name in dir(torch.Tensor):
        if name.startswith("_") or name in dir(x):
            continue
        with pytest.raises(AttributeError, match=rf"'{name}': PyTorch's has, and this engine"):
            getattr(x, name)
        assert not hasattr(tg.Tensor, name)


def test_left_out_types_say_so():
    for name in ("bfloat16", "complex64", "svd", "sparse_coo_tensor"):
        with pytest.raises(AttributeError, match=f"no '{name}'.*leaves it out"):
            getattr(tg, name)
    with pytest.raises(TypeError, match="complex"):
        tg.tensor(1j)
    with pytest.raises(TypeError, match=r"complex64.*the types are float16"):
        tg.from_numpy(np.zeros(1, "complex64"))


def test_an_unknown_attribute_is_just_unknown():
    with pytest.raises(AttributeError, match=r"no attribute 'mistyped'$"):
        tg.ones(2).mistyped  # noqa: B018


@refused("Can't export tensors that require gradient")
def test_dlpack_of_what_requires_grad(lib):
    lib.ones(2, requires_grad=True).__dlpack__()
