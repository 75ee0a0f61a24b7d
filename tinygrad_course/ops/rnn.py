"""Recurrent layers as one operation over all steps: RNN, LSTM and GRU of one layer and direction.

The rows of all sequences lie one step after the other, as many per step as sequences last that
long: padded and packed sequences are the same. What depends on the input alone is one matrix
product before the loop; what the way back through time needs besides its loop is made for all steps
at once. A derivative of that goes step by step through the same formulas on Tensors. Lesson 12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..autograd.engine import grad
from ..autograd.variable import Tensor
from ..device import xp_of
from ..kernels import recurrent as fused
from ..kernels import usable
from .join import cat
from .linear import linear
from .registry import Op

Steps = list[tuple[slice, int]]


def steps(sizes: tuple[int, ...], reverse: bool) -> Steps:
    """The rows of each step, and how many there are, in the order of the loop.

    >>> steps((2, 1), reverse=True)
    [(slice(2, 3, None), 1), (slice(0, 2, None), 2)]
    """
    found, start = [], 0
    for n in sizes:
        found.append((slice(start, start + n), n))
        start += n
    return found[::-1] if reverse else found


# --- parts of the kernels: `gates` matrices side by side, the first dim of all arrays -------------


def _stacked(w, gates):
    """Weights (gates · H, I), or a bias, as one matrix (H, I) per gate."""
    return w.reshape(gates, len(w) // gates, -1)


def _from_input(xp, x, w, biases, gates):
    """x wᵀ + the biases, for all steps: (gates, S, H)."""
    part = xp.matmul(x, _stacked(w, gates).transpose(0, 2, 1))
    for b in biases:
        if b is not None:
            part += b.reshape(gates, 1, len(b) // gates)
    return part


def _from_state(xp, w, gates, sizes):
    """The weights from state to state, (gates, P, H): in row-major memory where many steps read
    them."""
    w = _stacked(w, gates).transpose(0, 2, 1)
    return xp.ascontiguousarray(w) if len(sizes) > 1 else w


def _sigmoid(xp, x, out):
    """1 / (1 + exp(-x)), half as dear by tanh(x / 2) / 2 + 1 / 2."""
    xp.multiply(x, 0.5, out=out)
    xp.tanh(out, out=out)
    out *= 0.5
    out += 0.5


def _products(xp, d, x, like):
    """Σ over the rows of dᵀ x, the gradient of weights, in the shape of these."""
    return xp.matmul(d.transpose(0, 2, 1), x).reshape(like.shape)


class Recurrent(Op):
    """What the three share. The inputs are x (S, I), the `states` (N, …), and the weights; the
    outputs the states of all steps (S, …) and the last ones. `sizes` counts the rows of each step.

    `forward` and `back` are the kernels, each with its loop; `step` is the formula of one step, on
    Tensors.
    """

    __slots__ = ()

    states: ClassVar[int] = 1
    step: ClassVar[Callable[..., tuple[Any, ...]]]
    back: Callable[..., Any]

    def backward(ctx, *grads):
        if isinstance(ctx.saved[0], Tensor):
            return ctx.through_formula(grads)
        return ctx.back(xp_of(ctx.saved[0]), *grads)

    def through_formula(ctx, grads):
        """The gradients by unrolling: a graph of small operations, which can be differentiated."""
        given, (sizes, reverse, *rest) = ctx.saved[: len(ctx.edges)], ctx.saved[len(ctx.edges)]
        # Views, at which the gradients stop: one input may be made of another, or be it.
        inputs: list[Any] = [v if v is None else v.view_as(v) for v in given]
        x, states = inputs[0], list(inputs[1 : 1 + ctx.states])
        rows, outputs = steps(sizes, reverse), []
        for at, n in rows:
            new = ctx.step(x[at], *(s[:n] for s in states), *inputs[1 + ctx.states :], *rest)
            outputs.append(new[0])
            pairs = zip(new, states, strict=True)
            states = [cat([new_s, s[n:]]) if n < len(s) else new_s for new_s, s in pairs]
        made = [cat(outputs[::-1] if reverse else outputs), *states]
        known = [(m, g) for m, g in zip(made, grads, strict=True) if g is not None]
        wanted = [i for i, needed in enumerate(ctx.needs) if needed]
        for i in wanted:  # also what was told since that it requires no gradient
            if not inputs[i].requires_grad:
                inputs[i].requires_grad_()
        found = grad(
            [m for m, _ in known],
            [inputs[i] for i in wanted],
            [g for _, g in known],
            create_graph=True,
            allow_unused=True,
        )
        by_place = dict(zip(wanted, found, strict=True))
        return tuple(by_place.get(i) for i in range(len(inputs)))

    @property
    def needed(ctx):
        """Whether x, w_ih, w_hh, b_ih and b_hh need a gradient."""
        return ctx.needs[0], *ctx.needs[1 + ctx.states : 5 + ctx.states]

    def weight_gradients(ctx, xp, d, e, before, weights):
        """Those of x and of the weights. d: the gradients of what the gates get from the input, e:
        of what they get from the state `before`."""
        x, (w_ih, w_hh, b_ih, b_hh) = ctx.saved[0], weights
        needs = ctx.needs[1 + ctx.states :]
        gx = xp.matmul(d, _stacked(w_ih, len(d))).sum(0) if ctx.needs[0] else None
        gb = d.sum(1).reshape(b_ih.shape) if needs[2] or (needs[3] and e is d) else None
        return gx, (
            _products(xp, d, x, w_ih) if needs[0] else None,
            _products(xp, e, before, w_hh) if needs[1] else None,
            gb if needs[2] else None,
            (gb if e is d else e.sum(1).reshape(b_hh.shape)) if needs[3] else None,
        )


def _last_gradient(xp, g, like):
    """The gradient of the last state as an array to work in; no gradient is one of zeros."""
    return xp.zeros_like(like) if g is None else xp.array(g)


# --- the plain one --------------------------------------------------------------------------------


class RNN(Recurrent, fn=""):
    """h' = tanh(w_ih x + b_ih + w_hh h + b_hh), or relu: (S, I), (N, H) → (S, H), (N, H)."""

    __slots__ = ()

    @staticmethod
    def step(x, h, w_ih, w_hh, b_ih, b_hh, relu):
        z = linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh)
        return (z.relu() if relu else z.tanh(),)

    def forward(ctx, xp, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, /, *, sizes, reverse, relu):
        weights = w_ih, w_hh, b_ih, b_hh
        if usable(x, h0, *weights):
            made, kept = fused.rnn(steps(sizes, reverse), x, h0, weights, relu)
            ctx.save(x, h0, *weights, (sizes, reverse, relu), *kept)
            return made
        (y,) = _from_input(xp, x, w_ih, (b_ih, b_hh), 1)
        (w,) = _from_state(xp, w_hh, 1, sizes)
        before, h = xp.empty_like(y), xp.array(h0)
        for rows, n in steps(sizes, reverse):
            before[rows] = h[:n]
            z = y[rows]
            z += h[:n] @ w
            if relu:
                xp.maximum(z, 0, out=z)
            else:
                xp.tanh(z, out=z)
            h[:n] = z
        ctx.save(x, h0, w_ih, w_hh, b_ih, b_hh, (sizes, reverse, relu), y, before)
        return y, h

    def back(ctx, xp, gy, gh):
        x, h0, *weights, (sizes, reverse, relu), y, before = ctx.saved
        if usable(x, h0, *weights):
            kept = ctx.needed, x, h0, weights, (y, before)
            return fused.rnn_back(steps(sizes, reverse), *kept, gy, gh, relu)
        d = (y != 0).astype(y.dtype) if relu else 1 - y * y
        dh, w = _last_gradient(xp, gh, h0), weights[1]
        for rows, n in reversed(steps(sizes, reverse)):
            if gy is not None:
                dh[:n] += gy[rows]
            d[rows] *= dh[:n]
            xp.matmul(d[rows], w, out=dh[:n])
        d = d[None]
        gx, gw = ctx.weight_gradients(xp, d, d, before, weights)
        return gx, dh, *gw


