"""tg.distributed: several processes that train one model, each with a part of the data.

`mpiexec -n 4 python script.py` starts the processes; in each of them `init_process_group` tells who
it is, and the collectives move tensors between them. `nn.parallel.DistributedDataParallel` is made
of these. Lesson 16.
"""

from .collectives import (
    all_gather,
    all_reduce,
    barrier,
    broadcast,
    gather,
    recv,
    reduce,
    scatter,
    send,
)
from .transport import ReduceOp, Work
from .world import (
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
    is_mpi_available,
)

__all__ = [
    "ReduceOp",
    "Work",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "get_backend",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_initialized",
    "is_mpi_available",
    "recv",
    "reduce",
    "scatter",
    "send",
]
