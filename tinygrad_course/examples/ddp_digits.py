"""LeNet learns to read digits in several processes, each with its part of every batch.

    OPENBLAS_NUM_THREADS=1 mpiexec -n 2 python -m tinygrad_course.examples.ddp_digits

makes the same steps as one process would with the whole batches: the parameters are equal, to
rounding. Beside `lenet_digits` only four things are new: the process group, the wrapper around the
model, the sampler, and that rank 0 alone prints and saves. Needs `pip install
'tinygrad-course[mpi]'`; without mpiexec it is a world of one. Lesson 16.
"""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import tinygrad_course as tg
from tinygrad_course import distributed as dist
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.nn.parallel import DistributedDataParallel
from tinygrad_course.utils.data import DataLoader, Digits, DistributedSampler

from .lenet_digits import LeNet, accuracy
from .training import Progress, draw_losses, options


def train(
    epochs: int = 15, batch_size: int = 32, lr: float = 0.01, seed: int = 0, quiet: bool = False
) -> tuple[nn.Module, list[float]]:
    """Trains a LeNet in the process group that is initialised; returns it and the mean loss of each
    epoch, both the same on all ranks. `batch_size` counts the samples of all ranks together."""
    ranks = dist.get_world_size()
    if batch_size % ranks:
        raise ValueError(f"a batch of {batch_size} can't be shared out evenly to {ranks} ranks")
    tg.manual_seed(seed)
    model = DistributedDataParallel(LeNet())
    digits = Digits(train=True)
    # Whole batches only, so that each is the batch that one process would take.
    sampler = DistributedSampler(digits, seed=seed, drop_last=True)
    loader = DataLoader(digits, batch_size // ranks, sampler=sampler, drop_last=True)
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses = []
    for epoch in range(1, epochs + 1):
        sampler.set_epoch(epoch)
        running = tg.zeros(())
        bar = Progress(loader, f"epoch {epoch:2d}/{epochs}")
        for images, labels in loader if quiet or dist.get_rank() > 0 else bar:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.detach() / len(loader)
        dist.all_reduce(running, dist.ReduceOp.AVG)
        losses.append(running.item())
    return model.module, losses


def save(model: nn.Module, path: Path | None) -> None:
    """Rank 0 writes the parameters, which all have; the others wait until the file is there."""
    if path is not None and dist.get_rank() == 0:
        tg.save(model.state_dict(), path)
    dist.barrier()


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = options("ddp_digits", "Trains LeNet in several processes.", 15, 32, 0.01)
    parser.add_argument("--timeout", type=float, default=60, help="seconds to wait for a rank")
    parser.add_argument("--save", type=Path, help="write the parameters, a .pt file")
    chosen = parser.parse_args(argv)
    dist.init_process_group(timeout=timedelta(seconds=chosen.timeout))
    start = time.perf_counter()
    model, losses = train(chosen.epochs, chosen.batch_size, chosen.lr, chosen.seed)
    seconds = time.perf_counter() - start
    save(model, chosen.save)
    if dist.get_rank() == 0:
        share = accuracy(model, DataLoader(Digits(train=False), batch_size=256))
        print(
            f"{share:.2%} of the held-out digits are read correctly, after {seconds:.1f} s on "
            f"{dist.get_world_size()} ranks and {os.cpu_count()} CPUs"
        )
        draw_losses(chosen.curve, losses, "LeNet on digits")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
