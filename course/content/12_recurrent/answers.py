"""Right and wrong answers of lesson 12. The wrong ones must be caught and named."""

import numpy as np

import tinygrad_course as tg


# %% right rnn-cell: two linear layers
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    linear = tg.nn.functional.linear
    return tg.tanh(linear(x, w_ih, b_ih) + linear(h, w_hh, b_hh))


# %% right rnn-cell: input and state side by side
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    both, w = tg.cat([x, h], 1), tg.cat([w_ih, w_hh], 1)
    return tg.tanh(tg.matmul(both, w.transpose(0, 1)) + (b_ih + b_hh))


# %% wrong rnn-cell: no tanh
# says: This is the sum alone. Without the tanh the state can grow at each step, and many steps
# together are no more than one matrix.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh


# %% wrong rnn-cell: a sigmoid
# says: The plain cell bends its sum by a tanh, which also gives negative numbers. A sigmoid
# doesn't.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).sigmoid()


# %% wrong rnn-cell: two tanh
# says: One tanh goes around the whole sum. You bend the part of the input and the part of the
# state each on its own.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih.t() + b_ih).tanh() + (h @ w_hh.t() + b_hh).tanh()


# %% wrong rnn-cell: weights not turned round
# says: A weight has a row for each output, so the batch is multiplied by its transpose: x @
# w_ih.t().
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih + b_ih + h @ w_hh + b_hh).tanh()


# %% wrong rnn-cell: one bias
# says: Both biases are added. You left out b_hh.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih.t() + b_ih + h @ w_hh.t()).tanh()


# %% wrong rnn-cell: the input takes both weights
# says: The second matrix is for the state. You multiply it with the input again, so nothing is
# remembered.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih.t() + b_ih + x @ w_hh.t() + b_hh).tanh()


# %% wrong rnn-cell: the state kept as a constant
# says: The values are right, but you detached h: no gradient goes back to earlier steps.
def rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh):
    return (x @ w_ih.t() + b_ih + h.detach() @ w_hh.t() + b_hh).tanh()


# %% right predict-shapes: as lists
shapes = {
    "h of RNN(5, 4, num_layers=2)": [2, 3, 4],
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": [1, 7, 4],
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% right predict-shapes: asked the engine
x, nn = tg.zeros(7, 3, 5), tg.nn
both = nn.GRU(5, 4, num_layers=2, bidirectional=True)
deep = nn.LSTM(5, 4, num_layers=2, bidirectional=True)
y, (_, c) = nn.LSTM(5, 4, batch_first=True)(x)
shapes = {
    "h of RNN(5, 4, num_layers=2)": nn.RNN(5, 4, num_layers=2)(x)[1].shape,
    "y of GRU(5, 4, bidirectional=True)": nn.GRU(5, 4, bidirectional=True)(x)[0].shape,
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": both(x)[1].shape,
    "y of LSTM(5, 4, batch_first=True)": y.shape,
    "c of LSTM(5, 4, batch_first=True)": c.shape,
    "weight_ih_l0 of GRU(5, 4)": nn.GRU(5, 4).weight_ih_l0.shape,
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": deep.weight_ih_l1.shape,
}


# %% wrong predict-shapes: batch_first turns the state as well
# says: batch_first changes the input and y. The states h and c keep their order: layers and
# directions, batch, size.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (7, 1, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: batch and steps changed places in y
# says: With batch_first, y has the same first two axes as the input, whatever they mean. The input
# is (7, 3, 5), so y begins with 7, 3.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (3, 7, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 3, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: directions added up in y
# says: The outputs of both directions stand side by side, so the last axis of y is twice the size
# of the state.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 4),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: directions left out of h
# says: Each direction has a last state of its own: two layers in two directions are four.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (2, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: directions side by side in h
# says: In y the directions stand side by side. In h they are separate entries of the first axis,
# each of the size of one state.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (2, 3, 8),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: one block of rows
# says: The weights of all gates lie below each other: 3 blocks of 4 rows in a GRU, 4 blocks in an
# LSTM.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (4, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (4, 8),
}


