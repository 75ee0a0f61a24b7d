"""The graph viewer: an autograd graph in a notebook, with a backward pass to step through."""

from .view import GraphView

__all__ = ["GraphView"]
