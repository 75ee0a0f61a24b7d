"""The learner's folder: copies of the lessons to work in, and JupyterLab opened on it.

Lessons are copied where they are missing and never written over. The repository's own notebooks are
not touched. It starts programs and reads no answers. Lesson 00.
"""

import os
import secrets
import socket
import subprocess
import sys
import sysconfig
import webbrowser
from pathlib import Path

from course.files import CourseError, write_atomic
from course.lesson import Lesson, lesson_folders, read_lesson
from course.progress import FILE

VARIABLE = "COURSE_WORKSPACE"


def default_workspace() -> Path:
    """`COURSE_WORKSPACE`, or a folder where this system keeps a user's documents."""
    import platformdirs

    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_documents_dir(), "tinygrad-course")


def workspace_of(folder: Path) -> Path | None:
    """The workspace that a notebook in `folder` belongs to, or None outside of one."""
    chosen = os.environ.get(VARIABLE)
    if chosen and Path(chosen, FILE).is_file():
        return Path(chosen)
    return next((p for p in (folder, *folder.parents) if (p / FILE).is_file()), None)


def start(workspace: Path) -> list[str]:
    """Make the workspace and copy the lessons that it lacks; the names of those copied."""
    from course.build import assemble, to_text
    from course.progress import changing
    from course.update import digests, read_given, write_given

    try:
        workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(f"cannot make the workspace {workspace}: {error.strerror}") from error
    missing = {
        workspace / f"{folder.name}.ipynb": assemble(read_lesson(folder), solutions=False)
        for folder in lesson_folders()
        if not (workspace / f"{folder.name}.ipynb").exists()
    }
    if missing:
        # First, so that on a disk that gets full no lesson lacks it: `course update` would take
        # what we gave for the learner's own.
        added = {path.stem: digests(notebook) for path, notebook in missing.items()}
        write_given(workspace, {**read_given(workspace), **added})
    for path, notebook in missing.items():
        write_atomic(path, to_text(notebook))
    if not (workspace / FILE).exists():
        with changing(workspace):
            pass  # begun
    return [path.name for path in missing]


def notebook_in(workspace: Path, lesson: Lesson) -> Path:
    """The learner's copy of a lesson."""
    path = workspace / f"{lesson.name}.ipynb"
    if not path.is_file():
        raise CourseError(f"{path} is not there: `course start --workspace {workspace}` makes it")
    return path


# ------------------------------------------------------------------ JupyterLab


def lab_command(workspace: Path, port: int, browser: bool) -> list[str]:
    """The command that serves `workspace` on this computer alone."""
    first = lesson_folders()[0].name
    options = [
        f"--ServerApp.root_dir={workspace}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--LabApp.default_url=/lab/tree/{first}.ipynb",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]
    if not browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # in a container there is often nobody else
    return [sys.executable, "-m", "jupyterlab", *options]


def lab(workspace: Path, port: int | None, browser: bool) -> int:
    """Serve the workspace with JupyterLab until it is stopped; its exit status."""
    workspace = workspace.resolve()
    token = secrets.token_urlsafe(24)
    port = free_port() if port is None else port
    first = lesson_folders()[0].name
    print(f"Workspace: {workspace}")
    print(f"Address:   http://127.0.0.1:{port}/lab/tree/{first}.ipynb?token={token}")
    print("Stop it with Ctrl-C here.", flush=True)
    # By the environment and not as an argument: other users can see a command's arguments.
    environment = {**os.environ, "JUPYTER_TOKEN": token, VARIABLE: str(workspace)}
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    # JupyterLab's terminals find `course` there.
    environment["PATH"] = os.pathsep.join(
        [sysconfig.get_path("scripts"), environment.get("PATH", os.defpath)]
    )
    command = lab_command(workspace, port, browser and has_browser())
    with subprocess.Popen(command, env=environment, cwd=workspace) as server:
        while True:
            try:
                return server.wait()
            except KeyboardInterrupt:
                # The server got the same Ctrl-C and asks, or ends, by itself; see it to its end.
                server.terminate()


def has_browser() -> bool:
    """Whether this computer can open a page by itself."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def free_port(first: int = 8888) -> int:
    """The first port from `first` on that nothing listens to."""
    for port in range(first, first + 100):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise CourseError(f"no free port from {first} to {first + 99}: name one with --port")
