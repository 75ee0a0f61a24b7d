"""Every row of samples in both libraries: what comes out, and where that differs.

Each check takes the name of a row and yields a `Verdict` per comparison; `problem` is None where
both agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import tinygrad_course as tg

from ..samples import SAMPLES, Arg, Call, Rows
from .calls import (
    Made,
    aliases,
    difference,
    first_order,
    flat,
    forms_of,
    lookup,
    perform,
    second_order,
    tensor,
    unequal,
)

DTYPES = ("float16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")
LAYOUTS = ("transposed", "sliced", "expanded")


class Verdict(NamedTuple):
    """One comparison: which call, and how the libraries differ."""

    case: str
    problem: str | None

    def __str__(self) -> str:
        return f"{self.case}: {self.problem}"


def _both(
    name: str, call: Call, form: str, rows: Rows, **making: Any
) -> tuple[Made, Any, Made, Any]:
    """The call in both libraries: (our arguments, our outcome, their arguments, their outcome)."""
    found: list[Any] = []
    for lib in (tg, torch):
        if rows.seeded:
            lib.manual_seed(11)
        made = Made(lib, call, **making)
        found += [made, perform(made, name, form)]
    return tuple(found)


def _shares(made: Made, result: Any) -> list[bool]:
    """For each tensor of the result, whether it lies in the memory of the first argument."""
    tensors = [a for a in _flatten(made.args) if isinstance(a, made.lib.Tensor)]
    if not tensors:
        return []
    ours = (
        tensors[0].storage().data_ptr()
        if made.lib is tg
        else tensors[0].untyped_storage().data_ptr()
    )
    return [
        (r.storage() if made.lib is tg else r.untyped_storage()).data_ptr() == ours
        for r in flat(result)
        if isinstance(r, made.lib.Tensor) and r.numel()
    ]


def _flatten(values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield from _flatten(value) if isinstance(value, list | tuple) else [value]


def _compared(name: str, call: Call, form: str, rows: Rows, **making: Any) -> str | None:
    mine, ours, yours, theirs = _both(name, call, form, rows, **making)
    # How elements lie that were broadcast from tensors lying differently is nobody's promise.
    shapes = {a.array.shape for a in _flatten([*call.args]) if isinstance(a, Arg)}
    problem = difference(
        ours, theirs, rows.values, strides=mine.layout == "contiguous" or len(shapes) == 1
    )
    if problem is None and not isinstance(ours, Exception) and not isinstance(theirs, Exception):
        a, b = _shares(mine, ours), _shares(yours, theirs)
        if a != b:
            return f"shares memory with its argument: ours {a}, PyTorch's {b}"
    return problem


def forward(name: str) -> Iterator[Verdict]:
    """Value, shape, dtype, stride, aliasing: over calls, and over dtypes and memory layouts in the
    first form, function or method."""
    rows, forms = SAMPLES[name], forms_of(name)
    for form, call in itertools.product(forms, rows.calls):
        yield Verdict(f"{name}{call} {form}", _compared(name, call, form, rows))
        if form != forms[0] or name in aliases():
            continue
        if not any(isinstance(a, Arg) for a in _flatten([*call.args, *call.kwargs.values()])):
            continue
        if rows.dtypes:
            for dtype in DTYPES:
                problem = _compared(name, call, form, rows, dtype=dtype)
                yield Verdict(f"{name}{call} {form} {dtype}", problem)
        for layout in LAYOUTS[: 2 if name.endswith("_") else 3]:  # nobody changes what overlaps
            problem = _compared(name, call, form, rows, layout=layout)
            yield Verdict(f"{name}{call} {form} {layout}", problem)


def errors(name: str) -> Iterator[Verdict]:
    """The class of the exception, for calls that PyTorch refuses."""
    rows = SAMPLES[name]
    for form, call in itertools.product(forms_of(name), rows.bad):
        _, ours, _, theirs = _both(name, call, form, rows)
        problem = difference(ours, theirs, exact=True)
        if problem is None and not isinstance(theirs, Exception):
            problem = "PyTorch accepts this call"
        yield Verdict(f"{name}{call} {form}", problem)


# --- derivatives ----------------------------------------------------------------------------------


def same_grads(ours: Any, theirs: Any) -> str | None:
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return difference(ours, theirs)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if (a is None) != (b is None):
            # A gradient that is zero everywhere may be left out by either library.
            zeros = (a if b is None else b).detach().numpy(force=True)
            if np.allclose(zeros, 0, atol=1e-12):
                continue
            return f"gradient {i}: ours {a}, PyTorch's {b}"
        if a is not None and (
            problem := unequal(a, b) or (str(a.dtype) != str(b.dtype) and "dtype")
        ):
            return f"gradient {i}: {problem}"
    return None


def _finite(grads: Any) -> bool:
    """Whether all gradients are: where they aren't, second derivatives mean nothing."""
    if isinstance(grads, Exception):
        return False
    return all(g is None or np.isfinite(g.detach().numpy(force=True)).all() for g in grads)


