"""Containers of modules and parameters, side by side with PyTorch's."""

from collections import OrderedDict
from operator import add

import pytest

import tinygrad_course as tg
from tinygrad_course import nn

torch = pytest.importorskip("torch", reason="expected values come from PyTorch")


def both(call):
    """What a call makes of either library, an exception included."""
    results = []
    for lib in (tg, torch):
        try:
            results.append(call(lib))
        except Exception as error:
            results.append(error)
    return results


# --- Sequential -----------------------------------------------------------------------------------


def sequence(n):
    return n.Sequential(n.Linear(2, 3), n.ReLU(), n.Linear(3, 4), n.Tanh())


@pytest.mark.parametrize(
    "act",
    [
        lambda s, n: s[0],
        lambda s, n: s[-1],
        lambda s, n: s[1:3],
        lambda s, n: s[::2],
        lambda s, n: s[5],
        lambda s, n: s["a"],
        lambda s, n: len(s),
        lambda s, n: [type(module).__name__ for module in s],
        lambda s, n: s.append(n.Sigmoid()),
        lambda s, n: s.extend([n.Sigmoid(), n.ReLU()]),
        lambda s, n: s.insert(1, n.Sigmoid()),
        lambda s, n: s.insert(9, n.Sigmoid()),
        lambda s, n: s.pop(1),
        lambda s, n: s.append(3),
        lambda s, n: s.__setitem__(1, n.Sigmoid()),
        lambda s, n: s.__setitem__(9, n.Sigmoid()),
        lambda s, n: s.__delitem__(0),
        lambda s, n: s.__delitem__(slice(0, 2)),
        lambda s, n: n.Sequential(3),
        lambda s, n: n.Sequential([n.ReLU()]),
    ],
)
def test_sequential_behaves_as_pytorchs(act) -> None:
    def outcome(lib):
        s = sequence(lib.nn)
        result = act(s, lib.nn)
        return repr(result), repr(s), list(s.state_dict())

    ours, theirs = both(outcome)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


def test_a_slice_has_the_same_modules() -> None:
    s = sequence(nn)
    assert s[:2][0] is s[0] and type(s[:2]) is nn.Sequential


def test_sequential_passes_through_its_modules_in_order() -> None:
    assert nn.Sequential()(3) == 3
    x = tg.tensor([[1.0, -1.0]])
    s = sequence(nn)
    assert s(x).tolist() == s[3](s[2](s[1](s[0](x)))).tolist()


def outcome(make, act):
    """What an action on a fresh container gives, leaves behind, or raises, in both libraries."""

    def run(lib):
        container = make(lib)
        result = act(container, lib)
        if hasattr(result, "__next__"):
            result = list(result)
        return (
            repr(result),
            repr(container),
            list(container.state_dict()),
            [name for name in dir(container) if name.isdigit()],
        )

    ours, theirs = both(run)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


SEQUENTIAL = [
    lambda s, t: s + sequence(t.nn),
    lambda s, t: add(s, [t.nn.ReLU()]),
    lambda s, t: s.__iadd__(sequence(t.nn)),
    lambda s, t: s.__iadd__([t.nn.ReLU()]),
    lambda s, t: s * 2,
    lambda s, t: 2 * s,
    lambda s, t: s * True,
    lambda s, t: s * 0,
    lambda s, t: s * 1.5,
    lambda s, t: s.__imul__(3),
    lambda s, t: s.__imul__(-1),
    lambda s, t: s.extend(3),
    lambda s, t: s.extend(t.nn.ModuleList([t.nn.ReLU()])),
    lambda s, t: s.insert(-1, t.nn.ReLU()),
    lambda s, t: s.insert(0, 3),
    lambda s, t: s.pop(slice(0, 2)),
    lambda s, t: s.pop(),
    lambda s, t: s.append(None),
    lambda s, t: t.nn.Sequential({"a": t.nn.ReLU()}),
    lambda s, t: t.nn.Sequential(OrderedDict(a=t.nn.ReLU()), t.nn.ReLU()),
    lambda s, t: t.nn.Sequential(OrderedDict(a=t.nn.ReLU(), b=t.nn.Tanh()))[1:],
    lambda s, t: t.nn.Sequential(OrderedDict(a=t.nn.ReLU(), b=t.nn.Tanh())).append(t.nn.ReLU()),
    lambda s, t: t.nn.Sequential(OrderedDict(a=t.nn.ReLU())) + s,
    lambda s, t: s(t.ones(2, 2), 3),
]


