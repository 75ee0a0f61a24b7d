"""The workloads in DeZero, the engine of the book "Deep Learning from Scratch 3".

Weights and data are drawn by our engine, so that the results can be compared. Two kindnesses, or it
would compute in float64: under NumPy 2 a Python number made into an array no longer takes the other
operand's type, and its cross entropy subtracts one-hot labels in the labels' type.
"""

import time
from importlib import metadata

import numpy as np

import tinygrad_course as tg
from tinygrad_course import manual_seed

from . import workloads as W

setattr(np, "int", int)  # noqa: B010  (gone from NumPy 2, still used by dezero.transforms)

import dezero.core  # noqa: E402
import dezero.functions as F  # noqa: E402
import dezero.layers as L  # noqa: E402
from dezero import Parameter, Variable, optimizers  # noqa: E402

__all__ = ["PROGRAMS", "__version__", "manual_seed"]
__version__ = metadata.version("dezero")
dezero.core.as_array = lambda x, xp=np: np.array(x, np.float32) if np.isscalar(x) else x


def numbers(*tensors):
    return [t.detach().numpy().copy() for t in tensors]


def linear(weight, bias):
    layer = L.Linear(len(weight), in_size=weight.shape[1])
    layer.W.data, layer.b.data = weight.T.copy(), bias
    return layer


def conv(weight, bias=None, pad=0):
    layer = L.Conv2d(*weight.shape[:1], weight.shape[2], 1, pad, nobias=bias is None)
    layer.W.data = weight
    if bias is not None:
        layer.b.data = bias
    return layer


class Net(L.Layer):
    """Layers by number, and a forward pass that is given as a function of them and x."""

    def __init__(self, layers, run):
        super().__init__()
        self.layers, self.run = layers, run
        for number, layer in enumerate(layers):
            setattr(self, f"layer{number}", layer)

    def forward(self, x):
        return self.run(self.layers, x)


def dense(layers, x, activation=F.relu):
    for layer in layers[:-1]:
        x = activation(layer(x))
    return layers[-1](x)


def pairs(weights, make=linear):
    return [make(*pair) for pair in zip(weights[::2], weights[1::2], strict=True)]


def training(net, x, y, optimizer, loss_function=F.softmax_cross_entropy, clip=None):
    optimizer, x, last = optimizer.setup(net), *numbers(x), []
    y = y.numpy().astype(np.float32 if y.is_floating_point() else np.uint8)
    if clip is not None:
        optimizer.add_hook(optimizers.ClipGrad(clip))

    def step():
        loss = loss_function(net(x), y)
        net.cleargrads()
        loss.backward()
        optimizer.update()
        last[:] = [loss]

    first = getattr(net.layers[0], "x2h", net.layers[0]).W
    return step, lambda: [float(last[0].data), float(np.abs(first.data).mean())]


def lenet_net(channels=1):
    task = W.lenet_task(tg, channels)
    weights = numbers(*task.parameters)

    def run(layers, x):
        for layer in layers[:2]:
            x = F.pooling(F.relu(layer(x)), 2, 2)
        return dense(layers[2:], F.reshape(x, (len(x), -1)))

    return Net(pairs(weights[:4], conv) + pairs(weights[4:]), run), task


def lenet(channels=1):
    net, task = lenet_net(channels)
    return training(net, task.x, task.y, optimizers.MomentumSGD(0.01, 0.9))


def lenet_forward():
    net, task = lenet_net()
    (x,), last = numbers(task.x), []

    def step():
        with dezero.no_grad():
            last[:] = [net(x)]

    return step, lambda: [float(np.abs(last[0].data).mean())]


def mlp():
    task = W.mlp_task(tg)
    net = Net(pairs(numbers(*task.parameters)), dense)
    return training(net, task.x, task.y, optimizers.Adam())


def mse(y, wanted):
    return F.mean_squared_error(y, wanted) / wanted.shape[1]  # its mean is over the batch alone


def regression(*sizes):
    task = W.regression_task(tg, *sizes)
    net = Net(pairs(numbers(*task.parameters)), lambda ls, x: dense(ls, x, F.tanh))
    return training(net, task.x, task.y, optimizers.SGD(0.01), mse)


