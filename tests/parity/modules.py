"""Every row of layers in both libraries: as they are made, and what they compute.

Each check takes the name of a class and yields a `Verdict` per comparison; see `checks`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch

import tinygrad_course as tg

from ..modules import MODULES, Case
from ..samples import Call
from .calls import Made, difference, flat, gradients_of, lookup, unequal
from .checks import Verdict, same_grads

SEED = 5


def attempt(action: Any) -> Any:
    """What the action returns, or the exception that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action()
    except Exception as error:
        return error


def construct(lib: ModuleType, name: str, arguments: Call) -> Any:
    """The layer with its initial weights for one seed, or the exception."""
    lib.manual_seed(SEED)
    made = Made(lib, arguments)
    return attempt(lambda: lookup(lib.nn, name)(*made.args, **made.kwargs))


def leaves(result: Any) -> list[Any]:
    """The tensors in an output of nested tuples."""
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in leaves(part)]
    return flat(result)


def made(name: str) -> Iterator[Verdict]:
    """repr, names, order and values of the state, and which arguments are refused."""
    rows = MODULES[name]
    for arguments in (*(c.arguments for c in rows.cases), *rows.refused):
        ours, theirs = (construct(lib, name, arguments) for lib in (tg, torch))
        yield Verdict(f"{name}{arguments}", _as_made(ours, theirs))


def _as_made(ours: Any, theirs: Any) -> str | None:
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return difference(ours, theirs, exact=True)
    if repr(ours) != repr(theirs):
        return f"repr: ours {ours!r}, PyTorch's {theirs!r}"
    for walk in ("state_dict", "named_parameters", "named_buffers"):
        a, b = dict(getattr(ours, walk)()), dict(getattr(theirs, walk)())
        if list(a) != list(b):
            return f"{walk}: ours {list(a)}, PyTorch's {list(b)}"
        for key in a:
            if str(a[key].dtype) != str(b[key].dtype):
                return f"{key}: ours {a[key].dtype}, PyTorch's {b[key].dtype}"
            if problem := unequal(a[key], b[key]):
                return f"{key}: {problem}"
    return None


class Run:
    """One call of a layer in one library; the gradients are those of its inputs and parameters."""

    def __init__(self, lib: ModuleType, name: str, case: Case, dtype: str) -> None:
        self.lib = lib
        self.module = construct(lib, name, case.arguments)
        if isinstance(self.module, Exception):
            raise self.module
        self.module = self.module.to(getattr(lib, dtype))
        self.inputs = Made(lib, case.inputs, dtype, grad=True)

    def forward(self) -> Any:
        """The outputs, or the exception; random layers draw from the start of one stream."""
        self.lib.manual_seed(SEED)
        return attempt(lambda: self.module(*self.inputs.args, **self.inputs.kwargs))

    def gradients(self, result: Any) -> Any:
        """Those of the weighed outputs, or the exception."""
        roots = [r for r in leaves(result) if r.requires_grad]
        variables = [*self.inputs.leaves, *self.module.parameters()]
        return gradients_of(self.lib, roots, variables, 0, False) if roots and variables else ()


def ran(name: str) -> Iterator[Verdict]:
    """Outputs, gradients and buffers in training and evaluation, with PyTorch's weights."""
    rows = MODULES[name]
    for case, dtype, training in itertools.product(
        rows.cases, ("float64", "float32"), (True, False)
    ):
        if isinstance(construct(torch, name, case.arguments), Exception):
            continue
        label = f"{name}{case} {dtype} {'train' if training else 'eval'}"
        yield Verdict(label, _compared(name, case, dtype, training))


def _compared(name: str, case: Case, dtype: str, training: bool) -> str | None:
    mine, yours = (Run(lib, name, case, dtype) for lib in (tg, torch))
    state = {key: tg.tensor(value.numpy()) for key, value in yours.module.state_dict().items()}
    mine.module.load_state_dict(state)
    for run in (mine, yours):
        run.module.train(training)
    ours, theirs = mine.forward(), yours.forward()
    if problem := difference(ours, theirs, exact=True, strides=False):
        return problem
    if isinstance(theirs, Exception):
        return f"PyTorch refuses it: {theirs}"
    if problem := same_grads(mine.gradients(ours), yours.gradients(theirs)):
        return problem
    for key, buffer in yours.module.named_buffers():
        if problem := unequal(mine.module.get_buffer(key), buffer):
            return f"afterwards {key}: {problem}"
    return None


def refused(name: str) -> Iterator[Verdict]:
    """Inputs that do not fit: the class of the exception, and that its text shows a size."""
    for case in MODULES[name].misfits:
        mine, yours = (Run(lib, name, case, "float32") for lib in (tg, torch))
        ours, theirs = mine.forward(), yours.forward()
        problem = difference(ours, theirs, exact=True, strides=False)
        if problem is None and not isinstance(theirs, Exception):
            problem = "PyTorch accepts it"
        if problem is None and not any(letter.isdigit() for letter in str(ours)):
            problem = f"the message shows no value seen: {ours}"
        yield Verdict(f"{name}{case}", problem)