@pytest.mark.parametrize("act", SEQUENTIAL)
def test_sums_and_multiples_of_sequentials(act) -> None:
    outcome(lambda lib: sequence(lib.nn), act)


def test_multiples_repeat_the_same_modules() -> None:
    s = nn.Sequential(nn.Linear(2, 2))
    assert (s * 3)[2] is s[0] and len(list((s * 3).parameters())) == 2


# --- ModuleList, ModuleDict ----------------------------------------------------------------------


def modules(lib):
    return lib.nn.ModuleList([lib.nn.Linear(1, 2), lib.nn.Tanh(), lib.nn.Tanh()])


LIST = [
    lambda m, t: m[0],
    lambda m, t: m[-1],
    lambda m, t: m[1:],
    lambda m, t: m[::-2],
    lambda m, t: m[3],
    lambda m, t: m["0"],
    lambda m, t: m[1.0],
    lambda m, t: len(m),
    lambda m, t: [type(child).__name__ for child in m],
    lambda m, t: m.append(t.nn.ReLU()),
    lambda m, t: m.append(None),
    lambda m, t: m.append(3),
    lambda m, t: m.extend(t.nn.ReLU() for _ in range(2)),
    lambda m, t: m.extend(t.nn.Sequential(t.nn.ReLU())),
    lambda m, t: m.extend(3),
    lambda m, t: add(m, [t.nn.ReLU()]),
    lambda m, t: m + m,
    lambda m, t: m + 3,
    lambda m, t: m.__iadd__([t.nn.ReLU()]),
    lambda m, t: m.pop(0),
    lambda m, t: m.pop(slice(0, 2)),
    lambda m, t: m.pop(),
    lambda m, t: m.__setitem__(-1, t.nn.ReLU()),
    lambda m, t: m.__setitem__(0, 3),
    lambda m, t: m.__setitem__(5, t.nn.ReLU()),
    lambda m, t: m.__delitem__(0),
    lambda m, t: m.__delitem__(slice(0, 3, 2)),
    lambda m, t: m.__delitem__(4),
    lambda m, t: m(1),
    lambda m, t: t.nn.ModuleList(),
    lambda m, t: t.nn.ModuleList(3),
    lambda m, t: t.nn.ModuleList([3]),
    lambda m, t: t.nn.ModuleList([m, t.nn.ModuleList([m, m])]),
    lambda m, t: t.nn.ModuleList([t.nn.ReLU(), t.nn.Tanh(), t.nn.ReLU()]),
    lambda m, t: m.insert(0, t.nn.ReLU()) and None,
    lambda m, t: m.insert(3, t.nn.ReLU()) and None,
]


@pytest.mark.parametrize("act", LIST)
def test_module_list_behaves_as_pytorchs(act) -> None:
    outcome(modules, act)


def test_module_list_inserts_as_a_list_does() -> None:
    m = modules(tg)
    m.insert(-1, nn.ReLU())
    assert [type(child).__name__ for child in m] == ["Linear", "Tanh", "ReLU", "Tanh"]
    with pytest.raises(IndexError, match="9 is out of range for a ModuleList of 4"):
        m.insert(9, nn.ReLU())
    with pytest.raises(AssertionError, match="int can't be put into a ModuleList"):
        m.insert(0, 3)