# %% wrong predict-shapes: four blocks in a GRU
# says: An LSTM has four blocks of rows. A GRU has three: r, z and n.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (16, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 8),
}


# %% wrong predict-shapes: layer 1 reads the input
# says: The second layer reads what the first one puts out, in both directions: 2 · 4 columns.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 5),
}


# %% wrong predict-shapes: layer 1 reads one direction
# says: The second layer reads the outputs of both directions, so its weights have 8 columns.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (12, 5),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (16, 4),
}


# %% wrong predict-shapes: weights as (inputs, rows)
# says: Weights are stored with a row for each output and a column for each input, as in nn.Linear.
shapes = {
    "h of RNN(5, 4, num_layers=2)": (2, 3, 4),
    "y of GRU(5, 4, bidirectional=True)": (7, 3, 8),
    "h of GRU(5, 4, num_layers=2, bidirectional=True)": (4, 3, 4),
    "y of LSTM(5, 4, batch_first=True)": (7, 3, 4),
    "c of LSTM(5, 4, batch_first=True)": (1, 7, 4),
    "weight_ih_l0 of GRU(5, 4)": (5, 12),
    "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)": (8, 16),
}


# %% right bptt: by place
def bptt(w, states, grads):
    grad_w, delta = 0 * w, 0 * states[0]
    for t in range(len(grads), 0, -1):
        delta = grads[t - 1] + (w.T @ delta if t < len(grads) else 0)
        grad_w = grad_w + delta[:, None] * states[t - 1][None, :]
    return grad_w, delta @ w


# %% right bptt: by powers of w
def bptt(w, states, grads):
    power, steps = np.linalg.matrix_power, len(grads)
    deltas = [sum(power(w.T, s - t) @ grads[s] for s in range(t, steps)) for t in range(steps)]
    grad_w = sum(np.outer(delta, before) for delta, before in zip(deltas, states))
    return grad_w, w.T @ deltas[0]


# %% right bptt: by the engine
def bptt(w, states, grads):
    w, h0 = tg.tensor(w, requires_grad=True), tg.tensor(states[0], requires_grad=True)
    h, loss = h0, 0
    for before, state, g in zip(states, states[1:], grads):
        x = tg.tensor(state) - w.detach() @ tg.tensor(before)
        h = w @ h + x
        loss = loss + (h * tg.tensor(g)).sum()
    loss.backward()
    return w.grad.numpy(), h0.grad.numpy()


# %% wrong bptt: w not turned round
# says: On the way back the gradient is multiplied by the transpose of w: the state went through w,
# its gradient goes through w.T.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        delta = g + back
        grad_w += np.outer(delta, before)
        back = w @ delta
    return grad_w, back


# %% wrong bptt: the state after the step
# says: The gradient of w at a step is made with the state that this step read, h_(t-1). You took
# the one it wrote.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[1:]), reversed(grads)):
        delta = g + back
        grad_w += np.outer(delta, before)
        back = w.T @ delta
    return grad_w, back


# %% wrong bptt: only the direct parts
# says: Each step uses only its own g. What comes back from the next step is missing: delta = g +
# w.T @ delta.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        delta = g
        grad_w += np.outer(delta, before)
        back = w.T @ delta
    return grad_w, back


# %% wrong bptt: only what comes from the end
# says: You start with the gradient of the last step and forget that the loss may look at the
# earlier ones as well: add g at each step.
def bptt(w, states, grads):
    grad_w, delta = np.zeros_like(w), grads[-1]
    for before in reversed(states[:-1]):
        grad_w += np.outer(delta, before)
        delta = w.T @ delta
    return grad_w, delta


