"""Copies of a module for other devices, through which gradients flow back to the original.

A replica shares the module's code, settings and hooks; its parameters are those of the module moved
by `to`, which is recorded. What a replica's forward changes in its buffers or attributes is lost,
but for the buffers of the first replica, which are the module's own. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...device import Device
from ..module import Module
from .devices import listed


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """One replica of `network` per device; with `detach`, no gradients flow back.

    The first device is to be the one on which `network` is.

    >>> from tinygrad_course import nn
    >>> [replica.bias.shape for replica in replicate(nn.Linear(1, 2), ["cpu", "cpu"])]
    [torch.Size([2]), torch.Size([2])]
    """
    places = listed(devices)
    return [_replica(network, device, n == 0, detach) for n, device in enumerate(places)]


def _replica(network: Module, device: Device, first: bool, detach: bool) -> Any:
    moved: dict[int, Any] = {}  # a tensor that is there twice stays one

    def move(tensor: Any, is_buffer: bool) -> Any:
        if tensor is not None and id(tensor) not in moved:
            if is_buffer:
                copy = tensor if first else tensor.to(device, copy=True)
            else:
                copy = (tensor.detach() if detach else tensor).to(device)
            moved[id(tensor)] = copy
        return None if tensor is None else moved[id(tensor)]

    replicas = {module: _shell(module) for module in network.modules()}
    for module, replica in replicas.items():
        replica.__dict__.update(
            _parameters={name: move(p, False) for name, p in module._parameters.items()},
            _buffers={name: move(b, True) for name, b in module._buffers.items()},
            _modules={name: replicas.get(child) for name, child in module._modules.items()},
        )
    return replicas[network]


def _shell(module: Module) -> Any:
    """A module with the same attributes."""
    shell = object.__new__(type(module))
    shell.__dict__.update(module.__dict__)
    return shell