def named(lib):
    return lib.nn.ModuleDict({"b": lib.nn.Linear(1, 1), "a": lib.nn.Tanh()})


DICT = [
    lambda m, t: m["b"],
    lambda m, t: m["z"],
    lambda m, t: m[0],
    lambda m, t: len(m),
    lambda m, t: list(m),
    lambda m, t: ["b" in m, "z" in m, 3 in m],
    lambda m, t: m.keys(),
    lambda m, t: m.items(),
    lambda m, t: m.values(),
    lambda m, t: m.pop("b"),
    lambda m, t: m.pop("z"),
    lambda m, t: m.clear(),
    lambda m, t: m.__setitem__("b", t.nn.ReLU()),
    lambda m, t: m.__setitem__("b", 3),
    lambda m, t: m.__setitem__("c", None),
    lambda m, t: m.__setitem__("keys", t.nn.ReLU()),
    lambda m, t: m.__setitem__("a.b", t.nn.ReLU()),
    lambda m, t: m.__setitem__(3, t.nn.ReLU()),
    lambda m, t: m.__delitem__("b"),
    lambda m, t: m.__delitem__("z"),
    lambda m, t: m.update({"c": t.nn.ReLU(), "b": t.nn.ReLU()}),
    lambda m, t: m.update([("c", t.nn.ReLU())]),
    lambda m, t: m.update(named(t)),
    lambda m, t: m.update(3),
    lambda m, t: m.update([3]),
    lambda m, t: m.update([("c", t.nn.ReLU(), 3)]),
    lambda m, t: m(1),
    lambda m, t: t.nn.ModuleDict(),
    lambda m, t: t.nn.ModuleDict(m),
]


@pytest.mark.parametrize("act", DICT)
def test_module_dict_behaves_as_pytorchs(act) -> None:
    outcome(named, act)


# --- ParameterList, ParameterDict ----------------------------------------------------------------


def values(lib):
    return lib.nn.ParameterList([lib.ones(2, 3), 3, lib.nn.Parameter(lib.tensor(1.0)), "text"])


PARAMETERS = [
    lambda p, t: p[0],
    lambda p, t: p[-2],
    lambda p, t: p[1:3],
    lambda p, t: p[4],
    lambda p, t: p["0"],
    lambda p, t: len(p),
    lambda p, t: list(p),
    lambda p, t: p.append(t.zeros(1).double()),
    lambda p, t: p.append(None),
    lambda p, t: p.append(t.ones(1).long()),
    lambda p, t: p.append(t.nn.ReLU()),
    lambda p, t: p.extend([1, t.ones(1)]),
    lambda p, t: p.extend(p),
    lambda p, t: p.extend(3),
    lambda p, t: p.extend(t.ones(2)),
    lambda p, t: p.__iadd__([2]),
    lambda p, t: add(p, [2]),
    lambda p, t: p.__setitem__(0, t.zeros(1)),
    lambda p, t: p.__setitem__(0, 3),
    lambda p, t: p.__setitem__(-1, t.zeros(1)),
    lambda p, t: p.__setitem__(7, 3),
    lambda p, t: p(1),
    lambda p, t: t.nn.ParameterList(),
    lambda p, t: t.nn.ParameterList(3),
    lambda p, t: [x.requires_grad for x in t.nn.ParameterList([t.ones(1)])],
]


@pytest.mark.parametrize("act", PARAMETERS)
def test_parameter_list_behaves_as_pytorchs(act) -> None:
    outcome(values, act)


def parameters(lib):
    return lib.nn.ParameterDict({"b": lib.ones(2, 3), "a": 3})


