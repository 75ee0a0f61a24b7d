"""Views: the same memory, with PyTorch's strides and offsets, seen and changed through every
window."""

from __future__ import annotations

import random
import warnings
import weakref

import numpy as np
import pytest

import tinygrad_course as tg

from .parity.both import attempt, both, same, seen


def where(x):
    """Everything about a window on memory: shape, strides, offset, size of the storage, and whether
    it is row-major."""
    storage = x.storage() if isinstance(x, tg.Tensor) else x.untyped_storage()
    elements = len(storage) if isinstance(x, tg.Tensor) else storage.nbytes() // x.element_size()
    strides = tuple(x.stride()) if x.numel() else None
    offset = x.storage_offset() if x.numel() else None
    return [tuple(x.shape), strides, offset, elements, x.is_contiguous()]


# --- one view at a time ---------------------------------------------------------------------------

VIEWS = {
    "view": lambda x: x.view(6, 4),
    "view with -1": lambda x: x.view(2, -1),
    "reshape": lambda x: x.reshape(4, 6),
    "flatten": lambda x: x.flatten(1),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 2),
    "mT": lambda x: x.mT,
    "unsqueeze": lambda x: x.unsqueeze(1),
    "unsqueeze last": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "expand": lambda x: x.unsqueeze(0).expand(5, 2, 3, 4),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(1, 2),
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(3, 2)[1],
    "unbind": lambda x: x.unbind(1)[2],
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (5, 3), 4),
    "int": lambda x: x[1],
    "ints": lambda x: x[1, 2, 3],
    "slice": lambda x: x[:, 1:],
    "steps": lambda x: x[:, ::2, 1::3],
    "None": lambda x: x[:, None, 1:2],
    "ellipsis": lambda x: x[..., 0],
    "everything": lambda x: x[1:, None, ..., ::3],
    "expand_as": lambda x: x[:, :1].expand_as(x),
    "view_as": lambda x: x.view_as(x.view(24)),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
}


@pytest.mark.parametrize("case", VIEWS)
def test_a_view(case):
    @both
    def program(lib):
        x = lib.arange(24.0).view(2, 3, 4)
        y = VIEWS[case](x)
        shared = y.data_ptr() == x.data_ptr() + y.storage_offset() * x.element_size()
        return [
            where(y),
            y,
            shared,
            y._base is None,
            attempt(lambda: VIEWS[case](x.transpose(0, 2))),
        ]

    program()


@pytest.mark.parametrize("case", VIEWS)
def test_nothing_is_copied(case):
    """Writing through the view shows in the tensor, and the other way round."""
    x = tg.arange(24.0).view(2, 3, 4)
    y = VIEWS[case](x)
    assert y.storage() is x.storage()
    x.fill_(7)
    assert (y == 7).all()
    if case not in ("expand", "expand_as", "unfold"):  # those overlap themselves
        y.fill_(3)
        assert (x == 3).sum().item() == y.numel()


def test_a_copy_is_a_copy():
    x = tg.arange(6.0).view(2, 3)
    copies = [
        x.clone(),
        x.t().contiguous(),
        x.t().reshape(6),
        x[[0, 1]],
        x[x >= 0],
        x.repeat(1, 1),
        x + 0,
        x.float().double(),
    ]
    assert all(c.storage() is not x.storage() for c in copies)
    x.fill_(7)
    assert not any((c == 7).any() for c in copies)


def test_no_copy_where_none_is_needed():
    x = tg.arange(6.0).view(2, 3)
    same_tensor = [x.contiguous(), x.to(tg.float32), x.float(), x.cpu(), x.to("cpu")]
    assert all(y is x for y in same_tensor)
    assert x.reshape(3, 2).data_ptr() == x.data_ptr()


@both
def test_view_of_what_is_not_row_major(lib):
    x = lib.arange(24).view(2, 3, 4)
    cases = [
        x.transpose(0, 1),
        x.transpose(1, 2),
        x[:, :, ::2],
        x[:, 1:],
        x.permute(2, 1, 0),
        x.expand(2, 3, 4),
        x[:, :1].expand(2, 3, 4),
        x.unfold(2, 2, 2),
    ]
    shapes = [(24,), (6, 4), (2, 12), (4, 6), (3, 8), (2, 3, 2, 2), (12,), (2, 3, 4), (2, 3, 1, 4)]
    log = []
    for y in cases:
        for shape in shapes:
            v = attempt(lambda y=y, shape=shape: y.view(shape))
            r = attempt(lambda y=y, shape=shape: y.reshape(shape))
            log.append(v if isinstance(v, str) else where(v))
            log.append(r if isinstance(r, str) else [r, r.data_ptr() == x.data_ptr()])
    return log


