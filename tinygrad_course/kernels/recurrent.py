"""Recurrent layers: a step is one matrix product and one launch, forward and backward.

Forward, the product of the state and its weights goes into a kernel that does all the rest of a
cell, also keeping what the way back needs. Backward, the kernel makes the gradients of the gates,
and their product with the weights is the gradient of the state before. A row holds the gates of a
sample side by side, as PyTorch's weights do, so that all products are plain ones. Lesson 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..device import Array, xp_of
from . import Kernels

KERNELS = Kernels("""
// All kernels have a thread per element of the state (samples, hidden), and get gates (samples,
// gates, hidden) from the input in `a`, from the state in `z`.
__device__ inline Index first_gate(Index i, Index hidden, Index gates) {
    return i / hidden * gates * hidden + i % hidden;
}
__device__ inline real sigmoid(real x) { return 1 / (1 + exp(-x)); }

// h' = tanh(a + z), or relu; y and `before` keep h' and h.
extern "C" __global__ void rnn_forward(
    long long count, const real* a, const real* z, real* h, real* y, real* before,
    long long hidden, long long relu
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        real sum = a[i] + z[i];
        before[i] = h[i];
        h[i] = y[i] = relu ? (sum > 0 || sum != sum ? sum : 0) : tanh(sum);
    }
}

extern "C" __global__ void rnn_backward(
    long long count, real* d, const real* dh, const real* gy, const real* y, long long hidden,
    long long has_gy, long long relu
) {
    for (Index i = first_element(); i < count; i += next_element()) {
        real g = has_gy ? dh[i] + gy[i] : dh[i];
        d[i] = g * (relu ? (real)(y[i] != 0) : 1 - y[i] * y[i]);
    }
}

// c' = f c + i g, h' = o tanh(c'). The gates replace `a`; `bent` keeps tanh(c').
extern "C" __global__ void lstm_forward(
    long long count, real* a, const real* z, real* h, real* c, real* y, real* before,
    real* c_before, real* bent, long long hidden
) {
    Index step = hidden;
    for (Index n = first_element(); n < count; n += next_element()) {
        Index at = first_gate(n, step, 4);
        real i = sigmoid(a[at] + z[at]);
        real f = sigmoid(a[at + step] + z[at + step]);
        real g = tanh(a[at + 2 * step] + z[at + 2 * step]);
        real o = sigmoid(a[at + 3 * step] + z[at + 3 * step]);
        a[at] = i;
        a[at + step] = f;
        a[at + 2 * step] = g;
        a[at + 3 * step] = o;
        before[n] = h[n];
        c_before[n] = c[n];
        real next = f * c[n] + i * g, t = tanh(next);
        c[n] = next;
        bent[n] = t;
        h[n] = y[n] = o * t;
    }
}

extern "C" __global__ void lstm_backward(
    long long count, real* d, const real* dh, real* dc, const real* gy, const real* gates,
    const real* c_before, const real* bent, long long hidden, long long has_gy
) {
    Index step = hidden;
    for (Index n = first_element(); n < count; n += next_element()) {
        Index at = first_gate(n, step, 4);
        real i = gates[at], f = gates[at + step];
        real g = gates[at + 2 * step], o = gates[at + 3 * step];
        real gh = has_gy ? dh[n] + gy[n] : dh[n], t = bent[n];
        real gc = dc[n] + gh * o * (1 - t * t);
        d[at] = gc * g * i * (1 - i);
        d[at + step] = gc * c_before[n] * f * (1 - f);
        d[at + 2 * step] = gc * i * (1 - g * g);
        d[at + 3 * step] = gh * t * o * (1 - o);
        dc[n] = gc * f;
    }
}

// h' = n + z (h - n), where n = tanh(a + r from_h) and from_h = z + b. The gates replace `a`.
extern "C" __global__ void gru_forward(
    long long count, real* a, const real* z, real* h, real* y, real* before, real* from_h,
    long long hidden, const real* b, long long has_b
) {
    Index step = hidden;
    for (Index i = first_element(); i < count; i += next_element()) {
        Index at = first_gate(i, step, 3), gate = i % step;
        real b_r = has_b ? b[gate] : 0, b_z = has_b ? b[gate + step] : 0;
        real reset = sigmoid(a[at] + z[at] + b_r);
        real keep = sigmoid(a[at + step] + z[at + step] + b_z);
        real state = z[at + 2 * step] + (has_b ? b[gate + 2 * step] : 0);
        real fresh = tanh(a[at + 2 * step] + reset * state);
        a[at] = reset;
        a[at + step] = keep;
        a[at + 2 * step] = fresh;
        before[i] = h[i];
        from_h[i] = state;
        h[i] = y[i] = fresh + keep * (h[i] - fresh);
    }
}

