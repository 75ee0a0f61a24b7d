"""Jobs of several ranks, each a process that mpiexec starts on this machine: what they compute is
PyTorch's result or a calculation by hand, and what goes wrong ends all of them.

`ranks` has the programs that the ranks run.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.examples import ddp_digits
from tinygrad_course.nn.parallel.reducer import assign
from tinygrad_course.utils.data import DataLoader, DistributedSampler

from . import ranks
from .bench import scaling
from .parity.both import attempt, same

dist = tg.distributed
ROOT = Path(__file__).parents[1]
# mpiexec comes with the mpich wheel, beside Python.
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH')}")

needs_mpi = pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
    reason="several ranks need MPI: pip install '.[mpi]'",
)


def job(number: int, *arguments: Any, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    """Runs a module in so many ranks; what is left of them after half a minute is ended."""
    environment = {
        **os.environ,
        "RANKS_TIMEOUT": str(timeout),
        # Open MPI wants to be told that it may: as root, and with more ranks than CPUs.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    command = [MPIEXEC, "-n", str(number), sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def saw(number: int, program: str, folder: Path) -> list[Any]:
    """What each rank returned."""
    done = job(number, "tests.ranks", program, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(number)]


# --- beside PyTorch -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_both(tmp_path_factory):
    pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    return saw(2, "both", tmp_path_factory.mktemp("both"))


@needs_mpi
@pytest.mark.parametrize("name", ranks.BOTH)
def test_two_ranks_see_what_pytorch_s_see(in_both, name):
    for rank, programs in enumerate(in_both):
        ours, theirs = programs[name]
        assert ours is not None or rank == 0
        assert same(ours, theirs), f"rank {rank}: {ours}, PyTorch's {theirs}"


# --- by hand --------------------------------------------------------------------------------------


@needs_mpi
def test_four_ranks(tmp_path):
    seen = saw(4, "four", tmp_path)
    for rank, (x, every, flags, both_of, number, close) in enumerate(seen):
        assert x[-1] == [6, 10, 14, 18]
        assert [one[-1] for one in every] == [0, 1, 2, 3]
        assert flags[-1] == [True, True, False] and both_of[-1] == [False, True, False]
        assert number is None or (rank == 0 and number[-1] == [6])
        assert close == [True] * len(close)


@needs_mpi
def test_windows_of_memory(tmp_path):
    for base, error in saw(2, "windows", tmp_path):
        assert base[-1] == [[1, 1, 1, (base[-1][0][3])]] * 3
        assert "modified by an inplace operation" in error


@needs_mpi
@pytest.mark.parametrize("backend", ["mpi", "nccl"])
def test_tensors_on_gpus(backend, tmp_path, monkeypatch):
    """Pretended ones, one a rank; by MPI through the host, by a pretended NCCL without it."""
    monkeypatch.setenv("RANKS_BACKEND", backend)
    zero, one = [[0, 1, 2], [3, 4, 5]], [[1, 2, 3], [4, 5, 6]]
    both, mean = [[1, 3, 5], [7, 9, 11]], [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]
    for rank, (found, close, name, refused) in enumerate(saw(2, "on_gpus", tmp_path)):
        gaps, flags, fewest, *every, part, reduced, first, got = found[:9]
        assert gaps == both and every == [zero, one] and first == zero
        assert flags == [True, True, False] and fewest == [False, True, False]
        assert part == (zero, one)[rank]
        assert found[9:] == ([zero, one] if rank == 0 else [])
        if rank == 0:
            assert reduced == mean
        else:
            assert got == zero
        assert close == [True, True] and name == backend
        assert refused is None if backend == "mpi" else "device type cpu" in refused


@needs_mpi
def test_ranks_that_disagree_are_told_how(tmp_path):
    first, second = saw(2, "disagreements", tmp_path)
    expected = [
        r"rank 0: all_reduce(float32 [2], SUM); rank 1: all_reduce(float32 [3], SUM)",
        r"rank 0: all_reduce(float32 [2], SUM); rank 1: all_reduce(int64 [2], SUM)",
        r"rank 0: broadcast(float32 [2], rank 0); rank 1: broadcast(float32 [2], rank 1)",
        r"rank 0: all_reduce(float32 [1], SUM); rank 1: barrier()",
        r"weight is torch.float32 [2, 2], requires_grad=True on rank 0 and torch.float32 [3, 2]",
        r"bias is not there on rank 0 and torch.float32 [2]",
        r"weight is torch.float32 [2, 2], requires_grad=True on rank 0 and torch.float64 [2, 2]",
        r"parameters stand in the order b.weight, a.weight on rank 0 and a.weight, b.weight on",
        r"doesn't have any parameter that requires a gradient",
        None,
        r"NotImplementedError: DistributedDataParallel: the gradient of weight is sparse",
        r"RuntimeError: Expected to have finished reduction in the prior iteration",
    ]
    assert len(first) == len(expected)
    for place, part in enumerate(expected):
        if part is None:  # a message of another size: the sender has sent it
            assert first[place] is None
            assert "rank 0 sends float32 [3] to rank 1, which receives into" in second[place]
            continue
        for told in (first[place], second[place]):
            assert part in told, told
    assert "No gradient came on rank 1 for: right.weight, right.bias." in second[-1]


# --- what goes wrong ------------------------------------------------------------------------------


WAITED = r"rank 0 of 2 waited 1 s for the others in backward of DistributedDataParallel"
LOST = {
    "killed": (30, r"(?i)signal"),  # mpiexec sees it and says so
    "failing": (
        30,
        r"ZeroDivisionError: division by zero\nrank 1 of 2 failed with ZeroDiv",
    ),
    "hanging": (1, WAITED),
    "leaving": (1, WAITED),
    "uneven": (
        30,
        r"rank 0: destroy_process_group\(\); rank 1: backward of DistributedDataParallel",
    ),
    "deaf": (1, r"waited 1 s for the others in (recv\(float32 \[2\]|destroy_process_group)"),
}


@needs_mpi
@pytest.mark.parametrize("program", LOST)
def test_a_rank_that_is_lost_ends_the_job(program, tmp_path):
    limit, message = LOST[program]
    start = time.monotonic()
    done = job(2, "tests.ranks", program, tmp_path, timeout=limit)
    assert done.returncode != 0
    assert re.search(message, done.stderr + done.stdout), done.stderr + done.stdout
    assert time.monotonic() - start < 25  # not at the limit of 30 s, nor at that of the sleeper
    assert len(list(tmp_path.glob("*.json"))) < 2


@needs_mpi
def test_numbers_that_mpiexec_does_not_know_are_refused(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import tinygrad_course as tg\n"
        "for given in ({'world_size': 3}, {'rank': 2}):\n"
        "    try: tg.distributed.init_process_group(**given)\n"
        "    except ValueError as error: print(error)\n"
        "    assert not tg.distributed.is_initialized()\n"
    )
    done = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "world_size=3, but this process has world_size 2" in done.stdout
    assert "rank=2, but this process has rank" in done.stdout


# --- a world of one, without MPI ------------------------------------------------------------------


@pytest.fixture
def world_of_one():
    dist.init_process_group(timeout=timedelta(seconds=5), world_size=1, rank=0)
    yield
    dist.destroy_process_group()


def test_a_world_of_one(world_of_one):
    assert dist.is_initialized() and dist.is_available()
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "mpi")
    x = tg.arange(6.0).view(2, 3).t()
    for op in dist.ReduceOp:
        dist.all_reduce(x, op)
        dist.reduce(x, 0, op)
    every, parts = [tg.zeros(3, 2)], [tg.zeros(3, 2)]
    dist.all_gather(every, x)
    dist.gather(x, parts)
    y = tg.zeros(3, 2)
    dist.scatter(y, every)
    dist.broadcast(y, 0), dist.barrier()
    for z in (*every, *parts, y):
        assert z.tolist() == x.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert dist.all_reduce(x, async_op=True).wait()
    with pytest.raises(RuntimeError, match="no other rank"):
        dist.recv(x)
    with pytest.raises(RuntimeError, match="there are 1, from 0 to 0"):
        dist.send(x, 1)
    with pytest.raises(NotImplementedError, match="init_process_group"):
        dist.all_reduce(x, async_op=True).wait(timedelta(seconds=1))


def test_errors_before_and_at_the_start_are_pytorch_s():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    calls = [
        lambda lib: lib.distributed.get_rank(),
        lambda lib: lib.distributed.get_world_size(),
        lambda lib: lib.distributed.get_backend(),
        lambda lib: lib.distributed.barrier(),
        lambda lib: lib.distributed.all_reduce(lib.ones(1)),
        lambda lib: lib.distributed.destroy_process_group(),
        lambda lib: lib.distributed.init_process_group("no such"),
        lambda lib: lib.distributed.init_process_group(timeout=3, store=None, init_method="env://"),
        lambda lib: lib.nn.parallel.DistributedDataParallel(lib.nn.Linear(1, 1)),
        lambda lib: lib.utils.data.DistributedSampler(range(3)),
    ]
    for place, call in enumerate(calls):
        ours, theirs = attempt(lambda c=call: c(tg)), attempt(lambda c=call: c(torch))
        assert ours == theirs, f"{place}: {ours}, PyTorch's {theirs}"
    assert not dist.is_initialized()


def test_what_is_not_there_is_named(monkeypatch):
    with pytest.raises(RuntimeError, match="gloo built in: use backend='mpi'"):
        dist.init_process_group("gloo")
    with pytest.raises(NotImplementedError, match="mpiexec"):
        dist.init_process_group(init_method="tcp://localhost:1")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(RuntimeError, match=r"pip install 'tinygrad-course\[mpi\]'"):
        dist.init_process_group()
    assert not dist.is_initialized()


def test_options_of_the_wrapper(world_of_one):
    wrap = tg.nn.parallel.DistributedDataParallel
    for option in ("gradient_as_bucket_view", "static_graph"):
        with pytest.raises(NotImplementedError, match=option):
            wrap(tg.nn.Linear(2, 2), **{option: True})
    with pytest.raises(ValueError, match="device_ids"):
        wrap(tg.nn.Linear(2, 2), device_ids=[0])
    with pytest.raises(NotImplementedError, match="DistributedSampler"):
        wrap(tg.nn.Linear(2, 2)).join()


def test_a_wrapper_that_is_gone_leaves_its_parameters_alone(world_of_one):
    net = tg.nn.Linear(2, 1)
    model = tg.nn.parallel.DistributedDataParallel(net)
    out = model(tg.ones(1, 2))
    del model
    out.sum().backward()
    assert net.weight.grad.tolist() == [[1, 1]]


def test_gradients_are_sent_while_backward_runs(world_of_one):
    net = tg.nn.Sequential(*(tg.nn.Linear(2, 2, bias=False) for _ in range(3)))
    model = tg.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=1e-6)
    sent = []

    def look(grad):
        sent.append([bucket.sent is not None for bucket in model.reducer.buckets])

    for layer in net:
        layer.weight.register_hook(look)
    model(tg.ones(1, 2)).sum().backward()
    assert sent == [[False] * 3, [True, False, False], [True, True, False]]


def test_buckets():
    """The last parameters first, in pieces of the size that is asked for, one dtype each."""
    kinds = [(300, tg.float32), (10, tg.float32), (4, tg.float64), (100, tg.float32)]
    parameters = [tg.nn.Parameter(tg.zeros(n, dtype=dtype)) for n, dtype in kinds]
    assert assign(parameters, 1e9) == [[3, 1, 0], [2]]
    assert assign(parameters, 440) == [[3, 1], [2], [0]]
    assert assign(parameters, 0) == [[3], [2], [1], [0]]
    big = [tg.nn.Parameter(tg.zeros(2**17, dtype=tg.float64)) for _ in range(4)]
    assert assign(big, 2**22) == [[3], [2, 1, 0]]  # the first one has 1 MB


# --- sharing out the data -------------------------------------------------------------------------


def test_samplers_share_out_as_pytorch_s_do():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    sizes, flags = (0, 1, 5, 12, 100), (True, False)
    for n, k, shuffle, drop in itertools.product(sizes, (1, 2, 3, 13), flags, flags):
        for rank in {0, k // 2, k - 1}:
            seen = []
            for data in (tg.utils.data, torch.utils.data):
                sampler = data.DistributedSampler(range(n), k, rank, shuffle, 3, drop)
                first = list(sampler)
                sampler.set_epoch(2)
                seen.append((first, list(sampler), len(sampler), sampler.total_size))
            assert seen[0] == seen[1]
    for rank in (-1, 2):
        with pytest.raises(ValueError, match=rf"Invalid rank {rank}.*\[0, 1\]"):
            DistributedSampler(range(4), 2, rank)


def test_a_loader_takes_the_share(world_of_one):
    loader = DataLoader(range(5), 2, sampler=DistributedSampler(range(5), shuffle=False))
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


# --- the example ----------------------------------------------------------------------------------


@needs_mpi
@pytest.mark.parametrize("number", [2, 4])
def test_lenet_on_several_ranks_is_lenet_on_one(number, tmp_path, world_of_one):
    """After 44 steps of 32 digits."""
    saved = tmp_path / "lenet.pt"
    name = "tinygrad_course.examples.ddp_digits"
    done = job(number, name, "--epochs", 1, "--lr", 0.02, "--save", saved)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("held-out digits are read correctly") == 1
    alone, _ = ddp_digits.train(epochs=1, lr=0.02, quiet=True)
    together = tg.load(saved)
    tg.manual_seed(0)
    start = ddp_digits.LeNet().state_dict()
    for key, value in alone.state_dict().items():
        ours, theirs = value.numpy(), together[key].numpy()
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6 * np.abs(ours).max())
        assert not np.allclose(ours, start[key].numpy(), rtol=1e-2)


@needs_mpi
def test_the_bench_times_a_step_and_its_reduction():
    done = job(2, "tests.bench.scaling")
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout)
    assert times.keys() == {"step", "together"} and times["step"] > 0 <= times["together"]


def test_the_bench_says_what_limits():
    found = {n: {"step": step, "together": 0.002} for n, step in ((1, 0.1), (2, 0.06), (4, 0.05))}
    assert scaling.row(2, found) == "| 2 | 60.0 | 4,267 | 1.67 | 2.0 |"
    told = scaling.limit(found, cpus=2)
    assert "With 2 ranks a step takes 60.0 ms, where 50.0 were 2 times as fast: 2.0 ms go" in told
    assert "More ranks than the 2 CPUs only take turns" in told
    assert "With 4 ranks" in scaling.limit(found, cpus=16)
    assert scaling.limit(found, cpus=1).startswith("There is one CPU")


def test_the_example_runs_without_mpiexec(capsys, tmp_path):
    ddp_digits.main(["--epochs", "1", "--batch-size", "64", "--curve", str(tmp_path / "a.svg")])
    assert "on 1 ranks" in capsys.readouterr().out
    assert not dist.is_initialized()


def test_a_batch_that_cannot_be_shared_out_is_refused(world_of_one, monkeypatch):
    monkeypatch.setattr(dist, "get_world_size", lambda: 3)
    with pytest.raises(ValueError, match="a batch of 32 can't be shared out evenly to 3 ranks"):
        ddp_digits.train()
