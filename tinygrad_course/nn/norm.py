"""Layers that normalise: batch, instance, layer, group, root mean square, neighbouring channels.

A layer owns the weight and the bias, and the batch and instance kinds the running statistics, which
are buffers: saved with the model, not trained. The computation is in `ops.norm`. Lesson 11.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..ops.creation import empty, ones, zeros
from ..ops.data import tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class _Affine(Module):
    """A layer with a weight that starts at 1 and a bias that starts at 0, or without."""

    weight: Parameter | None
    bias: Parameter | None

    def _register_affine(
        self, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any
    ) -> None:
        for name, present in (("weight", weight), ("bias", weight and bias)):
            made = Parameter(empty(shape, device=device, dtype=dtype)) if present else None
            self.register_parameter(name, made)

    def reset_parameters(self) -> None:
        """Sets the initial values again."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


# --- with running statistics ----------------------------------------------------------------------


class _Running(_Affine):
    """A layer over channels that may keep running statistics; `dims` are those of its input."""

    _version = 2  # since there is num_batches_tracked
    dims: tuple[int, ...] = ()
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._register_affine(num_features, affine, bias, device, dtype)
        kept: tuple[Any, ...] = (None, None, None)
        if track_running_stats:
            options = {"device": device, "dtype": dtype}
            count = tensor(0, device=device)
            kept = zeros(num_features, **options), ones(num_features, **options), count
        for name, buffer in zip(
            ("running_mean", "running_var", "num_batches_tracked"), kept, strict=True
        ):
            self.register_buffer(name, buffer)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets all batches: mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets the initial values again, and forgets all batches."""
        self.reset_running_stats()
        super().reset_parameters()

    def _require_dims(self, input: Any) -> None:
        if input.ndim not in self.dims:
            wanted = " or ".join(f"{n}D" for n in self.dims)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        if self.track_running_stats and (local_metadata.get("version") or 1) < 2:
            # Saved when batches were not counted: the count stays as it is.
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_Running):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Any) -> Any:
        self._require_dims(input)
        momentum = self.momentum or 0.0
        following = self.training and self.track_running_stats
        if following and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain average of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        without = self.running_mean is None and self.running_var is None
        use = following or not self.training
        return F.batch_norm(
            input,
            self.running_mean if use else None,
            self.running_var if use else None,
            self.weight,
            self.bias,
            self.training or without,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Each of C features moved and scaled to mean 0 and variance 1 over the batch, then by `weight`
    and `bias` (C): (N, C) or (N, C, L) → the same.

    In training running statistics follow those of the batches at the rate `momentum` (None: their
    plain average), and replace them in evaluation. ValueError for another number of dims, or a
    batch of one number per feature.

    >>> import tinygrad_course as tg
    >>> tg.nn.BatchNorm1d(1)(tg.tensor([[1.], [3.]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """As `BatchNorm1d`, for images (N, C, H, W): over the batch and all places.

    >>> import tinygrad_course as tg
    >>> tg.nn.BatchNorm2d(4)(tg.zeros(2, 4, 3, 3)).shape
    torch.Size([2, 4, 3, 3])
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """As `BatchNorm1d`, for volumes (N, C, D, H, W)."""

    dims = (5,)


class _InstanceNorm(_Running):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Any) -> Any:
        self._require_dims(input)
        alone = input.ndim == min(self.dims)  # no batch
        channels = input.shape[0 if alone else 1]
        if channels != self.num_features:
            text = f"num_features ({self.num_features}), but got: {channels}"
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={0 if alone else 1} to match {text}."
                )
            warnings.warn(
                f"input's size at dim={0 if alone else 1} does not match {text}; it is not used, "
                "because affine=False",
                UserWarning,
                stacklevel=3,
            )
        y = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample moved and scaled to mean 0 and variance 1: (N, C, L) or (C, L) →
    the same.

    With `affine` there are `weight` and `bias` (C), with `track_running_stats` running statistics,
    used in evaluation. ValueError for another number of dims, or one number per channel.

    >>> import tinygrad_course as tg
    >>> tg.nn.InstanceNorm1d(1)(tg.tensor([[1., 3.]]))
    tensor([[-1.0000,  1.0000]])
    """

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """As `InstanceNorm1d`, for images (N, C, H, W) or (C, H, W)."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """As `InstanceNorm1d`, for volumes (N, C, D, H, W) or (C, D, H, W)."""

    dims = (4, 5)


# --- without --------------------------------------------------------------------------------------


class LayerNorm(_Affine):
    """Each sample, the last dims of `normalized_shape`, moved and scaled to mean 0 and variance 1,
    then by `weight` and `bias` of that shape.

    >>> import tinygrad_course as tg
    >>> tg.nn.LayerNorm(2)(tg.tensor([[1., 3.]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._register_affine(self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Each sample, the last dims of `normalized_shape`, over its root mean square, times `weight`
    of that shape.

    >>> import tinygrad_course as tg
    >>> tg.nn.RMSNorm(2)(tg.tensor([[3., -3.]])).detach()
    tensor([[ 1., -1.]])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = Parameter(ones(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", made if elementwise_affine else None)

    def reset_parameters(self) -> None:
        """Sets the initial values again."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Any:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


def _shape(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


class GroupNorm(_Affine):
    """The channels of each sample of (N, C, …), in `num_groups` groups, moved and scaled to mean 0
    and variance 1, then by `weight` and `bias` (C).

    ValueError for channels that the groups do not divide.

    >>> import tinygrad_course as tg
    >>> tg.nn.GroupNorm(2, 4)(tg.tensor([[1., 3., 2., 6.]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._register_affine(num_channels, affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha·mean of x² over `size` neighbouring channels)^beta, for (N, C, …).

    >>> import tinygrad_course as tg
    >>> tg.nn.LocalResponseNorm(3, alpha=3.0, beta=1.0)(tg.ones(1, 3, 1)).flatten()
    tensor([0.3333, 0.2500, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
