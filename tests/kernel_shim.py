"""Runs CUDA kernels on the CPU: g++ compiles their text behind `kernels_shim.h`.

Stricter than a GPU. Arguments have the types that the kernel names. Every array lies between
guards, so that a write beyond it is an error, and what is read there is nan or far out of range;
what is not written first is that, too. The threads run in two orders, and both must give the same
bits. What it cannot show: races that both orders hide, and speed.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HEADER = Path(__file__).with_name("kernels_shim.h")
COMPILED = Path(tempfile.gettempdir()) / "tinygrad_course_kernels"
# -Bsymbolic: a kernel may be called as some function of the C library.
COMMAND = "g++ -std=c++17 -O1 -Wall -Werror -shared -fPIC -Wl,-Bsymbolic".split()
GUARD = 1024  # bytes on either side
FILL = 0xFF  # nan in all floats, -1 in all signed integers

TYPES = {"float": np.float32, "double": np.float64, "int": np.int32, "long long": np.int64}


def unavailable() -> str | None:
    """Why kernels cannot be run here, or None."""
    return None if shutil.which("g++") else "there is no g++ to compile kernels for the CPU"


def kernel(source: str, name: str) -> Callable[[Any, Any, tuple[Any, ...]], None]:
    """The kernel `name` of `source`, called as CuPy's: (grid,), (block,), arguments, in which
    arrays are NumPy's."""
    types = _parameters(source, name)

    def launch(grid: tuple[int], block: tuple[int], args: tuple[Any, ...]) -> None:
        assert len(args) == len(types), f"{name} takes {len(types)} arguments, not {len(args)}"
        assert 0 < block[0] <= 1024 and 0 < grid[0] < 2**31, f"{name}: no such grid"
        forth, back = {}, {}
        for guarded in (forth, back):
            values = [_argument(*pair, name, guarded) for pair in zip(args, types, strict=True)]
            run(source, name, grid[0], block[0], values, backwards=guarded is back)
        for one, other in zip(forth.values(), back.values(), strict=True):
            same = one.inside.tobytes() == other.inside.tobytes()
            assert same, f"{name}: the order of the threads changes the result"
            one.give_back(name)

    return launch


def run(
    source: str, name: str, grid: int, block: int, values: list[Any], backwards: bool = False
) -> None:
    """One run of a kernel with arguments that ctypes or NumPy keep in memory."""
    function = getattr(_library(source), f"run_{name}")
    addresses = (ctypes.c_void_p * len(values))(*map(_address, values))
    failed = function(grid, block, "__syncthreads" in source, backwards, addresses)
    assert not failed, f"{name}: some threads end while others wait for them"


class _Guarded:
    """A copy of an array with guards on both sides."""

    def __init__(self, array: np.ndarray, name: str) -> None:
        assert array.flags.c_contiguous, f"{name} got an array that is not row-major"
        self.array, self.constant = array, True
        self.bytes = np.full(array.nbytes + 2 * GUARD, FILL, np.uint8)
        self.inside = self.bytes[GUARD : GUARD + array.nbytes].view(array.dtype)
        self.inside = self.inside.reshape(array.shape)
        self.inside[...] = array

    def give_back(self, name: str) -> None:
        """Copies what the kernel wrote into the array."""
        ends = self.bytes[:GUARD], self.bytes[len(self.bytes) - GUARD :]
        assert all((end == FILL).all() for end in ends), f"{name} wrote beyond an array"
        if self.constant:
            same = self.inside.tobytes() == self.array.tobytes()
            assert same, f"{name} changed a constant array"
        else:
            self.array[...] = self.inside


def _argument(value: Any, wanted: str, name: str, guarded: dict[int, _Guarded]) -> Any:
    """An argument as ctypes or NumPy keep it in memory."""
    if wanted.endswith("*"):
        assert isinstance(value, np.ndarray), f"{name} wants an array for {wanted}, not {value!r}"
        element = TYPES[wanted.removeprefix("const ").rstrip("* ")]
        assert value.dtype == element, f"{name} wants {wanted}, not an array of {value.dtype}"
        start = value.__array_interface__["data"][0]
        for other in guarded.values():
            begin = other.array.__array_interface__["data"][0]
            apart = start + value.nbytes <= begin or begin + other.array.nbytes <= start
            same = start == begin and value.shape == other.array.shape
            assert apart or same, f"{name} got arrays that overlap"
        place = guarded.setdefault(start if value.size else -len(guarded), _Guarded(value, name))
        place.constant &= wanted.startswith("const")
        return ctypes.c_void_p(place.inside.__array_interface__["data"][0])
    if isinstance(value, np.ndarray):  # a structure, passed by value
        assert value.shape == () and value.dtype.names, f"{name} got an array of the host"
        return _with_guards(value, wanted, name, guarded) if "at" in value.dtype.names else value
    if type(value) is bool or type(value) is int:
        assert wanted == "long long", f"{name} wants {wanted}, not an int"
        return ctypes.c_longlong(value)
    if type(value) is float:
        assert wanted == "double", f"{name} wants {wanted}, not a float"
        return ctypes.c_double(value)
    raise AssertionError(f"{name} got {value!r} for {wanted}")


def _with_guards(value: Any, wanted: str, name: str, guarded: dict[int, _Guarded]) -> Any:
    """A structure that has addresses of arrays, `at`, and where each `end`s among all, with the
    addresses of guarded copies."""
    value, before = value.copy(), 0
    real = next(other.array.dtype for other in guarded.values())
    for i, end in enumerate(value["end"].tolist()):
        if end > before:
            memory = ctypes.c_char * ((end - before) * real.itemsize)
            array = np.frombuffer(memory.from_address(int(value["at"][i])), real)
            type = "float" if real == "float32" else "double"
            pointer = f"const {type} *" if wanted.startswith("const") else f"{type} *"
            value["at"][i] = _argument(array, pointer, name, guarded).value
            before = end
    return value


def _address(value: Any) -> int:
    if isinstance(value, np.ndarray):
        address: int = value.__array_interface__["data"][0]
        return address
    return ctypes.addressof(value)


def _parameters(source: str, name: str) -> list[str]:
    """The types of a kernel's parameters, with the names of the text's own types resolved."""
    own = {new: old for old, new in re.findall(r"typedef ([\w ]+?) (\w+);", source)}
    found = re.search(rf"__global__ void {name}\(([^)]*)\)", source)
    assert found, f"no kernel {name}"
    types = []
    for parameter in found[1].split(","):
        pieces = parameter.replace("*", " * ").split()[:-1]
        types.append(" ".join(own.get(piece, piece) for piece in pieces))
    return types


@functools.cache
def _library(source: str) -> ctypes.PyDLL:
    """The compiled text: kept between runs, as compiling takes a second."""
    names = re.findall(r"__global__ void (\w+)", source)
    calls = "".join(f"RUNNABLE({name})\n" for name in names)
    text = f'#include "{HEADER}"\n{source}\n{calls}'
    parts = (text, HEADER.read_text(encoding="utf-8"), *COMMAND)
    stamp = hashlib.sha256("".join(parts).encode()).hexdigest()[:24]
    library = COMPILED / f"{stamp}.so"
    if not library.exists():
        COMPILED.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=COMPILED) as folder:
            made = Path(folder) / "made.so"
            command = [*COMMAND, "-x", "c++", "-", "-o", str(made)]
            done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
            os.replace(made, library)
    return ctypes.PyDLL(str(library))  # holds the GIL: the shim knows one launch at a time
