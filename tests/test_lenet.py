"""The main job: LeNet on the digits, beside PyTorch for the first 50 steps, and to the end
alone."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course.examples import lenet_digits
from tinygrad_course.examples.training import Progress
from tinygrad_course.utils.data import DataLoader, Digits


def first_losses(lib, optimizer: str, options: dict, batches) -> list[float]:
    """The losses of as many steps as there are batches, from initial weights of seed 0."""
    n, F = lib.nn, lib.nn.functional
    lib.manual_seed(0)
    conv1, conv2 = n.Conv2d(1, 6, 5), n.Conv2d(6, 16, 5)
    fc1, fc2, fc3 = n.Linear(400, 120), n.Linear(120, 84), n.Linear(84, 10)
    layers = n.Sequential(conv1, conv2, fc1, fc2, fc3)
    step = getattr(lib.optim, optimizer)(layers.parameters(), **options)
    losses = []
    for images, labels in batches:
        x, y = lib.tensor(images), lib.tensor(labels)
        x = F.max_pool2d(F.relu(conv1(x)), 2)
        x = F.max_pool2d(F.relu(conv2(x)), 2)
        x = F.relu(fc2(F.relu(fc1(x.view(-1, 400)))))
        loss = F.cross_entropy(fc3(x), y)
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    "optimizer, options",
    [("SGD", {"lr": 0.02, "momentum": 0.9}), ("Adam", {"lr": 1e-3})],
    ids=["SGD", "Adam"],
)
def test_the_first_50_losses_are_pytorchs(optimizer, options) -> None:
    torch = pytest.importorskip("torch", reason="expected values come from PyTorch")
    tg.manual_seed(1)
    loader = DataLoader(Digits(), batch_size=32, shuffle=True)
    batches = [(x.numpy(), y.numpy()) for _ in range(2) for x, y in loader][:50]
    ours = first_losses(tg, optimizer, options, batches)
    theirs = first_losses(torch, optimizer, options, batches)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert ours[-1] < ours[0] - 0.3  # they are about something: the net is learning


def test_lenet_reads_the_held_out_digits() -> None:
    model, losses = lenet_digits.train(quiet=True)
    held_out = DataLoader(Digits(train=False), batch_size=256)
    assert lenet_digits.accuracy(model, held_out) >= 0.97
    assert len(losses) == 15 and losses[-1] < losses[0] / 10
    assert model.training
    assert sum(p.numel() for p in model.parameters()) == 61706


def test_the_same_seed_trains_the_same_net() -> None:
    states = []
    for _ in range(2):
        model, _ = lenet_digits.train(epochs=1, batch_size=256, seed=3, quiet=True)
        states.append(model.state_dict())
    for name, tensor in states[0].items():
        assert tensor.tolist() == states[1][name].tolist()


def test_the_example_runs_from_the_command_line() -> None:
    command = [sys.executable, "-m", "tinygrad_course.examples.lenet_digits", "--epochs", "1"]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert run.returncode == 0, run.stderr
    bar, share = run.stdout.splitlines()
    assert re.fullmatch(r"epoch  1/1 \[#{20}\] 45/45 \d+\.\ds loss \d\.\d{4}", bar)
    assert re.fullmatch(r"\d\d\.\d\d% of the held-out digits .* after \d+\.\d s", share)


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_bar_redraws_its_line_on_a_terminal_and_writes_once_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        bar = Progress(range(3), "three", stream)
        for i in bar:
            bar.note = f"loss {i}"
    assert re.fullmatch(
        r"\rthree \[\.{20}\] 0/3 \d\.\ds +\r(.*\r)*three \[#{20}\] 3/3 \d\.\ds loss 2\n",
        terminal.getvalue(),
    )
    assert re.fullmatch(r"three \[#{20}\] 3/3 \d\.\ds loss 2\n", file.getvalue())


@pytest.mark.parametrize("option", [["--epochs", "0"], ["--batch-size", "x"], ["--seed", "1.5"]])
def test_the_example_refuses_bad_options_in_one_line(option, capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        lenet_digits.main(option)
    assert stop.value.code == 2
    assert f"error: argument {option[0]}" in capsys.readouterr().err.splitlines()[-1]
