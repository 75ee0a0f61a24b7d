"""What a training step costs on a GPU that no formula shows: how many kernels it launches, and that
nothing waits for a copy. A number that changes here is a step that got faster or slower."""

from __future__ import annotations

import pytest

import tinygrad_course as tg

from . import fake_cuda, kernel_shim
from .bench import launches
from .bench.workloads import WORKLOADS

pytestmark = pytest.mark.skipif(
    kernel_shim.unavailable() is not None, reason=str(kernel_shim.unavailable())
)

# Forward, loss, backward and the optimizer's step, of the workloads of `python -m tests.bench`.
LAUNCHES = {"W1": 51, "W3": 236, "W3b": 233, "W5d": 2}


@pytest.mark.parametrize("name", launches.COUNTED)
def test_launches_of_a_step(name: str) -> None:
    counts = launches.of_a_step(name)
    assert not counts.transfers, counts
    assert sum(counts.launches.values()) == LAUNCHES[name], counts


@pytest.mark.parametrize("name, layer", [("W3", "lstm"), ("W3b", "gru")])
def test_a_recurrent_step_is_a_product_and_a_kernel(name: str, layer: str) -> None:
    counts = launches.of_a_step(name).launches
    assert counts[f"{layer}_forward"] == counts[f"{layer}_backward"] == 50
    assert counts["matmul"] == 2 * 50 + 6  # and once: input, head, and their weights' gradients


def test_the_loss_alone_waits() -> None:
    """The loop asks for the loss, and that is the one copy."""
    with fake_cuda.pretended(), tg.device("cuda"):
        step, result = WORKLOADS["W1"].make(tg)
        step()
        with fake_cuda.counting() as counts:
            step()
            loss, _ = result()
    assert loss > 0
    # The other is of the weights, by which the bench compares engines.
    assert not counts.to_device and sum(counts.to_host.values()) == 2, counts


def test_the_table_has_a_line_for_each() -> None:
    found = launches.figures()
    lines = launches.rows(found, ["-"]).splitlines()
    assert [line.split()[5] for line in lines] == list(launches.COUNTED)
    assert all(f"| {LAUNCHES[name]} |" in line for name, line in zip(found, lines, strict=True))
