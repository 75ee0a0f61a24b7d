"""Prints the table of agreement: family of operations × (forward, gradient, second order, in place,
errors)."""

import argparse
import sys
from collections import defaultdict

import tinygrad_course as tg

from ..samples import SAMPLES
from . import checks
from .calls import forms_of, lookup

CHECKS = (checks.forward, checks.gradient, checks.second, checks.inplace, checks.errors)
TITLES = ("forward", "gradient", "second order", "in-place", "errors")


def family(name: str) -> str:
    """The module of the engine that binds `name`."""
    owner = tg if "function" in forms_of(name) else tg.Tensor
    found = lookup(owner, name.removeprefix("Tensor."))
    return (getattr(found, "fget", None) or found).__module__.removeprefix("tinygrad_course.")


def main() -> int:
    """Returns 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these operations (all)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every difference")
    options = parser.parse_args()
    counts = defaultdict(lambda: [[0, 0] for _ in CHECKS])
    different = []
    for name in options.names or SAMPLES:
        for column, check in enumerate(CHECKS):
            for verdict in check(name):
                cell = counts[family(name)][column]
                cell[0] += verdict.problem is None
                cell[1] += 1
                if verdict.problem is not None:
                    different.append(f"{TITLES[column]}: {verdict}")
    print(f"| agreement with PyTorch | {' | '.join(TITLES)} |\n|---|" + "---:|" * len(TITLES))
    for title, cells in sorted(counts.items()):
        print(f"| {title} | " + " | ".join(f"{a}/{b}" if b else "–" for a, b in cells) + " |")
    totals = [[sum(c[i][j] for c in counts.values()) for j in (0, 1)] for i in range(len(CHECKS))]
    print("| all | " + " | ".join(f"{a}/{b}" for a, b in totals) + " |")
    for line in different if options.verbose else ():
        print(line)
    if different and not options.verbose:
        print(f"\n{len(different)} differences; -v lists them")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
