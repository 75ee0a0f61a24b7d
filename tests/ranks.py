"""What the ranks of a job do: `mpiexec -n 2 python -m tests.ranks PROGRAM FOLDER` runs a program in
each, and writes what rank r saw to FOLDER/r.json.

Those in `BOTH` are written for either library and run in both, in the same processes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

import tinygrad_course as tg

from . import fake_cuda, fake_nccl
from .parity.both import attempt, seen

BOTH: dict[str, Callable[[Any, Any], Any]] = {}
ALONE: dict[str, Callable[[], Any]] = {}


def both(program: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    BOTH[program.__name__] = program
    return program


def alone(program: Callable[[], Any]) -> Callable[[], Any]:
    ALONE[program.__name__] = program
    return program


def me(dist: Any = tg.distributed) -> int:
    return dist.get_rank()


# --- collectives, in both libraries ---------------------------------------------------------------


@both
def reductions(lib, dist):
    found = []
    for op in ("SUM", "PRODUCT", "MIN", "MAX"):
        for dtype in ("float32", "float64", "float16", "int64", "int32", "uint8", "int8"):
            x = (lib.arange(3) + 1 + me(dist)).to(getattr(lib, dtype))
            found += [dist.all_reduce(x, getattr(dist.ReduceOp, op)), x]
    x = lib.ones(2) * (me(dist) + 1)
    dist.all_reduce(x, op=dist.ReduceOp.AVG)
    y = lib.ones(3, dtype=lib.float64) * (me(dist) + 1)
    dist.reduce(y, 1)
    return [*found, x, y if me(dist) == 1 else None]


@both
def numbers_and_nothing(lib, dist):
    number, nothing = lib.tensor(me(dist) + 1.0), lib.zeros(0, 3)
    dist.all_reduce(number), dist.all_reduce(nothing)
    leaf, y = lib.ones(2, requires_grad=True), lib.ones(2) * me(dist)
    dist.all_reduce(leaf), dist.broadcast(y, src=1)
    return number, nothing, leaf, y


@both
def handing_round(lib, dist):
    rank, n = me(dist), dist.get_world_size()
    every = [lib.zeros(2, 3) for _ in range(n)]
    dist.all_gather(every, lib.full((3, 2), rank + 1.0).t())
    at_last = [lib.zeros(2, dtype=lib.int64) for _ in range(n)] if rank == n - 1 else None
    dist.gather(lib.arange(2) + rank, at_last, dst=n - 1)
    part = lib.zeros(2)
    dist.scatter(part, list(lib.arange(2.0 * n).view(n, 2)) if rank == 0 else None, src=0)
    work = dist.all_reduce(part, async_op=True)
    waited = work.wait(), work.is_completed()
    dist.barrier()
    return every, at_last, part, waited


@both
def messages(lib, dist):
    x = lib.arange(3.0).view(1, 3) * 2
    if me(dist) == 0:
        dist.send(x, 1)
        dist.send(x.t() + 1, dst=1, tag=5)
        return None
    y, z = lib.zeros(1, 3), lib.zeros(3, 1)
    return dist.recv(y), y, dist.recv(z, src=0, tag=5), z


@both
def refusals(lib, dist):
    """Each is refused before anything is sent."""
    rank, n = me(dist), dist.get_world_size()
    x, lists = lib.ones(2), [lib.ones(2) for _ in range(n)]
    calls = [
        lambda: dist.init_process_group("gloo"),
        lambda: dist.all_reduce([1]),
        lambda: dist.all_reduce(x, op="sum"),
        lambda: dist.all_reduce(x, group=3),
        lambda: dist.broadcast(x, 7),
        lambda: dist.broadcast(x, -1),
        lambda: dist.broadcast(x),
        lambda: dist.reduce(x, 7),
        lambda: dist.all_gather([], x),
        lambda: dist.all_gather(lists[1:], x),
        lambda: dist.all_gather(x, x),
        lambda: dist.all_gather([lib.ones(3)] * n, x),
        lambda: dist.all_gather([lib.ones(2).double()] * n, x),
        lambda: dist.gather(x, None, dst=rank),
        lambda: dist.gather(x, lists, dst=1 - rank),
        lambda: dist.gather(x, lists[1:], dst=rank),
        lambda: dist.scatter(x, None, src=rank),
        lambda: dist.scatter(x, lists, src=1 - rank),
        lambda: dist.scatter(x, [lib.ones(3)] * n, src=rank),
        lambda: dist.send(x, rank),
        lambda: dist.recv(x, rank),
        lambda: dist.send(None, 1 - rank),
    ]
    return [attempt(call) for call in calls]


# --- DistributedDataParallel, in both libraries ---------------------------------------------------


def branched(lib, seed=0, never=False, **options):
    """A network with two branches, of which a keyword chooses, and with running means; the same
    wrapped."""

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = lib.nn.Linear(3, 4)
            self.norm = lib.nn.BatchNorm1d(4)
            self.left, self.right = lib.nn.Linear(4, 2), lib.nn.Linear(4, 2)
            self.never = lib.nn.Linear(2, 2) if never else None

        def forward(self, x, *, branch="both"):
            x = self.norm(self.first(x)).tanh()
            parts = {"left": self.left, "right": self.right}
            chosen = [part for name, part in parts.items() if branch in (name, "both")]
            return {"y": [part(x) for part in chosen]}

    lib.manual_seed(seed)
    net = Net().to(lib.float64)  # in which the two libraries round alike
    return net, lib.nn.parallel.DistributedDataParallel(net, **options)


def grads(net):
    return [p.grad for p in net.parameters()]


def loss_of(out):
    return sum(y.pow(2).mean() for y in out["y"])


def inputs(lib, rank):
    return (lib.arange(12, dtype=lib.float64).view(4, 3) * (rank + 1) % 5 - 2) / 3


@both
def first_state(lib, dist):
    """Rank 0's parameters and buffers come to all."""
    net, model = branched(lib, seed=me(dist))
    with lib.no_grad():
        net.norm.running_mean += me(dist) + 1
    model.eval()(inputs(lib, 0))  # buffers are sent anew
    return list(model.state_dict().items()), repr(model)


