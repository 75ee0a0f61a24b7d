"""Sample layers: one row per class of `nn`, from which the tests of all layers are made.

`MODULES[name]` says how the class is called and what the layer is given: the cases that must work,
the arguments that PyTorch refuses and the inputs that it refuses. As in `samples`, all of it is
plain data that can be made in either library. A new layer needs a row in `tests/modules_FAMILY.py`
and nothing else; `tests/test_modules.py` fails without one.

    layer(
        "Linear",
        case(call(3, 4), real(2, 3)),                # nn.Linear(3, 4)(x) with x of shape (2, 3)
        refused=(call(-1, 4),),                      # nn.Linear(-1, 4) raises
        misfits=(case(call(3, 4), real(2, 5)),),     # nn.Linear(3, 4)(x) raises
    )
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .samples import Call, call, given, mask, places, real

__all__ = ["MODULES", "call", "case", "given", "layer", "mask", "places", "real"]


@dataclass(frozen=True)
class Case:
    """One layer, and what it is given."""

    arguments: Call
    inputs: Call

    def __str__(self) -> str:
        return f"{self.arguments}{self.inputs}"


def case(arguments: Call, *inputs: Any, **keywords: Any) -> Case:
    """The layer made with these arguments, called with these inputs."""
    return Case(arguments, call(*inputs, **keywords))


@dataclass(frozen=True)
class Layers:
    """How one class is used. `second=False`: it has no second derivative worth checking."""

    cases: tuple[Case, ...]
    refused: tuple[Call, ...] = ()
    misfits: tuple[Case, ...] = ()
    second: bool = True


MODULES: dict[str, Layers] = {}


def layer(
    names: str,
    *cases: Case,
    refused: tuple[Call, ...] = (),
    misfits: tuple[Case, ...] = (),
    second: bool = True,
) -> None:
    """Adds one row for each of several class names, separated by spaces."""
    for name in names.split():
        if name in MODULES:
            raise ValueError(f"{name} has a row already")
        MODULES[name] = Layers(cases, refused, misfits, second)


for _path in sorted(Path(__file__).parent.glob("modules_*.py")):
    importlib.import_module(f"tests.{_path.stem}")
