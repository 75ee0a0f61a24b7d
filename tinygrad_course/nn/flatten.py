"""Flatten and Unflatten: dims joined into one, and one divided into several, as layers.

Views, without parameters; they stand between layers that see images and layers that see vectors.
Lesson 09.
"""

from __future__ import annotations

from typing import Any

from .module import Module


class Flatten(Module):
    """Joins the dims from `start_dim` to `end_dim` into one; by default all but the batch.

    >>> import tinygrad_course as tg
    >>> tg.nn.Flatten()(tg.zeros(32, 16, 5, 5)).shape
    torch.Size([32, 400])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Divides `dim` into several of `unflattened_size`, one of which may be -1.

    TypeError for sizes that are no ints; RuntimeError on a call when they don't multiply up to the
    dim's.

    >>> import tinygrad_course as tg
    >>> tg.nn.Unflatten(1, (16, 5, 5))(tg.zeros(32, 400)).shape
    torch.Size([32, 16, 5, 5])
    """

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError(
                f"Unflatten(dim={dim!r}): dims have no names here, give the number of the dim"
            )
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
