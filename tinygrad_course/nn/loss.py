"""Losses as layers: they remember the reduction and the weights of their function.

Of old, two flags said how to reduce: `size_average` (mean or sum) and `reduce` (at all or not);
they still work, with a warning. The computation is in `nn.functional`; losses with a margin are in
`loss_margin`. Lesson 13.
"""

from __future__ import annotations

import warnings
from typing import Any

from . import functional as F
from .module import Module


class Loss(Module):
    """A loss that only has a reduction: what all of them are."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = F.legacy_reduction(size_average, reduce, reduction, stacklevel=4)


class WeightedLoss(Loss):
    """A loss with a weight per class, which is a buffer: it moves with the layer."""

    weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(Loss):
    """Mean of |x − y| over all elements. See `F.l1_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.L1Loss()(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(1.)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """Mean of (x − y)² over all elements; `reduction` 'sum' adds them up, 'none' keeps them.

    >>> import tinygrad_course as tg
    >>> tg.nn.MSELoss()(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(2.)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """Mean of (x − y)² / 2β where |x − y| < β, else |x − y| − β/2. See `F.smooth_l1_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.SmoothL1Loss()(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(0.7500)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """Mean of (x − y)² / 2 where |x − y| < δ, else δ (|x − y| − δ/2). See `F.huber_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.HuberLoss(delta=2.)(tg.tensor([1., 2.]), tg.tensor([1., 5.]))
    tensor(2.)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(WeightedLoss):
    """Mean of −input[n, target[n]], the negative log-likelihood of the classes `target` (N) under
    `input` (N, C).

    `weight` (C) rescales classes, targets equal to `ignore_index` do not count. See `F.nll_loss`.
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """The name of old for `NLLLoss` of images, with a warning."""

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead: it takes images, too",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(WeightedLoss):
    """The negative log-likelihood of `target` under softmax(input): LogSoftmax and NLLLoss in one.

    See `F.cross_entropy` for the arguments.

    >>> import tinygrad_course as tg
    >>> tg.nn.CrossEntropyLoss()(tg.tensor([[1e4, 0.]]), tg.tensor([1]))
    tensor(10000.)
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(WeightedLoss):
    """Mean of −(y ln x + (1 − y) ln(1 − x)) for probabilities x. See `F.binary_cross_entropy`.

    >>> import tinygrad_course as tg
    >>> tg.nn.BCELoss()(tg.tensor([0.5, 1.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """`BCELoss` of sigmoid(x), safe for scores of any size. See
    `F.binary_cross_entropy_with_logits`.

    >>> import tinygrad_course as tg
    >>> tg.nn.BCEWithLogitsLoss()(tg.tensor([1e4, 0.]), tg.tensor([1., 1.]))
    tensor(0.3466)
    """

    weight: Any
    pos_weight: Any

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(Loss):
    """y (ln y − x), Kullback and Leibler's divergence of log-probabilities x. See `F.kl_div`.

    >>> import tinygrad_course as tg
    >>> tg.nn.KLDivLoss(reduction="sum")(tg.tensor([0.5, 0.5]).log(), tg.tensor([1., 0.]))
    tensor(0.6931)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(Loss):
    """Mean of e^x − y x, for counts y whose mean is e^x. See `F.poisson_nll_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.PoissonNLLLoss()(tg.tensor([0., 0.]), tg.tensor([2., 1.]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Any, target: Any) -> Any:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(Loss):
    """Mean of (ln var + (x − y)² / var) / 2. See `F.gaussian_nll_loss`.

    >>> import tinygrad_course as tg
    >>> tg.nn.GaussianNLLLoss()(tg.zeros(2), tg.tensor([1., 3.]), tg.ones(2))
    tensor(2.5000)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class CTCLoss(Loss):
    """−ln P(targets) under the log-probabilities of each step. See `F.ctc_loss`.

    >>> import tinygrad_course as tg
    >>> x = tg.full((2, 1, 2), 0.5).log()
    >>> tg.nn.CTCLoss()(x, tg.tensor([[1]]), (2,), (1,)).exp()
    tensor(1.3333)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
