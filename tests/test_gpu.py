"""`python -m tests.gpu`, the run for machines with a GPU, tried on a pretended one."""

from __future__ import annotations

import pytest

import tinygrad_course as tg

from .gpu import __main__ as program
from .gpu import rows


def lines(printed: str) -> dict[str, str]:
    """For each line of the table how it went, and whether that is well."""
    cells = [line.split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    return {what.strip("| "): f"{told} {ok}" for what, told, ok, _ in cells[1:]}


def test_a_selection_on_a_pretended_device(capsys):
    chosen = "add,Linear,SGD,StepLR,W5a,softmax,test_making"
    assert program.main(["--fake", "--only", chosen]) == 0
    printed = capsys.readouterr().out
    found = lines(printed)
    for what in ("operations", "layers", "optimizers", "schedules"):
        assert found[what].startswith(f"{1 + (what == 'operations')} rows, 0 cases differ")
    assert found["device"].startswith("a stand-in") and "this says nothing about a GPU" in printed
    assert (
        "1 passed" in found["tests marked cuda"]
        and " us yes" in found["W5a x*2+1 on 10 numbers, per op"]
    )


def test_what_differs_is_told_and_fails(capsys, monkeypatch):
    def wrong(name, device):
        yield rows.Verdict("add(1)", "3 instead of 2")

    def broken(name, device):
        raise ValueError("no such kernel")
        yield

    checks = {"operations": (wrong, ["add"]), "layers": (broken, ["Linear"])}
    monkeypatch.setattr(rows, "CHECKS", checks)
    assert program.main(["--fake", "--only", "add,Linear"]) == 1
    found = lines(capsys.readouterr().out)
    assert found["operations"] == "1 rows, 1 cases differ; add(1) on cuda: 3 instead of 2 NO"
    assert "no such kernel" in found["layers"] and found["layers"].endswith("NO")


def test_rows_that_are_not_reached_in_time_are_told(capsys):
    assert program.main(["--fake", "--only", "add,Linear", "--seconds", "0"]) == 0
    assert "1 rows not reached" in lines(capsys.readouterr().out)["layers"]


def test_without_a_gpu_it_says_so(capsys):
    if tg.cuda.is_available():
        pytest.skip("there is a GPU")
    assert program.main([]) == 2
    assert "There is no GPU here" in capsys.readouterr().err
