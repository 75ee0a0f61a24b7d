"""Every operation, from its row of samples: against PyTorch, and against finite differences.

The comparisons with PyTorch are those of `python -m tests.parity`, which prints them as a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.ops.registry import FUNCTIONS

from .parity.calls import Made, first_order, flat, forms_of, perform, second_order, weights
from .samples import SAMPLES, Arg, Call

NAMES = list(SAMPLES)
# Methods that are no operations on their own; the file that tests each.
ELSEWHERE = {
    "__getitem__": "test_views",
    "__setitem__": "test_inplace",
    "cuda": "test_devices",
    "from_dlpack": "test_interchange",
    "numpy": "test_interchange",
    "record_stream": "test_cuda",
}


@pytest.fixture(scope="module")
def checks() -> Any:
    reason = "PyTorch is the oracle of these tests"
    return pytest.importorskip("tests.parity.checks", reason=reason)


def require_agreement(verdicts: Iterator[Any]) -> None:
    """Fails with the first few differences."""
    problems = [str(verdict) for verdict in verdicts if verdict.problem is not None]
    assert not problems, f"{len(problems)} differences\n" + "\n".join(problems[:5])


# --- the table itself -----------------------------------------------------------------------------


def bound_methods() -> set[str]:
    """The names of Tensor's attributes that operations bound to it, without the operators."""
    names = set()
    for name in dir(tg.Tensor):
        attribute = getattr(tg.Tensor, name, None)
        function = getattr(attribute, "fget", None) or attribute
        if (getattr(function, "__module__", None) or "").startswith("tinygrad_course.ops"):
            names.add(name)
    operators = {n for n in names if n.startswith("__")} - {"__getitem__", "__setitem__"}
    return names - operators


def test_every_public_operation_has_samples():
    public = set(FUNCTIONS) | bound_methods()
    public |= {f"nn.functional.{name}" for name in tg.nn.functional.__all__}
    rows = {name.removeprefix("Tensor.") for name in SAMPLES} | set(ELSEWHERE)
    # In place, an operation is tested with the samples of its ordinary form.
    missing = {name for name in public if name not in rows and name.rstrip("_") not in rows}
    # These change the generator or hand out memory; test_random and test_tensor have them.
    missing -= {"manual_seed", "from_numpy"}
    assert not missing


def test_every_row_is_of_an_operation_that_there_is():
    assert [name for name in NAMES if not forms_of(name)] == []


# --- against PyTorch ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_forward(checks, name):
    require_agreement(checks.forward(name))


@pytest.mark.parametrize("name", NAMES)
def test_gradient(checks, name):
    require_agreement(checks.gradient(name))


@pytest.mark.parametrize("name", NAMES)
def test_second_order(checks, name):
    require_agreement(checks.second(name))


@pytest.mark.parametrize("name", NAMES)
def test_in_place(checks, name):
    require_agreement(checks.inplace(name))


@pytest.mark.parametrize("name", NAMES)
def test_errors(checks, name):
    require_agreement(checks.errors(name))


def test_promotion(checks):
    for name in checks.PROMOTING:
        require_agreement(checks.promotion(name))


# --- against finite differences -------------------------------------------------------------------

STEP = 1e-6


def nudged(call: Call, distance: float) -> Call:
    """The call, its real arguments moved so far along a fixed direction."""

    def move(value: Any, place: int) -> Any:
        if isinstance(value, Arg) and value.real and not value.fixed:
            shift = distance * direction(value.array.shape, place)
            return replace(value, array=np.asarray(value.array + shift))
        if isinstance(value, list | tuple):
            return type(value)(move(v, place + i) for i, v in enumerate(value))
        return value

    return replace(call, args=tuple(move(a, i) for i, a in enumerate(call.args)))


def direction(shape: tuple[int, ...], place: int) -> np.ndarray:
    return np.asarray(weights(shape, 3 + place) - 1)


def directions(call: Call) -> list[np.ndarray]:
    """The direction of each real argument, in the order of `Made.leaves`."""
    zero, one = (Made(tg, nudged(call, d), "float64", grad=True).leaves for d in (0.0, 1.0))
    return [b.detach().numpy() - a.detach().numpy() for a, b in zip(zero, one, strict=True)]


def weighed(tensors: list[Any], place: int = 0) -> float:
    """The sum of all elements of all float tensors, each with its weight."""
    floats = [t for t in tensors if isinstance(t, tg.Tensor) and t.is_floating_point()]
    return sum(
        float((t.detach().numpy() * weights(tuple(t.shape), place + i)).sum())
        for i, t in enumerate(floats)
    )


def smooth(name: str) -> Iterator[tuple[Call, str, Made, Any]]:
    """The differentiable calls that are not special, made and performed; those whose results are
    finite and as precise as their arguments."""
    rows = SAMPLES[name]
    if rows.seeded or not rows.values:
        return
    for call in rows.calls:
        made = Made(tg, call, "float64", grad=True)
        form = forms_of(name)[0]
        if call.special or name.endswith("_") or not made.leaves:
            continue
        result = perform(made, name, form)
        results = [r for r in flat(result) if isinstance(r, tg.Tensor) and r.is_floating_point()]
        exact = all(r.dtype is tg.float64 for r in results) and np.isfinite(weighed(results))
        if exact and any(r.grad_fn is not None and r.numel() for r in results):
            yield call, form, made, result


def close(found: float, expected: float) -> bool:
    return abs(found - expected) <= 1e-6 * max(1.0, abs(found), abs(expected))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_by_finite_differences(name):
    for call, form, made, result in smooth(name):
        grads = first_order(tg, made, result)
        if isinstance(grads, Exception):
            continue  # no derivative; test_gradient wants PyTorch's exception
        along = sum(
            float((g.numpy() * d).sum())
            for g, d in zip(grads, directions(call), strict=True)
            if g is not None
        )
        high, low = (
            weighed(flat(perform(Made(tg, nudged(call, step), "float64"), name, form)))
            for step in (STEP, -STEP)
        )
        assert close((high - low) / (2 * STEP), along), f"{name}{call}"


def gradient_along(name: str, form: str, call: Call) -> float:
    """The weighed sum of the first gradients, from the pass on plain arrays."""
    made = Made(tg, call, "float64", grad=True)
    grads = first_order(tg, made, perform(made, name, form))
    return weighed([g for g in grads if g is not None], 7)


@pytest.mark.parametrize("name", NAMES)
def test_second_derivative_by_finite_differences(name):
    for call, form, made, result in smooth(name):
        grads = first_order(tg, made, result, create_graph=True)
        if isinstance(grads, Exception):
            continue
        present = [g for g in grads if g is not None]
        if not np.isfinite(weighed(present, 7)):
            continue
        assert close(weighed(present, 7), gradient_along(name, form, call)), f"{name}{call}"
        if not present or not all(g.requires_grad for g in present):
            continue  # linear in some argument: PyTorch says what the rest is
        again = second_order(tg, made, present)
        if isinstance(again, Exception):
            continue
        along = sum(
            float((g.numpy() * d).sum())
            for g, d in zip(again, directions(call), strict=True)
            if g is not None
        )
        high, low = (gradient_along(name, form, nudged(call, step)) for step in (STEP, -STEP))
        assert close((high - low) / (2 * STEP), along), f"{name}{call}"