# --- LSTM -----------------------------------------------------------------------------------------


class LSTM(Recurrent, fn=""):
    """i, f, o = σ(w x + v h), g = tanh(w x + v h); c' = f c + i g, h' = o tanh(c'), or w_hr times
    that: (S, I), (N, P), (N, H) → (S, P), (N, P), (N, H)."""

    __slots__ = ()

    states = 2

    @staticmethod
    def step(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr):
        i, f, g, o = (linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return (h if w_hr is None else linear(h, w_hr)), c

    def forward(
        ctx, xp, x, h0, c0, w_ih, w_hh, b_ih=None, b_hh=None, w_hr=None, /, *, sizes, reverse
    ):
        weights = w_ih, w_hh, b_ih, b_hh
        if w_hr is None and usable(x, h0, c0, *weights):
            made, kept = fused.lstm(steps(sizes, reverse), x, h0, c0, weights)
            ctx.save(x, h0, c0, *weights, None, (sizes, reverse), *kept)
            return made
        a = _from_input(xp, x, w_ih, (b_ih, b_hh), 4)
        # One tanh for all gates: σ(x) = tanh(x / 2) / 2 + 1 / 2 for all but g.
        half = xp.full((4, 1, 1), 0.5, x.dtype)
        half[2] = 1
        a *= half
        w = _stacked(w_hh, 4).transpose(0, 2, 1)
        w = xp.multiply(w, half, out=xp.empty(w.shape, w.dtype))
        h, c = xp.array(h0), xp.array(c0)
        bent = xp.empty(a.shape[1:], x.dtype)  # tanh(c')
        before, c_before = xp.empty((len(x), h.shape[1]), x.dtype), xp.empty_like(bent)
        y = xp.empty_like(before)
        z, ig = xp.empty((4, *c.shape), x.dtype), xp.empty_like(c)
        for rows, n in steps(sizes, reverse):
            before[rows], c_before[rows] = h[:n], c[:n]
            gates, cn, t = a[:, rows], c[:n], bent[rows]
            gates += xp.matmul(h[:n], w, out=z[:, :n])
            xp.tanh(gates, out=gates)
            for sigmoids in (gates[:2], gates[3]):
                sigmoids *= 0.5
                sigmoids += 0.5
            cn *= gates[1]
            cn += xp.multiply(gates[0], gates[2], out=ig[:n])
            xp.tanh(cn, out=t)
            if w_hr is None:
                xp.multiply(gates[3], t, out=y[rows])
            else:
                xp.matmul(gates[3] * t, w_hr.T, out=y[rows])
            h[:n] = y[rows]
        kept = (a, bent, before, c_before)
        ctx.save(x, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, (sizes, reverse), *kept)
        return y, h, c

    def back(ctx, xp, gy, gh, gc):
        x, h0, c0, *weights, w_hr, (sizes, reverse), a, bent, before, c_before = ctx.saved
        if w_hr is None and usable(x, h0, c0, *weights):
            kept = ctx.needed, x, h0, c0, weights, (a, bent, before, c_before)
            return *fused.lstm_back(steps(sizes, reverse), *kept, gy, gh, gc), None
        i, f, g, o = a
        # How the gates answer, i, f and g to dc', o to dh'; and dc' to dh'.
        d = 1 - a
        d *= a
        d[0] *= g
        d[1] *= c_before
        xp.multiply(g, g, out=d[2])
        xp.subtract(1, d[2], out=d[2])
        d[2] *= i
        d[3] *= bent
        rate = bent * bent
        xp.subtract(1, rate, out=rate)
        rate *= o
        dh, dc = _last_gradient(xp, gh, h0), _last_gradient(xp, gc, c0)
        w = _stacked(weights[1], 4)
        dy = None if w_hr is None else xp.empty_like(before)
        z = xp.empty((4, *dh.shape), dh.dtype)
        for rows, n in reversed(steps(sizes, reverse)):
            dn, cn, gates = dh[:n], dc[:n], d[:, rows]
            if gy is not None:
                dn += gy[rows]
            if dy is None:
                dm = dn
            else:
                dy[rows] = dn
                dm = dn @ w_hr
            cn += dm * rate[rows]
            gates[:3] *= cn
            gates[3] *= dm
            xp.matmul(gates, w, out=z[:, :n]).sum(0, out=dn)
            cn *= f[rows]
        gx, gw = ctx.weight_gradients(xp, d, d, before, weights)
        g_hr = dy.T @ (o * bent) if dy is not None and ctx.needs[7] else None
        return gx, dh, dc, *gw, g_hr


# --- GRU ------------------------------------------------------------------------------------------


class GRU(Recurrent, fn=""):
    """r, z = σ(w x + v h), n = tanh(w x + r · v h), h' = n + z (h - n): (S, I), (N, H) → (S, H),
    (N, H)."""

    __slots__ = ()

    @staticmethod
    def step(x, h, w_ih, w_hh, b_ih, b_hh):
        from_x, from_h = linear(x, w_ih, b_ih).chunk(3, 1), linear(h, w_hh, b_hh).chunk(3, 1)
        r, z = ((a + b).sigmoid() for a, b in zip(from_x[:2], from_h[:2], strict=True))
        n = (from_x[2] + r * from_h[2]).tanh()
        return (n + z * (h - n),)

    def forward(ctx, xp, x, h0, w_ih, w_hh, b_ih=None, b_hh=None, /, *, sizes, reverse):
        weights = w_ih, w_hh, b_ih, b_hh
        if usable(x, h0, *weights):
            made, kept = fused.gru(steps(sizes, reverse), x, h0, weights)
            ctx.save(x, h0, *weights, (sizes, reverse), *kept)
            return made
        a = _from_input(xp, x, w_ih, (b_ih,), 3)
        w = _from_state(xp, w_hh, 3, sizes)
        b = None if b_hh is None else b_hh.reshape(3, 1, len(b_hh) // 3)
        h = xp.array(h0)
        y, before, from_h = (xp.empty(a.shape[1:], x.dtype) for _ in range(3))
        z = xp.empty((3, *h.shape), x.dtype)
        for rows, n in steps(sizes, reverse):
            before[rows] = h[:n]
            gates, hn, v = a[:, rows], h[:n], z[:, :n]
            xp.matmul(hn, w, out=v)
            if b is not None:
                v += b
            from_h[rows] = v[2]
            gates[:2] += v[:2]
            _sigmoid(xp, gates[:2], gates[:2])
            xp.multiply(gates[0], v[2], out=v[2])
            gates[2] += v[2]
            xp.tanh(gates[2], out=gates[2])
            hn -= gates[2]
            hn *= gates[1]
            hn += gates[2]
            y[rows] = hn
        ctx.save(x, h0, w_ih, w_hh, b_ih, b_hh, (sizes, reverse), a, before, from_h)
        return y, h

    def back(ctx, xp, gy, gh):
        x, h0, *weights, (sizes, reverse), a, before, from_h = ctx.saved
        if usable(x, h0, *weights):
            kept = ctx.needed, x, h0, weights, (a, before, from_h)
            return fused.gru_back(steps(sizes, reverse), *kept, gy, gh)
        r, z, n = a
        # How the parts of the gates that come from the state answer to dh'; and n's from the input.
        rest = 1 - z
        dn = n * n
        xp.subtract(1, dn, out=dn)
        dn *= rest
        e = xp.empty_like(a)
        xp.multiply(dn, r, out=e[2])
        xp.subtract(1, r, out=e[0])
        e[0] *= e[2]
        e[0] *= from_h
        xp.subtract(before, n, out=e[1])
        e[1] *= z
        e[1] *= rest
        dh, w = _last_gradient(xp, gh, h0), _stacked(weights[1], 3)
        v = xp.empty((3, *dh.shape), dh.dtype)
        for rows, size in reversed(steps(sizes, reverse)):
            d, parts = dh[:size], e[:, rows]
            if gy is not None:
                d += gy[rows]
            parts *= d
            dn[rows] *= d
            d *= z[rows]
            d += xp.matmul(parts, w, out=v[:, :size]).sum(0)
        both = xp.stack([e[0], e[1], dn])
        gx, gw = ctx.weight_gradients(xp, both, e, before, weights)
        return gx, dh, *gw
