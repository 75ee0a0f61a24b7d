"""Module and Parameter: parts, state and modes, side by side with PyTorch's."""

import copy
import pickle
from collections import OrderedDict

import pytest

import tinygrad_course as tg
from tinygrad_course import nn

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def net(lib):
    """A small model with all that a module can own, written once for both libraries."""

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = lib.nn.Linear(2, 3)
            self.b = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Linear(3, 1, bias=False))
            self.scale = lib.nn.Parameter(lib.ones(1))
            self.register_buffer("count", lib.zeros(2))
            self.register_buffer("scratch", lib.zeros(2), persistent=False)
            self.note = "plain"

        def forward(self, x):
            return self.b(self.a(x)) * self.scale

    return Net()


def both(call):
    """What a call makes of either library, an exception included."""
    results = []
    for lib in (tg, torch):
        try:
            results.append(call(lib))
        except Exception as error:
            results.append(error)
    return results


# --- what a module knows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: [name for name, _ in m.named_parameters()],
        lambda m: [name for name, _ in m.named_parameters(prefix="p")],
        lambda m: [name for name, _ in m.named_parameters(recurse=False)],
        lambda m: [name for name, _ in m.named_buffers()],
        lambda m: [name for name, _ in m.named_modules()],
        lambda m: [name for name, _ in m.named_children()],
        lambda m: [type(child).__name__ for child in m.children()],
        lambda m: [type(child).__name__ for child in m.modules()],
        lambda m: [tuple(p.shape) for p in m.parameters()],
        lambda m: [tuple(b.shape) for b in m.buffers()],
        lambda m: list(m.state_dict()),
        lambda m: list(m.state_dict(prefix="net.")),
        lambda m: repr(m),
        lambda m: [m.training, m.eval().training, m.b[1].training, m.train().b.training],
        lambda m: sorted({"a", "b", "scale", "count", "note"} & set(dir(m))),
        lambda m: repr(m.get_submodule("b.1")),
        lambda m: m.get_submodule("") is m,
        lambda m: m.get_parameter("a.weight") is m.a.weight,
        lambda m: m.get_buffer("count") is m.count,
        lambda m: [p.requires_grad for p in m.requires_grad_(False).parameters()],
    ],
)
def test_a_module_knows_what_pytorchs_does(ask) -> None:
    assert ask(net(tg)) == ask(net(torch))


def test_a_shared_part_comes_once() -> None:
    def shared(lib):
        m = net(lib)
        m.tied = m.a
        m.b[1].extra = m.scale
        return m

    for walk in ("named_parameters", "named_modules", "named_buffers", "named_children"):
        ours, theirs = ([name for name, _ in getattr(shared(lib), walk)()] for lib in (tg, torch))
        assert ours == theirs
    ours, theirs = (
        [name for name, _ in shared(lib).named_parameters(remove_duplicate=False)]
        for lib in (tg, torch)
    )
    assert ours == theirs
    assert list(shared(tg).state_dict()) == list(shared(torch).state_dict())


# --- filing by type -------------------------------------------------------------------------------

