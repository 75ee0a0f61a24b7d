"""The graph viewer in a real Chromium, against a real JupyterLab that the test starts.

Everything stays on this machine: the server listens on 127.0.0.1 with folders of its own, and the
last test looks at every request that the pages made. With COURSE_SCREENSHOTS=folder the pictures
of the README are written there (graph_view.png, graph_view_dark.png).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import numpy as np
import pytest

import tinygrad_course as tg
from course.widget import GraphView
from tests.browser import (
    CHROMIUM,
    chromium,
    expect,
    jupyter,
    low_contrast,
    run_in_lab,
    violations,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt install chromium"),
]

CELLS = (
    """
import json
from pathlib import Path
import tinygrad_course as tg
from course.widget import GraphView

tg.manual_seed(0)
x = tg.randn(4, 3)
w = tg.randn(2, 3).requires_grad_()
b = tg.zeros(2, requires_grad=True)
h = (x @ w.t() + b).tanh()
loss = (h * h).sum() + w.sum()
names = {"w": w, "b": b, "h": h, "loss": loss}
view = GraphView(loss, names)
view
""",
    """
def report(change):
    Path("seen.json").write_text(json.dumps([view.selected, view.step]))
view.observe(report, names=["selected", "step"])
""",
    """
w_grad, b_grad, h_grad = tg.autograd.grad(loss, [w, b, h], retain_graph=True)
Path("engine.json").write_text(json.dumps({
    "last": view.last, "w": w_grad.tolist(), "b": b_grad.tolist(), "h": h_grad.tolist(),
    "value": loss.item(), "untouched": w.grad is None and b.grad is None,
}))
tg.viz.picture(loss, names)
""",
)


# ---------------------------------------------------------------- server, browser, page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """JupyterLab on a free port: its address and the folder that it serves."""
    with jupyter(
        tmp_path_factory.mktemp("lab"), {"graph.ipynb": CELLS, "03_picking.ipynb": []}
    ) as served:
        yield served


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """The addresses of all requests that the page made."""
    return []


@pytest.fixture(scope="module")
def page(server: tuple[str, Path], requests: list[str]) -> Iterator[Any]:
    """The notebook, open and run, with the graph drawn."""
    with chromium(requests) as context:
        page = run_in_lab(context, server[0], "graph.ipynb")
        page.wait_for_selector("img[alt^='Autograd graph']")
        yield page


@pytest.fixture
def view(page: Any) -> Any:
    """The widget as it is at first: nothing selected, no step taken."""
    if page.locator("[data-step=start]").is_enabled():
        page.click("[data-step=start]")
    expect_status(page, "Before backward")
    if page.locator(".gv-selected").count():
        page.locator(".gv-selected").focus()
        page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('.gv-selected')")
    return page


@pytest.fixture(scope="module")
def engine(page: Any, server: tuple[str, Path]) -> Any:
    """What the engine computed in the notebook's own kernel."""
    return json.loads((server[1] / "engine.json").read_text())


def expect_status(page: Any, text: str) -> None:
    expect(page.locator(".gv-status")).to_contain_text(text)


def expect_selected(page: Any, name: str) -> None:
    expect(page.locator(".gv-selected text").first).to_contain_text(name)
    expect(page.locator("[data-row=node]")).to_contain_text(name)


def box(page: Any, name: str) -> Any:
    """The box whose first line of text begins with `name`."""
    return page.locator(f".gv-canvas g.node[aria-label^='{name}']")


def numbers(text: str) -> np.ndarray[Any, Any]:
    """The numbers in a panel's text, as they are written."""
    return np.array(json.loads(text), dtype=float)


def seen_by_python(server: tuple[str, Path], wanted: list[Any]) -> None:
    path = server[1] / "seen.json"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and path.read_text() == json.dumps(wanted):
            return
        time.sleep(0.1)
    pytest.fail(f"Python saw {path.read_text() if path.exists() else 'nothing'}, not {wanted}")


# ---------------------------------------------------------------- the tests


def test_click_shows_the_node_and_python_hears_of_it(
    view: Any, server: tuple[str, Path], engine: Any
) -> None:
    assert engine["untouched"]
    box(view, "w,").click()
    expect_selected(view, "w")
    assert view.locator("[data-row=shape]").inner_text() == "(2, 3)"
    assert view.locator("[data-row='own .grad']").inner_text() == "None"
    seen_by_python(server, [box(view, "w,").get_attribute("data-node"), 0])


def test_walk_along_the_edges_with_the_keyboard(view: Any) -> None:
    box(view, "loss,").click()
    for key, name in (
        ("ArrowUp", "AddBackward0"),  # (h * h).sum() + w.sum()
        ("ArrowUp", "SumBackward0"),
        ("ArrowRight", "SumBackward0"),  # the other summand
        ("ArrowUp", "w"),
        ("ArrowDown", "SumBackward0"),
        ("ArrowLeft", "SumBackward0"),
        ("ArrowUp", "MulBackward0"),
        ("ArrowUp", "h = TanhBackward0"),
        ("Home", "loss"),
    ):
        view.keyboard.press(key)
        expect_selected(view, name)
        assert view.evaluate("() => document.activeElement.classList.contains('gv-selected')")
    # JupyterLab kept its hands off: the widget's cell is still where the focus is.
    assert view.evaluate("() => !!document.activeElement.closest('.graph-view')")


