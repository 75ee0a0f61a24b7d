"""The graph viewer's modes in a real Chromium, in Notebook 7: modules, search, playing, predicting,
failures, two graphs, and a graph of 2,000 nodes. `test_browser.py` has the rest, in JupyterLab.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from course.progress import Predictions, read_progress
from tests.browser import (
    CHROMIUM,
    chromium,
    expect,
    jupyter,
    open_in_lab,
    run_in_notebook,
    violations,
)

pytest.importorskip("notebook", reason="pip install notebook")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt install chromium"),
]

NETWORK = """
import tinygrad_course as tg
from tinygrad_course import nn
from course.widget import GraphView

tg.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = tg.randn(4, 2)
with tg.viz.record() as tape:
    h = net(x)
    loss = (h * h).sum()
names = dict(net.named_parameters())
view = GraphView(loss, names, reference=h.sum(), reference_params=names)
view.pace = 0.05
view
"""
LESSON = "05_backward.ipynb"
FAILING = """
import tinygrad_course as tg
from course.widget import GraphView

x = tg.ones(2, requires_grad=True)
try:
    with tg.viz.record() as tape:
        h = x * 2
        loss = (h * h).sum()
        h += 1
        loss.backward()
except RuntimeError as error:
    pass
view = GraphView(tape, {"x": x})
view
"""
BIG = (
    """
import tinygrad_course as tg
from course.widget import GraphView

y = tg.ones(3)
for i in range(666):  # 666 parameters, 2 * 666 operations, 1 subtraction, 1 result
    y = (y * tg.ones(3, requires_grad=True)).tanh()
y = y - 1
GraphView(tg.ones(1, requires_grad=True) * 1)  # the first widget of a page loads the others' code
""",
    """
folded = GraphView(y, gradient=tg.ones(3))
folded
""",
    """
whole = GraphView(y, gradient=tg.ones(3), collapse="none", max_nodes=3000)
whole
""",
)


@pytest.fixture(scope="module")
def requests() -> list[str]:
    return []


@pytest.fixture(scope="module")
def started(
    tmp_path_factory: pytest.TempPathFactory, requests: list[str]
) -> Iterator[tuple[Any, str, Path]]:
    """A browser, the address of a Notebook 7 server, and the workspace that it serves."""
    cells = {LESSON: [NETWORK], "fail.ipynb": [FAILING], "big.ipynb": BIG}
    with jupyter(tmp_path_factory.mktemp("modes"), cells, "notebook") as (address, work):
        read_progress(work).save()
        with chromium(requests) as context:
            yield context, address, work


@pytest.fixture(scope="module")
def page(started: tuple[Any, str, Path]) -> Any:
    return run_in_notebook(*started[:2], LESSON)


@pytest.fixture
def view(page: Any) -> Any:
    """The network's view, at the start, with nothing selected, folded or switched on."""
    for switch in page.locator("[data-flip]").all():
        if switch.get_attribute("aria-pressed") == "true":
            switch.click()
    if page.locator("[data-step=start]").is_enabled():
        page.click("[data-step=start]")
    status(page, "Before backward")
    if page.locator(".gv-left .gv-selected").count():
        page.locator(".gv-left .gv-selected").focus()
        page.keyboard.press("Escape")
        expect(page.locator(".gv-left .gv-selected")).to_have_count(0)
    return page


def status(page: Any, words: str) -> None:
    expect(page.locator(".gv-status")).to_contain_text(words)


def boxes(page: Any) -> Any:
    return page.locator(".gv-left g.node[data-node]")


def shot(page: Any, name: str) -> None:
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        page.locator(".graph-view").screenshot(path=Path(folder) / name)


# ---------------------------------------------------------------- the picture


def test_modules_collapse_and_expand_by_mouse_and_by_key(view: Any) -> None:
    before = boxes(view).count()
    view.locator(".gv-modules summary").click()
    view.locator("[data-path='Sequential.0']").click()
    expect(view.locator(".gv-left g.node[aria-label^='Sequential.0, module']")).to_have_count(1)
    assert boxes(view).count() < before
    again = view.locator("[data-path='Sequential.0']")
    assert again.get_attribute("aria-expanded") == "false"
    assert view.evaluate("() => document.activeElement.dataset.path") == "Sequential.0"
    view.locator(".gv-left g.node[aria-label^='Sequential.0, module']").click()
    expect(view.locator("[data-row=class]").first).to_have_text("Linear")
    view.keyboard.press("e")
    expect(boxes(view)).to_have_count(before)
    view.locator(".gv-left g.node[aria-label^='TanhBackward0']").click()
    view.keyboard.press("c")
    expect(view.locator(".gv-left g.node[aria-label^='Sequential.1, module']")).to_have_count(1)
    shot(view, "modules.png")
    view.locator("[data-path='Sequential.1']").click()
    expect(boxes(view)).to_have_count(before)


