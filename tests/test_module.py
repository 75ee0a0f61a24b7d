"""Module and Parameter: parts, state and modes, side by side with PyTorch's."""

import copy
import pickle
from collections import OrderedDict

import pytest

import tinygrad_course as tg
from tinygrad_course import nn

from . import fake_cuda
from .parity.both import attempt
from .parity.both import both as both_engines

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


# --- state dicts in versions ----------------------------------------------------------------------


@both_engines
def test_state_dicts_have_the_versions_of_their_modules(lib):
    class Old(lib.nn.Linear):
        _version = 3

    state = lib.nn.Sequential(Old(1, 1), lib.nn.ReLU()).state_dict()
    into = {"before": 1}
    returned = lib.nn.ReLU().state_dict(destination=into, prefix="p.")
    return [(k, dict(v)) for k, v in state._metadata.items()], returned is into, into


@both_engines
def test_a_module_that_loads_states_of_an_older_version(lib):
    seen = []

    class Renamed(lib.nn.Module):
        _version = 2

        def __init__(self):
            super().__init__()
            self.scale = lib.nn.Parameter(lib.ones(1))

        def _load_from_state_dict(
            self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors
        ):
            seen.append((prefix, dict(local_metadata), strict))
            if local_metadata.get("version", 1) < 2 and prefix + "gain" in state_dict:
                state_dict[prefix + "scale"] = state_dict.pop(prefix + "gain") * 10
            super()._load_from_state_dict(
                state_dict, prefix, local_metadata, strict, missing, unexpected, errors
            )

    net = lib.nn.Sequential(Renamed(), Renamed())
    old = OrderedDict({"0.gain": lib.ones(1), "1.gain": lib.ones(1)})
    report = net.load_state_dict(old)
    saved = net.state_dict()
    net.load_state_dict(saved, assign=True)
    net.load_state_dict(net.state_dict(), strict=False)
    return list(report), [p.item() for p in net.parameters()], seen, list(old)


@both_engines
def test_a_module_that_saves_its_part_itself(lib):
    class Half(lib.nn.Linear):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            del destination[prefix + "bias"]

    net = lib.nn.Sequential(Half(1, 1))
    return list(net.state_dict()), attempt(lambda: net.load_state_dict(net.state_dict()))


@both_engines
def test_extra_state(lib):
    class Counter(lib.nn.Module):
        n = 0

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    net, other = lib.nn.Sequential(Counter()), lib.nn.Sequential(Counter())
    net[0].n = 5
    state = net.state_dict()
    report = other.load_state_dict(state)
    partial = [list(part) for part in other.load_state_dict({}, strict=False)]
    plain = lib.nn.Linear(1, 1)
    return [
        dict(state),
        list(report),
        other[0].n,
        partial,
        attempt(lambda: other.load_state_dict({})),
        attempt(plain.get_extra_state),
        attempt(lambda: plain.set_extra_state(1)),
        [list(k) for k in plain.load_state_dict({"_extra_state": 1}, strict=False)],
    ]


@both_engines
def test_scalars_saved_as_vectors_of_one_load(lib):
    net = lib.nn.Module()
    net.register_buffer("count", lib.tensor(0))
    net.load_state_dict({"count": lib.tensor([3])})
    return net.count, attempt(lambda: net.load_state_dict({"count": lib.tensor([3, 4])}))


@both_engines
def test_assigning_keeps_what_requires_a_gradient(lib):
    net = lib.nn.Linear(1, 1)
    net.bias.requires_grad_(False)
    state = {
        "weight": lib.nn.Parameter(lib.ones(1, 1), requires_grad=False),
        "bias": lib.nn.Parameter(lib.ones(1)),
    }
    net.load_state_dict(state, assign=True)
    same = net.weight is state["weight"]
    net.load_state_dict({"weight": lib.zeros(1, 1).double(), "bias": lib.zeros(1)}, assign=True)
    return same, net.weight, net.bias, type(net.weight).__name__


