"""L-BFGS: Newton's method with the curvature read off the last steps. Lesson 14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.mode import enable_grad
from ..autograd.sparse import SparseTensor
from ..autograd.variable import Tensor
from ..device import Array, xp_of
from .line_search import MOST, Point, strong_wolfe
from .optimizer import Optimizer
from .settings import require_at_least_zero


class LBFGS(Optimizer):
    """x ← x + t · d, d = −H g, with H an estimate of the inverse Hessian from the last
    `history_size` changes of x and g (Liu and Nocedal, 1989).

    All parameters are one vector, so there is one group. One `step(closure)` makes up to `max_iter`
    iterations and calls `closure` up to `max_eval` times (5/4 of max_iter), less when an iteration
    finds the gradient's largest element within `tolerance_grad`, or x or the loss changed by less
    than `tolerance_change`. t is `lr`, in the very first iteration min(1, 1 / Σ|g|) · lr; with
    `line_search_fn="strong_wolfe"` t is searched from there. ValueError for a negative lr or
    several groups, RuntimeError for another line search.

    >>> import tinygrad_course as tg
    >>> w = tg.nn.Parameter(tg.tensor([3.]))
    >>> optimizer = LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure); w.data
    tensor([1.])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        require_at_least_zero(lr=lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups), got "
                f"{len(self.param_groups)} groups"
            )

    def step(self, closure: Callable[[], Any]) -> Any:
        """Iterates as said above; returns the loss before."""
        group = self.param_groups[0]
        lr, small = float(group["lr"]), group["tolerance_change"]
        # As in PyTorch, what is remembered of the whole vector lies with the first parameter.
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        before, loss, g = self._evaluated(closure)
        calls = 1
        state["func_evals"] += 1
        flat = _largest(g) <= group["tolerance_grad"]
        iterations = 0
        while not flat and iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            first = state["n_iter"] == 1
            d = self._direction(g)
            t = min(1.0, 1.0 / float(abs(g).sum())) * lr if first else lr
            previous = loss
            state.update(d=_kept(d), t=t, prev_flat_grad=_kept(g.copy()), prev_loss=loss)
            slope = _dot(g, d)
            if slope > -small:
                break  # downhill there is nothing to be won
            tried = 0
            if group["line_search_fn"] is not None:
                t, loss, g, tried = self._searched(
                    closure, Point(0.0, loss, g, slope), d, t, group["max_eval"] - calls
                )
                state["t"] = t
            else:
                self._move_along(d, t)
                if iterations != group["max_iter"]:  # else the next step begins with this call
                    _, loss, g = self._evaluated(closure)
                    tried = 1
            calls += tried
            state["func_evals"] += tried
            flat = (
                calls >= group["max_eval"]
                or _largest(g) <= group["tolerance_grad"]
                or _largest(d) * abs(t) <= small
                or abs(loss - previous) < small
            )
        return before

    def _direction(self, g: Array) -> Array:
        """−H g by the two loops of Nocedal (1980), after the history took in the last change."""
        state, group = self.state[self.param_groups[0]["params"][0]], self.param_groups[0]
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -g
        changes, moves, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y = g - state["prev_flat_grad"]._array
        s = state["d"]._array * float(state["t"])
        ys = _dot(y, s)
        if ys > 1e-10:  # else the curvature along s is not that of a bowl
            if len(changes) == group["history_size"]:
                for history in (changes, moves, ro):
                    history.pop(0)
            changes.append(_kept(y))
            moves.append(_kept(s))
            ro.append(_kept(xp_of(y).asarray(1.0 / ys, y.dtype)))
            state["H_diag"] = _kept(xp_of(y).asarray(ys / _dot(y, y), y.dtype))
        d = -g
        alphas: list[float] = []
        history = [
            (y._array, s._array, float(r)) for y, s, r in zip(changes, moves, ro, strict=True)
        ]
        for y, s, r in reversed(history):
            alphas.append(_dot(s, d) * r)
            d -= alphas[-1] * y
        d *= float(state["H_diag"])
        for y, s, r in history:
            d += (alphas.pop() - _dot(y, d) * r) * s
        return d

    def _searched(
        self, closure: Callable[[], Any], start: Point, d: Array, t: float, left: int
    ) -> tuple[float, float, Array, int]:
        """The step, loss and gradient that the line search found, which is gone to; and how many
        it tried; `left` calls of the closure are left."""
        group = self.param_groups[0]
        name = group["line_search_fn"]
        if name != "strong_wolfe":
            raise RuntimeError(f"only 'strong_wolfe' is supported as line_search_fn, got {name!r}")
        origin = [p._array.copy() for p in group["params"]]

        def at(t: float) -> Point:
            self._move_along(d, t)
            _, loss, g = self._evaluated(closure)
            for parameter, x in zip(group["params"], origin, strict=True):
                parameter._array[...] = x
            return Point(t, loss, g, _dot(g, d))

        small, most = group["tolerance_change"], min(MOST, left)
        point, tried = strong_wolfe(at, start, t, _largest(d), small, most)
        self._move_along(d, point.t)
        return point.t, point.loss, point.grad, tried

    def _evaluated(self, closure: Callable[[], Any]) -> tuple[Any, float, Array]:
        """What the closure returns, as a number, and the gradient of all parameters as one
        vector."""
        with enable_grad():
            loss = closure()
        parts = []
        for parameter in self.param_groups[0]["params"]:
            x, grad = parameter._array, parameter.grad
            if isinstance(grad, SparseTensor):
                grad = grad.to_dense()
            g = xp_of(x).zeros_like(x) if grad is None else grad._array
            parts.append(g.reshape(-1))
        return loss, float(loss), xp_of(parts[0]).concatenate(parts)

    def _move_along(self, d: Array, t: float) -> None:
        """x ← x + t · d."""
        begin = 0
        for parameter in self.param_groups[0]["params"]:
            x = parameter._array
            x += t * d[begin : begin + x.size].reshape(x.shape)
            parameter._bump()
            begin += x.size


def _kept(array: Array) -> Tensor:
    return Tensor._wrap(array)


def _dot(x: Array, y: Array) -> float:
    return float(xp_of(x).dot(x, y))


def _largest(x: Array) -> float:
    return float(abs(x).max()) if x.size else 0.0