// d: the gradients of what the gates get from the state, `input` of what they get from the input.
// The gradient of the state is dh + past, of which the product with the weights makes dh alone.
extern "C" __global__ void gru_backward(
    long long count, real* d, const real* dh, real* past, const real* gy, const real* gates,
    const real* before, const real* from_h, real* input, long long hidden, long long has_gy
) {
    Index step = hidden;
    for (Index i = first_element(); i < count; i += next_element()) {
        Index at = first_gate(i, step, 3);
        real reset = gates[at], keep = gates[at + step], fresh = gates[at + 2 * step];
        real g = dh[i] + past[i] + (has_gy ? gy[i] : 0);
        real d_fresh = g * (1 - keep) * (1 - fresh * fresh);
        d[at] = input[at] = d_fresh * from_h[i] * reset * (1 - reset);
        d[at + step] = input[at + step] = g * (before[i] - fresh) * keep * (1 - keep);
        d[at + 2 * step] = d_fresh * reset;
        input[at + 2 * step] = d_fresh;
        past[i] = g * keep;
    }
}
""")

Order = Sequence[tuple[slice, int]]  # the rows of each step, and how many they are
Arrays = Sequence[Array]
Weights = Sequence[Any]  # w_ih, w_hh, and b_ih, b_hh or None


# --- over all steps -------------------------------------------------------------------------------


def _forward(
    cell: str, order: Order, a: Array, w: Array, states: Arrays, kept: Arrays, *args: Any
) -> None:
    """`a` (S, gates · H) are the gates, `states` (N, H) go from step to step and start anew at
    none, `kept` (S, H) have a row for each sample of each step."""
    xp, hidden = xp_of(a), states[0].shape[1]
    z, w = xp.empty((len(states[0]), a.shape[1]), a.dtype), w.T
    for rows, n in order:
        now, each = [s[:n] for s in states], [k[rows] for k in kept]
        part = xp.matmul(now[0], w, out=z[:n])
        KERNELS.launch(f"{cell}_forward", now[0].size, a[rows], part, *now, *each, hidden, *args)


def _back(
    cell: str,
    order: Order,
    d: Array,
    w: Array,
    states: Arrays,
    gy: Array | None,
    kept: Arrays,
    *args: Any,
) -> None:
    """Fills `d` (S, gates · H), the gradients of the gates, and changes those of `states`."""
    xp, hidden = xp_of(d), states[0].shape[1]
    gy = None if gy is None else xp.ascontiguousarray(gy)
    for rows, n in reversed(order):
        now, each = [s[:n] for s in states], [k[rows] for k in kept]
        from_y = now[0] if gy is None else gy[rows]
        args_now = (from_y, *each, hidden, gy is not None, *args)
        KERNELS.launch(f"{cell}_backward", now[0].size, d[rows], *now, *args_now)
        xp.matmul(d[rows], w, out=now[0])


def _gates(x: Array, w: Array, *biases: Array | None) -> Array:
    """x wᵀ + the biases, for all steps: (S, gates · H)."""
    a = x @ w.T
    for b in biases:
        if b is not None:
            a += b
    return a


def _rows(x: Array, hidden: int, count: int) -> list[Array]:
    """`count` arrays with a row for each of x."""
    return [xp_of(x).empty((len(x), hidden), x.dtype) for _ in range(count)]


def _begun(g: Array | None, like: Array) -> Array:
    """The gradient of a last state, to work in; no gradient is one of zeros."""
    xp = xp_of(like)
    return xp.zeros(like.shape, like.dtype) if g is None else xp.array(g, order="C")


def _gradients(
    needs: Sequence[Any], x: Array, w_ih: Array, before: Array, d: Array, e: Array
) -> tuple[Array | None, tuple[Array | None, ...]]:
    """Those of x and of the weights, as far as they are needed. d: the gradients of what the gates
    get from the input, e: of what they get from the state `before`."""
    of_x, of_w_ih, of_w_hh, of_b_ih, of_b_hh = needs
    gb = d.sum(0) if of_b_ih or (of_b_hh and e is d) else None
    return d @ w_ih if of_x else None, (
        d.T @ x if of_w_ih else None,
        e.T @ before if of_w_hh else None,
        gb if of_b_ih else None,
        (gb if e is d else e.sum(0)) if of_b_hh else None,
    )


# --- the layers: what each returns of its forward pass are its results, and what `_back` needs ----


def rnn(order: Order, x: Array, h0: Array, weights: Weights, relu: bool) -> tuple[Any, Any]:
    """h' = tanh(w_ih x + b_ih + w_hh h + b_hh), or relu: (S, I), (N, H) → (S, H), (N, H)."""
    w_ih, w_hh, *biases = weights
    h, a = xp_of(x).array(h0, order="C"), _gates(x, w_ih, *biases)
    y, before = _rows(x, h.shape[1], 2)
    _forward("rnn", order, a, w_hh, [h], [y, before], relu)
    return (y, h), (y, before)


