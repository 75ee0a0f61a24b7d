"""nn.functional: layers as plain functions, which get their weights as arguments.

Here are the spellings of PyTorch, old ones included; what is computed is in `ops`. A layer of `nn`
is one of these functions plus the parameters it owns. Lessons 09 and 13.
"""

from ...ops.columns import fold, unfold
from ...ops.conv import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ...ops.linear import linear
from ...ops.masks import one_hot
from ...ops.pool import max_pool2d
from .activation import log_softmax, relu, relu_, sigmoid, softmax, tanh
from .embedding import embedding, embedding_bag
from .loss import cross_entropy, legacy_reduction, mse_loss, nll_loss
from .pooling import max_pool2d_with_indices

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cross_entropy",
    "embedding",
    "embedding_bag",
    "fold",
    "linear",
    "log_softmax",
    "max_pool2d",
    "max_pool2d_with_indices",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "relu_",
    "sigmoid",
    "softmax",
    "tanh",
    "unfold",
]
