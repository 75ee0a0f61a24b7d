"""A learner's way in a real JupyterLab: wrong answers, hints, the right one, progress, update."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from course.cli import app
from course.grade.submission import read_submission
from course.progress import read_progress
from course.workspace import start
from tests.browser import CHROMIUM, TOKEN, chromium, expect, jupyter
from tests.course_helpers import CONTENT, LESSON, RIGHT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt install chromium"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """JupyterLab on a workspace that `course start` has made."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CONTENT", str(CONTENT))
        patch.delenv("COURSE_WORKSPACE", raising=False)
        cells = {"panel.ipynb": ["from course import panel\npanel()"]}
        with jupyter(tmp_path_factory.mktemp("lab"), cells) as (address, work):
            start(work)
            yield address, work


@pytest.fixture(scope="module")
def requests() -> list[str]:
    return []


@pytest.fixture(scope="module")
def context(served: tuple[str, Path], requests: list[str]) -> Iterator[Any]:
    with chromium(requests) as context:
        yield context


def opened(context: Any, address: str, name: str) -> Any:
    page = context.new_page()
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function(
        "() => document.querySelector('#jp-main-statusbar')?.textContent.includes('| Idle')"
    )
    return page


def run_all(page: Any) -> None:
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")


def type_answer(page: Any, start_of_cell: str, code: str) -> None:
    """Replace the text of the cell that begins so, as somebody at the keyboard would."""
    editor = page.locator(".jp-CodeCell .cm-content", has_text=start_of_cell).first
    editor.scroll_into_view_if_needed()
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)


def test_the_learners_way(served: tuple[str, Path], context: Any) -> None:
    address, work = served
    page = opened(context, address, f"{LESSON}.ipynb")
    type_answer(page, "def double(x)", "def double(x):\n    return x + 1")
    run_all(page)
    outputs = page.locator(".jp-OutputArea-output")
    first = outputs.filter(has_text="Twice (double)")
    expect(first).to_contain_text("0 of 3 points")
    expect(first).to_contain_text("Hint 1 of 3: Add x to itself.")
    type_answer(page, "return x + 1", "def double(x):\n    return x * x")
    run_all(page)
    expect(first).to_contain_text("What happens here: x ** 2 is x times x")
    type_answer(page, "return x * x", RIGHT["double"])
    run_all(page)
    expect(first).to_contain_text("right, 3 points")
    # An array that differs is drawn as a grid, with words for those who do not see it.
    code = "def double(x):\n    return 2 * x + int(np.ndim(x) > 0)"
    type_answer(page, "return x + x", code)
    run_all(page)
    expect(page.get_by_role("group", name="3 of 3 entries differ")).to_be_visible()
    expect(outputs.filter(has_text="Hint 2 of 3: Two times x.")).to_be_visible()
    entry = read_progress(work).entry(LESSON, "double")
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    assert (entry.earned, entry.passed, entry.hints) == (3, True, 2)
    assert code in read_submission(work / f"{LESSON}.ipynb").answers["double"]
    done = CliRunner().invoke(app, ["update", "--workspace", str(work)])
    assert done.exit_code == 0 and "All lessons are as in this release" in done.stdout


def test_a_prediction_chosen_in_its_form_ends_up_in_the_cell(
    served: tuple[str, Path], context: Any
) -> None:
    """By keyboard: type into the form, run the cell again, save; the file holds Python."""
    address, work = served
    page = opened(context, address, f"{LESSON}.ipynb")
    run_all(page)
    field = page.get_by_label("prediction")
    field.focus()
    page.keyboard.type("3, 2")
    page.keyboard.press("Tab")
    expect(page.get_by_role("status").filter(has_text="1 of 1 chosen")).to_be_visible()
    run_all(page)
    outputs = page.locator(".jp-OutputArea-output")
    expect(outputs.filter(has_text="Predict a shape (predict)")).to_contain_text("right, 2 points")
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    # The tab's mark alone: the cell has one, too, since its text is newer than its run.
    page.wait_for_function("() => !document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    (answer,) = read_submission(work / f"{LESSON}.ipynb").answers["predict"]
    assert answer.startswith("prediction = (3, 2)  # the shape of np.zeros((2, 3)).T\n")


def test_the_panel_opens_hints_by_keyboard(served: tuple[str, Path], context: Any) -> None:
    address, work = served
    page = opened(context, address, "panel.ipynb")
    run_all(page)
    table = page.get_by_role("table", name="Your progress")
    expect(table).to_contain_text(LESSON)
    before = read_progress(work).entry(LESSON, "double").hints
    button = page.get_by_role("button", name="Next hint")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".jp-OutputArea")).to_contain_text(f"Hint {before + 1}: ")
    assert read_progress(work).entry(LESSON, "double").hints == before + 1
    data = CliRunner().invoke(app, ["progress", "--workspace", str(work), "--json"]).stdout
    assert json.loads(data)[0]["hints"] == before + 1


def test_no_request_left_this_machine(served: tuple[str, Path], requests: list[str]) -> None:
    hosts = {address.split("/")[2].split(":")[0] for address in requests if "://" in address}
    assert hosts == {"127.0.0.1"}
