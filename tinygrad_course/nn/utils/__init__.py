"""nn.utils: what is done to the gradients of many parameters at once. Lesson 14."""

from .clip_grad import clip_grad_norm, clip_grad_norm_

__all__ = ["clip_grad_norm", "clip_grad_norm_"]
