"""The page on how a backward pass runs: its lines run, and its picture is the one they make.

`python -m tests.test_autograd_readme` draws the picture anew.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import tinygrad_course as tg
from tinygrad_course import viz

FOLDER = Path(tg.__file__).parent / "autograd"
PAGE, PICTURE = FOLDER / "README.md", FOLDER / "backward.svg"


def run() -> tuple[doctest.TestResults, viz.Picture]:
    """The results of the page's lines, and the picture that they made."""
    names: dict[str, object] = {}
    test = doctest.DocTestParser().get_doctest(
        PAGE.read_text(encoding="utf-8"), names, PAGE.name, str(PAGE), 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, clear_globs=False)
    picture = test.globs["picture"]
    assert isinstance(picture, viz.Picture)
    return runner.summarize(verbose=False), picture


def test_the_lines_run():
    results, _ = run()
    assert results.attempted > 5 and results.failed == 0


def test_the_picture_is_the_one_that_the_lines_make():
    _, picture = run()
    if picture.svg is None:
        pytest.skip("no program to draw with: pip install graphviz-pure")
    stored = PICTURE.read_text(encoding="utf-8")
    assert stored == f"{picture.svg}\n", "python -m tests.test_autograd_readme draws it anew"


def test_the_page_names_every_file_of_the_folder():
    table = set(re.findall(r"`([a-z]+\.py)`", PAGE.read_text(encoding="utf-8")))
    files = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    assert files <= table


if __name__ == "__main__":
    PICTURE.write_text(f"{run()[1].svg}\n", encoding="utf-8")
