"""DistributedDataParallel: every rank has the whole model and a part of each batch.

All ranks start from the parameters of rank 0, each computes the gradient of its own part, and the
Reducer puts the mean in the place of each: so equal steps keep the models equal, and N ranks do
what one would do with a batch N times as large. It knows nothing of the data, which
`DistributedSampler` shares out. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...autograd.mode import is_grad_enabled
from ...distributed.world import transport_of
from ..module import Module
from .reducer import Reducer
from .scatter_gather import scatter_kwargs

MEGABYTE = 2**20


class DistributedDataParallel(Module):
    """Wraps `module` so that backward leaves the mean of all ranks' gradients in `.grad`.

    The loss is to be a mean over the rank's samples, and each rank is to have as many. Inputs go to
    the module as they are; its parameters are in `state_dict` with the prefix 'module.'.

    bucket_cap_mb: so many megabytes of gradients travel together (25).
    find_unused_parameters: don't wait for parameters that had no part in the outputs.
    broadcast_buffers: rank 0's running statistics go to all ranks before each forward.
    init_sync: start from rank 0's parameters; without it the caller sees to that.
    device_ids: the one device of a module on a GPU; inputs are moved there.

    ValueError before `init_process_group`, RuntimeError for ranks whose modules differ, a module
    without parameters to learn, and, at the next forward, parameters that got no gradient.

    >>> import tinygrad_course as tg
    >>> tg.distributed.init_process_group()
    >>> model = DistributedDataParallel(tg.nn.Linear(2, 1, bias=False))
    >>> model(tg.ones(3, 2)).sum().backward(); list(model.state_dict()), model.module.weight.grad
    (['module.weight'], tensor([[3., 3.]]))
    >>> tg.distributed.destroy_process_group()
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        self._world = transport_of(process_group)
        if gradient_as_bucket_view or static_graph:
            raise NotImplementedError(
                "DistributedDataParallel: gradient_as_bucket_view and static_graph are not there; "
                "leave them False"
            )
        learned = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not learned:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        devices = {p.device for p in module.parameters()}
        if device_ids and (len(device_ids) > 1 or any(d.type == "cpu" for d in devices)):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{list(device_ids)}, output_device {output_device}, and module parameters "
                f"{devices}."
            )
        self.module = module
        self.device_ids = list(device_ids) if device_ids else None
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True
        self._buffers_are_old = True  # whether a training step since may have changed them
        if init_sync:
            self._require_equal_modules()
            self._send_from_first([*module.parameters(), *module.buffers()])
        cap = MEGABYTE * (25 if bucket_cap_mb is None else bucket_cap_mb)
        self.reducer = Reducer(learned, self._world, cap, find_unused_parameters)

    def _require_equal_modules(self) -> None:
        """RuntimeError, on all ranks, that names the first parameter or buffer that differs."""
        named = [*self.module.named_parameters(), *self.module.named_buffers()]
        own = {
            name: f"{t.dtype!r} {list(t.shape)}, requires_grad={t.requires_grad}"
            for name, t in named
        }
        first, *others = self._world.share(own)
        for rank, other in enumerate(others, 1):
            for name in [*first, *other]:
                here, there = first.get(name, "not there"), other.get(name, "not there")
                if here != there:
                    raise RuntimeError(
                        f"DistributedDataParallel: the ranks have different models: {name} is "
                        f"{here} on rank 0 and {there} on rank {rank}"
                    )
            if list(first) != list(other):
                raise RuntimeError(
                    "DistributedDataParallel: the ranks have different models: parameters stand in "
                    f"the order {', '.join(first)} on rank 0 and {', '.join(other)} on rank {rank}"
                )

    def _send_from_first(self, tensors: list[Any]) -> None:
        """Overwrites the tensors by those of rank 0."""
        under_way = []
        for tensor in tensors:
            buffer = self._world.stage(tensor._array)
            under_way.append((tensor, buffer, self._world.broadcast(buffer, 0)))
        for tensor, buffer, requests in under_way:
            self._world.wait(requests, "the broadcast of a module's state from rank 0")
            self._world.unstage(buffer, tensor._array)
            tensor._bump()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are added up on each rank alone; the first backward after it
        averages the sums. Forward belongs into the block as well."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's part of the batch."""
        synced = is_grad_enabled() and self.require_backward_grad_sync
        if synced:
            self.reducer.require_finished()
        if self.broadcast_buffers and self._buffers_are_old:
            self._send_from_first(list(self.module.buffers()))
        self._buffers_are_old = synced
        if self.device_ids:
            (args,), (kwargs,) = scatter_kwargs(args, kwargs, self.device_ids, self.dim)
        output = self.module(*args, **kwargs)
        if synced:
            self.reducer.prepare(output)
        return output

    def join(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "DistributedDataParallel.join(): ranks with different numbers of steps are refused "
            "here; DistributedSampler gives all as many"
        )
