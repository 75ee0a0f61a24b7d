"""Saving and loading: tensors, state dicts and plain containers in PyTorch's own `.pt` files.

Either library reads what the other wrote. Only data is kept: `load` builds tensors and containers
and never runs code that a file names, whoever made it. Lesson 18.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

from ..cuda import device_count
from ..device import Device, unavailable_reason
from ..dtype import DType
from ..storage import Storage
from .archive import Archive, replacing, write_archive
from .reader import Reader
from .writer import Writer

Place = Callable[[Storage, str], Storage]


def save(obj: Any, f: str | os.PathLike[str] | IO[bytes]) -> None:
    """Writes tensors, or plain containers of tensors, numbers and strings, to a path or a file.

    Views stay views: their storage is written once, and whole. A path is replaced only when all is
    written. TypeError names what is neither tensor nor plain data.

    >>> import io, tinygrad_course as tg
    >>> file = io.BytesIO(); save({"w": tg.ones(2), "epoch": 3}, file)
    >>> load(file)
    {'w': tensor([1., 1.]), 'epoch': 3}
    """
    writer = Writer()
    pickle = writer.program(obj)
    if isinstance(f, str | os.PathLike):
        with replacing(f) as file:
            write_archive(file, pickle, writer.storages)
    elif hasattr(f, "write"):
        write_archive(f, pickle, writer.storages)
    else:
        raise TypeError(f"save() takes a path or a file to write to, not {type(f).__name__}")


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Any = None,
    *,
    weights_only: bool = True,
) -> Any:
    """What `save`, or PyTorch's, has written to a path or a file.

    `map_location` says where tensors go: a device, a dict from devices to devices, or a function of
    (storage on the CPU, device it was on) that returns a storage, or None to leave the choice.
    UnpicklingError for files that hold more than data or are none of ours, RuntimeError for
    damaged ones and for devices that are not here.
    """
    if not weights_only:
        raise ValueError(
            "weights_only=False would run code that stands in the file, which this engine never "
            "does: leave the argument away"
        )
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return load(file, map_location)
    if not hasattr(f, "read"):
        raise TypeError(f"load() takes a path or a file to read from, not {type(f).__name__}")
    archive, place = Archive(f), _placing(map_location)
    storages: dict[str, Storage] = {}

    def storage(dtype: DType, key: str, location: str, numel: int) -> Storage:
        if key not in storages:
            storages[key] = place(archive.storage(dtype, key, numel), location)
        found = storages[key]
        if found.dtype is not dtype:
            raise RuntimeError(
                f"the file is damaged: storage {key} is of {found.dtype!r} and of {dtype!r}"
            )
        return found

    return Reader(storage).value(archive.pickle)


def _placing(map_location: Any) -> Place:
    if map_location is None:
        return _restored
    if isinstance(map_location, str | Device):
        device = str(Device(map_location))
        return lambda storage, location: _restored(storage, device)
    if isinstance(map_location, dict):
        return lambda storage, location: _restored(storage, map_location.get(location, location))
    if callable(map_location):

        def placed(storage: Storage, location: str) -> Storage:
            result = map_location(storage, location)
            if not isinstance(result, Storage | None):
                raise TypeError(
                    "map_location returned what is neither a storage nor None: "
                    f"{type(result).__name__}"
                )
            return _restored(storage, location) if result is None else result

        return placed
    raise TypeError(
        "map_location is a device, a dict of devices or a function, not "
        f"{type(map_location).__name__}"
    )


def _restored(storage: Storage, location: Any) -> Storage:
    """`storage`, read to the CPU, on the device it was on."""
    location = str(location)
    if location == "cpu":
        return storage
    if location.partition(":")[0] != "cuda":
        raise RuntimeError(
            f"don't know how to restore data location of a storage (tagged with {location}): this "
            "engine knows the CPU and CUDA devices; pass map_location='cpu'"
        )
    if reason := unavailable_reason():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but tg.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use tg.load with "
            f"map_location=tg.device('cpu') to map your storages to the CPU. ({reason})"
        )
    index, count = Device(location).index or 0, device_count()
    if index >= count:
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but "
            f"tg.cuda.device_count() is {count}. Please use tg.load with map_location to map "
            "your storages to an existing device."
        )
    return storage.cuda(location)


__all__ = ["load", "save"]
