"""PyTorch's address of what modules have in common: `nn.modules.module`."""

from . import module
