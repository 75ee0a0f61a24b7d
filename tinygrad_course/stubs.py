"""Writes `autograd/methods.pyi`: what the registry binds to Tensor, for editors and type checkers.

Methods appear on Tensor when an operation is defined, where only a running Python can see them.
`python -m tinygrad_course.stubs` writes them down; a test fails when the file is out of date.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from . import ops
from .autograd.variable import Tensor

PATH = Path(__file__).parent / "autograd" / "methods.pyi"

_HEAD = '''"""Made by `python -m tinygrad_course.stubs`: what is bound to Tensor. Do not edit."""

import builtins
from typing import Any

from ..tensor import TensorBase
from .variable import Tensor

class TensorMethods(TensorBase):
'''

# What an operation returns when that is no Tensor.
_RETURNS = {
    "__array__": "Any",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
    "__reduce_ex__": "Any",
    "__setitem__": "None",
    "allclose": "builtins.bool",
    "aminmax": "Any",
    "chunk": "tuple[Tensor, ...]",
    "cummax": "Any",
    "cummin": "Any",
    "equal": "builtins.bool",
    "kthvalue": "Any",
    "max": "Any",
    "median": "Any",
    "min": "Any",
    "mode": "Any",
    "nanmedian": "Any",
    "nonzero": "Any",
    "numpy": "Any",
    "record_stream": "None",
    "sort": "Any",
    "split": "tuple[Tensor, ...]",
    "topk": "Any",
    "type": "Any",
    "unbind": "tuple[Tensor, ...]",
    "unique": "Any",
    "unique_consecutive": "Any",
}


def text() -> str:
    """The contents of the stub file."""
    lines = []
    for name, value in sorted(vars(Tensor).items()):
        module = getattr(getattr(value, "fget", value), "__module__", "") or ""
        if not module.startswith(f"{ops.__name__}."):
            continue
        returns = _RETURNS.get(name, "Tensor")
        if isinstance(value, property):
            lines.append(f"    @property\n    def {name}(self) -> {returns}: ...\n")
        else:
            ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            lines.append(f"    def {name}(self{_arguments(value)}) -> {returns}: ...{ignore}\n")
    return _HEAD + "".join(lines)


def _arguments(method: Any) -> str:
    """The parameters after self, each as `name: Any`."""
    op = getattr(method, "op", None)
    if op is None:
        parameters = list(inspect.signature(method).parameters.values())[1:]
    else:
        parameters = [
            p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p
            for p in list(inspect.signature(op.forward).parameters.values())[3:]
        ]
    parts, star = [], False
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
            star = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not star:
                parts.append("*")
                star = True
            parts.append(f"{p.name}: Any" + ("" if p.default is p.empty else " = ..."))
    return "".join(f", {part}" for part in parts)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
    print(f"{PATH.name}: {text().count('def ')} methods")
