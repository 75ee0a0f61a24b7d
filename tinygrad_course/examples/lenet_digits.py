"""LeNet learns to read handwritten digits: the whole of the course in a hundred lines.

    OPENBLAS_NUM_THREADS=1 python -m tinygrad_course.examples.lenet_digits

trains the network of the course's notes on 1,438 digits and counts its mistakes on the 359 it never
saw. With `import torch` and a torch Dataset of the same digits, the loop would be the same. One
BLAS thread, since on a busy machine two take ten times as long for products of this size. Lesson
15.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import tinygrad_course as tg
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.utils.data import DataLoader, Digits

from .training import Progress, draw_losses, options


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
) -> tuple[LeNet, list[float]]:
    """Trains a LeNet from `seed` on; returns it and the mean loss of each epoch."""
    tg.manual_seed(seed)
    model, losses = LeNet(), []
    loader = DataLoader(Digits(train=True), batch_size=batch_size, shuffle=True)
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
        losses.append(running / seen)
    return model, losses


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = options("lenet_digits", "Trains LeNet on the UCI handwritten digits.", 15, 32, 0.01)
    chosen = parser.parse_args(argv)
    start = time.perf_counter()
    model, losses = train(chosen.epochs, chosen.batch_size, chosen.lr, chosen.seed)
    seconds = time.perf_counter() - start
    share = accuracy(model, DataLoader(Digits(train=False), batch_size=256))
    print(f"{share:.2%} of the held-out digits are read correctly, after {seconds:.1f} s")
    draw_losses(chosen.curve, losses, "LeNet on digits")


if __name__ == "__main__":
    main()