PARAMETER_DICT = [
    lambda p, t: p["b"],
    lambda p, t: p["z"],
    lambda p, t: p[3],
    lambda p, t: len(p),
    lambda p, t: list(p),
    lambda p, t: list(reversed(p)),
    lambda p, t: ["b" in p, "z" in p, 3 in p],
    lambda p, t: p.keys(),
    lambda p, t: p.items(),
    lambda p, t: p.values(),
    lambda p, t: p.get("b"),
    lambda p, t: p.get("z"),
    lambda p, t: p.get("z", 5),
    lambda p, t: p.setdefault("z", t.ones(1)),
    lambda p, t: p.setdefault("b", 5),
    lambda p, t: p.pop("b"),
    lambda p, t: p.pop("z"),
    lambda p, t: p.popitem(),
    lambda p, t: t.nn.ParameterDict().popitem(),
    lambda p, t: p.clear(),
    lambda p, t: p.copy(),
    lambda p, t: p.copy()["b"] is p["b"],
    lambda p, t: p.fromkeys(["y", "x"], 1),
    lambda p, t: p.fromkeys(["y"]),
    lambda p, t: p.update({"d": 1, "c": t.ones(1)}),
    lambda p, t: p.update(OrderedDict(d=1, c=2)),
    lambda p, t: p.update([("d", 1), ("c", 2)]),
    lambda p, t: p.update(t.nn.ParameterDict([("d", 1), ("c", 2)])),
    lambda p, t: p.update(3),
    lambda p, t: p.update([3]),
    lambda p, t: p.update([(1, 2, 3)]),
    lambda p, t: p | {"c": 1},
    lambda p, t: {"c": 1} | p,
    lambda p, t: p | t.nn.ParameterDict({"b": 1}),
    lambda p, t: p.__ior__({"c": 1}),
    lambda p, t: p | 3,
    lambda p, t: p.__setitem__("b", t.zeros(1)),
    lambda p, t: p.__setitem__("b", 3),
    lambda p, t: p.__setitem__("keys", t.zeros(1)),
    lambda p, t: p.__setitem__("c.d", t.zeros(1)),
    lambda p, t: p.__setitem__(3, t.zeros(1)),
    lambda p, t: p.__delitem__("b"),
    lambda p, t: p.__delitem__("z"),
    lambda p, t: p(1),
    lambda p, t: t.nn.ParameterDict(),
]


@pytest.mark.parametrize("act", PARAMETER_DICT)
def test_parameter_dict_behaves_as_pytorchs(act) -> None:
    outcome(parameters, act)


def test_what_a_parameter_container_holds_is_trained() -> None:
    net = nn.Module()
    net.list, net.dict = nn.ParameterList([tg.ones(1)]), nn.ParameterDict({"w": tg.ones(1)})
    assert [name for name, _ in net.named_parameters()] == ["list.0", "dict.w"]
    (net.list[0] * net.dict["w"]).sum().backward()
    assert all(parameter.grad.item() == 1 for parameter in net.parameters())


# --- Unflatten -----------------------------------------------------------------------------------

UNFLATTEN = [
    lambda t: t.nn.Unflatten(1, (2, 3)),
    lambda t: t.nn.Unflatten(-1, [2, -1])(t.zeros(2, 6)).shape,
    lambda t: t.nn.Unflatten(1, t.Size([2, 3]))(t.zeros(2, 6, 4)).shape,
    lambda t: t.nn.Unflatten(1, (2, 4))(t.zeros(2, 6)),
    lambda t: t.nn.Unflatten(5, (2, 3))(t.zeros(2, 6)),
    lambda t: t.nn.Unflatten(1, ())(t.zeros(2, 6)),
    lambda t: t.nn.Unflatten(1, 3),
    lambda t: t.nn.Unflatten(1, (2.0, 3)),
    lambda t: t.nn.Unflatten(1, (("b", 2), ("c", 3))),
]


@pytest.mark.parametrize("call", UNFLATTEN)
def test_unflatten(call) -> None:
    ours, theirs = both(lambda lib: repr(call(lib)))
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


def test_unflatten_by_name_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="no names"):
        nn.Unflatten("features", (("a", 2), ("b", 3)))
