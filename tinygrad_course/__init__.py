"""tinygrad_course: PyTorch's ideas as an engine to be read. `import tinygrad_course as tg` stands
where `import torch` would.

The public names only; see `tensor`, `autograd`, `ops`, `nn`, `optim` for what is behind them.
Tensors and their operations are imported at once; what `_LATER` lists, layers and optimizers too,
when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import autograd, ops
from .autograd import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .autograd.variable import Tensor, Variable
from .device import Device as device
from .device import get_default_device, set_default_device
from .dtype import (
    DType,
    can_cast,
    double,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    set_default_dtype,
    set_default_tensor_type,
    short,
    uint8,
)
from .dtype import DType as dtype
from .dtype import bool_ as bool
from .dtype import float_ as float
from .dtype import int_ as int
from .layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
    sparse_coo,
    strided,
)
from .ops import return_types
from .ops.memory import is_storage
from .ops.typed import TYPED, result_type, typename
from .printing import set_printoptions
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .shape import Size
from .storage import STORAGES
from .threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from . import cpu, cuda, distributed, linalg, nn, optim, serialization, utils, viz
    from .cpu import get_device_module
    from .serialization import load, save

# Imported when first used: modules, and functions that stand in one of them.
_LATER = ("cpu", "cuda", "distributed", "linalg", "nn", "optim", "serialization", "utils", "viz")
_FOUND_IN = {"get_device_module": "cpu", "load": "serialization", "save": "serialization"}

__version__ = "0.1.0"

# glibc hands blocks of 128 KB and more back to the system and faults them in again at every
# training step. Making and dropping one block of nearly 32 MB raises that limit for the process;
# its memory is never touched. A LeNet step gets twice as fast.
np.empty(2**25 - 2**16, np.uint8)

globals().update(ops.FUNCTIONS)
globals().update(TYPED)
globals().update(STORAGES)
Storage = STORAGES["FloatStorage"]

newaxis = None
inf, nan, pi, e = np.inf, np.nan, np.pi, np.e


def is_tensor(obj: Any) -> Any:
    """Whether `obj` is a Tensor.

    >>> is_tensor(zeros(1)), is_tensor([0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _LATER:
        return import_module(f".{name}", __name__)
    if name in _FOUND_IN:
        found = getattr(import_module(f".{_FOUND_IN[name]}", __name__), name)
        globals()[name] = found  # so that this is asked once
        return found
    raise AttributeError(
        f"tinygrad_course has no {name!r}. Where PyTorch has it, this engine leaves it out; "
        "dir(tinygrad_course) lists what is there."
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = sorted(
    name
    for name in (*globals(), *_LATER, *_FOUND_IN)
    if not name.startswith("_") and name not in ("annotations", "np", "Any", "TYPE_CHECKING")
)