# %% wrong bptt: w's gradient of one step
# says: The same w serves every step, so its gradient is a sum. You keep only what one step
# contributed.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        delta = g + back
        grad_w = np.outer(delta, before)
        back = w.T @ delta
    return grad_w, back


# %% wrong bptt: outer product turned round
# says: Entry (i, j) of w leads from entry j of the old state to entry i of the new one:
# np.outer(delta, before), in this order.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        delta = g + back
        grad_w += np.outer(before, delta)
        back = w.T @ delta
    return grad_w, back


# %% wrong bptt: one step short of h_0
# says: You return the delta of step 1. Between h_1 and h_0 there is one more product with w.T.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        delta = g + back
        grad_w += np.outer(delta, before)
        back = w.T @ delta
    return grad_w, delta


# %% wrong bptt: from the front
# says: You walk from the first step to the last. A gradient is complete only when all later steps
# have run.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(states[:-1], grads):
        delta = g + back
        grad_w += np.outer(delta, before)
        back = w.T @ delta
    return grad_w, back


# %% wrong bptt: gradients written into the list
# says: The result is right, but you changed the arrays that were given: `g += back` writes into
# the caller's list. Make a new array.
def bptt(w, states, grads):
    grad_w, back = np.zeros_like(w), np.zeros_like(states[0])
    for before, g in zip(reversed(states[:-1]), reversed(grads)):
        g += back
        delta = g
        grad_w += np.outer(delta, before)
        back = w.T @ delta
    return grad_w, back


# %% right vanish: a loop that stops
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths, faint[kind] = reach(network(kind)), None
    for back in range(60):
        if lengths[back] * 1000 < lengths[0]:
            faint[kind] = back
            break


# %% right vanish: as arrays
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = np.array(reach(network(kind)))
    below = np.flatnonzero(lengths / lengths[0] < 1e-3)
    faint[kind] = int(below[0]) if below.size else None


# %% wrong vanish: counted from one
# says: The last step is 0 steps back, as enumerate counts. You count from 1.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network(kind))
    below = [back for back, length in enumerate(lengths) if length < lengths[0] / 1000]
    faint[kind] = below[0] + 1 if below else None


# %% wrong vanish: a hundredth
# says: You looked for a hundredth. A thousandth is asked for.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network(kind))
    below = [back for back, length in enumerate(lengths) if length < lengths[0] / 100]
    faint[kind] = below[0] if below else None


# %% wrong vanish: below 0.001 itself
# says: You compare with 0.001. The three networks start from different lengths, so compare with a
# thousandth of each one's own first entry.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network(kind))
    below = [back for back, length in enumerate(lengths) if length < 1 / 1000]
    faint[kind] = below[0] if below else None


# %% wrong vanish: the list turned round
# says: Your list begins with the first step of the sequence, 59 steps back. reach gives the last
# step first already.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network(kind))[::-1]
    below = [back for back, length in enumerate(lengths) if length < lengths[-1] / 1000]
    faint[kind] = below[0] if below else None


# %% wrong vanish: 60 for never
# says: The open LSTM never falls below a thousandth. That is None, and not 60, which would say
# that it did after 60 steps.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network(kind))
    below = [back for back, length in enumerate(lengths) if length < lengths[0] / 1000]
    faint[kind] = below[0] if below else 60


# %% wrong vanish: a fixed network
# says: You measured the plain RNN three times: call network(kind) with the kind of each round.
faint = {"RNN": ..., "LSTM": ..., "LSTM, open": ...}
for kind in faint:
    lengths = reach(network("RNN"))
    below = [back for back, length in enumerate(lengths) if length < lengths[0] / 1000]
    faint[kind] = below[0] if below else None


