"""What more ranks bring: LeNet on a batch that 1, 2 and 4 processes share, and what limits it.

`python -m tests.bench --scaling` starts this module in as many processes by mpiexec. A step is
timed whole, and again without the reduction of the gradients: the difference is the price of
working together. Medians over rounds in which the two take turns.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

RANKS = (1, 2, 4)
BATCH = 256
ROUNDS, STEPS = 5, 2


def table() -> int:
    """Prints the table and what limits it; 1 where MPI is missing or a job failed."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    mpiexec = shutil.which("mpiexec", path=beside)
    if mpiexec is None:
        print("several ranks need MPI: pip install '.[mpi]'", file=sys.stderr)
        return 1
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(
        f"LeNet, {BATCH} images a step of all ranks together, one BLAS thread each, {cpus} CPUs\n"
    )
    print("| ranks | ms a step | images/s | speed-up | of that, ms for the reduction |")
    print("|---:|---:|---:|---:|---:|", flush=True)
    found = {}
    for ranks in RANKS:
        command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "tests.bench.scaling"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return 1
        found[ranks] = json.loads(done.stdout)
        print(row(ranks, found), flush=True)
    print(f"\n{limit(found, cpus or 1)}")
    return 0


def row(ranks: int, found: dict[int, dict[str, float]]) -> str:
    """The line of so many ranks."""
    step, together = found[ranks]["step"], found[ranks]["together"]
    speed = found[RANKS[0]]["step"] / step
    return (
        f"| {ranks} | {step * 1e3:.1f} | {BATCH / step:,.0f} | {speed:.2f} | {together * 1e3:.1f} |"
    )


def limit(found: dict[int, dict[str, float]], cpus: int) -> str:
    """A sentence on what keeps the most ranks that have a CPU each from being as many times
    faster."""
    ranks = max(n for n in RANKS if n <= cpus)
    text = "There is one CPU: ranks take turns on it."
    if ranks > 1:
        ideal, step = found[1]["step"] / ranks * 1e3, found[ranks]["step"] * 1e3
        text = (
            f"With {ranks} ranks a step takes {step:.1f} ms, where {ideal:.1f} were {ranks} times "
            f"as fast: {found[ranks]['together'] * 1e3:.1f} ms go into reducing the gradients and "
            "waiting for the slowest rank, the others into what each rank does anew (the cost of "
            "an operation however small its batch, the optimizer's step) and into the memory that "
            "the CPUs share."
        )
    if RANKS[-1] > cpus:
        text += f" More ranks than the {cpus} CPUs only take turns, and wait for each other."
    return text


def measure() -> dict[str, float] | None:
    """One rank's part; rank 0 returns seconds of a step, and of its reduction."""
    import tinygrad_course as tg
    from tinygrad_course import distributed as dist
    from tinygrad_course.examples.lenet_digits import LeNet

    dist.init_process_group()
    tg.manual_seed(dist.get_rank())
    model = tg.nn.parallel.DistributedDataParallel(LeNet())
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    size = BATCH // dist.get_world_size()
    x, y = tg.randn(size, 1, 32, 32), tg.randint(0, 10, (size,))

    def burst(alone: bool) -> float:
        dist.barrier()
        start = time.perf_counter()
        for _ in range(STEPS):
            with model.no_sync() if alone else nullcontext():
                optimizer.zero_grad()
                tg.nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
        return (time.perf_counter() - start) / STEPS

    burst(alone=False)
    times: list[tuple[Any, ...]] = [(burst(False), burst(True)) for _ in range(ROUNDS)]
    rank = dist.get_rank()
    dist.destroy_process_group()
    step = median(whole for whole, _ in times)
    together = median(whole - alone for whole, alone in times)
    return {"step": step, "together": max(together, 0)} if rank == 0 else None


if __name__ == "__main__":
    result = measure()
    if result is not None:
        print(json.dumps(result))
