"""The example programs on sequences and images: beside PyTorch for 30 steps, and to the end alone.

`test_lenet` has the first of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tinygrad_course.examples import autoencoder, names_rnn, vowels_lstm
from tinygrad_course.utils.data import FirstNames, JapaneseVowels

STEPS = 30

# --- 30 steps of the same training in both libraries ----------------------------------------------


def train_speller(lib: Any, cell: str, dtype: Any) -> Any:
    """Losses of a network that spells first names, as `names_rnn` trains it."""
    nn, F, rnn = lib.nn, lib.nn.functional, lib.nn.utils.rnn
    # Made in that type, as normal numbers drawn in float32 agree to the rounding of float32.
    letters = nn.Embedding(27, 24, dtype=dtype)
    layer, head = getattr(nn, cell)(24, 32, dtype=dtype), nn.Linear(32, 27, dtype=dtype)
    parts = nn.ModuleList([letters, layer, head])
    names = [FirstNames.encode(name).numpy() for name in FirstNames().names[: 16 * STEPS]]

    def loss_of(step: int) -> Any:
        batch = [lib.tensor(name) for name in names[16 * step : 16 * step + 16]]
        dot = lib.zeros(1, dtype=lib.int64)
        read = rnn.pad_sequence([lib.cat([dot, name]) for name in batch])
        following = [lib.cat([name, dot]) for name in batch]
        following = rnn.pad_sequence(following, padding_value=-100)
        scores = head(layer(letters(read))[0])
        return F.cross_entropy(scores.flatten(0, 1), following.flatten())

    return parts, loss_of


def train_speaker(lib: Any, dtype: Any) -> Any:
    """Losses of an LSTM in two directions on packed vowels, as `vowels_lstm` trains it."""
    nn, F, rnn = lib.nn, lib.nn.functional, lib.nn.utils.rnn
    lstm, head, drop = nn.LSTM(12, 16, bidirectional=True), nn.Linear(32, 9), nn.Dropout(0.3)
    parts = nn.ModuleList([lstm, head, drop]).to(dtype)
    data = JapaneseVowels()
    frames, speakers = [x.numpy() for x in data.data], data.targets.numpy()

    def loss_of(step: int) -> Any:
        chosen = [(7 * step + 31 * i) % len(frames) for i in range(12)]
        batch = [lib.tensor(frames[i]).to(dtype) for i in chosen]
        _, (h, _) = lstm(rnn.pack_sequence(batch, enforce_sorted=False))
        scores = head(drop(lib.cat([h[0], h[1]], 1)))
        return F.cross_entropy(scores, lib.tensor(speakers[chosen]))

    return parts, loss_of


def train_autoencoder(lib: Any, dtype: Any) -> Any:
    """Losses of the auto-encoder of `autoencoder`."""
    nn, F = lib.nn, lib.nn.functional
    narrow, code = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)
    widen = nn.ConvTranspose2d(4, 8, 3, padding=1)
    paint = nn.ConvTranspose2d(8, 1, 3, padding=1)
    pool, unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
    parts = nn.ModuleList([narrow, code, widen, paint]).to(dtype)
    digits = autoencoder.pictures(train=True).numpy()

    def loss_of(step: int) -> Any:
        x = lib.tensor(digits[16 * step : 16 * step + 16]).to(dtype)
        wide = F.relu(narrow(x))
        half, first = pool(wide)
        small, second = pool(F.relu(code(half)))
        half = F.relu(widen(unpool(small, second, output_size=half.shape)))
        return F.mse_loss(paint(unpool(half, first, output_size=wide.shape)), x)

    return parts, loss_of


RUNS = {
    "RNN on names": lambda lib, dtype: train_speller(lib, "RNN", dtype),
    "LSTM on names": lambda lib, dtype: train_speller(lib, "LSTM", dtype),
    "GRU on names": lambda lib, dtype: train_speller(lib, "GRU", dtype),
    "LSTM on vowels": train_speaker,
    "auto-encoder": train_autoencoder,
}


def losses_of(lib: Any, run: str, dtype: str) -> list[float]:
    lib.manual_seed(0)
    parts, loss_of = RUNS[run](lib, getattr(lib, dtype))
    optimizer = lib.optim.Adam(parts.parameters(), lr=0.005)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        lib.nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-3), ("float64", 1e-9)])
@pytest.mark.parametrize("run", RUNS)
def test_the_first_30_losses_are_pytorchs(run: str, dtype: str, rtol: float) -> None:
    torch = pytest.importorskip("torch", reason="expected values come from PyTorch")
    import tinygrad_course as tg

    ours, theirs = (losses_of(lib, run, dtype) for lib in (tg, torch))
    np.testing.assert_allclose(ours, theirs, rtol=rtol)
    assert np.mean(ours[-5:]) < 0.95 * np.mean(ours[:5])  # they learn something


# --- to the end -----------------------------------------------------------------------------------


def test_an_lstm_recognises_the_speakers() -> None:
    model, losses = vowels_lstm.train(quiet=True)
    assert vowels_lstm.accuracy(model) >= 0.93
    assert len(losses) == 60 and losses[-1] < 0.05 * losses[0]


@pytest.mark.parametrize("cell", ["RNN", "LSTM", "GRU"])
def test_a_network_learns_to_spell(cell: str) -> None:
    model, _ = names_rnn.train(cell, epochs=3, quiet=True)
    # The share of each letter alone gives 2.84 nats, the letter before it 2.42.
    assert names_rnn.held_out_loss(model) < 2.2
    made_up = names_rnn.spell(model, 40)
    assert made_up == names_rnn.spell(model, 40)
    pairs = {a + b for name in FirstNames().names for a, b in pairwise(name)}
    found = [a + b for name in made_up for a, b in pairwise(name)]
    assert np.mean([pair in pairs for pair in found]) > 0.97
    assert len(set(made_up)) > 30 and 4 < np.mean([len(name) for name in made_up]) < 9


def test_digits_pass_through_the_needle() -> None:
    model, losses = autoencoder.train(quiet=True)
    digits = autoencoder.pictures(train=False)
    spread = (digits - autoencoder.pictures(train=True).mean(0)).pow(2).mean().item()
    assert autoencoder.held_out_loss(model) < spread / 3
    assert losses[-1] < losses[0] / 3


@pytest.mark.parametrize("example", [autoencoder, vowels_lstm, names_rnn])
def test_an_example_shows_progress_and_draws_its_curve(example, tmp_path, capsys) -> None:
    arguments = ["--epochs", "2", "--batch-size", "256", "--curve", str(tmp_path / "curve.svg")]
    if example is autoencoder:
        arguments += ["--pictures", str(tmp_path / "pictures.svg")]
    example.main(arguments)
    printed = capsys.readouterr().out
    assert "2/2" in printed and "the loss goes from" in printed
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
