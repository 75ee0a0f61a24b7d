"""A real Jupyter server and a real Chromium for the browser tests, both on this machine alone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
expect = playwright.expect
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
ROOT = Path(__file__).parents[1]
TOKEN = "only-for-this-test"


@contextlib.contextmanager
def jupyter(
    home: Path, notebooks: Mapping[str, Sequence[str]], app: str = "jupyterlab"
) -> Iterator[tuple[str, Path]]:
    """A server of `app` ("jupyterlab" or "notebook") with these notebooks, given as their cells:
    its address and the folder that it serves."""
    work = home / "work"
    work.mkdir()
    for name, cells in notebooks.items():
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source.strip()) for source in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(notebook, work / name)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    folders = {
        "HOME": home, "IPYTHONDIR": home / "ipython", "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data", "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces", "PYTHONPATH": ROOT,
    }  # fmt: skip
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable, "-m", app, "--no-browser", "--allow-root",
                "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0", f"--ServerApp.root_dir={work}",
                f"--IdentityProvider.token={TOKEN}", "--LabApp.expose_app_in_browser=True",
                "--JupyterNotebookApp.expose_app_in_browser=True",
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            ],
            env=os.environ | {name: str(path) for name, path in folders.items()},
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            _wait_for_server(address, process, home / "server.log")
            yield address, work
        finally:
            process.terminate()  # the server then ends its kernels
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for_server(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/api", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"Jupyter did not start:\n{log.read_text()}")


@contextlib.contextmanager
def chromium(requests: list[str]) -> Iterator[Any]:
    """A browser's context that writes down the address of every request."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
        )
        context = browser.new_context(viewport={"width": 1280, "height": 1400})
        context.set_default_timeout(60_000)
        context.on("request", lambda request: requests.append(request.url))
        context.on("page", lambda page: page.on("websocket", lambda w: requests.append(w.url)))
        yield context
        browser.close()


def open_in_lab(context: Any, address: str, name: str) -> Any:
    """The page of a notebook in JupyterLab, its kernel ready and no cell run."""
    page = context.new_page()
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    # "Run All" before the kernel is idle runs the first cell only.
    page.wait_for_function(
        "() => document.querySelector('#jp-main-statusbar')?.textContent.includes('| Idle')"
    )
    return page


def run_in_lab(context: Any, address: str, name: str) -> Any:
    """The page of a notebook in JupyterLab, all cells run and the graph drawn."""
    page = open_in_lab(context, address, name)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    return _drawn(page)


def run_in_notebook(context: Any, address: str, name: str) -> Any:
    """The same in Notebook 7, which says nowhere when its kernel is ready: it is asked again."""
    page = context.new_page()
    page.goto(f"{address}/notebooks/{name}?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function(
        "() => document.querySelector('.jp-KernelName')?.textContent.includes('Python 3')"
    )
    for _ in range(6):  # braces: the command's promise may never be kept, and isn't waited for
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        with contextlib.suppress(playwright.TimeoutError):
            page.wait_for_selector(".graph-view svg g.node", timeout=10_000)
            break
    return _drawn(page)


def violations(page: Any, inside: str = ".graph-view") -> list[str]:
    """What axe-core finds wrong with the accessibility of what is shown."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
    )
    found = axe.Axe().run(page, context=inside).response["violations"]
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]} ({len(v['nodes'])}): "
            f"{v['nodes'][0].get('failureSummary')}" for v in found]  # fmt: skip


def low_contrast(page: Any) -> list[Any]:
    """The texts in the widget whose contrast to what is behind them is under 4.5:1."""
    return [entry for entry in page.evaluate(CONTRAST) if entry[1] < 4.5]


def _drawn(page: Any) -> Any:
    try:
        page.wait_for_selector(".graph-view svg g.node")
    except playwright.TimeoutError:
        pytest.fail(f"no graph was drawn:\n{page.locator('.jp-Notebook').inner_text()}")
    return page


# Every piece of text in the widget, with the contrast (WCAG 2) of its colour to what is behind it.
CONTRAST = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number)
    .map((c, i) => (text.startsWith("color(srgb") && i < 3 ? 255 * c : c));
  const light = (text) => rgb(text).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return getComputedStyle(e).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const result = [];
  for (const element of document.querySelectorAll(".graph-view *")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own.length || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const inBox = element.classList.contains("gv-mark") ? null
      : element.closest("g.node")?.querySelector("polygon");
    const fore = light(element.tagName === "text" ? style.fill : style.color);
    const back = light(inBox ? getComputedStyle(inBox).fill : ground(element));
    const contrast = (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05);
    result.push([own[0].textContent.slice(0, 30), contrast]);
  }
  return result;
}"""