# %% right lstm-cell: gate by gate from blocks of rows
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    (h, c), size = state, len(b_ih) // 4
    bends = (tg.sigmoid, tg.sigmoid, tg.tanh, tg.sigmoid)
    gates = []
    for k, bend in enumerate(bends):
        rows = slice(k * size, (k + 1) * size)
        gates.append(bend(x @ w_ih[rows].t() + h @ w_hh[rows].t() + b_ih[rows] + b_hh[rows]))
    i, f, g, o = gates
    c = f * c + i * g
    return o * c.tanh(), c


# %% right lstm-cell: input and state side by side, gates as an axis
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    z = tg.nn.functional.linear(tg.cat([x, h], 1), tg.cat([w_ih, w_hh], 1), b_ih + b_hh)
    i, f, g, o = z.view(len(x), 4, -1).unbind(1)
    new_c = tg.sigmoid(i) * tg.tanh(g) + tg.sigmoid(f) * c
    new_h = tg.tanh(new_c) * tg.sigmoid(o)
    return (new_h, new_c)


# %% wrong lstm-cell: the candidate as a sigmoid
# says: g is a tanh: it says what is written, and that may be negative. Only the gates i, f and o
# are sigmoids.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.sigmoid()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: order i, f, o, g
# says: The last two blocks are taken in the wrong order. It is i, f, g, o.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, o, g = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: order f, i, g, o
# says: The first two blocks are taken in the wrong order. It is i, f, g, o.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    f, i, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: h without the tanh
# says: What goes out is o times the tanh of the new c. You left the tanh away.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c, c


# %% wrong lstm-cell: h from the old c
# says: h is made of the new c. You used the one of the step before.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    h = o.sigmoid() * c.tanh()
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return h, c


# %% wrong lstm-cell: h alone
# says: You return h alone. The next step needs c as well: return both, (h, c).
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    return o.sigmoid() * (f.sigmoid() * c + i.sigmoid() * g.tanh()).tanh()


# %% wrong lstm-cell: c first
# says: You return (c, h). The order is (h, c), in the state that comes in as well.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return c, o.sigmoid() * c.tanh()


# %% wrong lstm-cell: the state taken apart the wrong way round
# says: The state that comes in is (h, c), h first.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    c, h = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: 1 - i to forget
# says: Keeping and writing have a gate each here. You made the forget gate of the input gate, as a
# GRU does.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, _, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = (1 - i.sigmoid()) * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: no forget gate
# says: The old c is multiplied by f before something is added. You keep all of it.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, _, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: the batch cut instead of the gates
# says: chunk(4) cuts along axis 0, the batch. The gates stand side by side: dim=1.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


# %% wrong lstm-cell: gates not bent
# says: i, f and o go through a sigmoid before they are used as shares.
def lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh):
    h, c = state
    i, f, g, o = (x @ w_ih.t() + b_ih + h @ w_hh.t() + b_hh).chunk(4, dim=1)
    c = f * c + i * g.tanh()
    return o * c.tanh(), c


# %% right repair-pieces: detached when it comes in
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        h = None if h is None else h.detach()
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% right repair-pieces: detached in place, inputs split
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, losses = tg.optim.SGD(net.parameters(), lr=lr), []
    state = tg.zeros(1, xs.shape[1], net.hidden_size)
    for x, target in zip(xs.split(size), targets.split(size)):
        optimizer.zero_grad()
        y, state = net(x, state)
        loss = tg.nn.functional.mse_loss(y, target)
        loss.backward()
        optimizer.step()
        state.detach_()
        losses.append(float(loss))
    return losses


# %% right repair-pieces: losses as tensors without a graph
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        h = h.detach()
    return losses


# %% wrong repair-pieces: the losses still hold graphs
# says: The training is right, but the list holds tensors, and with each of them a graph. Keep
# loss.item().
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        h = h.detach()
    return losses


