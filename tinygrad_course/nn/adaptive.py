"""A softmax over very many classes that spends its effort on the frequent ones.

The head tells the frequent classes apart, and the clusters of the others, which are told apart by a
smaller layer each, only for the samples that need it (E. Grave and others, 2017). Lesson 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..ops.join import cat
from .container import ModuleList, Sequential
from .functional import log_softmax
from .linear import Linear
from .module import Module


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the loss, which is −their mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """log softmax over `n_classes` sorted by frequency: those below cutoffs[0] in the head, the
    others in one cluster per cutoff, whose layer has `div_value` times fewer features each time.

    Called with (N, in_features) and targets (N), or (in_features) and (), it returns `output`, the
    log-probability of each target, and `loss`. ValueError for cutoffs that are not sorted within 1
    and n_classes − 1.

    >>> import tinygrad_course as tg
    >>> layer = tg.nn.AdaptiveLogSoftmaxWithLoss(8, 1000, [10, 100], div_value=2.)
    >>> layer(tg.zeros(4, 8), tg.tensor([0, 9, 10, 999])).output.shape
    torch.Size([4])
    """

    tail: Any

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0, got []")
        whole = all(int(c) == c for c in cutoffs)
        if not whole or cutoffs != sorted({*cutoffs} & {*range(1, n_classes)}):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                f"order, where each value is between 1 and n_classes-1 = {n_classes - 1}, got "
                f"{cutoffs}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, False, device, dtype),
                    Linear(hidden, size, False, device, dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        self.head.reset_parameters()
        for to_hidden, to_classes in self.tail:
            to_hidden.reset_parameters()
            to_classes.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        if target_.ndim > 1:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported, got "
                f"{list(target_.shape)}"
            )
        if target_.ndim == 0:
            if input_.ndim != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size "
                    f"{input_.shape}"
                )
            output, loss = self(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        if input_.shape[0] != target_.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension, got "
                f"{list(input_.shape)} and {list(target_.shape)}"
            )
        if target_.numel() and not 0 <= target_.min() <= target_.max() < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target_.min().item()}, {target_.max().item()}] were found."
            )
        places = target_
        output = input_.new_zeros(target_.shape)
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            rows = ((target_ >= low) & (target_ < high)).nonzero().squeeze(1)
            if rows.numel():
                places = places.index_fill(0, rows, self.shortlist_size + i)
                log_p = log_softmax(self.tail[i](input_.index_select(0, rows)), 1)
                classes = target_.index_select(0, rows) - low
                output = output.index_copy(0, rows, log_p.gather(1, classes.unsqueeze(1))[:, 0])
        head = log_softmax(self.head(input_), 1)
        output = output + head.gather(1, places.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output, (-output).mean())

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes: (N, in_features) → (N, n_classes)."""
        head = log_softmax(self.head(input), 1)
        clusters = [
            log_softmax(tail(input), 1) + head[:, self.shortlist_size + i].unsqueeze(1)
            for i, tail in enumerate(self.tail)
        ]
        return cat([head[:, : self.shortlist_size], *clusters], 1)

    def predict(self, input: Any) -> Any:
        """The likeliest class of each sample: (N, in_features) → (N)."""
        return self.log_prob(input).argmax(1)
