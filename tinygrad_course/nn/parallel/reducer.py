"""Averages gradients over the ranks while backward still computes.

Gradients come into being from the last layer to the first. Those of a few layers fill a bucket, one
piece of memory; as soon as its last gradient is there the bucket is sent off, and backward goes on
to the layers before. The end of the pass waits for the buckets that are still under way. A Reducer
knows parameters and their gradients, and nothing of modules or data. Lesson 16.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...autograd.hooks import queue_callback
from ...autograd.node import AccumulateGrad
from ...autograd.variable import Tensor
from ...device import Array, xp_of
from ...distributed.transport import Alone, ReduceOp, Requests, Work

FIRST_BUCKET = 2**20  # bytes, as in PyTorch: smaller than the others, so that sending starts early


class Bucket:
    """Some parameters, and one piece of memory for the gradients of them all."""

    def __init__(self, places: list[int], parameters: list[Any]) -> None:
        array = parameters[0]._array
        self.parts: dict[int, slice] = {}  # the place of a parameter: where its gradient stands
        end = 0
        for place, parameter in zip(places, parameters, strict=True):
            self.parts[place] = slice(end, end := end + parameter._array.size)
        self.gradients = xp_of(array).zeros(end, array.dtype)
        self.waiting = set(places)
        self.sent: tuple[Array, Requests] | None = None


class Reducer:
    """Takes care of the gradients of named parameters; RuntimeError where a pass left some out.

    `prepare` announces a backward pass, whose gradients are then averaged; others are left alone.
    With `find_unused` parameters that had no part in an output are not waited for.
    """

    def __init__(
        self, named: list[tuple[str, Any]], world: Alone, bucket_bytes: float, find_unused: bool
    ) -> None:
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self.world = world
        self.find_unused = find_unused
        self.buckets = [
            Bucket(places, [self.parameters[place] for place in places])
            for places in assign(self.parameters, bucket_bytes)
        ]
        self._bucket_of = {place: b for b in self.buckets for place in b.parts}
        self._place_of = {id(parameter): i for i, parameter in enumerate(self.parameters)}
        self._expecting = self._started = False
        self._unused = list[int]()
        self._agreement: Work | None = None
        ready = weakref.WeakMethod(self._ready)  # a leaf must not keep its Reducer alive

        def hook(parameter: Tensor) -> None:
            if (method := ready()) is not None:
                method(parameter)

        for parameter in self.parameters:
            parameter.register_post_accumulate_grad_hook(hook)

    def prepare(self, outputs: Any) -> None:
        """The next backward pass starts at `outputs`, and its gradients are to be averaged."""
        self._expecting = True
        self._used = np.zeros(len(self.parameters), np.int32)
        for bucket in self.buckets:
            bucket.waiting, bucket.sent = set(bucket.parts), None
        used = {id(leaf) for leaf in _leaves(outputs)} if self.find_unused else self._place_of
        self._unused = [place for key, place in self._place_of.items() if key not in used]

    def require_finished(self) -> None:
        """RuntimeError when a gradient of the pass before did not come."""
        if not self._started:
            return
        missing = ", ".join(self.names[i] for b in self.buckets for i in sorted(b.waiting))
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. "
            f"No gradient came on rank {self.world.rank} for: {missing}. These parameters had no "
            "part in the loss: use every output of forward in it, or pass "
            "find_unused_parameters=True to DistributedDataParallel"
        )

    def _ready(self, parameter: Tensor) -> None:
        """A gradient is complete: runs within backward, after each."""
        if not self._expecting:
            return
        if not self._started:
            self._started = True
            # Compared with the other ranks' at the end: nobody waits here.
            self._agreement = self.world.agreement("backward of DistributedDataParallel")
            for place in self._unused:
                self._put(place)
        place = self._place_of[id(parameter)]
        if place not in self._bucket_of[place].waiting:
            raise RuntimeError(
                f"Expected to mark a variable ready only once. The gradient of {self.names[place]} "
                "was averaged already: forward and backward must take turns, and the loss must "
                "depend on parameters only through the output of DistributedDataParallel"
            )
        self._used[place] = 1
        self._put(place)
        # In this order on all ranks, so a full bucket waits for those before it.
        for bucket in self.buckets:
            if bucket.sent is None:
                if bucket.waiting:
                    break
                staged = self.world.stage(bucket.gradients)
                bucket.sent = staged, self.world.all_reduce(staged, ReduceOp.SUM)
            else:
                self.world.done(bucket.sent[1])  # MPI moves on only when it is called
        else:
            queue_callback(self._finish)

    def _put(self, place: int) -> None:
        """Copies a gradient into its bucket, as this rank's part of the mean."""
        bucket, grad = self._bucket_of[place], self.parameters[place].grad
        part = bucket.gradients[bucket.parts[place]]
        if grad is None:
            part[...] = 0
        elif grad.is_sparse:
            raise NotImplementedError(
                f"DistributedDataParallel: the gradient of {self.names[place]} is sparse, which "
                "buckets cannot hold: make the Embedding with sparse=False"
            )
        else:
            part[...] = grad._array.reshape(-1)
            part /= self.world.size
        bucket.waiting.discard(place)

    def _finish(self) -> None:
        """Waits for all buckets and writes the means back to the gradients."""
        self._expecting = self._started = False
        assert self._agreement is not None
        self._agreement.wait()
        used = self._used
        if self.find_unused:  # a parameter that no rank used keeps its gradient, often None
            used = sum(self.world.share(used))
        for bucket in self.buckets:
            assert bucket.sent is not None
            staged, requests = bucket.sent
            self.world.wait(requests, "backward of DistributedDataParallel")
            self.world.unstage(staged, bucket.gradients)
            for place, part in bucket.parts.items():
                if used[place]:
                    self._write(self.parameters[place], bucket.gradients[part])

    def _write(self, parameter: Any, mean: Array) -> None:
        mean = mean.reshape(parameter._array.shape)
        if parameter.grad is None:
            parameter.grad = Tensor._wrap(xp_of(mean).empty_like(parameter._array))
        parameter.grad._array[...] = mean
        parameter.grad._bump()


def assign(parameters: list[Any], bucket_bytes: float) -> list[list[int]]:
    """The places of the parameters of each bucket, of one dtype and device: the last come first,
    as in backward."""
    buckets: list[list[int]] = []
    open_ones: dict[Any, tuple[list[int], int]] = {}  # the bucket that fills, and its bytes
    for place in reversed(range(len(parameters))):
        parameter = parameters[place]
        kind = parameter.dtype, parameter.device
        if kind not in open_ones:
            buckets.append([])
        bucket, size = open_ones.get(kind, (buckets[-1], 0))
        bucket.append(place)
        size += parameter._array.nbytes
        limit = min(FIRST_BUCKET, bucket_bytes) if bucket is buckets[0] else bucket_bytes
        open_ones[kind] = bucket, size
        if size >= limit:
            del open_ones[kind]
    return buckets


def _leaves(outputs: Any) -> Iterator[Tensor]:
    """The leaves to which a backward pass from `outputs` leads."""
    stack = [edge[0] for t in tensors_in(outputs) if (edge := t._grad_edge()) is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if isinstance(node, AccumulateGrad):
            yield node.variable
        nodes = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= nodes
        stack += nodes


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
