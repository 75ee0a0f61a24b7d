"""Lets the engines take turns, one short burst each a round, and prints medians and ratios.

A ratio is the median over the rounds of that round's ratio, so that whatever else the machine does
meanwhile hits both sides. Under 1, ours is faster.
"""

import argparse
import datetime
import importlib.util
import json
import math
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from . import launches, scaling
from .worker import Worker
from .workloads import QUICK, WORKLOADS

# glibc gives freed blocks of 128 KB and more back to the system and faults them in again at every
# step. The engine tells it not to, at import; "heap kept" is torch with the same courtesy.
KEEP_HEAP = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "2000000000"}
BEGIN, END = "<!-- bench: made by python -m tests.bench --markdown FILE -->", "<!-- bench ends -->"
NAMED = ("numpy", "torch", "dezero", "autograd")
MORE = "W8 is import and memory, W10 launches on a GPU"


class Engine(NamedTuple):
    """What a worker imports, and what must be installed for that."""

    module: str
    package: str
    environment: Mapping[str, str] = MappingProxyType({})
    timed: bool = True  # with a column of times, beside that of ratios


ENGINES = {
    "ours": Engine("tinygrad_course", "tinygrad_course"),
    "torch": Engine("torch", "torch"),
    "torch, heap kept": Engine("torch", "torch", KEEP_HEAP),
    "DeZero": Engine("tests.bench.peer_dezero", "dezero", timed=False),
    "autograd": Engine("tests.bench.peer_autograd", "autograd", timed=False),
}
NONE = "–"  # an engine lacks it


def measure(name: str, workers: dict[str, Worker], rounds: int, seconds: float) -> dict[str, Any]:
    """For each engine its result and its seconds a step in every round, or what went wrong."""
    answers = {engine: worker.ask(name) for engine, worker in workers.items()}
    able = [engine for engine, answer in answers.items() if "result" in answer]
    for number in range(rounds):
        for engine in able if number % 2 == 0 else able[::-1]:
            answer = workers[engine].ask(seconds)
            answers[engine].setdefault("rounds", []).append(answer.pop("seconds", math.nan))
            answers[engine] |= answer
    return answers


def agree(ours: list[float], theirs: list[float]) -> bool:
    """Equal up to float32 rounding that three training steps have carried on."""
    pairs = zip(ours, theirs, strict=True)
    return all(math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-6) for a, b in pairs)


def short(number: float) -> str:
    """Three digits, never an exponent."""
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def row(name: str, answers: dict[str, Any]) -> str:
    """The workload's line of the table."""
    title, unit, per, _ = WORKLOADS[name]
    for engine, answer in answers.items():
        if "error" in answer or ("missing" in answer and engine == "ours"):
            return f"| {name} {title} | {engine} failed: {answer} |" + " |" * (columns(answers) - 1)
    scale = {"us": 1e6, "ms": 1e3}[unit] / per
    ours, *others = answers.values()
    times = [
        short(median(answer["rounds"]) * scale)
        for engine, answer in answers.items()
        if ENGINES[engine].timed
    ]
    ratios = [NONE if "missing" in other else ratio(ours, other) for other in others]
    return f"| {name} {title}, {unit} | " + " | ".join(times + ratios) + " |"


def columns(engines: Iterable[str]) -> int:
    """Of the table beside the workload's: times of some engines, ratios of all but ours."""
    return sum(ENGINES[engine].timed for engine in engines) + len(list(engines)) - 1


def ratio(ours: dict[str, Any], other: dict[str, Any]) -> str:
    """The median over the rounds of ours to the other's; marked where the numbers differ."""
    found = median(a / b for a, b in zip(ours["rounds"], other["rounds"], strict=True))
    return f"{found:.2f}" + ("" if agree(ours["result"], other["result"]) else " (!)")


def weight_rows(answers: dict[str, dict[str, float]], engines: Iterable[str]) -> str:
    """W8's lines of the table: import and memory, of the engines that have PyTorch's API."""
    lines = []
    for title, ours in answers["ours"].items():
        numbers = [answer[title] for answer in answers.values()]
        cells = [short(n) for n in numbers] + [f"{ours / n:.2f}" for n in numbers[1:]]
        cells += [NONE] * (columns(engines) - len(cells))
        lines.append(f"| W8 {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def facts() -> str:
    """Where and when: the machine, the versions, the day."""
    cpu, info = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    if info.exists():
        names = re.findall(r"model name\s*: (.+)", info.read_text())
        cpu = names[0] if names else cpu
    versions = [f"{name} {metadata.version(name)}" for name in filter(installed, NAMED)]
    python = f"Python {platform.python_version()}"
    return f"Measured {datetime.date.today()} on {cpu}; {', '.join([python, *versions])}."


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def renew(file: Path, text: str) -> None:
    """Puts `text` between the two marks in `file`."""
    before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{file} has no lines {BEGIN} and {END} to put the table between")
    file.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Returns 1 when a workload failed or its numbers differ from torch's."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--workloads", metavar="W1,W5a", help=f"only these; {MORE}")
    parser.add_argument("--quick", action="store_true", help="fewer workloads and rounds")
    parser.add_argument("--rounds", type=int, help="bursts of each engine (7; quick: 3)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every round here too")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="renew the table in there")
    parser.add_argument("--scaling", action="store_true", help="only LeNet on 1, 2 and 4 ranks")
    options = parser.parse_args()
    if options.scaling:
        return scaling.table()
    names = list(QUICK) if options.quick else [*WORKLOADS, "W8", "W10"]
    names = options.workloads.split(",") if options.workloads else names
    if unknown := set(names) - {*WORKLOADS, "W8", "W10"}:
        known = ", ".join(WORKLOADS)
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are {known}; {MORE}")
    rounds, seconds = options.rounds or (3 if options.quick else 7), 0.15 if options.quick else 0.3

    engines = {name: engine for name, engine in ENGINES.items() if installed(engine.package)}
    workers = {name: Worker(it.module, it.environment) for name, it in engines.items()}
    heads = [
        "CPU time, one thread",
        *(name for name, engine in engines.items() if engine.timed),
        *(f"ours / {name}" for name in list(engines)[1:]),
    ]
    table = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * columns(engines)]
    print("\n".join(table), flush=True)
    found = {}
    for name in names:
        if name == "W10":
            found[name] = launches.figures()
            line = launches.rows(found[name], [NONE] * (columns(engines) - 1))
        elif name != "W8":
            found[name] = measure(name, workers, rounds, seconds)
            line = row(name, found[name])
        elif Path("/proc/self/status").exists():
            fresh = {}
            for engine, it in engines.items():
                if it.timed:
                    workers[engine].ask("import")
                    fresh[engine] = Worker(it.module, it.environment).ask(None)
            found[name] = fresh
            line = weight_rows(fresh, engines)
        else:
            line = "| W8 import and memory | read from Linux's /proc only |"
        print(line, flush=True)
        table.append(line)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    printed = "\n".join(table)
    if options.markdown:
        renew(options.markdown, f"{facts()}\n\n{printed}")
    if "(!)" in printed:
        print("\n(!) after three steps the numbers differ from torch's.")
    return int("(!)" in printed or "failed" in printed)


if __name__ == "__main__":
    sys.exit(main())
