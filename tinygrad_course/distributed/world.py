"""The process group: which processes work together, and which of them this one is.

`init_process_group` joins it, `destroy_process_group` leaves it. There is one group, of all ranks.
How numbers travel is the transport's business, what is done with them that of `collectives`. Lesson
16.
"""

from __future__ import annotations

import importlib.util
from datetime import timedelta
from typing import Any

from .mpi import Mpi, launched
from .nccl import Nccl
from .transport import Alone

TRANSPORTS: dict[str, type[Alone]] = {"mpi": Mpi, "nccl": Nccl}
NOT_HERE = ("gloo", "ucc", "xccl")

default_pg_timeout = timedelta(minutes=30)
_current: Alone | None = None


class group:
    """`group.WORLD`: the group of all ranks, the only one there is."""

    WORLD = "WORLD"


def is_available() -> bool:
    """Whether this package can be used: always, with a world of one at least."""
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed, which jobs of several ranks need."""
    return importlib.util.find_spec("mpi4py") is not None


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _current is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Joins the job that `mpiexec -n 4 python script.py` started; without mpiexec, a world of one.

    `backend` is "mpi", the default, or "nccl" for GPUs. A rank that does not answer within
    `timeout` (30 minutes) ends the job. `world_size` and `rank` are checked where they are given;
    mpiexec knows them. ValueError for a second call, another name or numbers that differ,
    RuntimeError for what is not installed, NotImplementedError for other ways to meet.

    >>> init_process_group(); get_rank(), get_world_size(), get_backend()
    (0, 1, 'mpi')
    >>> destroy_process_group()
    """
    global _current
    if _current is not None:
        raise ValueError(
            "trying to initialize the default process group twice! Call destroy_process_group() "
            "first"
        )
    name = _backend(backend)
    if init_method not in (None, "env://") or store is not None or pg_options is not None:
        raise NotImplementedError(
            "init_method, store and pg_options are not there: mpiexec -n N brings the ranks "
            "together, so leave them out"
        )
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout!r}: "
            "timedelta(seconds=...)"
        )
    limit = default_pg_timeout if timeout is None else timeout
    alone = name == "mpi" and not launched() and world_size in (-1, 1)
    transport = Alone(limit) if alone else TRANSPORTS[name](limit)
    for what, told, found in (
        ("world_size", world_size, transport.size),
        ("rank", rank, transport.rank),
    ):
        if told not in (-1, found):
            transport.close()
            raise ValueError(
                f"{what}={told}, but this process has {what} {found} in its job: start it by "
                "`mpiexec -n WORLD_SIZE python script.py`, and leave world_size and rank out"
            )
    transport.agree(f"init_process_group({name!r}, timeout={limit})")
    _current = transport


def _backend(backend: str | None) -> str:
    name = "mpi" if backend is None else str(backend).lower()
    if name in NOT_HERE:
        raise RuntimeError(
            f"Distributed package doesn't have {name} built in: use backend='mpi', which works on "
            "any machine, or 'nccl' on GPUs"
        )
    if name not in TRANSPORTS:
        raise ValueError(f"Invalid backend: {backend!r}; there are 'mpi' and 'nccl'")
    return name


def destroy_process_group(group: Any = None) -> None:
    """Leaves the group, once all ranks call it; AssertionError when there is none."""
    global _current
    if _current is None:
        raise AssertionError("Process group cannot be None: init_process_group was not called")
    transport = transport_of(group)
    transport.agree("destroy_process_group()")
    transport.close()
    _current = None


def transport_of(group: Any = None) -> Alone:
    """What carries the tensors of a group; ValueError before `init_process_group`."""
    if _current is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    if group not in (None, "WORLD"):
        raise ValueError(
            f"Process group {group!r} is not initialized: there is one group, of all ranks; leave "
            "`group` out"
        )
    return _current


def get_rank(group: Any = None) -> int:
    """The number of this process, from 0 to get_world_size() - 1."""
    return transport_of(group).rank


def get_world_size(group: Any = None) -> int:
    """How many processes work together."""
    return transport_of(group).size


def get_backend(group: Any = None) -> str:
    """What carries the tensors: 'mpi' or 'nccl'."""
    return transport_of(group).name
