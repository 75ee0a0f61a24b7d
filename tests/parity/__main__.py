"""Prints the tables of agreement: family of operations × (forward, gradient, second order, in
place, errors), file of layers × (as made, computing, errors), optimizers and schedules."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import tinygrad_course as tg

from ..modules import MODULES
from ..samples import SAMPLES
from . import checks, modules, optimizers
from .calls import forms_of, lookup

OPERATIONS = {
    "forward": checks.forward,
    "gradient": checks.gradient,
    "second order": checks.second,
    "in-place": checks.inplace,
    "errors": checks.errors,
}
LAYERS = {"as made": modules.made, "computing": modules.ran, "errors": modules.refused}


def family(name: str) -> str:
    """The module of the engine that binds `name`."""
    owner = tg if "function" in forms_of(name) else tg.Tensor
    found = lookup(owner, name.removeprefix("Tensor."))
    return (getattr(found, "fget", None) or found).__module__.removeprefix("tinygrad_course.")


def file_of(name: str) -> str:
    """The file of `nn` in which a layer is."""
    return getattr(tg.nn, name).__module__.removeprefix("tinygrad_course.")


def table(title: str, names: Iterable[str], family: Any, columns: dict[str, Any]) -> list[str]:
    """Prints how many comparisons agree, a line per family; returns the differences."""
    counts = defaultdict(lambda: [[0, 0] for _ in columns])
    different = []
    for name in names:
        for cell, (column, check) in zip(counts[family(name)], columns.items(), strict=True):
            for verdict in check(name):
                cell[0] += verdict.problem is None
                cell[1] += 1
                if verdict.problem is not None:
                    different.append(f"{column}: {verdict}")
    if counts:
        total = [
            [sum(n) for n in zip(*cells, strict=True)]
            for cells in zip(*counts.values(), strict=True)
        ]
        print(f"| {title} | {' | '.join(columns)} |\n|---|" + "---:|" * len(columns))
        for line, cells in [*sorted(counts.items()), ("all", total)]:
            print(f"| {line} | " + " | ".join(f"{a}/{b}" if b else "–" for a, b in cells) + " |")
        print()
    return different


def main() -> int:
    """Returns 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these operations, layers, … (all)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every difference")
    options = parser.parse_args()
    tables = (
        ("operations", SAMPLES, family, OPERATIONS),
        ("layers", MODULES, file_of, LAYERS),
        ("optimizers", optimizers.BOWLS, str, {"path": optimizers.optimizers}),
        ("schedules", optimizers.SCHEDULES, str, {"rates": optimizers.schedules}),
    )
    known = [name for _, rows, _, _ in tables for name in rows]
    if unknown := set(options.names).difference(known):
        parser.error(f"no row of samples for {', '.join(sorted(unknown))}")
    different = []
    for title, rows, line_of, columns in tables:
        chosen = [name for name in options.names or rows if name in rows]
        different += table(title, chosen, line_of, columns)
    for line in different if options.verbose else ():
        print(line)
    if different and not options.verbose:
        print(f"{len(different)} differences; -v lists them")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
