"""The CUDA kernels, without a GPU: their very texts compiled by NVRTC, and run on the CPU.

g++ compiles them behind a shim (`kernel_shim`), and what they compute is compared with the formulas
on NumPy arrays. With the same shim the tests of all operations on a pretended device run them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinygrad_course as tg
from tinygrad_course import kernels
from tinygrad_course.kernels import (
    avg_pool,
    columns,
    many,
    max_pool,
    norm,
    pointwise,
    recurrent,
    softmax,
    steps,
)
from tinygrad_course.kernels.windows import on_volumes
from tinygrad_course.ops import avg_pool as averages
from tinygrad_course.ops import loss_classes as losses
from tinygrad_course.ops import max_pool as pooling
from tinygrad_course.ops import softmax as rows
from tinygrad_course.ops.columns import Geometry, col2im, im2col, window_count
from tinygrad_course.ops.convolution import conv_input, conv_weight, convolution
from tinygrad_course.ops.windows import Windows

from . import fake_cuda, kernel_shim

MODULES = (avg_pool, columns, many, max_pool, norm, pointwise, recurrent, softmax, steps)
TEXTS = {module.__name__.split(".")[-1]: module.KERNELS for module in MODULES}
VARIANTS = [(dtype, wide) for dtype in kernels.REALS for wide in (False, True)]

runs_kernels = pytest.mark.skipif(
    kernel_shim.unavailable() is not None, reason=str(kernel_shim.unavailable())
)


def draw(*shape: int, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture(params=[(*variant,) for variant in VARIANTS], ids=str)
def dtype(request, monkeypatch) -> Any:
    """The type of numbers; kernels count in 32 bits, or in 64, as for large arrays."""
    name, wide = request.param
    if wide:
        monkeypatch.setattr(kernels, "WIDE", 0)
    with fake_cuda.pretended():
        yield name


def there(array: np.ndarray) -> Any:
    return fake_cuda.xp.array(array)


def close(found: Any, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    error = 1e-5 if expected.dtype == "float32" else 1e-12
    np.testing.assert_allclose(found.get(), expected, rtol=error, atol=error)


# --- compiled -------------------------------------------------------------------------------------


def test_every_text_is_tried_here() -> None:
    files = Path(kernels.__file__).parent.glob("*.py")
    found = {f.stem for f in files if "__global__" in f.read_text(encoding="utf-8")}
    assert found - {"__init__"} == set(TEXTS)


def nvrtc() -> Any:
    """NVIDIA's compiler of kernels, which needs no GPU: from its wheel or a CUDA toolkit."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [str(p) for folder in folders for p in sorted(Path(folder).rglob("libnvrtc.so*"))]
    for name in (*found, "libnvrtc.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("NVRTC is not installed: pip install '.[dev]' on Linux")


@pytest.mark.parametrize("arch", ["compute_70", "compute_90"])
@pytest.mark.parametrize("name", TEXTS)
def test_nvrtc_compiles(name: str, arch: str) -> None:
    """Without a warning, and every kernel is in the result."""
    compiler = nvrtc()
    for variant in VARIANTS:
        program = ctypes.c_void_p()
        source = TEXTS[name].source(*variant).encode()
        made = compiler.nvrtcCreateProgram(
            ctypes.byref(program), source, b"kernels.cu", 0, None, None
        )
        assert made == 0
        # The standard that CuPy asks for.
        options = (ctypes.c_char_p * 2)(f"--gpu-architecture={arch}".encode(), b"--std=c++14")
        failed = compiler.nvrtcCompileProgram(program, len(options), options)
        log = _text(compiler, "ProgramLog", program)
        if "Architectures prior to" in log:  # that 70 will not be known for long
            _, _, log = log.partition("\n")
        assert not failed and log == "", log
        ptx = _text(compiler, "PTX", program)
        assert all(f".entry {kernel}(" in ptx for kernel in TEXTS[name].names)
        compiler.nvrtcDestroyProgram(ctypes.byref(program))


def _text(compiler: Any, what: str, program: Any) -> str:
    size = ctypes.c_size_t()
    assert getattr(compiler, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert getattr(compiler, f"nvrtcGet{what}")(program, buffer) == 0
    return buffer.value.decode()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: no CUDA toolkit")
@pytest.mark.parametrize("name", TEXTS)
def test_nvcc_compiles(name: str, tmp_path: Path) -> None:
    source = tmp_path / "kernels.cu"
    source.write_text(TEXTS[name].source("float32", wide=False))
    command = ["nvcc", "-cubin", "-arch=sm_90", "-Werror", "all-warnings", source.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kernels.cubin").stat().st_size


# --- the shim itself ------------------------------------------------------------------------------

WRONG = """
extern "C" __global__ void beyond(long long count, real* y) { y[count] = 1; }
extern "C" __global__ void race(long long count, real* y) { y[0] = threadIdx.x; }
extern "C" __global__ void apart(long long count, real* y) { if (threadIdx.x) __syncthreads(); }
extern "C" __global__ void constant(long long count, const real* y) { ((real*)y)[0] = 7; }
extern "C" __global__ void wait(long long count, real* y) {
    __shared__ real all[1024];
    all[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}
"""


@runs_kernels
@pytest.mark.parametrize(
    "name, complaint",
    [
        ("beyond", "beyond an array"),
        ("race", "order of the threads"),
        ("apart", "wait for them"),
        ("constant", "constant"),
    ],
)
def test_the_shim_notices(name: str, complaint: str) -> None:
    texts, y = kernels.Kernels(WRONG), np.zeros(4)
    run = kernel_shim.kernel(texts.source("float64", wide=False), name)
    with pytest.raises(AssertionError, match=complaint):
        run((1,), (4,), (4, y))


@runs_kernels
def test_threads_wait_for_each_other() -> None:
    y = np.zeros(64)
    source = kernels.Kernels(WRONG).source("float64", wide=False)
    kernel_shim.kernel(source, "wait")((1,), (64,), (64, y))
    assert y.tolist() == list(range(63, -1, -1))
    for wrong in ((y,), (4.0, y), (4, y.astype("float32")), (4, y[::2]), (4, 4)):
        with pytest.raises(AssertionError):
            kernel_shim.kernel(source, "wait")((1,), (64,), wrong)


# --- element by element ---------------------------------------------------------------------------


@runs_kernels
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu", "gelu", "silu"])
def test_activations(dtype, name) -> None:
    """In one launch each way, of arrays that no block of threads fits exactly, also of none."""
    for shape in ((1000,), (3, 5), (), (0, 2)):
        host = tg.tensor(np.asarray(3 * draw(*shape, dtype=dtype)), requires_grad=True)
        device = host.detach().cuda().requires_grad_()
        g = tg.tensor(np.asarray(draw(*shape, dtype=dtype, seed=1)))
        function = getattr(tg.nn.functional, name)
        here, on_device = function(host), g.cuda()
        with fake_cuda.counting() as counts:
            y = function(device)
            y.backward(on_device)
        close(y.detach()._array, here.detach().numpy())
        here.backward(g)
        close(device.grad._array, host.grad.numpy())
        forward = {"relu": "maximum"}.get(name, name)
        assert counts.launches.keys() <= {forward, f"{name}_backward"}, counts


@runs_kernels
def test_activations_of_other_memory(dtype) -> None:
    """What is not row-major, or of another shape, takes the formula."""
    y, g = there(draw(4, 3, dtype=dtype)), there(draw(4, 3, dtype=dtype))
    assert pointwise.alike(y, g) and not pointwise.alike(y.T, g.T)
    assert not pointwise.alike(y, g[:1]) and not pointwise.alike(draw(3), draw(3))


@runs_kernels
def test_many_arrays(dtype) -> None:
    """More than a launch takes, of any shapes, empty ones among them."""
    shapes = [(3, i % 5) for i in range(many.MOST + 3)] + [(300,), ()]
    arrays = [np.asarray(draw(*shape, dtype=dtype, seed=i)) for i, shape in enumerate(shapes)]
    expected = np.concatenate([a.reshape(-1) for a in arrays])
    on_device = [there(a) for a in arrays]
    whole = fake_cuda.xp.empty(expected.size, dtype)
    with fake_cuda.counting() as counts:
        many.gather(on_device, whole)
        many.scale(on_device, there(np.asarray(3, dtype)))
    assert counts.launches == {"gather": 2, "scale": 2}
    close(whole, expected)
    for scaled, a in zip(on_device, arrays, strict=True):
        close(scaled, 3 * a)
    assert many.gatherable(on_device) and not many.gatherable([whole, whole[::2]])


# --- windows --------------------------------------------------------------------------------------

WINDOWS_ON = [
    # kernel, stride, padding, dilation, image
    pytest.param((2,), (2,), (0,), (1,), (7,), id="sequences"),
    pytest.param((2, 2), (2, 2), (0, 0), (1, 1), (6, 8), id="apart"),
    pytest.param((3, 2), (2, 1), (1, 1), (2, 1), (9, 10), id="dilated"),
    pytest.param((3, 3), (1, 1), (1, 1), (1, 1), (5, 4), id="overlapping"),
    pytest.param((2, 3), (3, 4), (0, 1), (1, 1), (8, 9), id="with gaps between"),
    pytest.param((2, 1, 3), (1, 2, 2), (1, 0, 1), (1, 1, 2), (4, 5, 9), id="volumes"),
    pytest.param((1, 1), (1, 1), (0, 0), (1, 1), (1, 1), id="a single cell"),
]
OUTER = [(2, 3), (0, 3), (4,)]


def windows_of(kernel: Any, stride: Any, padding: Any, dilation: Any, image: Any) -> Windows:
    each = zip(kernel, stride, padding, dilation, image, strict=True)
    size = tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for k, s, p, d, n in each])
    return Windows(kernel, stride, padding, dilation, size, image)


@runs_kernels
@pytest.mark.parametrize("kernel, stride, padding, dilation, image", WINDOWS_ON)
def test_max_pool(dtype, kernel, stride, padding, dilation, image) -> None:
    windows = windows_of(kernel, stride, padding, dilation, image)
    for outer in OUTER:
        x = draw(*outer, *image, dtype=dtype).round(0)  # with ties
        if x.size > 3:
            x.reshape(-1)[[0, 1, -1]] = np.nan, -np.inf, np.inf
            x[-1] = -np.inf  # nothing is larger than what lies around the image
        y, places = pooling._maxima_and_places(np, x, windows, nans=True)
        found, cells = max_pool.maxima(there(x), windows)
        close(found, y)
        assert (cells.get() == places).all()
        g = draw(*y.shape, dtype=dtype, seed=1)
        close(max_pool.scatter(there(g), cells, windows), pooling._scatter(np, g, places, windows))


@runs_kernels
@pytest.mark.parametrize("kernel, stride, padding, dilation, image", WINDOWS_ON)
def test_avg_pool(dtype, kernel, stride, padding, dilation, image) -> None:
    inside = windows_of(kernel, stride, padding, (1,) * len(image), image)
    hanging = inside._replace(size=tuple([n + 1 for n in inside.size]))  # as ceil_mode has them
    for outer, windows, settings in itertools.product(
        OUTER, (inside, hanging), [(True, None), (False, None), (True, 3)]
    ):
        x = draw(*outer, *image, dtype=dtype)
        y = averages.AvgPool2d.fn(x, windows, *settings)
        close(avg_pool.means(there(x), windows, *settings), y)
        g = draw(*y.shape, dtype=dtype, seed=1)
        dx = averages.AvgPoolSpread.fn(g, windows, *settings)
        close(avg_pool.spread(there(g), windows, *settings), dx)


GEOMETRIES = [
    # input, kernel, stride, padding, dilation, groups
    pytest.param((9,), (3,), (2,), ((1, 0),), (2,), 1, id="sequences"),
    pytest.param((5, 6), (2, 3), (1, 2), ((1, 2), (0, 0)), (2, 1), 2, id="images"),
    pytest.param((9, 7), (3, 3), (4, 5), ((1, 1), (0, 2)), (1, 1), 1, id="gaps"),
    pytest.param((4, 3, 5), (2, 3, 1), (1, 1, 2), ((0, 1),) * 3, (1, 1, 3), 4, id="volumes"),
    pytest.param((1, 1), (1, 1), (1, 1), ((0, 0),) * 2, (1, 1), 1, id="a single cell"),
]


@runs_kernels
@pytest.mark.parametrize("size, kernel, stride, padding, dilation, groups", GEOMETRIES)
def test_convolution(dtype, size, kernel, stride, padding, dilation, groups) -> None:
    geometry = Geometry(stride, padding, dilation, groups)
    places = window_count(size, kernel, geometry)
    for n in (3, 0):
        x, w = draw(n, 4, *size, dtype=dtype), draw(8, 4 // groups, *kernel, dtype=dtype, seed=1)
        g = draw(n, 8, *places, dtype=dtype, seed=2)
        for b, c in itertools.product((None, draw(8, dtype=dtype)), (None, draw(4, dtype=dtype))):
            args = places, geometry
            on_device = [v if v is None else there(v) for v in (x, w, g, b, c)]
            x_, w_, g_, b_, c_ = on_device
            close(columns.output(x_, w_, b_, *args), convolution(x, w, b, *args))
            args = size, geometry
            close(columns.input_gradient(g_, w_, c_, *args), conv_input(g, w, c, *args))
        found = columns.weight_gradient(there(x), there(g), kernel, geometry)
        close(found, conv_weight(x, g, kernel, geometry))


@runs_kernels
def test_large_batches_are_done_in_parts(monkeypatch) -> None:
    """A few images at a time, as many as fit, and one where not even that does."""
    geometry = Geometry((1, 1), ((1, 1), (1, 1)), (1, 1), 2)
    x, w, b, g = draw(7, 4, 5, 5), draw(6, 2, 3, 3, seed=1), draw(6, seed=2), draw(7, 6, 5, 5)
    with fake_cuda.pretended():
        x_, w_, b_, g_ = map(there, (x, w, b, g))
        for images, launches in ((2, 4), (0.5, 7)):
            monkeypatch.setattr(columns, "MOST_NUMBERS", int(images * 4 * 9 * 25))
            with fake_cuda.counting() as counts:
                close(
                    columns.output(x_, w_, b_, (5, 5), geometry),
                    convolution(x, w, b, (5, 5), geometry),
                )
                close(
                    columns.input_gradient(g_, w_, None, (5, 5), geometry),
                    conv_input(g, w, None, (5, 5), geometry),
                )
                close(
                    columns.weight_gradient(x_, g_, (3, 3), geometry),
                    conv_weight(x, g, (3, 3), geometry),
                )
            assert (
                counts.launches["im2col"] == 2 * launches and counts.launches["col2im"] == launches
            )


@runs_kernels
@pytest.mark.parametrize("size, kernel, stride, padding, dilation, groups", GEOMETRIES)
def test_columns(dtype, size, kernel, stride, padding, dilation, groups) -> None:
    geometry = Geometry(stride, padding, dilation)
    places = window_count(size, kernel, geometry)
    for n in (2, 0):
        x = draw(n, 3, *size, dtype=dtype)
        made = im2col(x, kernel, geometry)
        for first in (True, False):
            rows = columns.im2col(there(x), kernel, places, geometry, first)
            close(rows if first else rows.swapaxes(0, 1), made)
            back = columns.col2im(rows, size, kernel, places, geometry, first)
            close(back, col2im(made, size, kernel, geometry))


# --- rows -----------------------------------------------------------------------------------------

ROWS = [((3, 10), 1), ((5, 1), 1), ((2, 300), 1), ((2, 7, 3), 1), ((40, 2), 0), ((9,), 0)]
NO_ROWS = [((0, 3), 1), ((3, 0), 1), ((2, 3, 0), 1)]


@runs_kernels
@pytest.mark.parametrize("shape, dim", ROWS + NO_ROWS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(dtype, name, shape, dim) -> None:
    x, g = 40 * draw(*shape, dtype=dtype), draw(*shape, dtype=dtype, seed=1)
    special = x.copy()
    special.reshape(-1)[:5:2] = (-np.inf, np.nan, np.inf)[: (x.size + 1) // 2]
    for scores in (x, special) if x.size > 12 else (x,):
        logarithm = name == "log_softmax"
        y = rows._log_softmax(np, scores, dim) if logarithm else rows._softmax(np, scores, dim)
        close(softmax.softmax(there(scores), dim, logarithm), y)
        backward = rows.log_softmax_backward if logarithm else rows.softmax_backward
        found = softmax.softmax_backward(there(g), there(y), dim, logarithm)
        close(found, backward(g, y, dim))


@runs_kernels
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(5, 3), (300, 4), (2, 3, 4, 2), (0, 3), (2, 3, 0)])
def test_nll(dtype, shape, reduction) -> None:
    x, targets = draw(*shape, dtype=dtype), (shape[0], *shape[2:])
    target = np.random.default_rng(0).integers(0, shape[1], targets)
    for weight, ignored in itertools.product((None, abs(draw(shape[1], dtype=dtype))), (-100, 1)):
        forward = losses.NllLoss.fn
        expected = np.asarray(forward(x, target, weight, ignored, reduction))
        w = None if weight is None else there(weight)
        loss, places, factors = softmax.nll(there(x), there(target), w, ignored, reduction)
        close(loss, expected)
        g = draw(*expected.shape, dtype=dtype, seed=2)
        dx = softmax.nll_backward(there(g), places, factors, x.shape)
        flat = np.zeros(x.size, dtype)
        flat[places.get()] = (g * factors.get().reshape(targets)).reshape(-1)
        close(dx, flat.reshape(x.shape))
        score = tg.tensor(x, requires_grad=True)
        weights = None if weight is None else tg.tensor(weight)
        forward(score, tg.tensor(target), weights, ignored, reduction).backward(tg.tensor(g))
        close(dx, score.grad.numpy())


@runs_kernels
def test_targets_that_are_no_class(dtype) -> None:
    """A GPU isn't asked whether there are any: they show as nan."""
    x, target = draw(3, 2, dtype=dtype), np.array([0, 2, -1])
    for reduction in ("none", "sum", "mean"):
        loss, _, factors = softmax.nll(there(x), there(target), None, -1, reduction)
        losses = loss.get().reshape(-1)
        assert np.isnan(losses).tolist() == ([False, True, False] if len(losses) > 1 else [True])
        assert np.isnan(factors.get()).tolist()[1]


@runs_kernels
def test_norm_by_running_statistics(dtype) -> None:
    for shape, weighted in itertools.product([(6, 4, 5), (3, 300), (0, 4, 5)], (True, False)):
        c = shape[1]
        x, w, b, mean = (draw(*n, dtype=dtype, seed=i) for i, n in enumerate((shape, *[(c,)] * 3)))
        arrays = [x, w, b] if weighted else [x]
        outcomes = []
        for device in ("cpu", "cuda"):
            given = [tg.tensor(a, device=device, requires_grad=True) for a in arrays]
            kept = [tg.tensor(a, device=device) for a in (mean, abs(mean))]
            affine = given[1:] or (None, None)
            with fake_cuda.counting() as counts:
                y = tg.nn.functional.batch_norm(given[0], *kept, *affine)
            y.backward(tg.tensor(draw(*shape, dtype=dtype, seed=5), device=device))
            found = [y, *(v.grad for v in given)]
            outcomes.append([v.detach().cpu().numpy() for v in found])
        assert counts.launches == {"normalise_by": 1} or not math.prod(shape), counts
        for a, b in zip(*outcomes, strict=True):
            error = 1e-4 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(b, a, rtol=error, atol=error)


NORMS = {
    "batch": (
        lambda F, x, w, b, *kept: F.batch_norm(x, *kept, w, b, True, 0.3),
        [(6, 4, 5), (300, 2)],
    ),
    "instance": (
        lambda F, x, w, b, *_: F.instance_norm(x, None, None, w, b),
        [(3, 4, 5), (2, 4, 300)],
    ),
    "group": (lambda F, x, w, b, *_: F.group_norm(x, 2, w, b), [(3, 4, 5), (2, 6), (0, 4, 5)]),
    "layer": (
        lambda F, x, w, b, *_: F.layer_norm(x, x.shape[1:], w, b),
        [(5, 12), (2, 300), (0, 3)],
    ),
    "rms": (lambda F, x, w, b, *_: F.rms_norm(x, x.shape[1:], w), [(5, 12), (2, 300), (0, 3)]),
}


@runs_kernels
@pytest.mark.parametrize("name", NORMS)
def test_norm(dtype, name) -> None:
    """Results, gradients and running statistics; forward is one launch, backward two at most."""
    call, shapes = NORMS[name]
    for shape, weighted in itertools.product(shapes, (True, False)):
        size = shape[1:] if name in ("layer", "rms") else shape[1:2]
        arrays = [3 + draw(*shape, dtype=dtype)]
        arrays += [draw(*size, dtype=dtype, seed=seed) for seed in (1, 2)] if weighted else []
        running = [abs(draw(shape[1], dtype=dtype, seed=seed)) for seed in (3, 4)]
        outcomes = []
        for device in ("cpu", "cuda"):
            given = [tg.tensor(a, device=device, requires_grad=True) for a in arrays]
            kept = [tg.tensor(a, device=device) for a in running]
            g = tg.tensor(draw(*shape, dtype=dtype, seed=5), device=device)
            with fake_cuda.counting() as forward:
                y = call(tg.nn.functional, *(given if weighted else (given[0], None, None)), *kept)
            with fake_cuda.counting() as backward:
                y.backward(g)
            found = [y, *kept, *(v.grad for v in given if v.grad is not None)]
            outcomes.append([v.detach().cpu().numpy() for v in found])
        assert forward.launches == {"normalise": 1} or not math.prod(shape), forward
        assert backward.launches.keys() <= {"norm_backward", "norm_weights"}, backward
        for a, b in zip(*outcomes, strict=True):
            error = 1e-4 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(b, a, rtol=error, atol=error)


# --- recurrent layers -----------------------------------------------------------------------------

SETTINGS = [{}, {"bidirectional": True, "num_layers": 2}, {"bias": False}]
PARTS = [({}, False, "outputs"), ({}, True, "last state")]  # of the results, that a loss uses


@runs_kernels
@pytest.mark.parametrize("layer", ["RNN", "LSTM", "GRU"])
def test_recurrent(dtype, layer) -> None:
    """Results and gradients are those of the formula on the CPU, which has other memory and no
    kernels; a step is a product and a launch each way."""
    settings = [*SETTINGS, {"nonlinearity": "relu"}] if layer == "RNN" else SETTINGS
    for chosen, packed, use in (*itertools.product(settings, (False, True), ["both"]), *PARTS):
        here = run_recurrent("cpu", dtype, layer, chosen, packed, use)
        with fake_cuda.counting() as counts:
            there = run_recurrent("cuda", dtype, layer, chosen, packed, use)
        loops = 4 * (2 if "num_layers" in chosen else 1) * (2 if "bidirectional" in chosen else 1)
        kernel = layer.lower()
        assert counts.launches[f"{kernel}_forward"] == loops, counts
        assert counts.launches[f"{kernel}_backward"] == loops, counts
        error = 1e-4 if dtype == "float32" else 1e-10
        for a, b in zip(there, here, strict=True):
            np.testing.assert_allclose(a, b, rtol=error, atol=error)


def run_recurrent(
    device: str, dtype: str, layer: str, settings: Any, packed: bool, use: str
) -> list[np.ndarray]:
    """Outputs, last states and all gradients of one pass over sequences of up to 4 steps."""
    tg.manual_seed(0)
    dtype, nn = getattr(tg, dtype), tg.nn

    def made(*shape: int) -> tg.Tensor:
        return tg.randn(*shape).to(device, dtype).requires_grad_()

    rnn = getattr(nn, layer)(3, 5, **settings).to(device, dtype)
    count = 4 if settings.get("num_layers") else 1
    x, states = made(4, 6, 3), [made(count, 6, 5) for _ in range(1 + (layer == "LSTM"))]
    lengths = [3, 4, 1, 2, 4, 2]
    given = x
    if packed:
        given = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    y, last = rnn(given, tuple(states) if layer == "LSTM" else states[0])
    y, last = (y.data if packed else y), (last if layer == "LSTM" else (last,))
    weights = tg.arange(y.numel()).to(device, dtype).view(y.shape).cos()
    loss = (y * weights).sum() if use != "last state" else 0
    if use != "outputs":
        loss = loss + sum(((i + 1) * s**2).sum() for i, s in enumerate(last))
    loss.backward()
    gradients = [t.grad for t in (x, *states, *rnn.parameters())]
    return [t.detach().cpu().numpy() for t in (y, *last, *gradients)]


# --- places in large arrays -----------------------------------------------------------------------


@runs_kernels
def test_places_beyond_32_bits() -> None:
    """A row of 2³¹ + 2¹⁶ numbers, of which a file with holes holds the few that are looked at."""
    length, step = 2**31 + 2**16, 2**22
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * length)
        x = np.memmap(file, np.float32, "r+", shape=(1, length))
        windows = windows_of((1,), (step,), (0,), (1,), (length,))
        count = math.prod(windows.size)
        x[0, ::step] = np.arange(count)
        source = max_pool.KERNELS.source("float32", wide=True)
        y, cells = np.empty(count, np.float32), np.empty(count, np.int32)
        places = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, cells)]
        args = [ctypes.c_longlong(count), *places, on_volumes(*windows)]
        kernel_shim.run(source, "max_pool", 1, 256, args)
        assert y.tolist() == list(range(count)) and not cells.any()


def test_large_arrays_get_the_wide_text(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        fake_cuda.BACKEND, "kernel", lambda text, _: asked.append(text) or (lambda *args: None)
    )
    monkeypatch.setattr(kernels, "WIDE", 6)
    with fake_cuda.pretended():
        texts = kernels.Kernels('extern "C" __global__ void none(long long n, const real* x) {}')
        for size in (4, 5, 6, 7):
            texts.launch("none", size, fake_cuda.xp.ones(size))
    assert ["long long Index" in text for text in asked] == [False, True]
