"""Which devices a module is spread over, and that each operation runs where its tensors are.

CuPy computes on the current device of a thread, PyTorch on the device of the operands. With one GPU
these are the same; for several `follow_devices` makes the operands' device current before each
operation, forward and backward. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...autograd.node import Node
from ...autograd.watch import OpHook, watch, watching
from ...device import Device, backend_for, backend_of, unavailable_reason


def all_devices() -> list[Device]:
    """Every CUDA device, none where CUDA can't be used."""
    if unavailable_reason() is not None:
        return []
    count = backend_for("cuda").xp.cuda.runtime.getDeviceCount()
    return [Device("cuda", index) for index in range(count)]


def listed(devices: Sequence[Any]) -> list[Device]:
    """Devices from their numbers or names; 'cuda' alone is the first one."""
    found = [Device(device) for device in devices]
    return [Device("cuda", 0) if d.type == "cuda" and d.index is None else d for d in found]


class FollowDevices(OpHook):
    """Makes the device of the arrays that meet in an operation the current one of the thread."""

    def before_forward(self, op: type[Node], args: tuple[Any, ...]) -> None:
        _follow(args)

    def before_backward(self, node: Node, grads: tuple[Any, ...]) -> None:
        _follow(grads)

    def after_backward(self, node: Node, grads: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        _follow(results)  # which the engine may add to others


def follow_devices(devices: Sequence[Device]) -> None:
    """From now on operations run where their tensors are, if `devices` has several CUDA ones."""
    several = len({device for device in devices if device.type == "cuda"}) > 1
    if several and not any(isinstance(hook, FollowDevices) for hook in watching):
        watch(FollowDevices())


def _follow(values: Iterable[Any]) -> None:
    for value in values:
        array = getattr(value, "_array", value)
        backend = backend_of(array)
        if backend.kind == "cuda":
            backend.xp.cuda.Device(backend.index_of(array)).use()
            return