@both
def means(lib, dist):
    """Gradients, and the parameters and buffers after three steps."""
    net, model = branched(lib, seed=me(dist), bucket_cap_mb=1e-5)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    found = []
    for step in range(3):
        optimizer.zero_grad()
        loss_of(model(inputs(lib, me(dist)) + step)).backward()
        optimizer.step()
        found += grads(net)
    return found, list(net.parameters()), net.norm.running_mean


@both
def without_sync(lib, dist):
    net, model = branched(lib)
    found = []
    with model.no_sync():
        for _ in range(2):
            loss_of(model(inputs(lib, me(dist)))).backward()
            found += [g.clone() for g in grads(net)]
    loss_of(model(inputs(lib, me(dist)))).backward()
    found += [g.clone() for g in grads(net)]
    loss_of(model(inputs(lib, me(dist)))).backward()  # onto the mean
    found += [g.clone() for g in grads(net)]
    with lib.no_grad():
        model(inputs(lib, 0))
    loss_of(net(inputs(lib, me(dist)))).backward()  # past the wrapper: on this rank alone
    return found, grads(net)


@both
def several_passes(lib, dist):
    """Two outputs and one backward; one output and two; a forward that is not used."""
    found = []
    net, model = branched(lib, broadcast_buffers=False)
    (loss_of(model(inputs(lib, me(dist)))) + loss_of(model(inputs(lib, 3)))).backward()
    found += [g.clone() for g in grads(net)]
    model(inputs(lib, 1))
    loss = loss_of(model(inputs(lib, me(dist))))
    loss.backward(retain_graph=True)
    found += [g.clone() for g in grads(net)]
    loss.backward()
    return found, grads(net)


@both
def unused_found(lib, dist):
    """Each rank uses another branch; one part is used by none."""
    net, model = branched(lib, find_unused_parameters=True, never=True)
    found = []
    for branches in (("left", "left"), ("left", "right"), ("both", "right")):
        model.zero_grad()
        loss_of(model(inputs(lib, me(dist)), branch=branches[me(dist)])).backward()
        found.append(list(grads(net)))
    return found


