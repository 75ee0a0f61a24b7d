"""What the checks of lesson 12 try.

Each case hands the answer small tensors and reports what came back. No expected value stands here:
the lesson's reference answer runs on the same inputs, and the reports are compared.
"""

import numpy as np

import tinygrad_course as tg
from course.checks import Exercise
from tinygrad_course import nn


def normal(rng, *shape, requires_grad=False):
    """A tensor of standard normal numbers."""
    values = rng.standard_normal(shape).astype(np.float32)
    return tg.tensor(values, requires_grad=requires_grad)


# --- One step -------------------------------------------------------------------------------------

rnn_cell = Exercise(
    "rnn-cell",
    answer="rnn_cell",
    title="One step of a recurrent network",
    points=5,
    difficulty=1,
    hints=(
        "Two linear layers, one for the input and one for the state. Their sum goes through one "
        "tanh.",
        "Weights have a row for each output. A batch (N, I) times the weights turned round, (I, "
        "H), is (N, H): `x @ w_ih.t()`.",
        "All four parts are added before the tanh: `(x @ w_ih.t() + b_ih + h @ w_hh.t() + "
        "b_hh).tanh()`.",
    ),
)


def weights(rng, inputs, hidden, gates=1):
    shapes = (gates * hidden, inputs), (gates * hidden, hidden), (gates * hidden,)
    return [normal(rng, *shape) for shape in (*shapes, shapes[2])]


@rnn_cell.case("one sample", points=1)
def one_sample(answer, rng):
    return answer(normal(rng, 1, 2), normal(rng, 1, 3), *weights(rng, 2, 3))


@rnn_cell.case("a batch, as many inputs as states", points=1)
def square(answer, rng):
    return answer(normal(rng, 4, 3), normal(rng, 4, 3), *weights(rng, 3, 3))


@rnn_cell.case("gradients reach the state and all weights", points=3)
def cell_gradients(answer, rng):
    leaves = [normal(rng, 2, 3), normal(rng, 2, 3), *weights(rng, 3, 3)]
    for leaf in leaves:
        leaf.requires_grad_()
    answer(*leaves).sum().backward()
    return [leaf.grad for leaf in leaves]


# --- Predict shapes -------------------------------------------------------------------------------

predict_shapes = Exercise(
    "predict-shapes",
    answer="shapes",
    title="Predict the shapes",
    points=7,
    difficulty=2,
    hints=(
        "The first axis of `h` and `c` is the number of layers times the number of directions, "
        "and `batch_first` doesn't touch it.",
        "The last axis of `y` is the size of the state, for each direction.",
        "Weights have a block of 4 rows for each gate: 3 blocks in a GRU, 4 in an LSTM. The "
        "columns of layer 1 are what layer 0 puts out, in all its directions.",
    ),
)


def shape_of(key):
    def seen(shapes, rng):
        return list(shapes[key])

    return seen


for title, key in {
    "the last state of two layers": "h of RNN(5, 4, num_layers=2)",
    "the outputs of two directions": "y of GRU(5, 4, bidirectional=True)",
    "two layers and two directions": "h of GRU(5, 4, num_layers=2, bidirectional=True)",
    "batch_first: the outputs": "y of LSTM(5, 4, batch_first=True)",
    "batch_first: the state": "c of LSTM(5, 4, batch_first=True)",
    "the weights of a GRU": "weight_ih_l0 of GRU(5, 4)",
    "the second layer's weights": "weight_ih_l1 of LSTM(5, 4, num_layers=2, bidirectional=True)",
}.items():
    predict_shapes.case(title, points=1)(shape_of(key))


# --- Back through time ----------------------------------------------------------------------------

bptt = Exercise(
    "bptt",
    answer="bptt",
    title="Back through time by hand",
    points=10,
    difficulty=3,
    hints=(
        "Go through the steps from the last to the first and keep one vector: what comes back "
        "from the step behind. For the last step it is zero.",
        "At step t: `delta = g + back`. It adds `np.outer(delta, h_before)` to the gradient of "
        "w, where `h_before` is the state that this step read.",
        "Then `back = w.T @ delta`. What is in `back` after step 1 is the gradient of h_0.",
        "The states that are read are all but the last: `zip(reversed(states[:-1]), "
        "reversed(grads))` pairs each with the gradient of its step.",
    ),
)


