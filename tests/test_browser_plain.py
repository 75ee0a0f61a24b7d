"""The graph viewer outside Jupyter, as VS Code and web pages embed it: its ES module, plain pages.

The page is served from this machine and knows of no JupyterLab, only what anywidget promises to a
front end: a model with `get`, `set`, `save_changes`, `on`, `off` and `send`. Behind it is a
GraphView in this process, or nothing but the state that `ipywidgets.embed` stores.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from ipywidgets.embed import embed_data

import tinygrad_course as tg
from course.widget import GraphView
from tests.browser import CHROMIUM, chromium, expect, low_contrast, violations
from tests.graphs import leaf, network

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt install chromium"),
]

# Scripts from the page's own host alone; styles as a notebook's front end needs them.
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>GraphView on a plain page</title>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'">
<link rel="stylesheet" href="widget.css"><style>
  .vscode-light { --vscode-foreground: #3b3b3b; --vscode-editor-background: #ffffff; }
  .vscode-dark { --vscode-foreground: #cccccc; --vscode-editor-background: #1f1f1f; }
</style></head>
<body class="vscode-dark"><main id="view"></main><script type="module" src="host.js"></script>
</body></html>"""
HOST = """
import widget from "./widget.js";
const state = await window.toPython({ state: true });
const heard = new Map();
const change = (values) => {
  const changed = Object.entries(values)
    .filter(([name, value]) => JSON.stringify(state[name]) !== JSON.stringify(value));
  Object.assign(state, values);
  for (const [name] of changed) for (const call of heard.get(`change:${name}`) || []) call();
};
let mine = {};
const model = {
  get: (name) => state[name],
  set: (name, value) => { mine[name] = value; change({ [name]: value }); },
  save_changes: async () => {
    const values = mine;
    mine = {};
    change(await window.toPython({ values }));
  },
  on: (name, call) => heard.set(name, [...(heard.get(name) || []), call]),
  off: (name, call) => heard.set(name, (heard.get(name) || []).filter((each) => each !== call)),
  send: async (content) => change(await window.toPython({ content })),
};
window.close = widget.render({ model, el: document.getElementById("view") });
window.heard = heard;
"""


