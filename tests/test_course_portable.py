"""Systems without what POSIX or Linux has, simulated by taking it away: limits, ends, locks."""

import builtins
import ctypes
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from course.doctor import examine
from course.grade import kernel, landlock, sandbox
from course.limits import PATIENCE, Clock, TimeUp, memory_limit, time_limit
from tests.course_helpers import CONTENT

ENDLESS = """
def endless():
    n = 0
    while True:
        n += 1
"""


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python as on Windows, as far as these modules look."""
    monkeypatch.delattr(signal, "setitimer", raising=False)
    monkeypatch.delattr(os, "killpg", raising=False)
    monkeypatch.delattr(os, "geteuid", raising=False)
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr("course.limits.memory_can_be_limited", lambda: False)
    monkeypatch.setattr(sys, "platform", "win32")


def endless(source: str = ENDLESS) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["endless"]


def test_an_endless_loop_ends_without_an_alarm(windows: None) -> None:
    started = time.monotonic()
    with pytest.raises(TimeUp), time_limit(0.2):
        endless()()
    assert time.monotonic() - started < 30


def test_it_ends_in_another_thread_too() -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            with time_limit(0.2):
                endless()()
        except TimeUp:
            seen.append("ended")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert seen == ["ended"]


def test_what_ends_in_time_is_left_alone(windows: None) -> None:
    for _ in range(50):
        with time_limit(2.0):
            total = sum(range(10))
        assert total == 45
    time.sleep(0.05)  # nothing comes late


def test_a_busy_machine_takes_no_time_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process had the processor: time passes, and none of it is worked."""
    passed, worked = [0.0], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: passed[0])
    clock = Clock(2.0, worked=lambda: worked[0])
    passed[0], worked[0] = 7.0, 0.5
    assert clock.left() == min(2.0 - 0.5, PATIENCE * 2.0 - 7.0) > 0
    passed[0] = PATIENCE * 2.0  # what sleeps has its end, too
    assert clock.left() == 0
    passed[0], worked[0] = 1.0, 8.0  # on several processors at once
    assert clock.left() == 1.0


@pytest.mark.parametrize("outer", [5.0, 60.0])
def test_a_limit_inside_of_another_leaves_it(outer: float) -> None:
    with time_limit(outer):
        with pytest.raises(TimeUp), time_limit(0.1):
            endless()()
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left < outer and interval > 0


def test_what_sleeps_ends() -> None:
    with pytest.raises(TimeUp), time_limit(0.1):
        time.sleep(600)


def test_memory_that_cannot_be_limited_is_said_by_doctor(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_CONTENT", str(CONTENT))
    with memory_limit(1):
        assert len(np.zeros(10**6)) == 10**6
    found = {one.name: one for one in examine(tmp_path)}
    assert found["limits"].ok is None and "time alone" in found["limits"].says
    assert found["sandbox"].ok is None and "without Landlock" in found["sandbox"].says


def test_processes_are_ended_by_taskkill_where_there_are_no_groups(
    windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: commands.append(command))
    sandbox._end(12345)
    assert commands == [["taskkill", "/F", "/T", "/PID", "12345"]]
    missing = FileNotFoundError("taskkill")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: (_ for _ in ()).throw(missing))
    sandbox._end(12345)


def test_limits_of_a_process_are_left_out_where_there_are_none(windows: None) -> None:
    kernel.limit_resources({"cpu_seconds": 1, "memory_mb": 1, "file_mb": 1})
    kernel.die_with_parent()
    assert landlock.version() == 0 and not landlock.restrict([], [], [])


def test_a_limit_that_macos_refuses_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def setrlimit(kind: int, limits: tuple[int, int]) -> None:
        asked.append(kind)
        raise ValueError("current limit exceeds maximum limit")

    fake = SimpleNamespace(
        RLIM_INFINITY=-1, RLIMIT_CPU=0, RLIMIT_AS=9, RLIMIT_NOFILE=7,
        getrlimit=lambda kind: (-1, -1), setrlimit=setrlimit,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "resource", fake)
    kernel.limit_resources({"cpu_seconds": 1, "memory_mb": 1, "file_mb": 1})
    assert asked == [0, 9, 7]


def test_no_module_needs_posix_to_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """`import` of what Windows lacks stands inside functions that can do without."""
    absent = {"resource", "fcntl", "pwd", "grp", "termios", "tty"}
    there = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name in absent and arguments and arguments[0]:
            if str(arguments[0].get("__name__", "")).startswith("course"):
                raise ModuleNotFoundError(name)
        return there(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    folder = Path(sandbox.PACKAGE)
    for path in sorted(folder.glob("*.py")) + sorted((folder / "grade").glob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        if path.stem.startswith("__"):
            continue
        spec = importlib.util.spec_from_file_location("course_portable_copy", path)
        assert spec is not None and spec.loader is not None
        code = compile(path.read_text("utf-8"), str(path), "exec", dont_inherit=True)
        names = {"__name__": ".".join(parts), "__package__": ".".join(parts[:-1])}
        names["__file__"] = str(path)
        exec(code, names)


def test_the_bell_can_reach_this_python() -> None:
    """The way that works everywhere is CPython's, and says how many threads it has reached."""
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(2**40 + 7), None) == 0