def through_time(answer, rng, steps, size, direct=None):
    w = rng.standard_normal((size, size))
    states = [rng.standard_normal(size)]
    for _ in range(steps):
        states.append(w @ states[-1] + rng.standard_normal(size))
    grads = [rng.standard_normal(size) if direct in (None, t) else 0 * w[0] for t in range(steps)]
    given = {"w": w.copy(), "states": [h.copy() for h in states], "grads": list(grads)}
    grad_w, grad_h = answer(w, states, grads)
    return {"given": given, "gradient of w": grad_w, "gradient of h_0": grad_h}


@bptt.case("one step", points=1)
def one_step(answer, rng):
    return through_time(answer, rng, 1, 2)


@bptt.case("the loss looks at the last of three steps", points=2)
def at_last(answer, rng):
    return through_time(answer, rng, 3, 2, direct=2)


@bptt.case("the loss looks at a step in the middle", points=1)
def at_middle(answer, rng):
    return through_time(answer, rng, 3, 2, direct=1)


@bptt.property("the loss looks at all steps", points=3, draw=lambda st: st.integers(1, 4))
def at_all(answer, rng, size):
    return through_time(answer, rng, size + 1, 1 + size % 3)


@bptt.case("what is given stays as it was", points=3)
def untouched(answer, rng):
    w, states = rng.standard_normal((2, 2)), [rng.standard_normal(2) for _ in range(4)]
    grads = [rng.standard_normal(2) for _ in range(3)]
    result = answer(w, states, grads)
    return {"result": list(result), "w": w, "states": states, "grads": grads}


# --- Experiment: vanishing ------------------------------------------------------------------------

vanish = Exercise(
    "vanish",
    answer="faint",
    title="Measure how far a gradient reaches",
    points=7,
    difficulty=2,
    hints=(
        "`lengths = reach(network(kind))` is a list of 60 numbers; `lengths[0]` belongs to the "
        "last step, 0 steps back.",
        "Look for the first place whose number is less than `lengths[0] / 1000`. The place is "
        "the number of steps back.",
        "`next((k for k, n in enumerate(lengths) if n < lengths[0] / 1000), None)`",
    ),
)


@vanish.case("the plain RNN", points=2)
def faint_rnn(faint, rng):
    return faint["RNN"]


@vanish.case("a fresh LSTM", points=3)
def faint_lstm(faint, rng):
    return faint["LSTM"]


@vanish.case("an LSTM with an open forget gate", points=2)
def faint_open(faint, rng):
    # None is what an answer without a measurement holds as well: all three belong together.
    return [faint["LSTM, open"], faint["LSTM"]]


# --- LSTM -----------------------------------------------------------------------------------------

lstm_cell = Exercise(
    "lstm-cell",
    answer="lstm_cell",
    title="One step of an LSTM",
    points=10,
    difficulty=2,
    hints=(
        "Begin as in `rnn_cell`, without the tanh. The result is (N, 4 H): the four gates stand "
        "side by side.",
        "`.chunk(4, dim=1)` takes it apart, in the order i, f, g, o. Then i, f and o go through "
        "`sigmoid()` and g through `tanh()`.",
        "The new c is `f * c + i * g`, the new h is `o * c.tanh()` with the new c.",
        "Return the tuple `(h, c)`, h first.",
    ),
)


def cell_step(answer, rng, batch, inputs, hidden):
    state = normal(rng, batch, hidden), normal(rng, batch, hidden)
    return answer(normal(rng, batch, inputs), state, *weights(rng, inputs, hidden, gates=4))


@lstm_cell.case("from a state of zeros", points=2)
def from_zeros(answer, rng):
    state = tg.zeros(2, 3), tg.zeros(2, 3)
    return list(answer(normal(rng, 2, 3), state, *weights(rng, 3, 3, gates=4)))


@lstm_cell.case("from any state", points=2)
def from_any(answer, rng):
    return list(cell_step(answer, rng, 4, 4, 4))


@lstm_cell.property("other sizes", points=1, draw=lambda st: st.integers(1, 4))
def other_sizes(answer, rng, size):
    return list(cell_step(answer, rng, 1 + size % 2, 2, size))