@both
def test_windows_on_what_overlaps_itself(lib):
    log = []
    for shape, size, stride in (((2, 2), (1,), (1,)), ((3, 2), (2, 2), (0, 1)), ((2,), (2,), (1,))):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = x.expand(shape).as_strided(size, stride, 0)
        (y * y).sum().backward()
        log += [y, x.grad]
    x = lib.arange(4.0).requires_grad_()
    (x.unfold(0, 2, 1).as_strided((2, 2), (2, 1)) ** 2).sum().backward()
    return [*log, x.grad]


# --- storages -------------------------------------------------------------------------------------


@both
def test_storage(lib):
    x = lib.arange(6.0).view(2, 3)
    y = x.t()[1:]
    storage = y.storage()
    log = [
        list(storage),
        len(storage),
        storage.size(),
        storage[4],
        storage.data_ptr() == x.data_ptr(),
    ]
    storage[4] = 50.0
    log += [y.storage_offset(), x.is_set_to(x.view(2, 3)), x.is_set_to(y), y]
    return [*log, x.nbytes, x.itemsize, x.element_size(), x.numel(), x.nelement(), x.ndimension()]


@both
def test_growing_moves_every_window(lib):
    x = lib.arange(6.0)
    y, z = x[2:4], x.view(2, 3).t()
    x.resize_(10)
    x[:6] += 100
    x[6:] = 0
    log = [y, z, where(x), y.storage().data_ptr() == x.storage().data_ptr()]
    y.resize_(3)
    x.resize_(2, 2)
    return [*log, y, where(y), x, where(x)]


@both
def test_resize(lib):
    log = []
    for shape in ((3,), (2, 3), (), (0,), (6,), (1, 6), (2, 1, 3)):
        x = lib.arange(6.0)[::2] if len(shape) == 1 else lib.arange(6.0)
        y = attempt(lambda x=x, shape=shape: x.resize_(shape))
        log.append([where(y), y.numel() > 6 or y])
    w = lib.ones(2, requires_grad=True)
    return [*log, attempt(lambda: w.resize_(1)), attempt(lambda: lib.ones(2).resize_(-1))]


@both
def test_data_swaps_the_memory(lib):
    x, y = lib.zeros(3), lib.ones(2, 2)
    x.data = y
    y.add_(1)
    log = [x.tolist(), where(x), x.data_ptr() == y.data_ptr()]
    old = lib.ones(2)
    x = old.view(2)
    x.data = lib.zeros(2)
    old.resize_(4)  # moves what lies there, and x does no longer
    return [*log, x, where(x)]


@both
def test_bools_are_no_sizes_and_no_dims(lib):
    x = lib.arange(6.0).view(2, 3)
    programs = [
        lambda: x.view(True, 6),
        lambda: x.view(6, True),  # only the first is looked at
        lambda: x.view((False, 6)),
        lambda: x.reshape(True, 6),
        lambda: x.expand(True, 2, 3),
        lambda: x[:, :1].expand(2, True),
        lambda: x.permute(True, 0),
        lambda: x.transpose(False, True),
        lambda: x.unsqueeze(False),
        lambda: x.flatten(True),
        lambda: x.select(0, True),
        lambda: x.narrow(0, 0, True),
        lambda: x.unfold(0, True, 1),
        lambda: x.unfold(0, 1, 1.0),
        lambda: x.as_strided((1,), (1,), True),
        lambda: x.sum(True),
        lambda: x.amax((False,)),
        lambda: x.repeat(True, 1),
        lambda: x.size(True),
        lambda: lib.zeros(True),
        lambda: lib.zeros(2, True),
        lambda: lib.eye(True),
        lambda: x.topk(True),
    ]
    return [attempt(program) for program in programs]


@both
def test_dims_that_are_no_plain_ints(lib):
    x, d = lib.arange(6.0).view(2, 3), np.int64(1)
    return [x.sum(d), x.mean(d), x.amax(d), x.logsumexp(d), x.std(d), x.flip(d), x.argmax(d)]


@pytest.mark.parametrize("number", [np.int64(2), np.bool_(True), "tensor"], ids=str)
def test_sizes_that_are_no_plain_ints(number):
    """The strides of views are remembered by their sizes, whatever these are given as."""

    @both
    def program(lib):
        n = lib.tensor(2) if isinstance(number, str) else number
        x = lib.arange(4.0).view(1, 4)
        looks = [
            lambda: x.expand(n, 4),
            lambda: x.expand(2, 4),
            lambda: x.view(n, -1),
            lambda: x.reshape(2, -1),
            lambda: x.permute(1, 0),
            lambda: x.unfold(1, n, 1),
        ]
        return [attempt(lambda look=look: where(look())) for look in looks]

    program()


