"""The two walls around a learner's process, each tried alone, and what must still work inside."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course.grade import landlock
from course.grade.sandbox import PACKAGE, paths_for, without

SECRET = PACKAGE / "content" / "05_backward" / "answers.py"

# Runs in a process of its own: neither wall can be taken down again.
PROGRAM = """
import ctypes, gc, importlib.machinery, io, json, os, pathlib, socket, subprocess, sys, tempfile
import numpy
import course.grade.probe
from course.grade import fence, landlock

wall, secret, outside, paths = json.loads(sys.argv[1])
fence.close_side_doors()
if wall == "landlock":
    assert landlock.restrict(*paths)
else:
    fence.install(*paths)
names = {"secret": secret, "outside": outside, **globals()}
results = {}
for name, code in json.load(sys.stdin).items():
    try:
        exec(code, dict(names))
        results[name] = "done"
    except BaseException as error:
        results[name] = type(error).__name__
os.write(1, json.dumps(results).encode())
"""

READS = {
    "open": "open(secret).read()",
    "bytes": "open(secret.encode()).read()",
    "a str that lies": """
class Path(str):
    def startswith(self, *arguments): return True
open(Path(secret)).read()""",
    "pathlib": "pathlib.Path(secret).read_text()",
    "os.open": "os.read(os.open(secret, os.O_RDONLY), 9)",
    "relative to a folder": """
folder = os.open(os.path.dirname(numpy.__file__), os.O_RDONLY)
os.read(os.open(os.path.relpath(secret, os.path.dirname(numpy.__file__)), 0, dir_fd=folder), 9)""",
    "a symbolic link": "os.symlink(secret, 'link'); open('link').read()",
    "a hard link": "os.link(secret, 'link2'); open('link2').read()",
    "through /proc": "open('/proc/self/root' + secret).read()",
    "two dots": "open('/usr/lib/../..' + secret).read()",
    "numpy.fromfile": "numpy.fromfile(secret, dtype='u1')",
    "numpy.memmap": "numpy.memmap(secret, dtype='u1', mode='r')",
    "numpy.genfromtxt": "numpy.genfromtxt(secret, dtype=str)",
    "io.open_code": "io.open_code(secret).read()",
    "a loader": "importlib.machinery.SourceFileLoader('a', secret).get_data(secret)",
    "the lesson's text": "open(secret.replace('answers.py', 'lesson.md')).read()",
    "our own reader": "import course.lesson; course.lesson.load_lesson('05')",
    "someone's settings": "open(os.path.expanduser('~root/.profile')).read()",
    "the users' list": "open('/etc/passwd').read()",
}
OTHERS = {
    "a program": "subprocess.run([sys.executable, '-c', ''], check=True)",
    "a program, directly": "subprocess._fork_exec([], [])",
    "a network": "socket.create_connection(('127.0.0.1', 9))",
    "a file outside": "open(outside, 'w')",
    "a folder outside": "os.mkdir(outside)",
    "moving a file in": "os.rename(secret, 'mine.py')",
    "a database outside": "import sqlite3; sqlite3.connect(outside).execute('create table t (x)')",
}
# Linux would let these pass: they stay inside the process or start nothing that could run.
FENCED = {
    "the shell": "assert os.system('true') == 0",
    "a fork": "os.fork()",
    "C functions": "ctypes.CDLL(None).getpid()",
    "C functions of Python": "ctypes.pythonapi.PyLong_FromLong",
    "cffi": "import cffi",
    "readline": "import readline",
    "all objects": "gc.get_objects()",
    "the hook's cells": "gc.get_referents(fence.install)",
    "the parent": "os.kill(os.getppid(), 0)",
    "its own limits": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "the content's names": "os.listdir(os.path.dirname(os.path.dirname(secret)))",
    "patched builtins": """
import builtins
before = dict(vars(builtins))
builtins.isinstance = builtins.any = builtins.type = builtins.str = lambda *a: True
os.path.abspath = os.path.realpath = os.path.normpath = lambda p: '/usr/lib'
os.getcwd = lambda: '/usr/lib'
fence.REFUSED = fence.MODULES = frozenset()
try:
    open(secret).read()
finally:
    vars(builtins).update(before)""",
}
ALLOWED = {
    "writing in the box": "open('a.txt', 'w').write('hello')",
    "reading it back": "assert open('a.txt').read() == 'hello'",
    "a temporary folder": """
with tempfile.TemporaryDirectory(dir='.') as folder:
    open(folder + '/a', 'w').write('a')""",
    "a module of Python's": "import xml.dom.minidom",
    "a module with C code": "import numpy.fft, decimal, zoneinfo",
    "the engine": "import tinygrad_course.nn",
    "the viewer": "import course.widget",
    "nowhere": "open('/dev/null', 'w').write('x')",
}


def attempts(wall: str, tmp_path: Path, codes: dict[str, str]) -> dict[str, str]:
    box, control = tmp_path / "box", tmp_path / "control"
    for folder in (box, control / "runtime", control / "jupyter"):
        folder.mkdir(parents=True)
    paths = paths_for(box, control)
    rules = [paths["readable"], paths["listable"], paths["writable"]]
    arguments = json.dumps([wall, str(SECRET), str(tmp_path / "outside"), rules])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, arguments],
        input=json.dumps(codes),
        cwd=box,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin", "TMPDIR": str(box)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_the_fence_keeps_answers_in(tmp_path: Path) -> None:
    found = attempts("fence", tmp_path, READS | OTHERS | FENCED)
    assert {name for name, how in found.items() if how == "done"} == set()


@pytest.mark.skipif(not landlock.version(), reason="this system has no Landlock")
def test_landlock_keeps_answers_in(tmp_path: Path) -> None:
    found = attempts("landlock", tmp_path, READS | OTHERS)
    assert {name for name, how in found.items() if how == "done"} == set()


@pytest.mark.parametrize("wall", ["fence", "landlock"])
def test_honest_work_goes_on_inside(wall: str, tmp_path: Path) -> None:
    if wall == "landlock" and not landlock.version():
        pytest.skip("this system has no Landlock")
    found = attempts(wall, tmp_path, ALLOWED)
    assert {name: how for name, how in found.items() if how != "done"} == {}


def test_the_secret_of_these_tests_is_there() -> None:
    assert SECRET.is_file()


def test_hidden_folders_are_carved_out(tmp_path: Path) -> None:
    for name in ("site/a/b", "site/a/secret/c", "site/d"):
        (tmp_path / name).mkdir(parents=True)
    hidden: set[Path] = {(tmp_path / "site/a/secret").resolve()}
    found: list[Any] = without(tmp_path / "site", hidden)
    assert found == [tmp_path / "site/a/b", tmp_path / "site/d"]
    assert without(tmp_path / "site/d", hidden) == [tmp_path / "site/d"]
    assert without(tmp_path / "site/a/secret", hidden) == []
    assert without(tmp_path / "nowhere", hidden) == []