def test_what_cannot_be_copied_is_listed_with_its_key() -> None:
    net = nn.Linear(2, 1)
    net.weight = nn.Parameter(tg.ones(1).expand(1, 2))
    with pytest.raises(RuntimeError, match=r"state_dict for Linear:\n\tWhile copying 'weight'"):
        net.load_state_dict({"weight": tg.ones(1, 2), "bias": tg.ones(1)})


@both_engines
def test_positional_arguments_of_state_dict(lib):
    into = OrderedDict()
    net = lib.nn.Linear(1, 1)
    net.state_dict(into, "p.", True)
    return list(into), into["p.bias"] is net.bias


def test_positional_arguments_of_state_dict_warn() -> None:
    with pytest.warns(FutureWarning, match="Positional args"):
        nn.ReLU().state_dict({})


def test_the_versions_go_into_a_file_and_back(tmp_path) -> None:
    net = nn.Sequential(nn.Linear(1, 1))
    tg.save(net.state_dict(), tmp_path / "ours.pt")
    torch.save(torch.nn.Sequential(torch.nn.Linear(1, 1)).state_dict(), tmp_path / "theirs.pt")
    for read in (tg.load, torch.load):
        for name in ("ours.pt", "theirs.pt"):
            assert read(tmp_path / name)._metadata == net.state_dict()._metadata


# --- parts that are shared, and more of what modules can do ---------------------------------------


@both_engines
def test_shared_modules_and_cycles(lib):
    net, shared = lib.nn.Module(), lib.nn.Linear(1, 1)
    net.a, net.b = lib.nn.Sequential(shared), lib.nn.Sequential(shared)
    walks = [
        [name for name, _ in net.named_modules()],
        [name for name, _ in net.named_modules(remove_duplicate=False)],
        [name for name, _ in net.named_parameters()],
        [name for name, _ in net.named_parameters(remove_duplicate=False)],
        [len(list(net.modules())), len(list(net.modules(remove_duplicate=False)))],
        list(net.state_dict()),
    ]
    twin = copy.deepcopy(net)
    loaded = pickle.loads(pickle.dumps(net))
    kept = [m.a[0] is m.b[0] and m.a[0].weight is m.b[0].weight for m in (twin, loaded)]
    net.a.back = net
    walks += [[name for name, _ in net.named_modules()], len(list(net.parameters()))]
    twin = copy.deepcopy(net)
    return walks, kept, twin.a.back is twin, attempt(net.state_dict), attempt(net.train)


@both_engines
def test_set_submodule(lib):
    def fresh():
        net = lib.nn.Module()
        net.a = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.ReLU())
        net.note = 3
        return net

    def names(*args, **kwargs):
        net = fresh()
        net.set_submodule(*args, **kwargs)
        return [(name, type(part).__name__) for name, part in net.named_modules()]

    new = lib.nn.Tanh()
    return [
        attempt(lambda args=args, kwargs=kwargs: names(*args, **kwargs))
        for args, kwargs in (
            (("a.0", new), {}),
            (("a", new), {}),
            (("a.2", new), {}),
            (("b", new), {}),
            (("a.2", new), {"strict": True}),
            (("a.1", new), {"strict": True}),
            (("x.y", new), {}),
            (("", new), {}),
            (("a", 3), {}),
            (("note", new), {}),
            (("note.x", new), {}),
        )
    ]


@both_engines
def test_type_and_to_empty(lib):
    net = lib.nn.Sequential(lib.nn.Linear(2, 1))
    net.register_buffer("count", lib.tensor([1, 2]))
    net(lib.ones(1, 2)).sum().backward()
    seen = []
    for kind in (lib.float64, "torch.FloatTensor", lib.float16):
        assert net.type(kind) is net
        seen.append([str(t.dtype) for t in (*net.parameters(), *net.buffers())])
        seen.append(str(net[0].weight.grad.dtype))
    assert net.to_empty(device="cpu") is net
    seen.append([(tuple(t.shape), t.requires_grad) for t in net.parameters()])
    seen.append(attempt(lambda: net.to_empty("cpu")))
    seen.append(attempt(lambda: net.type("nonsense")))
    return seen


