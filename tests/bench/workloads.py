"""The workloads, each written once in plain PyTorch; `torch` is PyTorch or this project's engine.

A workload makes its model and data and returns two functions: `step()`, which is timed (when it
returns seconds, these count instead), and `result()`, some numbers that both engines must agree on.
Both start from `torch.manual_seed(0)`, which draws the same numbers in both.
"""

import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Program = tuple[Callable[[], float | None], Callable[[], list[float]]]


class Workload(NamedTuple):
    """What is measured: a step's time divided by `per`, shown in `unit`."""

    title: str
    unit: str
    per: int
    make: Callable[[Any], Program]


# ---------------------------------------------------------------- training steps


class Task(NamedTuple):
    """What a training step needs beside an optimizer."""

    model: Any
    parameters: list[Any]
    x: Any
    y: Any


def training(torch, task, optimizer, loss_function=None, clip=None):
    """zero_grad, forward, loss, backward, (clip,) step."""
    model, parameters, x, y = task
    optimizer, last = optimizer(parameters), []
    loss_function = loss_function or torch.nn.functional.cross_entropy

    def step():
        optimizer.zero_grad()
        loss = loss_function(model(x), y)
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        last[:] = [loss.detach()]

    return step, lambda: [last[0].item(), parameters[0].abs().mean().item()]


def sgd(torch, momentum=0.0):
    return lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=momentum)


def adam(torch):
    return lambda parameters: torch.optim.Adam(parameters, lr=1e-3)


