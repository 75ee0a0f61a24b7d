"""What ranks do together with tensors: sum them up, hand them round, collect them.

Each function is called by all ranks, with tensors of the same shape and dtype, and says so where
they differ: what a rank calls is compared before anything moves. Lesson 16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .mpi import described
from .transport import Alone, ReduceOp, Requests, Work
from .world import transport_of


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """tensor = op over the ranks of their `tensor`, in place and on all of them.

    With `async_op` returns at once a Work whose `wait()` ends it. ValueError before
    `init_process_group`, TypeError for what is no tensor or no ReduceOp, RuntimeError where the
    ranks differ; so do the others.

    >>> from tinygrad_course import distributed as dist, ones
    >>> dist.init_process_group(); x = ones(2)
    >>> dist.all_reduce(x); dist.destroy_process_group(); x
    tensor([1., 1.])
    """
    world, array = _start(tensor, "all_reduce", group, op)
    buffer = world.stage(array)

    def finish() -> None:
        _average(buffer, op, world)
        _write(world, buffer, tensor)

    return _ended(world, world.all_reduce(buffer, op), "all_reduce", finish, async_op)


def reduce(
    tensor: Tensor,
    dst: int,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """As `all_reduce`, but only rank `dst` gets the result; RuntimeError where there is no such
    rank."""
    world, array = _start(tensor, "reduce", group, op, root=dst)
    buffer = world.stage(array)

    def finish() -> None:
        if world.rank == dst:
            _average(buffer, op, world)
            _write(world, buffer, tensor)

    return _ended(world, world.reduce(buffer, op, dst), "reduce", finish, async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False
) -> Work | None:
    """tensor = that of rank `src`, in place."""
    if src is None:
        raise ValueError("broadcast: src, the rank that gives its tensor, is missing")
    world, array = _start(tensor, "broadcast", group, root=src)
    buffer = world.stage(array)
    requests = world.broadcast(buffer, src)
    return _ended(world, requests, "broadcast", lambda: _write(world, buffer, tensor), async_op)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """tensor_list[r] = the tensor of rank r, on all ranks."""
    _require_list("tensor_list", tensor_list, tensor, transport_of(group))
    world, array = _start(tensor, "all_gather", group)
    buffer = world.stage(array)
    out = _rows(buffer, world)
    finish = _hand_out(world, out, tensor_list)
    return _ended(world, world.all_gather(buffer, out), "all_gather", finish, async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """gather_list[r] = the tensor of rank r, on rank `dst` alone, which alone gives a list."""
    _require_list_at("gather_list", gather_list, tensor, dst, "destination", group)
    world, array = _start(tensor, "gather", group, root=dst)
    buffer = world.stage(array)
    out = None if gather_list is None else _rows(buffer, world)
    finish = _hand_out(world, out, gather_list or [])
    return _ended(world, world.gather(buffer, out, dst), "gather", finish, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """tensor = scatter_list[r] of rank `src` on rank r; rank `src` alone gives a list."""
    _require_list_at("scatter_list", scatter_list, tensor, src, "source", group)
    world, array = _start(tensor, "scatter", group, root=src)
    buffer, parts = world.stage(array), None
    if scatter_list is not None:
        parts = _rows(buffer, world)
        for row, given in zip(parts, scatter_list, strict=True):
            row[...] = world.stage(given._array)
    requests = world.scatter(buffer, parts, src)
    return _ended(world, requests, "scatter", lambda: _write(world, buffer, tensor), async_op)


def send(tensor: Tensor, dst: int, group: Any = None, tag: int = 0) -> None:
    """Sends `tensor` to rank `dst`, which calls `recv`; ValueError for the own rank."""
    world = _of_tensor(tensor, group)
    _require_rank(dst, world)
    if dst == world.rank:
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the "
            f"current process, {dst}"
        )
    world.wait(world.send(world.stage(tensor._array), dst, tag), f"send to rank {dst}")


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0) -> int:
    """Fills `tensor` with what rank `src`, or any rank, sends; returns that rank. RuntimeError for
    another shape or dtype than was sent, and for the own rank."""
    world = _of_tensor(tensor, group)
    if src is not None:
        _require_rank(src, world)
        if src == world.rank:
            raise RuntimeError(
                "Invalid source rank: source rank should not be the same as the rank of the "
                f"current process, {src}"
            )
    buffer = world.stage(tensor._array)
    sender = world.receive(buffer, src, tag)
    _write(world, buffer, tensor)
    return sender


def barrier(group: Any = None, async_op: bool = False) -> Work | None:
    """Returns when all ranks have called it."""
    world = transport_of(group)
    work = world.agreement("barrier()")
    if async_op:
        return work
    work.wait()
    return None


# --- the parts of a collective --------------------------------------------------------------------


def _of_tensor(tensor: Any, group: Any) -> Alone:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "Invalid function argument. Expected parameter `tensor` of type Tensor but got "
            f"{type(tensor).__name__} instead."
        )
    return transport_of(group)


def _start(
    tensor: Any, name: str, group: Any, op: Any = None, root: Any = None
) -> tuple[Alone, Array]:
    """The transport and the tensor's memory, once all ranks are found to call the same."""
    world = _of_tensor(tensor, group)
    how = ""
    if op is not None:
        if not isinstance(op, ReduceOp):
            raise TypeError(f"{name}: op is a ReduceOp such as ReduceOp.SUM, not {op!r}")
        if op is ReduceOp.AVG and not tensor.is_floating_point():
            raise RuntimeError(f"{name}: the mean of {tensor.dtype!r} is no {tensor.dtype!r}")
        how += f", {op.name}"
    if root is not None:
        _require_rank(root, world)
        how += f", rank {root}"
    world.agree(f"{name}({described(tensor._array)}{how})")
    return world, tensor._array


