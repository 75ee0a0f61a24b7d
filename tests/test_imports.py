"""Who may import whom: the engine stands on NumPy alone, and its layers only look down.

The rules are read off the source with `ast`, so that an import inside a function (allowed, since it
runs late) is told from one that runs when the module is imported.
"""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[1]
ENGINE = sorted((ROOT / "tinygrad_course").rglob("*.py"))
COURSE = sorted(p for p in (ROOT / "course").rglob("*.py") if "content" not in p.parts)

# From the ground up. A module may import its own layer and those before it.
LAYERS = (
    (
        *("dtype", "device", "kernels", "shape", "layout", "storage", "random", "printing"),
        *("legacy_printing", "threads"),
    ),
    ("tensor",),
    ("autograd",),
    ("ops",),
    ("distributed",),
    ("nn", "linalg"),
    ("optim", "utils", "cpu", "cuda", "serialization", "stubs", "viz", "drawing"),
    ("__init__",),
    ("examples",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def module_name(path: Path) -> str:
    """`tinygrad_course/ops/conv.py` is `tinygrad_course.ops.conv`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imported(path: Path, *, late: bool) -> frozenset[str]:
    """Absolute names of the modules that `path` imports; `late` adds those inside functions."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path.parent)

    def walk(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not late:
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            children: Iterable[ast.AST] = node.orelse
        else:
            children = ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level]
            origin = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                inner = ROOT.joinpath(*origin.split("."), alias.name)
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                yield f"{origin}.{alias.name}" if is_module else origin
        for child in children:
            yield from walk(child)

    return frozenset(walk(ast.parse(path.read_text(encoding="utf-8"), str(path))))


def layer(module: str) -> str:
    """The part of the engine that a module belongs to: the name after `tinygrad_course`."""
    return [*module.split("."), "__init__"][1]


def guilty(paths: Iterable[Path], forbidden: Callable[[Path, str], bool], *, late: bool) -> dict:
    """Which modules import what they must not."""
    found = {
        module_name(path): [name for name in imported(path, late=late) if forbidden(path, name)]
        for path in paths
    }
    return {module: names for module, names in found.items() if names}


def test_every_part_of_the_engine_has_a_layer() -> None:
    assert {layer(module_name(path)) for path in ENGINE} <= set(LEVEL)


def test_engine_layers_only_look_down() -> None:
    def upward(path: Path, name: str) -> bool:
        own = LEVEL[layer(module_name(path))]
        return name.startswith("tinygrad_course") and LEVEL[layer(name)] > own

    assert guilty(ENGINE, upward, late=False) == {}


def test_engine_imports_numpy_and_the_standard_library_alone() -> None:
    allowed = sys.stdlib_module_names | {"numpy", "tinygrad_course"}
    assert guilty(ENGINE, lambda _, name: name.split(".")[0] not in allowed, late=False) == {}


def test_engine_knows_nothing_of_the_course() -> None:
    assert guilty(ENGINE, lambda _, name: name.split(".")[0] == "course", late=True) == {}


def test_only_the_device_seam_imports_cupy() -> None:
    def cupy(path: Path, name: str) -> bool:
        seam = ROOT / "tinygrad_course" / "device.py"
        return name.split(".")[0] in ("cupy", "cupyx") and path != seam

    assert guilty(ENGINE + COURSE, cupy, late=True) == {}


def test_the_course_declares_what_it_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.match(r"[\w-]+", text)[0].replace("-", "_") for text in project["dependencies"]}
    modules = {"pyyaml": "yaml"}  # named differently as a package
    declared = {modules.get(name, name) for name in declared}
    known = sys.stdlib_module_names | declared | {"course", "tinygrad_course"}
    foreign = {name.split(".")[0] for path in COURSE for name in imported(path, late=True)} - known
    assert not foreign, f"name these in pyproject.toml and environment.yml: {foreign}"


def fresh(program: str) -> list[str]:
    """The lines that a program prints in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_import_with_numpy_alone() -> None:
    """In a fresh process that can find nothing but the standard library, NumPy and the engine."""
    program = """
import sys
import numpy
known = set(sys.stdlib_module_names) | {"numpy", "tinygrad_course"}
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in known:
            raise ModuleNotFoundError(f"{name} is blocked in this test", name=name)
sys.meta_path.insert(0, Nothing())
import tinygrad_course as tg
x = tg.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
print(x.grad.tolist())
print(sorted({m.split(".")[0] for m in sys.modules} & {"IPython", "cupy", "graphviz", "torch"}))
"""
    assert fresh(program) == ["[2.0, 4.0]", "[]"]


LATER = ["cpu", "cuda", "distributed", "linalg", "nn", "optim", "serialization", "utils", "viz"]


def test_parts_are_imported_when_first_used() -> None:
    """And what no part of the import needs stays out: each costs its milliseconds."""
    program = """
import sys
import numpy
before = set(sys.modules)
import tinygrad_course as tg
new = set(sys.modules) - before
print(sorted(name for name in new if name.count(".") == 1 and name.split(".")[1] in LATER))
print(sorted(name for name in new if not name.startswith("tinygrad_course")))
print({*LATER, "load", "save", "get_device_module"} <= set(dir(tg)) & set(tg.__all__))
print(tg.nn.Linear(2, 3).weight.shape, tg.save is tg.serialization.save, "save" in vars(tg))
print(tg.get_device_module("cpu") is tg.cpu, hasattr(tg, "jit"))
"""
    parts, others, listed, layer, device = fresh(f"LATER = {LATER}\n{program}")
    assert parts == "[]"
    heavy = {"dataclasses", "multiprocessing", "numpy.random", "numpy.typing", "pathlib"}
    assert not set(ast.literal_eval(others)) & {*heavy, "socket", "traceback", "zipfile"}
    assert listed == "True"
    assert layer == "torch.Size([3, 2]) True True"
    assert device == "True False"


def test_a_part_can_be_asked_for_in_every_way() -> None:
    ways = """
by_attribute = tg.NAME
from tinygrad_course import NAME
import tinygrad_course.NAME as by_import
print(by_attribute is NAME is by_import is sys.modules["tinygrad_course.NAME"])
"""
    program = "".join(ways.replace("NAME", name) for name in LATER)
    assert fresh(f"import sys, tinygrad_course as tg\n{program}") == ["True"] * len(LATER)
    star = "from tinygrad_course import *\nprint(nn.__name__, load.__name__, viz.__name__)"
    assert fresh(star) == ["tinygrad_course.nn load tinygrad_course.viz"]


def test_threads_may_be_the_first_to_use_a_part() -> None:
    program = """
import threading
import tinygrad_course as tg
uses = [lambda: tg.nn.Linear, lambda: tg.optim.SGD, lambda: tg.save, lambda: tg.distributed.Work]
threads, found = [], []
start = threading.Barrier(12)
def run(use):
    start.wait()
    found.append(use())
for use in uses * 3:
    threads.append(threading.Thread(target=run, args=(use,)))
    threads[-1].start()
for thread in threads:
    thread.join()
print(len(found), len(set(found)))
"""
    assert fresh(program) == ["12 4"]