TO = [
    lambda m, t: m.to(),
    lambda m, t: m.to(None),
    lambda m, t: m.to("cpu", None),
    lambda m, t: m.to("cpu", t.float64, True),
    lambda m, t: m.to(t.float64, "cpu"),
    lambda m, t: m.to(t.float64, t.float32),
    lambda m, t: m.to(t.float64, True),
    lambda m, t: m.to(t.device("cpu")),
    lambda m, t: m.to(t.ones(1).double()),
    lambda m, t: m.to(t.ones(1).long()),
    lambda m, t: m.to(dtype=t.int32),
    lambda m, t: m.to(other=t.ones(1)),
    lambda m, t: m.to(memory_format=t.channels_last),
    lambda m, t: m.to("cpu", t.float64, memory_format=t.channels_last),
]


@pytest.mark.parametrize("move", TO)
def test_forms_of_to(move) -> None:
    def run(lib):
        net = lib.nn.Conv2d(2, 2, 2)
        net.register_buffer("places", lib.zeros(1, 2, 2, 2).long())
        assert move(net, lib) is net
        tensors = [*net.parameters(), *net.buffers()]
        return [(str(t.dtype), t.stride(), t.requires_grad) for t in tensors]

    ours, theirs = both(run)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


@both_engines
def test_apply_of_a_function_to_all_tensors(lib):
    net = lib.nn.Sequential(lib.nn.Linear(1, 1))
    net.register_buffer("count", lib.zeros(1))
    weight = net[0].weight
    net._apply(lambda t: t + 1 if t.dtype is lib.float32 and t.numel() == 1 else t)
    below = lib.nn.Sequential(lib.nn.Linear(1, 1))
    below._apply(lambda t: t.double(), recurse=False)
    return net.count, net[0].weight is weight, str(below[0].weight.dtype)


@pytest.mark.parametrize("what", ["bfloat16", "share_memory", "compile"])
def test_what_is_left_out_says_so(what) -> None:
    with pytest.raises(NotImplementedError, match=rf"Linear\.{what}\(\)"):
        getattr(nn.Linear(1, 1), what)()


@both_engines
def test_constructors_beside_other_bases(lib):
    seen = []

    class Mixin:
        def __init__(self, *args, **kwargs):
            seen.append((args, kwargs))

    class Alone(lib.nn.Module, Mixin):
        pass

    class Both(lib.nn.Module, Mixin):
        call_super_init = True

        def __init__(self):
            super().__init__(1, two=2)
            self.part = lib.nn.ReLU()

    Alone()
    return (
        len(list(Both().children())),
        seen,
        attempt(lambda: Alone(1)),
        attempt(lambda: Alone(a=1)),
    )


@both_engines
def test_setstate_can_be_extended(lib):
    class Upgraded(lib.nn.ReLU):
        def __setstate__(self, state):
            super().__setstate__(state)
            self.added = True

    twin = copy.deepcopy(Upgraded())
    return twin.added, twin.training, [name for name, _ in twin.named_modules()]


@both_engines
def test_blank_lines_and_own_text_in_a_repr(lib):
    class Told(lib.nn.Module):
        def extra_repr(self):
            return "one\n\n  two"

    net = lib.nn.Sequential(Told(), lib.nn.Sequential(Told()))
    net.note = lib.nn.Identity()
    return repr(net).replace("  \n", "\n")


# --- Buffer ---------------------------------------------------------------------------------------


