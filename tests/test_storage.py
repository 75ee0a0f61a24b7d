"""Storages, the typed constructors, and the memory under a tensor: resized, replaced, laid out."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tinygrad_course as tg

from . import fake_cuda
from .parity.both import attempt, both, refused

KINDS = {
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}


# --- storages -------------------------------------------------------------------------------------


@both
def test_typed_storages(lib):
    log = []
    for kind, dtype in KINDS.items():
        make = getattr(lib, f"{kind}Storage")
        s = make([1, 0, 1])
        log += [s.tolist(), str(s.dtype), s.size(), len(s), s.element_size(), s.nbytes(), s.type()]
        log += [isinstance(s, make), isinstance(s, lib.ShortStorage), make().size(), make(4).size()]
        x = lib.ones(2, dtype=getattr(lib, dtype))
        log += [isinstance(x.storage(), make), x.storage().tolist(), str(x.storage().device)]
    return log


@both
def test_elements_of_a_storage(lib):
    s = lib.FloatStorage([1, 2, 3])
    log = [s[0], s[-1], list(s), 2.0 in s, attempt(lambda: s[3]), attempt(lambda: s["a"])]
    s[1] = 7.5
    s[0:1] = 5
    whole = lib.LongStorage([1, 2, 3])
    whole[0] = 7.9
    log += [s.tolist(), whole.tolist(), s.fill_(4) is s, s.tolist()]
    log += [s.copy_(lib.FloatStorage([1, 2, 3])) is s, s.tolist()]
    log.append(attempt(lambda: s.copy_(lib.FloatStorage([1, 2]))))
    log += [attempt(lambda: lib.FloatStorage(1, 2)), attempt(lambda: lib.FloatStorage("a"))]
    log += [attempt(lambda: lib.FloatStorage(-1)), attempt(lambda: lib.FloatStorage(1.5))]
    return [*log, s.long().tolist(), s.double().element_size(), str(s.half().dtype)]


def test_slices_of_a_storage_share_its_memory():
    s = tg.FloatStorage([1, 2, 3, 4])
    part = s[1:3]
    part.fill_(0)
    assert s.tolist() == [1, 0, 0, 4]
    assert part.data_ptr() == s.data_ptr() + 4


@both
def test_tensors_share_their_storage(lib):
    x = lib.arange(6.0).view(2, 3)
    log = [x.storage().data_ptr() == v.storage().data_ptr() for v in (x.t(), x[1], x.detach())]
    x.storage()[4] = 50
    log += [x, x[1].storage_offset(), x.t().storage().tolist(), x[1:].untyped_storage().nbytes()]
    y = lib.FloatTensor(x.storage())
    y[0] = -1
    return [*log, tuple(y.shape), x, attempt(lambda: lib.LongTensor(x.storage()))]


@both
def test_bytes_of_a_storage(lib):
    x = lib.tensor([1.0, -2.0])
    u = x.untyped_storage()
    log = [u.tolist(), u.size(), len(u), u.nbytes(), u.element_size(), u[3], str(u.device)]
    log += [u.data_ptr() == x.data_ptr(), u[0:4].tolist(), u.clone().tolist()]
    u[7] = 64
    log.append(x)
    u.fill_(0)
    log += [x, u == x.untyped_storage(), u == lib.zeros(2).untyped_storage()]
    u.copy_(lib.ones(2).untyped_storage())
    return [*log, x, u.resize_(12).size(), x.storage().size(), lib.FloatTensor(u).shape[0]]


@both
def test_copies_of_a_storage(lib):
    s = lib.ones(2).storage()
    log = []
    for other in (s.clone(), copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        log += [other.tolist(), other.data_ptr() == s.data_ptr()]
    return [*log, lib.is_storage(s), lib.is_storage(s.untyped()), lib.is_storage(lib.ones(1))]


@both
def test_a_storage_grows_under_all_its_tensors(lib):
    x = lib.arange(4.0)
    row, column = x[1:3], x.view(4, 1)
    s = x.storage()
    s.resize_(100)
    log = [s.size(), x.storage().size(), row.storage().data_ptr() == s.data_ptr()]
    log += [x, row, column, row.storage_offset(), x.data_ptr() == s.data_ptr()]
    x[1] = 50
    return [*log, row, column.tolist(), s[1]]


def test_a_storage_made_smaller_stays_under_its_tensors():
    x = tg.arange(4)
    x.storage().resize_(1)
    assert x.storage().size() == 1 and x.tolist() == [0, 1, 2, 3]
    x.storage().resize_(6)  # large enough for the tensor as well, wherever it lies now
    x.storage()[0] = 9
    assert x[0].item() == 9 and x.data_ptr() == x.storage().data_ptr()


@refused("not resizable: its memory belongs to an array outside")
def test_memory_of_an_array_does_not_grow(lib):
    lib.from_numpy(np.zeros(3)).storage().resize_(4)


@refused("not resizable")
def test_a_tensor_on_an_array_does_not_grow(lib):
    lib.from_numpy(np.zeros(3)).resize_(4)


def test_windows_are_forgotten_with_their_tensors():
    x = tg.zeros(1000)
    for _ in range(1000):
        x[:1]
    assert len(x.storage()._windows) < 200


# --- the memory under a tensor --------------------------------------------------------------------


@both
def test_resize(lib):
    x = lib.arange(6.0)
    view = x.view(2, 3)
    log = [x.resize_(2, 2) is x, x.tolist(), x.storage().size(), x._version]
    log += [t.tolist() for t in (x.resize_(2, 3), x.resize_((3,)), x.resize_([2]))] + [x._version]
    x.resize_(10)
    x[0] = 9
    log += [view, view.data_ptr() == x.data_ptr(), x.storage().size(), tuple(x.shape)]
    y = lib.arange(6.0)[2:]
    y.resize_(2, 3)
    log += [y.storage_offset(), y.storage().size(), y.stride(), lib.zeros(2, 3).t().resize_(3, 2)]
    log += [lib.zeros(4, 5).resize_as_(lib.zeros(2, 3).t()), lib.zeros(3).resize_(())]
    z = lib.zeros(2, 3, 4, 5)
    log.append(z.resize_(1, 3, 4, 5, memory_format=lib.channels_last).stride())
    w = lib.ones(2, requires_grad=True)
    log += [attempt(lambda: w.resize_(2)), attempt(lambda: (w * 2).resize_(3))]
    log += [attempt(lambda: lib.zeros(2).resize_(-1)), attempt(lambda: lib.zeros(2).resize_("a"))]
    return [
        *log,
        attempt(lambda: lib.zeros(2).resize_()),
        attempt(lambda: lib.zeros(2).resize_as_(3)),
    ]


@both
def test_set(lib):
    s = lib.FloatStorage([1, 2, 3, 4])
    log = []
    for where in ((s,), (s, 1, (2,)), (s, 1, (2,), (2,)), (s, 1, (2, 2), (1, 1)), ()):
        x = lib.zeros(3)
        log += [x.set_(*where) is x, x, x.storage_offset(), x._version]
    x, y = lib.zeros(3), lib.arange(4.0).view(2, 2).t()
    x.set_(y)
    log += [x, x.is_set_to(y), y.is_set_to(x), x.is_set_to(y.t()), x.is_set_to(y.clone())]
    x[0, 1] = 50
    log += [y, lib.zeros(3).set_(source=y)]
    grown = lib.zeros(1).set_(s, 1, (5,), (1,))
    log += [tuple(grown.shape), s.size() >= 6, grown.tolist()[:3]]
    windows = ((s, -1, (2,), (1,)), (s, 0, (2,), (-1,)))
    for bad in (*windows, (lib.LongStorage(2),), (lib.ones(2).long(),), (3,)):
        log.append(attempt(lambda bad=bad: lib.zeros(3).set_(*bad)))
    w = lib.ones(2, requires_grad=True)
    return [*log, attempt(lambda: w.set_(y)), attempt(lambda: lib.zeros(1).is_set_to(3))]


# --- the constructors of the era ------------------------------------------------------------------


@both
def test_typed_constructors(lib):
    log = []
    for kind, dtype in KINDS.items():
        make = getattr(lib, f"{kind}Tensor")
        log += [tuple(make(2, 3).shape), make([[1, 0], [0, 1]]), make(data=[1]), make().numel()]
        log += [tuple(make(size=(2, 1)).shape), tuple(make(lib.Size([2, 2])).shape)]
        log += [make(getattr(lib, f"{kind}Storage")([1, 0])), make([1], device="cpu")]
        log += [make(np.ones(2)), repr(make), make.__name__, str(make.dtype), make.is_cuda]
        a = np.zeros(2, dtype)
        x = make(a)
        a[0] = 1
        log += [x, isinstance(x, make), isinstance(x, lib.ShortTensor), isinstance(x, lib.Tensor)]
        y = make(x)
        y[1] = 1
        log += [x, y is x, y.data_ptr() == x.data_ptr(), x.new(2).type(), x.new([1]), x.type()]
    return log


@both
def test_what_typed_constructors_refuse(lib):
    log = []
    for args in (
        ([1, 2], 3),
        (3.5,),
        ("a",),
        (None,),
        (True,),
        (-1,),
        (2, "a"),
        (lib.LongTensor([1]),),
        (lib.LongStorage([1]),),
        ({1},),
        ([[1], [2, 3]],),
        (lib.Size([1]), lib.Size([1])),
    ):
        for make in (lib.FloatTensor, lib.zeros(1).new):
            log.append(attempt(lambda make=make, args=args: make(*args)))
    log += [attempt(lambda: lib.FloatTensor(2, device="cuda")), attempt(lambda: lib.Tensor(2, a=1))]
    log += [attempt(lambda: lib.ByteTensor([300])), attempt(lambda: lib.IntTensor([2**40]))]
    return [*log, lib.FloatTensor([1e300]), lib.Tensor(lib.LongTensor([1])), lib.Tensor(range(2))]


@both
def test_a_tensor_of_a_tensor_is_on_its_memory_and_passes_gradients(lib):
    w = lib.ones(2, requires_grad=True)
    x = lib.Tensor(w)
    (x * 3).sum().backward()
    y = lib.zeros(2)
    z = lib.Tensor(y)
    z[0] = 3
    return [x.requires_grad, w.grad, y, z._version, y._version]


@both
def test_type_in_all_forms(lib):
    x = lib.tensor([1.5, -2.0])
    log = [x.type()]
    for kind, dtype in KINDS.items():
        for how in (getattr(lib, dtype), f"torch.{kind}Tensor", getattr(lib, f"{kind}Tensor")):
            log.append(x.abs().type(how))
    log += [x.type(lib.Tensor), x.long().type("torch.Tensor"), x.type(dtype=lib.int8)]
    log += [x.type(lib.int64, non_blocking=True), x.type(lib.FloatTensor) is x]
    for bad in ("float", "FloatTensor", "torch.float32", "torch.NoTensor", float, 3):
        log.append(attempt(lambda bad=bad: x.type(bad)))
    log += [attempt(lambda: x.type("torch.cuda.FloatTensor")), x.type_as(lib.tensor([1]))]
    return [*log, lib.typename(x), lib.typename([]), attempt(lambda: x.type_as(3))]


@both
def test_python_types_stand_for_dtypes(lib):
    log = [lib.zeros(2, dtype=float), lib.ones(1, dtype=int), lib.tensor([2], dtype=bool)]
    return [*log, lib.zeros(1).to(float), attempt(lambda: lib.zeros(1, dtype="float32"))]


@both
def test_default_tensor_type(lib):
    log = []
    try:
        for t in ("torch.DoubleTensor", lib.HalfTensor, "torch.LongTensor", lib.float64):
            log.append(attempt(lambda t=t: lib.set_default_tensor_type(t)))
            log += [lib.zeros(1).type(), lib.Tensor([1]).type(), lib.tensor(1.5).type()]
    finally:
        lib.set_default_tensor_type(lib.FloatTensor)
    return [*log, lib.zeros(1).type()]


def test_cuda_types_need_a_device():
    assert repr(tg.cuda.FloatTensor) == "<class 'torch.cuda.FloatTensor'>"
    assert tg.cuda.FloatTensor.is_cuda and not isinstance(tg.zeros(1), tg.cuda.FloatTensor)
    assert not isinstance(tg.zeros(1).storage(), tg.cuda.FloatStorage)
    with pytest.raises(TypeError, match="default"):
        tg.set_default_tensor_type(tg.cuda.FloatTensor)
    if not tg.cuda.is_available():
        for make in (tg.cuda.FloatTensor, tg.cuda.FloatStorage):
            with pytest.raises(RuntimeError, match="cuda"):
                make(2)


def test_types_of_a_device():
    with fake_cuda.pretended():
        x = tg.cuda.FloatTensor([1, 2])
        assert x.type() == "torch.cuda.FloatTensor" and isinstance(x, tg.cuda.FloatTensor)
        assert not isinstance(x, tg.FloatTensor) and isinstance(x.storage(), tg.cuda.FloatStorage)
        assert tg.ones(2).type("torch.cuda.LongTensor").type() == "torch.cuda.LongTensor"
        assert x.type("torch.DoubleTensor").type() == "torch.DoubleTensor"
        assert x.new(3).is_cuda and x.new([4]).tolist() == [4]
        view = x[1:]
        x.storage().resize_(10)
        x[1] = 7
        assert view.tolist() == [7] and x.storage().type() == "torch.cuda.FloatStorage"
        assert x.storage().cpu().tolist()[:2] == [1, 7] and x.storage()[1] == 7
        assert x.storage().copy_(tg.FloatStorage(10).fill_(3)).tolist() == [3] * 10
        assert tg.cuda.FloatTensor(tg.cuda.FloatStorage([1])).set_(x.storage()).numel() == 10
        for call in (lambda: tg.FloatTensor(x), lambda: tg.cuda.FloatTensor(tg.ones(2))):
            with pytest.raises(TypeError, match="convert with"):
                call()
        for call in (lambda: tg.FloatTensor(x.storage()), lambda: x.set_(tg.FloatStorage(2))):
            with pytest.raises(RuntimeError, match="Expected a Storage"):
                call()


# --- who knows where the memory is ---------------------------------------------------------------


@both
def test_memory_that_an_array_lies_on_cannot_be_resized(lib):
    log = []
    for lend in (
        lambda x: x.numpy(),
        lambda x: x[1:].numpy(),
        lambda x: x.numpy(force=True),
        np.asarray,
        np.array,
        lambda x: np.array(x, dtype="float64"),
        np.exp,
        lambda x: x.detach().numpy(),
        lambda x: x.tolist(),
        lambda x: x.data_ptr(),
        lambda x: x.__dlpack__(),
        lambda x: lib.from_dlpack(x),
        lambda x: x.clone().numpy(),
        lambda x: x.untyped_storage()[0:4],
    ):
        x = lib.arange(4.0)
        lend(x)
        log += [x.untyped_storage().resizable(), x.storage().resizable()]
        log += [attempt(lambda x=x: x.resize_(2).shape), attempt(lambda x=x: x.resize_(8).shape)]
        log.append(attempt(lambda x=x: x.untyped_storage().resize_(4).nbytes()))
    return log


def test_a_storage_that_nobody_outside_knows_moves_with_all_its_tensors():
    x = tg.arange(6.0).view(2, 3)
    row, turned, empty, flat = x[1], x.t(), x[:0], x.detach()
    storage, version = x.storage(), x._version
    buffer = np.full(8, 7.0, np.float32)
    assert storage.movable()
    storage.move_to(buffer[1:7])
    flat += 10
    assert buffer.tolist() == [7, 10, 11, 12, 13, 14, 15, 7]
    assert x.storage() is storage is row.storage() and storage.nbytes() == 24
    assert row.tolist() == [13, 14, 15] and turned[2].tolist() == [12, 15] and empty.shape == (0, 3)
    assert row._base is not None and row.storage_offset() == 3 and turned.stride() == (1, 3)
    assert x._version == version + 1 == row._version
    copied = pickle.loads(pickle.dumps(x)), copy.deepcopy(x), x.clone()
    x.fill_(0)
    assert all(y.tolist() == [[10, 11, 12], [13, 14, 15]] for y in copied)
    storage.resize_(7)
    x.fill_(1)
    assert row.tolist() == [1, 1, 1] and buffer[1] == 0


def test_memory_that_somebody_outside_knows_stays():
    for show in (
        lambda x: x.numpy(),
        lambda x: x.data_ptr(),
        lambda x: x.storage().data_ptr(),
        lambda x: x.untyped_storage().data_ptr(),
        lambda x: x.__dlpack__(),
        lambda x: x.storage()[:2],
        lambda x: x.untyped_storage()[:2],
        lambda x: x.storage().resize_(2),
    ):
        x = tg.zeros(3)
        show(x)
        assert not x.storage().movable()
    assert not tg.from_numpy(np.zeros(2)).storage().movable()
    x = tg.zeros(3)
    x.tolist(), repr(x), x[1:].storage_offset(), x.storage(), x.is_set_to(x)
    assert x.storage().movable()


# --- orders in memory -----------------------------------------------------------------------------


@both
def test_memory_formats(lib):
    x = lib.arange(120.0).view(2, 3, 4, 5)
    y = x.to(memory_format=lib.channels_last)
    log = [y, y.is_contiguous(), y.is_contiguous(memory_format=lib.channels_last)]
    for t in (y, x.permute(3, 0, 2, 1), x[:, ::2], x[:1].expand(2, 3, 4, 5), x[0, 0].t()):
        log += [t.clone().stride(), t.double().stride(), lib.empty_like(t).stride()]
        log += [lib.zeros_like(t, memory_format=lib.contiguous_format).stride()]
        log += [t.to(lib.int64, memory_format=lib.contiguous_format).stride()]
    log += [x.contiguous(memory_format=lib.channels_last).stride(), y.contiguous().stride()]
    log += [lib.empty(2, 3, 4, 5, memory_format=lib.channels_last).stride()]
    log += [lib.zeros(1, 2, 3, 4, 5).contiguous(memory_format=lib.channels_last_3d).stride()]
    log += [repr(lib.channels_last), repr(lib.strided), repr(x.layout), x[:, :1].is_contiguous()]
    log += [attempt(lambda: x[0].to(memory_format=lib.channels_last))]
    log += [y.to(memory_format=lib.preserve_format) is y]
    log += [attempt(lambda: lib.empty(2, memory_format=lib.preserve_format))]
    return [*log, attempt(lambda: lib.zeros_like(x, memory_format=3))]


def test_any_strides_are_preserved_as_pytorch_does():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    rng = np.random.RandomState(0)
    for _ in range(500):
        shape = rng.choice([1, 2, 3], rng.randint(5)).tolist()
        strides = rng.choice([0, 1, 2, 3, 4, 6, 10], len(shape)).tolist()
        x = tg.zeros(200).as_strided(shape, strides)
        y = torch.zeros(200).as_strided(shape, strides)
        ours, theirs = tg.empty_like(x).stride(), torch.empty_like(y).stride()
        places = [n > 1 for n in shape]
        assert [s for s, p in zip(ours, places, strict=True) if p] == [
            s for s, p in zip(theirs, places, strict=True) if p
        ], (shape, strides)


# --- limits and casts -----------------------------------------------------------------------------


@both
def test_limits_of_types(lib):
    log = []
    for name in ("float16", "float32", "float64"):
        f = lib.finfo(getattr(lib, name))
        log += [f.max, f.min, f.eps, f.tiny, f.smallest_normal, f.resolution]
        log += [f.bits, f.dtype, repr(f)]
    for name in ("uint8", "int8", "int16", "int32", "int64"):
        i = lib.iinfo(getattr(lib, name))
        log += [i.max, i.min, i.bits, i.dtype, repr(i)]
    log += [repr(lib.finfo()), attempt(lambda: lib.iinfo(lib.float32))]
    log.append(attempt(lambda: lib.iinfo(lib.bool)))
    return [*log, attempt(lambda: lib.finfo(lib.int8)), attempt(lambda: lib.iinfo())]


@both
def test_casts(lib):
    types = [getattr(lib, name) for name in KINDS.values()]
    log = [lib.can_cast(a, b) for a in types for b in types]
    log.append(attempt(lambda: lib.can_cast(1, lib.int8)))
    x = lib.ones(2, dtype=lib.int32)
    pairs = ((x, 1.5), (1, 2), (1.5, 2), (lib.tensor(1.5), x), (True, x), (x, lib.ones(1).half()))
    return [
        *log,
        *(str(lib.result_type(*p)) for p in pairs),
        attempt(lambda: lib.result_type("a", 1)),
    ]
