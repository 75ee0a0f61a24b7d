"""tg.set_num_threads and get_num_threads, asked back from BLAS itself."""

import sys

import pytest
from threadpoolctl import threadpool_info

import tinygrad_course as tg


@pytest.fixture(autouse=True)
def restored():
    before = tg.get_num_threads()
    yield
    tg.set_num_threads(before)


def blas_threads() -> set[int]:
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize("number", [2, 1])
def test_blas_does_as_it_is_told(number):
    tg.set_num_threads(number)
    assert blas_threads() == {number}
    assert tg.get_num_threads() == number


@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_other_numbers_are_refused_as_in_pytorch(number):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of these tests")
    for lib in (tg, torch):
        with pytest.raises(RuntimeError, match=r"set_num_threads"):
            lib.set_num_threads(number)


def test_without_threadpoolctl(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert tg.get_num_threads() == 3
    with pytest.raises(RuntimeError, match="pip install threadpoolctl, or set OPENBLAS_NUM_THRE"):
        tg.set_num_threads(2)
    monkeypatch.undo()