class Recurrent(L.Layer):
    """All gates in one product each for x and h, as PyTorch's weights lie."""

    def __init__(self, kind, w_ih, w_hh, b_ih, b_hh):
        super().__init__()
        self.kind = kind
        self.x2h, self.h2h = linear(w_ih, b_ih), linear(w_hh, b_hh)

    def forward(self, x, h, c):
        a, b = self.x2h(x), self.h2h(h)
        at = [slice(k * 128, (k + 1) * 128) for k in range(4)]
        if self.kind == "RNNCell":
            return F.tanh(a + b), c
        if self.kind == "GRU":
            r, z = (F.sigmoid(a[:, k] + b[:, k]) for k in at[:2])
            n = F.tanh(a[:, at[2]] + r * b[:, at[2]])
            return n + z * (h - n), c
        a = a + b
        i, f, o = (F.sigmoid(a[:, at[k]]) for k in (0, 1, 3))
        c = f * c + i * F.tanh(a[:, at[2]])
        return o * F.tanh(c), c


def recurrent(kind):
    task = W.recurrent_task(tg, kind)
    weights = numbers(*task.parameters)

    def run(layers, x):
        h = c = Variable(np.zeros((32, 128), np.float32))
        for inputs in x:
            h, c = layers[0](Variable(inputs), h, c)
        return layers[1](h)

    net = Net([Recurrent(kind, *weights[:4]), linear(*weights[4:])], run)
    return training(net, task.x, task.y, optimizers.Adam(), clip=1.0)


def adam_alone():
    parameters = W.many_parameters(tg)
    ours = [Parameter(values) for values in numbers(*parameters)]
    for parameter, given in zip(ours, parameters, strict=True):
        parameter.grad = Variable(*numbers(given.grad))
    optimizer = optimizers.Adam().setup(Net([], None))
    optimizer.target.params = lambda: ours
    return optimizer.update, lambda: ours[7].data.tolist()


def ops():
    x, last = Variable(*numbers(tg.randn(10))), []

    def step():
        for _ in range(500):
            y = x * 2 + 1
        last[:] = [y]

    return step, lambda: last[0].data.tolist()


def chain(nodes, whole):
    x = Variable(*numbers(tg.randn(10)))

    def step():
        x.cleargrad()
        start = time.process_time()
        y = x
        for _ in range(nodes // 2):
            y = y * 1.0001 + 0.1
        built = time.process_time()
        y.backward()
        return time.process_time() - (start if whole else built)

    return step, lambda: x.grad.data.tolist()


def function(f, shapes, *gradients, layers=None):
    inputs, gradients = (list(map(Variable, numbers(*t))) for t in W.tensors(tg, shapes, gradients))

    def step():
        for x in inputs:
            x.cleargrad()
        if layers is not None:
            layers.cleargrads()
        outputs = f(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for y, g in zip(outputs, gradients, strict=True):
            y.grad = g
            y.backward()

    return step, lambda: [float(np.abs(x.grad.data).mean()) for x in inputs]


def square(f):
    return function(f, [(1000, 1000)], (1000, 1000))


def conv_norm():
    first, second = (conv(*numbers(w), pad=1) for w in W.conv_norm_layers(tg)[::3].parameters())
    net = Net([first, L.BatchNorm(), second, L.BatchNorm()], None)

    def run(x):
        for k in (0, 2):
            x = F.relu(net.layers[k + 1](net.layers[k](x)))
        return x

    return function(run, [(16, 64, 16, 16)], (16, 64, 16, 16), layers=net)


def gather():
    i, rows = tg.randint(0, 1000, (1000, 100)).numpy(), np.arange(1000)[:, None]
    return function(lambda x: x[rows, i], [(1000, 1000)], (1000, 100))


def embedding():
    i = tg.randint(0, 10_000, (32, 50)).numpy()
    return function(lambda w: w[i], [(10_000, 64)], (32, 50, 64))


PROGRAMS = {
    "W1": lenet,
    "W1c": lambda: lenet(3),
    "W1x": lenet_forward,
    "W2": mlp,
    "W3": lambda: recurrent("LSTM"),
    "W3b": lambda: recurrent("GRU"),
    "W3c": lambda: recurrent("RNNCell"),
    "W4": conv_norm,
    "W5a": ops,
    "W5b": lambda: chain(1000, whole=False),
    "W5c": lambda: regression(9, 10),
    "W5d": adam_alone,
    "W5e": lambda: regression(2, 16, 16, 1),
    "W6a": lambda: square(F.sigmoid),
    "W6b": lambda: square(F.softmax),
    "W6c": lambda: function(lambda x: (F.sum(x, 0), F.sum(x, 1)), [(1000, 1000)], (1000,), (1000,)),
    "W6e": lambda: square(lambda x: F.relu(x * 2 + 1) * x),
    "W7b": gather,
    "W7e": embedding,
    "W9": lambda: chain(10_000, whole=True),
}
