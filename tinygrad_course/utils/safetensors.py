"""Safetensors files: named tensors and nothing else, through the `safetensors` library.

The format that models are shared in: a header of names, types and sizes, then the bytes. The
library is imported when a file is first read or written. Lesson 18.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..autograd.variable import Tensor
from ..dtype import ALL
from ..serialization.archive import replacing

_DTYPES = {
    ("F" if d.is_floating_point else "I" if d.is_signed else "U") + str(8 * d.itemsize): d
    for d in ALL
    if d.category
} | {"BOOL": ALL[-1]}


def _library() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(
            "safetensors files need the safetensors library: pip install "
            "'tinygrad-course[safetensors]'"
        ) from error
    return safetensors


def save_file(
    tensors: Mapping[str, Tensor],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Writes named tensors, e.g. a state dict, with optional text beside them.

    A file of that name is replaced only when all is written. TypeError for what is no tensor,
    RuntimeError for tensors that share memory, which the format cannot say: clone() one of them.
    """
    library, owners, arrays = _library(), dict[int, str](), dict[str, Any]()
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name!r} is a {type(tensor).__name__}, and only tensors can be saved")
        other = owners.setdefault(tensor.storage()._address(), name) if tensor.numel() else name
        if other is not name:
            raise RuntimeError(
                f"{other!r} and {name!r} share memory: save a clone() of one of them"
            )
        arrays[name] = np.ascontiguousarray(tensor.detach()._host()).reshape(tensor.shape)
    content = library.numpy.save(arrays, metadata)
    with replacing(filename) as file:
        file.write(content)


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """The named tensors of a file, on `device`.

    RuntimeError for a damaged file or one of another kind, TypeError for element types that tensors
    lack.
    """
    library = _library()
    with open(filename, "rb") as file:
        content = file.read()
    try:
        records = library.deserialize(content)
    except library.SafetensorError as error:
        raise RuntimeError(f"{filename} is no whole safetensors file: {error}") from None
    result = {}
    for name, record in records:
        dtype = _DTYPES.get(record["dtype"])
        if dtype is None:
            raise TypeError(f"{name!r} holds {record['dtype']}, a type that tensors here lack")
        array = np.frombuffer(record["data"], dtype.numpy).reshape(record["shape"]).copy()
        result[name] = Tensor._wrap(array).to(device)
    return result


__all__ = ["load_file", "save_file"]