def test_slider_to_the_end_and_back(view: Any, server: tuple[str, Path], engine: Any) -> None:
    box(view, "w,").click()
    expect_selected(view, "w")
    slider = view.locator(".gv-player input")
    slider.focus()
    view.keyboard.press("End")
    expect_status(view, f"Step {engine['last']} of {engine['last']}")
    row = view.locator(f"[data-row='gradient at step {engine['last']}']")
    np.testing.assert_allclose(numbers(row.inner_text()), engine["w"], rtol=1e-4)
    for name in ("b", "h"):
        box(view, f"{name},").or_(box(view, f"{name} =")).click()
        expect_selected(view, name)
        np.testing.assert_allclose(numbers(row.inner_text()), engine[name], rtol=1e-4)
    assert set(view.locator(".gv-mark.gv-end").all_text_contents()) == {"done", "now"}
    slider.focus()
    view.keyboard.press("Home")
    expect_status(view, "Before backward: no gradient has arrived yet")
    assert set(view.locator(".gv-mark.gv-end").all_text_contents()) == {""}
    seen_by_python(server, [box(view, "h =").get_attribute("data-node"), 0])


def test_a_leaf_collects_its_contributions(view: Any, engine: Any) -> None:
    box(view, "w,").click()
    counts: list[str] = []
    for step in range(1, engine["last"] + 1):
        view.click("[data-step=next]")
        expect_status(view, f"Step {step} of")
        mark = view.locator(".gv-selected .gv-mark.gv-end").text_content()
        counts += [mark] if mark not in counts else []
    assert counts[:4] == ["", "1 of 2", "2 of 2", "now"]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_words_stand_out_in_both_themes(view: Any, theme: str, tmp_path: Path) -> None:
    view.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
    )
    light = str(theme == "JupyterLab Light").lower()
    view.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")
    for _ in range(5):
        view.click("[data-step=next]")
    expect_status(view, "Step 5 of")
    box(view, "h =").click()
    expect_selected(view, "h")
    assert low_contrast(view) == []
    folder = Path(os.environ.get("COURSE_SCREENSHOTS", tmp_path))
    assert violations(view) == []
    name = "graph_view.png" if light == "true" else "graph_view_dark.png"
    view.locator(".graph-view").screenshot(path=folder / name)
    assert (folder / name).stat().st_size > 10_000


def test_names_roles_and_focus(view: Any) -> None:
    assert view.locator(".gv-canvas[role=listbox][aria-label]").count() == 1
    nodes = view.locator(".gv-canvas g.node")
    assert nodes.count() == view.locator(".gv-canvas [role=option][aria-label]").count()
    assert view.locator(".gv-canvas [tabindex='0']").count() == 1
    assert view.locator(".gv-status[aria-live=polite]").count() == 1
    nodes.first.focus()
    view.keyboard.press("ArrowUp")
    outline = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert view.evaluate(outline) != "none"
    view.locator("[data-step=end]").focus()
    view.keyboard.press("Enter")
    view.keyboard.press("Enter")  # at the end: nothing more happens, and the focus stays
    assert view.evaluate("() => document.activeElement.dataset.step") == "end"
    view.keyboard.press("Shift+Tab")
    view.keyboard.press("Shift+Tab")
    assert view.evaluate("() => document.activeElement.dataset.step") == "back"
    view.click("[data-step=start]")
    view.locator(".gv-player input").focus()
    view.keyboard.press("ArrowRight")
    expect_status(view, "Step 1 of")
    status = view.locator(".gv-status").inner_text()
    assert view.locator(".gv-player input").get_attribute("aria-valuetext") == status


def test_notebook_that_was_never_run_shows_the_picture(
    page: Any, server: tuple[str, Path], requests: list[str]
) -> None:
    """Untrusted, without a kernel: what a learner sees who opens a lesson from somebody else."""
    address, work = server
    x = tg.ones(2, requires_grad=True)
    data, metadata = GraphView((x * x).sum(), {"x": x})._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data, metadata=metadata)
    cell = nbformat.v4.new_code_cell("GraphView(loss)", outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), work / "stored.ipynb")
    other = page.context.new_page()
    other.on("request", lambda request: requests.append(request.url))
    other.goto(f"{address}/lab/workspaces/other/tree/stored.ipynb")
    picture = other.locator(".jp-OutputArea img[alt*='MulBackward0 takes x and x']")
    picture.wait_for(timeout=60_000)
    assert picture.evaluate("img => img.complete && img.naturalWidth > 50")
    other.close()


def test_no_request_left_this_machine(page: Any, requests: list[str]) -> None:
    assert len(requests) > 20
    local = ("data:", "blob:")
    hosts = {urlsplit(url).hostname for url in requests if not url.startswith(local)}
    assert hosts == {"127.0.0.1"}
