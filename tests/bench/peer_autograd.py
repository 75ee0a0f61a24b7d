"""The workloads in autograd, which traces NumPy calls and has no layers.

Weights and data are drawn by our engine, so that the results can be compared.
"""

import time
from functools import partial
from importlib import metadata

import autograd.numpy as np
from autograd import make_vjp, value_and_grad
from autograd.builtins import tuple as traced_tuple
from autograd.scipy.signal import convolve

import tinygrad_course as tg
from tinygrad_course import manual_seed

from . import workloads as W

__all__ = ["PROGRAMS", "__version__", "manual_seed"]
__version__ = metadata.version("autograd")


def numbers(*tensors):
    return [t.detach().numpy().copy() for t in tensors]


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 0.5 * (np.tanh(0.5 * x) + 1)


def conv(x, w):
    # Its convolution is a true one, which turns the kernel.
    return convolve(
        *(x, w[:, :, ::-1, ::-1]), axes=([2, 3], [2, 3]), dot_axes=([1], [1]), mode="valid"
    )


def pool(x):
    n, c, h, w = x.shape
    return np.max(np.max(x.reshape(n, c, h // 2, 2, w // 2, 2), axis=5), axis=3)


def dense(weights, x, activation=relu):
    *hidden, last = zip(weights[::2], weights[1::2], strict=True)
    for w, b in hidden:
        x = activation(np.dot(x, w.T) + b)
    return np.dot(x, last[0].T) + last[1]


def convolutional(weights, x):
    for w, b in (weights[:2], weights[2:4]):
        x = pool(relu(conv(x, w) + b.reshape(1, -1, 1, 1)))
    return dense(weights[4:], x.reshape(len(x), -1))


def recurrent(kind, weights, x):
    w_ih, w_hh, b_ih, b_hh, *head = weights
    h = c = np.zeros((32, 128), np.float32)
    at = [slice(k * 128, (k + 1) * 128) for k in range(4)]
    for inputs in x:
        a, b = np.dot(inputs, w_ih.T) + b_ih, np.dot(h, w_hh.T) + b_hh
        if kind == "RNNCell":
            h = np.tanh(a + b)
        elif kind == "GRU":
            r, z = (sigmoid(a[:, k] + b[:, k]) for k in at[:2])
            n = np.tanh(a[:, at[2]] + r * b[:, at[2]])
            h = n + z * (h - n)
        else:
            a = a + b
            i, f, o = (sigmoid(a[:, at[k]]) for k in (0, 1, 3))
            c = f * c + i * np.tanh(a[:, at[2]])
            h = o * np.tanh(c)
    return dense(head, h)


def cross_entropy(scores, y):
    m = scores - np.max(scores, axis=1, keepdims=True)
    log_p = m - np.log(np.sum(np.exp(m), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(y)), y])


def mse(y, wanted):
    return np.mean((y - wanted) ** 2)


class Sgd:
    """v = momentum * v + g;  p -= lr * v"""

    def __init__(self, momentum=0.0):
        self.momentum, self.v = np.float32(momentum), {}

    def __call__(self, parameters, gradients):
        for k, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
            if self.momentum:
                g = self.v[k] = self.momentum * self.v[k] + g if k in self.v else g
            p -= np.float32(0.01) * g


class Adam:
    """m, v: averages of g and g²;  p -= lr * m / (sqrt(v) + eps), both corrected for their start"""

    def __init__(self):
        self.m, self.v, self.steps = {}, {}, 0

    def __call__(self, parameters, gradients):
        self.steps += 1
        c1, c2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for k, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
            m = self.m.setdefault(k, np.zeros_like(p))
            v = self.v.setdefault(k, np.zeros_like(p))
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            p -= np.float32(1e-3 / c1) * m / (np.sqrt(v) * np.float32(c2**-0.5) + np.float32(1e-8))


def clipped(gradients, limit):
    norm = np.sqrt(sum(float(np.vdot(g, g)) for g in gradients))
    return [g * np.float32(min(1.0, limit / (norm + 1e-6))) for g in gradients]


def training(forward, task, optimizer, loss_function=cross_entropy, clip=None):
    parameters, (x, y), last = numbers(*task.parameters), numbers(task.x, task.y), []
    slopes = value_and_grad(lambda parameters: loss_function(forward(parameters, x), y))

    def step():
        loss, gradients = slopes(parameters)
        optimizer(parameters, clipped(gradients, clip) if clip is not None else gradients)
        last[:] = [loss]

    return step, lambda: [float(last[0]), float(np.abs(parameters[0]).mean())]


def recurrence(kind):
    forward = partial(recurrent, kind)
    return training(forward, W.recurrent_task(tg, kind), Adam(), clip=1.0)


def regression(*sizes):
    return training(partial(dense, activation=np.tanh), W.regression_task(tg, *sizes), Sgd(), mse)


def lenet_forward():
    task, last = W.lenet_task(tg), []
    weights, (x,) = numbers(*task.parameters), numbers(task.x)

    def step():
        last[:] = [convolutional(weights, x)]

    return step, lambda: [float(np.abs(last[0]).mean())]


def adam_alone():
    parameters, optimizer = W.many_parameters(tg), Adam()
    p, g = numbers(*parameters), numbers(*(p.grad for p in parameters))
    return lambda: optimizer(p, g), lambda: p[7].tolist()


def ops():
    (x,), last, spent = numbers(tg.randn(10)), [], []

    def traced(x):
        start = time.process_time()
        for _ in range(500):
            y = x * 2 + 1
        spent[:] = [time.process_time() - start]
        return y

    def step():
        last[:] = [make_vjp(traced)(x)[1]]
        return spent[0]

    return step, lambda: last[0].tolist()


def chain(nodes, whole):
    (x,), ones, last = numbers(tg.randn(10)), np.ones(10, np.float32), []

    def traced(y):
        for _ in range(nodes // 2):
            y = y * 1.0001 + 0.1
        return y

    def step():
        start = time.process_time()
        pull, _ = make_vjp(traced)(x)
        built = time.process_time()
        last[:] = [pull(ones)]
        return time.process_time() - (start if whole else built)

    return step, lambda: last[0].tolist()


def function(f, shapes, *gradients):
    inputs, gradients = (numbers(*t) for t in W.tensors(tg, shapes, gradients))
    pulled = gradients[0] if len(gradients) == 1 else tuple(gradients)
    last = []

    def step():
        last[:] = make_vjp(lambda inputs: f(*inputs))(inputs)[0](pulled)

    return step, lambda: [float(np.abs(g).mean()) for g in last]


def square(f):
    return function(f, [(1000, 1000)], (1000, 1000))


def batch_norm(x):
    d = x - np.mean(x, axis=(0, 2, 3), keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=(0, 2, 3), keepdims=True) + np.float32(1e-5))


def conv_norm():
    layers = W.conv_norm_layers(tg)
    weights = numbers(layers[0].weight, layers[3].weight)

    def run(x):
        for w in weights:
            padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
            x = relu(batch_norm(conv(padded, w)))
        return x

    return function(run, [(16, 64, 16, 16)], (16, 64, 16, 16))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def layer_norm(x, w, b):
    d = x - np.mean(x, axis=1, keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + np.float32(1e-5)) * w + b


def sums(x):
    return traced_tuple((np.sum(x, axis=0), np.sum(x, axis=1)))


def gather():
    i, rows = tg.randint(0, 1000, (1000, 100)).numpy(), np.arange(1000)[:, None]
    return function(lambda x: x[rows, i], [(1000, 1000)], (1000, 100))


def embedding():
    i = tg.randint(0, 10_000, (32, 50)).numpy()
    return function(lambda w: w[i], [(10_000, 64)], (32, 50, 64))


PROGRAMS = {
    "W1": lambda: training(convolutional, W.lenet_task(tg), Sgd(0.9)),
    "W1c": lambda: training(convolutional, W.lenet_task(tg, 3), Sgd(0.9)),
    "W1x": lenet_forward,
    "W2": lambda: training(dense, W.mlp_task(tg), Adam()),
    "W3": lambda: recurrence("LSTM"),
    "W3b": lambda: recurrence("GRU"),
    "W3c": lambda: recurrence("RNNCell"),
    "W4": conv_norm,
    "W5a": ops,
    "W5b": lambda: chain(1000, whole=False),
    "W5c": lambda: regression(9, 10),
    "W5d": adam_alone,
    "W5e": lambda: regression(2, 16, 16, 1),
    "W6a": lambda: square(sigmoid),
    "W6b": lambda: square(softmax),
    "W6c": lambda: function(sums, [(1000, 1000)], (1000,), (1000,)),
    "W6d": lambda: function(layer_norm, [(1000, 1000), (1000,), (1000,)], (1000, 1000)),
    "W6e": lambda: square(lambda x: relu(x * 2 + 1) * x),
    "W7b": gather,
    "W7e": embedding,
    "W9": lambda: chain(10_000, whole=True),
}