@both
def ready_twice(lib, dist):
    """Two passes over one forward that have a layer in common."""
    _, model = branched(lib)
    left, right = model(inputs(lib, me(dist)))["y"]
    kept.append(model)  # while its gradients are on their way
    left.sum().backward(retain_graph=True)
    return attempt(lambda: right.sum().backward())


kept: list[Any] = []


@both
def frozen(lib, dist):
    net, _ = branched(lib)
    net.left.weight.requires_grad_(False)
    model = lib.nn.parallel.DistributedDataParallel(net)
    loss_of(model(inputs(lib, me(dist)))).backward()
    return grads(net)


# --- ours alone -----------------------------------------------------------------------------------


@alone
def four():
    """Every collective on more ranks than CPUs, and DistributedDataParallel on them."""
    dist, rank = tg.distributed, me()
    x = tg.arange(4.0) + rank
    dist.all_reduce(x)
    every = [tg.zeros(()) for _ in range(4)]
    dist.all_gather(every, tg.tensor(float(rank)))
    flags = tg.tensor([rank == 2, True, False])
    both_of = flags.clone()
    dist.all_reduce(flags), dist.all_reduce(both_of, dist.ReduceOp.MIN)
    # Round a ring: each hands its number on.
    number = tg.tensor([rank])
    if rank == 0:
        dist.send(number, 1)
        dist.recv(number, 3)
    else:
        got = tg.tensor([0])
        dist.recv(got)
        dist.send(got + rank, (rank + 1) % 4)
    net, model = branched(tg, seed=rank, broadcast_buffers=False)
    net.eval()
    x_all = tg.cat([inputs(tg, r) for r in range(4)])
    loss_of(model(x_all[rank::4])).backward()
    distributed = [g.clone() for g in grads(net)]
    net.zero_grad()
    loss_of(net(x_all)).backward()
    close = [np.allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-7)
             for a, b in zip(distributed, grads(net), strict=True)]  # fmt: skip
    return x, every, flags, both_of, number if rank == 0 else None, close


@alone
def windows():
    """Into memory with gaps, where PyTorch's gloo reads across them; a change counts as one."""
    dist = tg.distributed
    base = tg.zeros(3, 4) + me()
    dist.all_reduce(base.t()[1])
    dist.broadcast(base[:, ::2], 1)
    x = tg.ones(2, requires_grad=True)
    y = x.exp()
    dist.all_reduce(y.detach())
    try:
        y.sum().backward()
    except RuntimeError as error:
        return base, str(error)


@alone
def on_gpus():
    """Collectives of tensors on pretended GPUs, one a rank, and DistributedDataParallel there."""
    dist, rank = tg.distributed, me()
    place = f"cuda:{rank}"
    tg.cuda.set_device(rank)
    x = (tg.arange(6.0).view(2, 3) + rank).to(place)
    gaps, flags = x.t().contiguous().t(), tg.tensor([rank == 1, True, False]).to(place)
    fewest = flags.clone()
    dist.all_reduce(gaps), dist.all_reduce(flags), dist.all_reduce(fewest, dist.ReduceOp.MIN)
    every = [tg.zeros(2, 3).to(place) for _ in range(2)]
    dist.all_gather(every, x)
    at_first = [tg.zeros(2, 3).to(place) for _ in range(2)] if rank == 0 else None
    dist.gather(x, at_first)
    part = tg.zeros(2, 3).to(place)
    dist.scatter(part, every if rank == 1 else None, src=1)
    mean, first = x.clone(), x.clone()
    dist.reduce(mean, 0, dist.ReduceOp.AVG), dist.broadcast(first, 0)
    got = tg.zeros(2, 3).to(place)
    dist.send(x, 1) if rank == 0 else dist.recv(got, 0)
    model = tg.nn.Linear(3, 2).to(place)
    wrapped = tg.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    wrapped(x).pow(2).sum().backward()
    alone = [p.detach().cpu().requires_grad_() for p in model.parameters()]
    whole = tg.cat([tg.arange(6.0).view(2, 3) + r for r in range(2)])
    (tg.nn.functional.linear(whole, *alone).pow(2).sum() / 2).backward()
    close = [np.allclose(p.grad.cpu().numpy(), q.grad.numpy())
             for p, q in zip(model.parameters(), alone, strict=True)]  # fmt: skip
    found = [gaps, flags, fewest, *every, part, mean, first, got, *(at_first or ())]
    try:
        refused = dist.all_reduce(tg.ones(1))
    except RuntimeError as error:
        refused = str(error)
    return [t.tolist() for t in found], close, dist.get_backend(), refused