ASSIGNMENTS = {
    "module by number": lambda t, m: setattr(m, "a", 3),
    "module by None": lambda t, m: setattr(m, "a", None),
    "module by parameter": lambda t, m: setattr(m, "a", t.nn.Parameter(t.ones(1))),
    "parameter by tensor": lambda t, m: setattr(m, "scale", t.ones(1)),
    "parameter by None": lambda t, m: setattr(m, "scale", None),
    "parameter by module": lambda t, m: setattr(m, "scale", t.nn.ReLU()),
    "buffer by number": lambda t, m: setattr(m, "count", 3),
    "buffer by tensor": lambda t, m: setattr(m, "count", t.ones(3)),
    "buffer by None": lambda t, m: setattr(m, "count", None),
    "buffer by parameter": lambda t, m: setattr(m, "count", t.nn.Parameter(t.ones(1))),
    "temporary buffer by parameter": lambda t, m: setattr(m, "scratch", t.nn.Parameter(t.ones(1))),
    "plain by parameter": lambda t, m: setattr(m, "note", t.nn.Parameter(t.ones(1))),
    "plain by module": lambda t, m: setattr(m, "note", t.nn.ReLU()),
    "a tensor is no buffer": lambda t, m: setattr(m, "other", t.ones(1)),
    "a new list": lambda t, m: setattr(m, "layers", [t.nn.ReLU()]),
    "delete module": lambda t, m: delattr(m, "a"),
    "delete parameter": lambda t, m: delattr(m, "scale"),
    "delete buffer": lambda t, m: delattr(m, "count"),
    "delete temporary buffer": lambda t, m: delattr(m, "scratch"),
    "delete plain": lambda t, m: delattr(m, "note"),
    "delete nothing": lambda t, m: delattr(m, "zzz"),
    "read nothing": lambda t, m: m.zzz,
    "register_parameter tensor": lambda t, m: m.register_parameter("w", t.ones(1)),
    "register_parameter computed": lambda t, m: m.register_parameter("w", m.scale * 2),
    "register_parameter None": lambda t, m: m.register_parameter("w", None),
    "register_parameter dot": lambda t, m: m.register_parameter("a.b", None),
    "register_parameter empty": lambda t, m: m.register_parameter("", None),
    "register_parameter number": lambda t, m: m.register_parameter(3, None),
    "register_parameter taken": lambda t, m: m.register_parameter("a", None),
    "register_parameter method": lambda t, m: m.register_parameter("forward", None),
    "register_parameter again": lambda t, m: m.register_parameter(
        "scale", t.nn.Parameter(t.zeros(4))
    ),
    "register_buffer number": lambda t, m: m.register_buffer("w", 3),
    "register_buffer taken": lambda t, m: m.register_buffer("a", None),
    "register_buffer dot": lambda t, m: m.register_buffer("a.b", None),
    "register_buffer training": lambda t, m: m.register_buffer("training", None),
    "register_buffer persistent": lambda t, m: m.register_buffer("scratch", t.ones(1)),
    "add_module number": lambda t, m: m.add_module("w", 3),
    "add_module dot": lambda t, m: m.add_module("a.b", t.nn.ReLU()),
    "add_module empty": lambda t, m: m.add_module("", t.nn.ReLU()),
    "add_module taken": lambda t, m: m.add_module("count", t.nn.ReLU()),
    "add_module again": lambda t, m: m.add_module("a", t.nn.ReLU()),
    "add_module name": lambda t, m: m.add_module(3, t.nn.ReLU()),
    "add_module None": lambda t, m: m.add_module("w", None),
    "get_submodule": lambda t, m: m.get_submodule("x.y"),
    "get_submodule parameter": lambda t, m: m.get_submodule("a.weight"),
    "get_parameter": lambda t, m: m.get_parameter("a.w"),
    "get_parameter buffer": lambda t, m: m.get_parameter("count"),
    "get_buffer parameter": lambda t, m: m.get_buffer("scale"),
    "train": lambda t, m: m.train("x"),
    "to int": lambda t, m: m.to(t.int64),
    "to nowhere": lambda t, m: m.to("foo"),
    "apply": lambda t, m: m.apply(3),
    "no forward": lambda t, m: t.nn.Module()(1),
    "argument": lambda t, m: t.nn.Module(1),
    "keyword": lambda t, m: t.nn.Module(a=1),
}


