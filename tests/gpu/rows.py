"""Every row of operations, layers and optimizers on a CUDA device, compared with the CPU.

The results, gradients and second derivatives must be those of the CPU, lie on the device, and get
there without a copy through the host, which is counted on the pretended device. Each check takes
the name of a row and a device and yields a verdict per case; none needs PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tinygrad_course as tg
from tinygrad_course import nn

from .. import fake_cuda
from ..modules import MODULES, Case
from ..optimizers import BOWLS, SCHEDULES, advance, groups_of, parameters, schedule_of, take_steps
from ..parity.calls import Made, flat, forms_of, perform
from ..samples import SAMPLES, Arg

# What has to cross, and why; for all others no element may.
CROSSING = {
    "new": "made of data of the host",
    "new_tensor": "made of data of the host",
    "select": "a place that is a tensor decides on the window",
    "tensor_split": "places that are a tensor decide on the windows",
    "combinations": "the places are listed on the host",
    "bincount": "the largest element decides on the size",
    "histc": "the extremes decide on the bins",
    "quantile": "made of numbers of the host",
    "searchsorted": "a sorter is looked through first",
    "multinomial": "random numbers are drawn on the host",
    "prod": "whether factors are 0 decides on the way back, in PyTorch, too",
    "cumprod": "whether factors are 0 decides on the way back, in PyTorch, too",
    "scatter": "products at places that repeat are made in rounds",
    "scatter_reduce": "products at places that repeat are made in rounds",
    "unique": "how many differ decides on the size",
    "unique_consecutive": "how many differ decides on the size",
    "pdist": "the pairs are listed by their mask",
    "nn.functional.pdist": "the pairs are listed by their mask",
}
# Layers that do so, and optimizers.
CROSSING_LAYERS = {
    **dict.fromkeys(
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RReLU RNN GRU "
        "LSTM FractionalMaxPool2d FractionalMaxPool3d".split(),
        "random numbers are drawn on the host",
    ),
    "AdaptiveLogSoftmaxWithLoss": "how many targets are in a cluster decides on sizes",
    "BatchNorm1d": "without a momentum, the count of batches is read",
    "Embedding": "with a max_norm, how many rows differ decides on the size",
    "CTCLoss": "the lengths are numbers of the host",
    "EmbeddingBag": "the offsets cut on the host",
}
CROSSING_OPTIMIZERS = {"LBFGS": "its line search decides on the host"}
OPERATIONS = [
    name
    for name, rows in SAMPLES.items()
    if rows.values and name not in ("Tensor.cpu", "to", "type")
]
LAYERS = list(MODULES)
OPTIMIZERS = list(BOWLS)
SCHEDULES_BY_NAME = list(SCHEDULES)
SEED = 3


class Verdict(NamedTuple):
    """One comparison; `problem` is None when the device does as the CPU."""

    case: str
    problem: str | None


def tensors(value: Any) -> list[tg.Tensor]:
    """The tensors in a result of nested tuples and lists."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in tensors(part)]
    return [value] if isinstance(value, tg.Tensor) else []


def difference(there: Any, here: Any, device: str) -> str | None:
    """What differs between the outcome on the device and that on the host; None if nothing."""
    if isinstance(here, Exception):
        # A GPU isn't asked for zeros or places out of range, nor by PyTorch: it would have to wait.
        if "ZeroDivision" in str(here) or "out of bounds" in str(here):
            return None
        if type(there) is type(here):
            return None
        return f"{there!r} instead of {here!r}"
    if isinstance(there, Exception):
        return f"raises {there!r}"
    if not tensors(here):
        return None if there == here else f"{there!r} instead of {here!r}"
    if len(tensors(there)) != len(tensors(here)):
        return f"{len(tensors(there))} tensors instead of {len(tensors(here))}"
    for a, b in zip(tensors(there), tensors(here), strict=True):
        if a.device.type != device.partition(":")[0]:
            return f"the result is on {a.device}"
        for what in ("dtype", "shape", "requires_grad"):
            if getattr(a, what) != getattr(b, what):
                return f"{what}: {getattr(a, what)} instead of {getattr(b, what)}"
        error = {"float16": 1e-2, "float32": 1e-4}.get(b.dtype.name, 1e-9)
        found, wanted = a.detach().cpu().numpy(), b.detach().numpy()
        if not np.allclose(found, wanted, rtol=error, atol=error, equal_nan=True):
            return f"{found.ravel()[:5].tolist()} instead of {wanted.ravel()[:5].tolist()}"
    return None


