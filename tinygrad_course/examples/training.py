"""What the example programs share: a bar of progress, options, a picture of the losses."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO


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


def options(name: str, about: str, epochs: int, batch_size: int, lr: float) -> Any:
    """A parser of the options that all examples have, with these defaults."""
    parser = argparse.ArgumentParser(
        prog=f"python -m tinygrad_course.examples.{name}",
        description=about,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--epochs", type=_count, default=epochs, help="passes over the data")
    parser.add_argument("--batch-size", type=_count, default=batch_size, help="samples a step")
    parser.add_argument("--lr", type=float, default=lr, help="learning rate")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of the order")
    parser.add_argument("--curve", type=Path, help="write a picture of the losses, an SVG file")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of 1 or more is needed, not {text!r}")
    return int(text)


def draw_losses(path: Path | None, losses: Sequence[float], title: str) -> None:
    """Writes the curve of an epoch's mean losses, unless `path` is None."""
    if path is None:
        return
    from ..drawing import curves

    alt = f"{title}: the loss goes from {losses[0]:.3f} to {losses[-1]:.3f}."
    places = range(1, len(losses) + 1)
    drawing = curves({"loss": losses}, alt, x=places, x_label="epoch", y_label=title)
    path.write_text(drawing.svg, encoding="utf-8")
    print(f"{alt} Drawn in {path}")
