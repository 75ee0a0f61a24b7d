"""gradcheck: are the derivatives that backward computes those of the function?

Finite differences move each input element a little and watch the outputs; backward gives the same
numbers from the formulas, one row per output element. Where the two disagree the worst entry is
named. Knows functions of tensors, and nothing of how they compute. Lesson 06.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..device import backend_of, move
from ..dtype import float64
from .engine import grad
from .variable import Tensor

Values = np.ndarray[Any, np.dtype[np.float64]]


class GradcheckError(RuntimeError):
    """What `gradcheck` and `gradgradcheck` found wrong."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Compares backward with (f(x + eps) - f(x - eps)) / 2 eps, for every output and every input
    that requires grad.

    Entry by entry, |backward - difference| <= atol + rtol · |difference|; with `fast_mode` along
    one random direction for each pair of output and input. Two backward passes may differ by
    `nondet_tol`; an output that receives no gradient must count as one that receives zeros, unless
    `check_undefined_grad` is off. GradcheckError names the worst entry; `raise_exception=False`
    returns False instead. Inputs should be float64. (torch.autograd.gradcheck)

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([1., 2.], dtype=tg.float64, requires_grad=True)
    >>> gradcheck(lambda x: x.exp() * x, (x,))
    True
    """
    check = _Check(func, _tuple(inputs), eps, atol, rtol)
    try:
        if check_undefined_grad:
            check.undefined()
        check.run(fast_mode)
        check.repeated(nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """`gradcheck` of the gradients: the second derivatives, with respect to the inputs and to
    `grad_outputs`.

    These are random unless given; `gen_non_contig_grad_outputs` makes them with gaps in memory.
    (torch.autograd.gradgradcheck)

    >>> import tinygrad_course as tg
    >>> x = tg.tensor([1., 2.], dtype=tg.float64, requires_grad=True)
    >>> gradgradcheck(lambda x: x ** 3, (x,))
    True
    """
    points = _tuple(inputs)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        outputs = [y for y in _outputs(func(*points)) if y.requires_grad]
        weights = tuple(_weights(y, rng, gen_non_contig_grad_outputs) for y in outputs)
    else:
        weights = _tuple(grad_outputs)
    wanted = [i for i, x in enumerate(points) if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        args, given = args[: len(points)], args[len(points) :]
        outputs = [y for y in _outputs(func(*args)) if y.requires_grad]
        targets = [args[i] for i in wanted]
        found = grad(outputs, targets, given, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        (*points, *weights),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        fast_mode=fast_mode,
    )


class _Worst(NamedTuple):
    """The entry of a Jacobian that is furthest from what is allowed; none when it is the product
    of a whole Jacobian with random vectors."""

    excess: float
    output: int
    target: int
    entry: tuple[int, int] | None
    difference: float
    backward: float
    allowed: float
    wrong: int
    of: int


class _Check:
    """One function at one point: its derivatives in both ways."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
    ) -> None:
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.targets = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
        self.places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self._require_usable()
        outputs = _outputs(func(*inputs))
        self.shapes = [y.shape for y in outputs]
        self.outputs = {k: y for k, y in enumerate(outputs) if y.requires_grad}
        self.checked = list(self.outputs) or range(len(outputs))

    def _require_usable(self) -> None:
        if not self.targets:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them "
                "have requires_grad=True"
            )
        for i, x in zip(self.places, self.targets, strict=True):
            if x.dtype is not float64:
                warnings.warn(
                    f"Input #{i} requires gradient and is {x.dtype!r}: finite differences of less "
                    "than float64 say little, so the check will likely fail. Convert it with "
                    ".double() first.",
                    stacklevel=4,
                )
            if any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0 (shape {list(x.shape)}, stride "
                    f"{list(x.stride())}): moving one of its elements moves others. Pass "
                    ".contiguous() of it."
                )

    # --- the two ways to a derivative -------------------------------------------------------------

    def by_difference(self, target: Tensor, directions: Iterable[tuple[Any, Any]]) -> list[Values]:
        """(f(x + eps d) - f(x - eps d)) / 2 eps, a row for each direction: one array per output.

        A direction is a pair: a place in the target, and what moves there.
        """
        array = target._array
        rows: list[list[Values]] = [[] for _ in self.shapes]
        for place, direction in directions:
            before = array[place].copy()
            ends = []
            for step in (self.eps, -self.eps):
                array[place] = before + step * direction
                try:
                    ends.append([_host(y) for y in _outputs(self.func(*self.inputs))])
                finally:
                    array[place] = before
            for row, up, down in zip(rows, *ends, strict=True):
                row.append((up - down) / (2 * self.eps))
        return [
            np.reshape(row, (len(row), math.prod(shape)))
            for row, shape in zip(rows, self.shapes, strict=True)
        ]

    def by_backward(self, k: int) -> list[Values]:
        """The Jacobians of output k, one array (elements of the target, elements of k) per target;
        a backward pass for each element of k."""
        output = self.outputs[k]
        passes = []
        for place in np.ndindex(output.shape):
            weights = output.new_zeros(output.shape)
            weights._array[place] = 1
            passes.append(self.pulled({k: weights}))
        return [
            np.reshape([found[t] for found in passes], (len(passes), x.numel())).T
            for t, x in enumerate(self.targets)
        ]

    def pulled(self, weights: dict[int, Tensor]) -> list[Values]:
        """The gradients of the targets when `weights` enter their outputs, as flat arrays."""
        sources = [self.outputs[k] for k in weights]
        found = grad(
            sources, self.targets, list(weights.values()), retain_graph=True, allow_unused=True
        )
        return [
            np.zeros(x.numel()) if g is None else _host(g)
            for x, g in zip(self.targets, found, strict=True)
        ]

    # --- the checks -------------------------------------------------------------------------------

    def run(self, fast: bool) -> None:
        """Both ways agree for every pair; outputs without gradient don't depend on the inputs."""
        worst = self.along_directions() if fast else self.entrywise()
        if worst is not None and fast:  # one number says nothing of where: look at all of them
            worst = self.entrywise() or worst
        if worst is not None:
            raise GradcheckError(self.report(worst))

    def entrywise(self) -> _Worst | None:
        """The worst of all entries of all Jacobians."""
        backward = {k: self.by_backward(k) for k in self.outputs}
        found = None
        for t, x in enumerate(self.targets):
            expected = self.by_difference(x, [(place, 1.0) for place in np.ndindex(x.shape)])
            for k in self.checked:
                got = backward[k][t] if backward else np.zeros_like(expected[k])
                found = _worse(found, self.compare(k, t, expected[k], got))
        return found

    def along_directions(self) -> _Worst | None:
        """The worst of the Jacobians' products with a random vector on either side."""
        rng = np.random.default_rng(0)  # the same in every run: a failure comes again
        sides = [rng.standard_normal(shape) for shape in self.shapes]
        backward = {k: self.pulled({k: _like(y, sides[k])}) for k, y in self.outputs.items()}
        found = None
        for t, x in enumerate(self.targets):
            direction = rng.standard_normal(x.shape)
            moved = self.by_difference(x, [(..., _like(x, direction)._array)])
            for k in self.checked:
                expected = moved[k] @ sides[k].reshape(-1, 1)
                got = backward[k][t] @ direction.reshape(-1, 1) if backward else np.zeros(1)
                worst = self.compare(k, t, expected, got[None])
                found = _worse(found, worst and worst._replace(entry=None))
        return found

    def compare(self, k: int, t: int, expected: Values, got: Values) -> _Worst | None:
        """The worst of the entries of two Jacobians that differ too much."""
        if expected.size == 0:
            return None
        allowed = self.atol + self.rtol * np.abs(expected)
        away = np.where(expected == got, 0.0, np.abs(got - expected)) - allowed
        away[np.isnan(away)] = np.inf
        entry = np.unravel_index(np.argmax(away), away.shape)
        if away[entry] <= 0:
            return None
        row, column = int(entry[0]), int(entry[1])
        numbers = float(expected[entry]), float(got[entry]), float(allowed[entry])
        wrong = int((away > 0).sum())
        return _Worst(float(away[entry]), k, t, (row, column), *numbers, wrong, away.size)

    def report(self, worst: _Worst) -> str:
        k, t = worst.output, self.places[worst.target]
        head = f"Jacobian mismatch for output {k} with respect to input {t}: "
        if k not in self.outputs:
            head = (
                f"Numerical gradient for function expected to be zero, since output {k} does not "
                f"require grad, but it changes with input {t}: "
            )
        numbers = (
            f"{worst.difference:.6g} by finite differences and {worst.backward:.6g} by backward "
            f"(off by {abs(worst.difference - worst.backward):.3g}, allowed {worst.allowed:.3g})"
        )
        if worst.entry is None:
            return f"{head}along a random direction the derivative is {numbers}."
        row = np.unravel_index(worst.entry[0], self.targets[worst.target].shape)
        column = np.unravel_index(worst.entry[1], self.shapes[k])
        return (
            f"{head}{worst.wrong} of {worst.of} entries differ. The worst is the derivative of "
            f"output {k}{_at(column)} by input {t}{_at(row)}, which is {numbers}."
        )

    def repeated(self, tolerance: float) -> None:
        """Two passes over one graph give the same."""
        for k, output in self.outputs.items():
            weights = {k: _like(output, np.random.default_rng(0).standard_normal(output.shape))}
            pairs = zip(self.pulled(weights), self.pulled(weights), strict=True)
            for t, (first, second) in enumerate(pairs):
                away = float(np.max(np.abs(first - second), initial=0.0))
                if away > tolerance:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and "
                        f"grad_output multiple times gives different values: the gradient of input "
                        f"{self.places[t]} from output {k} changed by up to {away:.3g}, allowed "
                        f"{tolerance:.3g} (nondet_tol)"
                    )

    def undefined(self) -> None:
        """An output left out counts as one whose gradient is zero."""
        rng = np.random.default_rng(0)
        weights = {k: _like(y, rng.standard_normal(y.shape)) for k, y in self.outputs.items()}
        if len(weights) < 2:
            return
        for k in weights:
            without = self.pulled({j: w for j, w in weights.items() if j != k})
            zero = self.pulled({j: w * 0 if j == k else w for j, w in weights.items()})
            for t, (first, second) in enumerate(zip(without, zero, strict=True)):
                if not np.allclose(first, second, self.rtol, self.atol, equal_nan=True):
                    raise GradcheckError(
                        f"Expected backward function to handle undefined output grads: when output "
                        f"{k} receives no gradient, that of input {self.places[t]} differs from "
                        "what it is when zeros arrive there"
                    )


