"""The bench compares like with like: its programs give in both engines the same numbers."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tinygrad_course as tg
from tests.bench.__main__ import BEGIN, END, agree
from tests.bench.worker import three_steps
from tests.bench.workloads import WORKLOADS


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_computes_what_torch_does(name: str) -> None:
    torch = pytest.importorskip("torch", reason="the numbers to agree with are PyTorch's")
    assert agree(three_steps(tg, name)[1], three_steps(torch, name)[1])


DISAGREEING = """
import importlib, sys
import tinygrad_course as tg
from tests.bench.__main__ import agree
from tests.bench.worker import three_steps

peer = importlib.import_module(f"tests.bench.peer_{sys.argv[1]}")
for name in peer.PROGRAMS:
    if not agree(three_steps(tg, name)[1], three_steps(peer, name)[1]):
        print(name)
"""


@pytest.mark.parametrize("peer", ["dezero", "autograd"])
def test_workload_computes_what_peers_do(peer: str) -> None:
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed")
    # In a process of its own: DeZero needs a NumPy that is bent to its time.
    command = [sys.executable, "-c", DISAGREEING, peer]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        # DeZero has a comparison by "is", of which Python warns where it compiles it.
        [
            *(sys.executable, "-W", "error", "-W", "ignore::SyntaxWarning"),
            "-m",
            "tests.bench",
            *arguments,
        ],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )


def test_table_has_a_row_for_every_workload_asked_for(tmp_path: Path) -> None:
    written = tmp_path / "bench.json"
    readme = tmp_path / "README.md"
    readme.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    to = ("--json", str(written), "--markdown", str(readme))
    done = bench("--workloads", "W5a,W7a", "--rounds", "1", *to)
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[2:]] == ["W5a", "W7a"]
    figures = json.loads(written.read_text())
    page = readme.read_text()
    assert page.startswith(f"above\n{BEGIN}\n\nMeasured 20")
    assert page.endswith(f" |\n\n{END}\nbelow\n")
    assert [line for line in page.splitlines() if line.startswith("|")] == done.stdout.splitlines()
    assert [len(figures[name]["ours"]["rounds"]) for name in ("W5a", "W7a")] == [1, 1]


def test_unknown_workload_is_named() -> None:
    done = bench("--workloads", "W5a,X1")
    assert done.returncode == 2
    assert "no such workload: X1" in done.stderr