@alone
def disagreements():
    """What the ranks are told when they do not do the same."""
    dist, rank, found = tg.distributed, me(), []

    def told(action):
        try:
            action()
            found.append(None)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        dist.barrier()

    linear = tg.nn.Linear
    parallel = tg.nn.parallel.DistributedDataParallel
    told(lambda: dist.all_reduce(tg.ones(2 + rank)))
    told(lambda: dist.all_reduce(tg.ones(2, dtype=(tg.float32, tg.int64)[rank])))
    told(lambda: dist.broadcast(tg.ones(2), rank))
    told(lambda: dist.barrier() if rank else dist.all_reduce(tg.ones(1)))
    told(lambda: parallel(linear(2, 2 + rank)))
    told(lambda: parallel(linear(2, 2, bias=bool(rank))))
    told(lambda: parallel(linear(2, 2).to((tg.float32, tg.float64)[rank])))
    names = ("a", "b") if rank else ("b", "a")
    told(lambda: parallel(tg.nn.ModuleDict({name: linear(1, 1, bias=False) for name in names})))
    told(lambda: parallel(tg.nn.ReLU()))
    told(lambda: dist.send(tg.ones(3), 1) if rank == 0 else dist.recv(tg.ones(2)))
    sparse = parallel(tg.nn.Embedding(3, 2, sparse=True))
    told(lambda: sparse(tg.tensor([1])).sum().backward())
    _, model = branched(tg)
    loss_of(model(inputs(tg, 0), branch="left")).backward()
    told(lambda: model(inputs(tg, 0)))
    return found


def trained(steps: int, in_step: Callable[[int], None] = lambda step: None) -> None:
    """Steps of a model, with something that happens within backward."""
    model = tg.nn.parallel.DistributedDataParallel(tg.nn.Sequential(
        tg.nn.Linear(3, 3), tg.nn.Linear(3, 3), tg.nn.Linear(3, 1)
    ), bucket_cap_mb=1e-5)  # fmt: skip
    now = [0]
    model.module[1].weight.register_hook(lambda grad: in_step(now[0]))
    for step in range(steps):
        now[0] = step
        model(tg.ones(4, 3)).sum().backward()


@alone
def killed():
    trained(3, lambda step: os.kill(os.getpid(), signal.SIGKILL) if me() and step else None)


@alone
def hanging():
    trained(3, lambda step: time.sleep(60) if me() and step else None)


@alone
def failing():
    trained(3, lambda step: 1 / 0 if me() and step else None)


@alone
def leaving():
    trained(3, lambda step: sys.exit(0) if me() and step else None)


@alone
def uneven():
    trained(2 + me())


@alone
def deaf():
    """One rank waits for a message that nobody sends."""
    if me():
        tg.distributed.recv(tg.ones(2), 0)


def main(program: str, folder: Path) -> None:
    limit = float(os.environ.get("RANKS_TIMEOUT", 30))
    backend = os.environ.get("RANKS_BACKEND", "mpi")
    tg.distributed.init_process_group(backend, timeout=timedelta(seconds=limit))
    rank = me()
    found: Any
    if program == "both":
        import torch

        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        torch.distributed.init_process_group(
            "gloo",
            init_method=f"file://{folder}/store",
            rank=rank,
            world_size=tg.distributed.get_world_size(),
        )
        found = {
            name: [seen(run(lib, lib.distributed)) for lib in (tg, torch)]
            for name, run in BOTH.items()
        }
        torch.distributed.destroy_process_group()
    else:
        found = seen(ALONE[program]())
    (folder / f"{rank}.json").write_text(json.dumps(found))
    tg.distributed.destroy_process_group()


if __name__ == "__main__":
    with fake_cuda.pretended(2), fake_nccl.installed():
        main(sys.argv[1], Path(sys.argv[2]))
