"""Making one call in one library, and comparing what two libraries made of it.

A library is a module: `tinygrad_course` or `torch`. An outcome is what the call returned or the
exception that it raised.
"""

from __future__ import annotations

import warnings
from functools import cache, reduce
from types import ModuleType
from typing import Any

import numpy as np

import tinygrad_course as tg

from ..samples import SAMPLES, Arg, Call, Own

FLOATS = {
    "float16": 2e-3,
    "float32": 2e-5,
    "float64": 1e-9,
}  # and the relative error allowed in each


# --- making ---------------------------------------------------------------------------------------


def cast(array: np.ndarray, dtype: str) -> np.ndarray:
    """A real array in the type of the run; for integers what has no integer becomes one."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return array.astype(kind)
    whole = np.trunc(np.nan_to_num(array, nan=3, posinf=4, neginf=-4)).astype(np.int64)
    return np.asarray(np.abs(whole) if kind.kind == "u" else whole).astype(kind)


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """A copy with the same elements in another memory order."""
    if array.ndim == 0 or layout == "contiguous":
        return array.copy(order="C")
    if layout == "transposed":
        return array.copy(order="F")
    if layout == "sliced":
        wide = np.full((*array.shape[:-1], 2 * array.shape[-1] + 1), 77).astype(array.dtype)
        wide[..., 1::2] = array
        return wide[..., 1::2]
    if layout == "expanded":
        first = array[:1].copy()
        return np.lib.stride_tricks.as_strided(first, array.shape, (0, *first.strides[1:]))
    raise ValueError(layout)


def tensor(lib: ModuleType, array: np.ndarray) -> Any:
    """A tensor of `lib` on the memory of `array`."""
    if array.size == 0:  # NumPy has other strides for these
        return lib.zeros(array.shape, dtype=getattr(lib, array.dtype.name))
    return lib.from_numpy(array)


class Made:
    """The arguments of a call, made in one library; `leaves` are the tensors to differentiate."""

    def __init__(
        self,
        lib: ModuleType,
        call: Call,
        dtype: str = "float32",
        layout: str = "contiguous",
        grad: bool = False,
        device: str | None = None,
    ) -> None:
        self.lib, self.dtype, self.layout, self.grad, self.device = lib, dtype, layout, grad, device
        self.leaves: list[Any] = []
        self.args = [self._make(a) for a in call.args]
        self.kwargs = {k: self._make(v) for k, v in call.kwargs.items()}

    def _make(self, value: Any) -> Any:
        if isinstance(value, Own):
            return getattr(self.lib, value.name)
        if isinstance(value, list | tuple):
            return type(value)(map(self._make, value))
        if not isinstance(value, Arg):
            return value
        array = cast(value.array, self.dtype) if value.real else value.array
        made = tensor(self.lib, laid_out(array, self.layout))
        if self.device is not None:
            made = made.to(self.device)
        if self.grad and value.real and not value.fixed:
            made.requires_grad_()
            self.leaves.append(made)
        return made


def lookup(lib: ModuleType, name: str) -> Any:
    """lib.a.b for "a.b"; None when it isn't there."""
    return reduce(lambda owner, part: getattr(owner, part, None), name.split("."), lib)


def forms_of(name: str) -> list[str]:
    """The ways in which the engine offers `name`: as a function, as a method (or property), or in
    place only."""
    forms = []
    if not name.startswith("Tensor.") and lookup(tg, name) is not None:
        forms.append("function")
    own_row = forms and f"Tensor.{name}" in SAMPLES
    if not own_row and hasattr(tg.Tensor, name.removeprefix("Tensor.")):
        forms.append("method")
    return forms


@cache
def aliases() -> set[str]:
    """The rows of another name for what an earlier row has: tried once and not in every way."""
    known: set[Any] = set()
    found = set()
    for name in SAMPLES:
        owner = tg if "function" in forms_of(name) else tg.Tensor
        body = lookup(owner, name.removeprefix("Tensor."))
        body = getattr(body, "op", body)
        if body in known:
            found.add(name)
        known.add(body)
    return found


