"""A digit through the eye of a needle: 256 numbers in, 64 through, 256 out again.

    OPENBLAS_NUM_THREADS=1 python -m tinygrad_course.examples.autoencoder --pictures digits.svg

trains a convolutional auto-encoder. Pooling keeps where each maximum stood; the way back puts the
numbers there again (MaxUnpool2d) and paints with transposed convolutions. Lesson 11.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import tinygrad_course as tg
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.utils.data import DataLoader, Digits

from .training import Progress, draw_losses, options


class AutoEncoder(nn.Module):
    """(N, 1, 16, 16) → the same, through (N, 4, 4, 4)."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(1, 8, 3, padding=1)
        self.code = nn.Conv2d(8, 4, 3, padding=1)
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)
        self.widen = nn.ConvTranspose2d(4, 8, 3, padding=1)
        self.paint = nn.ConvTranspose2d(8, 1, 3, padding=1)

    def forward(self, x: Any) -> Any:
        wide = F.relu(self.narrow(x))
        half, first = self.pool(wide)
        code, second = self.pool(F.relu(self.code(half)))
        half = F.relu(self.widen(self.unpool(code, second, output_size=half.shape)))
        return self.paint(self.unpool(half, first, output_size=wide.shape))


def pictures(train: bool) -> Any:
    """The digits as (N, 1, 16, 16)."""
    return F.avg_pool2d(Digits(train=train).data, 2)


def train(
    epochs: int = 8, batch_size: int = 32, lr: float = 0.005, seed: int = 0, quiet: bool = False
) -> tuple[AutoEncoder, list[float]]:
    """Trains from `seed` on; returns the model and the mean loss of each epoch."""
    tg.manual_seed(seed)
    model, losses = AutoEncoder(), []
    loader = DataLoader(pictures(train=True), batch_size, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        bar = Progress(loader, f"epoch {epoch:2d}/{epochs}")
        running, seen = 0.0, 0
        for images in loader if quiet else bar:
            optimizer.zero_grad()
            loss = F.mse_loss(model(images), images)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(images)
            seen += len(images)
            bar.note = f"loss {running / seen:.4f}"
        losses.append(running / seen)
    return model, losses


def held_out_loss(model: AutoEncoder) -> float:
    """The mean squared error of a point of the held-out digits."""
    with tg.no_grad():
        images = pictures(train=False)
        return float(F.mse_loss(model(images), images).item())


def draw_pictures(path: Path | None, model: AutoEncoder) -> None:
    """Draws six held-out digits and what comes out of the network, unless `path` is None."""
    if path is None:
        return
    from ..drawing import images

    with tg.no_grad():
        digits = pictures(train=False)[:6]
        shown = [*digits[:, 0], *model(digits)[:, 0]]
    alt = "Six handwritten digits, and the same six as they come out of the auto-encoder."
    titles = ["in"] * 6 + ["out"] * 6
    path.write_text(images(shown, alt, titles=titles, pixel=4).svg, encoding="utf-8")
    print(f"{alt} Drawn in {path}")


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    about = "Trains a convolutional auto-encoder on the UCI handwritten digits."
    parser = options("autoencoder", about, 8, 32, 0.005)
    parser.add_argument("--pictures", type=Path, help="draw digits before and after, an SVG file")
    chosen = parser.parse_args(argv)
    start = time.perf_counter()
    model, losses = train(chosen.epochs, chosen.batch_size, chosen.lr, chosen.seed)
    seconds = time.perf_counter() - start
    print(f"mean squared error {held_out_loss(model):.4f} on held-out digits, {seconds:.1f} s")
    draw_losses(chosen.curve, losses, "auto-encoder")
    draw_pictures(chosen.pictures, model)


if __name__ == "__main__":
    main()