class Served:
    """Pages of a browser, each with a view of its own."""

    def __init__(self, context: Any, address: str) -> None:
        self.context, self.address = context, address
        self.errors: list[str] = []

    def page(self, state: dict[str, Any], view: GraphView | None = None) -> Any:
        """A page that shows `state`, and that talks to `view` where there is one."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._on_console)
        page.expose_function("toPython", lambda message: _answer(message, state, view))
        page.goto(f"{self.address}/index.html")
        page.wait_for_selector(".graph-view svg g.node")
        return page

    def _on_console(self, message: Any) -> None:
        if message.type == "error" and "favicon" not in message.location["url"]:
            self.errors.append(message.text)


def _answer(
    message: dict[str, Any], state: dict[str, Any], view: GraphView | None
) -> dict[str, Any]:
    """What a kernel would send back: all at first, then what has changed."""
    if "state" in message or view is None:
        return state if "state" in message else {}
    before = _plain(view.get_state())
    for name, value in message.get("values", {}).items():
        setattr(view, name, value)
    if "content" in message:
        view._handle_custom_msg(message["content"], [])
    after = _plain(view.get_state())
    return {name: value for name, value in after.items() if value != before[name]}


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(json.dumps(state[name])) for name in state if name[0] != "_"
            and name != "layout"}  # fmt: skip


@pytest.fixture(scope="module")
def requests() -> list[str]:
    return []


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, requests: list[str]) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("plain")
    sources = {"widget.js": GraphView._esm, "widget.css": GraphView._css}
    files = {"index.html": PAGE, "host.js": HOST, **sources}
    for name, text in files.items():
        (folder / name).write_text(str(text), encoding="utf-8")
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with chromium(requests) as context:
            yield Served(context, f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


def status(page: Any, words: str) -> None:
    expect(page.locator(".gv-status")).to_contain_text(words)


def test_everything_works_without_jupyterlab(served: Served) -> None:
    loss, names = network()
    view = GraphView(loss, names)
    page = served.page(_plain(view.get_state()), view)
    page.locator("g.node[aria-label^='SumBackward0']").click()
    expect(page.locator("[data-row=node]")).to_have_text("SumBackward0 [n1]")
    page.keyboard.press("ArrowUp")
    expect(page.locator("[data-row=grad_fn]")).to_have_text("AddmmBackward0")
    assert view.graph[view.selected].op == "AddmmBackward0"
    page.click("[data-step=next]")
    page.click("[data-flip=predicting]")
    page.select_option(".gv-question select", label="SumBackward0")
    page.fill(".gv-question input", "()")
    page.keyboard.press("Enter")
    expect(page.locator(".gv-verdict")).to_contain_text("Right: SumBackward0 fires.")
    assert view.score == (1, 1)
    page.click("[data-step=end]")
    status(page, f"Step {view.last} of {view.last}")
    page.click("[data-step=undo]")
    status(page, "Step 2 of")
    page.locator(".gv-modules summary").click()
    page.click("[data-path='Sequential.0']")
    expect(page.locator("g.node[aria-label^='Sequential.0, module']")).to_have_count(1)
    assert view.collapsed == ["Sequential.0"]
    page.fill("input[type=search]", "0.weight")
    page.keyboard.press("Enter")
    expect(page.locator(".gv-found-count")).to_have_text("1 of 1 found")
    page.evaluate("() => window.close()")
    assert page.evaluate("() => [...window.heard.values()].flat().length") == 0
    page.close()
    assert served.errors == []


def test_any_name_is_shown_as_it_is_and_runs_nothing(served: Served) -> None:
    x, w = leaf(1.0), leaf(2.0)
    markup, odd = (
        "<img src=x onerror=alert(1)></svg><script>alert(2)</script>",
        '"é" & \\N 😀 {a|b}',
    )
    view = GraphView((x * w).sum(), {markup: x, odd: w})
    page = served.page(_plain(view.get_state()), view)
    for name in (markup, odd):
        view_box = page.locator("g.node").filter(has_text=name)
        expect(view_box).to_have_count(1)
        view_box.click()
        expect(page.locator("[data-row=node]")).to_contain_text(name)
    assert page.locator("img, #view script").count() == 0
    page.close()
    assert served.errors == []


def test_vs_codes_themes(served: Served) -> None:
    loss, names = network()
    view = GraphView(loss, names)
    view.selected, view.step, view.predicting, view.listing = "n3", 3, True, True
    page = served.page(_plain(view.get_state()), view)
    for theme, ground in (("dark", "rgb(31, 31, 31)"), ("light", "rgb(255, 255, 255)")):
        page.evaluate("theme => { document.body.className = `vscode-${theme}`; }", theme)
        colour = "() => getComputedStyle(document.querySelector('.graph-view')).backgroundColor"
        assert page.evaluate(colour) == ground
        assert low_contrast(page) == [] and violations(page) == []
    page.close()


def test_what_a_web_page_stores_is_enough_to_show_it(served: Served) -> None:
    """`ipywidgets.embed` writes the state down; without a kernel nothing answers or breaks."""
    x = tg.ones(2, requires_grad=True)
    view = GraphView((x * x).sum(), {"x": x})
    data = embed_data(views=[view])
    (spec,) = data["view_specs"]
    state = data["manager_state"]["state"][spec["model_id"]]["state"]
    page = served.page(_plain(state))
    assert page.locator("g.node[role=option]").count() == 4
    page.locator("g.node[aria-label^='x, leaf']").click()
    expect(page.locator(".gv-selected")).to_have_attribute("aria-label", "x, leaf, (2,) float32")
    page.click("[data-step=next]")
    page.fill("input[type=search]", "x")
    page.close()
    assert served.errors == []


def test_no_request_left_this_machine(served: Served, requests: list[str]) -> None:
    assert {urlsplit(url).hostname for url in requests} == {"127.0.0.1"}