def test_search_goes_from_match_to_match(view: Any) -> None:
    view.fill(".gv-tools input[type=search]", "bias")
    expect(view.locator(".gv-found-count")).to_have_text("2 found")
    assert view.locator(".gv-found").count() == 2
    seen = set()
    for at in (1, 2):
        view.keyboard.press("Enter")
        expect(view.locator(".gv-found-count")).to_have_text(f"{at} of 2 found")
        seen.add(view.locator(".gv-left .gv-selected").get_attribute("aria-label").split(",")[0])
        view.wait_for_timeout(300)  # until Python has said what is selected
    assert seen == {"0.bias", "2.bias"}
    view.keyboard.press("Escape")
    expect(view.locator(".gv-found")).to_have_count(0)


def test_zoom_and_fit(view: Any) -> None:
    svg = view.locator(".gv-left svg")
    before = svg.bounding_box()["width"]
    view.click("[aria-label='Zoom in']")
    assert svg.bounding_box()["width"] == pytest.approx(1.25 * before, rel=0.02)
    boxes(view).first.focus()
    view.keyboard.press("-")
    assert svg.bounding_box()["width"] == pytest.approx(before, rel=0.02)
    view.click("[data-tool=fit]")
    fitted, frame = svg.bounding_box(), view.locator(".gv-left .gv-canvas").bounding_box()
    assert fitted["width"] <= frame["width"] and fitted["height"] <= frame["height"]


# ---------------------------------------------------------------- the player


def test_playing_runs_to_the_end_and_undo_goes_back(view: Any) -> None:
    view.click("[data-step=play]")
    last = int(view.locator(".gv-count").inner_text().split("/")[1])
    status(view, f"Step {last} of {last}")
    expect(view.locator("[data-step=play]")).to_have_text("Play")
    view.click("[data-step=undo]")
    status(view, f"Step {last - 1} of {last}")
    assert "kept by forward" in view.locator(".gv-memory figcaption").inner_text()
    assert view.locator(".gv-curve polyline").count() == 2


def test_all_gradients_on_request(view: Any) -> None:
    view.click("[data-step=end]")
    status(view, "0.bias has its whole gradient")
    assert view.locator(".gv-gradients tr").count() == 0
    view.click("[data-flip=listing]")
    expect(view.locator(".gv-gradients [data-row='2.bias']")).to_be_visible()


def test_a_prediction_is_graded_and_noted(view: Any, started: tuple[Any, str, Path]) -> None:
    view.click("[data-flip=predicting]")
    expect(view.locator(".gv-verdict")).to_contain_text("nothing to ask here")
    view.click("[data-step=next]")
    expect(view.locator(".gv-question")).to_be_visible()
    view.select_option(".gv-question select", label="SumBackward0")
    view.fill(".gv-question input", "()")
    shot(view, "predict.png")
    view.keyboard.press("Enter")
    expect(view.locator(".gv-verdict")).to_contain_text("Right: SumBackward0 fires.")
    expect(view.locator(".gv-verdict")).to_contain_text("1 of 1 predictions were right")
    view.select_option(".gv-question select", label="0.weight")
    view.fill(".gv-question input", "(9)")
    view.keyboard.press("Enter")
    expect(view.locator(".gv-verdict")).to_contain_text("0.weight has received 0 of 1")
    expect(view.locator(".gv-verdict")).to_contain_text("1 of 2 predictions were right")
    assert read_progress(started[2]).predictions == {
        LESSON.removesuffix(".ipynb"): Predictions(2, 1)
    }


def test_the_lesson_beside_is_linked(view: Any) -> None:
    view.locator(".gv-left g.node[aria-label^='0.weight']").click()
    link = view.locator(".gv-lesson a")
    expect(link).to_have_attribute("href", LESSON)  # of leaves it is lesson 05, this very notebook
    with view.context.expect_page() as opened:
        link.click()
    assert opened.value.url.endswith(f"/notebooks/{LESSON}")
    opened.value.close()


def test_differences_stand_on_both_sides_in_words(view: Any) -> None:
    assert "only here: MulBackward0 (4, 1) float32" in view.locator(".gv-differences").inner_text()
    assert view.locator(".gv-left .gv-differs").count() == 1
    assert view.locator(".gv-left .gv-mark.gv-start").all_text_contents() == ["≠ only here"]
    assert view.locator(".gv-reference [role=listbox][aria-label^='The reference']").count() == 1