def _require_rank(rank: Any, world: Alone) -> None:
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"a rank is an int, not {type(rank).__name__}")
    if not 0 <= rank < world.size:
        raise RuntimeError(
            f"invalid rank: {rank}; there are {world.size}, from 0 to {world.size - 1}"
        )


def _require_list(name: str, tensors: Any, like: Tensor, world: Alone) -> None:
    """`tensors` has one for each rank, all of the shape and dtype of `like`."""
    if not isinstance(tensors, Sequence) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[Tensor] but got "
            f"{type(tensors).__name__} instead."
        )
    if len(tensors) != world.size:
        raise RuntimeError(
            f"{name} has {len(tensors)} tensors, but there are {world.size} ranks: one for each"
        )
    for place, tensor in enumerate(tensors):
        if tensor.dtype is not like.dtype:
            raise ValueError(
                "Invalid usage of tensors with different dtypes. Found "
                f"{tensor.dtype!r} at {name}[{place}] and {like.dtype!r}"
            )
        if tensor.shape != like.shape:
            raise RuntimeError(
                f"invalid tensor size at {name}[{place}]: expected {list(like.shape)}, got "
                f"{list(tensor.shape)}"
            )


def _require_list_at(
    name: str, tensors: Any, tensor: Any, root: Any, role: str, group: Any
) -> None:
    """The root gives such a list, the others none."""
    world = _of_tensor(tensor, group)
    if world.rank == root:
        if tensors is None:
            raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
        _require_list(name, tensors, tensor, world)
    elif tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")


def _rows(buffer: Array, world: Alone) -> Array:
    return xp_of(buffer).empty((world.size, *buffer.shape), buffer.dtype)


def _write(world: Alone, buffer: Array, tensor: Tensor) -> None:
    world.unstage(buffer, tensor._array)
    tensor._bump()


def _hand_out(world: Alone, rows: Any, tensors: list[Tensor]) -> Callable[[], None]:
    def finish() -> None:
        for place, tensor in enumerate(tensors):
            _write(world, rows[place, ...], tensor)

    return finish


def _average(buffer: Array, op: ReduceOp, world: Alone) -> None:
    if op is ReduceOp.AVG:
        buffer /= world.size


def _ended(
    world: Alone, requests: Requests, what: str, finish: Callable[[], None], async_op: bool
) -> Work | None:
    """The Work of a transfer under way, or None once it has been waited for."""
    work = Work(world, requests, what, finish)
    if async_op:
        return work
    work.wait()
    return None
