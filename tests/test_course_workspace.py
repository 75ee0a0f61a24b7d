"""The learner's folder, the progress file, and the commands around them."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from course import files
from course.cli import app
from course.files import CourseError, write_atomic
from course.progress import FILE, Predictions, Progress, changing, read_progress
from course.update import read_given
from course.workspace import free_port, lab_command, start, workspace_of
from tests.course_helpers import CONTENT, LESSON, RIGHT, lesson_of_doubles, notebook, save

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    monkeypatch.delenv("COURSE_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)


def course(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


# ------------------------------------------------------------------ files


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old\n")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match=r"cannot write .*a\.json: No space left on device"):
        write_atomic(path, "new\n")
    assert path.read_text("utf-8") == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_kill_in_the_middle_of_a_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old\n")
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from course.files import write_atomic\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "write_atomic(Path(sys.argv[2]), 'new\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(ROOT), str(path)], check=False)
    assert done.returncode != 0
    assert path.read_text("utf-8") == "old\n"
    write_atomic(path, "new\n")
    assert path.read_text("utf-8") == "new\n"


# ------------------------------------------------------------------ progress


def test_progress_keeps_the_best_and_counts_the_tries(tmp_path: Path) -> None:
    progress = read_progress(tmp_path)
    progress.record("07_fixture", "double", 1, 3)
    progress.record("07_fixture", "double", 3, 3)
    progress.record("07_fixture", "double", 0, 3)
    progress.save()
    entry = read_progress(tmp_path).entry("07_fixture", "double")
    assert (entry.tries, entry.earned, entry.points, entry.passed) == (3, 3, 3, True)
    assert json.loads((tmp_path / FILE).read_text("utf-8"))["schema"] == 3


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema": 1}', '{"schema": 0, "lessons": {}}', "[" * 10**5]
)
def test_a_broken_progress_file_is_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    progress = read_progress(tmp_path)
    assert progress.entries == {}
    assert (tmp_path / progress.set_aside).read_text("utf-8") == text
    assert not (tmp_path / FILE).exists()
    progress.save()
    # A second broken file of the same second does not take the first one's place.
    (tmp_path / FILE).write_text("{", encoding="utf-8")
    assert read_progress(tmp_path).set_aside != progress.set_aside


def test_programs_that_write_at_the_same_time_lose_no_try(tmp_path: Path) -> None:
    """A notebook's check and `course check`: each reads, adds its own and writes."""
    program = (
        "import sys; from pathlib import Path; from course.progress import changing\n"
        "for number in range(30):\n"
        "    with changing(Path(sys.argv[1])) as progress:\n"
        "        progress.record('a', 'b', 0, 3, f'{sys.argv[2]}-{number}')\n"
        "        progress.record('a', f'{sys.argv[2]}-{number}', 3, 3)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    started = [subprocess.Popen([*command, str(n)], cwd=ROOT) for n in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    entries = read_progress(tmp_path).entries["a"]
    assert entries["b"].tries == 90 and len(entries) == 91


def test_where_nothing_can_be_locked_tries_are_noted_all_the_same(
    tmp_path: Path, monkeypatch: Any
) -> None:
    for fault in (OSError(37, "No locks available"), ImportError("fcntl")):

        def fails(file: Any, fault: Exception = fault) -> bool:
            raise fault

        monkeypatch.setattr(files, "_locked", fails)
        with changing(tmp_path) as progress:
            progress.record("a", "b", 1, 3)
    monkeypatch.setattr(files, "_locked", lambda file: False)  # somebody does not let go
    monkeypatch.setattr(files, "WAIT_SECONDS", 0.05)
    with changing(tmp_path) as progress:
        progress.record("a", "b", 1, 3)
    assert read_progress(tmp_path).entries["a"]["b"].tries == 3


def test_predictions_are_kept_and_older_files_have_none(tmp_path: Path) -> None:
    progress = read_progress(tmp_path)
    for right in (True, False, True):
        progress.predict("07_fixture", right)
    progress.save()
    assert read_progress(tmp_path).predictions == {"07_fixture": Predictions(3, 2)}
    (tmp_path / FILE).write_text('{"schema": 2, "lessons": {}}', encoding="utf-8")
    assert read_progress(tmp_path).predictions == {}
    data = {"schema": 3, "lessons": {}, "predictions": {"07_fixture": {"answered": "3"}}}
    (tmp_path / FILE).write_text(json.dumps(data), encoding="utf-8")
    assert read_progress(tmp_path).set_aside


def test_entries_of_other_types_are_broken_too(tmp_path: Path) -> None:
    progress = Progress(tmp_path / FILE)
    progress.record("07_fixture", "double", 1, 3)
    progress.save()
    text = (tmp_path / FILE).read_text("utf-8").replace('"earned": 1', '"earned": "1"')
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert read_progress(tmp_path).set_aside


# ------------------------------------------------------------------ workspace


def test_start_copies_what_is_missing_and_overwrites_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "my work" / "course"
    done = course("start", "--workspace", str(workspace))
    assert done.exit_code == 0 and "1 lessons copied" in done.stdout
    path = workspace / "07_fixture.ipynb"
    assert json.loads(path.read_text("utf-8"))["metadata"]["course"]["lesson"] == "07_fixture"
    path.write_text("mine", encoding="utf-8")
    done = course("start", "--workspace", str(workspace))
    assert "All lessons were there already" in done.stdout
    assert path.read_text("utf-8") == "mine"


def test_a_disk_that_gets_full_leaves_no_lesson_without_the_note_of_its_cells(
    tmp_path: Path, monkeypatch: Any
) -> None:
    sync, left = os.fsync, [2]

    def full(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        sync(handle)

    content = tmp_path / "content"
    lesson_of_doubles(content, ["once"])
    shutil.copytree(CONTENT / LESSON, content / LESSON)
    monkeypatch.setenv("COURSE_CONTENT", str(content))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        done = course("start", "--workspace", str(tmp_path / "ws"))
    assert done.exit_code == 2 and "No space left on device" in done.stderr
    copied = {path.stem for path in (tmp_path / "ws").glob("*.ipynb")}
    assert len(copied) == 1 and copied <= set(read_given(tmp_path / "ws"))
    assert "1 lessons copied" in course("start", "--workspace", str(tmp_path / "ws")).stdout
    assert set(read_given(tmp_path / "ws")) == {LESSON, "08_doubles"}


def test_the_workspace_is_found_from_below(tmp_path: Path, monkeypatch: Any) -> None:
    start(tmp_path / "ws")
    (tmp_path / "ws" / "deep" / "er").mkdir(parents=True)
    assert workspace_of(tmp_path / "ws" / "deep" / "er") == tmp_path / "ws"
    assert workspace_of(tmp_path) is None
    monkeypatch.setenv("COURSE_WORKSPACE", str(tmp_path / "ws"))
    assert workspace_of(tmp_path) == tmp_path / "ws"


def test_a_workspace_that_cannot_be_made_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = course("start", "--workspace", str(tmp_path / "file" / "ws"))
    assert done.exit_code == 2
    assert done.stderr.startswith("course: cannot make the workspace") and "\n" in done.stderr


# ------------------------------------------------------------------ the learner's commands


def test_a_learners_way(tmp_path: Path, monkeypatch: Any) -> None:
    """start, list, a wrong answer, hints, a right answer, list."""
    workspace = tmp_path / "ws"
    monkeypatch.setenv("COURSE_WORKSPACE", str(workspace))
    assert course("start").exit_code == 0
    rows = json.loads(course("list", "--json").stdout)
    assert [row["exercise"] for row in rows] == ["double", "quadruple", "predict"]
    save(notebook({"double": "def double(x):\n    return x * x"}), workspace / "07_fixture.ipynb")
    done = course("check", "7", "double")
    assert done.exit_code == 1
    assert "What happens here: x ** 2 is x times x" in done.stdout
    assert "quadruple" not in done.stdout
    assert course("hint", "7", "double").stdout == "Hint 1 of 3: Add x to itself.\n"
    assert course("hint", "7", "double").stdout.splitlines()[1] == "Hint 2 of 3: Two times x."
    assert len(course("hint", "7", "double").stdout.splitlines()) == 3
    assert course("hint", "7", "double").stdout.splitlines()[3] == "There are no more."
    save(notebook(RIGHT), workspace / "07_fixture.ipynb")
    done = course("check", "7", "--json")
    assert done.exit_code == 0
    assert [row["earned"] for row in json.loads(done.stdout)] == [3, 2, 2]
    rows = json.loads(course("list", "--json").stdout)
    assert [(r["earned"], r["tries"], r["passed"]) for r in rows] == [
        (3, 2, True),
        (2, 1, True),
        (2, 1, True),
    ]
    assert "3/3 ✓" in course("list").stdout
    assert json.loads(course("hint", "7", "double", "--json").stdout)["of"] == 3
    assert "██████████" in course("progress").stdout and "7 of 7" in course("progress").stdout
    assert "All lessons are as in this release" in course("update").stdout


def test_a_full_disk_costs_the_note_and_not_the_words(tmp_path: Path, monkeypatch: Any) -> None:
    workspace = tmp_path / "ws"
    monkeypatch.setenv("COURSE_WORKSPACE", str(workspace))
    start(workspace)
    before = (workspace / FILE).read_text("utf-8")
    save(notebook(RIGHT), workspace / "07_fixture.ipynb")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = course("check", "7", "predict")
    assert "Predict a shape (predict): right, 2 points" in done.stdout
    assert done.exit_code == 2 and "No space left on device" in done.stderr
    assert (workspace / FILE).read_text("utf-8") == before


def test_the_shell_completes_lessons_and_exercises(monkeypatch: Any) -> None:
    def completed(words: str) -> list[str]:
        arguments = {"_COURSE_COMPLETE": "complete_bash", "COMP_WORDS": words}
        arguments["COMP_CWORD"] = str(words.count(" "))
        done = CliRunner().invoke(app, [], prog_name="course", env=arguments)
        return done.stdout.split()

    assert completed("course chec") == ["check"]
    assert completed("course check 0") == ["07_fixture"]
    assert completed("course hint 7 d") == ["double"]
    assert completed("course hint 99 d") == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_no_color_is_respected(tmp_path: Path) -> None:
    """In a terminal, which CliRunner is not."""
    import pty

    def shown(**variables: str) -> str:
        output, terminal = pty.openpty()
        command = [sys.executable, "-m", "course", "grade", str(broken)]
        environment = {**os.environ, "TERM": "xterm-256color", **variables}
        subprocess.run(command, cwd=ROOT, stderr=terminal, env=environment, check=False)
        os.close(terminal)
        with os.fdopen(output, "rb") as file:
            found = b""
            with contextlib.suppress(OSError):
                while piece := file.read1():
                    found += piece
        return found.decode()

    broken = tmp_path / "broken.ipynb"
    broken.write_text("{", encoding="utf-8")
    colour = re.compile(r"\x1b\[[0-9;]*[34][0-9]?[;m]")
    assert colour.search(shown()) and not colour.search(shown(NO_COLOR="1"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "99"], "there is no lesson '99'; the lessons are: 07_fixture"),
        (["check", "7", "duoble"], "07_fixture has no exercise 'duoble'; it has: double"),
        (["check", "7"], "07_fixture.ipynb is not there: `course start"),
        (["hint", "7", "duoble"], "has no exercise 'duoble'"),
        (["verify", "99"], "there is no lesson '99'"),
        (["build", "99"], "there is no lesson '99'"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("COURSE_WORKSPACE", str(tmp_path / "ws"))
    done = course(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("course: ") and done.stderr.count("\n") == 1
    assert words in done.stderr


def test_every_command_explains_itself_with_an_example() -> None:
    assert "Exit status: 0 all is well" in course("--help").stdout
    names = [
        command.name or command.callback.__name__.replace("_", "-")
        for command in app.registered_commands
    ]
    assert len(names) >= 13
    for name in names:
        done = course(name, "--help")
        assert done.exit_code == 0
        assert f"Example: course {name}" in done.stdout


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "course", "list", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)[0]["lesson"] == "07_fixture"


# ------------------------------------------------------------------ JupyterLab


def test_lab_serves_this_computer_alone(tmp_path: Path) -> None:
    command = lab_command(tmp_path, 8899, browser=False)
    assert "--ServerApp.ip=127.0.0.1" in command and "--no-browser" in command
    assert "--LabApp.default_url=/lab/tree/07_fixture.ipynb" in command
    assert "--no-browser" not in lab_command(tmp_path, 8899, browser=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise on Windows")
def test_lab_prints_an_address_that_answers(tmp_path: Path) -> None:
    """On a machine without a browser: the server comes up, serves the first lesson, and ends."""
    port = free_port(9100)
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "course", "lab", "--workspace", str(tmp_path / "ws")]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        found = re.search(
            r"(http://127\.0\.0\.1:\d+)/lab/tree/07_fixture\.ipynb\?(token=\S+)", lines[1]
        )
        assert found is not None
        url = f"{found[1]}/api/contents/07_fixture.ipynb?{found[2]}&content=0"
        try:
            assert json.loads(fetch(url, 60))["name"] == "07_fixture.ipynb"
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(30)
    with pytest.raises(OSError):
        fetch(url, 1)


def fetch(url: str, seconds: float) -> bytes:
    """What a local server answers, once it does."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                data: bytes = answer.read()
                return data
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.3)