@both_engines
def test_buffers_are_filed_by_their_class(lib):
    net = lib.nn.Module()
    net.kept, net.left = lib.nn.Buffer(lib.ones(2)), lib.nn.Buffer(lib.ones(1), persistent=False)
    net.plain = 3
    net.weight = lib.nn.Parameter(lib.ones(1))
    state = [list(net.state_dict()), [name for name, _ in net.named_buffers()]]
    net.kept = lib.zeros(1)
    net.left = lib.nn.Buffer(lib.zeros(1))
    return [
        state,
        list(net.state_dict()),
        net.kept,
        attempt(lambda: setattr(net, "plain", lib.nn.Buffer(lib.ones(1)))),
        attempt(lambda: setattr(net, "weight", lib.nn.Buffer(lib.ones(1)))),
        lib.nn.Buffer(),
        lib.nn.Buffer(lib.ones(1, requires_grad=True)),
        isinstance(lib.nn.Buffer(lib.ones(1)), lib.nn.Buffer),
        isinstance(lib.ones(1), lib.nn.Buffer),
        attempt(lambda: lib.nn.Buffer([1.0])),
        lib.nn.Buffer(lib.ones(1)) * 2,
    ]


def test_a_buffer_lies_on_the_memory_it_was_given() -> None:
    data = tg.zeros(2)
    buffer = nn.Buffer(data)
    data[0] = 5
    assert buffer.tolist() == [5.0, 0.0]
    twin = pickle.loads(pickle.dumps(copy.deepcopy(buffer)))
    assert type(twin) is nn.Buffer and twin.tolist() == [5.0, 0.0]


# --- messages -------------------------------------------------------------------------------------


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part, self.weight = nn.ReLU(), nn.Parameter(tg.ones(1))
        self.register_buffer("count", tg.ones(1))


@pytest.mark.parametrize(
    "act",
    [
        lambda m: setattr(m, "part", 3),
        lambda m: setattr(m, "weight", 3),
        lambda m: setattr(m, "count", 3),
        lambda m: m.register_parameter("new", 3),
        lambda m: m.register_buffer("new", 3),
        lambda m: m.add_module("new", 3),
        lambda m: m.add_module("weight", nn.ReLU()),
        lambda m: m.add_module(3, nn.ReLU()),
        lambda m: m.get_submodule("weight"),
        lambda m: m.get_parameter("count"),
        lambda m: m.get_buffer("nothing"),
        lambda m: m.set_submodule("", nn.ReLU()),
        lambda m: m.nothing,
        lambda m: m(1),
        lambda m: m.to(tg.int64),
        lambda m: m.train(3),
        lambda m: m.load_state_dict({}),
        lambda m: m.get_extra_state(),
        lambda m: Named.__base__.__init__(m, 1),
    ],
)
def test_errors_name_the_module(act) -> None:
    with pytest.raises(Exception, match="Named"):
        act(Named())


# --- devices --------------------------------------------------------------------------------------


def test_a_module_moves_to_a_device_and_back() -> None:
    with fake_cuda.pretended():
        net = nn.Sequential(nn.Linear(2, 1), nn.ParameterList([tg.ones(1)]))
        weight, state = net[0].weight, net.state_dict()
        net.cuda()
        assert net[0].weight is weight and weight.is_cuda
        assert "size 1 (cuda:0)" in repr(net[1])
        seen = []
        net[0].register_full_backward_hook(lambda module, gi, go: seen.append(gi + go))
        net[0](tg.ones(1, 2, device="cuda", requires_grad=True)).sum().backward()
        assert all(grad.is_cuda for grad in seen[0])
        net.load_state_dict(state)  # from the CPU, into where the parameters are
        assert weight.is_cuda and weight.tolist() == state["0.weight"].tolist()
        assert not net.to_empty(device="cpu")[0].weight.is_cuda


@both_engines
def test_a_conversion_keeps_the_objects_of_gradients(lib):
    layer = lib.nn.Linear(1, 1)
    layer(lib.ones(1)).backward()
    held = layer.weight.grad
    layer.double()
    return [held is layer.weight.grad, held]
