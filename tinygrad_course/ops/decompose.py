"""Inverse and singular values of matrices, for the norms and powers in `tg.linalg`.

LAPACK does the work, through the array library. Both take batches of matrices in the last two dims,
and both derivatives are products of what they return, so that they have derivatives again.
"""

from __future__ import annotations

import numpy as np

from .registry import Op


class LinAlgError(RuntimeError):
    """A matrix has not what was asked for, e.g. an inverse."""


LinAlgError.__name__ = "_LinAlgError"  # as PyTorch's is called


class Inverse(Op, fn="", node="LinalgInvExBackward0"):
    """y = x⁻¹; dx = -yᵀ g yᵀ."""

    __slots__ = ()

    def forward(ctx, xp, x, /):
        try:
            y = xp.linalg.inv(x)
        except np.linalg.LinAlgError as error:
            raise LinAlgError(f"linalg.inv: the matrix has no inverse: {error}") from error
        y = xp.ascontiguousarray(y.swapaxes(-2, -1)).swapaxes(-2, -1)  # column-major, as LAPACK's
        ctx.save(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved
        y = y.swapaxes(-2, -1)
        return -(y @ g @ y)


class SVD(Op, fn="", node="LinalgSvdBackward0"):
    """x = U diag(s) V with orthonormal columns of U and rows of V, s falling.

    dx = U (diag(ds) + (F ∘ skew(Uᵀ dU)) S + S (F ∘ skew(V dVᵀ))) V + the parts of dU and dV outside
    of U and V, where F[i, j] = 1 / (s[j]² - s[i]²).
    """

    __slots__ = ()

    def forward(ctx, xp, x, /):
        u, s, v = xp.linalg.svd(x, full_matrices=False)
        ctx.save(u, s, v)
        return u, s, v

    def backward(ctx, gu, gs, gv):
        u, s, v = ctx.saved
        ut, vt = u.swapaxes(-2, -1), v.swapaxes(-2, -1)
        across, down = s[..., None, :], s[..., :, None]
        parts = []
        if gs is not None:
            parts.append(u @ (gs[..., :, None] * v))
        gaps = across * across - down * down
        rates = (gaps != 0) / (gaps + (gaps == 0))  # 0 on the diagonal
        if gu is not None:
            turn = ut @ gu
            parts.append(u @ (rates * (turn - turn.swapaxes(-2, -1)) * across) @ v)
            parts.append((gu / across - u @ (turn / across)) @ v)
        if gv is not None:
            turn = v @ gv.swapaxes(-2, -1)
            parts.append(u @ (down * rates * (turn - turn.swapaxes(-2, -1))) @ v)
            parts.append(u @ ((gv - gv @ vt @ v) / down))
        return sum(parts[1:], parts[0])