def _differentiated(name: str, order: int) -> Iterator[Verdict]:
    rows, forms = SAMPLES[name], forms_of(name)
    for form, call in itertools.product(forms, rows.calls):
        for dtype, layout in (("float64", "contiguous"), ("float32", "transposed")):
            again = form != forms[0] or name in aliases()
            if dtype == "float32" and (order == 2 or again):
                continue
            making = {"dtype": dtype, "layout": layout, "grad": True}
            mine, ours, yours, theirs = _both(name, call, form, rows, **making)
            if not yours.leaves or isinstance(theirs, Exception):
                continue
            case = f"{name}{call} {form} {dtype}"
            if problem := difference(ours, theirs, rows.values, strides=False):
                yield Verdict(case, problem)
                continue
            if not any(isinstance(r, torch.Tensor) and r.requires_grad for r in flat(theirs)):
                continue
            a = first_order(tg, mine, ours, order == 2)
            b = first_order(torch, yours, theirs, order == 2)
            if order == 1:
                yield Verdict(case, same_grads(a, b))
            elif isinstance(a, Exception) and not isinstance(b, Exception):
                yield Verdict(case, difference(a, b))
            elif _finite(a) and _finite(b):
                again = second_order(tg, mine, a), second_order(torch, yours, b)
                if again == ((), ()) or "is not implemented" in str(again[1]):
                    continue  # nothing to differentiate, or PyTorch has no opinion
                blank = (None,) * len(mine.leaves)
                yield Verdict(
                    case, same_grads(*(g or blank if type(g) is tuple else g for g in again))
                )


def gradient(name: str) -> Iterator[Verdict]:
    """First derivatives."""
    return _differentiated(name, 1)


def second(name: str) -> Iterator[Verdict]:
    """Second derivatives, through create_graph=True."""
    return _differentiated(name, 2)


# --- in place -------------------------------------------------------------------------------------


def inplace_name(name: str) -> str | None:
    """The in-place method of a row: itself, or name_; None when there is none."""
    for candidate in (name, f"{name}_"):
        if candidate.endswith("_") and hasattr(tg.Tensor, candidate):
            return candidate
    return None


def inplace(name: str) -> Iterator[Verdict]:
    """x.name_(…): the value, that the result is x itself, version, history, gradients, refused
    casts and shapes."""
    rows, method = SAMPLES[name], inplace_name(name)
    if method is None:
        return
    if not hasattr(torch.Tensor, method):
        yield Verdict(method, "PyTorch has no such method")
        return
    for call in (*rows.calls, *rows.bad):
        if not isinstance(call.args[0], Arg):
            continue
        dtypes = DTYPES if rows.dtypes and name not in aliases() else ()
        for how in ("plain", "history", "view", "transposed", *dtypes):
            yield Verdict(f"{method}{call} {how}", _changed(method, call, rows, how))


def _changed(method: str, call: Call, rows: Rows, how: str) -> str | None:
    outcomes = []
    for lib in (tg, torch):
        if rows.seeded:
            lib.manual_seed(11)
        grad = how in ("history", "view")
        dtype = "float64" if grad else how if how in DTYPES else "float32"
        made = Made(lib, call, dtype, "transposed" if how == "transposed" else "contiguous", grad)
        x = made.args[0]
        owner = x.clone() if how == "history" else lib.stack([x, x]) if how == "view" else x
        made.args[0] = target = owner[1] if how == "view" else owner
        before = owner.detach().clone()
        result = perform(made, method, "method")
        outcomes.append((lib, made, owner, target, before, result))
    (_, _, owner, target, before, ours), (_, _, owner2, target2, _, theirs) = outcomes
    if problem := difference(ours, theirs, rows.values):
        return problem
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if not isinstance(ours, Exception):
            return None
        unchanged = not rows.values or unequal(owner, before) is None
        return None if unchanged else "the refused change was made all the same"
    if (ours is target) != (theirs is target2):
        return f"returns x itself: ours {ours is target}, PyTorch {theirs is target2}"
    if rows.values and (problem := difference(owner, owner2)):
        return f"afterwards, {problem}"
    if owner._version != owner2._version:
        return f"version: ours {owner._version}, PyTorch's {owner2._version}"
    leaves = outcomes[0][1].leaves
    if leaves and owner2.requires_grad:
        a, b = (first_order(lib, made, owner) for lib, made, owner, *_ in outcomes)
        return same_grads(a, b)
    return None


# --- promotion ------------------------------------------------------------------------------------

PROMOTING = (
    "add",
    "sub",
    "mul",
    "true_divide",
    "floor_divide",
    "remainder",
    "pow",
    "maximum",
    "minimum",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
)
ALL_DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")


def promotion(name: str) -> Iterator[Verdict]:
    """The dtype and value of name(x, y) for all pairs of dtypes, with dims and without, and for
    numbers on either side."""
    function, reference = lookup(tg, name), lookup(torch, name)
    operands = [np.array(v, d) for d in ALL_DTYPES for v in ([1, 3], 2)] + [True, 3, -1, 2.5]
    for x, y in itertools.product(operands, repeat=2):
        if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
            continue
        outcomes = []
        for lib, call in ((tg, function), (torch, reference)):
            pair = [tensor(lib, v.copy()) if isinstance(v, np.ndarray) else v for v in (x, y)]
            try:
                outcomes.append(call(*pair))
            except Exception as error:
                outcomes.append(error)
        shown = [
            f"{v.dtype}{list(v.shape)}" if isinstance(v, np.ndarray) else repr(v) for v in (x, y)
        ]
        yield Verdict(f"{name}({', '.join(shown)})", difference(*outcomes))