def rnn_back(
    order: Order,
    needs: Sequence[Any],
    x: Array,
    h0: Array,
    weights: Weights,
    kept: Arrays,
    gy: Array | None,
    gh: Array | None,
    relu: bool,
) -> tuple[Any, ...]:
    """The gradients of x, h0 and the weights."""
    y, before = kept
    dh, d = _begun(gh, h0), xp_of(y).empty(y.shape, y.dtype)
    _back("rnn", order, d, weights[1], [dh], gy, [y], relu)
    gx, gw = _gradients(needs, x, weights[0], before, d, d)
    return gx, dh, *gw


def lstm(order: Order, x: Array, h0: Array, c0: Array, weights: Weights) -> tuple[Any, Any]:
    """c' = f c + i g, h' = o tanh(c'): (S, I), (N, H), (N, H) → (S, H), (N, H), (N, H)."""
    w_ih, w_hh, *biases = weights
    xp = xp_of(x)
    h, c, a = xp.array(h0, order="C"), xp.array(c0, order="C"), _gates(x, w_ih, *biases)
    y, before, c_before, bent = _rows(x, h.shape[1], 4)
    _forward("lstm", order, a, w_hh, [h, c], [y, before, c_before, bent])
    return (y, h, c), (a, bent, before, c_before)


def lstm_back(
    order: Order,
    needs: Sequence[Any],
    x: Array,
    h0: Array,
    c0: Array,
    weights: Weights,
    kept: Arrays,
    gy: Array | None,
    gh: Array | None,
    gc: Array | None,
) -> tuple[Any, ...]:
    """The gradients of x, h0, c0 and the weights."""
    a, bent, before, c_before = kept
    dh, dc, d = _begun(gh, h0), _begun(gc, c0), xp_of(x).empty(a.shape, x.dtype)
    _back("lstm", order, d, weights[1], [dh, dc], gy, [a, c_before, bent])
    gx, gw = _gradients(needs, x, weights[0], before, d, d)
    return gx, dh, dc, *gw


def gru(order: Order, x: Array, h0: Array, weights: Weights) -> tuple[Any, Any]:
    """r, z = σ(w x + v h), n = tanh(w x + r · v h), h' = n + z (h - n): (S, I), (N, H) → (S, H),
    (N, H)."""
    w_ih, w_hh, b_ih, b_hh = weights
    h, a = xp_of(x).array(h0, order="C"), _gates(x, w_ih, b_ih)
    y, before, from_h = _rows(x, h.shape[1], 3)
    bias = w_ih if b_hh is None else b_hh  # which the kernel does not look at
    _forward("gru", order, a, w_hh, [h], [y, before, from_h], bias, b_hh is not None)
    return (y, h), (a, before, from_h)


def gru_back(
    order: Order,
    needs: Sequence[Any],
    x: Array,
    h0: Array,
    weights: Weights,
    kept: Arrays,
    gy: Array | None,
    gh: Array | None,
) -> tuple[Any, ...]:
    """The gradients of x, h0 and the weights."""
    xp, (a, before, from_h) = xp_of(x), kept
    dh, past = _begun(gh, h0), xp.zeros(h0.shape, h0.dtype)
    e, d = xp.empty(a.shape, a.dtype), xp.empty(a.shape, a.dtype)
    _back("gru", order, e, weights[1], [dh, past], gy, [a, before, from_h, d])
    dh += past
    gx, gw = _gradients(needs, x, weights[0], before, d, e)
    return gx, dh, *gw