@pytest.mark.parametrize("act", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_assignments_file_or_fail_as_in_pytorch(act) -> None:
    def state(lib):
        m = net(lib)
        act(lib, m)
        return (
            [name for name, _ in m.named_parameters()],
            [name for name, _ in m.named_buffers()],
            [name for name, _ in m.named_modules()],
            list(m.state_dict()),
        )

    ours, theirs = both(state)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


@pytest.mark.parametrize(
    "value",
    [lambda t: t.nn.Parameter(t.ones(1)), lambda t: t.nn.ReLU()],
    ids=["parameter", "module"],
)
def test_assigning_before_init_says_what_is_missing(value) -> None:
    def forgetful(lib):
        class Forgetful(lib.nn.Module):
            def __init__(self):
                self.part = value(lib)

        return Forgetful()

    ours, theirs = both(forgetful)
    assert type(ours) is type(theirs) is AttributeError
    assert "super().__init__()" in str(ours)


def test_buffers_before_init_fail_too() -> None:
    class Forgetful(nn.Module):
        def __init__(self):
            self.register_buffer("part", tg.ones(1))

    with pytest.raises(AttributeError, match="before Module"):
        Forgetful()


def test_apply_visits_children_first() -> None:
    seen = []
    m = net(tg)
    assert m.apply(lambda module: seen.append(type(module).__name__)) is m
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


# --- state dicts ----------------------------------------------------------------------------------


def values(module):
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


def test_state_dict_shares_memory_and_loads_back() -> None:
    tg.manual_seed(0)
    m, other = net(tg), net(tg)
    state = m.state_dict()
    assert type(state) is OrderedDict and not state["a.weight"].requires_grad
    assert m.state_dict(keep_vars=True)["a.weight"] is m.a.weight
    assert values(m) != values(other)
    weight = other.a.weight
    result = other.load_state_dict(state)
    assert repr(result) == "<All keys matched successfully>"
    assert values(m) == values(other)
    assert other.a.weight is weight and weight.requires_grad and weight.is_leaf
    with tg.no_grad():
        m.a.weight.zero_()
    assert not state["a.weight"].any()
    assert other.a.weight.any()


def test_load_state_dict_converts_and_assigns() -> None:
    m = net(tg)
    state = {name: tensor.double() for name, tensor in net(tg).state_dict().items()}
    m.load_state_dict(state)
    assert m.a.weight.dtype is tg.float32
    m.load_state_dict(state, assign=True)
    assert m.a.weight.dtype is tg.float64 and isinstance(m.a.weight, nn.Parameter)
    assert m.a.weight.requires_grad
    assert m.count is state["count"]
    assert m.a.weight.data_ptr() == state["a.weight"].data_ptr()


LOADS = {
    "nothing": lambda t, state: {},
    "left over": lambda t, state: {**state, "z": t.ones(1), "a.w.b": t.ones(1)},
    "shape": lambda t, state: {**state, "a.weight": t.ones(3)},
    "no tensor": lambda t, state: {**state, "a.weight": [1]},
    "no dict": lambda t, state: 3,
    "all at once": lambda t, state: {"a.weight": t.ones(3), "z": t.ones(1), "count": t.ones(5)},
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("change", LOADS.values(), ids=LOADS)
def test_load_state_dict_reports_what_does_not_fit(change, strict) -> None:
    def load(lib):
        m = net(lib)
        result = m.load_state_dict(change(lib, m.state_dict()), strict=strict)
        return result.missing_keys, result.unexpected_keys

    ours, theirs = both(load)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


def test_load_state_dict_names_every_problem() -> None:
    state = {"a.weight": tg.ones(3), "z": tg.ones(1)}
    with pytest.raises(RuntimeError) as error:
        net(tg).load_state_dict(state)
    text = str(error.value)
    assert "loading state_dict for Net" in text
    assert "size mismatch for a.weight" in text
    assert "torch.Size([3])" in text and "torch.Size([3, 2])" in text
    for name in ("z", "a.bias", "scale", "count"):
        assert repr(name) in text


# --- conversion, modes, gradients -----------------------------------------------------------------


def test_to_converts_floats_in_place() -> None:
    m = net(tg)
    m.register_buffer("places", tg.tensor([1, 2]))
    m(tg.ones(1, 2)).sum().backward()
    weight = m.a.weight
    assert m.to(tg.float64) is m
    assert m.a.weight is weight
    assert weight.dtype is weight.grad.dtype is m.count.dtype is tg.float64
    assert m.places.dtype is tg.int64
    m(tg.ones(1, 2).double()).sum().backward()
    assert {p.dtype for p in m.half().parameters()} == {tg.float16}
    assert {p.dtype for p in m.float().parameters()} == {tg.float32}
    assert {p.dtype for p in m.double().parameters()} == {tg.float64}
    assert m.to(tg.ones(1)).a.weight.dtype is tg.float32
    assert m.to("cpu", tg.float64, non_blocking=True).count.dtype is tg.float64
    assert m.cpu().to(device="cpu", dtype=tg.float32).count.dtype is tg.float32
    with pytest.raises(TypeError, match="wrong"):
        m.to(wrong=3)


def test_converting_keeps_ties() -> None:
    m = net(tg)
    m.b[1].extra = m.scale
    m.double()
    assert m.b[1].extra is m.scale and m.scale.dtype is tg.float64


def test_zero_grad_drops_or_zeroes() -> None:
    m = net(tg)
    loss = m(tg.ones(1, 2)).sum()
    loss.backward(create_graph=True)
    assert m.a.weight.grad.requires_grad
    m.zero_grad(set_to_none=False)
    assert not m.a.weight.grad.any() and not m.a.weight.grad.requires_grad
    m.zero_grad()
    assert m.a.weight.grad is None


def test_modules_can_be_copied_and_pickled() -> None:
    tg.manual_seed(1)
    m = net(tg).eval()
    m.b[1].extra = m.scale
    copied = copy.deepcopy(m)
    assert values(copied) == values(m)
    assert copied.a.weight is not m.a.weight
    assert copied.a.weight.data_ptr() != m.a.weight.data_ptr()
    assert copied.b[1].extra is copied.scale
    assert not copied.training and not copied.b[1].training
    layer = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 3), nn.ReLU())))
    assert isinstance(layer[0].weight, nn.Parameter) and layer[0].weight.requires_grad
    assert layer(tg.ones(1, 2)).shape == (1, 3)


