"""What every test runs under: one BLAS thread, and none of the user's own folders.

Jupyter, IPython, Matplotlib and Chromium keep settings and caches below the home folder. The tests
(and the kernels, servers and browsers they start, which inherit the environment) get an empty one.
This happens on import and not in a fixture, since these programs look when they are first imported.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

_home = tempfile.TemporaryDirectory(prefix="course-tests-", ignore_cleanup_errors=True)
for variable, folder in {
    "HOME": ".",
    "USERPROFILE": ".",
    "IPYTHONDIR": "ipython",
    "JUPYTER_CONFIG_DIR": "jupyter/config",
    "JUPYTER_DATA_DIR": "jupyter/data",
    "JUPYTER_RUNTIME_DIR": "jupyter/runtime",
    "JUPYTERLAB_SETTINGS_DIR": "jupyter/settings",
    "JUPYTERLAB_WORKSPACES_DIR": "jupyter/workspaces",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
}.items():
    path = Path(_home.name, folder)
    path.mkdir(parents=True, exist_ok=True)
    os.environ[variable] = str(path)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Of this folder only `test_*.py`: the others hold no doctests, and some need PyTorch."""
    is_helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_helper else None


def pytest_report_header() -> str:
    """Says what the device tests ran on, so that nobody takes a pretended GPU for a real one."""
    from tinygrad_course.cuda import unavailable_reason

    reason = unavailable_reason()
    if reason is None:
        return "GPU: the tests marked cuda run on it"
    return f"GPU: no GPU was used ({reason}); tests/fake_cuda stands in for CuPy"


@pytest.fixture(params=["cuda-fake", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """A device other than the CPU, by the name by which tensors are moved to it."""
    import tinygrad_course as tg

    from . import fake_cuda

    if request.param == "cuda-fake":
        with fake_cuda.pretended():
            yield "cuda"
        return
    if reason := tg.cuda.unavailable_reason():
        pytest.skip(f"no GPU: {reason}")
    yield "cuda"
