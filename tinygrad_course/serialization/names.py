"""The names that stand in a `.pt` file: PyTorch's, for what a tensor or a container is made by.

They are text to be compared, never imported. Lesson 18.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtype import ALL


class Global(NamedTuple):
    """A name in a pickle: something of a module, by which the reader is to know what is meant."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


ORDERED_DICT = Global("collections", "OrderedDict")
TENSOR = Global("torch._utils", "_rebuild_tensor_v2")
PARAMETER = Global("torch._utils", "_rebuild_parameter")
SIZE = Global("torch", "Size")
DEVICE = Global("torch", "device")
ENCODE = Global("_codecs", "encode")
BYTES = Global("__builtin__", "bytes")
SET = Global("__builtin__", "set")

STORAGE_NAMES = {Global("torch", d.tensor_type.replace("Tensor", "Storage")): d for d in ALL}
DTYPE_NAMES = {Global("torch", d.name): d for d in ALL}
