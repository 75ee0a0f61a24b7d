"""The installed course: a wheel, an environment of its own, an empty folder, and no repository.

The environment borrows the packages that the course needs from the one of these tests, so that only
the wheel itself is built and installed; the package index is asked for the build backend alone.
"""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from course.lesson import load_lesson
from tests.course_helpers import notebook, save
from tests.test_course_workspace import fetch

ROOT = Path(__file__).parents[1]
NO_INDEX = r"No matching distribution|Temporary failure in name resolution|ConnectionError"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and re.search(NO_INDEX, done.stdout + done.stderr):
        pytest.skip("no package index to fetch the build backend from")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False)
    names = {"base": str(folder), "platbase": str(folder)}
    scripts = Path(sysconfig.get_path("scripts", "venv", names))
    library = Path(sysconfig.get_path("purelib", "venv", names))
    # A path named in a .pth file is searched, and its own .pth files (of this tree) are not read.
    (library / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    command += ["--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    subprocess.run(command, check=True)
    return scripts


def environment() -> dict[str, str]:
    """The caller's variables, without those that lead to this tree."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COURSE"))}
    share = Path(sys.prefix, "share", "jupyter")  # where the borrowed packages have their data
    return {**kept, "JUPYTERLAB_DIR": str(share / "lab"), "JUPYTER_PATH": str(share)}


def test_the_wheel_holds_what_is_needed_and_no_solved_notebook(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".ipynb", ".pyc"))]
    assert not [name for name in names if name.startswith(("tests", "solutions", "lessons"))]
    for needed in (
        "course/content/00_start/lesson.md",
        "course/content/05_backward/checks.py",
        "course/widget/js/main.js",
        "course/TEACHING.md",
    ):
        assert needed in names


def test_the_learners_and_the_teachers_way_without_the_repository(
    installed: Path, tmp_path: Path
) -> None:
    def course(*arguments: str, status: int = 0) -> str:
        command = [str(installed / "course"), *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    assert str(ROOT) not in course("doctor", "--workspace", "ws", "--json", status=1)
    assert "lessons copied" in course("start", "--workspace", "ws")
    course("doctor", "--workspace", "ws")
    path = tmp_path / "ws" / "00_start.ipynb"
    lesson = load_lesson("00")
    answers = {name: lesson.rights(name)[-1].source for name in lesson.exercises}
    (first, *_) = answers
    save(notebook({**answers, first: lesson.wrongs(first)[0].source}, lesson.name), path)
    wrong = json.loads(course("check", "0", first, "--workspace", "ws", "--json", status=1))
    assert wrong[0]["mistake"] == lesson.wrongs(first)[0].name
    assert "Hint 1 of" in course("hint", "0", first, "--workspace", "ws")
    save(notebook(answers, lesson.name), path)
    course("check", "0", "--workspace", "ws")
    rows = json.loads(course("progress", "--workspace", "ws", "--json"))
    assert rows[0]["earned"] == rows[0]["points"] > 0
    assert "reference" in course("solution", "0", first, "--workspace", "ws")
    course("grade", str(path), "--out", "results")
    assert (tmp_path / "results" / "grades.csv").is_file()
    assert json.loads(course("stats", "results", "--json"))[0]["passed"] == 1.0
    assert "as in this release" in course("update", "--workspace", "ws")
    found = {p.name for p in tmp_path.rglob("*.ipynb")}
    assert found == {f"{row['lesson']}.ipynb" for row in rows}


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise on Windows")
def test_lab_opens_the_first_lesson(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "course"), "lab", "--no-browser", "--workspace", "ws"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        found = re.search(r"(http://127\.0\.0\.1:\d+)/lab/tree/(\S+)\?(token=\S+)", lines[1])
        try:
            assert found is not None and found[2] == "00_start.ipynb"
            page = fetch(f"{found[1]}/lab?{found[3]}", 60)
            assert b"JupyterLab" in page
            answer = json.loads(fetch(f"{found[1]}/api/contents/{found[2]}?{found[3]}", 60))
            assert answer["content"]["cells"]
        finally:
            # Ctrl-C's signal is ignored where the tests run in a shell's background.
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