@lstm_cell.case(
    "a tuple that the next step takes",
    points=2,
    hint="Return `h, c` as a tuple: by that `over_time` tells the state of an LSTM from that of an "
    "RNN.",
)
def chained(answer, rng):
    state, parts = (tg.zeros(1, 2), tg.zeros(1, 2)), weights(rng, 2, 2, gates=4)
    for _ in range(3):
        state = answer(normal(rng, 1, 2), state, *parts)
    return {"kind": type(state).__name__, "state": list(state)}


@lstm_cell.case("gradients reach the state and all weights", points=3)
def lstm_gradients(answer, rng):
    leaves = [normal(rng, 2, 3) for _ in range(3)] + weights(rng, 3, 3, gates=4)
    for leaf in leaves:
        leaf.requires_grad_()
    x, h, c, *parts = leaves
    new_h, new_c = answer(x, (h, c), *parts)
    (new_h.sum() + 2 * new_c.sum()).backward()
    return [leaf.grad for leaf in leaves]


# --- Repair: pieces of a sequence -----------------------------------------------------------------

repair_pieces = Exercise(
    "repair-pieces",
    answer="train_in_pieces",
    title="Repair: a long sequence in pieces",
    points=9,
    difficulty=3,
    hints=(
        "The error comes from the second `backward`. Which part of the graph does it walk a "
        "second time? Look at what `h` carries from piece to piece.",
        "The values of `h` should go on, its history should not. Lesson 05 has the word for "
        "that: `detach`.",
        "`h = h.detach()` at the end of the loop. And a loss in the list is a number: "
        "`loss.item()`.",
    ),
)


def pieces(answer, rng, steps, size, lr, kind=nn.RNN):
    tg.manual_seed(int(rng.integers(1000)))
    net = kind(2, 3)
    losses = answer(net, normal(rng, steps, 1, 2), normal(rng, steps, 1, 3), size, lr)
    return {
        "losses": [float(loss) for loss in losses],
        "hold a graph": [getattr(loss, "grad_fn", None) is not None for loss in losses],
        "weights": [p.detach() for p in net.parameters()],
    }


@repair_pieces.case("one piece, and losses that hold no graph", points=1)
def one_piece(answer, rng):
    return pieces(answer, rng, 3, 3, 0.1)


@repair_pieces.case("the state goes on from piece to piece", points=2)
def state_goes_on(answer, rng):
    return pieces(answer, rng, 6, 2, 0.0)["losses"]


@repair_pieces.case("a step of SGD after each piece", points=2)
def step_each(answer, rng):
    return pieces(answer, rng, 6, 3, 0.5)


@repair_pieces.case("a last piece that is shorter", points=2)
def shorter_last(answer, rng):
    return pieces(answer, rng, 7, 3, 0.5)


@repair_pieces.case("within a piece the gradient goes back through all steps", points=2)
def through_steps(answer, rng):
    return pieces(answer, rng, 8, 4, 1.0, nn.GRU)


# --- The last real step ---------------------------------------------------------------------------

last_step = Exercise(
    "last-step",
    answer="last_step",
    title="The last real step",
    points=8,
    difficulty=2,
    hints=(
        "A sequence of length 3 has its last step at place 2.",
        "Two lists of the same length pick one place each (lesson 03): `y[rows, steps]` is "
        "`y[rows[0], steps[0]]`, `y[rows[1], steps[1]]` and so on.",
        "The rows are `tg.arange(len(y))`, the steps `lengths - 1`.",
    ),
)


def ends(answer, rng, lengths, steps=5):
    y = normal(rng, len(lengths), steps, 3, requires_grad=True)
    picked = answer(y, tg.tensor(lengths))
    (picked * normal(rng, *picked.shape)).sum().backward()
    return {"lengths": lengths, "picked": picked, "gradient of y": y.grad}


@last_step.case("different lengths", points=2)
def different(answer, rng):
    return ends(answer, rng, [2, 4, 1, 3])


@last_step.case("the longest fills the batch", points=1)
def full(answer, rng):
    return ends(answer, rng, [5, 3])


@last_step.case("a batch of one", points=1)
def batch_of_one(answer, rng):
    return ends(answer, rng, [3])


@last_step.case("as many sequences as steps", points=2)
def as_many(answer, rng):
    return ends(answer, rng, [1, 3, 2], steps=3)


@last_step.case("one number per step", points=2)
def one_number(answer, rng):
    y = normal(rng, 3, 4, 1)
    return answer(y, tg.tensor([2, 4, 1]))