def test_a_size_given_as_a_tensor_is_not_kept():
    n = tg.tensor(2)
    tg.zeros(1, 3).expand(n, 3)
    tg.zeros(6).view(3, n).reshape(n, 3)
    gone = weakref.ref(n)
    del n
    assert gone() is None


def test_the_shape_of_the_array_stays_the_users():
    a = np.arange(6.0)
    x = tg.from_numpy(a)
    a.shape = (2, 3)
    assert x.shape == (6,)
    b = x.numpy()
    b.shape = (3, 2)
    assert x.shape == (6,)
    assert np.shares_memory(a, b)


# --- chains of views in both engines --------------------------------------------------------------


def chain(number: int) -> list[tuple]:
    """A random chain of views as plain data: (name, arguments), some followed by a change."""
    pick = random.Random(number)
    shape = [pick.choice([1, 2, 3, 4]) for _ in range(pick.choice([1, 2, 3]))]
    steps: list[tuple] = [("start", shape)]
    repeats = False  # after an unfold whose windows overlap, a change would be done several times
    shadow = np.zeros(shape)
    for _ in range(pick.randint(3, 8)):
        n = shadow.ndim
        kinds = ["unsqueeze", "squeeze", "expand", "whole"]
        kinds += ["select", "narrow", "step", "transpose", "flip_dims", "flatten", "unfold"] * (
            n > 0
        )
        kind = pick.choice(kinds)
        d = pick.randrange(n) if n else 0
        size = shadow.shape[d] if n else 1
        if kind == "unsqueeze" and n < 4:
            d = pick.randrange(n + 1)
            step, shadow = ("unsqueeze", d), np.expand_dims(shadow, d)
        elif kind == "squeeze" and n and size == 1:
            step, shadow = ("squeeze", d), shadow.squeeze(d)
        elif kind == "expand" and n < 4:
            wide = (2, *shadow.shape)
            step, shadow = ("expand", *wide), np.broadcast_to(shadow, wide)
        elif kind == "select":
            i = pick.randrange(-size, size)
            step, shadow = ("select", d, i), np.take(shadow, i, d)
        elif kind == "narrow":
            start = pick.randrange(size)
            length = pick.randint(1, size - start)
            step = ("narrow", d, start, length)
            shadow = np.take(shadow, range(start, start + length), d)
        elif kind == "step":
            step = ("step", d, pick.randrange(size), pick.choice([1, 2, 3]))
            shadow = np.take(shadow, range(step[2], size, step[3]), d)
        elif kind == "transpose":
            e = pick.randrange(n)
            step, shadow = ("transpose", d, e), shadow.swapaxes(d, e)
        elif kind == "flip_dims":
            order = tuple(range(n))[::-1]
            step, shadow = ("permute", *order), shadow.transpose(order)
        elif kind == "unfold" and n < 4:
            width = pick.randint(1, size)
            step = ("unfold", d, width, pick.choice([1, 2]))
            repeats |= width > step[3]
            count = (size - width) // step[3] + 1
            shadow = np.zeros((*shadow.shape[:d], count, *shadow.shape[d + 1 :], width))
        else:
            step = ("reshape", -1)
            shadow = shadow.reshape(-1)
        steps.append(step)
        if pick.random() < 0.4 and not repeats:
            steps.append(("add_", pick.randrange(1, 9)))
    return steps


def follow(lib, steps):
    """The chain in one library: after each step the window, in the end the values of the start."""
    shape = steps[0][1]
    count = int(np.prod(shape))
    start = x = lib.arange(count, dtype=lib.float64).view(shape)
    log = []
    for name, *arguments in steps[1:]:
        if name == "step":
            d, first, step = arguments
            x = x[(slice(None),) * d + (slice(first, None, step),)]
        else:
            result = attempt(lambda x=x, n=name, a=arguments: getattr(x, n)(*a))
            if isinstance(result, str):
                log.append(result)
                continue
            x = result
        mine = x.storage().data_ptr() == start.storage().data_ptr()
        # Where elements repeat, what a reshape copies of them may lie in any order.
        log.append([where(x) if mine else tuple(x.shape), x.detach().tolist(), mine])
    return [*log, start.tolist(), start._version]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_chains_of_views(first):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    for number in range(first, first + 100):
        steps = chain(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = seen(follow(tg, steps)), seen(follow(torch, steps))
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert same(a, b), f"chain {number}, step {i} of {steps}:\nours {a}\nPyTorch's {b}"