def perform(made: Made, name: str, form: str) -> Any:
    """The result of the call, or the exception that it raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if form == "function":
                return lookup(made.lib, name)(*made.args, **made.kwargs)
            attribute = getattr(made.args[0], name.removeprefix("Tensor."))
            if not callable(attribute) or isinstance(attribute, made.lib.Tensor):
                return attribute
            return attribute(*made.args[1:], **made.kwargs)
    except Exception as error:
        return error


# --- differentiating ----------------------------------------------------------------------------


def weights(shape: tuple[int, ...], place: int = 0) -> np.ndarray:
    """Numbers of that shape to weigh a result or a gradient with."""
    count = int(np.prod(shape, dtype=int))
    return (0.5 + (np.arange(1, count + 1) * 0.7548776662 + place * 0.569840291) % 1).reshape(shape)


def first_order(lib: ModuleType, made: Made, result: Any, create_graph: bool = False) -> Any:
    """The gradients of the weighed results for `made.leaves`, or the exception."""
    roots = [r for r in flat(result) if isinstance(r, lib.Tensor) and r.requires_grad]
    return gradients_of(lib, roots, made.leaves, 0, create_graph)


def second_order(lib: ModuleType, made: Made, grads: Any) -> Any:
    """The gradients of the weighed gradients; () when none of those requires grad."""
    roots = [g for g in grads if g is not None and g.requires_grad]
    return gradients_of(lib, roots, made.leaves, 7, False) if roots else ()


def gradients_of(lib: ModuleType, roots: Any, leaves: Any, place: int, create_graph: bool) -> Any:
    given = [
        tensor(lib, weights(tuple(r.shape), place + i)).to(r.dtype) for i, r in enumerate(roots)
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lib.autograd.grad(
                roots, leaves, given, create_graph=create_graph, allow_unused=True
            )
    except Exception as error:
        return error


# --- comparing ------------------------------------------------------------------------------------


def flat(result: Any) -> list[Any]:
    """The tensors of a result: one, or those of a tuple."""
    return list(result) if isinstance(result, tuple | list) else [result]


def difference(
    ours: Any, theirs: Any, values: bool = True, exact: bool = False, strides: bool = True
) -> str | None:
    """What differs between our outcome and PyTorch's, in a few words; None when they agree."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if type(ours).__name__ == type(theirs).__name__:
            return None
        if not exact and isinstance(theirs, NotImplementedError):
            return None  # PyTorch has no CPU kernel for this type, so it has no opinion
        return f"ours {_told(ours)}, PyTorch's {_told(theirs)}"
    if isinstance(theirs, tuple | list):
        if not isinstance(ours, tuple | list) or len(ours) != len(theirs):
            return f"ours is {_told(ours)}, PyTorch's {_told(theirs)}"
        names = [
            name
            for name in getattr(theirs, "_fields", dir(theirs))
            if name in ("values", "indices")
        ]
        if missing := [name for name in names if not hasattr(ours, name)]:
            return f"the result has no {missing}"
        found = (
            difference(a, b, values, exact, strides) for a, b in zip(ours, theirs, strict=True)
        )
        return next((f"[{i}] {d}" for i, d in enumerate(found) if d), None)
    if not hasattr(theirs, "detach"):
        return None if ours == theirs else f"ours is {ours!r}, PyTorch's {theirs!r}"
    if not isinstance(ours, tg.Tensor):
        return f"ours is {_told(ours)}, PyTorch's a tensor"
    for what in ("shape", "dtype", "requires_grad", "is_leaf"):
        a, b = getattr(ours, what), getattr(theirs, what)
        if str(a) != str(b):
            return f"{what}: ours {a}, PyTorch's {b}"
    wrong = _layout(ours) != _layout(theirs) if strides else theirs.is_contiguous()
    if wrong and not (ours.is_contiguous() and not strides):
        return f"stride of {tuple(ours.shape)}: ours {ours.stride()}, PyTorch's {theirs.stride()}"
    return unequal(ours, theirs) if values else None


def _layout(x: Any) -> Any:
    """The strides that matter: all in a row-major tensor, else those along which there are steps,
    and none without elements."""
    if x.is_contiguous() or x.numel() == 0:
        return x.stride() if x.numel() else ()
    return [step for n, step in zip(x.shape, x.stride(), strict=True) if n > 1]


def unequal(ours: Any, theirs: Any) -> str | None:
    """How the elements of two tensors differ; None when they agree to the precision of their
    type."""
    a, b = ours.detach().cpu().numpy(), theirs.detach().numpy(force=True)  # PyTorch has lazy zeros
    error = FLOATS.get(b.dtype.name, 0.0)
    if a.shape != b.shape:
        return f"shape: ours {a.shape}, PyTorch's {b.shape}"
    if np.allclose(a, b, rtol=error, atol=error, equal_nan=True):
        return None
    return f"values: ours {a.ravel()[:6].tolist()}, PyTorch's {b.ravel()[:6].tolist()}"


def _told(outcome: Any) -> str:
    if isinstance(outcome, Exception):
        return f"raises {type(outcome).__name__} ({str(outcome)[:90]!r})"
    if isinstance(outcome, tuple | list):
        return f"{type(outcome).__name__} of {len(outcome)}"
    return f"a {type(outcome).__name__}"
