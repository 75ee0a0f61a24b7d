"""A network that spells: letter by letter, it learns which comes next in 4,131 first names.

    OPENBLAS_NUM_THREADS=1 python -m tinygrad_course.examples.names_rnn --cell LSTM

trains an RNN, LSTM or GRU and lets it make up names. A name is read from dot to dot: at each letter
the network says how likely each next one is, and the dot ends the name. Lesson 12.
"""

from __future__ import annotations

import time
from typing import Any

import tinygrad_course as tg
from tinygrad_course import nn, optim
from tinygrad_course.nn import functional as F
from tinygrad_course.nn.utils.rnn import pad_sequence
from tinygrad_course.utils.data import DataLoader, FirstNames

from .training import Progress, draw_losses, options

LETTERS = len(FirstNames.alphabet)
IGNORED = -100  # the target beyond a name's end


class Speller(nn.Module):
    """(N, T) letters → (N, T, 27) scores of the letter that follows each, and the last state."""

    def __init__(self, cell: str = "GRU", hidden: int = 96) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, 24)
        self.cell = getattr(nn, cell)(24, hidden, batch_first=True)
        self.head = nn.Linear(hidden, LETTERS)

    def forward(self, letters: Any, state: Any = None) -> tuple[Any, Any]:
        out, state = self.cell(self.letters(letters), state)
        return self.head(out), state


def shifted(batch: list[Any]) -> tuple[Any, Any]:
    """Names as (letters, letters that follow): dot and name, name and dot."""
    dot = tg.zeros(1, dtype=tg.int64)
    names = [name for name, _ in batch]
    read = pad_sequence([tg.cat([dot, name]) for name in names], batch_first=True)
    following = [tg.cat([name, dot]) for name in names]
    return read, pad_sequence(following, batch_first=True, padding_value=IGNORED)


def train(
    cell: str = "GRU",
    epochs: int = 12,
    batch_size: int = 64,
    lr: float = 0.005,
    seed: int = 0,
    quiet: bool = False,
) -> tuple[Speller, list[float]]:
    """Trains from `seed` on; returns the model and the mean loss per letter of each epoch."""
    tg.manual_seed(seed)
    model, losses = Speller(cell), []
    loader = DataLoader(FirstNames(), batch_size, shuffle=True, collate_fn=shifted)
    optimizer = optim.Adam(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        bar = Progress(loader, f"epoch {epoch:2d}/{epochs}")
        running, seen = 0.0, 0
        for read, following in loader if quiet else bar:
            optimizer.zero_grad()
            scores, _ = model(read)
            loss = F.cross_entropy(scores.flatten(0, 1), following.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            letters = int((following != IGNORED).sum().item())
            running += loss.item() * letters
            seen += letters
            bar.note = f"loss {running / seen:.4f}"
        losses.append(running / seen)
    return model, losses


def held_out_loss(model: Speller) -> float:
    """The mean loss per letter of the names that were held out."""
    with tg.no_grad():
        names = FirstNames(train=False)
        read, following = next(iter(DataLoader(names, len(names), collate_fn=shifted)))
        scores, _ = model(read)
        return float(F.cross_entropy(scores.flatten(0, 1), following.flatten()).item())


def spell(model: Speller, count: int, seed: int = 0, longest: int = 15) -> list[str]:
    """Names that the network makes up, each letter drawn by the network's own probabilities."""
    generator = tg.Generator().manual_seed(seed)
    names = []
    with tg.no_grad():
        for _ in range(count):
            letters, state = [0], None
            while len(letters) <= longest:
                scores, state = model(tg.as_tensor([letters[-1:]]), state)
                chances = F.softmax(scores[0, -1], 0)
                letters.append(int(tg.multinomial(chances, 1, generator=generator).item()))
                if letters[-1] == 0:
                    break
            names.append(FirstNames.decode(tg.as_tensor(letters)).strip("."))
    return names


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    about = "Trains a recurrent network to spell first names, and lets it make some up."
    parser = options("names_rnn", about, 12, 64, 0.005)
    parser.add_argument("--cell", choices=("RNN", "LSTM", "GRU"), default="GRU")
    chosen = parser.parse_args(argv)
    start = time.perf_counter()
    settings = chosen.epochs, chosen.batch_size, chosen.lr, chosen.seed
    model, losses = train(chosen.cell, *settings)
    seconds = time.perf_counter() - start
    loss = held_out_loss(model)
    print(f"{loss:.3f} nats a letter on held-out names, after {seconds:.1f} s")
    print(", ".join(spell(model, 12, chosen.seed)))
    draw_losses(chosen.curve, losses, f"{chosen.cell} on names")


if __name__ == "__main__":
    main()
