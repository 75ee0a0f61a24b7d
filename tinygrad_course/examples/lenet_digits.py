"""LeNet learns to read handwritten digits: the whole of the course in a hundred lines.

    OPENBLAS_NUM_THREADS=1 python -m tinygrad_course.examples.lenet_digits

trains the network of the course's notes on 1,438 digits and counts its mistakes on the 359 it never
saw. With `import torch` and a torch Dataset of the same digits, the loop would be the same. One
BLAS thread, since on a busy machine two take ten times as long for products of this size. Lesson
15.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import tinygrad_course as tg
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.utils.data import DataLoader, Digits


class LeNet(nn.Module):
    """(N, 1, 32, 32) → (N, 10): two convolutions, each with ReLU and 2×2 pooling, then
    400-120-84-10."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, 16 * 5 * 5)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class Progress:
    """Counts a loop on one line of the terminal: a bar, the time, and a note of how it goes.

    >>> bar = Progress(range(2), "half")
    >>> for i in bar: bar.note = f"loss {i}"
    half [####################] 2/2 ...s loss 1
    """

    def __init__(self, steps: Any, title: str, stream: TextIO | None = None) -> None:
        self.steps, self.title, self.note = steps, title, ""
        self.stream = sys.stdout if stream is None else stream
        self.start = time.perf_counter()

    def __iter__(self) -> Iterator[Any]:
        # A file gets the finished line only.
        live, shown = self.stream.isatty(), float("-inf")
        for done, step in enumerate(self.steps):
            now = time.perf_counter()
            if live and now - shown > 0.05:
                shown = now
                self.stream.write(f"\r{self._line(done)}")
                self.stream.flush()
            yield step
        start = "\r" if live else ""
        self.stream.write(f"{start}{self._line(len(self.steps)).rstrip()}\n")
        self.stream.flush()

    def _line(self, done: int) -> str:
        total = len(self.steps)
        bar = ("#" * (20 * done // max(total, 1))).ljust(20, ".")
        seconds = time.perf_counter() - self.start
        # Wide enough to wipe out a longer line before it.
        return f"{self.title} [{bar}] {done}/{total} {seconds:.1f}s {self.note}".ljust(70)


def accuracy(model: nn.Module, loader: Iterable[Any]) -> float:
    """The share of samples whose largest score is that of their label."""
    right = total = 0
    model.eval()
    with tg.no_grad():
        for images, labels in loader:
            right += int((model(images).argmax(1) == labels).sum().item())
            total += len(labels)
    model.train()
    return right / total


def train(
    epochs: int = 15, batch_size: int = 32, lr: float = 0.01, seed: int = 0, quiet: bool = False
) -> tuple[LeNet, float]:
    """Trains a LeNet from `seed` on; returns it and its accuracy on the held-out digits."""
    tg.manual_seed(seed)
    model = LeNet()
    loader = DataLoader(Digits(train=True), batch_size=batch_size, shuffle=True)
    held_out = DataLoader(Digits(train=False), batch_size=256)
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(1, epochs + 1):
        bar = Progress(loader, f"epoch {epoch:2d}/{epochs}")
        running, seen = 0.0, 0
        for images, labels in loader if quiet else bar:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(labels)
            seen += len(labels)
            bar.note = f"loss {running / seen:.4f}"
    return model, accuracy(model, held_out)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of 1 or more is needed, not {text!r}")
    return int(text)


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tinygrad_course.examples.lenet_digits",
        description="Trains LeNet on the UCI handwritten digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--epochs", type=_count, default=15, help="passes over the 1,438 digits")
    parser.add_argument("--batch-size", type=_count, default=32, help="digits a step")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate (momentum is 0.9)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of the order")
    options = parser.parse_args(argv)
    start = time.perf_counter()
    _, share = train(options.epochs, options.batch_size, options.lr, options.seed)
    seconds = time.perf_counter() - start
    print(f"{share:.2%} of the held-out digits are read correctly, after {seconds:.1f} s")


if __name__ == "__main__":
    main()