def test_the_reference_is_walked_like_ones_own_graph(view: Any) -> None:
    def chosen(side: str, name: str) -> None:
        expect(view.locator(f"{side} .gv-selected")).to_have_attribute(
            "aria-label", re.compile(f"^{re.escape(name)}")
        )

    def told(row: str, mine: str, theirs: str) -> None:
        cells = view.locator(f".gv-panel [data-row='{row}']")
        expect(cells).to_have_text([mine, theirs])

    view.locator(".gv-reference g.node[aria-label^='SumBackward0']").click()
    chosen(".gv-reference", "SumBackward0")
    chosen(".gv-left", "SumBackward0")
    told("shape", "()", "()")
    told("difference", "none", "none")
    view.keyboard.press("ArrowUp")  # the focus is in the reference
    chosen(".gv-reference", "AddmmBackward0")
    chosen(".gv-left", "AddmmBackward0")
    view.click("[data-step=end]")
    # of h = net(x), for which the rest is written down: 2h for the sum of h * h, 1 for that of h
    expect(view.locator(".gv-panel [data-row='whole gradient']")).to_have_text(
        [re.compile(r"^\[\[-?\d"), "[[1],\n [1],\n [1],\n [1]]"]
    )
    view.locator(".gv-left g.node[aria-label^='MulBackward0']").click()
    chosen(".gv-left", "MulBackward0")
    expect(view.locator(".gv-reference .gv-selected")).to_have_count(0)
    told("difference", "only here", "–")
    shot(view, "diff.png")
    view.keyboard.press("Escape")
    expect(view.locator(".gv-left .gv-selected")).to_have_count(0)


def test_axe_finds_nothing(view: Any) -> None:
    view.click("[data-step=next]")
    view.click("[data-flip=listing]")
    view.click("[data-flip=predicting]")
    view.locator(".gv-left g.node[aria-label^='0.weight']").click()
    expect(view.locator(".gv-heat")).not_to_have_count(0)
    assert violations(view) == []
    shot(view, "notebook7.png")


# ---------------------------------------------------------------- failures and size


def test_a_failed_backward_is_shown_with_its_clash(started: tuple[Any, str, Path]) -> None:
    page = run_in_notebook(*started[:2], "fail.ipynb")
    expect(page.locator(".gv-clashes")).to_contain_text("h += 1")
    page.click("[data-step=end]")
    status(page, "MulBackward0 (n2) fails")
    expect(page.locator(".gv-failed .gv-end")).to_have_text("failed")
    assert violations(page) == []
    shot(page, "failed.png")
    page.close()


def test_two_thousand_nodes_are_usable(started: tuple[Any, str, Path]) -> None:
    """Folded, as they are at first, and all of them drawn. The times are told, not judged."""
    page = open_in_lab(*started[:2], "big.ipynb")
    page.evaluate(RUN_CELL, 0)
    for number, (name, count) in enumerate((("folded", 5), ("all drawn", 2000)), 1):
        first = page.evaluate(RUN_CELL, number)
        view = page.locator(".graph-view").nth(number)
        expect(view.locator("g.node[data-node]")).to_have_count(count)
        steps = [page.evaluate(STEP, number) for _ in range(5)]
        expect(view.locator(".gv-status")).to_contain_text("Step 5 of")
        view.locator("input[type=search]").fill("leaf 400")
        page.keyboard.press("Enter")
        expect(view.locator(".gv-panel [data-row=node]")).to_contain_text("leaf 400")
        print(f"2,000 nodes, {name}: first paint {first:.0f} ms after the cell was run, "
              f"a step {min(steps):.0f} to {max(steps):.0f} ms")  # fmt: skip
    page.close()


# Milliseconds from running the cell to the frame in which its graph is there.
RUN_CELL = """async (number) => {
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = number;
  const start = performance.now();
  window.jupyterapp.commands.execute("notebook:run-cell");
  const drawn = () => document.querySelectorAll(".graph-view")[number]?.querySelector("g.node");
  while (!drawn()) await new Promise((later) => setTimeout(later, 5));
  await new Promise((later) => requestAnimationFrame(() => setTimeout(later, 0)));
  return performance.now() - start;
}"""
# The same from a click on "Next" to the frame in which the step is told.
STEP = """async (number) => {
  const view = document.querySelectorAll(".graph-view")[number];
  const status = view.querySelector(".gv-status"), before = status.textContent;
  const start = performance.now();
  view.querySelector("[data-step=next]").click();
  while (status.textContent === before) await new Promise((later) => setTimeout(later, 2));
  await new Promise((later) => requestAnimationFrame(() => setTimeout(later, 0)));
  return performance.now() - start;
}"""


def test_no_request_left_this_machine(started: tuple[Any, str], requests: list[str]) -> None:
    local = ("data:", "blob:")
    hosts = {urlsplit(url).hostname for url in requests if not url.startswith(local)}
    assert hosts == {"127.0.0.1"}
