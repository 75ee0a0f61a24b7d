"""nn.parallel: one model on several devices of a process, or in several processes. Lesson 16."""

from .distributed import DistributedDataParallel
from .scatter_gather import gather, scatter

__all__ = ["DistributedDataParallel", "gather", "scatter"]
