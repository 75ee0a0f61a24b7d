"""DataParallel: one process, several devices, each with the whole model and a part of the batch.

At every call the batch is scattered, the module replicated, the replicas run in threads, and the
outputs gathered; since all of it is recorded, backward sums the gradients in the module itself.
Copying the model at every step is what DistributedDataParallel does not need to. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..module import Module
from .devices import all_devices, listed
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter_kwargs


class DataParallel(Module):
    """Wraps `module` so that a batch is cut along `dim` and computed on `device_ids`, all CUDA
    devices unless given; the output is on `output_device`, the first of them.

    Without CUDA devices, or with one, it calls the module. "cpu", also several times, is a device
    as well. RuntimeError at the call when the module isn't on the first device.

    >>> import tinygrad_course as tg
    >>> net = tg.nn.Linear(2, 1, bias=False)
    >>> DataParallel(net, ["cpu", "cpu"])(tg.ones(4, 2)).sum().backward(); net.weight.grad
    tensor([[4., 4.]])
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids = listed(all_devices() if device_ids is None else device_ids)
        self.dim = dim
        if self.device_ids:
            first = self.device_ids[0] if output_device is None else output_device
            (self.output_device,) = listed([first])

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's output for the whole batch."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        return data_parallel(
            self.module, inputs, self.device_ids, self.output_device, self.dim, kwargs
        )


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """`module(*inputs, **module_kwargs)`, computed on several devices: DataParallel as a function.

    RuntimeError where there is no device, or the module isn't on the first.

    >>> import tinygrad_course as tg
    >>> data_parallel(tg.nn.ReLU(), tg.arange(3) - 1, ["cpu", "cpu"])
    tensor([0, 0, 1])
    """
    devices = listed(all_devices() if device_ids is None else device_ids)
    if not devices:
        raise RuntimeError("device type could not be determined: name devices in device_ids")
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.device != devices[0]:
            raise RuntimeError(
                "module must have its parameters and buffers on device "
                f"{devices[0]} (device_ids[0]) but found one of them on device: {tensor.device}"
            )
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    args, kwargs = scatter_kwargs(inputs, module_kwargs, devices, dim)
    if not args:  # a module that takes nothing
        args, kwargs = ((),), ({},)
    if len(devices) == 1:
        return module(*args[0], **kwargs[0])
    used = devices[: len(args)]
    outputs = parallel_apply(replicate(module, used), args, kwargs, used)
    return gather(outputs, devices[0] if output_device is None else output_device, dim)
