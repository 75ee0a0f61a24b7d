"""Containers of modules and parameters, side by side with PyTorch's."""

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
