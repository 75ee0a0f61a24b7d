"""nn: layers, losses and the Module they are built on. Lessons 09 to 13."""

from . import functional, init, modules, utils
from .activation import Flatten, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from .container import Sequential
from .conv import Conv2d
from .embedding import Embedding, EmbeddingBag
from .linear import Identity, Linear
from .loss import CrossEntropyLoss, MSELoss, NLLLoss
from .module import Module
from .parameter import Parameter
from .pool import MaxPool2d