def gradients(leaves: list[tg.Tensor], roots: list[tg.Tensor], recorded: bool = True) -> Any:
    """The gradients of the sums of those roots that require grad, or the error. Unless `recorded`,
    backward runs on plain arrays, as in training, with the kernels that a device has for it."""
    roots = [r for r in roots if r.requires_grad]
    if not roots:
        return ()
    try:
        ones = [tg.ones_like(r) for r in roots]
        return tg.autograd.grad(roots, leaves, ones, True, recorded, allow_unused=True)
    except RuntimeError as error:
        return error


def attempt(action: Callable[[], Any]) -> Any:
    """What the action returns, or the exception that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action()
    except Exception as error:
        return error


def compared(there: list[Any], here: list[Any], device: str) -> str | None:
    """The first difference of several outcomes."""
    for a, b in zip(there, here, strict=True):
        if problem := difference(a, b, device):
            return problem
    return None


# --- operations -----------------------------------------------------------------------------------


def operation(name: str, device: str) -> Iterator[Verdict]:
    """Value, gradient and second order of every sample, of floats and of integers."""
    rows, plain = SAMPLES[name], name.removeprefix("Tensor.")
    free = rows.syncs or rows.seeded or plain in CROSSING
    for call in rows.calls:
        if not any(isinstance(a, Arg) for a in _all([*call.args, *call.kwargs.values()])):
            continue
        if "cpu" in call.args:
            continue
        for dtype in ("float32", "int64") if rows.dtypes else ("float32",):
            here, _ = _performed(name, call, dtype, None)
            there, transfers = _performed(name, call, dtype, device)
            if transfers and not free:  # maybe tables that are sent once
                there, transfers = _performed(name, call, dtype, device)
            problem = compared(there, here, device)
            if problem is None and not free and any(map(tensors, here)) and transfers:
                problem = f"copied {dict(transfers)}"
            yield Verdict(f"{name}{call} {dtype}", problem)


def _performed(name: str, call: Any, dtype: str, device: str | None) -> tuple[list[Any], Any]:
    """Gradients, result, recorded gradients and second ones, and what was copied for them."""
    tg.manual_seed(SEED)
    differentiated = dtype == "float32" and not name.endswith("_")
    made = Made(tg, call, dtype, grad=differentiated, device=device)
    with fake_cuda.counting() as counts:
        seen = [perform(made, name, forms_of(name)[-1])]
        if made.leaves and not isinstance(seen[0], Exception):
            seen.insert(0, gradients(made.leaves, flat_tensors(seen[0]), recorded=False))
        for _ in range(2 if made.leaves else 0):
            if not isinstance(seen[-1], Exception):
                seen.append(gradients(made.leaves, flat_tensors(seen[-1])))
    return seen, counts.transfers


def flat_tensors(value: Any) -> list[tg.Tensor]:
    """The tensors of a result that may be one, or a tuple with gaps."""
    return [t for t in flat(value) if isinstance(t, tg.Tensor)]


def _all(values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield from _all(list(value)) if isinstance(value, list | tuple) else [value]


# --- layers ---------------------------------------------------------------------------------------


def layer(name: str, device: str) -> Iterator[Verdict]:
    """Outputs, gradients, second gradients and buffers of every case, training and evaluating."""
    for case in MODULES[name].cases:
        for training in (True, False):
            here, _ = _ran(name, case, training, None)
            there, transfers = _ran(name, case, training, device)
            if transfers and name not in CROSSING_LAYERS:  # maybe tables that are sent once
                there, transfers = _ran(name, case, training, device)
            problem = compared(there, here, device)
            if problem is None and transfers and name not in CROSSING_LAYERS:
                problem = f"copied {dict(transfers)}"
            yield Verdict(f"{name}{case} {'training' if training else 'evaluating'}", problem)


def _ran(name: str, case: Case, training: bool, device: str | None) -> tuple[list[Any], Any]:
    tg.manual_seed(SEED)
    made = Made(tg, case.arguments)
    module = attempt(lambda: getattr(nn, name)(*made.args, **made.kwargs))
    module.to(tg.float32 if device is None else device).train(training)
    inputs = Made(tg, case.inputs, "float32", grad=True, device=device)
    tg.manual_seed(SEED)
    with fake_cuda.counting() as counts:
        seen = [attempt(lambda: module(*inputs.args, **inputs.kwargs))]
        variables = [*inputs.leaves, *module.parameters()]
        if variables and not isinstance(seen[0], Exception):
            seen.insert(0, attempt(lambda: gradients(variables, tensors(seen[0]), recorded=False)))
        for _ in range((1 + MODULES[name].second) if variables else 0):
            if not isinstance(seen[-1], Exception):
                seen.append(attempt(lambda: gradients(variables, tensors(seen[-1]))))
    return [*seen, list(module.buffers())], counts.transfers


# --- optimizers and schedules ---------------------------------------------------------------------


def optimizer(name: str, device: str) -> Iterator[Verdict]:
    """The path of every row of options: small parameters in float64, and no copies in a step."""
    for options in BOWLS[name]:
        paths = []
        for place in ("cpu", device):
            with tg.device(place):
                ps = parameters(tg)
                made = getattr(tg.optim, name)(ps, **options)
                paths.append(take_steps(made, ps, range(4)))
        agree = np.allclose(*paths, rtol=1e-5 if name == "LBFGS" else 1e-9)
        problem = None if agree else f"{paths[1]} instead of {paths[0]}"
        if problem is None and name not in CROSSING_OPTIMIZERS:
            with fake_cuda.counting() as counts:
                made.step()
            problem = f"copied {dict(counts.transfers)}" if counts.transfers else None
        yield Verdict(f"{name}{options}", problem)


def schedule(name: str, device: str) -> Iterator[Verdict]:
    """The rates of every row, and where the parameters went with them."""
    for args, options in SCHEDULES[name]:
        seen = []
        for place in ("cpu", device):
            with tg.device(place):
                moved = groups_of(tg)
                for group in moved.param_groups:
                    for parameter in group["params"]:
                        parameter.grad = tg.ones_like(parameter)
                path = advance(schedule_of(tg, name, args, options, moved), range(12))
                moved.step()
                ends = [p.tolist() for group in moved.param_groups for p in group["params"]]
                seen.append((path, ends))
        same = seen[0][0] == seen[1][0] and np.allclose(seen[0][1], seen[1][1])
        yield Verdict(f"{name}{args}{options}", None if same else f"{seen[1]} instead of {seen[0]}")


CHECKS: dict[str, tuple[Callable[[str, str], Iterator[Verdict]], list[str]]] = {
    "operations": (operation, OPERATIONS),
    "layers": (layer, LAYERS),
    "optimizers": (optimizer, OPTIMIZERS),
    "schedules": (schedule, SCHEDULES_BY_NAME),
}


def problems(check: str, name: str, device: str) -> list[str]:
    """What is wrong with a row, in words."""
    verdicts = CHECKS[check][0](name, device)
    return [f"{case} on {device}: {problem}" for case, problem in verdicts if problem]