# --- Parameter ------------------------------------------------------------------------------------


def test_a_parameter_is_a_tensor_and_what_is_computed_from_it_is_plain() -> None:
    for lib in (tg, torch):
        p = lib.nn.Parameter(lib.ones(2))
        assert isinstance(p, lib.Tensor) and not isinstance(lib.ones(2), lib.nn.Parameter)
        for result in (p * 2, p.data, p.detach(), p.view(2, 1), p.clone()):
            assert type(result) is lib.Tensor
        assert p.requires_grad and p.is_leaf
        assert not lib.nn.Parameter(lib.ones(2), False).requires_grad
        computed = lib.nn.Parameter(lib.ones(2, requires_grad=True) * 2)
        assert computed.is_leaf and computed.grad_fn is None


def test_a_parameter_lies_on_the_memory_it_was_given() -> None:
    data = tg.zeros(2)
    p = nn.Parameter(data)
    data[0] = 5
    assert p.tolist() == [5.0, 0.0] and p.data_ptr() == data.data_ptr()


@pytest.mark.parametrize("shape", [(2,), (), (0,)])
def test_the_text_of_a_parameter(shape) -> None:
    for flag in (True, False):
        ours = nn.Parameter(tg.zeros(shape), flag)
        theirs = torch.nn.Parameter(torch.zeros(shape), flag)
        assert repr(ours) == repr(theirs)
    assert repr(nn.Parameter()) == repr(torch.nn.Parameter())


def test_copies_of_a_parameter_are_parameters() -> None:
    p = nn.Parameter(tg.tensor([1.0, 2.0]), requires_grad=False)
    for twin in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is nn.Parameter and twin.tolist() == [1.0, 2.0]
        assert not twin.requires_grad
    p.requires_grad_()
    p.grad = tg.ones(2)
    twin = copy.deepcopy(p)
    assert twin.requires_grad and twin.grad is None  # a copy starts without a gradient


def test_a_parameter_refuses_what_cannot_be_learned() -> None:
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(tg.ones(2).long())
    with pytest.raises(TypeError, match="Tensor"):
        nn.Parameter([1.0])
    with pytest.raises(RuntimeError, match="volatile"):
        nn.Parameter(tg.Variable(tg.ones(1), volatile=True))
    p = nn.Parameter(tg.ones(1), requires_grad=False)
    assert not p.volatile
    with pytest.raises(RuntimeError, match="volatile"):
        p.volatile = True
    p.volatile = False
