"""An LSTM tells nine speakers apart by one vowel: sequences of 7 to 29 steps, packed.

    OPENBLAS_NUM_THREADS=1 python -m tinygrad_course.examples.vowels_lstm

trains on 270 utterances and counts its mistakes on the 370 of the standard test split. Sequences of
different lengths go through the network together: a packed batch has no step too many. Lessons 12
and 15.
"""

from __future__ import annotations

import time
from typing import Any

import tinygrad_course as tg
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.nn.utils.rnn import pack_sequence
from tinygrad_course.utils.data import DataLoader, JapaneseVowels

from .training import Progress, draw_losses, options


class Speaker(nn.Module):
    """Packed sequences of 12 numbers a step → (N, 9) scores, from an LSTM's last states in both
    directions."""

    def __init__(self, hidden: int = 48) -> None:
        super().__init__()
        self.lstm = nn.LSTM(12, hidden, bidirectional=True)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(2 * hidden, 9)

    def forward(self, packed: Any) -> Any:
        _, (h, _) = self.lstm(packed)
        return self.head(self.dropout(tg.cat([h[0], h[1]], 1)))


def packed(batch: list[Any]) -> Any:
    """Samples as one packed batch and a tensor of labels."""
    frames, speakers = zip(*batch, strict=True)
    return pack_sequence(list(frames), enforce_sorted=False), tg.stack(list(speakers))


def train(
    epochs: int = 60, batch_size: int = 30, lr: float = 0.005, seed: int = 0, quiet: bool = False
) -> tuple[Speaker, list[float]]:
    """Trains from `seed` on; returns the model and the mean loss of each epoch."""
    tg.manual_seed(seed)
    model, losses = Speaker(), []
    loader = DataLoader(JapaneseVowels(), batch_size, shuffle=True, collate_fn=packed)
    optimizer = optim.Adam(model.parameters(), lr=lr)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    bar = Progress(range(epochs), "epochs")
    for _ in range(epochs) if quiet else bar:
        running = 0.0
        for sequences, speakers in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(sequences), speakers)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item() * len(speakers)
        schedule.step()
        losses.append(running / len(loader.dataset))
        bar.note = f"loss {losses[-1]:.4f}"
    return model, losses


def accuracy(model: Speaker) -> float:
    """The share of the held-out utterances whose speaker is recognised."""
    model.eval()
    with tg.no_grad():
        loader = DataLoader(JapaneseVowels(train=False), 370, collate_fn=packed)
        sequences, speakers = next(iter(loader))
        right = int((model(sequences).argmax(1) == speakers).sum().item())
    model.train()
    return right / len(speakers)


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    about = "Trains an LSTM on the Japanese vowels of nine speakers."
    chosen = options("vowels_lstm", about, 60, 30, 0.005).parse_args(argv)
    start = time.perf_counter()
    model, losses = train(chosen.epochs, chosen.batch_size, chosen.lr, chosen.seed)
    seconds = time.perf_counter() - start
    print(f"{accuracy(model):.2%} of the held-out speakers are recognised, after {seconds:.1f} s")
    draw_losses(chosen.curve, losses, "LSTM on vowels")


if __name__ == "__main__":
    main()