def lenet_task(torch, channels=1, batch=64):
    nn = torch.nn
    features = nn.Sequential(
        *(nn.Conv2d(channels, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
    )
    head = mlp(torch, 400, 120, 84, 10)
    x, y = torch.randn(batch, channels, 32, 32), torch.randint(0, 10, (batch,))
    parameters = [*features.parameters(), *head.parameters()]
    return Task(lambda x: head(features(x).view(-1, 400)), parameters, x, y)


def lenet(torch, channels=1, batch=64):
    return training(torch, lenet_task(torch, channels, batch), sgd(torch, momentum=0.9))


def lenet_forward(torch):
    (model, _, x, _), last = lenet_task(torch), []

    def infer():
        with torch.no_grad():
            last[:] = [model(x)]

    return infer, lambda: [last[0].abs().mean().item()]


def mlp(torch, *sizes, activation="ReLU"):
    layers = []
    for before, after in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(before, after), getattr(torch.nn, activation)()]
    return torch.nn.Sequential(*layers[:-1])


def mlp_task(torch):
    model = mlp(torch, 784, 256, 128, 10)
    return Task(model, list(model.parameters()), torch.randn(64, 784), torch.randint(0, 10, (64,)))


def regression_task(torch, *sizes):
    model = mlp(torch, *sizes, activation="Tanh")
    x, y = torch.randn(1, sizes[0]), torch.randn(1, sizes[-1])
    return Task(model, list(model.parameters()), x, y)


def regression(torch, *sizes):
    task = regression_task(torch, *sizes)
    return training(torch, task, sgd(torch), torch.nn.functional.mse_loss)


def recurrent_task(torch, layer):
    rnn, head = getattr(torch.nn, layer)(64, 128), torch.nn.Linear(128, 10)
    x, y = torch.randn(50, 32, 64), torch.randint(0, 10, (32,))
    parameters = [*rnn.parameters(), *head.parameters()]

    def cell_by_cell(x):
        h = torch.zeros(32, 128)
        for inputs in x:
            h = rnn(inputs, h)
        return head(h)

    whole = cell_by_cell if layer == "RNNCell" else lambda x: head(rnn(x)[0][-1])
    return Task(whole, parameters, x, y)


def recurrent(torch, layer):
    return training(torch, recurrent_task(torch, layer), adam(torch), clip=1.0)


def many_parameters(torch):
    parameters = [torch.nn.Parameter(torch.randn(10)) for _ in range(100)]
    for p in parameters:
        p.grad = torch.randn(10)
    return parameters


def adam_alone(torch):
    parameters = many_parameters(torch)
    return adam(torch)(parameters).step, lambda: parameters[7].detach().tolist()


# ---------------------------------------------------------------- the cost of an op


def ops(torch):
    x, last = torch.randn(10, requires_grad=True), []

    def step():
        for _ in range(500):
            y = x * 2 + 1
        last[:] = [y]

    return step, lambda: last[0].tolist()


def chain(torch, nodes, whole):
    x, ones = torch.randn(10, requires_grad=True), torch.ones(10)

    def step():
        x.grad = None
        start = time.process_time()
        y = x
        for _ in range(nodes // 2):
            y = y * 1.0001 + 0.1
        built = time.process_time()
        y.backward(ones)
        return time.process_time() - (start if whole else built)

    return step, lambda: x.grad.tolist()


def views(torch):
    x, last = torch.randn(1000, 1000, requires_grad=True), []
    row = torch.randn(1, 1000, requires_grad=True)

    def step():
        for _ in range(200):
            last[:] = [row.expand(1000, 1000), x.unfold(1, 5, 1), x.transpose(0, 1), x[10:900, ::2]]

    return step, lambda: [view.detach().abs().mean().item() for view in last]


# ---------------------------------------------------------------- big arrays


def tensors(torch, shapes, gradients):
    inputs = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    return inputs, [torch.randn(*shape) for shape in gradients]


def function(torch, f, shapes, *gradients):
    """y = f(x, ...) for inputs of these shapes, and its backward for gradients of those shapes."""
    inputs, gradients = tensors(torch, shapes, gradients)

    def step():
        for x in inputs:
            x.grad = None
        outputs = f(*inputs)
        for y, g in zip(
            outputs if isinstance(outputs, tuple) else [outputs], gradients, strict=True
        ):
            y.backward(g)

    return step, lambda: [x.grad.abs().mean().item() for x in inputs]


def square(torch, f):
    return function(torch, f, [(1000, 1000)], (1000, 1000))


def layer_norm(torch):
    norm = torch.nn.functional.layer_norm
    shapes = [(1000, 1000), (1000,), (1000,)]
    return function(torch, lambda x, w, b: norm(x, (1000,), w, b), shapes, (1000, 1000))


def conv_norm_layers(torch):
    nn, layers = torch.nn, []
    for _ in range(2):
        layers += [nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*layers)


def conv_norm(torch):
    return function(torch, conv_norm_layers(torch), [(16, 64, 16, 16)], (16, 64, 16, 16))


def gather(torch):
    i = torch.randint(0, 1000, (1000, 100))
    return function(torch, lambda x: x.gather(1, i), [(1000, 1000)], (1000, 100))


def scatter_add(torch):
    i, zeros = torch.randint(0, 1000, (1000, 100)), torch.zeros(1000, 1000)
    return function(torch, lambda x: zeros.scatter_add(1, i, x), [(1000, 100)], (1000, 1000))


def index_add(torch):
    i, zeros = torch.randint(0, 10_000, (100_000,)), torch.zeros(10_000, 8)
    return function(torch, lambda x: zeros.index_add(0, i, x), [(100_000, 8)], (10_000, 8))


def embedding(torch):
    i, lookup = torch.randint(0, 10_000, (32, 50)), torch.nn.functional.embedding
    return function(torch, lambda w: lookup(i, w), [(10_000, 64)], (32, 50, 64))


WORKLOADS = {
    "W1": Workload("LeNet 1x32x32 b64, SGD with momentum", "ms", 1, lenet),
    "W1c": Workload("LeNet 3x32x32 b64, SGD with momentum", "ms", 1, lambda t: lenet(t, 3)),
    "W1x": Workload("LeNet 1x32x32 b64, forward only", "ms", 1, lenet_forward),
    "W2": Workload(
        "MLP 784-256-128-10 b64, Adam", "ms", 1, lambda t: training(t, mlp_task(t), adam(t))
    ),
    "W3": Workload("LSTM 64-128, 50 steps b32, Adam", "ms", 1, lambda t: recurrent(t, "LSTM")),
    "W3b": Workload("GRU 64-128, 50 steps b32, Adam", "ms", 1, lambda t: recurrent(t, "GRU")),
    "W3c": Workload(
        "RNNCell 64-128, a loop of 50 b32, Adam", "ms", 1, lambda t: recurrent(t, "RNNCell")
    ),
    "W4": Workload("2 x (conv3x3 64, batch norm, relu) 16x64x16x16", "ms", 1, conv_norm),
    "W5a": Workload("x*2+1 on 10 numbers, per op", "us", 1000, ops),
    "W5b": Workload("backward of a chain, per node", "us", 1000, lambda t: chain(t, 1000, False)),
    "W5c": Workload("Linear(9, 10), training step", "us", 1, lambda t: regression(t, 9, 10)),
    "W5d": Workload("Adam.step on 100 tensors of 10", "us", 1, adam_alone),
    "W5e": Workload("MLP 2-16-16-1, step", "us", 1, lambda t: regression(t, 2, 16, 16, 1)),
    "W6a": Workload("sigmoid 1000x1000", "ms", 1, lambda t: square(t, t.sigmoid)),
    "W6b": Workload("softmax 1000x1000", "ms", 1, lambda t: square(t, lambda x: x.softmax(1))),
    "W6c": Workload(
        *("sum(0), sum(1) of 1000x1000", "ms", 1),
        lambda t: function(t, lambda x: (x.sum(0), x.sum(1)), [(1000, 1000)], (1000,), (1000,)),
    ),
    "W6d": Workload("layer_norm 1000x1000", "ms", 1, layer_norm),
    "W6e": Workload(
        *("relu(x*2+1)*x 1000x1000", "ms", 1),
        lambda t: square(t, lambda x: t.relu(x * 2 + 1) * x),
    ),
    "W7a": Workload("expand, unfold, transpose, slice: per view", "us", 800, views),
    "W7b": Workload("gather 1000x100 of 1000x1000", "ms", 1, gather),
    "W7c": Workload("scatter_add 1000x100 into 1000x1000", "ms", 1, scatter_add),
    "W7d": Workload("index_add 1e5 rows of 8 into 1e4", "ms", 1, index_add),
    "W7e": Workload("embedding 32x50 of 10000x64", "ms", 1, embedding),
    "W9": Workload("10,000 nodes built, run backward", "ms", 1, lambda t: chain(t, 10_000, True)),
}
QUICK = ("W1", "W2", "W3", "W4", "W5a", "W5b", "W5d", "W6b", "W7e", "W8", "W9")
