"""Dropout as functions.

Here are PyTorch's spellings for layers, and its advice on the number of dims; what is drawn is in
`ops.dropout`. Lesson 09.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...ops import dropout as _dropout


def _require(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`input` with each element set to 0 with probability p, the others over 1 − p; itself when not
    in training. ValueError for p outside [0, 1].

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.nn.functional.dropout(tg.ones(4))
    tensor([0., 0., 2., 0.])
    """
    _require(p)
    return (_dropout.dropout_ if inplace else _dropout.dropout)(input, p, training)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`input` with elements set to −1.7581, where SELU is flat, with probability p, and all moved
    and scaled so that mean 0 and variance 1 stay. ValueError for p outside [0, 1].

    >>> import tinygrad_course as tg
    >>> _ = tg.manual_seed(0); tg.nn.functional.alpha_dropout(tg.zeros(4), training=True)
    tensor([-0.7792, -0.7792,  0.7792, -0.7792])
    """
    _require(p)
    return (_dropout.alpha_dropout_ if inplace else _dropout.alpha_dropout)(input, p, training)


def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """As `alpha_dropout`, of whole planes of (N, C, …). ValueError for p outside [0, 1]."""
    _require(p)
    function = _dropout.feature_alpha_dropout_ if inplace else _dropout.feature_alpha_dropout
    return function(input, p, training)


def _feature_dropout(input: Any, p: float, training: bool, inplace: bool) -> Any:
    return (_dropout.feature_dropout_ if inplace else _dropout.feature_dropout)(input, p, training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`input` (N, C, L) or (C, L) with whole channels set to 0 with probability p, the others over
    1 − p.

    ValueError for p outside [0, 1], RuntimeError for another number of dims.

    >>> import tinygrad_course as tg
    >>> dropout1d(tg.ones(2, 3), 1.0)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    _require(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input: use dropout()"
        )
    if input.ndim == 3:
        return _feature_dropout(input, p, training, inplace)
    return _alone(input, p, training, inplace)


def _alone(input: Any, p: float, training: bool, inplace: bool) -> Any:
    """The channels of one sample."""
    result = _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return input if inplace else result


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`input` (N, C, H, W) with whole channels set to 0 with probability p, the others over 1 − p.

    ValueError for p outside [0, 1]. Another number of dims warns, and its first two are taken for
    (N, C).

    >>> import tinygrad_course as tg
    >>> dropout2d(tg.ones(1, 1, 2, 2), 1.0).sum()
    tensor(0.)
    """
    _require(p)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired, input is interpreted as shape (N, C, L): use dropout1d",
            UserWarning,
            stacklevel=2,
        )
    elif input.ndim != 4:
        _warn_of_dims("dropout2d", input.ndim, 4)
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`input` (N, C, D, H, W) or (C, D, H, W) with whole channels set to 0 with probability p, the
    others over 1 − p.

    ValueError for p outside [0, 1]. Another number of dims warns.

    >>> import tinygrad_course as tg
    >>> dropout3d(tg.ones(1, 1, 2, 2, 2), 1.0).sum()
    tensor(0.)
    """
    _require(p)
    if input.ndim == 5:
        return _feature_dropout(input, p, training, inplace)
    if input.ndim != 4:
        _warn_of_dims("dropout3d", input.ndim, 5)
    return _alone(input, p, training, inplace)


def _warn_of_dims(name: str, found: int, wanted: int) -> None:
    warnings.warn(
        f"{name}: Received a {found}-D input to {name}, which is deprecated and will result in an "
        f"error in a future release: it drops channels of {wanted}-D inputs. Use dropout().",
        UserWarning,
        stacklevel=3,
    )