def _worse(one: _Worst | None, other: _Worst | None) -> _Worst | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda worst: worst.excess)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, Sequence) else (values,)


def _outputs(result: Any) -> tuple[Tensor, ...]:
    outputs = _tuple(result)
    for y in outputs:
        if not isinstance(y, Tensor):
            raise TypeError(
                f"the function returned a {type(y).__name__}; a Tensor or a tuple of Tensors is "
                "needed"
            )
    return outputs


def _host(x: Tensor) -> Values:
    """The elements as a flat array of doubles, never `x`'s own memory."""
    return np.array(backend_of(x._array).to_host(x._array), np.float64).ravel()


def _like(x: Tensor, values: Values) -> Tensor:
    """A tensor of `values` in the type and on the device of `x`."""
    return Tensor._wrap(move(np.asarray(values, x.dtype.numpy), x.device))


def _weights(y: Tensor, rng: np.random.Generator, gaps: bool) -> Tensor:
    """Random weights for output `y`, which require grad."""
    values = rng.standard_normal((*y.shape, 2 if gaps else 1))
    weights = _like(y, values)[..., 0]
    return (weights if gaps else weights.contiguous()).detach().requires_grad_()


def _at(index: Sequence[Any]) -> str:
    return str([int(i) for i in index]) if len(index) else ""
