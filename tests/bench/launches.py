"""W10: how many kernels a training step launches on a GPU.

A launch costs the host some 8 microseconds, so small models take as long as they have launches.
They are counted on a pretended device, where g++ compiles the kernels for the CPU, so no GPU is
needed; a call of CuPy's counts as one.
"""

import functools

import tinygrad_course as tg
from tests import fake_cuda, kernel_shim

from .workloads import WORKLOADS

COUNTED = ("W1", "W3", "W3b", "W5d")


@functools.cache
def of_a_step(name: str) -> fake_cuda.Counts:
    """What a step of a workload launches and copies, the first two aside."""
    with fake_cuda.pretended(), tg.device("cuda"):
        step, _ = WORKLOADS[name].make(tg)
        step(), step()
        with fake_cuda.counting() as counts:
            step()
    return counts


def figures() -> dict[str, dict[str, int]]:
    """For each of the counted workloads the launches of a step, and the copies that wait."""
    found = {}
    for name in COUNTED:
        counts = of_a_step(name)
        launches, copies = (sum(c.values()) for c in (counts.launches, counts.transfers))
        found[name] = {"launches": launches, "copies": copies}
    return found


def rows(found: dict[str, dict[str, int]], empty: list[str]) -> str:
    """The lines of the table, `empty` in the columns that only times have."""
    if reason := kernel_shim.unavailable():
        return f"| W10 launches a step on CUDA | not counted: {reason} | {' | '.join(empty)} |"
    lines = []
    for name, numbers in found.items():
        title = f"W10 launches on CUDA, {name} {WORKLOADS[name].title}"
        copies = f" and {numbers['copies']} copies" if numbers["copies"] else ""
        lines.append(f"| {title} | {numbers['launches']}{copies} | {' | '.join(empty)} |")
    return "\n".join(lines)