# %% wrong repair-pieces: retain_graph
# says: retain_graph=True lets the second backward begin, but it still walks into the pieces
# before, whose weights have been changed by the step since. Cut h off with detach().
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong repair-pieces: each piece starts from nothing
# says: The error is gone, and so is the memory: each piece begins with a state of zeros. Carry the
# values of h on, and leave its history behind.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, losses = tg.optim.SGD(net.parameters(), lr=lr), []
    for start in range(0, len(xs), size):
        y, _ = net(xs[start : start + size])
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong repair-pieces: the loss detached from the state
# says: You detach y before the loss, so backward has nowhere to go. The border between two pieces
# is h.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        y = y.detach()
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        h = h.detach()
    return losses


# %% wrong repair-pieces: cut at every step
# says: You feed one step at a time and detach after each: the gradient doesn't go back within a
# piece any more. Detach once at its end.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        outputs = []
        for x in xs[start : start + size]:
            h = None if h is None else h.detach()
            y, h = net(x.unsqueeze(0), h)
            outputs.append(y)
        y = tg.cat(outputs)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        h = h.detach()
    return losses


# %% wrong repair-pieces: one step for the whole sequence
# says: You add up all losses and step once at the end. Each piece is to have its own backward and
# its own step.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        losses.append(((y - targets[start : start + size]) ** 2).mean())
    optimizer.zero_grad()
    sum(losses).backward()
    optimizer.step()
    return [loss.item() for loss in losses]


# %% wrong repair-pieces: the rest left out
# says: The last piece may be shorter than the others. Your loop leaves it out.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs) - size + 1, size):
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        h = h.detach()
    return losses


# %% wrong repair-pieces: gradients never reset
# says: Without zero_grad the gradients of all pieces before are still in the step.
def train_in_pieces(net, xs, targets, size, lr):
    optimizer, h, losses = tg.optim.SGD(net.parameters(), lr=lr), None, []
    for start in range(0, len(xs), size):
        y, h = net(xs[start : start + size], h)
        loss = ((y - targets[start : start + size]) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        h = h.detach()
    return losses


# %% right last-step: a loop
def last_step(y, lengths):
    return tg.stack([row[int(n) - 1] for row, n in zip(y, lengths)])


# %% right last-step: gather
def last_step(y, lengths):
    places = (lengths - 1).view(-1, 1, 1).expand(-1, 1, y.shape[2])
    return y.gather(1, places).squeeze(1)


# %% wrong last-step: the last column for all
# says: y[:, -1] is the last step of the tensor. For a shorter sequence that is padding.
def last_step(y, lengths):
    return y[:, -1]


# %% wrong last-step: one step too far
# says: Places count from 0: a sequence of length 3 ends at place 2, lengths - 1.
def last_step(y, lengths):
    return y[tg.arange(len(y)), lengths.clamp(max=y.shape[1] - 1)]


# %% wrong last-step: places of all for each
# says: y[:, lengths - 1] takes every sequence's place from every sequence: (N, N, H). Give the
# rows as a list as well: tg.arange(len(y)).
def last_step(y, lengths):
    return y[:, lengths - 1]


# %% wrong last-step: squeezed
# says: squeeze() without a dim removes every axis of size 1: the batch of one, and the state of
# one number.
def last_step(y, lengths):
    return y[tg.arange(len(y)), lengths - 1].squeeze()


# %% wrong last-step: steps first
# says: You take the first axis for the steps. Here the batch comes first: (N, T, H).
def last_step(y, lengths):
    return y.transpose(0, 1)[tg.arange(len(y)), (lengths - 1).clamp(max=len(y) - 1)]


# %% wrong last-step: the mean of the real steps
# says: This is the mean over the real steps of each sequence. The last of them is asked for.
def last_step(y, lengths):
    return tg.stack([row[: int(n)].mean(0) for row, n in zip(y, lengths)])


# %% wrong last-step: numbers without a graph
# says: The values are right, but they left the graph on the way through lists: nothing can be
# learned through them.
def last_step(y, lengths):
    rows = [y[i, int(n) - 1].tolist() for i, n in enumerate(lengths)]
    return tg.tensor(rows, requires_grad=True)
